"""rtree: libspatialindex's R*-tree, loaded from arrays and queried with arrays."""
# ruff: noqa: D102 (the contract documents the stages)

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core.types import Floats, Pairs
from choque.lab.peers.contract import Peer, canonical_hits

State = tuple[Any, NDArray[np.float64], NDArray[np.float64]]
Answer = tuple[NDArray[Any], NDArray[Any]]


class Rtree(Peer):
    """Bulk load by sort-tile-recursive, then one vectorised query of all boxes against the tree."""

    name = "rtree"
    module = "rtree"
    distribution = "rtree"
    exactness = "Exact for boxes; reports each pair twice and every box with itself."

    def create(self, lower: Floats, upper: Floats) -> State:
        index = self.library(".index")
        low, high = (np.ascontiguousarray(corners, np.float64) for corners in (lower, upper))
        properties = index.Property(dimension=low.shape[1])
        return index.Index((np.arange(len(low)), low, high), properties=properties), low, high

    def pairs(self, state: State) -> Answer:
        tree, low, high = state
        hits, counts = tree.intersection_v(low, high)
        return hits, counts

    def read(self, state: State, answer: Answer) -> Pairs:  # noqa: ARG002
        hits, counts = answer
        return canonical_hits(counts, hits)
