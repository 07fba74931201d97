"""``choque explain``: which method ``auto`` takes for the boxes in a file, and why."""

from __future__ import annotations

import json

import typer

from choque.cli._options import AsJson, BoxesFile, Frame, HalfOpen, Threads


def explain(
    file: BoxesFile, as_json: AsJson = False, half_open: HalfOpen = False, threads: Threads = None, frame: Frame = 0
) -> None:
    """Say which method auto takes for the boxes in a file, and why.

    Try:
      choque explain boxes.npy
    """
    from dataclasses import asdict

    import choque

    lower, upper = choque.files.read_boxes(file, frame)
    choice = choque.explain(lower, upper, closed=not half_open, threads=threads)
    typer.echo(json.dumps(asdict(choice)) if as_json else str(choice))
