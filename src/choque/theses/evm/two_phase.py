"""Collision of meshes in the two phases of the EVM thesis: voxels first, triangles where the voxels meet."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque.files.meshes import MeshArrays
from choque.theses.evm.triangles import colliding_triangles
from choque.volumes import Volume
from choque.volumes.voxelise import as_mesh


@dataclass
class MeshVerdict:
    """The triangles of two meshes that meet, and the work to find them."""

    collides: bool
    pairs: NDArray[np.int64]
    """(m, 2) pairs of triangles that meet."""
    triangle_tests: int
    """Number of pairs of triangles that were tested."""
    events: list[str] = field(default_factory=list)
    """Steps in sequence: ``volumes apart``; or ``volumes collide``, then ``triangles collide`` or ``… apart``."""


def meshes_collide(
    one: str | os.PathLike[str] | MeshArrays | tuple[ArrayLike, ArrayLike],
    two: str | os.PathLike[str] | MeshArrays | tuple[ArrayLike, ArrayLike],
    *,
    voxels_per_unit: float,
) -> MeshVerdict:
    """Return whether the surfaces of two meshes meet.

    Conservative volumes of both are compared first; if they collide, the triangles that reach into their intersection
    are tested by Möller's method. The answer is that of testing all pairs of triangles.
    """
    first, second = as_mesh(one), as_mesh(two)
    volumes = [
        Volume.from_mesh(mesh, voxels_per_unit=voxels_per_unit, fill="surface", conservative=True)
        for mesh in (first, second)
    ]
    nothing = np.empty((0, 2), np.int64)
    if not volumes[0].collides(volumes[1]):
        return MeshVerdict(False, nothing, 0, ["volumes apart"])
    lower, upper = (volumes[0] & volumes[1]).bounds
    rows = [_reaching(mesh, lower, upper) for mesh in (first, second)]
    found, tests = colliding_triangles(
        MeshArrays(first.vertices, first.faces[rows[0]]), MeshArrays(second.vertices, second.faces[rows[1]])
    )
    pairs = np.column_stack((rows[0][found[:, 0]], rows[1][found[:, 1]]))
    events = ["volumes collide", "triangles collide" if len(pairs) else "triangles apart"]
    return MeshVerdict(len(pairs) > 0, pairs, tests, events)


def _reaching(mesh: MeshArrays, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the triangles with area whose boxes reach into a box."""
    corners = mesh.vertices[mesh.faces]
    inside = (corners.min(axis=1) <= upper).all(axis=1) & (corners.max(axis=1) >= lower).all(axis=1)
    return np.flatnonzero(inside & ~mesh.degenerate)
