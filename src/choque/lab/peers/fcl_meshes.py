"""python-fcl: the surfaces of voxel objects as triangle meshes in trees of oriented boxes.

It answers another question: whether surfaces meet. Objects that only touch do, and one inside another does not.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from choque.errors import require
from choque.theses.evm.holder import Holder, Mask, Shift
from choque.volumes import ExtremeVertices
from choque.volumes._surface import closed_surface


class FclMeshes(Holder):
    """The closed surface of each object, in the library's own hierarchy (Gottschalk, Lin and Manocha, 1996)."""

    module: ClassVar[str] = "fcl"
    is_exact: ClassVar[bool] = False

    def make(self, mask: Mask) -> Any:
        """The tree over the triangles of the surface, and how many bytes these take."""
        fcl = require(self.module, extra="peers", purpose="to compare with the meshes of python-fcl")
        points, faces = closed_surface(ExtremeVertices.from_mask(mask))
        tree = fcl.BVHModel()
        tree.beginModel(len(points), len(faces))
        tree.addSubModel(points.astype(np.float64), faces)
        tree.endModel()
        return fcl, tree, points.nbytes + faces.nbytes

    def place(self, one: Any, two: Any, shift: Shift) -> tuple[Any, Any]:
        """The second gets another translation."""
        fcl, tree, _ = one
        _, other, _ = two
        resting = fcl.CollisionObject(tree, fcl.Transform())
        moved = fcl.CollisionObject(other, fcl.Transform(np.array(shift, np.float64)))
        return (fcl, resting), moved

    def ask(self, one: Any, two: Any) -> bool:
        """Whether two triangles meet; stops at the first contact."""
        fcl, resting = one
        return bool(fcl.collide(resting, two, fcl.CollisionRequest(), fcl.CollisionResult()))

    def byte_count(self, made: Any) -> int:
        """Vertices and faces; the tree, whose size the library does not tell, is not in it."""
        return int(made[2])
