"""Areas of interest as the thesis has them: every area against every body, which meets most pairs twice.

Two ways to discard the second: sorted, as everything in Choque, and by a search among the pairs before it, which alone
explains the printed times.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque._core.emission import Sink
from choque._core.kernel import kernel
from choque._core.pair_keys import ordered_key
from choque._core.types import Keys
from choque.theses.interest.broad_phase import Interest


class ExhaustiveInterest(Interest):
    """`Interest` by the algorithm of the thesis: every area against every body, repeated pairs sorted out.

    The options and the pairs are those of `Interest`. n (n − 1) tests where all bodies move, O(n + m) memory.
    """

    name: ClassVar[str] = "interest-exhaustive"

    def build(self) -> None:
        """Make the areas."""
        self.make_areas()

    def emit(self, sink: Sink) -> None:
        """Write the distinct pairs."""
        spheres = SphereAreas(np.empty((0, 3)), np.empty(0), np.empty(0))
        if self.spheres is not None:
            spheres = SphereAreas(self.spheres.center, self.spheres.radius, self.sphere_reach())
        raw = Sink(len(self), 1, None)
        raw.run(_emit_all, len(self), self.areas, self.volumes, self.has_area, spheres)
        keys = np.concatenate([np.empty(0, np.uint64), *raw.chunks])
        distinct = self.distinct(keys)
        self.counters.duplicates += len(keys) - len(distinct)
        sink.tests += raw.tests
        sink.run(_emit_keys, len(distinct), distinct)

    def distinct(self, keys: Keys) -> Keys:
        """Return each of the ``keys`` once."""
        return np.unique(keys)


class ScannedInterest(ExhaustiveInterest):
    """`ExhaustiveInterest` that searches every pair among those before it, in the square of their number."""

    name: ClassVar[str] = "interest-scan"

    def distinct(self, keys: Keys) -> Keys:
        """Return each of the ``keys`` once, in the order in which they were found."""
        return distinct_by_scan(keys)


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
    first: int, last: int, chunk: Keys, areas: Any, records: Any, has_area: NDArray[np.bool_], spheres: SphereAreas
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
