"""Kernels: the decimal radix sort of the thesis, step by step, and a bitonic sort. Apart, as Warp reads annotations."""
# mypy: ignore-errors
# ruff: noqa: RUF046, UP018 (Warp tells a variable from a constant by these calls)

from typing import Any

import warp as wp

from choque.gpu._overloads import overload

wp.set_module_options({"enable_backward": False, "fuse_fp": False})


@wp.kernel
def copy_keys(intervals: wp.array2d(dtype=Any), keys: wp.array(dtype=Any), order: wp.array(dtype=wp.int32)):
    """The start of each interval as its key, and the rows in their own order; -0 is 0, as everywhere but in bits."""
    body = wp.tid()
    start = intervals[body, 0]
    keys[body] = start + type(start)(0.0)
    order[body] = body


@wp.kernel
def gather_keys(intervals: wp.array2d(dtype=Any), order: wp.array(dtype=wp.int32), keys: wp.array(dtype=Any)):
    """The keys in the order of the rows."""
    place = wp.tid()
    keys[place] = intervals[order[place], 0]


@wp.kernel
def quantise(
    intervals: wp.array2d(dtype=Any),
    per_unit: wp.float64,
    most: wp.float64,
    fixed: wp.array2d(dtype=wp.int32),
    too_large: wp.array(dtype=wp.int32),
):
    """Whole numbers of ten-thousandths, rounded down, so that their order is never the reverse.

    A millionth of one is added first: floats lie up to that beside the decimal numbers that are meant. ``too_large``
    gets the last row that is beyond ``most``.
    """
    body, side = wp.tid()
    scaled = wp.floor(wp.float64(intervals[body, side]) * per_unit + wp.float64(1e-6))
    if scaled > most or scaled < -most:
        wp.atomic_max(too_large, 0, body)
    else:
        fixed[body, side] = wp.int32(scaled)


@wp.func
def bin_of(key: wp.int32, weight: wp.int32):
    """The decimal digit of weight ``weight`` of |key|; with weight 0 the sign: 0 for negative, 1 for the others."""
    if weight == 0:
        if key < 0:
            return 0
        return 1
    return int((wp.abs(key) / weight) % 10)


@wp.kernel
def count_bins(
    fixed: wp.array2d(dtype=wp.int32),
    order: wp.array(dtype=wp.int32),
    weight: wp.int32,
    chunk: int,
    table: wp.array2d(dtype=wp.int32),
):
    """COUNT: one item a chunk of elements, each with a histogram of its own in a row of ``table``."""
    item = wp.tid()
    for digit in range(table.shape[1]):
        table[item, digit] = 0
    for place in range(item * chunk, wp.min((item + 1) * chunk, order.shape[0])):
        digit = bin_of(fixed[order[place], 0], weight)
        table[item, digit] = table[item, digit] + 1


@wp.kernel
def scan_bins(source: wp.array2d(dtype=wp.int32), step: int, target: wp.array2d(dtype=wp.int32)):
    """SCAN: one step of a prefix sum over the rows by doubling, for every digit apart."""
    item, digit = wp.tid()
    total = source[item, digit]
    if item >= step:
        total += source[item - step, digit]
    target[item, digit] = total


@wp.kernel
def reorder_digits(
    fixed: wp.array2d(dtype=wp.int32),
    order: wp.array(dtype=wp.int32),
    weight: wp.int32,
    chunk: int,
    totals: wp.array(dtype=wp.int32),
    table: wp.array2d(dtype=wp.int32),
    target: wp.array(dtype=wp.int32),
):
    """REORDER: each chunk, last to first, to where the scanned counts say; equal digits keep their order.

    ``totals`` are the elements of each digit, the last row of the scanned table.
    """
    item = wp.tid()
    place = wp.min((item + 1) * chunk, order.shape[0]) - 1
    while place >= item * chunk:
        digit = bin_of(fixed[order[place], 0], weight)
        start = int(0)
        for lower in range(digit):
            start += totals[lower]
        rank = table[item, digit]
        table[item, digit] = rank - 1
        target[start + rank - 1] = order[place]
        place -= 1


@wp.kernel
def reorder_signs(
    fixed: wp.array2d(dtype=wp.int32),
    order: wp.array(dtype=wp.int32),
    chunk: int,
    totals: wp.array(dtype=wp.int32),
    table: wp.array2d(dtype=wp.int32),
    target: wp.array(dtype=wp.int32),
):
    """The sign pass: those that are not negative in their order, after the negative ones in the reverse of theirs."""
    item = wp.tid()
    place = wp.min((item + 1) * chunk, order.shape[0]) - 1
    while place >= item * chunk:
        digit = bin_of(fixed[order[place], 0], wp.int32(0))
        rank = table[item, digit]
        table[item, digit] = rank - 1
        if digit == 1:
            target[totals[0] + rank - 1] = order[place]
        else:
            target[totals[0] - rank] = order[place]
        place -= 1


@wp.kernel
def exchange_pairs(keys: wp.array(dtype=Any), order: wp.array(dtype=wp.int32), run: int, distance: int):
    """One step of a bitonic network: places that differ in the bit ``distance``, ascending where ``run`` is not set."""
    place = wp.tid()
    partner = place ^ distance
    if partner > place:
        is_after = keys[place] > keys[partner] or (keys[place] == keys[partner] and order[place] > order[partner])
        if is_after == ((place & run) == 0):
            key = keys[place]
            keys[place] = keys[partner]
            keys[partner] = key
            row = order[place]
            order[place] = order[partner]
            order[partner] = row


@wp.kernel
def pad_keys(keys: wp.array(dtype=Any), order: wp.array(dtype=wp.int32), count: int, last: wp.array(dtype=Any)):
    """Fill the places from ``count`` on with keys that come after all others."""
    place = count + wp.tid()
    keys[place] = last[0]
    order[place] = place


overload((wp.float32, wp.float64), copy_keys, gather_keys, quantise, exchange_pairs, pad_keys)
overload((wp.int32,), gather_keys)  # of fixed-point keys
