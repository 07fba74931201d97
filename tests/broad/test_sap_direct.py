"""Sweep and prune from nothing: the oracle's pairs, threads, chunks and tiles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from choque._core import threads
from choque.bounds import Boxes
from choque.broad import create
from choque.broad.sweep_order import RADIX_FROM, order_of, repair_order, widest_axis
from choque.errors import InvalidInput
from choque.testing import oracle, scenes


def make(name: str, count: int, dimension: int = 3, dtype: Any = np.float64, seed: int = 0) -> Boxes:
    return scenes.make(name, dimension=dimension, dtype=np.dtype(dtype).name, count=count, seed=seed).boxes()


def pairs_of(boxes: Boxes, closed: bool = True) -> Any:
    return oracle.overlapping_pairs(boxes.lower, boxes.upper, closed=closed)


EDGES = [(name, 60) for name in scenes.names() if name not in scenes.GENERATED]
OPTIONS = [{}, {"tiles": True}, {"tiles": False}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("thread_count", [1, 2])
def test_equals_the_oracle(monkeypatch, options, dimension, dtype, closed, thread_count):
    monkeypatch.setattr(threads, "SERIAL_BELOW", 1)
    for name, count in (("mixed", 500), ("clustered", 300), ("aligned", 200), *(EDGES if thread_count == 1 else [])):
        boxes = make(name, count, dimension, dtype)
        sweep = create("sap-direct", boxes, closed=closed, threads=thread_count, **options)
        np.testing.assert_array_equal(sweep.pairs(), pairs_of(boxes, closed))
        assert sweep.count() == len(pairs_of(boxes, closed))


@st.composite
def small_scenes(draw: st.DrawFn) -> Boxes:
    """A few boxes whose bounds are often equal."""
    shape = (2, draw(st.integers(0, 20)), draw(st.sampled_from([2, 3])))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    numbers = st.one_of(st.integers(-3, 3).map(float), st.sampled_from([np.inf, -np.inf, 1e30, -0.0, 0.3]))
    ends = draw(arrays.arrays(dtype, shape, elements=numbers))
    return Boxes(ends.min(axis=0), ends.max(axis=0))


@given(small_scenes(), st.booleans(), st.sampled_from(OPTIONS))
def test_equals_the_oracle_on_anything(boxes, closed, options):
    np.testing.assert_array_equal(
        create("sap-direct", boxes, closed=closed, **options).pairs(), pairs_of(boxes, closed)
    )


def test_the_number_of_threads_changes_nothing(monkeypatch):
    monkeypatch.setattr(threads, "SERIAL_BELOW", 1)
    boxes = make("mixed", 6000, 3, np.float32)
    for tiles in (True, False):
        one, three = (create("sap-direct", boxes, threads=count, tiles=tiles) for count in (1, 3))
        np.testing.assert_array_equal(one.pairs(), three.pairs())
        assert (one.counters.tests, one.counters.duplicates) == (three.counters.tests, three.counters.duplicates)


@pytest.mark.parametrize("tiles", [True, False])
def test_a_box_with_more_pairs_than_a_chunk_holds(monkeypatch, tiles):
    monkeypatch.setattr(threads, "SERIAL_BELOW", 1)
    crowd = make("mixed", 3000)
    lower = np.concatenate((crowd.lower, np.full((2, 3), -1e6)))
    upper = np.concatenate((crowd.upper, np.full((2, 3), 1e6)))
    sweep = create("sap-direct", Boxes(lower, upper), tiles=tiles, threads=8)
    assert sweep.count() == len(pairs_of(crowd)) + 2 * 3000 + 1


def test_other_values_of_tiles_are_refused():
    with pytest.raises(InvalidInput, match="tiles is 3"):
        create("sap-direct", make("mixed", 5), tiles=3)


def test_tiles_test_far_less_than_a_line():
    boxes = make("mixed", 20_000, 3, np.float32)
    line, tiles = (create("sap-direct", boxes, tiles=tiles) for tiles in (False, True))
    assert line.count() == tiles.count()
    assert tiles.counters.tests < line.counters.tests / 5


@pytest.mark.parametrize("share", [0.01, 0.3, 1.0])
def test_boxes_that_span_all_tiles_take_linear_memory(share):
    count = 4000
    random = np.random.default_rng(0)
    lower = random.uniform(0, 100, (count, 3)).astype(np.float32)
    lower[:, 0] = np.floor(lower[:, 0])  # many start together
    upper = lower + np.float32([1.5, 0.1, 0.1])
    giants = random.random(count) < share
    lower[giants, 1:], upper[giants, 1:] = -np.inf, np.inf
    boxes = Boxes(lower, upper)
    sweep = create("sap-direct", boxes, tiles=True)
    assert (
        share == 1.0 or len(sweep.index._sweep.apart) == giants.sum()
    )  # giants alone have no width, and make one line
    assert sweep.counters.peak_bytes < 400 * count
    np.testing.assert_array_equal(sweep.pairs(), pairs_of(boxes))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("count", [10, RADIX_FROM, 5000])
def test_order_is_exact_and_stable(dtype, count):
    random = np.random.default_rng(0)
    information = np.finfo(dtype)
    special = [0.0, -0.0, np.inf, -np.inf, information.max, information.min, information.tiny, -information.tiny]
    special += [information.smallest_subnormal, -information.smallest_subnormal, 1.0, 1.0 + information.eps]
    lists = [
        random.normal(0, 1, count),
        random.integers(-3, 3, count),
        random.choice(special, count),
        1e9 + np.arange(count)[::-1] * 1e-6,  # alike in their high halves and in reverse: no list for exchanges
        np.zeros(count),
        np.arange(count)[::-1],
    ]
    for values in lists:
        values = np.asarray(values, dtype)
        np.testing.assert_array_equal(order_of(values, 1), np.argsort(values, kind="stable"))
        np.testing.assert_array_equal(order_of(values, 2), np.argsort(values, kind="stable"))


def test_repair_stops_at_its_limit():
    order = np.arange(100, dtype=np.uint32)
    assert repair_order(order, np.arange(100.0)[::-1].copy(), 20) > 20


def test_the_widest_axis_is_that_of_greatest_variance():
    random = np.random.default_rng(3)
    for axis in range(3):
        lower = random.normal(50, 1, (500, 3))
        lower[:, axis] *= 3
        records = np.concatenate((lower, lower + 1), axis=1)
        records[:5, (axis + 1) % 3], records[:5, (axis + 1) % 3 + 3] = -np.inf, np.inf
        assert widest_axis(records, 3) == axis
    assert widest_axis(np.empty((0, 6)), 3) == 0
