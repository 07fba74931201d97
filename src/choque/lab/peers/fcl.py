"""python-fcl: the dynamic AABB tree of the Flexible Collision Library; it calls Python for every pair."""
# ruff: noqa: D102 (the contract documents the stages)

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core.types import Floats, Pairs
from choque.errors import InvalidInput
from choque.lab.peers.contract import Peer, canonical, check_dimension

Answer = list[tuple[Any, Any]]


@dataclass
class _State:
    manager: Any
    objects: list[Any]
    centre: NDArray[np.float64]


class FclTree(Peer):
    """Every box is a box geometry at its centre; moving sets the translations and the tree repairs itself.

    The library passes its pairs one by one to a Python function; there is no other way to get them.
    """

    name = "fcl-tree"
    module = "fcl"
    distribution = "python-fcl"
    dimensions = (3,)
    keeps_structure = True
    exactness = "Exact for boxes; after a move the edges are those of the first frame, which differ by roundings."

    def create(self, lower: Floats, upper: Floats) -> _State:
        check_dimension(type(self), lower.shape[1])
        fcl = self.library()
        centre, edge = _centre_and_edge(lower, upper)
        box, place, body = fcl.Box, fcl.Transform, fcl.CollisionObject
        objects = [body(box(*sides), place(where)) for sides, where in zip(edge.tolist(), centre, strict=True)]
        manager = fcl.DynamicAABBTreeCollisionManager()
        manager.registerObjects(objects)
        manager.setup()
        return _State(manager, objects, centre)

    def update(self, state: _State, lower: Floats, upper: Floats) -> _State:
        state.centre, _ = _centre_and_edge(lower, upper)
        for body, where in zip(state.objects, state.centre, strict=True):
            body.setTranslation(where)
        state.manager.update()
        return state

    def pairs(self, state: _State) -> Answer:
        found: Answer = []
        state.manager.collide(found, _collect)
        return found

    def read(self, state: _State, answer: Answer) -> Pairs:
        """Identify the bodies by their centres: the callback gets copies that carry nothing else."""
        row_at = {where.tobytes(): row for row, where in enumerate(state.centre)}
        if len(row_at) < len(state.centre):
            raise InvalidInput(
                "Two boxes have the same centre; python-fcl reports bodies by their centres, which must differ."
            )
        rows = [[row_at[body.getTranslation().tobytes()] for body in pair] for pair in answer]
        found = np.array(rows, np.int64).reshape(-1, 2)
        return canonical(found[:, 0], found[:, 1])


def _collect(one: Any, other: Any, found: Answer) -> bool:
    found.append((one, other))
    return False


def _centre_and_edge(lower: Floats, upper: Floats) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    low, high = lower.astype(np.float64), upper.astype(np.float64)
    return (low + high) / 2 + 0.0, high - low
