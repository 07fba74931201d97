"""SciPy's k-d tree: pairs of centres within the largest edge, by the largest coordinate difference."""
# ruff: noqa: D102 (the contract documents the stages)

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core.types import Floats, Pairs
from choque.lab.peers.contract import Peer, canonical, overlapping

LIKE = 0.999
"""Boxes whose edges differ by less than this ratio need no second test of the pairs found."""


@dataclass
class _State:
    tree: Any
    radius: float
    equal: bool
    lower: Floats
    upper: Floats


class ScipyCkdtree(Peer):
    """``cKDTree.query_pairs`` with the maximum norm, on axes scaled so that the largest edge is 1."""

    name = "scipy-ckdtree"
    module = "scipy"
    distribution = "scipy"
    exactness = "Exact for equal boxes; otherwise a superset, filtered within the timed part."

    def create(self, lower: Floats, upper: Floats) -> _State:
        spatial = self.library(".spatial")
        centre, edge, radius = scaled_centres(lower, upper)
        return _State(spatial.cKDTree(centre), radius, bool(edge.min(initial=1.0) > LIKE), lower, upper)

    def pairs(self, state: _State) -> NDArray[np.intp]:
        found: NDArray[np.intp] = state.tree.query_pairs(state.radius, p=np.inf, output_type="ndarray")
        if not state.equal:
            found = found[overlapping(state.lower, state.upper, found[:, 0], found[:, 1])]
        return found

    def read(self, state: _State, answer: NDArray[np.intp]) -> Pairs:
        first, second = answer[:, 0], answer[:, 1]
        true = overlapping(state.lower, state.upper, first, second)
        return canonical(first[true], second[true])


def scaled_centres(lower: Floats, upper: Floats) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Return centres and edges scaled so that the largest edge is 1, and the distance within which boxes may overlap.

    The distance is slightly above 1, so that rounding of the centres loses no pair.
    """
    low, high = lower.astype(np.float64), upper.astype(np.float64)
    edge = high - low
    largest = edge.max(axis=0, initial=0.0)
    largest[largest == 0] = 1.0
    centre = (low + high) / (2 * largest)
    reach = float(np.abs(centre).max(initial=0.0))
    return centre, edge / largest, 1 + 1e-12 * (1 + reach)
