"""The frames of a run as a table, one row each or means over ten, and what claims and figures read from them."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from choque.errors import InvalidInput
from choque.files.source import naming_damage
from choque.lab.records import Records, Row
from choque.lab.result import Result
from choque.lab.statistics import Estimate
from choque.lab.verdict import RIGHT
from choque.theses.kdop.design import BODIES, PILE, PRESETS, SHAPES, TITLES, VOLUMES

FOLDER = "frames"
"""Where the tables lie in the folder of a study."""
MEANS_OF = 10

Series = dict[str, NDArray[np.float64]]
"""Columns by name, one number a row."""


@dataclass(frozen=True)
class FrameRow:
    """One frame [ms]. Nothing is drawn, so there is no time of drawing."""

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
    """By their number and the time of one, which is measured separately."""
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
    """Return a table with one row a frame."""
    return Records({name: getattr(row, name) for name in COLUMNS} for row in rows)


def means_of(rows: Sequence[FrameRow]) -> Records:
    """Return means over ten frames each, and over the rest; the first column is the last frame of each ten."""
    values = np.array([[getattr(row, name) for name in COLUMNS] for row in rows], np.float64)
    means = []
    for first in range(0, len(rows), MEANS_OF):
        some = values[first : first + MEANS_OF]
        mean = dict(zip(COLUMNS, some.mean(axis=0).tolist(), strict=True))
        means.append({**mean, "frame": int(some[-1, 0])})
    return Records(means)


def file_name(preset: str, elongation: float, volume: str, n: int, seed: int) -> str:
    """Return the name of a run's tables, without suffix."""
    return f"{preset}-{volume}-{elongation:g}-n{n}-seed{seed}"


def write(folder: Path, name: str, rows: Sequence[FrameRow]) -> None:
    """Write both tables of a run, each whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    table_of(rows).to_csv(folder / f"{name}.csv")
    means_of(rows).to_csv(folder / f"{name}-means.csv")


def read(path: Path) -> Series:
    """Return the columns of a table that `write` wrote."""
    with naming_damage(path), path.open(newline="", encoding="utf-8") as handle:
        header, *rows = list(csv.reader(handle))
        values = np.array(rows, np.float64).reshape(len(rows), len(header))
    missing = [name for name in COLUMNS if name not in header]
    if missing:
        raise InvalidInput(f"The table {path} has no column {missing[0]!r}; run the study again to write it.")
    return {name: values[:, column] for column, name in enumerate(header)}


MAIN = "reproduce"
"""The preset that claims are judged by; what the other says is noted."""
TEXT = "thesis-text"
STAGES = ("build", "pca", "projection", "radix", "prune", "gjk_epa", "shape_matching", "integrate")
"""The stages of a frame, in their order."""


def pile_size(result: Result) -> int:
    """Return the number of bodies of the largest pile."""
    cells = result.cells.where(lambda row: row.get("experiment") == PILE and row["verdict"] in RIGHT)
    if not len(cells):
        raise InvalidInput("needs the runs of the pile")
    return int(max(cells.values("n")))


def full_size(result: Result) -> int:
    """Return the size of the thesis, for claims about numbers that a smaller pile does not have."""
    n = pile_size(result)
    if n < BODIES:
        raise InvalidInput(f"needs piles of {BODIES} bodies, this run has {n}; run without --quick")
    return n


def cell_of(result: Result, elongation: int, volume: str, preset: str = MAIN) -> Row:
    """Return the cell of one run."""
    n = pile_size(result)
    place = {"experiment": PILE, "preset": preset, "elongation": elongation, "volume": volume, "n": n}
    cells = result.cells.where(**place).where(lambda row: row["verdict"] in RIGHT)
    if not len(cells):
        raise InvalidInput(f"needs the run of {TITLES.get(volume, volume)}s, {SHAPES[elongation]}, preset {preset}")
    return cells[0]


def number(result: Result, elongation: int, volume: str, column: str, preset: str = MAIN) -> float:
    """Return a column of one run: a count, or seconds of a stage over all frames."""
    value = cell_of(result, elongation, volume, preset).get(column)
    if not isinstance(value, int | float):
        raise InvalidInput(f"the run of {TITLES.get(volume, volume)}s, {SHAPES[elongation]}, has no {column}")
    return float(value)


def candidates(result: Result, elongation: int, volume: str, preset: str = MAIN) -> float:
    """Return the candidates a frame: body with body, and body with ground as 18-DOPs find them.

    The sphere around a half-space is all of space: with it every body is a candidate for the ground, at all times,
    which says nothing about spheres around bodies.
    """
    ground = number(result, elongation, VOLUMES[0], "mean_ground_pairs", preset)
    return number(result, elongation, volume, "mean_body_pairs", preset) + ground


def fewer(result: Result, elongation: int, one: str, other: str, preset: str = MAIN) -> float:
    """Return the share by which ``one`` has fewer candidates than ``other``."""
    return 1 - candidates(result, elongation, one, preset) / candidates(result, elongation, other, preset)


def slower(result: Result, elongation: int, above: str, below: str, preset: str = MAIN) -> Estimate:
    """Return the ratio of the times of frames of ``above`` to those of ``below``."""
    where = {"experiment": PILE, "preset": preset, "elongation": elongation, "n": pile_size(result)}
    return result.ratio(above, below, metric="frame", **where)


def series(result: Result, elongation: int, volume: str, preset: str = MAIN) -> Series | None:
    """Return the frames of one run from its table; None without a table."""
    try:
        n = pile_size(result)
    except InvalidInput:
        return None
    path = result.folder / FOLDER / f"{file_name(preset, elongation, volume, n, 0)}.csv"
    return read(path) if path.exists() else None


def required_series(result: Result, elongation: int, volume: str, preset: str = MAIN) -> Series:
    """Return the frames of one run; raise if there is no table."""
    found = series(result, elongation, volume, preset)
    if found is None:
        raise InvalidInput("needs the tables of frames, which a run on this machine leaves in its folder")
    return found


def typical_seconds(result: Result, elongation: int, volume: str, *stages: str) -> float:
    """Return the seconds of some stages together in a typical frame.

    The median: a moment in which the machine is elsewhere multiplies a stage of microseconds, and moves every mean.
    """
    frames = required_series(result, elongation, volume)
    return 1e-3 * float(np.median(np.sum([frames[stage] for stage in stages], axis=0)))


def presets_of(result: Result) -> list[str]:
    """Return the presets that have a run."""
    found = result.cells.where(lambda row: row.get("experiment") == PILE and row["verdict"] in RIGHT)
    return [preset for preset in PRESETS if preset in found.levels("preset")]


def volumes_of(result: Result) -> list[str]:
    """Return the volumes of the runs, those of the thesis first."""
    found = result.cells.where(lambda row: row.get("experiment") == PILE and row["verdict"] in RIGHT).levels("volume")
    return [*(each for each in VOLUMES if each in found), *(each for each in found if each not in VOLUMES)]
