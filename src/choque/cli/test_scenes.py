"""``choque test-scenes``: the mode TEST of the Fingsics engine, with a verdict for each scene."""
# ruff: noqa: PT028 (a verb, not a test)

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from choque.cli._json import AsJson, print_json

if TYPE_CHECKING:
    from choque._core.types import Progress
    from choque.world import World

OUTPUT = Path("testing")


def test_scenes(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="FOLDER", help="Scenes and expected logs; the built-in scenes by default.", show_default=False
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", metavar="FOLDER", help="Parent of the new folder with the logs.")
    ] = OUTPUT,
    as_json: AsJson = False,
) -> None:
    """Run scenes and compare their counts with the expected ones.

    With a folder of Fingsics, the engine of a thesis on rigid bodies, each scene runs 299 steps by the rules of that
    engine, with its sweep, and every row of tests and collisions is compared with the expected log. The built-in scenes
    run by Choque's own rules; their contacts must be those that are found when every pair is tested.

    Try:
      choque test-scenes
      choque test-scenes fingsics
    """
    from choque._core.progress import shown
    from choque.cli._options import new_folder
    from choque.cli._terminal import console, plain_table
    from choque.theses.fingsics.modes import find_cases

    cases = [] if folder is None else find_cases(folder)
    logs = new_folder(output, "test")
    with shown() as tell:
        results = _built_in(logs, tell) if folder is None else _expected(cases, logs, tell)
    if as_json:
        print_json({"folder": str(logs), "scenes": results})
    else:
        table = plain_table("scene", "rows>", "tests>", "collisions>", "verdict")
        for result in results:
            table.add_row(*(f"{result[key]}" for key in ("scene", "rows", "tests", "collisions", "verdict")))
        terminal = console()
        terminal.print(table)
        terminal.print(f"Written to {logs}.", markup=False, soft_wrap=True)
    if any(result["equal"] is False for result in results):
        raise typer.Exit(1)


def _expected(cases: Any, logs: Path, tell: Progress) -> list[dict[str, Any]]:
    """Run each case by the rules of the Fingsics engine and compare its log with the expected one."""
    import choque
    from choque.theses import fingsics
    from choque.theses.fingsics.modes import FRAMES, compare_logs

    results = []
    for done, case in enumerate(cases):
        tell(done, len(cases), case.name)
        scene = choque.scene.find_bodies(case.scene)
        found = _write_log(
            fingsics.world(scene, broad="sap-incremental"), logs / f"{case.name}_test.csv", FRAMES - 1, scene.dt
        )
        results.append(_result(case.name, compare_logs(found, case.expected) if case.expected else None, found))
    return results


def _built_in(logs: Path, tell: Progress) -> list[dict[str, Any]]:
    """Run each built-in scene with and without a broad phase; the contacts must be the same."""
    import choque
    from choque.theses.fingsics.modes import FRAMES, compare_logs

    names = choque.scene.names("built-in")
    results = []
    for done, name in enumerate(names):
        tell(done, len(names), name)
        scene = choque.scene.find_bodies(name)
        found = _write_log(scene.world(), logs / f"{name}_test.csv", FRAMES - 1, scene.dt)
        oracle = _write_log(scene.world(broad="all"), logs / f"{name}_expected.csv", FRAMES - 1, scene.dt)
        results.append(_result(name, compare_logs(found, oracle, ("Collisions",)), found))
    return results


def _write_log(world: World, path: Path, steps: int, dt: float) -> Path:
    from choque.theses.fingsics.log import Log

    with Log(path) as log:
        for _ in range(steps):
            log(world, world.step(dt))
    return path


def _result(name: str, verdict: Any, log: Path) -> dict[str, Any]:
    from choque.theses.fingsics.log import read_log

    columns = read_log(log)
    counts = {"tests": int(columns["NPCDTests"].sum()), "collisions": int(columns["Collisions"].sum())}
    counted = {"scene": name, "rows": len(columns["Collisions"]), **counts}
    if verdict is None:
        return {**counted, "equal": None, "verdict": "no expected log"}
    return {**counted, "equal": verdict.is_equal, "verdict": str(verdict), "first_difference": verdict.first_difference}
