"""vesin: neighbour lists of points within a cutoff, for molecular simulation."""
# ruff: noqa: D102 (the contract documents the stages)

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core.types import Floats, Pairs
from choque.lab.peers.contract import Peer, canonical, check_dimension, overlapping
from choque.lab.peers.scipy import scaled_centres

Answer = tuple[NDArray[Any], NDArray[Any]]


@dataclass
class _State:
    neighbours: Any
    centre: NDArray[np.float64]
    lower: Floats
    upper: Floats


class _Neighbours(Peer):
    module = "vesin"
    distribution = "vesin"
    dimensions = (3,)  # a million points in a plane divide by zero in its cell list and end the process (0.6.2)
    uses_threads = True

    def _state(self, centre: NDArray[np.float64], cutoff: float, lower: Floats, upper: Floats) -> _State:
        check_dimension(type(self), lower.shape[1])
        neighbours = self.library().NeighborList(cutoff=cutoff, full_list=False, n_threads=self.threads)
        return _State(neighbours, centre, lower, upper)

    def _search(self, state: _State) -> Answer:
        first, second = state.neighbours.compute(state.centre, np.zeros((3, 3)), False, "ij", copy=False)
        return first, second


class Vesin(_Neighbours):
    """Boxes by the spheres around them: √3 times the edge as cut-off, then a vectorised test of candidates."""

    name = "vesin"
    exactness = "A superset (spheres around the boxes), filtered within the timed part."

    def create(self, lower: Floats, upper: Floats) -> _State:
        centre, _, radius = scaled_centres(lower, upper)
        return self._state(centre, radius * math.sqrt(3), lower, upper)

    def pairs(self, state: _State) -> Answer:
        first, second = self._search(state)
        true = overlapping(state.lower, state.upper, first, second)
        return first[true], second[true]

    def read(self, state: _State, answer: Answer) -> Pairs:  # noqa: ARG002
        return canonical(*answer)


class VesinSpheres(_Neighbours):
    """Equal spheres, the problem that the library is made for.

    Their diameter is such that a uniform scene has as many touching spheres as it has overlapping boxes of
    the mean edge, so that the work is comparable though the pairs are not.
    """

    name = "vesin-spheres"
    question = "spheres"
    exactness = "Pairs of equal spheres, about as many as there are pairs of boxes: for the time alone."

    def create(self, lower: Floats, upper: Floats) -> _State:
        low, high = lower.astype(np.float64), upper.astype(np.float64)
        mean_edge = float((high - low).mean())
        return self._state((low + high) / 2, mean_edge * (6 / math.pi) ** (1 / 3), lower, upper)

    def pairs(self, state: _State) -> Answer:
        return self._search(state)

    def read(self, state: _State, answer: Answer) -> Pairs:  # noqa: ARG002
        return canonical(*answer)
