"""Contacts of convex hulls with hulls, spheres, capsules, tiles and planes."""

from __future__ import annotations

from typing import Any

import numpy as np

from choque._core import memory as memory_of_calls
from choque._core.kernel import kernel
from choque._core.pair_keys import pack_pairs
from choque._core.threads import ranges, run
from choque._core.types import F64, I64, Bools, Floats, Pairs
from choque._core.vector import add, along, dot, length, point_of, scaled, store, subtract
from choque.narrow.convex.cores import Cores, cores_of_shapes, support
from choque.narrow.convex.probe import CONTACT, SAFE_GAP, SHALLOW, Probe, probe_pairs
from choque.narrow.pair import ContactArrays
from choque.narrow.shapes import PLANE, Shapes


class Axes:
    """Axes that separated pairs of bodies in an earlier frame, or nearly did."""

    def __init__(self) -> None:
        self.keys = np.empty(0, np.int64)  # (m,) pairs as one number each, ascending
        self.axis = np.empty((0, 3))  # (m, 3)

    def recall(self, pairs: Pairs) -> F64:
        """Return the axis of each pair (k, 2) as (k, 3), 0 where none is known."""
        keys = _keys(pairs)
        axis = np.zeros((len(pairs), 3))
        if len(self.keys):
            place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
            is_known = self.keys[place] == keys
            axis[is_known] = self.axis[place[is_known]]
        return axis

    def remember(self, pairs: Pairs, axis: F64) -> None:
        """Keep the ``axis`` (k, 3) of each of these pairs and forget all others."""
        keys = _keys(pairs)
        order: Any = slice(None)
        if len(keys) > 1 and not (keys[1:] > keys[:-1]).all():
            order = np.argsort(keys, kind="stable")
        self.keys, self.axis = keys[order], axis[order]


def convex_contacts(shapes: Shapes, found: ContactArrays, thread_count: int, memory: dict[str, Any]) -> None:
    """Write the contacts of ``found.pairs`` (k, 2), rows of ``shapes``, at least one of each pair a hull.

    By GJK on the cores of the shapes with their radii around them, then EPA; against a plane by the lowest vertices.

    Guarantees: normals point from the first column to the second; depths are exact up to rounding; touching is not a
    contact; bodies that touch in a face have their point in the middle of it. ``memory`` keeps the axes that separated
    pairs; the result does not depend on it, nor on the number of threads.
    """
    rows, count = found.pairs, len(found.pairs)
    if count == 0:
        return
    with_plane = shapes.kind[rows] == PLANE
    cores, places = cores_of_shapes(shapes, rows, thread_count)
    if with_plane.any():
        plane_first = np.ascontiguousarray(with_plane[:, 0])
        shares = ranges(count, thread_count)
        run(lambda k: _plane_contacts(cores, places, plane_first, shapes.rotation, found, *shares[k]), len(shares))
        return
    axes: Axes = memory.setdefault("axes", Axes())
    buffers = Probe.empty(count, memory_of_calls.empty)
    if found.normal.dtype == np.float64:  # the results are written where they belong
        own: Any = {"normal": found.normal, "middle": found.points[:, 0], "overlaps": found.point_count}
        buffers = buffers._replace(**own)
    probe = probe_pairs(cores, places, CONTACT, thread_count, axes.recall(rows), buffers)
    axes.remember(rows, probe.axis)
    hits = np.flatnonzero(probe.overlaps)
    if probe.normal is not found.normal:
        found.point_count[:] = probe.overlaps
        found.normal[hits], found.points[hits, 0] = probe.normal[hits], probe.middle[hits]
    found.separations[hits, 0], found.features[hits, 0] = -probe.depth[hits], 0


def _keys(pairs: Pairs) -> I64:
    return pack_pairs(pairs).view(np.int64)  # as saved worlds have them


@kernel
def _plane_contacts(
    cores: Cores, places: Pairs, plane_first: Bools, rotation: Floats, found: ContactArrays, first: int, last: int
) -> None:
    """Write the contacts of pairs first … last − 1 of a body and a plane; the depth is that of the lowest vertex.

    The point is the mean of the vertices that are equally low, half the depth above them.
    """
    rows, normal, points, separations, features, point_count = found
    for pair in range(first, last):
        ground, column = (0, 1) if plane_first[pair] else (1, 0)
        plane, body = places[pair, ground], places[pair, column]
        row = rows[pair, ground]
        up = rotation[row, 0, 1], rotation[row, 1, 1], rotation[row, 2, 1]
        lowest = support(cores.points, cores.spans, cores.graph, body, (-up[0], -up[1], -up[2]), cores.spans[body, 0])
        least = dot(point_of(cores.points, lowest), up)
        offset = subtract(point_of(cores.place, body), point_of(cores.place, plane))
        low = least + dot(offset, up)
        point_count[pair] = 0
        if not -low > SHALLOW * (length(offset) + abs(least)):
            continue
        middle, count = (0.0, 0.0, 0.0), 0
        for vertex in range(cores.spans[body, 0], cores.spans[body, 1]):
            corner = point_of(cores.points, vertex)
            if dot(corner, up) <= least + SAFE_GAP * abs(least):
                middle = add(middle, corner)
                count += 1
        middle = along(add(point_of(cores.place, body), scaled(middle, 1.0 / count)), up, -low / 2)
        point_count[pair] = 1
        separations[pair, 0], features[pair, 0] = low, 0
        points[pair, 0, 0], points[pair, 0, 1], points[pair, 0, 2] = middle
        store(normal, pair, scaled(up, 1.0 if column == 1 else -1.0))
