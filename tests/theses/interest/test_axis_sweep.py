"""The sweep of the interest thesis: fewer axes give the pairs that overlap on these; insertion keeps the order."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from choque.bounds import Boxes
from choque.broad import create
from choque.errors import InvalidInput, UnknownName
from choque.testing import oracle, scenes


def make(name: str, count: int, dimension: int = 3, dtype: Any = np.float64, seed: int = 0) -> Boxes:
    return scenes.make(name, dimension=dimension, dtype=np.dtype(dtype).name, count=count, seed=seed).boxes()


def pairs_of(boxes: Boxes, closed: bool = True) -> Any:
    return oracle.overlapping_pairs(boxes.lower, boxes.upper, closed=closed)


def as_set(pairs: Any) -> set[tuple[int, int]]:
    return {*map(tuple, pairs.tolist())}


def some_axes(boxes: Boxes, axes: tuple[int, ...]) -> Boxes:
    """The boxes made alike on all other axes."""
    lower, upper = np.zeros_like(boxes.lower), np.ones_like(boxes.upper)
    lower[:, axes], upper[:, axes] = boxes.lower[:, axes], boxes.upper[:, axes]
    return Boxes(lower, upper)


def drifting(boxes: Boxes, amount: float, seed: int) -> Boxes:
    """The boxes moved at random by about ``amount`` of a mean edge."""
    edge = (boxes.upper - boxes.lower).sum() / max(boxes.lower.size, 1)
    shift = np.random.default_rng(seed).normal(0, amount * edge, boxes.lower.shape)
    lower = boxes.lower + shift.astype(boxes.dtype)
    return Boxes(lower, np.maximum(lower, boxes.upper + shift.astype(boxes.dtype)))


@pytest.mark.parametrize("options", [{}, {"sort": "library"}, {"sort": "radix"}, {"tiles": True}], ids=str)
@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("closed", [True, False])
def test_with_all_axes_it_equals_the_oracle(options: dict[str, Any], dimension: int, closed: bool) -> None:
    for name, count in (("mixed", 500), ("clustered", 300), ("aligned", 200), ("infinite", 60), ("touching", 60)):
        boxes = make(name, count, dimension)
        np.testing.assert_array_equal(
            create("sap-axes", boxes, closed=closed, **options).pairs(), pairs_of(boxes, closed)
        )


def test_the_golden_order_of_one_axis():
    order = ["b3", "b1", "b2", "e3", "e1", "b5", "b4", "e5", "e2", "e4"]
    ends = {name: float(place) for place, name in enumerate(order)}
    lower = [[ends[f"b{body}"], 0.0] for body in range(1, 6)]
    upper = [[ends[f"e{body}"], 0.0] for body in range(1, 6)]
    found = create("sap-axes", Boxes(lower, upper), axes=1).pairs() + 1
    assert found.tolist() == [[1, 2], [1, 3], [2, 3], [2, 4], [2, 5], [4, 5]]


@pytest.mark.parametrize("tiles", [True, False])
@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("axes", [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)])
def test_fewer_axes_intersect_only_these(axes, closed, tiles):
    for boxes in (make("infinite", 60, dtype=np.float32), make("touching", 60), make("mixed", 300)):
        found = create("sap-axes", boxes, axes=axes, closed=closed, tiles=tiles).pairs()
        assert as_set(pairs_of(boxes, closed)) <= as_set(found)
    np.testing.assert_array_equal(found, pairs_of(some_axes(boxes, axes), closed))


def test_axes_by_number_by_name_and_by_count_nest():
    boxes = make("mixed", 200)
    found = {axes: create("sap-axes", boxes, axes=axes).pairs() for axes in (1, "x", 2, "yx", 3, "xyz", None)}
    for alike in ((1, "x"), (2, "yx"), (3, "xyz"), (3, None)):
        np.testing.assert_array_equal(found[alike[0]], found[alike[1]])
    for narrow, wide in pairwise((3, 2, 1)):
        assert as_set(found[narrow]) < as_set(found[wide])


@pytest.mark.parametrize(
    "axes", [0, 4, "", "xx", "w", "xw", (3,), (-1,), (0, 0), (), 1.5, True, (0.0,), ("xy",), {"x": 1}]
)
def test_other_axes_are_refused(axes):
    with pytest.raises(InvalidInput, match="axes is"):
        create("sap-axes", make("mixed", 5), axes=axes)


def test_a_third_axis_is_refused_in_2d():
    for axes in (3, "xz", (2,)):
        with pytest.raises(InvalidInput, match="in 2D"):
            create("sap-axes", make("mixed", 5, 2), axes=axes)


def test_other_sorts_are_refused() -> None:
    for sort in ("insert", None):
        with pytest.raises(UnknownName, match="insertion"):
            create("sap-axes", make("mixed", 5), sort=sort)


@pytest.mark.parametrize("tiles", [True, False])
@pytest.mark.parametrize("axes", [None, "y"])
def test_insertion_follows_motion(tiles, axes):
    boxes = make("mixed", 300)
    sweep = create("sap-axes", boxes, tiles=tiles, axes=axes)
    assert sweep.counters.exchanges == 0
    swept = boxes.lower[:, sweep.structure().axis]
    for frame in range(8):
        moved = drifting(boxes, 0.2, frame)
        before = pairs_of(boxes) if axes is None else pairs_of(some_axes(boxes, (1,)))
        after = pairs_of(moved) if axes is None else pairs_of(some_axes(moved, (1,)))
        swaps = sweep.counters.exchanges
        sweep.update(moved)
        order = np.argsort(swept, kind="stable")
        swept = moved.lower[:, sweep.structure().axis]
        again = swept[order]
        assert sweep.counters.exchanges - swaps == np.count_nonzero(np.triu(again[:, None] > again[None], 1))
        assert as_set(sweep.began) == as_set(after) - as_set(before)
        np.testing.assert_array_equal(sweep.pairs(), after)
        boxes = moved


def test_insertion_of_a_reversed_line_exchanges_everything_and_is_exact():
    count = 100
    place = np.arange(count, dtype=np.float64)
    lower = np.stack((place, np.zeros(count), np.zeros(count)), axis=1)
    sweep = create("sap-axes", Boxes(lower, lower + 1.5))
    sweep.update(Boxes(lower, lower + 1.5))
    assert sweep.counters.exchanges == 0
    reversed_boxes = Boxes(-lower, -lower + 1.5)
    sweep.update(reversed_boxes)
    assert sweep.counters.exchanges == count * (count - 1) // 2
    np.testing.assert_array_equal(sweep.pairs(), pairs_of(reversed_boxes))


def test_insertion_survives_arrivals_and_departures():
    sweep = create("sap-axes", make("mixed", 100, 2))
    sweep.add(make("mixed", 50, 2, seed=1))
    sweep.remove(np.arange(0, 150, 3))
    final = make("mixed", 100, 2, seed=2)
    sweep.update(final)
    np.testing.assert_array_equal(sweep.pairs(), sweep.ids[pairs_of(final)])
