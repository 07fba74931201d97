"""How a run shows itself on a terminal: cells done, the one running, the time left. Elsewhere it is quiet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from choque.lab._run import Tell


@contextmanager
def bar(title: str) -> Iterator[Tell]:
    """A bar on stderr while the block lasts; nothing at all where stderr is not a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    errors = Console(stderr=True)
    columns = (
        TextColumn("{task.fields[title]}"),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TextColumn("left"),
        # Cells differ a hundredfold in length: an average over a long stretch jumps less.
        TimeRemainingColumn(compact=True),
        TextColumn("[dim]{task.description}"),
    )
    with Progress(
        *columns, console=errors, transient=True, disable=not errors.is_terminal, speed_estimate_period=300
    ) as shown:
        task = shown.add_task("", total=None, title=title)
        yield lambda done, total, about: shown.update(task, completed=done, total=total, description=about)
