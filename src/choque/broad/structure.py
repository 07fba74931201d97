"""A view of what a broad-phase method has built over its bodies, for drawing and tests."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from choque._core.tree import WIDTH, Tree
from choque._core.types import F64, I32, I64

Kind: TypeAlias = Literal["none", "blocks", "cells", "leaves", "order"]


@dataclass(frozen=True)
class Structure:
    """Parts of space, or groups of bodies, and the bodies listed in each; or an order along an axis.

    Bodies are ids in what `choque.broad.BroadPhase.structure` returns, rows in what an index returns.

    Attributes
    ----------
    method
        The method that built it: the one chosen, or the one that it uses.
    kind
        ``"blocks"`` of a tree, ``"cells"`` of grids, ``"leaves"`` of a partition, an ``"order"``, or ``"none"``.
    lower, upper
        (k, d) float64: the boxes of the parts. Cells and leaves at the border may reach to infinity; leaves of other
        shapes have the boxes around their bodies.
    level
        (k,) int64: 0 for the finest.
    starts, members
        (k + 1,) int64 and (l,) int32: the bodies listed in part i are ``members[starts[i]:starts[i + 1]]``.
    axis
        The axis that bodies are sorted along: 0, 1 or 2; None where there is none.
    order
        (n,) int32: bodies in the order of a sweep, or of a curve through the blocks; None where there is none.
    ends
        (d, 2n) int64: the end points on each axis, sorted, where they are kept: the lower end of row i is i, the upper
        one n + i. None elsewhere.
    """

    method: str
    kind: Kind = "none"
    lower: F64 = field(default_factory=lambda: np.empty((0, 3)))
    upper: F64 = field(default_factory=lambda: np.empty((0, 3)))
    level: I64 = field(default_factory=lambda: np.empty(0, np.int64))
    starts: I64 = field(default_factory=lambda: np.zeros(1, np.int64))
    members: I32 = field(default_factory=lambda: np.empty(0, np.int32))
    axis: int | None = None
    order: I32 | None = None
    ends: I64 | None = None

    def __len__(self) -> int:
        return len(self.level)

    def listed(self, part: int) -> I32:
        """Return the bodies listed in a part."""
        return self.members[self.starts[part] : self.starts[part + 1]]


def blocks_of(method: str, tree: Tree, dimension: int) -> Structure:
    """Return the blocks of a wide tree, the lowest first; each level lists all rows."""
    order = tree.rows.astype(np.int32)
    corners, level, starts = [np.empty((0, 6))], [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for number in range(1, len(tree.level_first) - 1 if len(order) else 0):
        lanes = tree.lanes[tree.level_first[number] : tree.level_first[number + 1]].astype(np.float64)
        count = int(tree.level_first[number] - tree.level_first[number - 1])
        corners.append(lanes.transpose(0, 2, 1).reshape(-1, 6)[:count])
        level.append(np.full(count, number - 1))
        starts.append((number - 1) * len(order) + np.arange(count) * WIDTH**number)
    members = np.tile(order, len(level) - 1)
    lower, upper = sides_of(np.concatenate(corners), dimension)
    borders = np.append(np.concatenate(starts), len(members)).astype(np.int64)
    return Structure(method, "blocks", lower, upper, np.concatenate(level), borders, members, order=order)


def cells_of(
    method: str, grids: tuple[F64, F64, I64], grid: I64, number: I64, starts: I64, members: I32, dimension: int
) -> Structure:
    """Return cells, each by its ``grid`` (k,) and its ``number`` (k,) in it, x first, that list the rows ``members``.

    ``grids`` are the origins, the edges of cells and the counts of cells of all grids, (g, 3) each, the coarsest first.
    """
    origin, edge, counts = grids[0][grid], grids[1][grid], grids[2][grid]
    place = np.stack((number, number // counts[:, 0], number // (counts[:, 0] * counts[:, 1])), axis=1) % counts
    lower = (origin + place * edge)[:, :dimension]
    level = len(grids[0]) - 1 - grid
    return Structure(method, "cells", lower, lower + edge[:, :dimension], level, starts, members)


def order_of_sweep(method: str, axis: int, order: Any, ends: NDArray[Any] | None = None) -> Structure:
    """Return rows in the ``order`` of their lower bounds on an axis, and the end points on all axes if kept."""
    kept = None if ends is None else ends.astype(np.int64)
    return Structure(method, "order", axis=int(axis), order=order.astype(np.int32), ends=kept)


def sides_of(corners: NDArray[Any], dimension: int) -> tuple[F64, F64]:
    """Return the lower and upper corners (k, d) of boxes (k, 6)."""
    return corners[:, :dimension].astype(np.float64), corners[:, 3 : 3 + dimension].astype(np.float64)
