"""Operations on eight lanes: the compiled form against the plain one, on every mask and around every edge."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import njit

from choque._core import lanes, point_lanes

TYPES = [np.float32, np.float64]


def plain(operation: Any) -> Any:
    return getattr(operation, "plain", operation)


@njit
def _count(mask: int) -> int:
    return lanes.bit_count(mask)


@njit
def _lowest(mask: int) -> int:
    return lanes.lowest_bit(mask)


@njit
def _overlap(columns: Any, own: int, own_stride: int, at: int, stride: int) -> int:
    return lanes.overlap_eight(columns, own, own_stride, at, stride)


@njit
def _compare(columns: Any, at: int, stride: int, asked: Any, own: int, own_stride: int) -> int:
    return lanes.compare_eight(columns, at, stride, asked, own, own_stride)


@njit
def _covering(columns: Any, stride: int, at: int, own: int, limit: float, is_smaller: int) -> int:
    return lanes.covering_eight(columns, stride, at, own, limit, is_smaller)


@njit
def _append(chunk: Any, written: int, words: Any, at: int, own: Any, mask: int) -> int:
    return lanes.append_pairs(chunk, written, words, at, own, mask)


@njit
def _append_answers(chunk: Any, written: int, words: Any, at: int, own: Any, mask: int, last: int) -> int:
    return lanes.append_answers(chunk, written, words, at, own, mask, last)


@njit
def _list(words: Any, at: int, need: Any, first: Any, out: Any, listed: int) -> int:
    return lanes.list_marked(words, at, need, first, out, listed)


@njit
def _bits(out: Any, listed: int, first: Any, mask: int) -> int:
    return lanes.list_bits(out, listed, first, mask)


@njit
def _hits(tree: Any, block: int, box: Any) -> int:
    return lanes.block_hits(tree, block, box[0], box[1], box[2], box[3], box[4], box[5])


@njit
def _lane(tree: Any, block: int, other: int, lane: int) -> int:
    return lanes.lane_hits(tree, block, other, lane)


@njit
def _put(target: Any, at: int, lower: Any, upper: Any, start: int, row: int, word: Any) -> None:
    lanes.put_record(target, at, lower, upper, start, row, word)


@njit
def _columns(records: Any, order: Any, at: int, columns: Any, base: int, stride: int) -> None:
    lanes.columns_of_eight(records, order, at, columns, base, stride)


@njit
def _survey(lower: Any, upper: Any, first: int, blocks: int, out: Any) -> int:
    return lanes.survey_lanes(lower, upper, first, blocks, out)


@njit
def _rank(values: Any, at: int, own: Any, count: int) -> int:
    return lanes.rank_of_eight(values, at, own, count)


@njit
def _farthest(points: Any, first: int, last: int, x: float, y: float, z: float) -> int:
    return point_lanes.farthest_row(points, first, last, x, y, z)


@njit
def _gather(items: Any, order: Any) -> float:
    total = 0.0
    for k in range(order.size):
        lanes.prefetch(items, order[min(k + 16, order.size - 1)])
        total += items[order[k]]
    return total


def test_bits_are_counted_and_found() -> None:
    for mask in [0, 1, 2, 255, 1 << 62, -1, 0b1011000]:
        assert _count(mask) == plain(lanes.bit_count)(mask)
        if mask:
            assert _lowest(mask) == plain(lanes.lowest_bit)(mask)
    assert _lowest(0b1011000) == 3


def test_prefetching_changes_nothing() -> None:
    items = np.arange(100.0)
    order = np.random.default_rng(0).permutation(100)
    assert _gather(items, order) == items.sum()


@pytest.mark.parametrize("dtype", TYPES)
def test_eight_boxes_are_tested_at_once(dtype: type) -> None:
    random = np.random.default_rng(1)
    lower = random.integers(0, 4, (20, 3))
    boxes = np.concatenate((lower, lower + random.integers(0, 3, (20, 3)), np.arange(20)[:, None]), axis=1)
    stride = 32
    columns = np.full(7 * stride, np.nan, dtype)
    for column in range(7):
        columns[column * stride : column * stride + 20] = boxes[:, column]
    for own in range(20):
        for at in range(24):
            found = _overlap(columns, own, stride, at, stride)
            assert found == plain(lanes.overlap_eight)(columns, own, stride, at, stride)
            wanted = sharing = 0
            for lane, other in enumerate(range(at, min(at + 8, 20))):
                a, b = boxes[own], boxes[other]
                wanted |= bool((a[:3] <= b[3:6]).all() and (b[:3] <= a[3:6]).all()) << lane
                sharing |= bool((a[:3] < b[3:6]).all() and (b[:3] < a[3:6]).all()) << lane
            assert found == wanted
            both = _compare(columns, at, stride, columns, own, stride)
            assert both == wanted | sharing << 8
            assert both == plain(lanes.compare_eight)(columns, at, stride, columns, own, stride)


@pytest.mark.parametrize("dtype", TYPES)
def test_eight_boxes_are_tested_for_what_they_have_in_common(dtype: type) -> None:
    random = np.random.default_rng(2)
    lower = random.integers(0, 3, (3, 20))
    edges = random.integers(0, 3, (3, 20))
    stride = 32
    columns = np.full((7, stride), np.nan, dtype)
    columns[:, :20] = np.concatenate((lower, lower + edges, edges.prod(axis=0)[None]))
    flat = columns.reshape(-1)
    for own in range(20):
        inner = np.minimum(columns[3:6], columns[3:6, own, None]) - np.maximum(columns[:3], columns[:3, own, None])
        inner = inner.clip(0).prod(axis=0)
        for is_smaller in (0, 1):
            least, union = np.minimum(columns[6], columns[6, own]), columns[6] + columns[6, own] - inner
            with np.errstate(invalid="ignore"):
                covers = inner / (least if is_smaller else union) > 0.25
            for at in range(24):
                found = _covering(flat, stride, at, own, 0.25, is_smaller)
                assert found == plain(lanes.covering_eight)(flat, stride, at, own, 0.25, is_smaller)
                assert found == sum(int(covers[at + lane]) << lane for lane in range(8))


@pytest.mark.parametrize("last", [None, 0, 1])
@pytest.mark.parametrize("word", [np.uint32, np.uint64])
def test_pairs_are_appended_for_every_mask(last: int | None, word: type) -> None:
    words = np.array([7, 3, 900, 12, 2**31 - 1, 0, 55, 4_000_000_000, 1, 1], word)
    own = np.uint32(50)
    compiled, form, more = (_append, "pairs", ()) if last is None else (_append_answers, "answers", (last,))
    for mask in range(256):
        for at in (0, 2):
            chunk, wanted = np.zeros(20, np.uint64), np.zeros(20, np.uint64)
            count = compiled(chunk, 5, words, at, own, mask, *more)
            assert count == plain(getattr(lanes, f"append_{form}"))(wanted, 5, words, at, own, mask, *more)
            np.testing.assert_array_equal(chunk[: 5 + count], wanted[: 5 + count])
            assert not chunk[13:].any()


def test_bits_are_listed() -> None:
    for mask in range(256):
        out, wanted = np.zeros(16, np.uint32), np.zeros(16, np.uint32)
        count = _bits(out, 3, np.uint32(1000), mask)
        assert count == plain(lanes.list_bits)(wanted, 3, 1000, mask)
        assert out[3 : 3 + count].tolist() == wanted[3 : 3 + count].tolist()
        assert out[3 : 3 + count].tolist() == [1000 + bit for bit in range(8) if mask >> bit & 1]


def test_marked_words_are_listed() -> None:
    words = np.random.default_rng(2).integers(0, 16, 400).astype(np.uint32)
    for need in range(16):
        out, wanted = np.zeros(16, np.uint32), np.zeros(16, np.uint32)
        for at in range(0, 392, 5):
            count = _list(words, at, np.uint32(need), np.uint32(100), out, 3)
            assert count == plain(lanes.list_marked)(words, at, need, 100, wanted, 3)
            np.testing.assert_array_equal(out[3 : 3 + count], wanted[3 : 3 + count])


@pytest.mark.parametrize("dtype", TYPES)
def test_blocks_of_the_tree_are_tested(dtype: type) -> None:
    random = np.random.default_rng(3)
    low = random.integers(0, 5, (4, 3, 16))
    tree = np.concatenate((low, low + random.integers(0, 3, low.shape)), axis=1).astype(dtype)
    tree[3, :, 9:] = np.nan
    flat = tree.reshape(-1)
    for _ in range(200):
        corner = random.integers(0, 5, 3)
        box = np.concatenate((corner, corner + random.integers(0, 3, 3))).astype(dtype)
        for block in range(4):
            mask = _hits(flat, block, box)
            assert mask == plain(lanes.block_hits)(flat, block, *box)
            wanted = ((box[3:] >= tree[block, :3].T) & (box[:3] <= tree[block, 3:].T)).all(axis=1)
            assert [mask >> k & 1 for k in range(16)] == wanted.astype(int).tolist()
            tree[2, :, 5] = box
            assert _lane(tree, block, 2, 5) == _hits(tree, block, box) == plain(lanes.lane_hits)(tree, block, 2, 5)


@pytest.mark.parametrize("dtype", TYPES)
def test_records_become_columns(dtype: type) -> None:
    random = np.random.default_rng(4)
    boxes = random.random(6 * 20).astype(dtype)
    records, wanted = np.zeros(19 * 8, dtype), np.zeros(19 * 8, dtype)
    for row in range(19):
        _put(records, 18 - row, boxes, boxes[3:], 6 * row, row, np.uint32(1000 + row))
        plain(lanes.put_record)(wanted, 18 - row, boxes, boxes[3:], 6 * row, row, 1000 + row)
    np.testing.assert_array_equal(records.view(np.uint8), wanted.view(np.uint8))
    order = random.integers(0, 19, 24).astype(np.uint32)
    columns, other = np.zeros(8 * 40, dtype), np.zeros(8 * 40, dtype)
    for at in (0, 8, 16):
        _columns(records, order, at, columns, at, 40)
        plain(lanes.columns_of_eight)(records, order, at, other, at, 40)
    np.testing.assert_array_equal(columns.view(np.uint8), other.view(np.uint8))
    ids = columns.view(np.uint32 if dtype is np.float32 else np.uint64)[6 * 40 : 6 * 40 + 24]
    np.testing.assert_array_equal(ids, 18 - order.astype(int))


@pytest.mark.parametrize("dtype", TYPES)
def test_boxes_are_surveyed(dtype: type) -> None:
    """As records of six numbers, and as corners of three."""
    numbers = np.random.default_rng(5).normal(size=6 * 41).astype(dtype)
    for lower, upper in ((numbers, numbers[3:]), (numbers, numbers + 1)):
        for first, blocks in ((0, 0), (0, 1), (18, 4), (0, 10)):
            out, wanted = np.zeros(72, dtype), np.zeros(72, dtype)
            wrong = _survey(lower, upper, first, blocks, out)
            assert wrong == plain(lanes.survey_lanes)(lower, upper, first, blocks, wanted)
            assert bool(wrong) == bool((lower[first:][: 24 * blocks] > upper[first:][: 24 * blocks]).any())
            np.testing.assert_array_equal(out, wanted)
    table = numbers[:240].reshape(80, 3)
    np.testing.assert_array_equal(out[:24].reshape(8, 3).min(axis=0), table.min(axis=0))
    np.testing.assert_array_equal(out[24:48].reshape(8, 3).max(axis=0), table.max(axis=0))
    np.testing.assert_array_equal(
        out[48:].reshape(8, 3).max(axis=0), (upper[:240] - lower[:240]).reshape(80, 3).max(axis=0)
    )
    for place in (0, 23, 24, 239):
        torn = numbers + 1
        torn[place] = np.nan
        assert _survey(numbers, torn, 0, 10, out) != 0


def test_ranks_sort_runs_of_up_to_eight() -> None:
    random = np.random.default_rng(6)
    for count in range(9):
        values = random.permutation(2**32 - 1 - np.arange(20)).astype(np.uint32)
        ranks = [_rank(values, 4, values[4 + k], count) for k in range(count)]
        assert ranks == [plain(lanes.rank_of_eight)(values, 4, values[4 + k], count) for k in range(count)]
        assert sorted(ranks) == list(range(count))


def test_the_first_of_the_farthest_points_is_found() -> None:
    """Lattice points have many equal heights; NaN is never farthest."""
    random = np.random.default_rng(7)
    lattice = random.integers(-1, 2, size=(60, 3)).astype(float)
    torn = random.normal(size=(60, 3))
    torn[random.random(60) < 0.5, 1] = np.nan
    for points in (lattice, torn, random.normal(size=(60, 3)), np.full((60, 3), np.nan)):
        for count in range(8, 42):
            first, direction = int(random.integers(0, 60 - count)), random.integers(-2, 3, 3).astype(float)
            found = _farthest(points, first, first + count, *direction)
            assert found == plain(point_lanes.farthest_row)(points, first, first + count, *direction)
