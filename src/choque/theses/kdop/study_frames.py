"""The frames of a run as a table: one row each, or means over ten, written as CSV and read again for figures."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from choque.errors import InvalidInput
from choque.files.source import naming_damage
from choque.lab.records import Records

FOLDER = "frames"
"""Where the tables lie in the folder of a study."""
MEANS_OF = 10

Series = dict[str, NDArray[np.float64]]
"""Columns by name, one number a row."""


@dataclass(frozen=True)
class FrameRow:
    """One frame; times in milliseconds. Nothing is drawn, so there is no time of drawing."""

    frame: int
    build: float
    """Bounding volumes from poses."""
    pca: float
    """Choosing the axis."""
    projection: float
    radix: float
    prune: float
    sap: float
    """Projection, radix and prune."""
    pairs: int
    """Candidates: body with body and body with ground together."""
    body_pairs: int
    ground_pairs: int
    true_pairs: int
    """Candidates that collide at the start of the frame."""
    true_body_pairs: int
    true_ground_pairs: int
    false_positives: int
    gjk_epa_count: int
    """Exact tests in all iterations."""
    gjk_epa: float
    shape_matching_count: int
    shape_matching: float
    """By their number and the time of one, which is measured apart."""
    integrate: float
    pca_changes: int
    """How often the axis has changed so far."""
    axis_x: int
    axis_y: int
    axis_z: int
    frame_time: float
    """All of a step but counting true pairs, which the run itself does not need."""


COLUMNS = tuple(field.name for field in fields(FrameRow))
COUNTS = tuple(field.name for field in fields(FrameRow) if field.type == "int")


def table_of(rows: Sequence[FrameRow]) -> Records:
    """One row a frame."""
    return Records({name: getattr(row, name) for name in COLUMNS} for row in rows)


def means_of(rows: Sequence[FrameRow]) -> Records:
    """Means over ten frames each, what is left at the end included; the first column is the last frame of each ten."""
    values = np.array([[getattr(row, name) for name in COLUMNS] for row in rows], np.float64)
    means = []
    for first in range(0, len(rows), MEANS_OF):
        some = values[first : first + MEANS_OF]
        mean = dict(zip(COLUMNS, some.mean(axis=0).tolist(), strict=True))
        means.append({**mean, "frame": int(some[-1, 0])})
    return Records(means)


def file_name(preset: str, elongation: float, volume: str, n: int, seed: int) -> str:
    """The name of a run's tables, without their endings."""
    return f"{preset}-{volume}-{elongation:g}-n{n}-seed{seed}"


def write(folder: Path, name: str, rows: Sequence[FrameRow]) -> None:
    """Write both tables of a run, each whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    table_of(rows).to_csv(folder / f"{name}.csv")
    means_of(rows).to_csv(folder / f"{name}-means.csv")


def read(path: Path) -> Series:
    """The columns of a table that `write` wrote."""
    with naming_damage(path), path.open(newline="", encoding="utf-8") as handle:
        header, *rows = list(csv.reader(handle))
        values = np.array(rows, np.float64).reshape(len(rows), len(header))
    missing = [name for name in COLUMNS if name not in header]
    if missing:
        raise InvalidInput(f"The table {path} has no column {missing[0]!r}; write it anew by running the study.")
    return {name: values[:, column] for column, name in enumerate(header)}
