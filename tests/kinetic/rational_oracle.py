"""The truth about moving boxes, in exact rationals: order changes, events, and overlapping pairs at any time.

Independent of the package: every pair of end points and every pair of bodies is solved on its own.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import NDArray


class Scene:
    """Boxes of constant velocity; numbers are taken as the rationals that the floats are."""

    def __init__(
        self, lower: NDArray[np.float64], upper: NDArray[np.float64], velocity: NDArray[np.float64], closed: bool
    ) -> None:
        self.lower, self.upper, self.velocity = (_rational(array) for array in (lower, upper, velocity))
        self.closed = closed
        self.axes = range(lower.shape[1])
        self.bodies = range(len(lower))

    def overlap(self, a: int, b: int, time: Fraction) -> bool:
        """Whether two boxes overlap at the instant ``time``."""
        for axis in self.axes:
            shift_a, shift_b = self.velocity[a][axis] * time, self.velocity[b][axis] * time
            first = self.lower[a][axis] + shift_a, self.upper[b][axis] + shift_b
            second = self.lower[b][axis] + shift_b, self.upper[a][axis] + shift_a
            for low, high in (first, second):
                if not (low <= high if self.closed else low < high):
                    return False
        return True

    def pairs(self, time: Fraction) -> list[list[int]]:
        """All pairs that overlap at the instant ``time``, sorted."""
        return [[a, b] for a, b in combinations(self.bodies, 2) if self.overlap(a, b, time)]

    def span(self, a: int, b: int) -> tuple[Fraction | None, Fraction | None, bool] | None:
        """When two boxes overlap: (from, to, whether both ends are open), None for without bound; None if never."""
        begin: Fraction | None = None
        end: Fraction | None = None
        for axis in self.axes:
            slope = self.velocity[a][axis] - self.velocity[b][axis]
            # upper_a − lower_b + slope·t ≥ 0 and upper_b − lower_a − slope·t ≥ 0
            for room, rate in (
                (self.upper[a][axis] - self.lower[b][axis], slope),
                (self.upper[b][axis] - self.lower[a][axis], -slope),
            ):
                if rate == 0:
                    if room < 0 or (room == 0 and not self.closed):
                        return None
                elif rate > 0:
                    begin = -room / rate if begin is None else max(begin, -room / rate)
                else:
                    end = -room / rate if end is None else min(end, -room / rate)
        if begin is not None and end is not None and (begin > end or (begin == end and not self.closed)):
            return None
        return begin, end, not self.closed

    def events(self, until: Fraction) -> list[tuple[Fraction, tuple[int, int], int]]:
        """(time, pair, 0 for began and 1 for ended) from time 0 to ``until``, both included, sorted."""
        found = []
        for a, b in combinations(self.bodies, 2):
            span = self.span(a, b)
            if span is None:
                continue
            begin, end, _ = span
            if end is not None and (end < 0 or (end == 0 and not self.closed)):
                continue
            starts_later = begin is not None and (begin > 0 or (begin == 0 and not self.closed))
            if starts_later and begin <= until:
                found.append((begin, (a, b), 0))
            if end is not None and end <= until:
                found.append((end, (a, b), 1))
        return sorted(found)

    def exchanges(self, until: Fraction) -> tuple[int, int]:
        """How many pairs of ends change their order from 0 to just after ``until``, and at how many (axis, time)."""
        count, instants = 0, set()
        for axis in self.axes:
            ends = []
            for body in self.bodies:
                for side, corner in enumerate((self.lower, self.upper)):
                    rank = side if self.closed else 1 - side
                    ends.append((corner[body][axis], rank, self.velocity[body][axis]))
            for first, second in combinations(ends, 2):
                left, right = min(first, second), max(first, second)
                closing = left[2] - right[2]
                if closing > 0:
                    time = (right[0] - left[0]) / closing
                    if time <= until:
                        count += 1
                        instants.add((axis, time))
        return count, len(instants)


def accelerated_exchanges(
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    velocity: NDArray[np.float64],
    acceleration: NDArray[np.float64],
    until: Fraction,
) -> int:
    """How many times pairs of end points of closed boxes change their order; ``until`` must be no meeting."""
    low, high, speed, push = (_rational(array) for array in (lower, upper, velocity, acceleration))
    count = 0
    for axis in range(lower.shape[1]):
        ends = [
            (corner[body][axis], side, speed[body][axis], push[body][axis] / 2)
            for body in range(len(lower))
            for side, corner in enumerate((low, high))
        ]
        for first, second in combinations(ends, 2):
            left, right = min(first, second), max(first, second)
            gap, slope, curve = right[0] - left[0], right[2] - left[2], right[3] - left[3]
            count += gap == 0 and (slope, curve) < (0, 0)  # one place now, and apart the wrong way
            count += sum(_lies_in(gap, slope, curve, which, until) for which in _crossings(gap, slope, curve))
    return count


def _crossings(gap: Fraction, slope: Fraction, curve: Fraction) -> tuple[int, ...]:
    """Which roots of gap + slope·t + curve·t² are crossings: 0, of a line; −1 and 1, the smaller and the larger."""
    if curve == 0:
        return (0,) if slope != 0 else ()
    return (-1, 1) if slope * slope > 4 * curve * gap else ()


def _lies_in(gap: Fraction, slope: Fraction, curve: Fraction, which: int, until: Fraction) -> bool:
    """Whether a root lies after 0 and not after ``until``, without computing it."""
    return _is_after(gap, slope, curve, which, Fraction(0)) and not _is_after(gap, slope, curve, which, until)


def _is_after(gap: Fraction, slope: Fraction, curve: Fraction, which: int, time: Fraction) -> bool:
    if which == 0:
        return -gap / slope > time
    value, middle = gap + (slope + curve * time) * time, -slope / (2 * curve)
    outside = value * curve > 0
    if which < 0:
        return outside and time < middle
    return time <= middle if outside else value != 0 or time < middle


def _rational(array: NDArray[np.float64]) -> list[list[Fraction]]:
    return [[Fraction(float(value)) for value in row] for row in array]


def random_scene(seed: int, *, count: int, dimension: int, grid: bool) -> tuple[NDArray[np.float64], ...]:
    """(lower, upper, velocity): on a grid, where ends coincide, meet many at once and rest together; or anywhere."""
    random = np.random.default_rng(seed)
    shape = (count, dimension)
    if grid:
        lower = random.integers(-8, 8, shape).astype(np.float64)
        size = random.integers(0, 4, shape).astype(np.float64)
        velocity = random.integers(-3, 4, shape).astype(np.float64)
        return lower, lower + size, velocity
    lower = random.normal(size=shape) * 4
    return lower, lower + random.random(shape) * random.choice([0.0, 1.0, 3.0], (count, 1)), random.normal(size=shape)
