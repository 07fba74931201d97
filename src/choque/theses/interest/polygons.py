"""A narrow phase of polygons: spheres as the 256 triangles that the thesis on areas of interest draws them with.

The thesis tests bounding spheres alone and leaves polygons to others. Here the faceted solids themselves are compared.
Most pairs are settled by two spheres, the one around a solid and the one inside it; where these disagree, the triangles
that look at the partner are tested by Möller's method.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core import threads
from choque._core.kernel import kernel
from choque._core.types import Pairs
from choque.bounds import Spheres
from choque.volumes.phantoms import sphere_mesh
from choque.volumes.triangles import triangles_meet

Triangles = NDArray[np.float64]
"""(m, 3, 3): the corners of triangles."""


@dataclass(frozen=True)
class Facets:
    """A faceted sphere of radius 1: its triangles, outward, their planes, and the sphere inside."""

    triangles: Triangles
    normals: NDArray[np.float64]
    levels: NDArray[np.float64]

    @property
    def inner_radius(self) -> float:
        """How far every face is from the centre at least."""
        return float(self.levels.min())


@cache
def unit_facets() -> Facets:
    """The sphere of the thesis: 16 slices and 9 stacks, 256 triangles with area."""
    mesh = sphere_mesh(slices=16, stacks=9)
    triangles = np.ascontiguousarray(mesh.vertices[mesh.faces[~mesh.degenerate]])
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    normals /= np.linalg.norm(normals, axis=1)[:, np.newaxis]
    levels = (normals * triangles[:, 0]).sum(axis=1)
    outward = np.where(levels < 0, -1.0, 1.0)
    return Facets(triangles, normals * outward[:, np.newaxis], np.abs(levels))


def polygons_overlap(spheres: Spheres, pairs: Pairs, thread_count: int = 1) -> NDArray[np.bool_]:
    """Which of the ``pairs`` of rows share a point as faceted solids, (m,); touching counts.

    Exact up to rounding, and never more than the bounding spheres say. O(1) for most pairs, O(m + hits) triangles for
    the few that are decided by their facets.
    """
    facets = unit_facets()
    hits = np.zeros(len(pairs), np.bool_)
    center, radius = spheres.center.astype(np.float64), spheres.radius.astype(np.float64)
    arrays: tuple[Any, ...] = (
        pairs,
        center,
        radius,
        facets.triangles,
        facets.normals,
        facets.levels,
        facets.inner_radius,
        hits,
    )
    shares = threads.ranges(len(pairs), thread_count)
    threads.run(lambda part: _solids_meet(*shares[part], *arrays), len(shares))
    return hits


@kernel
def _solids_meet(
    first: int,
    last: int,
    pairs: Pairs,
    center: NDArray[np.float64],
    radius: NDArray[np.float64],
    triangles: Triangles,
    normals: NDArray[np.float64],
    levels: NDArray[np.float64],
    inner: float,
    hits: NDArray[np.bool_],
) -> None:
    count = triangles.shape[0]
    facing, others = np.empty((count, 3, 3)), np.empty((count, 3, 3))
    offset = np.empty(3)
    for k in range(first, last):
        i, j = pairs[k, 0], pairs[k, 1]
        for axis in range(3):
            offset[axis] = center[j, axis] - center[i, axis]
        distance = np.sqrt(offset[0] * offset[0] + offset[1] * offset[1] + offset[2] * offset[2])
        if distance > radius[i] + radius[j]:
            continue
        if distance <= inner * (radius[i] + radius[j]):
            hits[k] = True
            continue
        # One may lie in the other without their surfaces meeting.
        if _holds(normals, levels, offset, radius[i], 1.0) or _holds(normals, levels, offset, radius[j], -1.0):
            hits[k] = True
            continue
        own_count = _looking_at(triangles, radius[i], offset, 1.0, distance, radius[j], False, facing)
        other_count = _looking_at(triangles, radius[j], offset, -1.0, distance, radius[i], True, others)
        hits[k] = _any_meet(facing, own_count, others, other_count)


@kernel
def _holds(
    normals: NDArray[np.float64], levels: NDArray[np.float64], offset: NDArray[np.float64], radius: float, sign: float
) -> bool:
    """Whether the centre of the partner lies within all faces."""
    for face in range(levels.size):
        height = normals[face, 0] * offset[0] + normals[face, 1] * offset[1] + normals[face, 2] * offset[2]
        if sign * height > levels[face] * radius:
            return False
    return True


@kernel
def _looking_at(
    triangles: Triangles,
    radius: float,
    offset: NDArray[np.float64],
    sign: float,
    distance: float,
    other_radius: float,
    is_moved: bool,
    kept: Triangles,
) -> int:
    """Copy the triangles that reach into the sphere of the partner, in the frame of the first body; their number."""
    count = 0
    for row in range(triangles.shape[0]):
        nearest = -np.inf
        for corner in range(3):
            along = 0.0
            for axis in range(3):
                along += triangles[row, corner, axis] * offset[axis]
            nearest = max(nearest, sign * along / distance)
        if radius * nearest * (1 + 1e-12) < distance - other_radius:
            continue
        for corner in range(3):
            for axis in range(3):
                moved = offset[axis] if is_moved else 0.0
                kept[count, corner, axis] = radius * triangles[row, corner, axis] + moved
        count += 1
    return count


@kernel
def _any_meet(one: Triangles, one_count: int, two: Triangles, two_count: int) -> bool:
    for row in range(one_count):
        for column in range(two_count):
            if triangles_meet(one[row], two[column]):
                return True
    return False
