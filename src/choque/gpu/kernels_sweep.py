"""Warp kernels of the sweep: project, then count, scan, fill. Imported on use, because importing Warp takes seconds."""
# mypy: ignore-errors
# ruff: noqa: RUF046, UP018 (Warp tells a variable from a constant by these calls)

from typing import Any

import warp as wp

from choque.gpu.session import overload

wp.set_module_options({"enable_backward": False, "fuse_fp": False})

SEGMENT = wp.constant(64)  # candidates that one work item tests: a long interval is shared by many items
SLABS = wp.constant(-1)  # the rule for slabs; for spheres it is 1 if they are closed and 0 if half-open


@wp.kernel
def project_slabs(slabs: wp.array2d(dtype=Any), slab: int, intervals: wp.array2d(dtype=Any)):
    """Copy the extent of each body along the swept direction, one item a body: (n, 2)."""
    body = wp.tid()
    intervals[body, 0] = slabs[body, slab]
    intervals[body, 1] = slabs[body, slabs.shape[1] // 2 + slab]


@wp.kernel
def copy_keys(intervals: wp.array2d(dtype=Any), keys: wp.array(dtype=Any), order: wp.array(dtype=wp.int32)):
    """Write the start of each interval as its key, and the row; -0 becomes 0, since the sort compares bits."""
    body = wp.tid()
    start = intervals[body, 0]
    keys[body] = start + type(start)(0.0)
    order[body] = body


@wp.kernel
def find_ends(
    keys: wp.array(dtype=Any),
    order: wp.array(dtype=wp.int32),
    intervals: wp.array2d(dtype=Any),
    ends: wp.array(dtype=wp.int32),
    segments: wp.array(dtype=wp.int64),
):
    """Find the first place in the order that starts beyond the end of each interval, by bisection; one item a place."""
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
    """Return the place that segment ``item`` belongs to; ``sums`` are the segments up to and including each place."""
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
    """Return where the candidates of a segment start in the order."""
    before = wp.int64(0)
    if place > 0:
        before = sums[place - 1]
    return place + 1 + int(item - before) * SEGMENT


@wp.func
def slabs_meet(slabs: wp.array2d(dtype=Any), one: int, two: int):
    """Return whether two bodies overlap along every direction."""
    half = slabs.shape[1] // 2
    meet = bool(True)
    for slab in range(half):
        if slabs[one, slab] > slabs[two, half + slab] or slabs[two, slab] > slabs[one, half + slab]:
            meet = False
    return meet


@wp.func
def spheres_meet(spheres: wp.array2d(dtype=Any), one: int, two: int, closed: int):
    """Return whether two spheres overlap, in float64, with the tolerance for rounding of `choque.bounds.Spheres`."""
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
    """Return whether two bodies overlap: slabs, or spheres of either topology. All items have the same rule."""
    meet = bool(False)
    if rule == SLABS:
        meet = slabs_meet(volumes, one, two)
    else:
        meet = spheres_meet(volumes, one, two, rule)
    return meet


@wp.func
def pack(one: int, two: int):
    """Pack a pair into one whole number, the smaller row in the high half."""
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
    """Count the candidates of each segment that overlap; one item a segment."""
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
    """Write the pairs of each segment from ``first`` on to the place that the scanned counts give; one item a segment.

    ``written`` pairs of earlier batches are subtracted. No item waits for another, so the order of the pairs does not
    depend on timing.
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
def sum_tests(ends: wp.array(dtype=wp.int32), tests: wp.array(dtype=wp.int64)):
    """Sum the numbers of candidates; integers give the same sum in any order."""
    place = wp.tid()
    wp.atomic_add(tests, 0, wp.int64(ends[place] - place - 1))


overload((wp.float32, wp.float64), project_slabs, copy_keys, find_ends, count_pairs, fill_pairs)
overload((wp.int32,), find_ends)  # of fixed-point keys
