"""The grid with given cells: the oracle's pairs, and its counts by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from partition_scenes import coincident, extreme, is_subset, oracle, scattered, small_scenes, touching

import choque.testing
from choque._core import threads
from choque._core.emission import Sink
from choque._core.records import pack_records
from choque.bounds import Boxes
from choque.broad import BroadPhase, create
from choque.errors import InvalidInput
from choque.lab.methods import grid_cells as _grid_cells
from choque.lab.methods.buckets import Buckets
from choque.lab.methods.grid_cells import GridCells, cell_buckets, checked_cells


class CountedGrid(BroadPhase):
    """Cells of a given number, with a count of every pair as often as it is found."""

    def __init__(self, bounds: Boxes, *, cells: Any, arena: Any = None, test: bool = True, **options: Any) -> None:
        super().__init__(bounds, GridCells(cells=cells, arena=arena, test=test), **options)

    @property
    def buckets(self) -> Buckets:
        return self.index._buckets  # type: ignore[attr-defined,no-any-return]

    def raw_count(self) -> int:
        """Count every pair as often as it is found."""
        self.counters.reset()
        return self.count() + self.counters.duplicates


def cells_by_region(buckets: Buckets) -> dict[tuple[float, ...], list[int]]:
    """The members of each cell by its lower corner."""
    return {
        tuple(region[:3].tolist()): buckets.members[start:end].tolist()
        for region, start, end in zip(buckets.regions, buckets.starts[:-1], buckets.starts[1:], strict=True)
    }


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("thread_count", [1, 2])
def test_equals_the_oracle(monkeypatch, dimension, dtype, closed, thread_count):
    monkeypatch.setattr(threads, "SERIAL_BELOW", 1)
    for boxes in (scattered(400, dimension, dtype), touching(dimension, dtype)):
        for cells in ((1,) * dimension, (4, 2, 3)[:dimension], (8,) * dimension):
            grid = CountedGrid(boxes, cells=cells, closed=closed, threads=thread_count)
            np.testing.assert_array_equal(grid.pairs(), oracle(boxes, closed))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("arena", [None, (-1.0, 2.0)])
def test_legal_extremes_are_right(dtype, closed, arena):
    for dimension in (2, 3):
        boxes = extreme(dtype, dimension)
        corners = arena and tuple([end] * dimension for end in arena)
        grid = CountedGrid(boxes, cells=(5,) * dimension, arena=corners, closed=closed)
        np.testing.assert_array_equal(grid.pairs(), oracle(boxes, closed))


@given(boxes=small_scenes(), closed=st.booleans(), cells=st.tuples(*[st.integers(1, 7)] * 3), given=st.booleans())
def test_any_scene(boxes, closed, cells, given):
    dimension = boxes.dimension
    arena = ([-3.0] * dimension, [3.0] * dimension) if given else None
    options = {"closed": closed, "cells": cells[:dimension], "arena": arena}
    expected = oracle(boxes, closed)
    np.testing.assert_array_equal(CountedGrid(boxes, **options).pairs(), expected)
    candidates = CountedGrid(boxes, test=False, **options)
    assert is_subset(expected, candidates.pairs())
    assert len(np.unique(candidates.pairs(), axis=0)) == len(candidates.pairs())
    again = CountedGrid(boxes, test=False, **options)
    assert again.raw_count() == raw_by_hand(again.buckets, again.index.records)


def raw_by_hand(buckets: Buckets, records: Any) -> int:
    """Every pair in every cell, but for contact with a wall, one by one."""
    raw = 0
    for bucket, region in enumerate(buckets.regions):
        members = buckets.members[buckets.starts[bucket] : buckets.starts[bucket + 1]]
        lower, upper, wall = records[members, :3], records[members, 3:], region[:3]
        guest = (lower < wall) & (upper == wall)
        begins = lower == wall
        clash = (guest[:, None] & ~begins[None]).any(axis=2)
        raw += int(np.triu(~(clash | clash.T), 1).sum())
    return raw


def test_five_by_five_by_hand():
    """F-004-11."""
    lower = np.array([[0.2, 0.2], [0.8, 0.2], [4.1, 4.1], [2.5, 0.5]])
    boxes = Boxes(lower, lower + np.array([[0.4], [0.4], [0.5], [1.0]]))
    arena = ([0.0, 0.0], [5.0, 5.0])
    buckets = CountedGrid(boxes, cells=(5, 5), arena=arena).buckets
    first, inf = -np.inf, np.inf
    assert cells_by_region(buckets) == {
        (first, first, first): [0, 1],
        (1.0, first, first): [1],
        (2.0, first, first): [3],
        (3.0, first, first): [3],
        (2.0, 1.0, first): [3],
        (3.0, 1.0, first): [3],
        (4.0, 4.0, first): [2],
    }
    assert buckets.regions[-1].tolist() == [4.0, 4.0, first, inf, inf, inf]


def test_cells_stay_where_they_are_from_step_to_step():
    """F-004-11."""
    arena = ([-2.0] * 3, [2.0] * 3)
    grid = CountedGrid(scattered(200, 3), cells=(4, 4, 4), arena=arena)
    before = set(cells_by_region(grid.buckets))
    walls = {-np.inf, -1.0, 0.0, 1.0}
    grid.update(scattered(200, 3, seed=5))
    assert {value for corner in before | set(cells_by_region(grid.buckets)) for value in corner} <= walls


@pytest.mark.parametrize("test", [True, False])
def test_coincident_bodies_meet_in_every_cell(test):
    """F-004-12 and F-004-28."""
    boxes = coincident(25)
    brute = 25 * 24 // 2
    arena = ([-2.0] * 3, [2.0] * 3)
    for cells, shared in (((1, 2, 1), 2), ((2, 2, 1), 4), ((2, 2, 2), 8), ((4, 4, 4), 8)):
        grid = CountedGrid(boxes, cells=cells, arena=arena, test=test)
        assert grid.raw_count() == shared * brute
        assert len(grid.pairs()) == brute
        assert grid.counters.tests > 0 if test else grid.counters.tests == 0


def test_contact_with_a_wall_adds_nothing():
    """F-004-13: bodies inside ±1, some of them exactly at it, in a grid with walls there and one without."""
    random = np.random.default_rng(3)
    radius = random.choice([0.125, 0.25, 0.375], 200)[:, None]
    centre = np.clip(random.integers(-8, 9, (200, 3)) / 8, radius - 1, 1 - radius)
    boxes = Boxes(centre - radius, centre + radius)
    assert (boxes.upper == 1).any()
    assert (boxes.lower == -1).any()
    arena = ([-2.0] * 3, [2.0] * 3)
    coarse, fine = (CountedGrid(boxes, cells=(n,) * 3, arena=arena, test=False) for n in (2, 4))
    assert coarse.raw_count() == fine.raw_count()
    np.testing.assert_array_equal(coarse.pairs(), fine.pairs())


def test_a_pair_that_touches_across_a_wall_is_found():
    boxes = Boxes([[0.0, 0.0], [1.0, 0.5], [1.25, 0.0]], [[1.0, 1.0], [2.0, 1.5], [2.0, 1.0]])
    arena = ([0.0, 0.0], [2.0, 2.0])
    grid = CountedGrid(boxes, cells=(2, 2), arena=arena)
    assert grid.pairs().tolist() == [[0, 1], [1, 2]]
    assert CountedGrid(boxes, cells=(2, 2), arena=arena, test=False).pairs().tolist() == [[0, 1], [1, 2]]
    assert CountedGrid(boxes, cells=(2, 2), arena=arena, closed=False).pairs().tolist() == [[1, 2]]


def test_giants_are_kept_apart_and_exact(monkeypatch):
    monkeypatch.setattr(_grid_cells, "LISTINGS_FREE", 0)
    boxes = scattered(300, 3)
    lower, upper = boxes.lower.copy(), boxes.upper.copy()
    lower[::50], upper[::50] = -np.inf, np.inf
    giants = Boxes(lower, upper)
    for thread_count in (1, 2):
        monkeypatch.setattr(threads, "SERIAL_BELOW", 1)
        grid = CountedGrid(giants, cells=(64, 64, 64), threads=thread_count)
        assert set(range(0, 300, 50)) <= set(grid.buckets.giants.tolist())
        assert len(grid.buckets.members) <= _grid_cells.LISTINGS_PER_BODY * 300
        np.testing.assert_array_equal(grid.pairs(), oracle(giants))
        assert grid.count() == len(oracle(giants))
    candidates = CountedGrid(giants, cells=(64, 64, 64), test=False).pairs()
    assert is_subset(oracle(giants), candidates)
    assert len(np.unique(candidates, axis=0)) == len(candidates)


def test_empty_cells_take_no_memory():
    grid = CountedGrid(scattered(100, 3), cells=(1 << 10, 1 << 10, 1 << 10))
    np.testing.assert_array_equal(grid.pairs(), oracle(scattered(100, 3)))
    assert grid.buckets.nbytes < 100 << 20


def test_spheres_are_listed_in_fewer_cells_than_their_boxes():
    random = np.random.default_rng(0)
    centre, radius = random.uniform(-2, 2, (300, 3)), random.uniform(0.04, 0.4, (300, 1))
    records = pack_records(Boxes(centre - radius, centre + radius), True, 1)
    arena = ([-2.0] * 3, [2.0] * 3)
    boxed, round_ = (cell_buckets(records, (4, 4, 4), arena, kind) for kind in ("box", "sphere"))
    assert len(round_.members) < len(boxed.members)
    sink = Sink(300, 1, None)
    round_.emit(sink, records, tested=False, once=False, pair_filter=None)
    keys = np.unique(np.concatenate(sink.chunks))
    candidates = np.stack((keys >> np.uint64(32), keys & np.uint64(0xFFFFFFFF)), axis=1).astype(np.int64)
    distance = np.linalg.norm(centre[:, None] - centre[None], axis=2)
    near = np.argwhere(np.triu(distance <= radius + radius.T, 1))
    assert is_subset(near, candidates)
    # The sphere around (0.5, 0.5) with radius 0.6 reaches over both walls at 1, but not to their edge.
    corner = pack_records(Boxes([[-0.1, -0.1]], [[1.1, 1.1]]), True, 1)
    lists = cells_by_region(cell_buckets(corner, (4, 4), (arena[0][:2], arena[1][:2]), "sphere"))
    assert len(cells_by_region(cell_buckets(corner, (4, 4), (arena[0][:2], arena[1][:2])))) == 9
    assert (1.0, 1.0, -np.inf) not in lists
    assert (1.0, 0.0, -np.inf) in lists


@pytest.mark.parametrize("cells", [(4, 4), (4, 4, 0), (4, 4, 2.5), "444", 4, (1 << 21, 1, 1), (1 << 20,) * 3])
def test_bad_cells_are_a_sentence(cells):
    with pytest.raises(InvalidInput, match="cells is"):
        checked_cells(cells, 3)


@pytest.mark.parametrize("arena", [([0, 0], [1, 1]), ([0, 0, 0], [1, 1, -1]), ([0, 0, 0], [1, 1, np.inf])])
def test_a_bad_arena_is_a_sentence(arena):
    with pytest.raises(InvalidInput, match="The arena is from"):
        CountedGrid(coincident(3), cells=(2, 2, 2), arena=arena)


def test_nothing_to_list():
    assert CountedGrid(coincident(0), cells=(2, 2, 2)).pairs().shape == (0, 2)


@pytest.mark.parametrize("dimension", [2, 3])
def test_given_cells_find_the_same_pairs_and_count_repeats(dimension: int) -> None:
    random = np.random.default_rng(0)
    lower = random.integers(0, 20, (300, dimension)).astype(np.float64)
    upper = lower + random.integers(0, 5, (300, dimension))
    expected = choque.testing.oracle.overlapping_pairs(lower, upper)
    for cells in (1, 4, (2,) * dimension):
        grid = create("grid-cells", Boxes(lower, upper), cells=cells)
        np.testing.assert_array_equal(grid.pairs(), expected)
        assert grid.counters.duplicates == 0 if cells == 1 else grid.counters.duplicates > 0
    untested = create("grid-cells", Boxes(lower, upper), cells=2, test=False).pairs()
    assert set(map(tuple, expected.tolist())) < set(map(tuple, untested.tolist()))


def test_cells_of_another_dimension_are_refused() -> None:
    with pytest.raises(InvalidInput, match="cells is"):
        create("grid-cells", Boxes([[0.0, 0.0]], [[1.0, 1.0]]), cells=(1, 2, 3))
    with pytest.raises(InvalidInput, match="test is"):
        create("grid-cells", Boxes([[0.0, 0.0]], [[1.0, 1.0]]), test=1)
