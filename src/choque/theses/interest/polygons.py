"""A narrow phase of polygons: spheres as the 256 triangles that the thesis on areas of interest draws them with.

The thesis tests bounding spheres only. Here the faceted solids themselves are tested. Two spheres, around and inside
each solid, decide most pairs; where they disagree, the triangles that face the partner are tested by Möller's method.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

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


class Facets(NamedTuple):
    """A faceted sphere of radius 1: its triangles, outward, their planes, and the sphere inside."""

    triangles: Triangles
    normals: NDArray[np.float64]
    """(m, 3) of the planes, outward."""
    levels: NDArray[np.float64]
    """(m,) distances of the planes from the center."""
    inner_radius: float
    """The smallest of these distances."""


@cache
def unit_facets() -> Facets:
    """Return the sphere of the thesis: 16 slices and 9 stacks, 256 triangles with area."""
    mesh = sphere_mesh(slices=16, stacks=9)
    triangles = np.ascontiguousarray(mesh.vertices[mesh.faces[~mesh.degenerate]])
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    normals /= np.linalg.norm(normals, axis=1)[:, np.newaxis]
    levels = (normals * triangles[:, 0]).sum(axis=1)
    outward = np.where(levels < 0, -1.0, 1.0)
    levels = np.abs(levels)
    return Facets(triangles, normals * outward[:, np.newaxis], levels, float(levels.min()))


def polygons_overlap(spheres: Spheres, pairs: Pairs, thread_count: int = 1) -> NDArray[np.bool_]:
    """Return which of the ``pairs`` of rows share a point as faceted solids, (m,); touching counts.

    Exact up to rounding, and a subset of what the bounding spheres give. O(1) for most pairs, O(m + hits) triangles for
    the few that their facets decide.
    """
    facets = unit_facets()
    hits = np.zeros(len(pairs), np.bool_)
    center, radius = spheres.center.astype(np.float64), spheres.radius.astype(np.float64)
    shares = threads.ranges(len(pairs), thread_count)
    threads.run(lambda part: _solids_meet(*shares[part], pairs, center, radius, facets, hits), len(shares))
    return hits


@kernel
def _solids_meet(
    first: int,
    last: int,
    pairs: Pairs,
    center: NDArray[np.float64],
    radius: NDArray[np.float64],
    facets: Facets,
    hits: NDArray[np.bool_],
) -> None:
    triangles, normals, levels, inner = facets
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
        # One may be inside the other without contact of their surfaces.
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
    """Return whether the center of the partner is behind all faces."""
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
    """Copy the triangles that reach into the sphere of the partner, relative to the first body. Return their number."""
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
