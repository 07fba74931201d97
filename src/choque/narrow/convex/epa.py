"""The penetration depth of two convex bodies, by the expanding polytope algorithm (EPA).

Van den Bergen, "Proximity queries and penetration depth computation on 3D game objects", 2001. A polytope inside the
difference A − B and around the origin grows where its surface is nearest to the origin, until the nearest face lies on
the surface of the difference: its normal and distance are the shortest translation that separates the bodies.

The faces visible from a new corner are found by walking from face to face, so the surface stays closed for any
rounding. Faces in the plane of the new corner count as visible, which keeps new faces from having no area. A half-edge
is numbered 4 · face + place and stores its twin, the same edge in the adjacent face. The walk leaves the visible region
in order around it, so its rim is a chain of edges and new faces are linked to their neighbours at once.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from choque._core.kernel import forceinline, helper
from choque._core.types import F64, Floats, Integer, Rows
from choque._core.vector import Vector, add, cross, dot, length, point_of, scaled, store, subtract, unit
from choque.narrow.convex.cores import Cores, support
from choque.narrow.convex.gjk import Simplex, start_axis

CONVERGED = 1e-11
"""Stop when the surface is at most this fraction of the size of the difference beyond the nearest face."""

SEEN = 1e-12  # a face is visible from points up to this fraction of the size of the difference behind it
NO_AREA = 1e-13  # a face has no normal if twice its area is below this fraction of the squared size of the difference
COPLANAR = 1 - 1e-10  # faces are in one plane if the cosine between their normals is above this

TETRAHEDRON = ((0, 1, 2, 10, 14, 4), (0, 2, 3, 2, 13, 8), (0, 3, 1, 6, 12, 0), (1, 3, 2, 9, 5, 1))
"""The corners of the first four faces, and the twins of their edges."""

CORNERS, TWINS, MARK = 0, 3, 6
"""The columns of a face: three corners, counter-clockwise from outside; the twins of the edges from each of them to the
next; the iteration in which it was visible."""

SOLVED, FULL, STUCK = range(3)
"""Outcomes: the depth is exact; the polytope needs more corners; rounding stopped it, the depth is a lower bound."""


class Polytope(NamedTuple):
    """A growing polytope of up to V corners and F = 2 V faces; a face at an infinite distance is unused."""

    corners: F64  # (V, 3)
    sources: Rows  # (V, 2) the rows of the points of both bodies whose difference each corner is
    planes: F64  # (F, 4) unit normal outward, distance from the origin
    faces: Rows  # (F, 8) corners, twins and mark; the last column is empty and lets a face fill a cache line
    seen: Rows  # (F,) the faces visible from the newest corner
    rim: Rows  # (3 F,) the half-edges of hidden faces around the visible ones, in order
    waiting: Rows  # (3 F,) the half-edges across which the walk has still to go


def new_polytope(corner_count: int = 96) -> Polytope:
    """Return an empty polytope for up to ``corner_count`` corners."""
    face_count = 2 * corner_count
    return Polytope(
        np.zeros((corner_count, 3)),
        np.zeros((corner_count, 2), np.int64),
        np.zeros((face_count, 4)),
        np.zeros((face_count, 8), np.int64),
        np.zeros(face_count, np.int64),
        np.zeros(3 * face_count, np.int64),
        np.zeros(3 * face_count, np.int64),
    )


@helper
def epa_pair(
    cores: Cores, one: Integer, other: Integer, simplex: Simplex, count: Integer, polytope: Polytope
) -> tuple[int, int, Vector, float]:
    """Return the outcome, the iterations, the normal from ``one`` to ``other`` and the depth of intersecting cores.

    Starts from the ``simplex`` of ``count`` corners that GJK ended with, and writes the corners of the nearest face to
    it, which give the deepest points. Cores that lie in one plane have the depth 0.
    """
    offset = start_axis(cores.place, one, other)
    count = _fill_simplex(cores, one, other, offset, simplex, count)
    if count < 4:
        return SOLVED, 0, _flat_normal(simplex, count, offset), 0.0
    corners, sources, planes, faces = polytope.corners, polytope.sources, polytope.planes, polytope.faces
    reach = _start(simplex, corners, sources, planes, faces)
    corner_count, face_count = 4, 4
    iteration = 0
    outcome = STUCK
    while True:
        iteration += 1
        nearest = 0
        least = planes[0, 3]
        for face in range(1, face_count):
            if planes[face, 3] < least:
                nearest, least = face, planes[face, 3]
        normal = planes[nearest, 0], planes[nearest, 1], planes[nearest, 2]
        ends = faces[nearest, 0], faces[nearest, 1], faces[nearest, 2]
        corner, a, b = _farthest(cores, one, other, offset, normal, (sources[ends[0], 0], sources[ends[0], 1]))
        depth = dot(corner, normal)
        if depth - least <= CONVERGED * reach:
            outcome = SOLVED
            break
        depth = least
        if corner_count == len(corners):
            outcome = FULL
            break
        store(corners, corner_count, corner)
        sources[corner_count, 0], sources[corner_count, 1] = a, b
        seen_count, rim_count = _look(polytope, nearest, corner, iteration, SEEN * reach)
        added = max(rim_count - seen_count, 0)
        if face_count + added > len(faces):
            outcome = FULL
            break
        if not _grow(polytope, corner_count, seen_count, rim_count, face_count, NO_AREA * reach * reach):
            break
        corner_count += 1
        face_count += added
    if outcome == SOLVED:
        nearest = _face_below(corners, planes, faces, face_count, nearest, CONVERGED * reach)
        ends = faces[nearest, 0], faces[nearest, 1], faces[nearest, 2]
    for corner_place in range(3):
        row = ends[corner_place]
        store(simplex.corners, corner_place, point_of(corners, row))
        simplex.rows[corner_place, 0], simplex.rows[corner_place, 1] = sources[row, 0], sources[row, 1]
    return outcome, iteration, normal, max(depth, 0.0)


@helper
def _face_below(
    corners: Floats, planes: Floats, faces: Rows, face_count: Integer, nearest: Integer, slack: float
) -> Integer:
    """Return the face, of those in the plane of the ``nearest`` one, that contains the projection of the origin.

    Its corners give the deepest points.
    """
    normal, least = point_of(planes, nearest), planes[nearest, 3]
    point = scaled(normal, least)
    best, most = nearest, -math.inf
    for face in range(face_count):
        if planes[face, 3] - least <= slack and dot(normal, point_of(planes, face)) > COPLANAR:
            a, b = point_of(corners, faces[face, 0]), point_of(corners, faces[face, 1])
            c = point_of(corners, faces[face, 2])
            inner = min(
                dot(cross(subtract(b, a), subtract(point, a)), normal),
                dot(cross(subtract(c, b), subtract(point, b)), normal),
                dot(cross(subtract(a, c), subtract(point, c)), normal),
            )
            if inner > most:
                best, most = face, inner
    return best


@forceinline
def _farthest(
    cores: Cores, one: Integer, other: Integer, offset: Vector, direction: Vector, start: tuple[int, int]
) -> tuple[Vector, int, int]:
    """Return the corner of the difference farthest along ``direction``, and the points of the two bodies that make it.

    Climbs along edges begin at the points ``start`` of the two bodies.
    """
    points, spans, _, graph = cores
    a = support(points, spans, graph, one, direction, start[0])
    b = support(points, spans, graph, other, (-direction[0], -direction[1], -direction[2]), start[1])
    return add(subtract(point_of(points, a), point_of(points, b)), offset), a, b


@helper
def _fill_simplex(
    cores: Cores, one: Integer, other: Integer, offset: Vector, simplex: Simplex, count: Integer
) -> Integer:
    """Add corners until four are not in one plane; return their number, which is below four only for flat bodies.

    GJK may end with fewer corners than a tetrahedron has, or with a flat one. The next corner is searched for on both
    sides of the span of the others.
    """
    corners, rows = simplex
    if count == 4:
        if _stands_out(corners, 3):
            return 4
        count = 3
    if count == 3 and not _stands_out(corners, 2):
        count = 2
    if count == 2 and not _stands_out(corners, 1):
        count = 1
    while count < 4:
        found = False
        for attempt in range(6):
            direction = _way_out(corners, count, attempt)
            corner, a, b = _farthest(cores, one, other, offset, direction, (rows[0, 0], rows[0, 1]))
            store(corners, count, corner)
            rows[count, 0], rows[count, 1] = a, b
            if _stands_out(corners, count):
                found = True
                break
        if not found:
            break
        count += 1
    return count


@helper
def _way_out(corners: Floats, count: Integer, attempt: Integer) -> Vector:
    """Return one of six directions away from the span of the first ``count`` corners."""
    sign = 1.0 if attempt % 2 == 0 else -1.0
    if count == 1:
        axis = attempt // 2
        return sign if axis == 0 else 0.0, sign if axis == 1 else 0.0, sign if axis == 2 else 0.0
    a, b = point_of(corners, 0), point_of(corners, 1)
    edge = unit(subtract(b, a))
    if count == 2:
        x, y, z = abs(edge[0]), abs(edge[1]), abs(edge[2])
        if x <= y and x <= z:
            least = (1.0, 0.0, 0.0)
        elif y <= z:
            least = (0.0, 1.0, 0.0)
        else:
            least = (0.0, 0.0, 1.0)
        across = unit(cross(edge, least))
        angle = (attempt // 2) * math.pi / 3
        return scaled(add(scaled(across, math.cos(angle)), scaled(cross(edge, across), math.sin(angle))), sign)
    return scaled(unit(cross(edge, unit(subtract(point_of(corners, 2), a)))), sign)


@helper
def _stands_out(corners: Floats, corner: Integer) -> bool:
    """Return whether a corner lies clearly outside the span of the corners before it."""
    a = point_of(corners, 0)
    offset = subtract(point_of(corners, corner), a)
    if corner == 1:
        return dot(offset, offset) > 1e-20 * (dot(a, a) + dot(offset, offset)) and dot(offset, offset) > 0
    ab = subtract(point_of(corners, 1), a)
    if corner == 2:
        across = cross(ab, offset)
        return dot(across, across) > 1e-20 * dot(ab, ab) * max(dot(ab, ab), dot(offset, offset))
    normal = cross(ab, subtract(point_of(corners, 2), a))
    height = dot(normal, offset)
    return height * height > 1e-20 * dot(normal, normal) * max(dot(ab, ab), dot(offset, offset))


@helper
def _flat_normal(simplex: Simplex, count: Integer, offset: Vector) -> Vector:
    """Return a direction along which two bodies in one plane, or on one line, do not overlap."""
    normal = _way_out(simplex.corners, count, 0) if count > 0 else (0.0, 1.0, 0.0)
    return normal if dot(normal, offset) <= 0 else scaled(normal, -1.0)


@helper
def _start(simplex: Simplex, corners: Floats, sources: Rows, planes: Floats, faces: Rows) -> float:
    """Make the first four faces from a tetrahedron around the origin; return the distance of its farthest corner."""
    simplex_corners, rows = simplex
    a, b = point_of(simplex_corners, 0), point_of(simplex_corners, 1)
    c, d = point_of(simplex_corners, 2), point_of(simplex_corners, 3)
    # Seen from the last corner, the first three must turn clockwise, so that all faces below look outward.
    is_swapped = dot(cross(subtract(b, a), subtract(c, a)), subtract(d, a)) > 0
    reach = 0.0
    for corner in range(4):
        source = 1 - corner if is_swapped and corner < 2 else corner
        point = point_of(simplex_corners, source)
        store(corners, corner, point)
        sources[corner, 0], sources[corner, 1] = rows[source, 0], rows[source, 1]
        reach = max(reach, length(point))
    for face in range(4):
        for column in range(6):
            faces[face, column] = TETRAHEDRON[face][column]
        _set_plane(corners, planes, faces, face, 0.0)
    return reach


@helper
def _set_plane(corners: Floats, planes: Floats, faces: Rows, face: Integer, least: float) -> bool:
    """Write the plane of a face; return False if twice its area is at most ``least``, so that it has no normal."""
    a, b = point_of(corners, faces[face, 0]), point_of(corners, faces[face, 1])
    normal = cross(subtract(b, a), subtract(point_of(corners, faces[face, 2]), a))
    size = length(normal)
    faces[face, MARK] = 0
    share = 1.0 / size if size > 0 else 0.0
    planes[face, 0], planes[face, 1], planes[face, 2] = normal[0] * share, normal[1] * share, normal[2] * share
    planes[face, 3] = dot(normal, a) * share
    return size > least


@forceinline
def _look(polytope: Polytope, nearest: Integer, corner: Vector, iteration: Integer, slack: float) -> tuple[int, int]:
    """List the faces visible from ``corner`` and the half-edges around them; return how many there are of each."""
    _, _, planes, faces, seen, rim, waiting = polytope
    faces[nearest, MARK] = iteration
    seen[0] = nearest
    waiting[0], waiting[1], waiting[2] = faces[nearest, TWINS + 2], faces[nearest, TWINS + 1], faces[nearest, TWINS]
    seen_count, rim_count, waiting_count = 1, 0, 3
    while waiting_count > 0:
        waiting_count -= 1
        side = waiting[waiting_count]
        face, place = side >> 2, side & 3
        if faces[face, MARK] == iteration:
            continue
        height = planes[face, 0] * corner[0] + planes[face, 1] * corner[1] + planes[face, 2] * corner[2]
        if height - planes[face, 3] < -slack:
            rim[rim_count] = side
            rim_count += 1
            continue
        faces[face, MARK] = iteration
        seen[seen_count] = face
        seen_count += 1
        following = place + 1 if place < 2 else 0
        waiting[waiting_count] = faces[face, TWINS + 3 - place - following]
        waiting[waiting_count + 1] = faces[face, TWINS + following]
        waiting_count += 2
    return seen_count, rim_count


@forceinline
def _grow(
    polytope: Polytope, corner: Integer, seen_count: Integer, rim_count: Integer, face_count: Integer, least: float
) -> bool:
    """Replace the visible faces by faces between the rim and ``corner``; return False if rounding prevents it.

    There may be fewer new faces than old ones, if a corner was in the middle of an edge or of a face.
    """
    corners, _, planes, faces, seen, rim, _ = polytope
    last = rim_count - 1
    before = seen[last] if last < seen_count else face_count + last - seen_count
    joint = faces[rim[last] >> 2, rim[last] & 3]
    for edge in range(rim_count):
        hidden, place = rim[edge] >> 2, rim[edge] & 3
        face = seen[edge] if edge < seen_count else face_count + edge - seen_count
        start, end = faces[hidden, place + 1 if place < 2 else 0], faces[hidden, place]
        if start != joint:
            return False  # the rim is not a chain
        joint = end
        faces[face, 0], faces[face, 1], faces[face, 2] = start, end, corner
        faces[face, TWINS], faces[hidden, TWINS + place] = 4 * hidden + place, 4 * face
        faces[face, TWINS + 2], faces[before, TWINS + 1] = 4 * before + 1, 4 * face + 2
        before = face
        if not _set_plane(corners, planes, faces, face, least):
            return False
    for edge in range(rim_count, seen_count):
        planes[seen[edge], 3] = math.inf
    return True
