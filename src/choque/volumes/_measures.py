"""Measures, connected parts and morphology of objects, in lattice units, from cached sections.

Morphology works on runs, one axis at a time, exactly. A cube is the sum of three segments, so dilation by it grows
every run along x, then y, then z; a diamond grows by the union of the three, step by step. Erosion is the same with
the intersection.
"""

from __future__ import annotations

import numpy as np

from choque._core import check
from choque._core.kernel import helper, kernel
from choque._core.parts import join, settle
from choque._core.types import I32, I64
from choque.errors import InvalidInput
from choque.volumes._model import ExtremeVertices
from choque.volumes._sections import SectionArrays
from choque.volumes.keys import AXES


def content(model: ExtremeVertices) -> int:
    """Return the number of full cells: length, area or volume on the lattice."""
    lower, upper = model.boxes()
    return int(np.prod(upper - lower, axis=1).sum())


def boundary(model: ExtremeVertices) -> tuple[int, ...]:
    """Return the number of unit faces (edges in 2D, ends in 1D) across x, y and z, both directions counted.

    Every run has two, as wide as its strip and its slab; runs are maximal, so none of them is an inner face.
    """
    counts = []
    for axis in AXES[: model.dimension]:
        lower, upper = model.boxes(AXES[: model.dimension].replace(axis, "") + axis)
        size = np.delete(upper - lower, AXES.index(axis), axis=1)
        counts.append(2 * int(np.prod(size, axis=1).sum()))
    return tuple(counts)


# Connected parts
CONNECTIVITY = {6: 1, 18: 2, 26: 3}
"""Number of neighbours of a cell, and the number of axes along which two connected boxes may only touch."""


def components(model: ExtremeVertices, connectivity: int = 26, limit: int | None = None) -> list[ExtremeVertices]:
    """Return the connected parts, or the ``limit`` largest of them, largest first, equal ones by position.

    ``connectivity`` 6 joins cells that share a face, 18 also an edge, 26 also a corner. O(n log n) for n boxes.
    """
    lower, upper = model.boxes(AXES[: model.dimension])
    labels, count = _part_labels(model, connectivity)
    sizes = np.bincount(labels, np.prod(upper - lower, axis=1), count)
    rows = np.argsort(labels, kind="stable")
    bounds = np.searchsorted(labels[rows], np.arange(count + 1))
    parts = []
    for label in np.argsort(-sizes, kind="stable")[:limit]:
        own = rows[bounds[label] : bounds[label + 1]]
        parts.append(ExtremeVertices.from_boxes(lower[own], upper[own]))
    return parts


def component_count(model: ExtremeVertices, connectivity: int = 26) -> int:
    """Return the number of connected parts; makes none of them."""
    return _part_labels(model, connectivity)[1]


def _part_labels(model: ExtremeVertices, connectivity: int) -> tuple[I64, int]:
    """Return for each box the number of its part, from 0 on by position, and the number of parts."""
    if connectivity not in CONNECTIVITY:
        raise InvalidInput(f"connectivity is {connectivity!r}; it must be 6 (faces), 18 (edges) or 26 (corners).")
    roots = _labels(model.sections(AXES[: model.dimension]).arrays, CONNECTIVITY[connectivity])
    leads, labels = np.unique(roots, return_inverse=True)
    return labels, len(leads)


@helper
def _join_strips(strip: int, other: int, strips: I32, ends: I32, touching: int, allowed: int, parents: I64) -> None:
    """Join the runs of two strips that meet; the strips themselves only touch along ``touching`` axes."""
    slack = 1 if touching < allowed else 0
    row, row_last = strips[strip, 1], strips[strip + 1, 1]
    column, column_last = strips[other, 1], strips[other + 1, 1]
    while row < row_last and column < column_last:
        if ends[row] < ends[column + 1] + slack and ends[column] < ends[row + 1] + slack:
            join(parents, row // 2, column // 2)
        if ends[row + 1] < ends[column + 1]:
            row += 2
        else:
            column += 2


@kernel
def _labels(sections: SectionArrays, allowed: int) -> I64:
    """Return for each run the smallest run that it is connected with."""
    slabs, strips, ends = sections
    parents = np.arange(len(ends) // 2)
    for slab in range(slabs.shape[0] - 1):
        first, last = slabs[slab, 1], slabs[slab + 1, 1] - 1
        for strip in range(first, last - 1):
            _join_strips(strip, strip + 1, strips, ends, 1, allowed, parents)
        if slab + 2 >= slabs.shape[0]:
            continue
        start, other_last = slabs[slab + 1, 1], slabs[slab + 2, 1] - 1
        for strip in range(first, last):
            while start < other_last and strips[start + 1, 0] < strips[strip, 0]:
                start += 1
            other = start
            while other < other_last and strips[other, 0] <= strips[strip + 1, 0]:
                touching = 1
                if strips[other + 1, 0] == strips[strip, 0] or strips[other, 0] == strips[strip + 1, 0]:
                    touching = 2
                if touching <= allowed:
                    _join_strips(strip, other, strips, ends, touching, allowed, parents)
                other += 1
    settle(parents)
    return parents


# Morphology
SHAPES = ("cube", "diamond")


def dilated(model: ExtremeVertices, steps: int, shape: str = "cube") -> ExtremeVertices:
    """Return the object grown by ``steps`` cells: to the 26 neighbours of a cell (``cube``) or the 6 (``diamond``)."""
    return _grown(model, _checked(steps, shape), shape, 1, "union")


def eroded(model: ExtremeVertices, steps: int, shape: str = "cube") -> ExtremeVertices:
    """Return the object shrunk by ``steps`` cells; everything outside is empty."""
    return _grown(model, _checked(steps, shape), shape, -1, "intersection")


def _grown(model: ExtremeVertices, steps: int, shape: str, sign: int, combination: str) -> ExtremeVertices:
    axes = AXES[: model.dimension]
    if shape == "cube":
        for axis in axes:
            model = _along(model, axis, sign * steps)
        return model
    for _ in range(steps):
        grown = model
        for axis in axes:
            grown = grown.combine(_along(model, axis, sign), combination)
        model = grown
    return model


def skeleton(model: ExtremeVertices, shape: str = "cube") -> ExtremeVertices:
    """Return the morphological skeleton: the union of what each erosion loses by an opening (Lantuéjoul, 1978).

    It need not be connected. The object can be rebuilt from it, if the step of each part is known.
    """
    remaining, parts = model, None
    while not remaining.is_empty:
        smaller = eroded(remaining, 1, shape)
        part = remaining - dilated(smaller, 1, shape)
        parts = part if parts is None else parts | part
        remaining = smaller
    return model if parts is None else parts


def _along(model: ExtremeVertices, axis: str, steps: int) -> ExtremeVertices:
    """Return the object grown (or shrunk, if negative) at both ends of every run along one axis."""
    if steps == 0 or model.is_empty:
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
    return ExtremeVertices.from_boxes(lower, upper, order=model.order)


def _checked(steps: int, shape: str) -> int:
    check.choice(shape, "neighbourhood", SHAPES)
    return check.whole_number(steps, "voxels", 0)
