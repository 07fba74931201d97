"""Cells of a regular division of space, chosen for points and a reach, and which of them a coordinate is in."""

from __future__ import annotations

from typing import Any

import numpy as np

from choque._core import memory, threads
from choque._core.kernel import kernel
from choque._core.pair_keys import pair_key
from choque._core.sort import radix_sort
from choque._core.types import F64, I64, Integer, Keys

MAX_CELLS_ALONG = 1 << 20
CELLS_PER_POINT = 2.0
CELLS_PER_REACH = 4  # cells along x in one reach: finer cells make runs fit more tightly
MIN_CELLS_PER_REACH = 0.6  # with fewer cells along y in one reach, cells for most of the points are tried


def choose_frame(place: F64, reach: float) -> tuple[F64, I64, F64]:
    """Return lowest corner and cells per unit of length, (2, 3), cells along each axis, and the extent of all points.

    Cells are one ``reach`` wide, finer along x, or wider where they would be many more than points. Where few points
    far away would make them large, they are made for the others: those outside belong to the outermost cells, which
    searches respect because they clamp cells in the same way.
    """
    if not len(place):
        return np.stack((np.zeros(3), np.ones(3))), np.ones(3, np.int64), np.zeros(3)
    low, high = extent_of(place)
    extent = high - low
    shape, per_unit = _choose_cells(extent, reach, len(place))
    if per_unit[1] * reach < MIN_CELLS_PER_REACH:
        sample = place[:: max(1, len(place) // 10_000)]
        start, end = np.quantile(sample, (0.01, 0.99), axis=0)
        bulk_shape, bulk_per_unit = _choose_cells(end - start, reach, len(place))
        if (bulk_per_unit > 2 * per_unit).any():
            low, shape, per_unit = start, bulk_shape, bulk_per_unit
    return np.stack((low, per_unit)), shape, extent


def _choose_cells(extent: F64, reach: float, count: int) -> tuple[I64, F64]:
    width = np.array([reach / CELLS_PER_REACH, reach, reach])
    while True:
        shape = np.minimum(extent / width, MAX_CELLS_ALONG - 1).astype(np.int64) + 1
        if shape.astype(np.float64).prod() <= CELLS_PER_POINT * count + 64:
            break
        width *= 1.2
    return shape, np.minimum(1 / width, (MAX_CELLS_ALONG - 1) / np.maximum(extent, 1e-300))


def sort_into_cells(place: F64, frame: F64, shape: I64, thread_count: int) -> Keys:
    """Return keys (n,) of (cell, point), sorted; cells are numbered along x, then y, then z. O(n)."""
    keys: Keys = memory.empty(len(place), np.uint64)
    threads.over_ranges(_number_points, len(place), thread_count, place, frame, shape, keys)
    return radix_sort(keys, 32, max(1, int(shape.prod()).bit_length()), thread_count)


def extent_of(points: F64) -> F64:
    """Return the lowest and the highest corner, (2, 3), of points (n, 3)."""
    corners = np.array([[np.inf] * 3, [-np.inf] * 3])
    _extent(points, corners)
    return corners


@kernel
def cell_along(value: float, origin: float, per_unit: float, cells: int) -> Integer:
    """Return the cell of ``value`` on one axis: monotone in it, which is all that correctness rests on."""
    position = (value - origin) * per_unit
    return np.int64(max(0.0, min(position, cells - 1.0)))


@kernel
def _number_points(first: int, last: int, place: Any, frame: Any, shape: Any, keys: Any) -> None:
    for k in range(first, last):
        cell = np.int64(0)
        for axis in range(2, -1, -1):
            cell = cell * shape[axis] + cell_along(place[k, axis], frame[0, axis], frame[1, axis], shape[axis])
        keys[k] = pair_key(cell, k)


@kernel
def _extent(points: Any, corners: Any) -> None:
    for axis in range(3):
        low, high = corners[0, axis], corners[1, axis]
        for i in range(points.shape[0]):
            low, high = min(low, points[i, axis]), max(high, points[i, axis])
        corners[0, axis], corners[1, axis] = low, high
