"""Contacts of convex hulls with hulls, spheres, capsules, tiles and the ground."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import kernel
from choque._core.threads import ranges, run
from choque._core.types import Floats, Index, Pairs
from choque._core.vector import add, along, dot, length, point_of, scaled, store, subtract
from choque.narrow._convex_memory import Axes
from choque.narrow._support import Cores, support
from choque.narrow.convex.cores import cores_of_shapes
from choque.narrow.convex.probe import CONTACT, SAFE_GAP, SHALLOW, probe_pairs
from choque.narrow.shapes import PLANE, Shapes


def convex_contacts(
    shapes: Shapes, rows: Pairs, thread_count: int, memory: dict[str, Any]
) -> tuple[NDArray[np.uint8], Floats, Floats, Floats]:
    """Contacts of pairs ``rows`` (k, 2) of shapes, at least one of each pair a hull.

    By GJK on the cores of the shapes with their radii around them, then EPA; against a plane by the lowest vertices.

    Guarantees: hit (k,), point (k, 3), normal (k, 3) from the first column to the second, and depth (k,), which is
    exact up to roundings; touching is no contact; bodies that meet in a face meet in the middle of it. ``memory`` keeps
    the axes that parted pairs; the answer does not depend on it, nor on the number of threads.
    """
    count = len(rows)
    hit = np.zeros(count, np.uint8)
    point, normal, depth = np.zeros((count, 3)), np.zeros((count, 3)), np.zeros(count)
    if count == 0:
        return hit, point, normal, depth
    with_plane = shapes.kind[rows] == PLANE
    cores, places = cores_of_shapes(shapes, rows, thread_count)
    shares = ranges(count, thread_count)
    if with_plane.any():
        plane_first = np.ascontiguousarray(with_plane[:, 0])
        run(
            lambda part: _plane_contacts(
                cores, rows, places, plane_first, shapes.rotation, hit, point, normal, depth, *shares[part]
            ),
            len(shares),
        )
        return hit, point, normal, depth
    axes: Axes = memory.setdefault("axes", Axes())
    found = probe_pairs(cores, places, CONTACT, thread_count, axes.recall(rows))
    axes.remember(rows, found.axis)
    return found.overlaps, found.middle, found.normal, found.depth


@kernel
def _plane_contacts(
    cores: Cores,
    rows: Pairs,
    places: Pairs,
    plane_first: NDArray[np.bool_],
    rotation: Floats,
    hit: NDArray[np.uint8],
    point: Floats,
    normal: Floats,
    depth: Floats,
    first: Index,
    last: Index,
) -> None:
    """The contacts of pairs first … last − 1 of a body and a plane: how far the lowest vertex lies below it.

    The point is the middle of the vertices that are equally low, half the depth above them.
    """
    for pair in range(first, last):
        ground, column = (0, 1) if plane_first[pair] else (1, 0)
        plane, body = places[pair, ground], places[pair, column]
        row = rows[pair, ground]
        up = rotation[row, 0, 1], rotation[row, 1, 1], rotation[row, 2, 1]
        lowest = support(cores.points, cores.spans, cores.graph, body, (-up[0], -up[1], -up[2]), cores.spans[body, 0])
        least = dot(point_of(cores.points, lowest), up)
        offset = subtract(point_of(cores.place, body), point_of(cores.place, plane))
        low = least + dot(offset, up)
        hit[pair] = 0
        if not -low > SHALLOW * (length(offset) + abs(least)):
            continue
        middle, count = (0.0, 0.0, 0.0), 0
        for vertex in range(cores.spans[body, 0], cores.spans[body, 1]):
            corner = point_of(cores.points, vertex)
            if dot(corner, up) <= least + SAFE_GAP * abs(least):
                middle = add(middle, corner)
                count += 1
        middle = along(add(point_of(cores.place, body), scaled(middle, 1.0 / count)), up, -low / 2)
        hit[pair] = 1
        depth[pair] = -low
        store(point, pair, middle)
        store(normal, pair, scaled(up, 1.0 if column == 1 else -1.0))
