"""coal: the dynamic AABB tree of FCL's successor, with the pairs collected in C++."""
# ruff: noqa: D102 (the contract documents the stages)

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core.types import Floats, Pairs
from choque.lab.peers.contract import Peer, canonical, in_three_dimensions


@dataclass
class _State:
    manager: Any
    objects: list[Any]
    volumes: list[Any]


class CoalTree(Peer):
    """Every box is set as the bounding box of an object; moving sets it again and the tree repairs itself.

    The collected pairs stay in C++: the Python binding cannot convert them. To read them, the tree is queried
    again with the library's narrow phase after it. All bodies are spheres in one place, so that this phase
    accepts every pair.
    """

    name = "coal-tree"
    module = "coal"
    distribution = "coal"
    keeps_structure = True
    exactness = "Exact for boxes; after a move it refuses boxes without a volume."

    def create(self, lower: Floats, upper: Floats) -> _State:
        coal = self.library()
        objects = [coal.CollisionObject(coal.Sphere(1.0)) for _ in range(len(lower))]
        volumes = [body.getAABB() for body in objects]
        _set_volumes(volumes, lower, upper)
        manager = coal.DynamicAABBTreeCollisionManager()
        for body in objects:
            manager.registerObject(body)
        manager.setup()
        return _State(manager, objects, volumes)

    def update(self, state: _State, lower: Floats, upper: Floats) -> _State:
        _set_volumes(state.volumes, lower, upper)
        state.manager.update()
        return state

    def pairs(self, state: _State) -> Any:
        collected = self.library().CollisionCallBackCollect(1)
        state.manager.collide(collected)
        return collected

    def read(self, state: _State, answer: Any) -> Pairs:
        narrow = self.library().CollisionCallBackDefault()
        narrow.data.request.num_max_contacts = answer.numCollisionPairs() + 1
        narrow.data.request.enable_contact = False
        state.manager.collide(narrow)
        row_of = {body.collisionGeometry().id(): row for row, body in enumerate(state.objects)}
        contacts = narrow.data.result.getContacts()
        rows = [(row_of[contact.o1.id()], row_of[contact.o2.id()]) for contact in contacts]
        found: NDArray[np.int64] = np.array(rows, np.int64).reshape(-1, 2)
        return canonical(found[:, 0], found[:, 1])


def _set_volumes(volumes: list[Any], lower: Floats, upper: Floats) -> None:
    low, high = in_three_dimensions(lower), in_three_dimensions(upper, third=1.0)
    for volume, least, greatest in zip(volumes, low, high, strict=True):
        volume.min_ = least
        volume.max_ = greatest
