"""The nearest points of two infinite lines, by elimination in single precision as the original does it."""

from __future__ import annotations

from typing import Any

import numpy as np

from choque._core.kernel import kernel
from choque.theses.fingsics.vectors import Vector, cross, minus, unit


@kernel
def common_normal(direction: Vector, other: Vector) -> Vector:
    """The unit vector across two directions that are not parallel."""
    return unit(cross(other, direction))


@kernel
def nearest_on_lines(start: Vector, direction: Vector, other_start: Vector, other: Vector, across: Vector) -> Vector:
    """The parameters s and t of the nearest points, and the signed gap w between them along ``across``.

    Solves s·direction − t·other + w·across = other_start − start, rows exchanged for the largest pivot. The
    directions are unit and not parallel, so no pivot vanishes.
    """
    system = np.empty((3, 4), np.float32)
    right = minus(other_start, start)
    for k in range(3):
        system[k, 0], system[k, 1], system[k, 2], system[k, 3] = direction[k], -other[k], across[k], right[k]
    for column in range(3):
        _bring_up_pivot(system, column)
        for row in range(column + 1, 3):
            factor = system[row, column] / system[column, column]
            for k in range(column + 1, 4):
                system[row, k] -= system[column, k] * factor
    w = system[2, 3] / system[2, 2]
    t = (system[1, 3] - system[1, 2] * w) / system[1, 1]
    s = (system[0, 3] - system[0, 2] * w - system[0, 1] * t) / system[0, 0]
    return s, t, w


@kernel
def _bring_up_pivot(system: Any, column: int) -> None:
    """Exchange row ``column`` for the one at or below it with the largest entry in that column."""
    best = column
    for row in range(column + 1, 3):
        if abs(system[row, column]) > abs(system[best, column]):
            best = row
    for k in range(4):
        system[column, k], system[best, k] = system[best, k], system[column, k]
