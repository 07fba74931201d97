"""Contents and boundaries in lattice units, from kept sections."""

from __future__ import annotations

import numpy as np

from choque.volumes._keys import AXES
from choque.volumes._model import ExtremeVertices


def content(model: ExtremeVertices) -> int:
    """How many cells are full: length, area or volume on the lattice."""
    lower, upper = model.boxes()
    return int(np.prod(upper - lower, axis=1).sum())


def boundary(model: ExtremeVertices) -> tuple[int, ...]:
    """How many unit faces (edges in two dimensions, ends in one) look along x, along y and along z, both ways counted.

    Every run has two, as wide as its strip and its slab; runs are maximal, so no inner face is among them.
    """
    counts = []
    for axis in AXES[: model.dimension]:
        lower, upper = model.boxes(AXES[: model.dimension].replace(axis, "") + axis)
        size = np.delete(upper - lower, AXES.index(axis), axis=1)
        counts.append(2 * int(np.prod(size, axis=1).sum()))
    return tuple(counts)
