"""Manifolds of convex solids with each other, with capsules, spheres, tiles and planes.

Against a plane the lowest corners count. Otherwise GJK and EPA give the normal. Where it is the normal of a face up to
2.5 degrees, the face that lies against that one is clipped by it, and the normal becomes that of the face, so that it
does not change with every small turn. Otherwise the closest points are the manifold.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import helper, kernel
from choque._core.types import Integer, Pairs, Rows
from choque._core.vector import Vector, along, cross, dot, point_of, scaled, subtract, unit
from choque.narrow.convex.cores import Cores
from choque.narrow.convex.probe import CONTACT, gap_along, probe_pairs
from choque.narrow.manifolds.boxes import box_corner
from choque.narrow.manifolds.clipping import FIRST_MADE, MADE, clip, keep_near, start_corner, write_flat
from choque.narrow.manifolds.solids import BOX, MAX_CORNERS, TRIANGLE, HullFaces, PosedSolids, Scratch

# isort: split
from choque.narrow.manifolds.solids import axis_of, center, put_point, toward, within
from choque.narrow.manifolds.triangles import may_push, side_of
from choque.narrow.pair import ContactArrays
from choque.narrow.shapes import CAPSULE, CONVEX, PLANE, SPHERE, TILE

FACING = 0.999  # cosine of the angle within which a normal counts as that of a face

BLUNT = 4.0  # how many times as deep as in another direction a tip may be: a tetrahedron's is 3 times, a cube's 1.7


@kernel
def plane_manifolds(
    first: int, last: int, rows: Rows, solids: PosedSolids, found: ContactArrays, scratch: Scratch, faces: HullFaces
) -> None:
    """Write the manifolds of the pairs ``rows[first:last]`` of a solid and a plane: up to four of its lowest corners.

    Where they are apart, ``separations[pair, 0]`` is their distance, and there is no point.
    """
    kind, hull, pose, size, near = solids
    for place in range(first, last):
        pair = rows[place]
        body, plane = found.pairs[pair, 0], found.pairs[pair, 1]
        flipped = kind[body] != PLANE  # the plane is the reference, and here the second solid
        if not flipped:
            body, plane = plane, body
        margin = near[body] + near[plane]
        right, normal, up = axis_of(pose, plane, 2), axis_of(pose, plane, 1), axis_of(pose, plane, 0)
        between = subtract(center(pose, body), center(pose, plane))
        total, radius = 1, 0.0
        if kind[body] == CAPSULE:
            total, radius = 2, size[body, 0]
        elif kind[body] == SPHERE:
            radius = size[body, 0]
        elif kind[body] == BOX:
            total = 8
        else:
            total = faces.first[hull[body] + 1] - faces.first[hull[body]]
        count, lowest = 0, np.inf
        for corner in range(total):
            at = between
            if kind[body] == CAPSULE:
                at = along(between, axis_of(pose, body, 2), (corner - 0.5) * size[body, 1])
            elif kind[body] == BOX:
                at = along(between, box_corner(pose, size, body, corner), 1.0)
            elif kind[body] == CONVEX:
                at = along(between, _hull_corner(solids, faces, body, faces.first[hull[body]] + corner), 1.0)
            height = dot(at, normal) - radius
            lowest = min(lowest, height)
            if height < margin and count < MAX_CORNERS:
                start_corner(scratch, count, dot(at, right), dot(at, up), height)
                scratch.label[0, count, 1] = corner
                count += 1
        found.separations[pair, 0] = lowest
        found.point_count[pair] = 0
        if count > 0:
            kept = keep_near(scratch, 0, count, margin)
            frame = (center(pose, plane), right, up, normal)
            write_flat(found, pair, scratch, (0, kept), frame, flipped, 0)


def probe_convex(solids: PosedSolids, pairs: Pairs, faces: HullFaces, thread_count: int) -> tuple[Any, ...]:
    """Return what `convex_manifolds` needs to know of ``pairs``, of which one at least is convex or a tile.

    Whether they overlap, their depths, normals, the deepest points of the first, and an axis that separates those that
    are apart; then the cores of all, and the rows of these.
    """
    is_there = np.zeros(len(solids.kind), np.bool_)
    is_there[pairs] = True
    bodies, places = np.flatnonzero(is_there), (np.cumsum(is_there) - 1).astype(np.int32)[pairs]
    counts = np.empty(len(bodies), np.int64)
    _count_points(bodies, solids.kind, solids.hull, faces.first, counts)
    spans = np.full((len(bodies), 3), -1, np.int64)
    spans[:, 1] = np.cumsum(counts)
    spans[:, 0] = spans[:, 1] - counts
    place = np.empty((len(bodies), 4))
    place[:, :3] = solids.pose[bodies, :3]
    cores = Cores(np.empty((int(counts.sum()), 3)), spans, place, np.zeros(0, np.int64))
    _fill_cores(bodies, solids, faces, cores)
    probe = probe_pairs(cores, places, CONTACT, thread_count)
    return probe.overlaps, probe.depth, probe.normal, probe.first, probe.axis, cores, places


@helper
def _is_hull(kind: Any) -> Any:
    """Return whether a solid has the vertices and faces of a hull; a triangle of a mesh is one with two faces."""
    return kind in (CONVEX, TRIANGLE)


@kernel
def _count_points(bodies: Any, kind: NDArray[np.int8], hull: Any, first: Rows, counts: Rows) -> None:
    for row in range(bodies.size):
        body = bodies[row]
        counts[row] = 1
        if kind[body] == CAPSULE:
            counts[row] = 2
        elif kind[body] == TILE:
            counts[row] = 4
        elif kind[body] == BOX:
            counts[row] = 8
        elif _is_hull(kind[body]):
            counts[row] = first[hull[body] + 1] - first[hull[body]]


@kernel
def _fill_cores(bodies: Any, solids: PosedSolids, faces: HullFaces, cores: Cores) -> None:
    """Write the corners of each body relative to its position, and its radius widened by its margin."""
    kind, hull, pose, size, near = solids
    points, spans, place, _ = cores
    for row in range(bodies.size):
        body = bodies[row]
        is_round = kind[body] == SPHERE or kind[body] == CAPSULE
        place[row, 3] = near[body] + (size[body, 0] if is_round else 0.0)
        for corner in range(spans[row, 1] - spans[row, 0]):
            at = (0.0, 0.0, 0.0)
            if kind[body] == CAPSULE:
                at = scaled(axis_of(pose, body, 2), (corner - 0.5) * size[body, 1])
            elif kind[body] == TILE:
                at = _tile_corner(pose, size, body, corner)
            elif kind[body] == BOX:
                at = box_corner(pose, size, body, corner)
            elif _is_hull(kind[body]):
                at = _hull_corner(solids, faces, body, faces.first[hull[body]] + corner)
            target = spans[row, 0] + corner
            points[target, 0], points[target, 1], points[target, 2] = at


@helper
def _hull_corner(solids: PosedSolids, faces: HullFaces, body: Integer, corner: Integer) -> Vector:
    """Return a vertex of a hull relative to the body's position, in the world."""
    points, size = faces.points, solids.size
    return toward(
        solids.pose,
        body,
        (points[corner, 0] * size[body, 0], points[corner, 1] * size[body, 1], points[corner, 2] * size[body, 2]),
    )


@helper
def _tile_corner(pose: Any, size: Any, body: Integer, corner: Integer) -> Vector:
    """Return a corner of a tile, counter-clockwise seen from above."""
    x = 0.5 * size[body, 0] if corner == 1 or corner == 2 else -0.5 * size[body, 0]
    z = -0.5 * size[body, 1] if corner >= 2 else 0.5 * size[body, 1]
    return toward(pose, body, (x, 0.0, z))


@helper
def _best_face(solids: PosedSolids, faces: HullFaces, body: Integer, direction: Vector) -> tuple[Any, float, Vector]:
    """Return the face of a body that faces ``direction`` best, the cosine, and its normal in the world.

    −1 for bodies without faces. A face of a box is 2·axis, and one more on the positive side.
    """
    kind, hull, pose, size, _ = solids
    local = within(pose, body, direction)
    best, cosine, normal = -1, -2.0, (0.0, 0.0, 0.0)
    if kind[body] == TILE:
        best, cosine = (1 if local[1] > 0 else 0), abs(local[1])
        normal = (0.0, 1.0 if local[1] > 0 else -1.0, 0.0)
    elif kind[body] == BOX:
        for axis in range(3):
            if abs(local[axis]) > cosine:
                sign = 1.0 if local[axis] > 0 else -1.0
                best, cosine = 2 * axis + (local[axis] > 0), abs(local[axis])
                normal = (sign if axis == 0 else 0.0, sign if axis == 1 else 0.0, sign if axis == 2 else 0.0)
    elif _is_hull(kind[body]):
        for face in range(faces.face_first[hull[body]], faces.face_first[hull[body] + 1]):
            # Normals of a scaled body are scaled the other way.
            scaled_normal = unit(
                (
                    faces.normal[face, 0] / size[body, 0],
                    faces.normal[face, 1] / size[body, 1],
                    faces.normal[face, 2] / size[body, 2],
                )
            )
            value = dot(scaled_normal, local)
            if value > cosine:
                best, cosine, normal = face, value, scaled_normal
    return best, cosine, toward(pose, body, normal)


@helper
def _number(solids: PosedSolids, faces: HullFaces, body: Integer, face: Integer) -> Any:
    """Return the number of a face within its body, which stays when triangles of meshes come and go."""
    return face - faces.face_first[solids.hull[body]] if _is_hull(solids.kind[body]) else face


@helper
def _corner_count(kind: Any, faces: HullFaces, body: Integer, face: Integer) -> Any:
    """Return how many corners take part: of the face, or of a body without faces."""
    if kind[body] == SPHERE:
        return 1
    if kind[body] == CAPSULE:
        return 2
    if _is_hull(kind[body]):
        return min(faces.corner_first[face + 1] - faces.corner_first[face], MAX_CORNERS)
    return 4


@helper
def _corner(solids: PosedSolids, faces: HullFaces, body: Integer, face: Integer, corner: Integer) -> Vector:
    """Return a corner of a face relative to the body's position, in counter-clockwise order from outside."""
    kind, _, pose, size, _ = solids
    if kind[body] == SPHERE:
        return 0.0, 0.0, 0.0
    if kind[body] == CAPSULE:
        return scaled(axis_of(pose, body, 2), (corner - 0.5) * size[body, 1])
    if _is_hull(kind[body]):
        return _hull_corner(solids, faces, body, faces.corner[faces.corner_first[face] + corner])
    if kind[body] == TILE:
        return _tile_corner(pose, size, body, corner if face == 1 else 3 - corner)
    axis, is_ahead = face // 2, face % 2 == 1
    turn = corner if is_ahead else 3 - corner
    axis1, axis2 = (axis + 1) % 3, (axis + 2) % 3
    x = size[body, axis1] if turn == 0 or turn == 3 else -size[body, axis1]
    y = size[body, axis2] if turn < 2 else -size[body, axis2]
    at = scaled(axis_of(pose, body, axis), size[body, axis] if is_ahead else -size[body, axis])
    return along(along(at, axis_of(pose, body, axis1), x), axis_of(pose, body, axis2), y)


@kernel
def convex_manifolds(
    first: Integer,
    last: Integer,
    rows: Rows,
    solids: PosedSolids,
    found: ContactArrays,
    scratch: Scratch,
    faces: HullFaces,
    probed: tuple[Any, ...],
) -> None:
    """Write the manifolds of the pairs ``rows[first:last]``, of which `probe_convex` tells.

    Where solids are apart, ``separations[pair, 0]`` is a lower bound of their distance, and there is no point.
    """
    near = solids.near
    overlaps, depth, normals, deepest, axes, cores, cored = probed
    pairs, normal, _, separations, _, point_count = found
    for place in range(first, last):
        pair = rows[place]
        a, b = pairs[pair, 0], pairs[pair, 1]
        point_count[pair] = 0
        separations[pair, 0] = 0.0
        margin = near[a] + near[b]
        if not overlaps[place]:
            one, other = cored[place, 0], cored[place, 1]
            gap, _ = gap_along(cores, one, other, axes, place)
            separations[pair, 0] = max(gap - cores.place[one, 3] - cores.place[other, 3] + margin, 0.0)
            continue
        away = (normals[place, 0], normals[place, 1], normals[place, 2])
        given = away
        if solids.kind[a] == TRIANGLE:
            away = _allowed(solids, faces, a, b, away)
        elif solids.kind[b] == TRIANGLE:
            away = scaled(_allowed(solids, faces, b, a, scaled(away, -1.0)), -1.0)
        is_turned = dot(away, given) < 1.0 - 1e-9
        face_a, cosine_a, normal_a = _best_face(solids, faces, a, away)
        face_b, cosine_b, normal_b = _best_face(solids, faces, b, (-away[0], -away[1], -away[2]))
        count = 0
        if cosine_a >= FACING and cosine_a >= cosine_b - 1e-4:
            count = _write_clipped(a, b, (face_a, face_b), normal_a, pair, solids, faces, found, scratch)
        elif cosine_b >= FACING:
            count = _write_clipped(b, a, (face_b, face_a), normal_b, pair, solids, faces, found, scratch)
        if is_turned:
            # What is deep only along the normal of the triangle is not held by this triangle, but by others, unless it
            # is the tip of a body that came in fast: at an edge, all others say the same of it.
            is_tip = found.features[pair, 0] % MADE < FIRST_MADE and separations[pair, 0] > -BLUNT * depth[place]
            if count > 0 and separations[pair, 0] < -depth[place] and not is_tip:
                point_count[pair] = 0
            if point_count[pair] == 0:
                separations[pair, 0] = 0.0
        elif count == 0:
            for axis in range(3):
                normal[pair, axis] = away[axis]
            point = (deepest[place, 0], deepest[place, 1], deepest[place, 2])
            point_count[pair] = 1
            put_point(found, pair, 0, along(point, away, -near[a]), margin - depth[place], 0)


@helper
def _allowed(solids: PosedSolids, faces: HullFaces, triangle: Integer, body: Integer, away: Vector) -> Vector:
    """Return the direction in which a triangle of a mesh pushes a body: ``away``, or its normal on the body's side."""
    pose, own = solids.pose, solids.hull[triangle]
    local = within(pose, triangle, subtract(center(pose, body), center(pose, triangle)))
    side = side_of(faces, own, local)
    if may_push(faces, own, within(pose, triangle, away), side):
        return away
    return scaled(toward(pose, triangle, point_of(faces.normal, faces.face_first[own])), side)


@helper
def _write_clipped(
    own: Integer,
    other: Integer,
    chosen: tuple[Any, Any],
    normal: Vector,
    pair: Integer,
    solids: PosedSolids,
    faces: HullFaces,
    found: ContactArrays,
    scratch: Scratch,
) -> Any:
    """Clip the face of ``other`` by the face of ``own``, the reference; return how many points there are."""
    kind, _, pose, size, near = solids
    sides = scratch.sides
    face, other_face = chosen
    right = unit(cross(normal, (1.0, 0.0, 0.0) if abs(normal[0]) < 0.6 else (0.0, 1.0, 0.0)))
    up = cross(normal, right)
    origin = _corner(solids, faces, own, face, 0)
    total = _corner_count(kind, faces, own, face)
    before = _corner(solids, faces, own, face, total - 1)
    for corner in range(total):
        here = _corner(solids, faces, own, face, corner)
        edge = subtract(here, before)
        x, y = dot(edge, up), -dot(edge, right)  # outward, since corners go counter-clockwise
        from_origin = subtract(here, origin)
        sides[corner, 0], sides[corner, 1] = x, y
        sides[corner, 2] = x * dot(from_origin, right) + y * dot(from_origin, up)
        before = here
    radius = size[other, 0] if kind[other] == SPHERE or kind[other] == CAPSULE else 0.0
    between = subtract(subtract(center(pose, other), center(pose, own)), origin)
    count = _corner_count(kind, faces, other, other_face)
    for corner in range(count):
        at = along(between, _corner(solids, faces, other, other_face, corner), 1.0)
        start_corner(scratch, corner, dot(at, right), dot(at, up), dot(at, normal) - radius)
    now, count = clip(scratch, count, total)
    kept = keep_near(scratch, now, count, near[own] + near[other])
    if kept > 0:
        flipped = own == found.pairs[pair, 1]
        own_number, other_number = _number(solids, faces, own, face), _number(solids, faces, other, other_face)
        base = 1 + (own_number * 977 + other_number + 1) * 2 + flipped
        frame = (along(center(pose, own), origin, 1.0), right, up, normal)
        write_flat(found, pair, scratch, (now, kept), frame, flipped, base & 0x3FFFF)
    return kept
