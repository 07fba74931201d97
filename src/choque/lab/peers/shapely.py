"""shapely: GEOS's sort-tile-recursive tree over rectangles, in 2D only."""
# ruff: noqa: D102 (the contract documents the stages)

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core.types import Floats, Pairs
from choque.lab.peers.contract import Peer, canonical, check_dimension

State = tuple[Any, Any]


class ShapelyStrtree(Peer):
    """``STRtree.query`` of all rectangles at once; making the rectangles is part of `create`."""

    name = "shapely-strtree"
    module = "shapely"
    distribution = "shapely"
    dimensions = (2,)
    exactness = "Exact for boxes; reports each pair twice and every box with itself."

    def create(self, lower: Floats, upper: Floats) -> State:
        check_dimension(type(self), lower.shape[1])
        shapely = self.library()
        low, high = lower.astype(np.float64), upper.astype(np.float64)
        rectangles = shapely.box(low[:, 0], low[:, 1], high[:, 0], high[:, 1])
        tree = shapely.STRtree(rectangles)
        tree.query(rectangles[:1])  # the tree is built at its first query
        return tree, rectangles

    def pairs(self, state: State) -> NDArray[np.intp]:
        tree, rectangles = state
        found: NDArray[np.intp] = tree.query(rectangles)
        return found

    def read(self, state: State, answer: NDArray[np.intp]) -> Pairs:  # noqa: ARG002
        return canonical(answer[0], answer[1])
