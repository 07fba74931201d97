"""What a set of boxes is like, from a sample: the coordinates at which `auto` looks up its table."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from choque._core.cells import CELLS_PER_BOX, FINE, WIDE
from choque._core.kernel import kernel
from choque._core.types import Floats, Index

MIN_SAMPLE, MAX_SAMPLE = 128, 2048
"""Boxes in a sample: about four times the root of their number, so that comparing all of them costs a few percent."""

PER_NEAR = 0.65
"""Tests that a grid takes for each pair near enough, as compared with the grid's own probe."""


class Survey(NamedTuple):
    """A set of boxes by its numbers."""

    box_count: int
    """Boxes."""
    grid_tests: float
    """Tests that a box would take in a grid of one level, about."""
    sweep_tests: float
    """Others that a box overlaps along the axis on which they are the fewest, were they spread evenly."""
    size_classes: int
    """Classes of largest edges, fourfold each, that the sample falls into."""
    moving: bool
    """Whether all of them have just moved; otherwise they are met for the first time."""
    passed: float
    """Ends of others that an end of a box has passed by moving, all axes together, were all spread evenly."""


def survey_boxes(records: Floats, previous: Floats | None = None) -> Survey:
    """Look at boxes ``records`` (n, 6), which were ``previous`` (n, 6) before they moved; infinite ones are left out.

    Guarantees: the same answer for the same boxes; every (n/s)-th box is looked at and compared with the others of the
    sample, O(n) time in all. Estimates, good to a quarter or so where boxes are crowded.
    """
    n, grid_tests, sweep_tests, size_classes, moving, passed = survey_numbers(
        records, records if previous is None else previous, sample_size(len(records)), previous is not None
    ).tolist()
    return Survey(int(n), grid_tests, sweep_tests, int(size_classes), bool(moving), passed)


def sample_size(count: int) -> int:
    """How many of ``count`` boxes are looked at."""
    return min(count, max(MIN_SAMPLE, min(MAX_SAMPLE, math.isqrt(16 * count))))


def ends_passed(previous: Floats, records: Floats) -> float:
    """`Survey.passed` alone, from the smallest sample: O(1) time."""
    return float(_passed(previous, records, min(len(records), MIN_SAMPLE)))


@kernel
def survey_numbers(records: Any, previous: Any, size: Index, moving: bool) -> Any:
    """The fields of a `Survey` as one array (6,)."""
    near, sweep, classes = _survey_sample(records, size)
    passed = _passed(previous, records, min(size, MIN_SAMPLE)) if moving else 0.0
    return np.array([records.shape[0], PER_NEAR * near, sweep, classes, np.float64(moving), passed], np.float64)


@kernel
def _survey_sample(records: Any, size: Index) -> tuple[float, float, int]:
    """The sample in columns, its extent and edges, and how many of its pairs a grid would compare."""
    lower = np.empty((3, size), np.float64)
    largest = np.empty(size, np.float64)
    low = np.full(3, np.inf)
    high = np.full(3, -np.inf)
    longest = np.zeros(3)
    total = np.zeros(3)
    count = records.shape[0]
    taken = 0
    for place in range(size):
        i = place * count // size
        largest[taken] = 0.0
        for axis in range(3):
            lower[axis, taken] = records[i, axis]
            largest[taken] = max(largest[taken], records[i, axis + 3] - lower[axis, taken])
        if not largest[taken] < np.inf:
            continue
        for axis in range(3):
            edge = records[i, axis + 3] - lower[axis, taken]
            low[axis] = min(low[axis], lower[axis, taken])
            high[axis] = max(high[axis], lower[axis, taken])
            longest[axis] = max(longest[axis], edge)
            total[axis] += edge
        taken += 1
    if taken < 2:
        return 0.0, 0.0, 1
    extent = high - low
    sweep = np.float64(count)
    for axis in range(3):
        if extent[axis] > 0.0:
            sweep = min(sweep, 2.0 * count * (total[axis] / taken) / extent[axis])
    reach = longest + 0.5 * _cell_edges(extent, longest, CELLS_PER_BOX * count + 64.0)
    near = _count_near(lower, reach, taken)
    return near * np.float64(count) / (taken * (taken - 1.0)), sweep, _count_classes(largest, taken)


@kernel
def _passed(previous: Any, records: Any, size: Index) -> float:
    """Of n boxes evenly along an axis, an end that moves by d against the others passes 2n d / extent of their ends."""
    count = records.shape[0]
    shifts = np.empty(size, np.float64)
    passed = 0.0
    for axis in range(3):
        low, high, total, taken = np.inf, -np.inf, 0.0, 0
        for place in range(size):
            i = place * count // size
            shift = np.float64(records[i, axis]) - np.float64(previous[i, axis])
            if not abs(shift) < np.inf:
                continue
            shifts[taken] = shift
            total += shift
            taken += 1
            low = min(low, np.float64(records[i, axis]))
            high = max(high, np.float64(records[i, axis]))
        if high > low:
            away = 0.0
            for place in range(taken):
                away += abs(shifts[place] - total / taken)
            passed += 2.0 * count * (away / taken) / (high - low)
    return passed


@kernel
def _cell_edges(extent: Any, longest: Any, budget: float) -> Any:
    """The cells that a grid would choose: a little larger than the largest box, or as large as the budget asks."""
    width = np.array([WIDE / FINE, WIDE, WIDE])
    low, high = 0.0, np.max(extent)
    if _cell_count(extent, longest * width) <= budget:
        return longest * width
    for _ in range(16):
        middle = np.sqrt(low * high) if low > 0.0 else high / 64.0
        if _cell_count(extent, np.maximum(longest, middle) * width) <= budget:
            high = middle
        else:
            low = middle
    return np.maximum(longest, high) * width


@kernel
def _cell_count(extent: Any, edges: Any) -> float:
    cells = 1.0
    for axis in range(3):
        if extent[axis] > 0.0:
            cells *= extent[axis] // edges[axis] + 1.0 if edges[axis] > 0.0 else np.inf
    return cells


@kernel
def _count_near(lower: Any, reach: Any, size: Index) -> int:
    """Pairs of the sample whose lower corners are within reach of each other on every axis."""
    x, y, z = lower[0], lower[1], lower[2]
    rx, ry, rz = reach[0], reach[1], reach[2]
    near = 0
    for i in range(size):
        xi, yi, zi = x[i], y[i], z[i]
        xs, ys, zs = x[i + 1 : size], y[i + 1 : size], z[i + 1 : size]
        for j in range(xs.size):
            near += (abs(xs[j] - xi) <= rx) & (abs(ys[j] - yi) <= ry) & (abs(zs[j] - zi) <= rz)
    return near


@kernel
def _count_classes(largest: Any, size: Index) -> int:
    """How many fourfold classes hold a box of the sample; what is a 4²⁴th of the largest or less is one class."""
    greatest = np.max(largest[:size])
    met = np.zeros(25, np.uint8)
    for i in range(size):
        place = 0
        bound = greatest * 0.25
        while largest[i] <= bound and place < 24:
            bound *= 0.25
            place += 1
        met[place] = 1
    return int(np.sum(met))
