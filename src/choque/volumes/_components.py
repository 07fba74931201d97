"""Connected parts, by joining the disjoint boxes that meet."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import kernel
from choque.errors import InvalidInput
from choque.volumes._keys import AXES
from choque.volumes._model import ExtremeVertices

CONNECTIVITY = {6: 1, 18: 2, 26: 3}
"""Neighbours of a cell that count as connected, and along how many axes two boxes may merely touch."""


def components(model: ExtremeVertices, connectivity: int = 26) -> list[ExtremeVertices]:
    """The connected parts, by falling size, equal ones by position.

    ``connectivity`` 6 joins cells that share a face, 18 also an edge, 26 also a corner. Near linear in the boxes.
    """
    if connectivity not in CONNECTIVITY:
        raise InvalidInput(f"The connectivity is {connectivity!r}; it must be 6 (faces), 18 (edges) or 26 (corners).")
    order = AXES[: model.dimension]
    lower, upper = model.boxes(order)
    labels = _labels(*model.sections(order), CONNECTIVITY[connectivity])
    _, labels = np.unique(labels, return_inverse=True)
    sizes = np.bincount(labels, np.prod(upper - lower, axis=1)) if len(lower) else np.empty(0)
    parts = []
    for label in np.argsort(-sizes, kind="stable"):
        own = labels == label
        parts.append(ExtremeVertices.from_boxes(lower[own], upper[own], layout=model.layout))
    return parts


@kernel
def _root(parents: NDArray[np.int64], run: int) -> int:
    while parents[run] != run:
        parents[run] = parents[parents[run]]
        run = parents[run]
    return run


@kernel
def _join_strips(
    strip: int,
    other: int,
    strips: NDArray[np.int32],
    ends: NDArray[np.int32],
    touching: int,
    allowed: int,
    parents: NDArray[np.int64],
) -> None:
    """Join the runs of two strips that meet; along ``touching`` axes the strips themselves merely touch."""
    slack = 1 if touching < allowed else 0
    row, row_last = strips[strip, 1], strips[strip + 1, 1]
    column, column_last = strips[other, 1], strips[other + 1, 1]
    while row < row_last and column < column_last:
        if ends[row] < ends[column + 1] + slack and ends[column] < ends[row + 1] + slack:
            one, two = _root(parents, row // 2), _root(parents, column // 2)
            # The smaller number leads, so that labels follow the position.
            if one < two:
                parents[two] = one
            else:
                parents[one] = two
        if ends[row + 1] < ends[column + 1]:
            row += 2
        else:
            column += 2


@kernel
def _labels(
    slabs: NDArray[np.int32], strips: NDArray[np.int32], ends: NDArray[np.int32], allowed: int
) -> NDArray[np.int64]:
    """The smallest run that each run is connected with."""
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
    for run in range(len(parents)):
        parents[run] = _root(parents, run)
    return parents
