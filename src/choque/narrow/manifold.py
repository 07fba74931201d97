"""Contacts of many pairs of bodies, as arrays: a manifold of up to four points for each pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from choque._core.types import Floats, Pairs, Rows

MAX_POINTS = 4
"""The maximum number of points in a manifold."""


class ContactArrays(NamedTuple):
    """The arrays of `Contacts` as kernels take them; in buffers, a pair that does not touch has no points."""

    pairs: Pairs
    normal: Floats
    points: Floats
    separations: Floats
    features: NDArray[np.uint32]
    point_count: NDArray[np.uint8]

    @classmethod
    def empty(cls, count: int, dtype: DTypeLike, max_points: int = 1) -> Self:
        """Return arrays for ``count`` manifolds of at most ``max_points`` points, not initialised."""
        return cls(
            np.empty((count, 2), np.int32),
            np.empty((count, 3), dtype),
            np.empty((count, max_points, 3), dtype),
            np.empty((count, max_points), dtype),
            np.empty((count, max_points), np.uint32),
            np.empty(count, np.uint8),
        )

    def take(self, rows: Rows | slice) -> Self:
        """Return the manifolds in these rows; of a slice they are views."""
        return type(self)(*[array[rows] for array in self])  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Contacts:
    """Contacts between bodies, one manifold for each pair, in the order of the pairs.

    Every manifold has one point at present; ``k`` is the maximum number of points of a manifold in these arrays.
    `point` and `depth` are the first point of each manifold, which is its deepest.

    Attributes
    ----------
    pairs
        (m, 2) int32: the two bodies, smaller first, sorted.
    normal
        (m, 3): unit vectors from the first body toward the second.
    points
        (m, k, 3): the contact points, each in the middle of the overlap.
    separations
        (m, k): the signed distance of the bodies along the normal at each point, negative where they overlap.
    features
        (m, k) uint32: which features of the two shapes make each point, the same from step to step; 0 where a pair has
        only one point.
    point_count
        (m,) uint8: the number of points of each manifold, at least 1 and at most 4. The rest of a row is not defined.
    """

    pairs: Pairs
    normal: Floats
    points: Floats
    separations: Floats
    features: NDArray[np.uint32]
    point_count: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def point(self) -> Floats:
        """(m, 3): the deepest point of each manifold, a view of `points`."""
        return self.points[:, 0]

    @property
    def depth(self) -> Floats:
        """(m,): the overlap along the normal at the deepest point, positive."""
        found: Floats = -self.separations[:, 0]
        return found

    @classmethod
    def none(cls, dtype: type[np.floating] = np.float64) -> Self:
        """Return no contacts."""
        return cls(*ContactArrays.empty(0, dtype))

    @classmethod
    def of_points(cls, pairs: Pairs, point: Floats, normal: Floats, depth: Floats) -> Self:
        """Return contacts with one point for each pair: ``point`` (m, 3), ``normal`` (m, 3) and ``depth`` (m,)."""
        count = len(pairs)
        return cls(
            pairs,
            normal,
            point[:, np.newaxis],
            -depth[:, np.newaxis],
            np.zeros((count, 1), np.uint32),
            np.ones(count, np.uint8),
        )

    def take(self, rows: Rows) -> Self:
        """Return the contacts in these rows."""
        return type(self)(*self.arrays().take(rows))

    def arrays(self) -> ContactArrays:
        """Return the arrays as one structure for kernels, not copied."""
        return ContactArrays(self.pairs, self.normal, self.points, self.separations, self.features, self.point_count)
