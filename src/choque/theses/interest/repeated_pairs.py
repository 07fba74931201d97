"""Areas of interest as the thesis first published them: every area against every body, and a search for each pair.

It explains the printed times, which grow as the square of the number of pairs for this reason only.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque._core.emission import Sink
from choque._core.kernel import kernel
from choque._core.pair_keys import ordered_key
from choque._core.types import Keys
from choque.interest.broad_phase import Interest


class ScannedInterest(Interest):
    """`Interest` in quadratic time: every area is tested against every body, every pair searched among those before it.

    The options and the pairs are those of `Interest`.
    """

    name: ClassVar[str] = "interest-scan"

    def build(self) -> None:
        """Make the areas."""
        self.make_areas()

    def emit(self, sink: Sink) -> None:
        """Write the distinct pairs in the order in which they were found."""
        spheres = SphereAreas(np.empty((0, 3)), np.empty(0), np.empty(0))
        if self.spheres is not None:
            spheres = SphereAreas(self.spheres.center, self.spheres.radius, self.sphere_reach())
        raw = Sink(len(self), 1, None)
        raw.run(_emit_all, len(self), self.areas, self.volumes, self.has_area, spheres)
        keys = np.concatenate([np.empty(0, np.uint64), *raw.chunks])
        distinct = distinct_by_scan(keys)
        self.counters.duplicates += len(keys) - len(distinct)
        sink.tests += raw.tests
        sink.run(_emit_keys, len(distinct), distinct)


class SphereAreas(NamedTuple):
    """Bodies and areas that are spheres; empty if they are boxes."""

    center: NDArray[np.floating[Any]]
    radius: NDArray[np.floating[Any]]
    area_radius: NDArray[np.floating[Any]]


def distinct_by_scan(keys: Keys) -> Keys:
    """Return the distinct ``keys`` in the order of their first appearance, each searched among those before. O(m²)."""
    distinct = np.empty_like(keys)
    return distinct[: _scan(keys, distinct)]


@kernel
def _emit_all(
    first: int,
    last: int,
    chunk: Keys,
    areas: Any,
    records: Any,
    has_area: NDArray[np.bool_],
    spheres: SphereAreas,
) -> tuple[int, int, int]:
    """Emission kernel; a unit is an area, tested against all bodies, by spheres if there are any, else by boxes."""
    centers, radius, area_radius = spheres
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
                chunk[written] = ordered_key(i, j)
                written += 1
    return last, written, tests


@kernel
def _emit_keys(first: int, last: int, chunk: Keys, keys: Keys) -> tuple[int, int, int]:
    """Emission kernel; a unit is a key, copied."""
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
