"""``choque test-scenes``: the mode TEST of the original, with a verdict for each scene."""
# ruff: noqa: PT028 (a verb, not a test)

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from choque.cli._json import AsJson, print_json

if TYPE_CHECKING:
    from choque._core.types import Progress

OUTPUT = Path("testing")


def test_scenes(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="FOLDER",
            help="With scenes and expected logs; the built-in scenes unless given.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", metavar="FOLDER", help="Where the folder with the logs is made.")
    ] = OUTPUT,
    as_json: AsJson = False,
) -> None:
    """Run scenes against the counts that are expected of them.

    Given a folder, each scene runs 299 steps by the rules of the original, with its sweep, and every row of tests and
    collisions is compared with the expected log. The built-in scenes run by Choque's own rules; expected of them are
    the contacts that are found when every pair is tested.

    Try:
      choque test-scenes
      choque test-scenes fingsics
    """
    from choque.cli._folders import new_folder
    from choque.cli._terminal import console, plain_table, progress
    from choque.theses.fingsics.expected import find_cases

    cases = [] if folder is None else find_cases(folder)
    logs = new_folder(output, "test")
    with progress() as tell:
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
    """Run each case by the rules of the original and compare its log with the expected one."""
    import choque
    from choque.theses.fingsics.expected import FRAMES, compare_logs

    results = []
    for done, case in enumerate(cases):
        tell(done, len(cases), case.name)
        found = _write_log(
            choque.scene.load_bodies(case.scene),
            logs / f"{case.name}_test.csv",
            FRAMES - 1,
            legacy=True,
            broad="sap-incremental",
        )
        results.append(_result(case.name, compare_logs(found, case.expected) if case.expected else None, found))
    return results


def _built_in(logs: Path, tell: Progress) -> list[dict[str, Any]]:
    """Run each built-in scene twice, with and without a broad phase: the contacts must be the same."""
    import choque
    from choque.theses.fingsics.expected import FRAMES, compare_logs

    names = choque.scene.built_in_names()
    results = []
    for done, name in enumerate(names):
        tell(done, len(names), name)
        scene = choque.scene.load_bodies(name)
        found = _write_log(scene, logs / f"{name}_test.csv", FRAMES - 1)
        oracle = _write_log(scene, logs / f"{name}_expected.csv", FRAMES - 1, broad="all")
        results.append(_result(name, compare_logs(found, oracle, ("Collisions",)), found))
    return results


def _write_log(scene: Any, path: Path, steps: int, **options: Any) -> Path:
    from choque.theses.fingsics.log import Log

    world = scene.world(**options)
    with Log(path) as log:
        for _ in range(steps):
            log(world, world.step(scene.dt))
    return path


def _result(name: str, verdict: Any, log: Path) -> dict[str, Any]:
    from choque.theses.fingsics.log import read_log

    columns = read_log(log)
    counts = {"tests": int(columns["NPCDTests"].sum()), "collisions": int(columns["Collisions"].sum())}
    told = {"scene": name, "rows": len(columns["Collisions"]), **counts}
    if verdict is None:
        return {**told, "equal": None, "verdict": "nothing is expected of it"}
    return {**told, "equal": verdict.is_equal, "verdict": str(verdict), "first_difference": verdict.first_difference}
