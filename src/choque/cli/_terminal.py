"""Tables and sizes in the terminal."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

WIDTH_IN_FILES = 160
"""Characters per line if the output is a file or a pipe."""


def console() -> Console:
    """Return a console for stdout; colours only in a terminal."""
    from rich.console import Console

    has_width = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(width=None if has_width else WIDTH_IN_FILES, highlight=False)


def compiled_sentence(count: int) -> str:
    """Return a note for times that include the compilation of ``count`` kernels."""
    return f"The times include compiling {counted(count, 'kernel')}, once; run it again for times without."


def plain_table(*headings: str, gap: int = 2) -> Table:
    """Return an empty table with columns ``gap`` apart; a heading that ends in ``>`` aligns its column right."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, gap - 1, 0, 0), pad_edge=False)
    for place, heading in enumerate(headings):
        justify: Literal["left", "right"] = "right" if heading.endswith(">") else "left"
        table.add_column(heading.rstrip(">"), justify=justify, no_wrap=place == 0)
    return table


def plain(value: Any) -> Any:
    """Return text with its control characters written out; also the text in lists and dictionaries.

    Names in files of strangers could otherwise change the title or the colours of a terminal, or hide what is printed.
    """
    if isinstance(value, str):
        return "".join(each if each.isprintable() or each in "\n\t" else ascii(each)[1:-1] for each in value)
    if isinstance(value, dict):
        return {plain(name): plain(each) for name, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list) else value


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: "1 contact", "12,041 contacts"."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def size(byte_count: int) -> str:
    """Format a number of bytes with three digits and a binary unit."""
    return f"{byte_count / 2**20:.3g} MiB" if byte_count >= 2**20 else f"{byte_count / 2**10:.3g} KiB"
