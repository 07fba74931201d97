"""Signs of areas and volumes, against rational numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from choque._core.predicates import line_side, plane_side

Points = NDArray[np.float64]


def rational_plane_side(a: Points, b: Points, c: Points, d: Points) -> int:
    p, q, r = ([Fraction(float(x)) - Fraction(float(y)) for x, y in zip(e, a, strict=True)] for e in (b, c, d))
    value = (p[1] * q[2] - p[2] * q[1]) * r[0] + (p[2] * q[0] - p[0] * q[2]) * r[1] + (p[0] * q[1] - p[1] * q[0]) * r[2]
    return (value > 0) - (value < 0)


def rational_line_side(a: Points, b: Points, c: Points) -> int:
    (ax, ay), (bx, by), (cx, cy) = ([Fraction(float(x)) for x in e] for e in (a, b, c))
    value = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    return (value > 0) - (value < 0)


def as_tuples(points: Points) -> list[tuple[float, ...]]:
    return [tuple(map(float, point)) for point in points]


def nearly_flat(random: np.random.Generator, dimension: int) -> Points:
    """Points whose last one is a rounded combination of the others: many on the plane, or an ulp beside it."""
    points = random.choice([1.0, 1e-3, 1e5]) * random.standard_normal((dimension + 1, dimension))
    if random.integers(2):
        points = points.round(1)
    weights = random.integers(-3, 4, dimension) / random.choice([1, 2, 3])
    weights[0] += 1 - weights.sum()
    points[-1] = weights @ points[:-1]
    return points


def test_sides_of_planes_are_those_of_rational_numbers() -> None:
    random = np.random.default_rng(1)
    flat = 0
    for _ in range(3000):
        points = nearly_flat(random, 3)
        wanted = rational_plane_side(*points)
        assert plane_side(*as_tuples(points)) == wanted, points.tolist()
        flat += wanted == 0
    assert 100 < flat < 2900


def test_sides_of_lines_are_those_of_rational_numbers() -> None:
    random = np.random.default_rng(2)
    for _ in range(3000):
        points = nearly_flat(random, 2)
        assert line_side(*as_tuples(points)) == rational_line_side(*points), points.tolist()


coordinates = st.floats(-1e60, 1e60).filter(lambda x: x == 0 or abs(x) > 1e-60)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(coordinates, coordinates, coordinates), min_size=4, max_size=4))
@example([(0.1, 0.1, 0.1), (0.2, 0.2, 0.2), (0.3, 0.3, 0.3), (5.0, 1.0, 2.0)])
def test_sides_of_planes_for_coordinates_of_any_size(points: list[tuple[float, float, float]]) -> None:
    array = np.array(points)
    wanted = rational_plane_side(*array)
    assert plane_side(*points) == wanted
    assert plane_side(points[1], points[0], points[2], points[3]) == -wanted


@pytest.mark.parametrize("size", [1.0, 1e-40, 1e40])
def test_an_ulp_beside_a_plane_is_seen(size: float) -> None:
    a, b, c = (size * 0.1, 0.0, 0.0), (0.0, size * 0.1, 0.0), (0.0, 0.0, size * 0.1)
    third = size * 0.1 / 3
    signs = {plane_side(a, b, c, (third, third, third + k * np.spacing(third))) for k in range(-4, 5)}
    assert signs == {-1, 1} or signs == {-1, 0, 1}
