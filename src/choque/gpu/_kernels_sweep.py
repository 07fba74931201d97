"""Kernels: projection on the axis, and the sweep by count, scan, fill. Apart, as Warp reads annotations on import."""
# mypy: ignore-errors
# ruff: noqa: RUF046, UP018 (Warp tells a variable from a constant by these calls)

from typing import Any

import warp as wp

from choque.gpu._overloads import overload

wp.set_module_options({"enable_backward": False, "fuse_fp": False})

SEGMENT = wp.constant(64)
"""How many candidates one item tests: a long interval is shared by many items, so it stalls nobody."""

SLABS = wp.constant(-1)
"""The rule by which volumes meet that are slabs; spheres have 1 where they are closed, 0 where half-open."""


@wp.kernel
def project_slabs(slabs: wp.array2d(dtype=Any), slab: int, intervals: wp.array2d(dtype=Any)):
    """One interval a body, (n, 2): its extent along the swept direction, which the slabs say."""
    body = wp.tid()
    intervals[body, 0] = slabs[body, slab]
    intervals[body, 1] = slabs[body, slabs.shape[1] // 2 + slab]


@wp.kernel
def find_ends(
    keys: wp.array(dtype=Any),
    order: wp.array(dtype=wp.int32),
    intervals: wp.array2d(dtype=Any),
    ends: wp.array(dtype=wp.int32),
    segments: wp.array(dtype=wp.int64),
):
    """One item a place in the order: the first place after it that starts beyond its end, by bisection."""
    place = wp.tid()
    end = intervals[order[place], 1]
    low = place + 1
    high = order.shape[0]
    while low < high:
        middle = low + (high - low) // 2
        if keys[middle] <= end:
            low = middle + 1
        else:
            high = middle
    ends[place] = low
    segments[place] = wp.int64((low - place - 1 + SEGMENT - 1) // SEGMENT)


@wp.func
def place_of(item: wp.int64, sums: wp.array(dtype=wp.int64)):
    """The place whose segments, ``sums`` up to each, hold the segment ``item``."""
    low = int(0)
    high = int(sums.shape[0] - 1)
    while low < high:
        middle = low + (high - low) // 2
        if sums[middle] > item:
            high = middle
        else:
            low = middle + 1
    return low


@wp.func
def segment_start(item: wp.int64, place: int, sums: wp.array(dtype=wp.int64)):
    """Where the candidates of a segment start in the order."""
    before = wp.int64(0)
    if place > 0:
        before = sums[place - 1]
    return place + 1 + int(item - before) * SEGMENT


@wp.func
def slabs_meet(slabs: wp.array2d(dtype=Any), one: int, two: int):
    """Whether two bodies meet along every direction."""
    half = slabs.shape[1] // 2
    meet = bool(True)
    for slab in range(half):
        if slabs[one, slab] > slabs[two, half + slab] or slabs[two, slab] > slabs[one, half + slab]:
            meet = False
    return meet


@wp.func
def spheres_meet(spheres: wp.array2d(dtype=Any), one: int, two: int, closed: int):
    """Whether two spheres meet, in float64, with the allowance that the processor's test makes for its rounding."""
    squared = wp.float64(0.0)
    for axis in range(3):
        offset = wp.float64(spheres[one, axis]) - wp.float64(spheres[two, axis])
        squared += offset * offset
    reach = wp.float64(spheres[one, 3]) + wp.float64(spheres[two, 3])
    limit = reach * reach
    meet = bool(False)
    if closed == 1:
        meet = squared <= limit * (wp.float64(1.0) + wp.float64(1.7763568394002505e-15))
    else:
        meet = squared < limit
    return meet or reach == wp.float64(wp.INF)


@wp.func
def volumes_meet(volumes: wp.array2d(dtype=Any), rule: int, one: int, two: int):
    """Whether two bodies meet: as slabs, or as spheres of either topology; the rule is one for all items."""
    meet = bool(False)
    if rule == SLABS:
        meet = slabs_meet(volumes, one, two)
    else:
        meet = spheres_meet(volumes, one, two, rule)
    return meet


@wp.func
def pack(one: int, two: int):
    """A pair as one whole number, the smaller row in the high half."""
    return (wp.uint64(wp.min(one, two)) << wp.uint64(32)) | wp.uint64(wp.max(one, two))


@wp.kernel
def count_pairs(
    order: wp.array(dtype=wp.int32),
    ends: wp.array(dtype=wp.int32),
    sums: wp.array(dtype=wp.int64),
    volumes: wp.array2d(dtype=Any),
    rule: int,
    counts: wp.array(dtype=wp.int64),
):
    """One item a segment: how many of its candidates meet."""
    item = wp.tid()
    place = place_of(wp.int64(item), sums)
    start = segment_start(wp.int64(item), place, sums)
    found = wp.int64(0)
    for other in range(start, wp.min(start + SEGMENT, ends[place])):
        if volumes_meet(volumes, rule, order[place], order[other]):
            found += wp.int64(1)
    counts[item] = found


@wp.kernel
def fill_pairs(
    order: wp.array(dtype=wp.int32),
    ends: wp.array(dtype=wp.int32),
    sums: wp.array(dtype=wp.int64),
    volumes: wp.array2d(dtype=Any),
    rule: int,
    places: wp.array(dtype=wp.int64),
    first: int,
    written: wp.int64,
    pairs: wp.array(dtype=wp.uint64),
):
    """One item a segment from ``first`` on: its pairs, to where the scanned counts say, less those ``written`` before.

    No item waits for another, so the order of the pairs does not depend on who is first.
    """
    item = first + wp.tid()
    place = place_of(wp.int64(item), sums)
    start = segment_start(wp.int64(item), place, sums)
    target = -written
    if item > 0:
        target += places[item - 1]
    for other in range(start, wp.min(start + SEGMENT, ends[place])):
        if volumes_meet(volumes, rule, order[place], order[other]):
            pairs[int(target)] = pack(order[place], order[other])
            target += wp.int64(1)


@wp.kernel
def project_spheres(
    spheres: wp.array2d(dtype=Any),
    direction: wp.array(dtype=Any),
    slack: wp.array(dtype=Any),
    intervals: wp.array2d(dtype=Any),
):
    """One interval a sphere, (n, 2), rounded outward: centre · direction ∓ radius · length.

    The length of the direction is its fourth number.
    """
    body = wp.tid()
    along = slack[0] - slack[0]
    size = slack[0] - slack[0]
    for axis in range(3):
        along += direction[axis] * spheres[body, axis]
        size += wp.abs(direction[axis] * spheres[body, axis])
    reach = spheres[body, 3] * direction[3]
    reach += slack[0] * (size + reach)
    intervals[body, 0] = along - reach
    intervals[body, 1] = along + reach


@wp.kernel
def sum_tests(ends: wp.array(dtype=wp.int32), tests: wp.array(dtype=wp.int64)):
    """How many candidates there are in all; a sum of whole numbers is the same in any order."""
    place = wp.tid()
    wp.atomic_add(tests, 0, wp.int64(ends[place] - place - 1))


overload(
    (wp.float32, wp.float64),
    project_slabs,
    project_spheres,
    find_ends,
    count_pairs,
    fill_pairs,
)
overload((wp.int32,), find_ends)  # of fixed-point keys
