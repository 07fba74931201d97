"""What all verbs show alike: tables, progress and figures."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from choque._core.types import Progress

WIDTH_IN_FILES = 160
"""Characters to a line where the output goes to a file or a pipe, which has no width of its own."""


def console() -> Console:
    """Where results go: stdout, in colour on a terminal only."""
    from rich.console import Console

    has_width = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(width=None if has_width else WIDTH_IN_FILES, highlight=False)


def compiled_sentence(count: int) -> str:
    """What to say under times into which the compiling of ``count`` kernels went."""
    return f"{count} kernels were compiled on the way, once; run it again for times to go by."


def plain_table(*headings: str, gap: int = 2) -> Table:
    """An empty table in the house style, its columns ``gap`` apart; those headed by a final ``>`` are aligned right."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, gap - 1, 0, 0), pad_edge=False)
    for place, heading in enumerate(headings):
        justify: Literal["left", "right"] = "right" if heading.endswith(">") else "left"
        table.add_column(heading.rstrip(">"), justify=justify, no_wrap=place == 0)
    return table


@contextmanager
def progress(title: str = "") -> Iterator[Progress]:
    """A bar on stderr that is gone once the block ends; nothing at all where stderr is not a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    errors = Console(stderr=True)
    columns = (
        *([TextColumn("{task.fields[title]}")] if title else []),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TextColumn("left"),
        # Steps may differ a hundredfold in length: an average over a long stretch jumps less.
        TimeRemainingColumn(compact=True),
        TextColumn("[dim]{task.description}"),
    )
    quiet = not errors.is_terminal
    with Bar(*columns, console=errors, transient=True, disable=quiet, speed_estimate_period=300) as bar:
        task = bar.add_task("", total=None, title=title)
        yield lambda done, total, about: bar.update(task, completed=done, total=total, description=about)


@contextmanager
def waiting(words: str) -> Iterator[None]:
    """Say on stderr what is being waited for, while it lasts; nothing where stderr is not a terminal."""
    from rich.console import Console

    errors = Console(stderr=True)
    if not errors.is_terminal:
        yield
        return
    with errors.status(words):
        yield


def size(byte_count: int) -> str:
    """Three digits and a binary unit."""
    return f"{byte_count / 2**20:.3g} MiB" if byte_count >= 2**20 else f"{byte_count / 2**10:.3g} KiB"
