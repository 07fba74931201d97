"""The order of boxes along a Z-order curve: neighbours on the curve are near in space.

Each of the 32 bits of a code goes to the axis whose cells are longest so far, so that no bits are spent on an axis
along which a scene has no extent. Morton, "A computer oriented geodetic data base", 1966; the
use for trees: Lauterbach et al., "Fast BVH construction on GPUs", 2009.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from choque._core import memory, threads
from choque._core.kernel import helper, kernel
from choque._core.pair_keys import pair_key
from choque._core.sort import rows_by_key
from choque._core.types import F64, U32, Floats, Keys

BITS = 32
_TABLE_BITS = 11
_TABLE_MASK = (1 << _TABLE_BITS) - 1


def morton_order(records: Floats, thread_count: int) -> U32:
    """Return the rows of ``records`` in the order of their centres along the curve; equal codes by row."""
    extremes = np.array(threads.over_ranges(_centre_extremes, len(records), thread_count, records))
    lowest, highest = extremes[:, :3].min(axis=0), extremes[:, 3:].max(axis=0)
    extents = [max(0.0, high - low) for low, high in zip(lowest.tolist(), highest.tolist(), strict=True)]
    sequence = _axis_sequence(*extents)
    tables = _spread_tables(sequence)
    bits = [sequence.count(axis) for axis in range(3)]
    scale = np.array([2.0**b / e if 0 < e < math.inf else 0.0 for b, e in zip(bits, extents, strict=True)])
    scale = np.minimum(scale, np.finfo(np.float64).max)
    limits = np.array([2.0**b - 1 for b in bits])
    keys: Keys = memory.empty(len(records), np.uint64)
    threads.over_ranges(_encode, len(records), thread_count, records, lowest, scale, limits, tables, keys)
    return rows_by_key(keys, BITS, thread_count)


def _axis_sequence(*extents: float) -> tuple[int, ...]:
    """Return the axis of each bit of a code, the highest bit first."""
    cells = [extent if extent < math.inf else 0.0 for extent in extents]
    sequence = []
    for _ in range(BITS):
        axis = max(range(3), key=cells.__getitem__)
        sequence.append(axis)
        cells[axis] /= 2
    return tuple(sequence)


@lru_cache(maxsize=8)
def _spread_tables(sequence: tuple[int, ...]) -> U32:
    """Return tables (3, 3, 2048): the code bits of the low, middle and high 11 bits of a coordinate on each axis."""
    tables = np.zeros((3, 3, 1 << _TABLE_BITS), np.uint32)
    values = np.arange(1 << _TABLE_BITS, dtype=np.uint32)
    for axis in range(3):
        places = [BITS - 1 - k for k, a in enumerate(sequence) if a == axis][::-1]  # of bit 0, bit 1, …
        for bit, place in enumerate(places):
            part, shift = divmod(bit, _TABLE_BITS)
            tables[axis, part] |= ((values >> np.uint32(shift)) & np.uint32(1)) << np.uint32(place)
    return tables


@helper
def _centre(low: float, high: float) -> float:
    """Return the middle of an interval; 0 if it is infinite on both sides."""
    middle = 0.5 * np.float64(low) + 0.5 * np.float64(high)
    return middle if middle == middle else 0.0


@kernel
def _centre_extremes(first: int, last: int, records: Any) -> tuple[float, float, float, float, float, float]:
    a, b, c = np.inf, np.inf, np.inf
    d, e, f = -np.inf, -np.inf, -np.inf
    for i in range(first, last):
        x = _centre(records[i, 0], records[i, 3])
        y = _centre(records[i, 1], records[i, 4])
        z = _centre(records[i, 2], records[i, 5])
        if abs(x) < np.inf:
            a, d = min(a, x), max(d, x)
        if abs(y) < np.inf:
            b, e = min(b, y), max(e, y)
        if abs(z) < np.inf:
            c, f = min(c, z), max(f, z)
    return a, b, c, d, e, f


@kernel
def _encode(first: int, last: int, records: Any, lowest: F64, scale: F64, limits: F64, tables: U32, keys: Keys) -> None:
    for i in range(first, last):
        code = np.uint32(0)
        for axis in range(3):
            centre = _centre(records[i, axis], records[i, axis + 3])
            place = (centre - lowest[axis]) * scale[axis]
            if not place > 0.0:  # also for NaN: infinity times a scale of 0
                place = 0.0
            bits = np.int64(min(place, limits[axis]))
            code |= tables[axis, 0, bits & _TABLE_MASK]
            code |= tables[axis, 1, (bits >> _TABLE_BITS) & _TABLE_MASK]
            code |= tables[axis, 2, bits >> 2 * _TABLE_BITS]
        keys[i] = pair_key(code, i)
