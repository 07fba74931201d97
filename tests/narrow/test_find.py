"""The one call for contacts: pairs from boxes, pairs from the caller, and bad input."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from narrow_oracle import shapes_of
from scipy.spatial.transform import Rotation

from choque.errors import InvalidInput, UnknownName
from choque.narrow import Shapes, contacts
from choque.narrow.shapes import CAPSULE, CONVEX, PLANE, SPHERE, TILE


def crowd(count: int, seed: int, dtype: Any = np.float64) -> Shapes:
    generator = np.random.default_rng(seed)
    kind = generator.choice((SPHERE, CAPSULE, TILE), count)
    kind[0] = PLANE
    size = generator.uniform(0.1, 0.6, (count, 3))
    rotation = Rotation.random(count, random_state=seed).as_matrix()
    rotation[0] = np.eye(3)
    position = generator.uniform(0, 3, (count, 3))
    position[0] = 0.5
    return shapes_of(kind, position, rotation, size, dtype)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_boxes_lose_no_contact(dtype: Any) -> None:
    for seed in range(5):
        shapes = crowd(80, seed, dtype)
        every = contacts(shapes, list(combinations(range(80), 2)))
        found = contacts(shapes)
        assert found.pairs.tolist() == every.pairs.tolist()
        assert np.array_equal(found.depth, every.depth)
        assert len(found) > 30


@pytest.mark.parametrize("turn", ["", "x", "y", "z", "askew"])
def test_boxes_around_a_ground_that_is_turned(turn: str) -> None:
    shapes = crowd(60, 6)
    if turn == "askew":
        shapes.rotation[0] = Rotation.random(random_state=1).as_matrix()
    elif turn:
        shapes.rotation[0] = Rotation.from_euler(turn, 90, degrees=True).as_matrix().round()
    every = contacts(shapes, list(combinations(range(60), 2)))
    assert contacts(shapes).pairs.tolist() == every.pairs.tolist()


def test_boxes_around_hulls() -> None:
    """Convex bodies among the others: their boxes lose no contact either."""
    from choque.narrow.hulls import Hulls

    shapes = crowd(60, 14)
    shapes.kind[10:40] = CONVEX
    hull = np.where(shapes.kind == CONVEX, np.arange(60) % 2, -1).astype(np.int32)
    shapes = replace(shapes, hull=hull, hulls=Hulls.solids("cube", "tetrahedron"))
    every = contacts(shapes, list(combinations(range(60), 2)))
    assert contacts(shapes).pairs.tolist() == every.pairs.tolist()
    assert np.count_nonzero((shapes.kind[every.pairs] == CONVEX).any(axis=1)) > 30
    hull[12] = 2
    with pytest.raises(InvalidInput, match="Shape 12 has the hull 2; hulls go from 0 to 1"):
        contacts(shapes)


def test_pairs_in_any_order() -> None:
    shapes = crowd(30, 7)
    pairs = np.array(list(combinations(range(30), 2)))
    wanted = contacts(shapes, pairs)
    generator = np.random.default_rng(8)
    shuffled = generator.permutation(np.concatenate([pairs[:, ::-1], pairs[:50]]))
    found = contacts(shapes, shuffled)
    assert found.pairs.tolist() == wanted.pairs.tolist()
    assert np.array_equal(found.normal, wanted.normal)


def test_any_method_and_rules() -> None:
    shapes = crowd(40, 9)
    assert contacts(shapes, broad="bvh").pairs.tolist() == contacts(shapes, broad="brute").pairs.tolist()
    assert len(contacts(shapes, narrow="fingsics")) > 0


def test_lists_are_welcome() -> None:
    shapes: Any = Shapes([SPHERE, SPHERE], [[0, 0, 0], [3, 0, 0]], [np.eye(3)] * 2, [[2, 0, 0]] * 2)  # type: ignore[arg-type]
    assert contacts(shapes).point.tolist() == [[1.5, 0, 0]]


def test_nothing_gives_nothing() -> None:
    none = shapes_of([], np.empty((0, 3)), np.empty((0, 3, 3)), np.empty((0, 3)))
    assert len(contacts(none)) == len(contacts(none, [])) == len(contacts(crowd(5, 10), [])) == 0


@pytest.mark.parametrize(
    ("field", "row", "value", "problem"),
    [
        ("position", 2, np.nan, "Row 2 of position"),
        ("position", 3, np.inf, "Row 3 of position"),
        ("size", 1, np.nan, "Row 1 of size"),
        ("size", 4, -1.0, "Row 4 of size"),
        ("rotation", 2, 1.0, "Row 2 of rotation is not orthonormal"),
        ("rotation", 2, np.nan, "Row 2 of rotation"),
        ("kind", 2, 9, "Row 2 of kind is 9"),
        ("kind", 2, CONVEX, "Shape 2 is convex, but there are no hulls"),
    ],
)
def test_numbers_that_are_refused(field: str, row: int, value: float, problem: str) -> None:
    shapes = crowd(6, 11)
    getattr(shapes, field)[row] = value
    with pytest.raises(InvalidInput, match=problem):
        contacts(shapes)


@pytest.mark.parametrize(
    ("pairs", "problem"),
    [
        ([[0, 6]], r"pairs\[0, 1\] is 6; it must be a whole number from 0 to 5"),
        ([[0, 1], [-1, 2]], "is -1; it must be a whole number from 0 to 5"),
        ([[0, 1], [2, 2]], r"\(2, 2\); a shape has no contact with itself"),
        ([[0, 1, 2]], r"it must be \(m, 2\)"),
        ([[0.5, 1]], "must hold whole numbers"),
        ([[0, 1], [2]], "not a rectangular array"),
    ],
)
def test_pairs_that_are_refused(pairs: Any, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        contacts(crowd(6, 12), pairs)


def test_other_arguments_that_are_refused() -> None:
    shapes = crowd(6, 13)
    with pytest.raises(UnknownName, match="rules"):
        contacts(shapes, narrow="strict")
    with pytest.raises(UnknownName, match="bvhh"):
        contacts(shapes, broad="bvhh")
    with pytest.raises(InvalidInput, match="threads"):
        contacts(shapes, threads=0)
    with pytest.raises(InvalidInput, match=r"must be a choque\.narrow\.Shapes"):
        contacts(None)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="same n"):
        contacts(replace(shapes, position=shapes.position[:3]))
    with pytest.raises(InvalidInput, match=r"kind has the shape \(2, 3\)"):
        contacts(replace(shapes, kind=shapes.kind.reshape(2, 3)))
