"""Tables, progress bars and sizes in the terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from choque._core.types import Progress

WIDTH_IN_FILES = 160
"""Characters per line if the output is a file or a pipe."""


def console() -> Console:
    """Return a console for stdout; colours only in a terminal."""
    from rich.console import Console

    has_width = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(width=None if has_width else WIDTH_IN_FILES, highlight=False)


def compiled_sentence(count: int) -> str:
    """Return a note for times that include the compilation of ``count`` kernels."""
    return f"The times include compiling {count} kernels, once; run it again for times without."


def plain_table(*headings: str, gap: int = 2) -> Table:
    """Return an empty table with columns ``gap`` apart; a heading that ends in ``>`` aligns its column right."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, gap - 1, 0, 0), pad_edge=False)
    for place, heading in enumerate(headings):
        justify: Literal["left", "right"] = "right" if heading.endswith(">") else "left"
        table.add_column(heading.rstrip(">"), justify=justify, no_wrap=place == 0)
    return table


@contextmanager
def progress(title: str = "") -> Iterator[Progress]:
    """Show a progress bar on stderr during the block; nothing if stderr is not a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    errors = Console(stderr=True)
    columns = (
        *([TextColumn("{task.fields[title]}")] if title else []),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TextColumn("left"),
        # Steps can differ a hundredfold in length: a long average is steadier.
        TimeRemainingColumn(compact=True),
        TextColumn("[dim]{task.description}"),
    )
    quiet = not errors.is_terminal
    with Bar(*columns, console=errors, transient=True, disable=quiet, speed_estimate_period=300) as bar:
        task = bar.add_task("", total=None, title=title)
        yield lambda done, total, about: bar.update(task, completed=done, total=total, description=about)


@contextmanager
def waiting(words: str) -> Iterator[None]:
    """Show a message on stderr during the block; nothing if stderr is not a terminal."""
    from rich.console import Console

    errors = Console(stderr=True)
    if not errors.is_terminal:
        yield
        return
    with errors.status(words):
        yield


def plain(value: Any) -> Any:
    """Return text with its control characters written out; also the text in lists and dictionaries.

    Names in files of strangers could otherwise change the title or the colours of a terminal, or hide what is printed.
    """
    if isinstance(value, str):
        return "".join(each if each.isprintable() or each in "\n\t" else ascii(each)[1:-1] for each in value)
    if isinstance(value, dict):
        return {plain(name): plain(each) for name, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list) else value


def size(byte_count: int) -> str:
    """Format a number of bytes with three digits and a binary unit."""
    return f"{byte_count / 2**20:.3g} MiB" if byte_count >= 2**20 else f"{byte_count / 2**10:.3g} KiB"
