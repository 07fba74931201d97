"""What claims and figures ask about the six runs: means of cells, and the tables of frames."""

from __future__ import annotations

import numpy as np

from choque.errors import InvalidInput
from choque.lab.records import Row
from choque.lab.result import Result
from choque.lab.statistics import Estimate
from choque.lab.verdict import RIGHT
from choque.theses.kdop import study_frames
from choque.theses.kdop.study_design import PILE, PRESETS
from choque.theses.kdop.study_frames import FOLDER, Series
from choque.theses.kdop.study_printed import BODIES, SHAPES, TITLES, VOLUMES

MAIN = "reproduce"
"""The preset that claims are judged by; what the other says is noted."""
TEXT = "thesis-text"
STAGES = ("build", "pca", "projection", "radix", "prune", "gjk_epa", "shape_matching", "integrate")
"""The stages of a frame, in their order."""


def pile_size(result: Result) -> int:
    """How many bodies the largest pile has."""
    cells = result.cells.where(lambda row: row.get("experiment") == PILE and row["verdict"] in RIGHT)
    if not len(cells):
        raise InvalidInput("needs the runs of the pile")
    return int(max(cells.values("n")))


def full_size(result: Result) -> int:
    """The size of the thesis, for claims about numbers that a smaller pile does not have."""
    n = pile_size(result)
    if n < BODIES:
        raise InvalidInput(f"needs piles of {BODIES} bodies, this run has {n}; run without --quick")
    return n


def cell_of(result: Result, elongation: int, volume: str, preset: str = MAIN) -> Row:
    """The cell of one run."""
    n = pile_size(result)
    place = {"experiment": PILE, "preset": preset, "elongation": elongation, "volume": volume, "n": n}
    cells = result.cells.where(**place).where(lambda row: row["verdict"] in RIGHT)
    if not len(cells):
        raise InvalidInput(f"needs the run of {TITLES.get(volume, volume)}s, {SHAPES[elongation]}, preset {preset}")
    return cells[0]


def number(result: Result, elongation: int, volume: str, column: str, preset: str = MAIN) -> float:
    """A column of one run: a count, or seconds of a stage over all frames."""
    value = cell_of(result, elongation, volume, preset).get(column)
    if not isinstance(value, int | float):
        raise InvalidInput(f"the run of {TITLES.get(volume, volume)}s, {SHAPES[elongation]}, has no {column}")
    return float(value)


def candidates(result: Result, elongation: int, volume: str, preset: str = MAIN) -> float:
    """Candidates a frame: body with body, and body with ground as 18-DOPs find them.

    The sphere around a half-space is all of space: with it every body is a candidate for the ground, at all times,
    which says nothing about spheres around bodies.
    """
    ground = number(result, elongation, VOLUMES[0], "mean_ground_pairs", preset)
    return number(result, elongation, volume, "mean_body_pairs", preset) + ground


def fewer(result: Result, elongation: int, one: str, other: str, preset: str = MAIN) -> float:
    """By which share ``one`` has fewer candidates than ``other``."""
    return 1 - candidates(result, elongation, one, preset) / candidates(result, elongation, other, preset)


def slower(result: Result, elongation: int, above: str, below: str, preset: str = MAIN) -> Estimate:
    """How many times the frames of ``above`` take what those of ``below`` take."""
    where = {"experiment": PILE, "preset": preset, "elongation": elongation, "n": pile_size(result)}
    return result.ratio(above, below, metric="frame", **where)


def series(result: Result, elongation: int, volume: str, preset: str = MAIN) -> Series | None:
    """The frames of one run from its table; None where there is none."""
    try:
        n = pile_size(result)
    except InvalidInput:
        return None
    path = result.folder / FOLDER / f"{study_frames.file_name(preset, elongation, volume, n, 0)}.csv"
    return study_frames.read(path) if path.exists() else None


def required_series(result: Result, elongation: int, volume: str, preset: str = MAIN) -> Series:
    """The same; claims that need a table cannot be tested without."""
    found = series(result, elongation, volume, preset)
    if found is None:
        raise InvalidInput("needs the tables of frames, which a run on this machine leaves in its folder")
    return found


def typical_seconds(result: Result, elongation: int, volume: str, *stages: str) -> float:
    """Seconds of some stages together in a typical frame.

    The median: a moment in which the machine is elsewhere multiplies a stage of microseconds, and moves every mean.
    """
    frames = required_series(result, elongation, volume)
    return 1e-3 * float(np.median(np.sum([frames[stage] for stage in stages], axis=0)))


def presets_of(result: Result) -> list[str]:
    """The presets that have any run."""
    found = result.cells.where(lambda row: row.get("experiment") == PILE and row["verdict"] in RIGHT)
    return [preset for preset in PRESETS if preset in found.levels("preset")]


def volumes_of(result: Result) -> list[str]:
    """The volumes of the runs, those of the thesis first."""
    found = result.cells.where(lambda row: row.get("experiment") == PILE and row["verdict"] in RIGHT).levels("volume")
    return [*(each for each in VOLUMES if each in found), *(each for each in found if each not in VOLUMES)]
