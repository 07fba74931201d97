"""Joins against dense comparisons: every method, both topologies, thresholds, filters, threads."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest
from box_oracle import dense_iou, dense_join, random_boxes
from hypothesis import given, settings
from hypothesis import strategies as st

import choque
from choque.broad.index import Index, methods, register
from choque.errors import InvalidInput, UnknownName

METHODS = [name for name in choque.broad.names() if name != "all"]


def join(a: Any, b: Any, **options: Any) -> Any:
    half = a.shape[1] // 2
    return choque.join(a[:, :half], a[:, half:], b[:, :half], b[:, half:], **options)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_joins(method: str) -> None:
    rng = np.random.default_rng(0)
    for dimension, dtype in ((2, np.float64), (3, np.float32)):
        a, b = random_boxes(rng, 150, dimension, dtype), random_boxes(rng, 230, dimension, dtype)
        for closed in (True, False):
            assert join(a, b, method=method, closed=closed).tolist() == dense_join(a, b, closed).tolist()


@pytest.mark.parametrize("method", ["auto", "grid", "bvh", "brute", "sap-direct"])
@pytest.mark.parametrize("dtypes", [(np.float32, np.float64), (np.float64, np.float64)])
def test_larger_sets_swapped_sets_and_threads(method: str, dtypes: Any) -> None:
    rng = np.random.default_rng(1)
    a, b = random_boxes(rng, 9000, 2, dtypes[0], spread=150), random_boxes(rng, 2500, 2, dtypes[1], spread=150)
    found = join(a, b, method=method, threads=1)
    assert found.dtype == np.int32
    assert np.array_equal(found, dense_join(a.astype(np.float64), b.astype(np.float64)))
    assert np.array_equal(found, join(a, b, method=method, threads=3))
    swapped = join(b, a, method=method)
    assert np.array_equal(swapped[np.lexsort(swapped.T)], found[:, ::-1])


def test_giants_dust_and_infinite_boxes() -> None:
    rng = np.random.default_rng(2)
    a, b = (random_boxes(rng, 3000, 3, spread=60) for _ in range(2))
    a[:3, 3:] = 100
    b[0], b[1, :3], b[2] = [-np.inf] * 3 + [np.inf] * 3, -np.inf, np.repeat([5.0], 6)
    b[3:100, 3:] = b[3:100, :3]
    for method in ("grid", "bvh", "brute"):
        assert np.array_equal(join(a, b, method=method), dense_join(a, b)), method


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize(("origin", "step"), [(0.0, 1.0), (4.5e6, 1e-3), (1e15, 0.5), (1e-30, 1e-33), (0.0, 1e200)])
def test_bounds_that_float32_cannot_tell_apart(origin: float, step: float, closed: bool) -> None:
    """Grids hold float64 boxes in float32; where rounded bounds are equal, the boxes themselves decide."""
    rng = np.random.default_rng(11)
    a, b = (random_boxes(rng, 1500, 2, spread=40) for _ in range(2))
    b[:400] = a[:400]
    b[:200, :2] = a[:200, 2:]  # corners that touch, and after the next line nearly do
    b[:100, 0] = np.nextafter(b[:100, 0], rng.choice([-np.inf, np.inf], 100))
    b[:200, 2:] = b[:200, :2] + 1
    b[300, 2:], a[301, :2] = np.inf, -np.inf
    a, b = origin + a * step, origin + b * step
    found = join(a, b, method="grid", closed=closed)
    assert np.array_equal(found, dense_join(a, b, closed))
    assert np.array_equal(found, join(a, b, method="grid", closed=closed, threads=2))
    with np.errstate(over="ignore"):
        narrow = b.astype(np.float32)
    found = join(a, narrow, method="grid", closed=closed)
    assert np.array_equal(found, dense_join(a, narrow.astype(np.float64), closed))


@pytest.mark.parametrize("over", ["union", "smaller"])
@pytest.mark.parametrize("iou", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_thresholds_are_those_of_the_dense_matrix(iou: float, over: str) -> None:
    rng = np.random.default_rng(3)
    for dimension, dtype in ((2, np.float32), (3, np.float64)):
        a = random_boxes(rng, 500, dimension, dtype, spread=12)
        b = np.concatenate((a[:200], random_boxes(rng, 300, dimension, dtype, spread=12)))
        dense = dense_iou(a, b, over)
        for method in ("auto", "grid", "bvh", "sap-direct"):
            pairs, values = join(a, b, iou=iou, over=over, method=method)
            wanted = np.argwhere(dense.astype(np.float64) >= iou) if iou > 0 else dense_join(a, b)
            assert np.array_equal(pairs, wanted)
            assert np.array_equal(values, dense[tuple(wanted.T)])
            assert values.dtype == dtype


@pytest.mark.parametrize("method", ["auto", "grid", "sap-direct"])
def test_pairs_of_one_set_have_thresholds_too(method: str) -> None:
    boxes = random_boxes(np.random.default_rng(4), 300, 3, np.float32, spread=8)
    likeness = dense_iou(boxes, boxes)
    for iou in (0.1, 0.5, 1.0):
        pairs, values = choque.pairs(boxes, iou=iou, method=method)
        assert np.array_equal(pairs, np.argwhere(np.triu(likeness >= iou, 1)))
        assert np.array_equal(values, likeness[pairs[:, 0], pairs[:, 1]])
    assert np.array_equal(choque.pairs(boxes, iou=0, method=method).pairs, choque.pairs(boxes))
    groups = np.arange(300) % 2 + 1
    among = choque.pairs(boxes, iou=0.1, method=method, groups=groups, masks=groups).pairs
    every = choque.pairs(boxes, iou=0.1).pairs
    assert np.array_equal(among, every[every.sum(axis=1) % 2 == 0])
    with pytest.raises(InvalidInput, match="iou and displacement were given"):
        choque.pairs(boxes, iou=0.5, displacement=[1, 0, 0])
    with pytest.raises(InvalidInput, match="iou"):
        choque.pairs(boxes, iou=1.5)


def test_crowded_boxes_below_the_threshold_take_no_memory() -> None:
    rng = np.random.default_rng(4)
    lower = rng.normal(0, 0.3, (20_000, 2))
    boxes = np.concatenate((lower, lower + rng.uniform(1, 9, (20_000, 2))), axis=1)
    pairs, values = join(boxes, boxes, iou=0.99)
    assert len(pairs) < 20_000 * 60  # of 400 million that overlap
    assert values.min() >= 0.99
    rows = rng.integers(0, 20_000, 40)
    for row in rows:
        assert np.array_equal(pairs[pairs[:, 0] == row, 1], np.flatnonzero(dense_iou(boxes[[row]], boxes)[0] >= 0.99))


def test_groups_and_masks_of_both_sets() -> None:
    rng = np.random.default_rng(5)
    a, b = random_boxes(rng, 400, 2), random_boxes(rng, 900, 2)
    groups = rng.integers(0, 8, 400), rng.integers(0, 8, 900)
    masks = rng.integers(0, 8, 400), 3
    every = dense_join(a, b)
    i, j = every.T
    allowed = ((groups[0][i] & masks[1]) != 0) & ((groups[1][j] & masks[0][i]) != 0)
    for method in ("auto", "bvh", "sap-direct", "octree"):
        assert np.array_equal(join(a, b, groups=groups, masks=masks, method=method), every[allowed])
    pairs, _ = join(a, b, groups=groups, masks=masks, iou=0.3)
    alike = dense_iou(a, b)[tuple(every[allowed].T)] >= 0.3
    assert np.array_equal(pairs, every[allowed][alike])


@given(data=st.data(), closed=st.booleans(), method=st.sampled_from(["grid", "bvh", "brute"]))
@settings(max_examples=40, deadline=None)
def test_lattices_where_most_boxes_touch(data: st.DataObject, closed: bool, method: str) -> None:
    def boxes() -> Any:
        corner, size = st.integers(-4, 4), st.integers(0, 3)
        rows = data.draw(st.lists(st.tuples(corner, corner, size, size), max_size=20))
        return np.array([[x, y, x + w, y + h] for x, y, w, h in rows], np.float64).reshape(-1, 4)

    a, b = boxes(), boxes()
    assert join(a, b, method=method, closed=closed).tolist() == dense_join(a, b, closed).tolist()


def test_a_method_of_another_package_joins_through_the_contract(monkeypatch: pytest.MonkeyPatch) -> None:
    class Backwards(Index):
        name: ClassVar[str] = "backwards-for-joins"

        def build(self) -> None:
            pass

        def emit(self, sink: Any) -> None:
            low, high = self.records[:, :3], self.records[:, 3:]
            meet = ((low[:, None] <= high[None]) & (low[None] <= high[:, None])).all(axis=2)
            i, j = np.nonzero(np.triu(meet, 1))
            sink.add((i.astype(np.uint64) << np.uint64(32)) | j.astype(np.uint64))

    monkeypatch.setattr(methods, "_registered", {})
    register(Backwards)
    rng = np.random.default_rng(6)
    a, b = random_boxes(rng, 50, 3), random_boxes(rng, 70, 3)
    assert np.array_equal(join(a, b, method="backwards-for-joins"), dense_join(a, b))


def test_empty_sets() -> None:
    none, some = np.empty((0, 4)), np.array([[0.0, 0, 1, 1]])
    for a, b in ((none, some), (some, none), (none, none)):
        assert join(a, b).shape == (0, 2)
        pairs, values = join(a, b, iou=0.5)
        assert pairs.shape == (0, 2)
        assert values.shape == (0,)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"a_lower": [[0, 0, 0]], "a_upper": [[1, 1, 1]]}, "a are 3D and those of b 2D"),
        ({"a_lower": [[2, 0]]}, "Boxes a: Row 0 has lower > upper"),
        ({"b_upper": [[np.nan, 0]]}, "Boxes b: Row 0 is not a number"),
        ({"iou": -0.1}, "iou is -0.1; it must be a number from 0 to 1"),
        (
            {"iou": 0.5, "b_upper": [[np.inf, 1]]},
            "Row 0 of the upper corners of b is \\[inf, 1.0\\]; it must hold finite",
        ),
        ({"iou": 0.5, "b_upper": [[1e160, 1e160]]}, "more than float64 holds"),
        ({"iou": 0.5, "b_upper": [[1e154, 1e154]]}, "more than float64 holds"),
        ({"closed": 1}, "closed is 1"),
        ({"groups": [1, 2, 3]}, "must be a tuple of two"),
        ({"groups": ([1, 2], 1)}, r"groups has the shape \(2,\)"),
        ({"static": True}, "join does not take 'static'"),
        ({"threads": 0}, "threads is 0"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(change: dict[str, Any], words: str) -> None:
    good: dict[str, Any] = {"a_lower": [[0, 0]], "a_upper": [[1, 1]], "b_lower": [[0, 0]], "b_upper": [[1, 1]]}
    with pytest.raises(InvalidInput, match=words):
        choque.join(**(good | change))


def test_boxes_whose_areas_overflow_are_refused_for_one_set_too() -> None:
    """The sum of both areas would be infinite, and equal boxes would have nothing in common."""
    box = np.array([[0, 0, 1.5e19, 1.5e19]], np.float32)
    assert choque.pairs(np.concatenate((box, box)).astype(np.float64), iou=0.5).values.tolist() == [1.0]
    for call in (lambda: choque.pairs(box, iou=0.5), lambda: choque.boxes.suppress(box, [1.0])):
        with pytest.raises(InvalidInput, match="more than float32 holds"):
            call()


def test_joins_near_the_largest_number_are_exact_and_warn_of_nothing() -> None:
    rng = np.random.default_rng(9)
    a, b = (random_boxes(rng, count, 2, spread=30) for count in (900, 700))
    largest = max(np.abs(a).max(), np.abs(b).max()) / np.finfo(np.float64).max
    for method in ("auto", "grid", "bvh", "brute"):
        found = join(a / largest, b / largest, method=method)
        assert np.array_equal(found, dense_join(a / largest, b / largest)), method


def test_unknown_names_are_named() -> None:
    box = np.array([[0.0, 0, 1, 1]])
    with pytest.raises(UnknownName, match="hexagons"):
        join(box, box, method="hexagons")
    with pytest.raises(UnknownName, match="cells"):
        join(box, box, method="grid", cells=3)


@pytest.mark.parametrize("method", ["grid", "bvh", "auto", "sap-direct"])
def test_a_kept_broad_phase_answers_for_moving_boxes(method: str) -> None:
    rng = np.random.default_rng(7)
    resting = random_boxes(rng, 3000, 3, np.float32, spread=40)
    broad = choque.broad.create(method, choque.bounds.Boxes(resting[:, :3], resting[:, 3:]))
    for dtype in (np.float32, np.float64):
        moving = random_boxes(rng, 25_000 if dtype is np.float32 else 500, 3, dtype, spread=40)
        found = broad.query(choque.bounds.Boxes(moving[:, :3], moving[:, 3:]))
        some = np.flatnonzero(found[:, 0] < 600)
        wanted = dense_join(moving[:600].astype(np.float64), resting.astype(np.float64))
        assert np.array_equal(found[some], wanted)
    broad.remove([5, 7])
    assert not np.isin(broad.query(choque.bounds.Boxes(resting[:, :3], resting[:, 3:]))[:, 1], [5, 7]).any()


def test_the_choice_for_two_sets_is_explained() -> None:
    rng = np.random.default_rng(8)
    few, many = random_boxes(rng, 20, 2), random_boxes(rng, 30_000, 2, spread=300)
    crowd = rng.normal(0, 1e-3, (30_000, 2)) + rng.choice([0.0, 1e6], (30_000, 1))
    crowded = np.concatenate((crowd, crowd + 1e-4), axis=1)
    for a, b, method in ((few, few, "brute"), (few, many, "grid"), (many, many, "grid"), (crowded, crowded, "bvh")):
        choice = choque.explain(a[:, :2], a[:, 2:], b[:, :2], b[:, 2:])
        assert choice.method == method, str(choice)
        assert choice.box_count == len(a) + len(b)
    assert choque.explain(few) == choque.explain(few[:, :2], few[:, 2:])
    with pytest.raises(InvalidInput, match="One corner of the boxes of b was given"):
        choque.explain(few[:, :2], few[:, 2:], many[:, :2])
