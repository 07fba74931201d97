"""The motions that several generators share: rest, and straight travel between walls."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from choque.files.box_arrays import BoxArrays

Rows = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Rest:
    """Boxes at rest: centres and edges, each (n, d)."""

    center: Rows
    edge: Rows

    def frame(self, index: int) -> BoxArrays:  # noqa: ARG002
        """Return the same bounds for every frame."""
        return bounds(self.center, self.edge)


@dataclass(frozen=True, eq=False)
class Travel:
    """Boxes that move by ``velocity`` in each frame; walls at 0 and ``wall`` reflect their centres.

    The position is a closed form of the frame: nothing accumulates, and any frame costs the same.
    """

    center: Rows
    edge: Rows
    velocity: Rows
    wall: float

    def frame(self, index: int) -> BoxArrays:
        """Return the bounds after ``index`` steps."""
        return bounds(reflected(self.center + index * self.velocity, self.wall), self.edge)


def bounds(center: Rows, edge: Rows) -> BoxArrays:
    """Return the lower and upper bounds of boxes with these centres and edges, each (n, d)."""
    half = edge / 2
    return center - half, center + half


def reflected(position: Rows, wall: float) -> Rows:
    """Fold positions on a line into [0, ``wall``], as a path between two mirrors."""
    phase = np.mod(position, 2 * wall)
    return np.minimum(phase, 2 * wall - phase)


def directions(random: np.random.Generator, count: int, dimension: int) -> Rows:
    """Return uniformly distributed unit vectors, (count, dimension)."""
    vectors = random.standard_normal((count, dimension))
    vectors /= np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, np.newaxis]
    return vectors


def sizes(edge: Rows) -> Rows:
    """Return the size of each box, (n, 1): the mean of its edges, the unit of steps."""
    size: Rows = edge.mean(axis=1, keepdims=True)
    return size
