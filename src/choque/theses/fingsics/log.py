"""The log of a run in the format of Fingsics: a CSV file of seven columns, one row per step, times in milliseconds."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from choque.errors import ChoqueError, UnreadableFile
from choque.files.atomic import create_new, reason_of, write_all
from choque.files.source import describe, is_text, read_head
from choque.world import StepReport, World

COLUMNS = ("BPCDTime", "NPCDTests", "NPCDTime", "Collisions", "CRTime", "DrawTime", "TotalTime")
"""Broad phase with its bounds; exact tests and their time; contacts; response; drawing; the whole step."""

COUNTS = ("NPCDTests", "Collisions")
"""The columns that do not depend on the machine."""

Row = tuple[float, int, float, int, float, float, float]


def log_row(report: StepReport) -> Row:
    """Return the seven values of a step; DrawTime is 0, since nothing is drawn.

    By ``soft-step`` exact tests are its manifolds, and the response its solver.
    """
    stage = report.seconds
    broad = 1e3 * (stage["bounds"] + stage["broad"])
    exact, solved = ("narrow", "response") if "narrow" in stage else ("manifolds", "solver")
    narrow, response, total = 1e3 * stage[exact], 1e3 * stage[solved], 1e3 * report.total_seconds
    return (broad, report.pairs, narrow, report.contacts, response, 0.0, total)


class Log:
    """Writes a log row by row; an observer of a run. Each row is written at the end of its step.

    Parameters
    ----------
    path
        A new file; an existing one is refused.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.row_count = 0
        self._handle = create_new(self.path, "log")
        self._write(",".join(COLUMNS))

    def __call__(self, world: World, report: StepReport) -> None:  # noqa: ARG002
        """Add the row of a step."""
        self.add(log_row(report))

    def add(self, row: Iterable[float]) -> None:
        """Add a row of seven values."""
        self._write(",".join(f"{value:.6g}" if isinstance(value, float) else str(value) for value in row))
        self.row_count += 1

    def close(self) -> None:
        """Close the file; closing twice does nothing."""
        self._handle.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _write(self, line: str) -> None:
        whole = self._handle.tell()
        try:
            write_all(self._handle, f"{line}\n".encode())
        except OSError as problem:
            with suppress(OSError):
                self._handle.truncate(whole)  # a row is there in full or not at all
            raise ChoqueError(
                f"The log {self.path} could not be continued: {reason_of(problem)}. Its {self.row_count:,} rows stay "
                "readable; free some space and run again."
            ) from problem


def write_log(path: str | os.PathLike[str], rows: Iterable[Iterable[float]]) -> None:
    """Write a whole log at once."""
    with Log(path) as log:
        for row in rows:
            log.add(row)


def read_log(path: str | os.PathLike[str]) -> dict[str, NDArray[np.float64]]:
    """Read a log: each column by name, (rows,); columns with other names are kept as they are called.

    Older logs of the engine have MoveTime instead of DrawTime.
    """
    path = Path(path)
    head = read_head(path)
    if not is_text(head):
        raise UnreadableFile(f"The file {path} is not a log, which is text: it looks like {describe(head)}.")
    with path.open(newline="", encoding="utf-8-sig", errors="replace") as handle:
        lines = list(csv.reader(handle))
    names = [name.strip() for name in lines[0]]
    for name in COUNTS:
        if name not in names:
            raise UnreadableFile(f"{path}, line 1: a log has a column {name}; there are {', '.join(names)[:200]}.")
    rows = []
    for number, line in enumerate(lines[1:], start=2):
        if not line:
            continue
        try:
            values = [float(word) for word in line]
        except ValueError as problem:
            raise UnreadableFile(f"{path}, line {number}: {problem}.") from problem
        if len(values) != len(names):
            raise UnreadableFile(f"{path}, line {number}: {len(values)} values for {len(names)} columns.")
        rows.append(values)
    table = np.array(rows, np.float64).reshape(len(rows), len(names))
    return {name: table[:, column] for column, name in enumerate(names)}
