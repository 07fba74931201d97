"""Running a planned scene from the shell: once, with its outputs, or several times for a benchmark."""

from __future__ import annotations

import math
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from choque.cli._json import print_json

if TYPE_CHECKING:
    from rich.table import Table

    from choque.scene import BodyScene
    from choque.theses.fingsics.totals import Totals
    from choque.world import World

RECORDING, LOG, FILM = "recording.choque", "log.csv", "scene.mp4"


@dataclass(frozen=True)
class Plan:
    """A scene, and how to run it."""

    scene: BodyScene
    dt: float
    steps: int | None
    """The number of steps; None to run until interrupted."""
    world: dict[str, Any]
    """The options of the world."""
    output: Path
    """The parent of new folders, if no folder is given."""
    given: Path | None
    """The requested folder."""
    record: bool = False
    log: bool = False
    scene_dat: bool = False
    film: dict[str, Any] | None = None
    """The look of the film that is made at the end; None for no film."""
    legacy: bool = False
    """Whether to use the rules of the Fingsics engine."""
    cost: bool = False
    """Whether to print the cost model of the Fingsics thesis."""

    def make_world(self) -> World:
        """Return a new world of the scene."""
        from choque.theses import fingsics

        if self.legacy or self.scene.settings.get("response") == "fingsics":
            return fingsics.world(self.scene, **self.world)
        return self.scene.world(**self.world)


def run_once(plan: Plan, as_json: bool) -> None:
    """Run a scene once, write the requested files, and print a report.

    Kernels are compiled or loaded before the clock starts. An interrupt ends the run early, with all files complete; it
    is then raised again, unless the run has no other end.
    """
    from choque._core.kernel import announcement
    from choque.cli._folders import run_folder
    from choque.cli._terminal import progress, waiting
    from choque.record import Recorder
    from choque.theses.fingsics.log import Log
    from choque.theses.fingsics.totals import Totals, mechanical_energy
    from choque.world import Run
    from choque.world.run import warm_up

    if plan.film is not None:
        from choque.studio.film import Look, require_film

        require_film(Look(**plan.film))  # fail before the run, not after it
    world, totals = plan.make_world(), Totals()
    with waiting(f"Preparing {plan.scene.name}: kernels are loaded, or compiled once …"):
        warm_up(world, plan.dt)
        start = mechanical_energy(world)
    compiled = announcement.count
    folder = run_folder(plan.given, plan.output, plan.scene.name) if plan.record or plan.log else None
    interrupted = False
    with ExitStack() as stack:
        driven = Run(world, dt=plan.dt)
        driven.observers.append(totals)
        if folder is not None and plan.record:
            scene = plan.scene
            recorder = Recorder(
                folder / RECORDING, world, dt=plan.dt, scene=scene.name, seed=scene.seed, camera=scene.camera
            )
            driven.observers.append(stack.enter_context(recorder))
        if folder is not None and plan.log:
            driven.observers.append(stack.enter_context(Log(folder / LOG)))
        tell = stack.enter_context(progress())
        try:
            while plan.steps is None or totals.steps < plan.steps:
                driven.step()
                tell(totals.steps, plan.steps or totals.steps, plan.scene.name)
        except KeyboardInterrupt:
            interrupted = True
    if folder is not None:
        _finish(plan, folder)
    compiled_late = announcement.count - compiled
    _tell(plan, world, totals, (start, mechanical_energy(world)), folder, compiled_late, as_json)
    if interrupted and plan.steps is not None:
        raise KeyboardInterrupt


def _finish(plan: Plan, folder: Path) -> None:
    """Make the files that are made from a recording."""
    from choque.cli._terminal import progress
    from choque.record import Recording
    from choque.theses.fingsics.scene_dat import write_scene_dat

    if not plan.scene_dat and plan.film is None:
        return
    with Recording(folder / RECORDING) as recording, progress() as tell:
        if plan.scene_dat:
            write_scene_dat(folder / "scene.dat", recording, progress=tell)
        if plan.film is not None:
            from choque.studio.film import Look, make_film

            make_film(folder / FILM, recording, look=Look(**plan.film), progress=tell)


def _tell(
    plan: Plan,
    world: World,
    totals: Totals,
    energy: tuple[float, float],
    folder: Path | None,
    compiled_late: int,
    as_json: bool,
) -> None:
    from choque.cli._terminal import compiled_sentence, console

    if as_json:
        about = {"scene": plan.scene.name, "folder": None if folder is None else str(folder)}
        print_json({**about, **_record_of(world, totals, energy)})
        return
    terminal = console()
    settings = world.settings
    rules = " by the rules of the Fingsics engine" if settings.response == "fingsics" else ""
    terminal.print(
        f"{plan.scene.name}: {len(world):,} bodies, {totals.steps:,} steps of 1/{1 / plan.dt:g} s{rules}, "
        f"broad phase {settings.broad}.",
        markup=False,
        soft_wrap=True,
    )
    terminal.print(_stages_table(totals))
    terminal.print(_kinds_table(totals))
    costs = [str(totals.cost)] if plan.cost else []
    for sentence in (*costs, _energy_sentence(*energy), f"State: {world.hash():016x} at frame {world.frame}."):
        terminal.print(sentence, markup=False, soft_wrap=True)
    if compiled_late:
        terminal.print(compiled_sentence(compiled_late), style="bold")
    if folder is not None:
        names = ", ".join(sorted(path.name for path in folder.iterdir()))
        terminal.print(f"Written to {folder}: {names}.", markup=False, soft_wrap=True)


def run_benchmark(plan: Plan, runs: int, as_json: bool) -> None:
    """Run a scene ``runs`` times and print the summary."""
    from choque.cli._folders import run_folder
    from choque.cli._terminal import console, progress
    from choque.errors import InvalidInput
    from choque.theses.fingsics.modes import benchmark

    if plan.steps is None:
        raise InvalidInput("A benchmark needs an end; give --frames.")
    plan.make_world()  # fail before a folder is made
    folder = run_folder(plan.given, plan.output, plan.scene.name)
    with progress() as tell:
        result = benchmark(
            plan.make_world,
            folder,
            steps=plan.steps,
            runs=runs,
            dt=plan.dt,
            scene=plan.scene.name,
            progress=tell,
        )
    if as_json:
        totals = result.totals
        summary = {
            "folder": str(folder),
            "runs": runs,
            "hash": f"{result.hash:016x}",
            "milliseconds": totals.milliseconds(),
        }
        print_json({**summary, "tests": totals.tests // runs, "contacts": totals.contacts // runs})
        return
    terminal = console()
    terminal.print((folder / "summary.txt").read_text().rstrip(), markup=False, soft_wrap=True)
    terminal.print(f"Written to {folder}.", markup=False, soft_wrap=True)


def _stages_table(totals: Totals) -> Table:
    """Return a table of the mean time of each stage, and its share."""
    from choque.cli._terminal import plain_table

    table = plain_table("stage", "ms per step>", "share>")
    whole = totals.milliseconds() or 1.0
    for stage in totals.seconds:
        mean = totals.milliseconds(stage)
        table.add_row(stage, f"{mean:.4f}", f"{mean / whole:.0%}")
    table.add_row("step", f"{totals.milliseconds():.4f}", "")
    return table


def _kinds_table(totals: Totals) -> Table:
    """Return a table of exact tests, contacts and time by pair of kinds."""
    from choque.cli._terminal import plain_table

    table = plain_table("pair of kinds", "tests>", "contacts>", "ns per test>")
    for kinds, total in sorted(totals.kinds.items()):
        each = 1e9 * total.seconds / total.tests if total.tests else 0.0
        table.add_row(kinds, f"{total.tests:,}", f"{total.contacts:,}", f"{each:,.0f}")
    table.add_row("all", f"{totals.tests:,}", f"{totals.contacts:,}", "")
    return table


def _energy_sentence(before: float, after: float) -> str:
    """Return a sentence on the change of energy."""
    share = (after - before) / abs(before) if before else math.nan
    drift = f" ({share:+.2e} of it)" if math.isfinite(share) else ""
    return f"Energy: {before:.6g} at the start, {after:.6g} at the end{drift}."


def _record_of(world: World, totals: Totals, energy: tuple[float, float]) -> dict[str, Any]:
    """Return the report of a run as JSON values."""
    cost = totals.cost
    return {
        "bodies": len(world),
        "frame": world.frame,
        "hash": f"{world.hash():016x}",
        "broad": world.settings.broad,
        "steps": totals.steps,
        "tests": totals.tests,
        "contacts": totals.contacts,
        "impulses": totals.impulses,
        "milliseconds": {
            **{stage: totals.milliseconds(stage) for stage in totals.seconds},
            "step": totals.milliseconds(),
        },
        "kinds": {
            kinds: {"tests": total.tests, "contacts": total.contacts, "seconds": total.seconds}
            for kinds, total in sorted(totals.kinds.items())
        },
        "cost": {**cost.letters(), "filter_pays": cost.filter_pays},
        "energy": {"start": energy[0], "end": energy[1]},
    }
