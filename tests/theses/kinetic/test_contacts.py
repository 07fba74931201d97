"""When moving polygons touch: against the static test at sampled times, and exactly in rationals."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from choque.errors import InvalidInput
from choque.narrow.polygons import contact
from choque.theses.kinetic import contacts, scenes, shapes
from choque.theses.kinetic.touching import contact_spans

SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


def _in_contact(found: list[Any], pair: tuple[int, int], time: float) -> tuple[bool, bool]:
    """Whether a pair touches at a time, and whether that time is within rounding of a change."""
    own = [each for each in found if each.pair == pair]
    near = any(abs(time - bound) < 1e-9 for each in own for bound in (each.began, each.ended))
    return any(each.began <= time <= each.ended for each in own), near


@pytest.mark.parametrize("seed", range(6))
def test_contacts_equal_the_static_test_at_sampled_times(seed: int, thorough: bool) -> None:
    model = scenes.make("random-shapes", n=14, occupancy=0.6, seed=seed, irregular=bool(seed % 2))
    found = contacts(model.polygons, model.velocity * 3, until=1.0)
    random = np.random.default_rng(seed)
    for time in random.random(200 if thorough else 4).tolist():
        moved = [
            polygon + 3 * velocity * time for polygon, velocity in zip(model.polygons, model.velocity, strict=True)
        ]
        for a in range(len(moved)):
            for b in range(a + 1, len(moved)):
                said, near = _in_contact(found, (a, b), time)
                assert near or said == bool(contact(moved[a], moved[b])), (seed, time, a, b)


def test_inside_is_reported_apart() -> None:
    small = SQUARE * 0.25 + [2.0, 0.25]
    (only,) = contacts([SQUARE, small], [[0, 0], [-1, 0]], until=5)
    assert (only.began, only.ended) == (1.0, 2.25)
    assert only.inside == ((1.25, 2.0),)
    (whole,) = contacts([SQUARE * 9, SQUARE + 4], [[1, 1], [1, 1]], until=2)
    assert (whole.began, whole.ended, whole.inside) == (0.0, 2.0, ((0.0, 2.0),))


def test_notch_is_left_and_entered_again() -> None:
    """A square passes over the two tips of a form that is not convex: two contacts of one pair."""
    tips = [[0, 0], [6, 0], [6, 3], [5, 1], [1, 1], [0, 3]]
    found = contacts([tips, SQUARE + np.array([-3.0, 1.5])], [[0, 0], [1, 0]], until=20)
    assert [(each.began, each.ended) for each in found] == [(2.0, 3.75), (7.25, 9.0)]


def test_edges_that_slide_along_each_other_and_corners_that_only_touch() -> None:
    (slide,) = contacts([SQUARE, SQUARE + np.array([3.0, 1.0])], [[1, 0], [0, 0]], until=9)
    assert (slide.began, slide.ended) == (2.0, 4.0)
    (corner,) = contacts([SQUARE, SQUARE + np.array([3.0, 3.0])], [[1, 1], [0, 0.5]], until=9)
    assert (corner.began, corner.ended) == (4.0, 4.0)
    (touch,) = contacts([SQUARE, SQUARE + np.array([3.0, -2.0])], [[1, 0], [0, 1.5]], until=2)
    assert (touch.began, touch.ended) == (2.0, 2.0)


def test_rationals_give_exact_times() -> None:
    first = np.array([[Fraction(0), Fraction(0)], [Fraction(3), Fraction(0)], [Fraction(0), Fraction(3)]], object)
    second = first + np.array([Fraction(7), Fraction(1, 3)], object)
    velocity = np.array([Fraction(-3, 7), Fraction(0)], object)
    ((began, ended, _),) = contact_spans(first, second, velocity, Fraction(100))
    assert began == Fraction(7 - 3 + Fraction(1, 3)) / Fraction(3, 7)
    assert ended == Fraction(10) / Fraction(3, 7)


def test_time_starts_at_the_given_start_and_bodies_may_be_at_rest() -> None:
    (found,) = contacts([SQUARE, SQUARE + np.array([3.0, 0.0])], [[1, 0], [0, 0]], until=9.0, start=5.0)
    assert (found.began, found.ended) == (7.0, 9.0)
    (still,) = contacts([SQUARE, SQUARE + 0.5], np.zeros((2, 2)), until=1.0)
    assert (still.began, still.ended) == (0.0, 1.0)
    assert contacts([], np.empty((0, 2)), until=1.0) == []


def test_translation_and_exchange_of_the_two_change_nothing() -> None:
    star, arrow = shapes.shape("star-5", size=4.0), shapes.shape("arrow-head", size=2.0, at=(5, 0.25))
    plain = contacts([star, arrow], [[1, 0], [0, 0.125]], until=20)
    turned = contacts([arrow + np.array([8, 4]), star + np.array([8, 4])], [[0, 0.125], [1, 0]], until=20)
    assert [(e.began, e.ended) for e in plain] == [(pytest.approx(e.began), pytest.approx(e.ended)) for e in turned]
    assert plain


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: contacts([SQUARE, [[0, 0], [1, 1]]], np.zeros((2, 2)), 1.0), "Polygon 1 has 2 points"),
        (lambda: contacts([SQUARE], [[np.nan, 0]], 1.0), "velocity"),
        (lambda: contacts([SQUARE], [[0, 0]], -1.0), "-1.0"),
    ],
)
def test_bad_input_is_named(call: Any, named: str) -> None:
    with pytest.raises(InvalidInput, match=named):
        call()
