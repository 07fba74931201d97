"""``choque demo``: the tour, stop by stop, with a picture of each and one page of all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from choque.cli._json import AsJson, print_json

if TYPE_CHECKING:
    from rich.console import Console

    from choque.cli.tour import Shown, Stop

OUTPUT, REPORT = Path("output"), "report.html"


def demo(
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", metavar="FOLDER", help="Where to; a new folder in 'output' unless given.", show_default=False
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Less of everything, in a few seconds.")] = False,
    as_json: AsJson = False,
) -> None:
    """Take the tour: everything Choque does, in a minute.

    Bodies fall and are filmed, a million boxes are answered, motion is followed from event to event, two solids
    collide, a crowd looks around, and every method is checked. The very first run compiles for some minutes before it.
    The exit code is 1 if an answer was wrong.

    Try:
      choque demo
      choque demo --quick --output pictures
    """
    from time import perf_counter

    from choque.cli._folders import run_folder
    from choque.cli._terminal import console
    from choque.cli.tour import STOPS
    from choque.cli.tour.report import write_report
    from choque.errors import require
    from choque.lab.machine import processor_name

    require("matplotlib", extra="lab", purpose="to draw the pictures of the tour")
    folder = run_folder(output, OUTPUT, "demo")
    terminal = console()
    _make_ready(STOPS)
    begin = perf_counter()
    seen: dict[str, Shown] = {}
    for number, stop in enumerate(STOPS, start=1):
        seen[stop.title] = _visit(stop, folder, quick)
        if not as_json:
            _tell(terminal, f"{number}. {stop.title}", seen[stop.title])
    write_report(folder / REPORT, seen, processor_name())
    right = all(shown.is_right for shown in seen.values())
    if as_json:
        stops = {
            title: {**shown.facts, "picture": shown.picture, "right": shown.is_right} for title, shown in seen.items()
        }
        print_json({"folder": folder, "report": folder / REPORT, "right": right, "stops": stops})
    else:
        terminal.print(f"{perf_counter() - begin:.0f} s in all. The pictures are in {folder}/, and all of it is in")
        terminal.print(f"{folder / REPORT}", style="bold", soft_wrap=True)
    if not right:
        raise typer.Exit(1)


def _make_ready(stops: tuple[Stop, ...]) -> None:
    """Compile or load what the stops need, with a bar, so that none of it is in their times."""
    from choque.cli._terminal import progress

    with progress() as tell:
        for done, stop in enumerate(stops):
            tell(done, len(stops), f"loading, or compiling once: {stop.title.lower()}")
            stop.ready()


def _visit(stop: Stop, folder: Path, quick: bool) -> Shown:
    from choque.cli._terminal import progress

    with progress() as tell:
        return stop.show(folder, quick, lambda done, total, _: tell(done, total, stop.title.lower()))


def _tell(terminal: Console, title: str, shown: Shown) -> None:
    from rich.padding import Padding
    from rich.text import Text

    lines: list[tuple[str, Any]] = [(shown.sentence, "" if shown.is_right else "red")]
    lines += [(f"{shown.picture.name}; go on with: {shown.try_next}", "dim")]
    terminal.print(Text(title, style="bold"))
    for line, style in lines:
        terminal.print(Padding(Text(line, style=style), (0, 0, 0, 3), expand=False))
    terminal.print()
