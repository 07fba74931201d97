"""Sweep and prune in cells: the oracle's pairs, duplicates, and the axis of each cell."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from choque._core import threads
from choque.bounds import Boxes
from choque.broad import create
from choque.errors import InvalidInput
from choque.testing import oracle, scenes

EDGES = [(name, 60) for name in scenes.names() if name not in scenes.GENERATED]


def make(name: str, count: int, dimension: int = 3, dtype: Any = np.float64, seed: int = 0) -> Boxes:
    return scenes.make(name, dimension=dimension, dtype=np.dtype(dtype).name, count=count, seed=seed).boxes()


def pairs_of(boxes: Boxes, closed: bool = True) -> Any:
    return oracle.overlapping_pairs(boxes.lower, boxes.upper, closed=closed)


@pytest.mark.parametrize("cells", [None, 1, 3])
@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("thread_count", [1, 2])
def test_equals_the_oracle(monkeypatch, cells, dimension, dtype, closed, thread_count):
    monkeypatch.setattr(threads, "SERIAL_BELOW", 1)
    for name, count in (("mixed", 600), ("clustered", 400), ("aligned", 200), *(EDGES if thread_count == 1 else [])):
        boxes = make(name, count, dimension, dtype)
        sweep = create("multi-sap", boxes, closed=closed, threads=thread_count, cells=cells)
        np.testing.assert_array_equal(sweep.pairs(), pairs_of(boxes, closed))
        assert sweep.count() == len(pairs_of(boxes, closed))


@pytest.mark.parametrize("cells", [(1, 1, 1), (4, 1, 1), (2, 3, 5)])
def test_duplicates_are_the_pairs_met_in_further_cells(cells):
    boxes = make("mixed", 200)
    sweep = create("multi-sap", boxes, cells=cells)
    pairs = sweep.pairs()
    lowest, highest = boxes.lower.min(axis=0), boxes.lower.max(axis=0)
    number = np.array(cells)
    first, last = (
        np.clip(np.floor((corner - lowest) * (number / (highest - lowest))), 0, number - 1)
        for corner in (boxes.lower, boxes.upper)
    )
    i, j = pairs.T
    shared = np.minimum(last[i], last[j]) - np.maximum(first[i], first[j]) + 1
    assert sweep.counters.duplicates == shared.prod(axis=1).sum() - len(pairs)


def test_many_cells_test_less_than_one():
    boxes = make("mixed", 5000, 3, np.float32)
    one, many = create("multi-sap", boxes, cells=1), create("multi-sap", boxes)
    np.testing.assert_array_equal(one.pairs(), many.pairs())
    assert many.counters.tests < one.counters.tests / 4


def test_each_cell_is_swept_along_its_own_axis():
    """Two rods, one along x and one along y: whichever single axis were swept, all pairs of one rod would be tested."""
    count = 200
    along = np.arange(count) * 2.0
    lower = np.zeros((2 * count, 2))
    lower[:count, 0] = along
    lower[count:, 0], lower[count:, 1] = 1000.0, along
    boxes = Boxes(lower, lower + 1)
    alone, together = create("multi-sap", boxes, cells=(2, 1)), create("sap-direct", boxes, tiles=False)
    np.testing.assert_array_equal(alone.pairs(), together.pairs())
    assert alone.counters.tests < 10 * count
    assert together.counters.tests >= count * (count - 1) / 2


def test_the_number_of_threads_changes_nothing(monkeypatch):
    monkeypatch.setattr(threads, "SERIAL_BELOW", 1)
    boxes = make("mixed", 4000, 3, np.float32)
    one, three = (create("multi-sap", boxes, threads=count) for count in (1, 3))
    np.testing.assert_array_equal(one.pairs(), three.pairs())
    assert (one.counters.tests, one.counters.duplicates) == (three.counters.tests, three.counters.duplicates)


@pytest.mark.parametrize("share", [0.01, 1.0])
def test_giants_take_linear_memory(share):
    count = 4000
    boxes = make("mixed", count, 3, np.float32)
    giants = np.random.default_rng(0).random(count) < share
    lower, upper = np.array(boxes.lower), np.array(boxes.upper)
    lower[giants, 1:], upper[giants, 1:] = -1e30, 1e30
    upper[giants, 0] = lower[giants, 0]
    boxes = Boxes(lower, upper)
    sweep = create("multi-sap", boxes, cells=30)
    assert sweep.counters.peak_bytes < 400 * count + 16 * 30**3
    np.testing.assert_array_equal(sweep.pairs(), pairs_of(boxes))


@pytest.mark.parametrize("cells", [0, -1, 1.5, True, "2", (2, 2), (2, 2, 0), (2, 2, 2.0), (1, 2, 3, 4), 300])
def test_other_cells_are_refused(cells):
    with pytest.raises(InvalidInput, match="cells is"):
        create("multi-sap", make("mixed", 5), cells=cells)
