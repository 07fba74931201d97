"""``choque run``: simulate a scene of bodies, with a recording, a log or a film if requested."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from choque.cli._completion import complete_body_scenes, complete_broad_phases
from choque.cli._json import AsJson, print_json
from choque.cli._options import Device, Threads, read_settings, run_folder, spread

if TYPE_CHECKING:
    from rich.table import Table

    from choque.scene import BodyScene
    from choque.theses.fingsics.config import Config
    from choque.theses.fingsics.totals import Outcome, Totals
    from choque.world import StepReport, World

FRAMES = 600
OUTPUT, BENCHMARKS = Path("output"), Path("benchmarks")
RECORDING, LOG, FILM = "recording.choque", "log.csv", "scene.mp4"
FINGSICS = "Fingsics, the engine of a thesis on rigid bodies (scenes in .xml)"
MAX_DEFINITION = 200
"""Parts of a circle in the finest drawing of round bodies."""


@dataclass(frozen=True)
class RunPlan:
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
    fingsics: bool = False
    """Whether to use the rules of the Fingsics engine."""
    cost: bool = False
    """Whether to print the cost model of the Fingsics thesis."""
    details: bool = False
    """Whether to print the tables of times and of tests."""

    def make_world(self) -> World:
        """Return a new world of the scene."""
        from choque.theses import fingsics

        if self.fingsics or self.scene.settings.get("response") == "fingsics":
            return fingsics.world(self.scene, **self.world)
        return self.scene.world(**self.world)


@dataclass(frozen=True)
class Length:
    """How long a scene is run, and how often."""

    frames: Annotated[
        int | None, typer.Option("--frames", metavar="N", help=f"Number of steps; {FRAMES} by default.")
    ] = None
    fps: Annotated[
        int | None, typer.Option("--fps", metavar="N", help="Steps per second; those of the scene by default.")
    ] = None
    benchmark: Annotated[
        int | None, typer.Option("--benchmark", metavar="N", help="Run it N times and write times and a summary.")
    ] = None

    def steps(self, stop_at: int | None, otherwise: int | None) -> int | None:
        """Return the number of steps that was asked for, one less than ``stop_at``, or ``otherwise``."""
        from choque.errors import InvalidInput

        if self.frames is not None and stop_at is not None:
            raise InvalidInput("Give --frames, the number of steps, or --stop-at, one more than it, and not both.")
        if self.frames is not None:
            return _at_least("--frames", self.frames, 1)
        return otherwise if stop_at is None else _at_least("--stop-at", stop_at, 2, ", which is one step") - 1


@dataclass(frozen=True)
class Methods:
    """By which methods and rules a scene is simulated."""

    broad: Annotated[
        str | None,
        typer.Option(
            "--broad",
            metavar="NAME",
            help="See 'choque methods'; also NONE, AABB, OBB, SAP, SAPOBB.",
            autocompletion=complete_broad_phases,
        ),
    ] = None
    bounds: Annotated[str | None, typer.Option("--bounds", metavar="KIND", help="box, oriented, sphere, 18-dop …")] = (
        None
    )
    response: Annotated[
        str | None,
        typer.Option("--response", metavar="NAME", help="soft-step, impulse, shape-matching, or fingsics-impulse."),
    ] = None
    threads: Threads = None
    device: Device = None

    @property
    def world(self) -> dict[str, Any]:
        """The options of the world that were given."""
        from choque.theses.fingsics.config import METHOD_ALIASES

        given = {
            "broad": METHOD_ALIASES.get(self.broad or "", self.broad),
            "bounds": self.bounds,
            "response": self.response,
            "threads": self.threads,
            "device": self.device,
        }
        return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True)
class Outputs:
    """What is written and printed, and where to."""

    record: Annotated[bool, typer.Option("--record", help="Write recording.choque.")] = False
    log: Annotated[bool, typer.Option("--log", help="Write log.csv, one row per step.")] = False
    video: Annotated[bool, typer.Option("--video", help="Record, and make scene.mp4 at the end.")] = False
    output: Annotated[
        Path | None, typer.Option("--output", metavar="FOLDER", help="Output folder; a new one in 'output' by default.")
    ] = None
    details: Annotated[
        bool, typer.Option("--details", help="Print times by stage, tests and contacts by kinds, and what was solved.")
    ] = False


@dataclass(frozen=True)
class Fingsics:
    """What belongs to the engine of the Fingsics thesis."""

    config: Annotated[
        Path | None,
        typer.Option(
            "--config", metavar="FILE", help="Its config.txt; options take precedence.", rich_help_panel=FINGSICS
        ),
    ] = None
    rules: Annotated[bool, typer.Option("--fingsics", help="Use its rules, in float32.", rich_help_panel=FINGSICS)] = (
        False
    )
    stop_at: Annotated[
        int | None,
        typer.Option("--stop-at", metavar="N", help="Frame to stop at: N - 1 steps.", rich_help_panel=FINGSICS),
    ] = None
    cost: Annotated[
        bool, typer.Option("--cost", help="Print its cost model, T = C + bB + oO.", rich_help_panel=FINGSICS)
    ] = False


@spread
def run(
    length: Length,
    methods: Methods,
    outputs: Outputs,
    fingsics: Fingsics,
    scene: Annotated[
        str | None,
        typer.Argument(
            metavar="SCENE",
            help="An .xml or .toml file, a built-in scene, or a generator: mixed-box:1000.",
            show_default=False,
            autocompletion=complete_body_scenes,
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", metavar="S", help="Seed of a generator.")] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", metavar="KEY=VALUE", help="An option of a generator; may be repeated."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Simulate a scene of bodies.

    Files are written on request only, into a new folder named after the scene and the time.

    Try:
      choque run bowling --frames 600
      choque run mixed-box:10000 --broad sap-obb --record
      choque run mixed-box:1000 --benchmark 5
    """
    import choque
    from choque.errors import InvalidInput

    config = fingsics.config
    if scene is None and config is None:
        raise InvalidInput("Give a scene to run, such as bowling or pile:500; 'choque scenes' lists those with a name.")
    if scene is not None and config is not None:
        raise InvalidInput(f"{scene} and --config were given; a configuration names its scene: give one, and not both.")
    runs = length.benchmark
    if config is not None:
        from choque.theses.fingsics.config import load_config

        if seed is not None or option:
            raise InvalidInput("--seed and --option are for generators; a configuration names a file.")
        settings = load_config(config)
        steps = length.steps(fingsics.stop_at, None)
        if steps is not None:
            settings = replace(settings, stop_at_frame=steps + 1)
        if settings.run_mode in ("REPLAY", "TEST"):
            return _other_mode(settings, config.parent, as_json)
        plan = _plan_of(settings, config, methods.world, outputs.output)
        if runs is None and settings.run_mode == "BENCHMARK":
            runs = settings.num_runs_for_benchmark
    else:
        found = choque.scene.find_bodies(str(scene), **{"seed": seed, **read_settings(option)})
        steps = length.steps(fingsics.stop_at, FRAMES)
        plan = RunPlan(found, found.dt, steps, methods.world, OUTPUT, outputs.output)
    film = {} if outputs.video and plan.film is None else plan.film
    record, log = plan.record or outputs.record or outputs.video, plan.log or outputs.log
    plan = replace(plan, record=record, log=log, film=film, fingsics=fingsics.rules)
    plan = replace(plan, cost=fingsics.cost, details=outputs.details)
    if length.fps is not None:
        plan = replace(plan, dt=1 / _at_least("--fps", length.fps, 1))
    if runs is not None:
        plan = replace(plan, output=plan.output.with_name(str(BENCHMARKS)))
        return run_benchmark(plan, _at_least("--benchmark", runs, 1), as_json)
    return run_once(plan, as_json)


def _other_mode(settings: Config, folder: Path, as_json: bool) -> None:
    """Run the modes of a configuration that replay or test."""
    if settings.run_mode == "REPLAY":
        from choque.cli.replay import replay

        return replay(folder / OUTPUT / settings.scene_replay_folder_name, as_json=as_json)
    from choque.cli.test_scenes import test_scenes

    return test_scenes(folder, as_json=as_json)


def _at_least(name: str, value: int, least: int, meaning: str = "") -> int:
    from choque.errors import InvalidInput

    if value < least:
        raise InvalidInput(f"{name} is {value}; it must be at least {least}{meaning}.")
    return value


def _plan_of(settings: Config, config: Path, world: dict[str, Any], output: Path | None) -> RunPlan:
    """Return the plan of a configuration; options of the command take precedence."""
    import choque

    folder = config.parent
    scene = choque.scene.find_bodies(settings.checked_scene(config))
    film = None
    if settings.record_video and settings.run_mode == "DEFAULT":
        size = (settings.windowed_width // 2 * 2, settings.windowed_height // 2 * 2)
        film = {"size": size, "axes": settings.draw_axes, "definition": min(settings.object_definition, MAX_DEFINITION)}
    keeps = settings.run_mode == "DEFAULT"
    return RunPlan(
        scene,
        1 / settings.fps_cap,
        None if settings.stop_at_frame == -1 else max(settings.stop_at_frame - 1, 1),
        {"broad": settings.method, **world},
        folder / OUTPUT,
        output,
        record=keeps and (settings.record_scene or film is not None),
        log=keeps and settings.log,
        scene_dat=keeps and settings.record_scene,
        film=film,
    )


# How a plan is run


def run_once(plan: RunPlan, as_json: bool) -> None:
    """Run a scene once, write the requested files, and print a report.

    Kernels are compiled or loaded before the run; steps that need further ones are left out of its times. An interrupt
    ends the run early, with all files complete; it is then raised again, unless the run has no other end.
    """
    from choque._core.progress import shown
    from choque.lab.warm_up import taking_up, warm_up
    from choque.record import Recorder
    from choque.theses.fingsics.log import Log
    from choque.theses.fingsics.totals import FastestHit, Outcome, Totals, mechanical_energy

    if plan.film is not None:
        from choque.studio.film import Look, require_film

        require_film(Look(**plan.film), Path(FILM))  # fail before the run, not after it
    world, totals, fastest = plan.make_world(), Totals(), FastestHit()
    with shown(f"Preparing {plan.scene.name} …"):
        warm_up(world, plan.dt)
        start = mechanical_energy(world)
    folder = run_folder(plan.given, plan.output, plan.scene.name) if plan.record or plan.log else None
    interrupted = False
    with ExitStack() as stack:
        observers: list[Callable[[World, StepReport], object]] = [fastest]
        if folder is not None and plan.record:
            scene = plan.scene
            recorder = Recorder(
                folder / RECORDING, world, dt=plan.dt, scene=scene.name, seed=scene.seed, camera=scene.camera
            )
            observers.append(stack.enter_context(recorder))
        if folder is not None and plan.log:
            observers.append(stack.enter_context(Log(folder / LOG)))
        tell, kernels = stack.enter_context(shown()), stack.enter_context(taking_up())
        try:
            while plan.steps is None or totals.steps < plan.steps:
                before = kernels()
                report = world.step(plan.dt)
                totals.add(report, is_timed=kernels() == before)
                for observe in observers:
                    observe(world, report)
                tell(totals.steps, plan.steps or 0, plan.scene.name)
        except KeyboardInterrupt:
            interrupted = True
    if folder is not None:
        _finish(plan, folder)
    outcome = Outcome(plan.scene.name, plan.dt, world, totals, fastest, (start, mechanical_energy(world)), folder)
    if as_json:
        print_json(outcome.record())
    else:
        print_outcome(outcome, plan)
    if interrupted and plan.steps is not None:
        raise KeyboardInterrupt


def _finish(plan: RunPlan, folder: Path) -> None:
    """Make the files that are made from a recording."""
    from choque._core.progress import shown
    from choque.record import Recording
    from choque.theses.fingsics.scene_dat import write_scene_dat

    if not plan.scene_dat and plan.film is None:
        return
    with Recording(folder / RECORDING) as recording, shown() as tell:
        if plan.scene_dat:
            write_scene_dat(folder / "scene.dat", recording, progress=tell)
        if plan.film is not None:
            from choque.studio.film import Look, make_film

            make_film(folder / FILM, recording, look=Look(**plan.film), progress=tell)


def run_benchmark(plan: RunPlan, runs: int, as_json: bool) -> None:
    """Run a scene ``runs`` times and print the summary."""
    from choque._core.progress import shown
    from choque.cli._terminal import console
    from choque.errors import InvalidInput
    from choque.theses.fingsics.modes import benchmark

    if plan.steps is None:
        raise InvalidInput("A benchmark needs an end; give --frames.")
    plan.make_world()  # fail before a folder is made
    folder = run_folder(plan.given, plan.output, plan.scene.name)
    with shown() as tell:
        result = benchmark(
            plan.make_world, folder, steps=plan.steps, runs=runs, dt=plan.dt, scene=plan.scene.name, progress=tell
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


# What is said about a run


def print_outcome(outcome: Outcome, plan: RunPlan) -> None:
    """Print what happened and how long a step took; with ``plan.details`` also tables, with ``plan.cost`` the model."""
    from choque.cli._terminal import console, counted

    terminal, world, totals = console(), outcome.world, outcome.totals

    def say(*sentences: str) -> None:
        for each in sentences:
            terminal.print(each, markup=False, soft_wrap=True)

    settings = world.settings
    rules = " by the rules of the Fingsics engine" if settings.response == "fingsics" else ""
    say(
        f"{outcome.scene}: {counted(len(world), 'body', 'bodies')}, {counted(totals.steps, 'step')} of "
        f"1/{1 / outcome.dt:g} s{rules}, broad phase {settings.broad}.",
        outcome.events_sentence(),
    )
    if totals.timed_steps:
        say(f"A step took {totals.median_milliseconds:.3g} ms in the median.")
    if plan.details:
        terminal.print(_stages_table(totals), _kinds_table(totals))
        if left_out := totals.steps - totals.timed_steps:
            say(f"Left out of the times: {counted(left_out, 'step')} in which kernels were loaded, or compiled, once.")
        if totals.counters:
            say(outcome.solver_sentence())
    if plan.cost:
        say(str(totals.cost))
    say(outcome.energy_sentence(), f"State: {world.hash():016x} at frame {world.frame}.")
    if outcome.folder is not None:
        names = ", ".join(sorted(path.name for path in outcome.folder.iterdir()))
        say(f"Written to {outcome.folder}: {names}.")


def _stages_table(totals: Totals) -> Table:
    """Return a table of the mean time of each stage, and its share."""
    from choque.cli._terminal import plain_table

    table = plain_table("stage", "ms per step>", "share>")
    whole = totals.milliseconds() or 1.0
    for stage in totals.seconds:
        mean = totals.milliseconds(stage)
        if mean > 0.0:  # a response may find its contacts itself
            table.add_row(stage, f"{mean:.4f}", f"{mean / whole:.0%}")
    table.add_row("step", f"{totals.milliseconds():.4f}", "")
    return table


def _kinds_table(totals: Totals) -> Table:
    """Return a table of exact tests and contacts by pair of kinds, and of their times if those are known."""
    from choque.cli._terminal import plain_table

    is_timed = any(total.seconds for total in totals.kinds.values())
    table = plain_table("pair of kinds", "tests>", "contacts>", *(["ns per test>"] * is_timed))
    for kinds, total in sorted(totals.kinds.items()):
        each = f"{1e9 * total.seconds / total.timed_tests:,.0f}" if total.timed_tests else ""
        table.add_row(kinds, f"{total.tests:,}", f"{total.contacts:,}", *([each] * is_timed))
    table.add_row("all", f"{totals.tests:,}", f"{totals.contacts:,}")
    return table
