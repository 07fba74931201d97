"""Polygons: edge contacts against all pairs in rationals, containment, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from choque.errors import InvalidInput
from choque.narrow.polygons import as_polygon, close_edges, contact, contains, turns

SQUARE = [[0, 0], [4, 0], [4, 4], [0, 4]]
points = st.tuples(st.integers(-5, 5), st.integers(-5, 5))
outlines = st.lists(points, min_size=3, max_size=12)


def _cross(o: Any, a: Any, b: Any) -> Fraction:
    return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])


def _meet(p: Any, q: Any, r: Any, s: Any) -> bool:
    """Whether two segments have a common point: parameters solved in rationals."""
    u, v, w = (q[0] - p[0], q[1] - p[1]), (s[0] - r[0], s[1] - r[1]), (r[0] - p[0], r[1] - p[1])
    across = u[0] * v[1] - u[1] * v[0]
    if across:
        along, other = Fraction(w[0] * v[1] - w[1] * v[0], across), Fraction(w[0] * u[1] - w[1] * u[0], across)
        return 0 <= along <= 1 and 0 <= other <= 1
    ends = [(a, b, c) for a, b, c in ((p, q, r), (p, q, s), (r, s, p), (r, s, q))]
    return any(_cross(a, b, c) == 0 and _between(a, b, c) for a, b, c in ends)


def _between(a: Any, b: Any, c: Any) -> bool:
    return all(min(a[k], b[k]) <= c[k] <= max(a[k], b[k]) for k in range(2))


@given(outlines, outlines)
def test_touching_edges_equal_all_pairs(first: list[Any], second: list[Any]) -> None:
    found = contact(first, second).edges.tolist()
    wanted = [
        [i, j]
        for i, j in product(range(len(first)), range(len(second)))
        if _meet(first[i], first[(i + 1) % len(first)], second[j], second[(j + 1) % len(second)])
    ]
    assert found == wanted


def test_tree_finds_all_close_edges_of_long_outlines() -> None:
    random = np.random.default_rng(4)
    angle = np.sort(random.random(700)) * 2 * np.pi
    first = np.stack((np.cos(angle), np.sin(angle)), 1) * (1 + 0.3 * random.random((700, 1)))
    second = first[::3] * 1.1 + 0.2
    found = close_edges(first, second)
    low_a, high_a = _boxes(first)
    low_b, high_b = _boxes(second)
    wanted = np.argwhere(((low_a[:, None] <= high_b) & (low_b <= high_a[:, None])).all(axis=2))
    assert found.tolist() == wanted.tolist()


def _boxes(vertices: Any) -> tuple[Any, Any]:
    following = np.roll(vertices, -1, axis=0)
    return np.minimum(vertices, following), np.maximum(vertices, following)


def test_containment_is_reported_apart() -> None:
    inner = [[1, 1], [2, 1], [1, 2]]
    assert (contact(SQUARE, inner).inside, contact(inner, SQUARE).inside) == ("second", "first")
    assert contact(SQUARE, [[5, 5], [6, 5], [5, 6]]).inside == ""
    assert not contact(SQUARE, [[5, 5], [6, 5], [5, 6]])
    assert contact(SQUARE, inner)
    notch = [[0, 0], [6, 0], [6, 6], [3, 1], [0, 6]]
    assert contact(notch, [[2.9, 4], [3.1, 4], [3, 5]]).inside == ""  # in the notch, outside


def test_an_edge_that_only_just_touches_is_seen_in_spite_of_rounding() -> None:
    third = np.array([[0.1, 0.1], [0.3, 0.3], [0.1, 0.5]])
    on_the_line = np.array([0.2, 0.2])
    assert contact(third, [on_the_line, [0.4, 0.1], [0.5, 0.2]]).edges.tolist() == [[0, 0], [0, 2]]
    a, b, c = np.array([[0.1, 0.1]]), np.array([[0.3, 0.3]]), np.array([[0.2, np.nextafter(0.2, 1)]])
    assert (turns(a, b, on_the_line[None]).tolist(), turns(a, b, c).tolist()) == ([0], [1])


@given(outlines, st.tuples(st.integers(-11, 11), st.integers(-11, 11)))
def test_contains_equals_the_winding_of_exact_crossings(outline: list[Any], double: tuple[int, int]) -> None:
    point = (Fraction(2 * double[0] + 1, 4), Fraction(2 * double[1] + 1, 4))
    ring = list(zip(outline, outline[1:] + outline[:1], strict=True))
    if any(_cross(a, b, point) == 0 and _between(a, b, point) for a, b in ring):
        return
    crossings = 0
    for a, b in ring:
        if (a[1] <= point[1]) != (b[1] <= point[1]):
            crossings += a[0] + Fraction(b[0] - a[0]) * (point[1] - a[1]) / (b[1] - a[1]) > point[0]
    assert contains(np.array(outline, float), np.array([float(v) for v in point])) == bool(crossings % 2)


@pytest.mark.parametrize(
    ("vertices", "named"),
    [
        ([[0, 0], [1, 1]], "2 points"),
        ([[0, 0], [1, 1], [np.nan, 0]], "Row 2"),
        ([0, 1, 2], "shape"),
        ([["a", "b"]] * 3, "element type"),
    ],
)
def test_bad_polygons_are_named(vertices: Any, named: str) -> None:
    with pytest.raises(InvalidInput, match=named):
        as_polygon(vertices)
    with pytest.raises(InvalidInput, match="first polygon"):
        contact(vertices, SQUARE)
