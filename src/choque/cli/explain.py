"""``choque explain``: which method ``auto`` chooses for the boxes in a file, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import typer

from choque.cli._json import AsJson, print_json
from choque.cli._options import BoxesFile, Frame, HalfOpen, Threads, checked_boxes

if TYPE_CHECKING:
    from choque.broad.auto import Auto


def explain(
    file: BoxesFile, as_json: AsJson = False, half_open: HalfOpen = False, threads: Threads = None, frame: Frame = 0
) -> None:
    """Print which method auto chooses for a file, and why.

    Try:
      choque explain boxes.npy
      choque explain scene.aabbs --frame 3 --json
    """
    import choque
    from choque._core.progress import shown

    with shown(f"Reading {file} …"):
        boxes = checked_boxes(file, *choque.files.read_boxes(file, frame=frame))
    auto = choque.broad.create("auto", boxes, closed=not half_open, threads=threads).index
    choice = cast("Auto", auto).choice
    if as_json:
        print_json({**vars(choice), "reason": choice.reason})
    else:
        typer.echo(str(choice))
