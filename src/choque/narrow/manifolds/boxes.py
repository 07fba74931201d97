"""Manifolds of boxes: fifteen separating axes, then a face clipped by a face, or one point between two edges.

Gottschalk, Lin, Manocha, "OBBTree", 1996, for the axes. A face of the second box, and a pair of edges, must be better
than a face of the first by an eighth of the margin: otherwise the reference changes from step to step while boxes rest,
and impulses would not find their points again.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from choque._core.kernel import helper, kernel
from choque._core.types import Integer, Rows
from choque._core.vector import along, dot, scaled, subtract
from choque.narrow.manifolds.clipping import clip, keep_near, start_corner, write_flat
from choque.narrow.manifolds.solids import PosedSolids, Scratch, axis_of, center, put_point, toward, within
from choque.narrow.pair import ContactArrays

PARALLEL = 0.005
"""Square of the sine of the angle below which two edges count as parallel: their cross product is no axis then."""

# Places in the working memory: cosines between the axes, their absolute values, the offset along the axes of both
COSINE, ABSOLUTE, OFFSET, OFFSET_B = 0, 9, 18, 21


@kernel
def box_manifolds(
    first: Integer, last: Integer, rows: Rows, solids: PosedSolids, found: ContactArrays, scratch: Scratch
) -> None:
    """Write the manifolds of the pairs ``rows[first:last]`` of boxes.

    Where boxes are apart, ``separations[pair, 0]`` is a lower bound of their distance, and there is no point.
    """
    pairs = found.pairs
    for place in range(first, last):
        pair = rows[place]
        _box_box(pairs[pair, 0], pairs[pair, 1], pair, solids, found, scratch)


@helper
def _box_box(
    a: Integer, b: Integer, pair: Integer, solids: PosedSolids, found: ContactArrays, scratch: Scratch
) -> None:
    _, _, pose, size, near = solids
    work = scratch.work
    margin = near[a] + near[b]
    bias = 0.125 * margin
    between = subtract(center(pose, b), center(pose, a))
    local, local_b = within(pose, a, between), within(pose, b, between)
    for axis in range(3):
        own = axis_of(pose, a, axis)
        for other in range(3):
            cosine = dot(own, axis_of(pose, b, other))
            work[COSINE + 3 * axis + other] = cosine
            work[ABSOLUTE + 3 * axis + other] = abs(cosine)
        work[OFFSET + axis], work[OFFSET_B + axis] = local[axis], local_b[axis]
    found.point_count[pair] = 0
    gap_a, axis_a = _face_gap(work, size, a, b, OFFSET, 3, 1)
    gap_b, axis_b = _face_gap(work, size, b, a, OFFSET_B, 1, 3)
    gap_edge, edge = _edge_gap(work, size, a, b)
    if max(max(gap_a, gap_b), gap_edge) > margin:
        found.separations[pair, 0] = max(max(gap_a, gap_b), gap_edge)
        return
    flipped = gap_b > gap_a + bias
    if edge >= 0 and gap_edge > max(gap_a, gap_b) + bias:
        _write_edges(edge, a, b, pair, solids, found, work)
    elif flipped:
        _write_faces(b, a, axis_b, flipped, pair, solids, found, scratch)
    else:
        _write_faces(a, b, axis_a, flipped, pair, solids, found, scratch)


@helper
def _face_gap(
    work: Any, size: Any, own: Integer, other: Integer, offset: int, step: int, other_step: int
) -> tuple[float, int]:
    """Return the widest gap along a face normal of box ``own``, and which it is.

    ``step`` and ``other_step`` say how the table of cosines is read: by rows for the first box, by columns else.
    """
    best, which = -np.inf, 0
    for axis in range(3):
        reach = size[own, axis]
        for part in range(3):
            reach += size[other, part] * work[ABSOLUTE + step * axis + other_step * part]
        gap = abs(work[offset + axis]) - reach
        if gap > best:
            best, which = gap, axis
    return best, which


@helper
def _edge_gap(work: Any, size: Any, a: Integer, b: Integer) -> tuple[float, int]:
    """Return the widest gap along a cross product of two edges, and which: 3·i + j, or −1 where all are parallel."""
    best, which = -np.inf, -1
    for i in range(3):
        i1, i2 = (i + 1) % 3, (i + 2) % 3
        for j in range(3):
            j1, j2 = (j + 1) % 3, (j + 2) % 3
            square = 1.0 - work[COSINE + 3 * i + j] ** 2
            if square < PARALLEL:
                continue
            way = work[OFFSET + i2] * work[COSINE + 3 * i1 + j] - work[OFFSET + i1] * work[COSINE + 3 * i2 + j]
            reach = size[a, i1] * work[ABSOLUTE + 3 * i2 + j] + size[a, i2] * work[ABSOLUTE + 3 * i1 + j]
            reach += size[b, j1] * work[ABSOLUTE + 3 * i + j2] + size[b, j2] * work[ABSOLUTE + 3 * i + j1]
            gap = (abs(way) - reach) / math.sqrt(square)
            if gap > best:
                best, which = gap, 3 * i + j
    return best, which


@helper
def _write_edges(
    edge: Integer, a: Integer, b: Integer, pair: Integer, solids: PosedSolids, found: ContactArrays, work: Any
) -> None:
    """Write one point: the closest of an edge of each box."""
    pose, size = solids.pose, solids.size
    i, j = edge // 3, edge % 3
    own, other = axis_of(pose, a, i), axis_of(pose, b, j)
    normal = (
        own[1] * other[2] - own[2] * other[1],
        own[2] * other[0] - own[0] * other[2],
        own[0] * other[1] - own[1] * other[0],
    )
    between = subtract(center(pose, b), center(pose, a))
    long = math.sqrt(dot(normal, normal))
    normal = scaled(normal, (1.0 if dot(normal, between) > 0 else -1.0) / long)
    # The middle of the edge of A farthest along the normal, of that of B farthest against it.
    start, end = (0.0, 0.0, 0.0), between
    feature = 1
    for step in range(1, 3):
        k = (i + step) % 3
        direction = axis_of(pose, a, k)
        is_ahead = dot(direction, normal) > 0
        start = along(start, direction, size[a, k] if is_ahead else -size[a, k])
        m = (j + step) % 3
        direction = axis_of(pose, b, m)
        is_behind = dot(direction, normal) > 0
        end = along(end, direction, -size[b, m] if is_behind else size[b, m])
        feature = 4 * feature + 2 * is_ahead + is_behind
    gap = subtract(end, start)
    cosine = work[COSINE + edge]
    way = (dot(gap, own) - cosine * dot(gap, other)) / (1.0 - cosine * cosine)
    for axis in range(3):
        found.normal[pair, axis] = normal[axis]
    found.point_count[pair] = 1
    point = along(along(center(pose, a), start, 1.0), own, way)
    put_point(found, pair, 0, point, dot(gap, normal), (1 << 30) + 16 * (32 * edge + feature))


@helper
def _write_faces(
    own: Integer,
    other: Integer,
    axis: Integer,
    flipped: Any,
    pair: Integer,
    solids: PosedSolids,
    found: ContactArrays,
    scratch: Scratch,
) -> None:
    """Clip the face of box ``other`` that lies against the face of box ``own`` along ``axis``."""
    _, _, pose, size, near = solids
    sides = scratch.sides
    between = subtract(center(pose, other), center(pose, own))
    normal = axis_of(pose, own, axis)
    sign = 1.0 if dot(normal, between) > 0 else -1.0
    normal = scaled(normal, sign)
    axis1, axis2 = (axis + 1) % 3, (axis + 2) % 3
    right, up = axis_of(pose, own, axis1), axis_of(pose, own, axis2)
    facing = within(pose, other, normal)
    face = 0
    for k in range(1, 3):
        if abs(facing[k]) > abs(facing[face]):
            face = k
    side = -1.0 if facing[face] > 0 else 1.0
    face1, face2 = (face + 1) % 3, (face + 2) % 3
    for corner in range(4):  # in the order ++, −+, −−, +−
        x = size[other, face1] if corner == 0 or corner == 3 else -size[other, face1]
        y = size[other, face2] if corner < 2 else -size[other, face2]
        place = along(between, axis_of(pose, other, face), side * size[other, face])
        place = along(along(place, axis_of(pose, other, face1), x), axis_of(pose, other, face2), y)
        start_corner(scratch, corner, dot(place, right), dot(place, up), dot(place, normal) - size[own, axis])
    for which in range(4):
        direction = 1.0 if which % 2 else -1.0
        is_first = which < 2
        sides[which, 0], sides[which, 1] = (direction, 0.0) if is_first else (0.0, direction)
        sides[which, 2] = size[own, axis1] if is_first else size[own, axis2]
    now, count = clip(scratch, 4, 4)
    kept = keep_near(scratch, now, count, near[own] + near[other])
    base = 1 + ((axis * 2 + (sign > 0)) * 6 + face * 2 + (side > 0)) * 2 + flipped
    origin = along(center(pose, own), normal, size[own, axis])
    write_flat(found, pair, scratch, (now, kept), (origin, right, up, normal), flipped, base)
    if kept == 0:
        found.separations[pair, 0] = 0.0


@helper
def box_corner(pose: Any, size: Any, row: Integer, corner: Integer) -> Any:
    """Return a corner of a box relative to its centre, in the world; bits of ``corner`` choose the signs."""
    return toward(
        pose,
        row,
        (
            size[row, 0] if corner & 1 else -size[row, 0],
            size[row, 1] if corner & 2 else -size[row, 1],
            size[row, 2] if corner & 4 else -size[row, 2],
        ),
    )
