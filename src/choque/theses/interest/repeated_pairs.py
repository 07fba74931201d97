"""Areas of interest as first published: every area against every volume, and a linear search for each pair found.

Kept to examine the printed figures, whose times grow as the square of the number of pairs for this reason alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import kernel
from choque._core.types import Keys


def distinct_by_scan(keys: Keys) -> Keys:
    """The distinct ``keys`` in the order of their first appearance, each searched among those before it. O(m²)."""
    distinct = np.empty_like(keys)
    return distinct[: _scan(keys, distinct)]


@kernel
def emit_all(
    first: int,
    last: int,
    chunk: Keys,
    areas: Any,
    records: Any,
    has_area: NDArray[np.bool_],
    centers: NDArray[np.float64],
    radius: NDArray[np.float64],
    area_radius: NDArray[np.float64],
) -> tuple[int, int, int]:
    """Emission kernel; a unit is an area, tested against all volumes. By spheres if there are any, else by boxes."""
    count = records.shape[0]
    written = 0
    tests = 0
    for i in range(first, last):
        if not has_area[i]:
            continue
        if written + count > chunk.size:
            return i, written, tests
        tests += count - 1
        for j in range(count):
            meet = True
            for axis in range(3):
                meet &= areas[i, axis] <= records[j, axis + 3] and records[j, axis] <= areas[i, axis + 3]
            if meet and centers.shape[0] > 0:
                squared = 0.0
                for axis in range(centers.shape[1]):
                    squared += (centers[i, axis] - centers[j, axis]) ** 2
                meet = squared <= (area_radius[i] + radius[j]) ** 2 * (1 + 2.0**-49)
            if meet and i != j:
                chunk[written] = (np.uint64(min(i, j)) << np.uint64(32)) | np.uint64(max(i, j))
                written += 1
    return last, written, tests


@kernel
def emit_keys(first: int, last: int, chunk: Keys, keys: Keys) -> tuple[int, int, int]:
    """Emission kernel; a unit is a key, handed on as it is."""
    count = min(last - first, chunk.size)
    for k in range(count):
        chunk[k] = keys[first + k]
    return first + count, count, 0


@kernel
def _scan(keys: Keys, distinct: Keys) -> int:
    count = 0
    for k in range(keys.size):
        place = 0
        while place < count and distinct[place] != keys[k]:
            place += 1
        if place == count:
            distinct[count] = keys[k]
            count += 1
    return count
