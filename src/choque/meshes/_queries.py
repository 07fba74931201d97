"""Two meshes in many poses: whether they collide, how far apart they are, and the way out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from choque._core import check
from choque._core import threads as _pool
from choque._core.kernel import kernel
from choque._core.tree import WIDTH
from choque._core.types import F64, Bools
from choque._core.vector import point_of
from choque.errors import InvalidInput
from choque.meshes._collide import meeting_places, over_batches
from choque.meshes._distance import least_distances
from choque.meshes._inside import INSIDE, place_point
from choque.meshes._mesh import Mesh, surfaces_of
from choque.meshes.poses import RigidPoses, as_poses, placed
from choque.meshes.surface import Surface

SERIAL_POSES = 8  # fewer poses than this are handled by the calling thread


@dataclass(frozen=True)
class Distances:
    """How far apart two meshes are, and where, one row for each pose."""

    distance: F64  #: (k,) 0 exactly where surfaces share a point; infinite where it is more than the bound.
    point_a: F64  #: (k, 3) nearest point on the first mesh; NaN where the distance is infinite.
    point_b: F64  #: (k, 3) nearest point on the second mesh in its pose, in the frame of the first.


@dataclass(frozen=True)
class Penetrations:
    """How deep two meshes are in each other, one row for each pose."""

    depth: F64  #: (k,) length of the move; 0 where the meshes do not collide.
    direction: F64
    """(k, 3) unit vector: moving the second mesh by depth · direction frees it; 0 where they do not collide."""


def collide(a: Mesh, b: Mesh, poses: Any = None, *, solid: bool | None = None, threads: int | None = None) -> Bools:
    """Return for each pose of ``b`` whether the meshes collide: (k,) bool.

    Parameters
    ----------
    a, b
        The meshes.
    poses
        Where ``b`` is, in the frame of ``a``: rigid matrices (k, 4, 4) or (4, 4), or a pair of rotations (k, 3, 3) and
        translations (k, 3). None for the identity.
    solid
        Whether a mesh inside the other collides. None: yes if both are closed.
    threads
        Number of threads, which share the poses; None for all.

    Notes
    -----
    Guarantee: exact for the coordinates of ``a`` and those of ``b`` after each pose, as floats; touching counts. The
    search for a pose stops at the first hit, and begins with the triangles that met in the pose before.

    Examples
    --------
    >>> from choque.meshes import Mesh
    >>> corner = Mesh([[0, 0, 0], *np.eye(3)], [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    >>> collide(corner, corner, (np.eye(3), [[0.2, 0, 0], [1, 0, 0], [2, 0, 0]])).tolist()
    [True, True, False]
    """
    one, two = surfaces_of(a, b)
    where = as_poses(poses)
    count = _thread_count(threads, len(where))
    hits = meeting_places(one, two, where, count)[:, 0] >= 0
    if _is_solid(a, b, solid) and not hits.all():
        points = (a.part_points, b.part_points)
        rest = np.flatnonzero(~hits)
        inner = np.zeros(len(rest), np.bool_)
        left = RigidPoses(*(np.ascontiguousarray(part[rest]) for part in where))
        over_batches(len(rest), count, lambda first, last: _nest(first, last, one, two, left, points, inner))
        hits[rest] = inner
    return hits


def distance(a: Mesh, b: Mesh, poses: Any = None, *, bound: float = np.inf, threads: int | None = None) -> Distances:
    """Return how far apart the surfaces of two meshes are, for each pose of ``b``, and the nearest points.

    Parameters
    ----------
    a, b, poses, threads
        As for `collide`.
    bound
        Distances greater than this are not searched for, and are infinite in the answer [units].

    Notes
    -----
    Guarantee: 0 exactly if surfaces share a point; otherwise the least distance of two triangles, rounded. A mesh
    inside another one has the distance of the surfaces.

    Examples
    --------
    >>> from choque.meshes import Mesh
    >>> flat = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    >>> distance(flat, flat, (np.eye(3), [[0, 0, 2], [3, 0, 0]])).distance.tolist()
    [2.0, 2.0]
    """
    one, two = surfaces_of(a, b)
    limit = check.number(bound, "bound", 0, infinite=True)
    where = as_poses(poses)
    count = _thread_count(threads, len(where))
    found = least_distances(one, two, where, limit, count)
    return Distances(found.distance, found.one, found.two)


def penetration(
    a: Mesh, b: Mesh, poses: Any = None, *, tolerance: float = 1e-3, threads: int | None = None
) -> Penetrations:
    """Return for each pose of ``b`` a short move that frees it from ``a``.

    Parameters
    ----------
    a, b, poses, threads
        As for `collide`.
    tolerance
        How much longer the move may be than needed in its direction, in diagonals of the smaller box.

    Notes
    -----
    Guarantee: the move frees ``b``: the meshes do not collide at its end, which is tested exactly. It is an upper bound
    of the least move. Tried are the 26 directions to the sides, edges and corners of a cube; in each, the shortest move
    to the first free place within the tolerance, looked for at 32 distances and by dividing. The least
    move of meshes that are not convex has no known fast algorithm.
    """
    where = as_poses(poses)
    wanted = check.positive(tolerance, "tolerance")
    deep = collide(a, b, where, threads=threads)
    depth, direction = np.zeros(len(where)), np.zeros((len(where), 3))
    for row in np.flatnonzero(deep).tolist():
        here = RigidPoses(where.rotation[row : row + 1], where.translation[row : row + 1])
        depth[row], direction[row] = _way_out(a, b, here, wanted, threads)
    return Penetrations(depth, direction)


_SAMPLES = 32  # distances at which the first free place along a direction is looked for


def _way_out(a: Mesh, b: Mesh, pose: RigidPoses, tolerance: float, thread_count: int | None) -> tuple[float, Any]:
    lower, upper = a.bounds
    moved = b.vertices[np.unique(b.faces)] @ pose.rotation[0].T + pose.translation[0]
    low, high = moved.min(axis=0), moved.max(axis=0)
    step = tolerance * min(float(np.linalg.norm(upper - lower)), float(np.linalg.norm(high - low)))
    grid = np.array([[x, y, z] for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if x or y or z], np.float64)
    grid /= np.linalg.norm(grid, axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        # How far to go along each axis until the boxes are apart; the nearest axis decides.
        exits = np.where(grid > 0, (upper - low) / grid, np.where(grid < 0, (lower - high) / grid, np.inf))
    farthest = np.maximum(exits.min(axis=1), 0) * (1 + 1e-9) + step
    best, way = np.inf, np.zeros(3)
    for reach, along in sorted(zip(farthest.tolist(), grid.tolist(), strict=True)):
        limit = min(reach, best)
        if not limit > 0:
            continue
        tried = np.linspace(0, limit, _SAMPLES + 1)[1:]
        free = ~_collide_along(a, b, pose, along, tried, thread_count)
        if not free.any():
            continue
        last = int(np.argmax(free))
        near, far = (float(tried[last - 1]) if last else 0.0), float(tried[last])
        while far - near > step:
            between = np.linspace(near, far, 6)[1:-1]
            is_free = ~_collide_along(a, b, pose, along, between, thread_count)
            first = int(np.argmax(is_free)) if is_free.any() else len(between)
            near, far = (
                float(between[first - 1]) if first else near,
                float(between[first]) if first < len(between) else far,
            )
        if far < best:
            best, way = far, np.array(along)
    return best, way


def _collide_along(a: Mesh, b: Mesh, pose: RigidPoses, along: Any, steps: Any, thread_count: int | None) -> Any:
    rotation = np.ascontiguousarray(np.broadcast_to(pose.rotation, (len(steps), 3, 3)))
    translation = pose.translation + np.asarray(steps)[:, None] * np.asarray(along)
    return collide(a, b, RigidPoses(rotation, translation), threads=thread_count)


def _is_solid(a: Mesh, b: Mesh, solid: bool | None) -> bool:
    if solid is None:
        return a.is_closed and b.is_closed
    if check.boolean(solid, "solid", otherwise="None to find out") and not (a.is_closed and b.is_closed):
        name = "a" if not a.is_closed else "b"
        raise InvalidInput(
            f"The mesh {name} is open: it has no inside, which solid=True needs. See {name}.report(), or give "
            "solid=False."
        )
    return bool(solid)


def _thread_count(requested: int | None, poses: int) -> int:
    count = _pool.resolve_count(requested, _pool.SERIAL_BELOW)
    return count if poses >= SERIAL_POSES else 1


@kernel
def _nest(
    first: int, last: int, one: Surface, two: Surface, poses: RigidPoses, points: tuple[F64, F64], hits: Bools
) -> None:
    """Find out for poses without contact whether a part of one mesh lies inside the other."""
    stack = np.empty(WIDTH * max(one.level_first.size, two.level_first.size), np.int64)
    still = RigidPoses(np.eye(3).reshape(1, 3, 3), np.zeros((1, 3)))
    own, others = points
    for row in range(first, last):
        for k in range(own.shape[0]):
            if not hits[row]:
                hits[row] = place_point(point_of(own, k), two, poses, row, stack) == INSIDE
        for k in range(others.shape[0]):
            if not hits[row]:
                point = placed(poses.rotation, poses.translation, row, point_of(others, k))
                hits[row] = place_point(point, one, still, 0, stack) == INSIDE
