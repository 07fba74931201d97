"""``choque demo``: every method on a moving scene, checked, timed and drawn."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from choque.bounds import Boxes
    from choque.cli._performance import Performance

FOLDER = Path("output")
BOXES = 20_000
FRAMES = 5
CHECKED = (0, 2, 4)
"""The frames whose pairs the oracle finds too, by testing all 200 million."""

READY = 5_000
"""How many of the boxes a method meets first, untimed, so that its kernels are compiled or loaded."""


def demo(
    output: Annotated[Path, typer.Option("--output", metavar="FOLDER", help="Where the picture goes.")] = FOLDER,
    n: Annotated[int, typer.Option("--n", metavar="N", help="How many boxes.")] = BOXES,
) -> None:
    """Run every method on a moving scene, check it and draw it.

    Seconds, once the kernels are compiled; the very first run compiles them, for a minute or so.

    Try:
      choque demo
      choque demo --output pictures
    """
    from time import perf_counter

    import choque
    from choque.cli._terminal import console

    begin = perf_counter()
    folder = _folder(output)
    if n < 2:
        raise choque.errors.InvalidInput(f"A scene of {n} boxes was asked for; give at least 2.")
    scene = choque.scene.generate("moving", n, frames=FRAMES)
    frames = [choque.bounds.Boxes(*frame) for frame in scene.frames()]
    terminal = console()
    terminal.print(f"{n:,} boxes in 3D, all of them moving, {FRAMES} frames; each method follows them.")
    performances = _run(frames)
    terminal.print(_table(performances))
    for remark in (*_remarks(performances), _draw(folder / "demo.png", frames[-1])):
        terminal.print(remark, markup=False, soft_wrap=True)
    terminal.print(f"{perf_counter() - begin:.1f} s in all.")
    if not all(each.is_right for each in performances):
        raise typer.Exit(1)


def _folder(output: Path) -> Path:
    from choque.errors import InvalidInput

    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        raise InvalidInput(f"The folder {output} cannot be made: {reason}. Give another with --output.") from problem
    return output


def _run(frames: list[Boxes]) -> list[Performance]:
    """Try all methods, the fastest first in the list; the bar tells what is being waited for."""
    import choque
    from choque.cli._performance import perform
    from choque.cli._terminal import progress
    from choque.testing.oracle import overlapping_pairs

    names = choque.broad.names()
    some = [choque.bounds.Boxes(boxes.lower[:READY], boxes.upper[:READY]) for boxes in frames[:2]]
    performances, expected = [], {}
    total = 2 * len(names) + len(CHECKED)
    with progress() as tell:
        for done, name in enumerate(names):
            tell(done, total, f"compiling or loading {name}")
            perform(name, some, {})
        for done, index in enumerate(CHECKED, start=len(names)):
            tell(done, total, f"the oracle tests every pair of frame {index}")
            expected[index] = overlapping_pairs(frames[index].lower, frames[index].upper)
        for done, name in enumerate(names, start=len(names) + len(CHECKED)):
            tell(done, total, f"running {name}")
            performances.append(perform(name, frames, expected))
    return sorted(performances, key=lambda each: (not each.is_right, each.update + each.search))


def _table(performances: list[Performance]) -> Table:
    from rich.text import Text

    from choque.cli._terminal import plain_table, size
    from choque.lab.table import COLOURS, duration

    headings = ("method", "pairs>", "create>", "update>", "search>", "tests>", "peak>", "verdict")
    table = plain_table(*headings, gap=1)  # to fit a terminal of 80 columns
    for each in performances:
        stages = (duration(seconds) for seconds in (each.create, each.update, each.search))
        figures = (f"{each.pair_count:,}", *stages, f"{each.tests / 1e6:.3g} M", size(each.peak_bytes))
        table.add_row(
            Text(each.method, style="bold"),
            *(figures if each.verdict.judgement != "failed" else [""] * len(figures)),
            Text(each.verdict.judgement, style=COLOURS[each.verdict.judgement]),
        )
    return table


def _remarks(performances: list[Performance]) -> list[str]:
    frames = ", ".join(map(str, CHECKED))
    notes = [f"{each.method}: {each.verdict.note}." for each in performances if each.verdict.note]
    return [f"Frames {frames} were checked against the oracle, which tests every pair in NumPy.", *notes]


def _draw(path: Path, boxes: Boxes) -> str:
    import choque
    from choque.view import draw_scene

    pairs = choque.pairs(boxes.lower, boxes.upper)
    title = "A moving scene and its colliding pairs"
    try:
        draw_scene(path, boxes.lower, boxes.upper, pairs, title=title)
    except choque.errors.MissingExtra as problem:
        return f"No picture: {problem}"
    return f"The scene and its colliding pairs are drawn in {path}."
