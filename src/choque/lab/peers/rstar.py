"""rstar-python: the R*-tree of Rust's rstar, loaded from arrays and queried with arrays."""
# ruff: noqa: D102 (the contract documents the stages)

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core.types import Floats, Pairs
from choque.lab.peers.contract import Peer, canonical_hits

State = tuple[Any, NDArray[np.float64], NDArray[np.float64]]
Answer = tuple[NDArray[Any], NDArray[Any]]


class Rstar(Peer):
    """Bulk load, then one batch query of all boxes against the tree."""

    name = "rstar"
    module = "rstar_python"
    distribution = "rstar-python"
    exactness = "Exact for boxes; reports each pair twice and every box with itself."

    def create(self, lower: Floats, upper: Floats) -> State:
        low, high = (np.ascontiguousarray(corners, np.float64) for corners in (lower, upper))
        tree = self.library().PyBBoxRTree(low.shape[1])
        tree.bulk_load(low, high)
        return tree, low, high

    def pairs(self, state: State) -> Answer:
        tree, low, high = state
        hits, offsets = tree.intersection_batch(low, high)
        return hits, offsets

    def read(self, state: State, answer: Answer) -> Pairs:  # noqa: ARG002
        hits, offsets = (np.asarray(each, np.int64) for each in answer)
        return canonical_hits(np.diff(offsets), hits)
