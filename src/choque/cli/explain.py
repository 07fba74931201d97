"""``choque explain``: which method ``auto`` chooses for the boxes in a file, and why."""

from __future__ import annotations

import typer

from choque.cli._json import AsJson, print_json
from choque.cli._options import BoxesFile, Frame, HalfOpen, Threads


def explain(
    file: BoxesFile, as_json: AsJson = False, half_open: HalfOpen = False, threads: Threads = None, frame: Frame = 0
) -> None:
    """Print which method auto chooses for a file, and why.

    Try:
      choque explain boxes.npy
      choque explain scene.aabbs --frame 3 --json
    """
    import choque

    lower, upper = choque.files.read_boxes(file, frame=frame)
    choice = choque.explain(lower, upper, closed=not half_open, threads=threads)
    if as_json:
        print_json(choice)
    else:
        typer.echo(str(choice))
