"""The table of a comparison: its rows, the machine, and how it looks in a terminal and in files."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

from choque.lab import machine
from choque.lab.csv_rows import write_dataclasses
from choque.lab.verdict import Judgement

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table as RichTable

WIDE = 110
"""Columns of a terminal that shows everything."""

COLOURS: dict[Judgement, str] = {
    "exact": "green",
    "rounding": "green",
    "superset": "cyan",
    "unchecked": "",
    "other question": "cyan",
    "cut off": "yellow",
    "wrong": "bold red",
    "failed": "bold red",
}


@dataclass(frozen=True)
class Row:
    """One candidate on one scene; medians over the rounds [s]. The names of the fields are columns of files."""

    scene: str
    dimension: int
    count: int
    frames: int
    candidate: str
    kind: str
    threads: int
    pair_count: int | None
    create: float | None
    update: float | None
    pairs: float | None
    total: float | None
    """Update and pairs of a frame, or create and pairs where there is one frame."""
    total_minimum: float | None
    total_lower_quartile: float | None
    total_upper_quartile: float | None
    read: float | None
    """Turning a peer's own answer into sorted pairs, once; in no other figure."""
    rounds: int
    ratio: float | None
    """Total over the smallest total among right answers on this scene; None if this one is wrong."""
    tests: int | None
    peak_bytes: int | None
    verdict: Judgement
    note: str


@dataclass
class Table:
    """The rows of a benchmark and the machine it ran on."""

    rows: list[Row] = field(default_factory=list)
    machine: dict[str, str | int | float] = field(default_factory=machine.describe)

    @property
    def is_right(self) -> bool:
        """Whether no candidate gave a wrong answer or failed."""
        return not any(row.verdict in ("wrong", "failed") for row in self.rows)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the rows as CSV under the machine's description, whole or not at all."""
        write_dataclasses(path, self.rows, self.machine)

    def to_json(self) -> str:
        """Give the machine and the rows as one JSON object."""
        return json.dumps({"machine": self.machine, "rows": [asdict(row) for row in self.rows]}, indent=2)


def render(table: Table, width: int = WIDE) -> Group:
    """Lay the table out for a terminal of ``width`` columns: a block for each scene and count, the fastest first.

    A narrow terminal gets the columns that matter most, whole, and not all of them cut.
    """
    from rich.console import Group
    from rich.text import Text

    blocks: list[RichTable | Text] = []
    for (scene, count, frames), rows in groupby(table.rows, lambda row: (row.scene, row.count, row.frames)):
        moving = f", {frames} frames" if frames > 1 else ""
        blocks.append(_block(f"{scene}, {count:,} boxes{moving}", list(rows), width))
    blocks.append(Text(", ".join(f"{key} {value}" for key, value in table.machine.items()), style="dim"))
    return Group(*blocks)


def _block(title: str, rows: list[Row], width: int) -> RichTable:
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    columns = _columns(rows[0].frames > 1, width >= WIDE)
    shown = RichTable(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    shown.add_column("candidate", no_wrap=True)
    for heading in columns:
        shown.add_column(heading, justify="right", no_wrap=True)
    shown.add_column("verdict")
    for row in sorted(rows, key=lambda row: (row.ratio is None, row.ratio or 0.0)):
        shown.add_row(
            Text(row.candidate, style="bold" if row.kind == "method" else ""),
            *(cell(row) for cell in columns.values()),
            Text(": ".join(filter(None, (row.verdict, row.note))), style=COLOURS[row.verdict]),
        )
    return shown


def _columns(moving: bool, wide: bool) -> dict[str, Callable[[Row], str]]:
    """Return the columns between name and verdict, and how each is written."""
    columns: dict[str, Callable[[Row], str]] = {"pairs": lambda row: _number(row.pair_count)}
    if wide:
        columns["threads"] = lambda row: str(row.threads)
    columns["create"] = lambda row: duration(row.create)
    if moving:
        columns["update"] = lambda row: duration(row.update)
    columns["search"] = lambda row: duration(row.pairs)
    columns["total"] = lambda row: duration(row.total)
    if wide:
        columns["± IQR/2"] = lambda row: duration(_half_range(row))
    columns["ratio"] = lambda row: "" if row.ratio is None else f"{row.ratio:.2f}x"
    if wide:
        columns["tests"] = lambda row: _number(row.tests)
        columns["peak"] = lambda row: _size(row.peak_bytes)
    return columns


def duration(seconds: float | None) -> str:
    """Write three digits and a unit; nothing for None."""
    if seconds is None:
        return ""
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= 0.9995 * scale:  # three digits of less are 1000 of the next unit
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def _half_range(row: Row) -> float | None:
    if row.total_lower_quartile is None or row.total_upper_quartile is None:
        return None
    return (row.total_upper_quartile - row.total_lower_quartile) / 2


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _size(value: int | None) -> str:
    if value is None:
        return ""
    return f"{value / 2**20:.3g} MiB" if value >= 2**20 else f"{value / 2**10:.3g} KiB"
