"""Rows of cells on scenes made to break lanes: every answer is that of brute force, for any number of threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from choque._core.emission import Sink
from choque._core.records import Corners
from choque._core.row_levels import BOXES_PER_ROW, WIDE, _choose_cells  # its rounding, at the ends of floats
from choque._core.row_pairs import DOUBT, emit_between, emit_rows, list_alike
from choque._core.rows import build_rows, columns_of
from choque._core.sort import sorted_pairs

Records = NDArray[np.float32] | NDArray[np.float64]


def brute(records: Records) -> NDArray[np.int32]:
    """All overlapping pairs, by comparing every box with every other one."""
    meets = np.ones((len(records), len(records)), bool)
    for axis in range(3):
        meets &= records[:, None, axis] <= records[None, :, axis + 3]
        meets &= records[:, None, axis + 3] >= records[None, :, axis]
    return np.argwhere(np.triu(meets, 1)).astype(np.int32)


def by_rows(records: Records, thread_count: int = 1, chunk: int | None = None) -> NDArray[np.int32]:
    """The same by rows of cells."""
    rows = build_rows(np.ascontiguousarray(records), thread_count)
    sink = Sink(len(records) if chunk is None else chunk, thread_count, None)
    if chunk is not None:
        sink._chunk_size = chunk
    emit_rows(sink, rows)
    return sorted_pairs(sink.chunks, len(records), thread_count)


def cubes(lower: NDArray[np.float64], edge: float | NDArray[np.float64]) -> NDArray[np.float64]:
    return np.concatenate((lower, lower + edge), axis=1)


def runs(random: np.random.Generator) -> Iterator[NDArray[np.float64]]:
    """Groups of n boxes about the lane width, in one cell and along x, groups far apart."""
    for length in (1, 7, 8, 9, 15, 16, 17, 255, 256, 257):
        groups = np.repeat(np.arange(3) * 1e4, length)[:, None] * np.ones(3)
        yield cubes(groups + random.random((3 * length, 3)) * 0.5, 1.0)
        line = np.stack((np.arange(length) * 0.75, np.zeros(length), np.zeros(length)), axis=1)
        yield cubes(line, 1.0)


def lattices(_: np.random.Generator) -> Iterator[NDArray[np.float64]]:
    """Cubes that touch, cubes without size on lattice points, and equal cubes."""
    grid = np.stack(np.meshgrid(*[np.arange(8.0)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    for edge in (1.0, 0.0):
        yield cubes(grid, edge)
        yield cubes(np.repeat(grid[:60], 5, axis=0), edge)
    yield cubes(np.zeros((300, 3)), 1.0)


def sizes(random: np.random.Generator) -> Iterator[NDArray[np.float64]]:
    """Sizes 1:1000, dust beside one giant, flat and long boxes."""
    yield cubes(random.uniform(0, 2000, (700, 3)), np.exp(random.uniform(0, np.log(1000), (700, 1))))
    dust = cubes(random.uniform(0, 10, (500, 3)), 0.5)
    dust[17] = [-100, -100, -100, 100, 100, 100]
    yield dust
    for axis in range(3):
        edges = np.full((500, 3), 0.1)
        edges[:, axis] = 40
        yield cubes(random.uniform(0, 50, (500, 3)), edges)
        flat = random.uniform(0, 30, (500, 3))
        flat[:, axis] = 5
        yield cubes(flat, 1.0)


def places(random: np.random.Generator) -> Iterator[NDArray[np.float64]]:
    """Far from the origin, far apart, negative, and with many empty rows."""
    yield cubes(random.integers(0, 15, (600, 3)) * 1.0 + 1e7, 1.0)
    yield cubes(random.uniform(-15, 0, (600, 3)) - 3e5, 1.0)
    yield cubes(random.choice([-1e17, 0, 1e17], (300, 3)) + random.uniform(0, 4, (300, 3)), 1.0)
    two = random.uniform(0, 5, (400, 3))
    two[200:] += 1e6
    yield cubes(two, 1.0)
    diagonal = np.repeat(np.arange(200.0)[:, None] * 3, 3, axis=1)
    yield cubes(np.concatenate((diagonal, diagonal + 0.5)), 1.0)


def infinite(random: np.random.Generator) -> Iterator[NDArray[np.float64]]:
    """Infinite boxes, half spaces, boxes too large for a cell number, and empty ones, which overlap nothing."""
    boxes = cubes(random.uniform(0, 12, (400, 3)), 1.0)
    boxes[5] = [-np.inf] * 3 + [np.inf] * 3
    boxes[70, 3:] = np.inf
    boxes[300, 0] = -np.inf
    boxes[301] = [1e30, 1e30, 1e30, 2e30, 2e30, 2e30]
    boxes[302] = [-3e37, -3e37, -3e37, 3e37, 3e37, 3e37]
    boxes[303] = [np.inf, np.inf, np.inf, -1, -1, -1]
    yield boxes
    yield np.tile(np.array([-np.inf] * 3 + [np.inf] * 3), (20, 1))


SCENES = (runs, lattices, sizes, places, infinite)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scene", SCENES)
def test_pairs_are_those_of_brute_force(
    scene: Callable[[np.random.Generator], Iterator[NDArray[np.float64]]], dtype: type
) -> None:
    for boxes in scene(np.random.default_rng(1)):
        records = boxes.astype(dtype)
        half_open = records.copy()
        half_open[:, 3:] = np.nextafter(records[:, 3:], dtype(-np.inf))
        flat = records.copy()
        flat[:, 2], flat[:, 5] = 0, 1e-30
        for each in (records, half_open, flat):
            wanted = brute(each)
            np.testing.assert_array_equal(by_rows(each), wanted)
            at_once = list_alike(Corners.of_records(each), 1)
            assert at_once is None or np.array_equal(at_once, wanted)
        lower, upper = (np.ascontiguousarray(each) for each in (records[:, :3], records[:, 3:]))
        by_corners = list_alike(Corners.of(lower, upper), 1)
        at_once = list_alike(Corners.of_records(records), 1)
        if (lower <= upper).all() and at_once is not None:
            assert by_corners is not None
            np.testing.assert_array_equal(by_corners, at_once)
        else:
            assert by_corners is None


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_boxes_that_are_not_in_order_are_left_to_others(dtype: type) -> None:
    lower = np.random.default_rng(6).random((700, 3)).astype(dtype)
    for row in (0, 5, 690, 699):
        for axis in range(3):
            for value in (-1, np.nan):
                upper = lower + dtype(0.1)
                upper[row, axis] = value
                assert list_alike(Corners.of(lower, upper), 1) is None


def test_boxes_that_crowd_are_left_to_others() -> None:
    """Small cubes far apart in one corner of space: millions of tests, few pairs, given up soon."""
    random = np.random.default_rng(7)
    lower = random.uniform(0, 1, (20_000, 3)).astype(np.float32)
    lower[-1] = 1e6
    boxes = Corners.of(lower, lower + np.float32(1e-3))
    assert list_alike(boxes, 1) is None
    assert list_alike(boxes, 2) is None


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 8, 9, 31, 33])
def test_any_few_boxes(count: int) -> None:
    records = cubes(np.random.default_rng(count).random((count, 3)), 0.4).astype(np.float32)
    np.testing.assert_array_equal(by_rows(records), brute(records))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("count", [1, 70])
@pytest.mark.parametrize("empty", [1, 0.1])
def test_empty_boxes_are_in_no_pair(count: int, empty: float, dtype: type) -> None:
    """A half-open box at infinity is packed as one that begins at +inf and ends at -inf."""
    records = cubes(np.random.default_rng(0).random((count, 3)), 0.4).astype(dtype)
    records[: max(1, int(empty * count))] = [np.inf] * 3 + [-np.inf] * 3
    np.testing.assert_array_equal(by_rows(records), brute(records))


@pytest.mark.parametrize("scene", [runs, sizes, infinite])
def test_no_pair_is_lost_where_a_chunk_ends(
    scene: Callable[[np.random.Generator], Iterator[NDArray[np.float64]]],
) -> None:
    for boxes in list(scene(np.random.default_rng(2)))[-3:]:
        records = boxes.astype(np.float32)
        for chunk in (8, 61, 1000):
            np.testing.assert_array_equal(by_rows(records, chunk=chunk), brute(records))


@pytest.mark.parametrize("mixed", [False, True])
def test_threads_give_the_same_rows_and_pairs(mixed: bool) -> None:
    """From 50,000 boxes on threads share the building."""
    random = np.random.default_rng(3)
    edge = np.exp(random.uniform(0, np.log(1000), (51_000, 1))) if mixed else np.ones((51_000, 1))
    records = cubes(random.uniform(0, 3000 if mixed else 55, (51_000, 3)), edge).astype(np.float32)
    records[40] = [-np.inf] * 3 + [np.inf] * 3 if mixed else records[40]
    alone = by_rows(records)
    assert len(alone) > 50_000
    for thread_count in (2, 3):
        np.testing.assert_array_equal(by_rows(records, thread_count), alone)


def test_behind_each_row_stand_eight_boxes_of_nan() -> None:
    """Old memory behind a row, an empty one too, must not take part in a test."""
    random = np.random.default_rng(4)
    lower = random.uniform(0, 100, (500, 3))
    lower[:, 1] = np.where(lower[:, 1] < 50, 0, 99)
    rows = build_rows(cubes(lower, 1.0).astype(np.float32), 1)
    counts = np.diff(rows.row_start.astype(np.int64))
    assert (counts == 0).any()
    for row, count in enumerate(counts.tolist()):
        base, stride = columns_of(rows.row_start, row)
        assert stride >= count + 8
        assert np.isnan(rows.columns[base + count : base + stride]).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scene", SCENES)
def test_boxes_of_another_set_find_all_partners(
    scene: Callable[[np.random.Generator], Iterator[NDArray[np.float64]]], dtype: type
) -> None:
    """Rows of one set against rows of another, whose levels and cells differ, also where chunks are short."""
    random = np.random.default_rng(5)
    for boxes in scene(random):
        records = boxes.astype(dtype)
        others = records[random.permutation(len(boxes))[: len(boxes) // 2 + 1]]
        others[:, :3] -= random.choice([0, 0.25, 1e-12], (len(others), 3))
        others[::7, 3:] += 5
        touching, sharing = np.ones((2, len(others), len(records)), bool)
        for axis in range(3):
            below, above = others[:, None, axis], others[:, None, axis + 3]
            touching &= (below <= records[None, :, axis + 3]) & (above >= records[None, :, axis])
            sharing &= (below < records[None, :, axis + 3]) & (above > records[None, :, axis])
        rows, asked = build_rows(records, 1), build_rows(others, 1)
        for rows_first in (False, True):
            sink = Sink(16, 1, None)
            emit_between(sink, rows, asked, rows_first)
            counts = (len(records), len(others)) if rows_first else (len(others), len(records))
            found = sorted_pairs(sink.chunks, counts[0], 1, counts[1])
            np.testing.assert_array_equal(found, np.argwhere(touching.T if rows_first else touching))
            emit_between(sink, rows, asked, rows_first, DOUBT)
            mark = np.uint64(DOUBT) << np.uint64(0 if rows_first else 32)
            keys = np.concatenate([np.empty(0, np.uint64), *sink.chunks])
            marked = sorted_pairs([keys[keys & mark > 0] ^ mark], counts[0], 1, counts[1])
            open_pairs = touching & ~sharing
            np.testing.assert_array_equal(marked, np.argwhere(open_pairs.T if rows_first else open_pairs))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rounding_makes_no_more_rows_than_there_is_room_for(dtype: type) -> None:
    """An extent of nearly a whole number of rows, which the float type of the boxes rounds up to it."""
    edges = np.random.default_rng(9).uniform(0.5, 2, 20)
    step = 2.0**-22 if dtype is np.float32 else 2.0**-51
    for edge in edges:
        for rows in range(2, 40):
            wide = WIDE * (edge * 1.0001 + 2 * 200 * step)
            high = dtype(rows * wide)
            while float(high) >= rows * wide:
                high = np.nextafter(high, dtype(0))
            count = BOXES_PER_ROW * (rows * rows - 1)
            level = np.array([count, 0, 0, 0, 100, high, high, edge, edge, edge])
            frame, shape = np.zeros(9, dtype), np.ones(5, np.int64)
            _choose_cells(level, 200.0, frame, shape)
            assert shape[1] * shape[2] <= count // BOXES_PER_ROW + 1
            assert (shape[0] + 1) * shape[1] * shape[2] <= count + 2 * (count // BOXES_PER_ROW + 1)
            assert int((high - frame[1]) * frame[4]) < shape[1]
