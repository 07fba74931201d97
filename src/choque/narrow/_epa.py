"""How deep two convex bodies overlap, by the expanding polytope algorithm.

Van den Bergen, "Proximity queries and penetration depth computation on 3D game objects", 2001. A polytope inside the
difference A − B and around the origin grows where its surface is nearest to the origin, until the nearest face lies on
the surface of the difference: its normal and distance are the shortest way out.

What is seen from a new corner is found by going from face to face, so the surface stays closed whatever is rounded.
Faces in the plane of the new corner count as seen; that is what keeps new faces from having no area.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque._types import Floats, Index, Rows
from choque.narrow._convex_kernel import part
from choque.narrow._convex_vectors import Vector, add, cross, dot, length, point_of, scaled, store, subtract, unit
from choque.narrow._gjk import Simplex, start_axis
from choque.narrow._support import Cores, support

CONVERGED = 1e-11
"""Stop when the surface may lie at most this share of the size of the difference beyond the nearest face."""

SEEN = 1e-12
"""A face is seen from a point that lies at most this share of the size of the difference behind it."""

NO_AREA = 1e-13
"""Twice the area of a face, as a share of the squared size of the difference, that gives no normal."""

COPLANAR = 1 - 1e-10
"""The cosine between the normals of faces in one plane, at least."""

TETRAHEDRON = ((0, 1, 2, 2, 3, 1), (0, 2, 3, 0, 3, 2), (0, 3, 1, 1, 3, 0), (1, 3, 2, 2, 1, 0))
"""The corners of the first four faces, and the faces behind their edges."""

SOLVED, FULL, STUCK = range(3)
"""Outcomes: the depth is exact; the room was too small; roundings left no way on, and the depth is a lower bound."""


class Polytope(NamedTuple):
    """Room for a growing polytope of V corners and F = 2 V faces; a face at an infinite distance is none."""

    corners: NDArray[np.float64]
    """(V, 3)."""
    sources: Rows
    """(V, 4) the point of either body that a corner comes from; the newest face whose rim edge begins at the corner,
    and in which iteration it was made."""
    planes: NDArray[np.float64]
    """(F, 4) unit normal outward, distance from the origin."""
    faces: Rows
    """(F, 7) corners, counter-clockwise from outside; the faces behind the edges from each of them to the next;
    twice the iteration in which the face was last found hidden, one more when it was seen."""
    sight: Rows
    """(F, 4) what the newest corner sees: faces; edges around them as from, to, and the hidden face behind."""


def new_polytope(corner_count: int = 96) -> Polytope:
    """Room for ``corner_count`` corners."""
    face_count = 2 * corner_count
    return Polytope(
        np.zeros((corner_count, 3)),
        np.zeros((corner_count, 4), np.int64),
        np.zeros((face_count, 4)),
        np.zeros((face_count, 7), np.int64),
        np.zeros((face_count, 4), np.int64),
    )


@part
def epa_pair(
    cores: Cores, one: Index, other: Index, simplex: Simplex, count: Index, polytope: Polytope
) -> tuple[int, int, Vector, float]:
    """The outcome, the iterations, the normal from ``one`` to ``other`` and the depth of two cores that meet.

    Takes the ``simplex`` of ``count`` corners that GJK ended with, and leaves in it the corners of the nearest face,
    which name the deepest points. Cores that lie in one plane have the depth 0.
    """
    points, spans, place, graph = cores
    offset = start_axis(place, one, other)
    count = _fill_simplex(points, spans, graph, one, other, offset, simplex, count)
    if count < 4:
        return SOLVED, 0, _flat_normal(simplex, count, offset), 0.0
    corners, sources, planes, faces, sight = polytope
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
        corner, a, b = _farthest(
            points, spans, graph, one, other, offset, normal, sources[ends[0], 0], sources[ends[0], 1]
        )
        depth = dot(corner, normal)
        if depth - least <= CONVERGED * reach:
            outcome = SOLVED
            break
        depth = least
        if corner_count == len(corners):
            outcome = FULL
            break
        store(corners, corner_count, corner)
        sources[corner_count, 0], sources[corner_count, 1], sources[corner_count, 3] = a, b, 0
        seen_count, rim_count = _look(planes, faces, sight, nearest, corner, 2 * iteration, SEEN * reach)
        added = max(rim_count - seen_count, 0)
        if face_count + added > len(faces):
            outcome = FULL
            break
        if not _grow(polytope, corner_count, seen_count, rim_count, face_count, iteration, reach):
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


@part
def _face_below(corners: Floats, planes: Floats, faces: Rows, face_count: Index, nearest: Index, slack: float) -> Index:
    """Of the faces in the plane of the ``nearest`` one, that which the origin lies below: it has the deepest points."""
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


@part
def _farthest(
    points: Floats,
    spans: Rows,
    graph: Rows,
    one: Index,
    other: Index,
    offset: Vector,
    direction: Vector,
    start: Index,
    other_start: Index,
) -> tuple[Vector, int, int]:
    """The corner of the difference farthest along ``direction``, and the points of the two bodies that make it."""
    a = support(points, spans, graph, one, direction, start)
    b = support(points, spans, graph, other, (-direction[0], -direction[1], -direction[2]), other_start)
    return add(subtract(point_of(points, a), point_of(points, b)), offset), a, b


@part
def _fill_simplex(
    points: Floats,
    spans: Rows,
    graph: Rows,
    one: Index,
    other: Index,
    offset: Vector,
    simplex: Simplex,
    count: Index,
) -> Index:
    """Add corners until the simplex has four that are not in one plane; how many it has, fewer only on a flat body.

    GJK may hold the origin with less than a tetrahedron, or with one that repeats a corner or is flat. The corner to
    replace is looked for on both sides of what the others span.
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
            corner, a, b = _farthest(points, spans, graph, one, other, offset, direction, rows[0, 0], rows[0, 1])
            store(corners, count, corner)
            rows[count, 0], rows[count, 1] = a, b
            if _stands_out(corners, count):
                found = True
                break
        if not found:
            break
        count += 1
    return count


@part
def _way_out(corners: Floats, count: Index, attempt: Index) -> Vector:
    """One of six directions away from what the first ``count`` corners span."""
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


@part
def _stands_out(corners: Floats, corner: Index) -> bool:
    """Whether a corner lies clearly off what the corners before it span."""
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


@part
def _flat_normal(simplex: Simplex, count: Index, offset: Vector) -> Vector:
    """A direction in which two bodies of one plane, or of less, do not overlap at all."""
    normal = _way_out(simplex.corners, count, 0) if count > 0 else (0.0, 1.0, 0.0)
    return normal if dot(normal, offset) <= 0 else scaled(normal, -1.0)


@part
def _start(simplex: Simplex, corners: Floats, sources: Rows, planes: Floats, faces: Rows) -> float:
    """Make the first four faces from a tetrahedron around the origin; the distance of its farthest corner."""
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
        sources[corner, 3] = 0
        reach = max(reach, length(point))
    for face in range(4):
        for place in range(3):
            faces[face, place] = TETRAHEDRON[face][place]
            faces[face, 3 + place] = TETRAHEDRON[face][3 + place]
        _set_plane(corners, planes, faces, face, 0.0)
    return reach


@part
def _set_plane(corners: Floats, planes: Floats, faces: Rows, face: Index, least: float) -> bool:
    """Write the plane of a face; False if its area is not above the ``least``, so that it has no normal."""
    a, b = point_of(corners, faces[face, 0]), point_of(corners, faces[face, 1])
    normal = cross(subtract(b, a), subtract(point_of(corners, faces[face, 2]), a))
    size = length(normal)
    faces[face, 6] = 0
    share = 1.0 / size if size > 0 else 0.0
    planes[face, 0], planes[face, 1], planes[face, 2] = normal[0] * share, normal[1] * share, normal[2] * share
    planes[face, 3] = dot(normal, a) * share
    return size > least


@part
def _look(
    planes: Floats, faces: Rows, sight: Rows, nearest: Index, corner: Vector, hidden_mark: Index, slack: float
) -> tuple[int, int]:
    """List the faces seen from ``corner`` and the edges around them, going outward from the ``nearest`` face."""
    sight[0, 0] = nearest
    faces[nearest, 6] = hidden_mark + 1
    seen_count, rim_count, at = 1, 0, 0
    while at < seen_count:
        face = sight[at, 0]
        at += 1
        for edge in range(3):
            near = faces[face, 3 + edge]
            if faces[near, 6] < hidden_mark:
                height = planes[near, 0] * corner[0] + planes[near, 1] * corner[1] + planes[near, 2] * corner[2]
                if height - planes[near, 3] >= -slack:
                    faces[near, 6] = hidden_mark + 1
                    sight[seen_count, 0] = near
                    seen_count += 1
                else:
                    faces[near, 6] = hidden_mark
            if faces[near, 6] == hidden_mark:
                if rim_count < len(sight):
                    sight[rim_count, 1] = faces[face, edge]
                    sight[rim_count, 2] = faces[face, edge + 1 if edge < 2 else 0]
                    sight[rim_count, 3] = near
                rim_count += 1
    return seen_count, rim_count


@part
def _grow(
    polytope: Polytope,
    corner: Index,
    seen_count: Index,
    rim_count: Index,
    face_count: Index,
    iteration: Index,
    reach: float,
) -> bool:
    """Put faces between the rim and ``corner`` in place of those that were seen; False if roundings forbid it.

    There may be fewer new faces than old ones, where a corner was in the middle of an edge or of a face.
    """
    corners, sources, planes, faces, sight = polytope
    for edge in range(rim_count):
        start = sight[edge, 1]
        if sources[start, 3] == iteration:
            return False
        sources[start, 2] = sight[edge, 0] if edge < seen_count else face_count + edge - seen_count
        sources[start, 3] = iteration
    for edge in range(rim_count, seen_count):
        planes[sight[edge, 0], 3] = math.inf
    for edge in range(rim_count):
        start, end, hidden = sight[edge, 1], sight[edge, 2], sight[edge, 3]
        face = sources[start, 2]
        faces[face, 0], faces[face, 1], faces[face, 2] = start, end, corner
        if sources[end, 3] != iteration or not _set_plane(corners, planes, faces, face, NO_AREA * reach * reach):
            return False
        following = sources[end, 2]
        faces[face, 3], faces[face, 4], faces[following, 5] = hidden, following, face
        for side in range(3):
            if faces[hidden, side] == end and faces[hidden, side + 1 if side < 2 else 0] == start:
                faces[hidden, 3 + side] = face
    return True
