"""geoindex-rs: a packed R-tree in Rust, in 2D only."""
# ruff: noqa: D102 (the contract documents the stages)

from __future__ import annotations

from typing import Any

import numpy as np

from choque._core.types import Floats, Pairs
from choque.lab.peers.contract import Peer, canonical, check_dimension


class GeoindexJoin(Peer):
    """``rtree.tree_join`` of a tree with itself; laying coordinates out in columns is part of `create`."""

    name = "geoindex-join"
    module = "geoindex_rs"
    distribution = "geoindex-rs"
    dimensions = (2,)
    exactness = "Exact for boxes; reports each pair twice and every box with itself."

    def create(self, lower: Floats, upper: Floats) -> Any:
        check_dimension(type(self), lower.shape[1])
        from geoindex_rs import rtree

        builder = rtree.RTreeBuilder(len(lower))
        corners = np.concatenate((lower, upper), axis=1).astype(np.float64)
        builder.add(*np.ascontiguousarray(corners.T))
        return builder.finish()

    def pairs(self, state: Any) -> Any:
        from geoindex_rs import rtree

        return rtree.tree_join(state, state)

    def read(self, state: Any, answer: Any) -> Pairs:  # noqa: ARG002
        return canonical(*(np.asarray(answer.column(side)) for side in range(2)))
