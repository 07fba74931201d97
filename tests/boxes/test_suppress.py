"""Suppression and merging against plain loops over a dense matrix, and torchvision where it is installed."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from box_oracle import plain_merge, plain_suppress, random_boxes
from hypothesis import given, settings
from hypothesis import strategies as st

import choque
from choque.boxes import merge, suppress
from choque.errors import InvalidInput, UnknownName

THRESHOLDS = (0.0, 0.1, 0.3, 0.5, 0.75, 0.9, 0.99, 1.0)


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_suppression_is_the_plain_loop(dimension: int, dtype: Any) -> None:
    rng = np.random.default_rng(dimension)
    for case, iou in enumerate(THRESHOLDS * 3):
        boxes = random_boxes(rng, 400, dimension, dtype, spread=(3, 10, 40)[case % 3])
        scores = np.round(rng.uniform(-1, 1, 400), 2 if case % 2 else 6).astype(dtype)
        groups = rng.integers(-3, 4, 400) if case % 2 else None
        for over in ("union", "smaller"):
            found = suppress(boxes, scores, iou=iou, groups=groups, over=over)
            wanted = plain_suppress(boxes, scores, iou, groups, over)
            assert found.tolist() == wanted.tolist(), (iou, over)


@pytest.mark.parametrize("dimension", [2, 3])
def test_merging_is_the_plain_loop(dimension: int) -> None:
    rng = np.random.default_rng(dimension)
    for case, iou in enumerate(THRESHOLDS[1:]):
        boxes = random_boxes(rng, 300, dimension, spread=(3, 10, 40)[case % 3])
        scores = rng.uniform(0, 1, 300)
        groups = rng.integers(0, 3, 300) if case % 2 else None
        for over in ("union", "smaller"):
            merged = merge(boxes, scores, iou=iou, groups=groups, over=over)
            assert merged.lists() == plain_merge(boxes, scores, iou, groups, over), (iou, over)
            for place, (row, others) in enumerate(merged.lists().items()):
                cluster = boxes[[row, *others]]
                around = [*cluster[:, :dimension].min(axis=0), *cluster[:, dimension:].max(axis=0)]
                assert merged.boxes[place].tolist() == around
                assert set(merged.owner[[row, *others]]) == {place}


@given(data=st.data(), iou=st.sampled_from([0.2, 0.5, 0.8, 0.95]), over=st.sampled_from(["union", "smaller"]))
@settings(max_examples=60, deadline=None)
def test_small_lattices_with_many_ties(data: st.DataObject, iou: float, over: str) -> None:
    corner = st.integers(0, 6)
    size = st.integers(0, 4)
    rows = data.draw(st.lists(st.tuples(corner, corner, size, size, st.integers(0, 3)), max_size=30))
    boxes = np.array([[x, y, x + w, y + h] for x, y, w, h, _ in rows], np.float32).reshape(-1, 4)
    scores = np.array([score for *_, score in rows], np.float32)
    assert (
        suppress(boxes, scores, iou=iou, over=over).tolist() == plain_suppress(boxes, scores, iou, None, over).tolist()
    )


def test_far_and_near_sizes_and_places() -> None:
    rng = np.random.default_rng(1)
    boxes = random_boxes(rng, 300, 2)
    scores = rng.uniform(0, 1, 300)
    wanted = plain_suppress(boxes, scores, 0.4)
    for scale in (1e-30, 1e30):
        assert suppress(boxes * scale, scores, iou=0.4).tolist() == wanted.tolist()
    for away in (1e9, -3e12):  # whole numbers, which stay exact
        whole = np.round(boxes * 8)
        wanted = plain_suppress(whole, scores, 0.4)
        assert suppress(whole + away, scores, iou=0.4).tolist() == wanted.tolist()
    mixed = np.concatenate((boxes, boxes * 1e-7, boxes * 1e7))
    scores = rng.uniform(0, 1, 900)
    for over in ("union", "smaller"):
        wanted = plain_suppress(mixed, scores, 0.4, None, over)
        assert suppress(mixed, scores, iou=0.4, over=over).tolist() == wanted.tolist()


def test_any_number_of_threads_keeps_the_same_boxes() -> None:
    rng = np.random.default_rng(8)
    for spread in (2, 40, 400):  # crowded: threads meet at the same boxes
        boxes = random_boxes(rng, 9_000, 2, np.float32, spread=spread)
        scores = np.round(rng.uniform(0, 1, 9_000), 3).astype(np.float32)
        one, two, five = (suppress(boxes, scores, threads=count).tolist() for count in (1, 2, 5))
        assert one == two == five


def test_equal_scores_keep_their_order_and_zeros_have_no_sign() -> None:
    boxes = [[0, 0, 1, 1], [5, 5, 6, 6], [0, 0, 1, 1], [8, 8, 9, 9]]
    assert suppress(boxes, [0.0, -0.0, 0.0, -0.0]).tolist() == [0, 1, 3]
    assert suppress(boxes, [-np.inf, 0.5, np.inf, 1e-300]).tolist() == [2, 1, 3]
    assert suppress(boxes, [1e300, 0.5, 2e300, -1e300]).tolist() == [2, 1, 3]


def test_no_boxes_and_flat_boxes() -> None:
    assert suppress(np.empty((0, 4)), []).tolist() == []
    assert suppress([], []).tolist() == []
    assert suppress([[1, 1, 1, 1], [1, 1, 1, 1]], [1, 2]).tolist() == [1, 0]
    assert merge(np.empty((0, 6)), []).boxes.shape == (0, 6)


def test_a_hundred_thousand_boxes_on_one_spot_take_little_memory() -> None:
    rng = np.random.default_rng(3)
    lower = rng.normal(0, 0.5, (100_000, 2))
    boxes = np.concatenate((lower, lower + rng.uniform(20, 30, (100_000, 2))), axis=1).astype(np.float32)
    scores = rng.uniform(0, 1, 100_000).astype(np.float32)
    kept = suppress(boxes, scores, iou=0.9)
    assert 1 < len(kept) < 500
    assert len(np.unique(kept)) == len(kept)
    merged = merge(boxes, scores, iou=0.9)
    assert np.bincount(merged.owner).sum() == 100_000


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"scores": [1.0]}, r"scores has the shape \(1,\); it must be \(2,\)"),
        ({"scores": [1.0, np.nan]}, "Row 1 of scores is nan"),
        ({"iou": 1.5}, "iou is 1.5; it must be a number from 0 to 1"),
        ({"iou": np.nan}, "iou is nan"),
        ({"groups": [1]}, r"groups has the shape \(1,\)"),
        ({"groups": [0.5, 1.0]}, "must hold whole numbers"),
        ({"boxes": [[0, 0, 1], [0, 0, 1]]}, r"boxes has the shape \(2, 3\)"),
        ({"boxes": [[0, 0, 1, 1], [0, 0, 1, -1]]}, "Row 1 has lower > upper"),
        ({"boxes": [[0, 0, 1, 1], [0, 0, 1, np.nan]]}, "Row 1 is not a number"),
        (
            {"boxes": [[0, 0, 1, 1], [0, 0, 1, np.inf]]},
            "Row 1 of the upper corners of boxes is \\[1.0, inf\\]; it must hold finite",
        ),
        ({"boxes": [[0, 0, 1e200, 1e200], [0, 0, 1, 1]]}, "more than float64 holds"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(change: dict[str, Any], words: str) -> None:
    good = {"boxes": [[0, 0, 1, 1], [0, 0, 1, 2]], "scores": [1.0, 2.0]}
    with pytest.raises(InvalidInput, match=words):
        suppress(**(good | change))
    with pytest.raises(UnknownName, match="divisor"):
        suppress([[0, 0, 1, 1]], [1], over="both")


def test_boxes_may_be_bounds() -> None:
    bounds = choque.bounds.Boxes([[0, 0], [0.1, 0]], [[1, 1], [1, 1]])
    assert suppress(bounds, [1, 2]).tolist() == [1]


def test_torchvision_has_the_same_list() -> None:
    torch = pytest.importorskip("torch")
    ops = pytest.importorskip("torchvision.ops")
    rng = np.random.default_rng(5)
    for iou in THRESHOLDS:
        boxes = random_boxes(rng, 1500, 2, np.float32)
        scores = np.round(rng.uniform(0, 1, 1500), 2).astype(np.float32)
        groups = rng.integers(0, 5, 1500)
        tensors = torch.from_numpy(boxes), torch.from_numpy(scores)
        assert suppress(boxes, scores, iou=iou).tolist() == ops.nms(*tensors, iou).tolist()
        distinct = rng.permutation(1500).astype(np.float32)  # batched_nms leaves the order of equal scores open
        batched = ops.batched_nms(tensors[0], torch.from_numpy(distinct), torch.from_numpy(groups), iou)
        assert suppress(boxes, distinct, iou=iou, groups=groups).tolist() == batched.tolist()


@pytest.mark.parametrize("backend", ["numpy", "numba", "torchvision"])
def test_sahi_has_the_same_lists(backend: str) -> None:
    combine = pytest.importorskip("sahi.postprocess.combine")
    pytest.importorskip("sahi.postprocess.backends").set_postprocess_backend(backend)
    pytest.importorskip(backend)
    rng = np.random.default_rng(6)
    for iou in (0.1, 0.5, 0.9):
        for metric, over in (("IOU", "union"), ("IOS", "smaller")):
            boxes, scores = random_boxes(rng, 700, 2, np.float32), rng.permutation(700).astype(np.float32)
            rows = np.column_stack((boxes, scores, np.zeros(700, np.float32)))
            merged = merge(boxes, scores, iou=iou, over=over)
            assert merged.lists() == combine.greedy_nmm(rows, metric, iou)
            if backend != "torchvision":  # whose nms drops boxes above the threshold only
                assert merged.kept.tolist() == combine.nms(rows, metric, iou)


@pytest.mark.parametrize(("count", "places"), [(33_337, 40), (70_000, 7_000), (30_000, 30_000)])
def test_sahi_1417_sahi_1248_and_torchvision_8713_take_memory_for_boxes_not_for_pairs(count: int, places: int) -> None:
    rng = np.random.default_rng(count)
    lower = rng.uniform(0, 20 * places**0.5, (places, 2))[np.arange(count) % places] + rng.normal(0, 1, (count, 2))
    boxes = np.concatenate((lower, lower + rng.uniform(20, 30, (count, 2))), axis=1).astype(np.float32)
    scores = rng.uniform(0, 1, count).astype(np.float32)
    suppress(boxes[:10], scores[:10])
    tracemalloc.start()
    kept = suppress(boxes, scores)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 300 * count
    assert 0 < len(kept) < count
