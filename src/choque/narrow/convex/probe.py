"""GJK, then EPA, over lists of pairs: the one kernel behind all that is asked about convex bodies."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import helper, kernel
from choque._core.threads import ranges, run
from choque._core.types import Floats, Index, Pairs, Rows
from choque._core.vector import add, along, dot, length, point_of, scaled, store, subtract
from choque.narrow.convex.cores import Cores, support
from choque.narrow.convex.epa import FULL, Polytope, epa_pair, new_polytope
from choque.narrow.convex.gjk import (
    APART,
    BEYOND,
    INSIDE,
    Simplex,
    common_point,
    gjk_pair,
    start_axis,
    weights_of,
    witnesses,
)
from choque.narrow.convex.patch import PATCH_ROOM, middle_of_patch

VERDICT, DISTANCE, CONTACT, DEPTH = range(4)
"""What is wanted: whether bodies meet; how far apart they are; how deep they overlap if they do; both of that."""

BLOCK = 64
"""Pairs go through the stages so many at a time. GJK, EPA and patches together are more code than a processor keeps at
hand: one after the other for each pair, a stage would find that the last one had pushed it out. The vertices of a block
stay in the cache meanwhile."""

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


@helper
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


class Block(NamedTuple):
    """What GJK leaves of the pairs of a block for whoever measures them."""

    verdict: Rows
    """(B,)."""
    corner_count: Rows
    """(B,) how many corners the simplex has."""
    found: NDArray[np.float64]
    """(B, 3) the axis that it ended with."""
    corners: NDArray[np.float64]
    """(B, 4, 3) the simplices."""
    rows: Rows
    """(B, 4, 2)."""


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
    """Fill the rows of pairs first … last − 1, a block at a time: first GJK, then EPA, then the middles of patches."""
    block = Block(
        np.empty(BLOCK, np.int64),
        np.empty(BLOCK, np.int64),
        np.empty((BLOCK, 3)),
        np.empty((BLOCK, 4, 3)),
        np.empty((BLOCK, 4, 2), np.int64),
    )
    room = np.empty((PATCH_ROOM, 8))
    for start in range(first, last, BLOCK):
        stop = min(start + BLOCK, last)
        _judge(cores, rows, wanted, axis, meets, iterations, block, start, stop)
        if wanted == VERDICT:
            continue
        _measure(
            cores, rows, wanted, depth, normal, near_one, near_other, iterations, overlaps, is_full,
            polytope, block, start, stop,
        )  # fmt: skip
        if wanted == CONTACT:
            _find_middles(cores, rows, normal, near_one, near_other, overlaps, middle, room, start, stop)


@helper
def _judge(
    cores: Cores,
    rows: Pairs,
    wanted: Index,
    axis: Floats,
    meets: NDArray[np.uint8],
    iterations: Rows,
    block: Block,
    start: Index,
    stop: Index,
) -> None:
    """Whether the pairs start … stop − 1 meet, by GJK."""
    place = cores.place
    verdicts, counts, founds, corners, corner_rows = block
    stops_early = wanted in (VERDICT, CONTACT)
    for pair in range(start, stop):
        slot = pair - start
        one, other = rows[pair, 0], rows[pair, 1]
        reach = place[one, 3] + place[other, 3]
        meets[pair] = 0
        verdicts[slot] = BEYOND
        if stops_early and _parts(cores, one, other, axis, pair, reach):
            continue
        between = start_axis(place, one, other)
        simplex = Simplex(corners[slot], corner_rows[slot])
        gap = reach if stops_early else math.inf
        verdict, steps, found, count = gjk_pair(cores, one, other, between, gap, simplex)
        iterations[pair, 0], iterations[pair, 1] = steps, 0
        meets[pair] = verdict != BEYOND and (verdict != APART or length(found) <= reach)
        if verdict in (BEYOND, APART):
            store(axis, pair, found)
        else:
            axis[pair, 0] = axis[pair, 1] = axis[pair, 2] = 0.0
        verdicts[slot], counts[slot] = verdict, count
        store(founds, slot, found)


@helper
def _measure(
    cores: Cores,
    rows: Pairs,
    wanted: Index,
    depth: Floats,
    normal: Floats,
    near_one: Floats,
    near_other: Floats,
    iterations: Rows,
    overlaps: NDArray[np.uint8],
    is_full: NDArray[np.uint8],
    polytope: Polytope,
    block: Block,
    start: Index,
    stop: Index,
) -> None:
    """How far apart the pairs start … stop − 1 are, or how deep they overlap, and where."""
    place = cores.place
    verdicts, counts, founds, corners, corner_rows = block
    for pair in range(start, stop):
        slot = pair - start
        overlaps[pair] = is_full[pair] = 0
        verdict = verdicts[slot]
        if verdict == BEYOND:
            continue
        one, other = rows[pair, 0], rows[pair, 1]
        radius, other_radius = place[one, 3], place[other, 3]
        simplex, count, found = Simplex(corners[slot], corner_rows[slot]), counts[slot], point_of(founds, slot)
        if verdict == APART:
            apart = length(found)
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
        overlap += radius + other_radius
        a, b = along(a, toward, radius), along(b, toward, -other_radius)
        depth[pair] = overlap
        store(normal, pair, toward)
        store(near_one, pair, a)
        store(near_other, pair, b)
        extent = length(subtract(b, point_of(place, other)))
        overlaps[pair] = wanted == CONTACT and overlap > SHALLOW * (overlap + extent)


@helper
def _find_middles(
    cores: Cores,
    rows: Pairs,
    normal: Floats,
    near_one: Floats,
    near_other: Floats,
    overlaps: NDArray[np.uint8],
    middle: Floats,
    room: Floats,
    start: Index,
    stop: Index,
) -> None:
    """The middle of the region in which those of the pairs start … stop − 1 that overlap face each other."""
    for pair in range(start, stop):
        if overlaps[pair]:
            between = scaled(add(point_of(near_one, pair), point_of(near_other, pair)), 0.5)
            found = middle_of_patch(cores, rows[pair, 0], rows[pair, 1], point_of(normal, pair), between, room)
            store(middle, pair, found)
