"""GJK, then EPA, over lists of pairs: the one kernel behind all that is asked about convex bodies."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from choque._types import Floats, Index, Pairs, Rows
from choque.kernel import kernel, part
from choque.narrow._convex_patch import PATCH_ROOM, middle_of_patch
from choque.narrow._epa import FULL, Polytope, epa_pair, new_polytope
from choque.narrow._gjk import (
    APART,
    BEYOND,
    INSIDE,
    common_point,
    gjk_pair,
    new_simplex,
    start_axis,
    weights_of,
    witnesses,
)
from choque.narrow._support import Cores, support
from choque.narrow._vectors import add, along, dot, length, point_of, scaled, store, subtract
from choque.threads import ranges, run

VERDICT, DISTANCE, CONTACT, DEPTH = range(4)
"""What is wanted: whether bodies meet; how far apart they are; how deep they overlap if they do; both of that."""

ROOMS = (96, 1_024, 16_384)
"""How many corners a polytope may have: the first is nearly always enough, the others are tried in turn."""

SHALLOW = 1e-12
"""Overlaps below this share of the bodies' offset and extent are touching, which is no contact."""

SAFE_GAP = 1e-9
"""How much more than needed, as a share of offset and extent, a remembered axis must part two bodies to be believed."""


@dataclass(frozen=True, eq=False)
class Probe:
    """What was found about k pairs."""

    meets: NDArray[np.uint8]
    """(k,) whether they meet, touching included."""
    depth: NDArray[np.float64]
    """(k,) how deep they overlap; their distance, negative, where they do not."""
    normal: NDArray[np.float64]
    """(k, 3) unit vectors from the first to the second."""
    first: NDArray[np.float64]
    """(k, 3) the point of the first body that is deepest in or nearest to the second."""
    second: NDArray[np.float64]
    """(k, 3) the same of the second body."""
    iterations: Rows
    """(k, 2) of GJK and of EPA."""
    axis: NDArray[np.float64]
    """(k, 3) what proved bodies apart, from the second to the first; 0 where they meet."""
    overlaps: NDArray[np.uint8]
    """(k,) whether they do more than touch; under CONTACT."""
    middle: NDArray[np.float64]
    """(k, 3) the middle of the region in which bodies that overlap face each other; under CONTACT."""

    @classmethod
    def room(cls, count: int) -> Self:
        """Room for ``count`` pairs; memory that is not written to is not used."""
        return cls(
            meets=np.zeros(count, np.uint8),
            depth=np.zeros(count),
            normal=np.zeros((count, 3)),
            first=np.zeros((count, 3)),
            second=np.zeros((count, 3)),
            iterations=np.zeros((count, 2), np.int64),
            axis=np.zeros((count, 3)),
            overlaps=np.zeros(count, np.uint8),
            middle=np.zeros((count, 3)),
        )

    def part(self, first: int, last: int) -> Self:
        """The rows first … last − 1, not copied."""
        return type(self)(*(getattr(self, field.name)[first:last] for field in fields(self)))


def probe_pairs(
    cores: Cores,
    rows: Pairs,
    wanted: int,
    thread_count: int = 1,
    axis: NDArray[np.float64] | None = None,
    found: Probe | None = None,
) -> Probe:
    """Ask about pairs ``rows`` (k, 2) of ``cores``.

    An ``axis`` (k, 3) that parts a pair clearly is believed under VERDICT and CONTACT; otherwise every query starts
    from the positions alone, so that no answer depends on what is remembered. Under VERDICT only ``meets`` and
    ``axis`` are filled, and under CONTACT the rest only of pairs that meet. ``found`` is room to write to.
    """
    count = len(rows)
    found = Probe.room(count) if found is None else found
    if axis is not None:
        found = replace(found, axis=axis)
    is_full = np.zeros(count, np.uint8)
    arrays = (
        found.axis, found.meets, found.depth, found.normal, found.first, found.second, found.iterations,
        found.overlaps, found.middle, is_full,
    )  # fmt: skip
    shares = ranges(count, thread_count)
    run(lambda part: _probe(cores, rows, wanted, *arrays, new_polytope(ROOMS[0]), *shares[part]), len(shares))
    for corner_count in ROOMS[1:]:
        again = np.flatnonzero(is_full).tolist()
        if again:
            polytope = new_polytope(corner_count)
            for row in again:
                _probe(cores, rows, wanted, *arrays, polytope, row, row + 1)
    return found


@part
def _parts(cores: Cores, one: Index, other: Index, axis: Floats, row: Index, gap: float) -> bool:
    """Whether the bodies lie more than ``gap`` apart, and clearly so, along a remembered axis."""
    direction = point_of(axis, row)
    size = dot(direction, direction)
    if not size > 0:
        return False
    points, spans, place, graph = cores
    a = support(points, spans, graph, one, (-direction[0], -direction[1], -direction[2]), spans[one, 0])
    b = support(points, spans, graph, other, direction, spans[other, 0])
    corner = add(subtract(point_of(points, a), point_of(points, b)), start_axis(place, one, other))
    return dot(corner, direction) / math.sqrt(size) > gap + SAFE_GAP * (length(corner) + gap)


@kernel
def _probe(
    cores: Cores,
    rows: Pairs,
    wanted: Index,
    axis: Floats,
    meets: NDArray[np.uint8],
    depth: Floats,
    normal: Floats,
    near_one: Floats,
    near_other: Floats,
    iterations: Rows,
    overlaps: NDArray[np.uint8],
    middle: Floats,
    is_full: NDArray[np.uint8],
    polytope: Polytope,
    first: Index,
    last: Index,
) -> None:
    """Fill the rows of pairs first … last − 1."""
    simplex = new_simplex()
    room = np.empty((PATCH_ROOM, 8))
    place = cores.place
    stops_early = wanted in (VERDICT, CONTACT)
    for pair in range(first, last):
        one, other = rows[pair, 0], rows[pair, 1]
        radius, other_radius = place[one, 3], place[other, 3]
        reach = radius + other_radius
        meets[pair] = overlaps[pair] = is_full[pair] = 0
        if stops_early and _parts(cores, one, other, axis, pair, reach):
            continue
        start = start_axis(place, one, other)
        verdict, steps, found, count = gjk_pair(cores, one, other, start, reach if stops_early else math.inf, simplex)
        iterations[pair, 0], iterations[pair, 1] = steps, 0
        apart = length(found) if verdict == APART else 0.0
        meets[pair] = verdict != BEYOND and apart <= reach
        if verdict in (BEYOND, APART):
            store(axis, pair, found)
        else:
            axis[pair, 0] = axis[pair, 1] = axis[pair, 2] = 0.0
        if wanted == VERDICT or verdict == BEYOND:
            continue
        if verdict == APART:
            toward, overlap = scaled(found, -1.0 / apart), -apart
            a, b = witnesses(cores, one, other, simplex, weights_of(simplex, count, found))
        elif wanted == DISTANCE:
            toward, overlap = (0.0, 0.0, 0.0), 0.0
            if verdict == INSIDE:
                a = b = common_point(cores, one, other, simplex)
            else:
                a, b = witnesses(cores, one, other, simplex, weights_of(simplex, count, found))
        else:
            outcome, steps, toward, overlap = epa_pair(cores, one, other, simplex, count, polytope)
            iterations[pair, 1] = steps
            is_full[pair] = outcome == FULL
            a, b = witnesses(cores, one, other, simplex, weights_of(simplex, 3, scaled(toward, overlap)))
        overlap += reach
        a, b = along(a, toward, radius), along(b, toward, -other_radius)
        depth[pair] = overlap
        store(normal, pair, toward)
        store(near_one, pair, a)
        store(near_other, pair, b)
        if wanted == CONTACT and overlap > SHALLOW * (overlap + length(subtract(b, point_of(place, other)))):
            overlaps[pair] = 1
            store(middle, pair, middle_of_patch(cores, one, other, toward, scaled(add(a, b), 0.5), room))
