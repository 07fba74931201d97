"""Erosion, dilation, opening and skeleton on runs: an axis at a time, exact.

A cube is the sum of three segments, so growing by it is growing every run along x, then y, then z; a diamond grows by
the union of the three, step by step. Shrinking is the same with the intersection.
"""

from __future__ import annotations

import numpy as np

from choque.errors import UnknownName
from choque.volumes._keys import AXES
from choque.volumes._lattice import whole_number
from choque.volumes._model import ExtremeVertices

SHAPES = ("cube", "diamond")


def dilated(model: ExtremeVertices, steps: int, shape: str = "cube") -> ExtremeVertices:
    """Grown by ``steps`` cells: with the 26 neighbours of a cell (``cube``) or with the 6 (``diamond``)."""
    steps = _checked(steps, shape)
    axes = AXES[: model.dimension]
    if shape == "cube":
        for axis in axes:
            model = _along(model, axis, steps)
        return model
    for _ in range(steps):
        grown = model
        for axis in axes:
            grown = grown | _along(model, axis, 1)
        model = grown
    return model


def eroded(model: ExtremeVertices, steps: int, shape: str = "cube") -> ExtremeVertices:
    """Shrunk by ``steps`` cells; everything outside counts as empty."""
    steps = _checked(steps, shape)
    axes = AXES[: model.dimension]
    if shape == "cube":
        for axis in axes:
            model = _along(model, axis, -steps)
        return model
    for _ in range(steps):
        shrunk = model
        for axis in axes:
            shrunk = shrunk & _along(model, axis, -1)
        model = shrunk
    return model


def skeleton(model: ExtremeVertices, shape: str = "cube") -> ExtremeVertices:
    """The morphological skeleton: what each erosion loses when it is opened (Lantuéjoul, 1978).

    The skeleton with the step at which each part arose gives the object back; it need not be connected.
    """
    remaining, parts = model, None
    while not remaining.is_empty():
        smaller = eroded(remaining, 1, shape)
        part = remaining - dilated(smaller, 1, shape)
        parts = part if parts is None else parts | part
        remaining = smaller
    return model if parts is None else parts


def _along(model: ExtremeVertices, axis: str, steps: int) -> ExtremeVertices:
    """Grown (or shrunk, when negative) at both ends of every run along one axis."""
    if steps == 0 or model.is_empty():
        return model
    column = AXES.index(axis)
    lower, upper = model.boxes(AXES[: model.dimension].replace(axis, "") + axis)
    starts, stops = lower[:, column] - steps, upper[:, column] + steps
    if steps < 0:
        kept = starts < stops
        lower, upper = lower[kept], upper[kept]
        lower[:, column], upper[:, column] = starts[kept], stops[kept]
    else:
        across = np.delete(lower, column, axis=1)
        opens = np.concatenate(([True], (across[1:] != across[:-1]).any(axis=1) | (starts[1:] > stops[:-1])))
        closes = np.append(opens[1:], True)
        bottom, top = lower[opens], upper[closes]
        bottom[:, column], top[:, column] = starts[opens], stops[closes]
        lower, upper = bottom, top
    return ExtremeVertices.from_boxes(lower, upper, order=model.order, layout=model.layout)


def _checked(steps: int, shape: str) -> int:
    if shape not in SHAPES:
        raise UnknownName("neighbourhood", str(shape), SHAPES)
    return whole_number(steps, "number of steps", 0)
