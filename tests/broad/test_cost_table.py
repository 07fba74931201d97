"""Choosing between measured places."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from choque.broad.cost_table import CUT_OFF, CostTable

DECADES = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=8, unique=True)


@settings(max_examples=40, deadline=None)
@given(places=DECADES, data=st.data())
def test_a_measured_place_keeps_its_own_best(places: list[tuple[int, int]], data: st.DataObject) -> None:
    winners = [data.draw(st.sampled_from(("a", "b"))) for _ in places]
    points = [{"x": 10.0**x, "y": 10.0**y} for x, y in places]
    seconds = [{name: 1.0 if name == winner else 3.0 for name in ("a", "b")} for winner in winners]
    table = CostTable(("x", "y"), ("a", "b"), list(zip(points, seconds, strict=True)))
    assert [table.choose(point).method for point in points] == winners


def test_a_planted_crossover_is_found_between_the_places() -> None:
    """One method is linear, the other quadratic; they cross at a thousand."""
    places = [({"n": n}, {"line": 1000.0 * n, "square": 1.0 * n * n}) for n in (10, 100, 1_000, 10_000, 100_000)]
    table = CostTable(("n",), ("line", "square"), places)
    assert table.choose({"n": 300}).method == "square"
    assert table.choose({"n": 3_000}).method == "line"
    ratios = table.choose({"n": 10_000}).ratios
    assert ratios["line"] == 1.0
    assert 9.0 < ratios["square"] < 11.0


def test_who_was_cut_off_is_slower_than_all() -> None:
    table = CostTable(("n",), ("one", "other", "gone"), [({"n": 5}, {"one": 2.0, "other": 1.0})])
    found = table.choose({"n": 7})
    assert found.method == "other"
    assert found.ratios["gone"] == pytest.approx(2.0 * CUT_OFF)
    assert str(found) == "other is expected to be the fastest, 2x as fast as one"


def test_weights_say_what_counts() -> None:
    places = [({"x": 1, "y": 1000}, {"a": 1.0, "b": 2.0}), ({"x": 1000, "y": 1}, {"a": 2.0, "b": 1.0})]
    by_x = CostTable(("x", "y"), ("a", "b"), places, {"y": 0.0})
    by_y = CostTable(("x", "y"), ("a", "b"), places, {"x": 0.0})
    assert by_x.choose({"x": 2, "y": 2}).method == "a"
    assert by_y.choose({"x": 2, "y": 2}).method == "b"
