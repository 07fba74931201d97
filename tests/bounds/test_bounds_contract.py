"""What all kinds of bounds share."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any, Literal, cast

import numpy as np
import pytest
from bounds_oracles import contains, exact, exact_move, random_axes
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import choque.bounds
from choque.bounds import Bounds, Boxes, KDops, OrientedBoxes, Spheres
from choque.errors import InvalidInput

FITS: dict[str, Callable[..., Bounds]] = {
    "boxes": Boxes.fit,
    "spheres": Spheres.fit,
    "oriented": OrientedBoxes.fit,
    "4-dop": lambda *given: KDops.fit(*given, k=4),
    "8-dop": lambda *given: KDops.fit(*given, k=8),
    "6-dop": lambda *given: KDops.fit(*given, k=6),
    "14-dop": lambda *given: KDops.fit(*given, k=14),
    "18-dop": lambda *given: KDops.fit(*given, k=18),
    "26-dop": lambda *given: KDops.fit(*given, k=26),
}
PLANE = ["boxes", "spheres", "oriented", "4-dop", "8-dop"]
SPACE = ["boxes", "spheres", "oriented", "6-dop", "14-dop", "18-dop", "26-dop"]
EVERY = [(name, 2) for name in PLANE] + [(name, 3) for name in SPACE]
every_kind = pytest.mark.parametrize(("name", "dimension"), EVERY)


def some(name: str, dimension: int, count: int = 6, seed: int = 1, dtype: str = "float64") -> Bounds:
    generator = np.random.default_rng(seed)
    points = generator.normal(size=(count, 5, dimension)) + generator.uniform(-3, 3, (count, 1, dimension))
    return FITS[name](points.astype(dtype))


@st.composite
def point_groups(draw: st.DrawFn, dimension: int, count: int) -> np.ndarray:
    """Groups of points that are wild, whole, flat or all in one place."""
    width: Literal[32, 64] = draw(st.sampled_from([32, 64]))
    limit = draw(st.sampled_from([1e-310, 1e-40, 1.0, 1e6, 1e30]))
    limit = float(np.dtype(f"float{width}").type(limit))
    wild = st.floats(-limit, limit, width=width)
    elements = draw(st.sampled_from([wild, st.integers(-9, 9).map(float)]))
    shape = (count, draw(st.integers(1, 6)), dimension)
    points = draw(hnp.arrays(f"float{width}", shape, elements=elements))
    if draw(st.booleans()):
        points[..., draw(st.integers(0, dimension - 1))] = draw(elements)
    return points


def test_public_names() -> None:
    assert choque.bounds.__all__ == sorted(choque.bounds.__all__)
    assert all(hasattr(choque.bounds, name) for name in choque.bounds.__all__)


def test_boxes_load_no_other_kind() -> None:
    code = "import sys; from choque.bounds import Boxes; print(*(m for m in sys.modules if 'choque.bounds.' in m))"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert sorted(loaded.split()) == ["choque.bounds._bounds"]


def test_overlap_with_other_volumes_takes_a_row_of_each() -> None:
    few, many = Boxes([[0, 0]], [[1, 1]]), Boxes([[1, 1], [2, 2], [0, 3]], [[2, 2], [3, 3], [4, 4]])
    assert few.overlap([[0, 0], [0, 1]], many).tolist() == [True, False]
    assert many.overlap([[0, 0], [1, 0]], few, closed=False).tolist() == [False, False]
    with pytest.raises(InvalidInput, match=r"pairs\[:, 0\]\[0\] is 2; it must be a whole number from 0 to 0"):
        few.overlap([[2, 0]], many)


@every_kind
@given(data=st.data())
def test_fit_contains_every_point_exactly(name: str, dimension: int, data: st.DataObject) -> None:
    points = data.draw(point_groups(dimension, count=2))
    fitted = FITS[name](points)
    assert fitted.dtype == points.dtype
    assert fitted.dimension == dimension
    for row in range(2):
        assert all(contains(fitted, row, exact(point)) for point in points[row])


@every_kind
@given(data=st.data())
def test_moved_contains_every_moved_point_exactly(name: str, dimension: int, data: st.DataObject) -> None:
    points = data.draw(point_groups(dimension, count=2))
    rotation = random_axes(np.random.default_rng(data.draw(st.integers(0, 2**32))), 2, dimension)
    translation = data.draw(hnp.arrays("float64", (2, dimension), elements=st.floats(-1e6, 1e6)))
    moved = FITS[name](points).moved(rotation, translation)
    assert moved.dtype == points.dtype
    for row in range(2):
        for point in points[row]:
            assert contains(moved, row, exact_move(point, rotation[row], translation[row]))


@every_kind
@given(data=st.data())
def test_boxes_contain_what_the_volume_contains(name: str, dimension: int, data: st.DataObject) -> None:
    points = data.draw(point_groups(dimension, count=1))
    around = FITS[name](points).boxes()
    assert isinstance(around, Boxes)
    assert around.dtype == points.dtype
    assert all(contains(around, 0, exact(point)) for point in points[0])


@every_kind
@given(data=st.data())
def test_groups_that_share_a_point_overlap(name: str, dimension: int, data: st.DataObject) -> None:
    points = data.draw(point_groups(dimension, count=2))
    points[1, 0] = points[0, -1]
    assert FITS[name](points).overlap([[0, 1]]).all()


@every_kind
def test_whole_numbers_move_exactly(name: str, dimension: int) -> None:
    points = np.random.default_rng(3).integers(-50, 50, (8, 4, dimension)).astype(float)
    fitted = FITS[name](points)
    assert fitted.moved() == fitted
    assert fitted.moved(np.eye(dimension)) == fitted
    if name != "spheres" and name != "oriented":
        quarter = np.eye(dimension)[[1, 0, *range(2, dimension)]] * [[-1], *[[1]] * (dimension - 1)]
        shift = np.arange(dimension)
        assert fitted.moved(quarter, shift) == FITS[name](points @ quarter.T + shift)


@every_kind
def test_one_transform_is_the_same_as_one_for_each(name: str, dimension: int) -> None:
    fitted = some(name, dimension)
    rotation = random_axes(np.random.default_rng(5), 1, dimension)[0]
    translation = np.arange(dimension)
    each = fitted.moved(np.stack([rotation] * 6), np.stack([translation] * 6))
    assert fitted.moved(rotation, translation) == each


@every_kind
def test_ragged_groups_equal_groups_one_by_one(name: str, dimension: int) -> None:
    points = np.random.default_rng(4).normal(size=(90, dimension))
    starts = [0, 1, 3, 10, 12, 90]
    ragged = FITS[name](points, starts)
    for row in range(5):
        alone = FITS[name](points[None, starts[row] : starts[row + 1]])
        assert ragged.take([row]) == alone


@every_kind
def test_take_put_join(name: str, dimension: int) -> None:
    six, three = some(name, dimension), some(name, dimension, count=3, seed=2)
    joined = six.join(three)
    assert len(joined) == 9
    assert joined.take(range(6)) == six
    assert joined.take([6, 7, 8]) == three
    changed = six.put([4, 0, 2], three)
    assert changed.take([4, 0, 2]) == three
    assert changed.take([1, 3, 5]) == six.take([1, 3, 5])
    assert six == some(name, dimension)
    assert six.put([], six.take([])) == six


@every_kind
def test_mixed_floats_become_the_wider(name: str, dimension: int) -> None:
    narrow, wide = some(name, dimension, dtype="float32"), some(name, dimension, seed=2)
    assert narrow.join(wide).dtype == np.float64
    assert narrow.put(range(6), wide) == wide
    assert wide.put([0], narrow.take([0])).dtype == np.float64
    widened = narrow.join(wide.take([])).take(range(6))
    np.testing.assert_array_equal(narrow.overlap_with(wide), widened.overlap_with(wide))


@every_kind
@pytest.mark.parametrize("closed", [True, False])
def test_listed_pairs_equal_row_against_row(name: str, dimension: int, closed: bool) -> None:
    volumes = some(name, dimension, count=60)
    pairs = np.random.default_rng(6).integers(0, 60, (40_000, 2))
    answer = volumes.overlap(pairs, closed=closed)
    rows = volumes.take(pairs[:, 0]).overlap_with(volumes.take(pairs[:, 1]), closed=closed)
    np.testing.assert_array_equal(answer, rows)
    np.testing.assert_array_equal(answer, volumes.overlap(pairs[:, ::-1], closed=closed))
    np.testing.assert_array_equal(answer, volumes.overlap(pairs.astype(np.int32), closed=closed, threads=1))
    assert 0 < answer.sum() < len(pairs)


@every_kind
def test_no_volumes_and_no_pairs(name: str, dimension: int) -> None:
    none = FITS[name](np.empty((0, 4, dimension)))
    assert len(none) == 0
    assert none.dimension == dimension
    assert len(none.boxes()) == 0
    assert len(none.moved(np.eye(dimension), np.zeros((0, dimension)))) == 0
    assert none.overlap([]).shape == (0,)
    assert none.overlap(np.empty((0, 2), np.int32)).dtype == np.bool_
    assert none.overlap_with(none).shape == (0,)


@every_kind
def test_values_are_readable_comparable_and_fixed(name: str, dimension: int) -> None:
    value = some(name, dimension)
    assert f"6 in {dimension}D, float64" in repr(value)
    assert pickle.loads(pickle.dumps(value)) == value
    assert copy.deepcopy(value) == value
    assert value != some(name, dimension, seed=2)
    assert value != some(name, dimension, dtype="float32")
    assert value != "something else"
    with pytest.raises(AttributeError, match="make another one"):
        value.lower = np.zeros((6, 2))
    with pytest.raises(TypeError):
        hash(value)


@every_kind
def test_bad_arguments_are_sentences(name: str, dimension: int) -> None:
    six = some(name, dimension)
    stranger: Any = some("spheres" if name == "boxes" else "boxes", dimension)
    cases: list[tuple[Callable[[], object], str]] = [
        (lambda: six.take([0, 6]), r"rows\[1\] is 6; it must be a whole number from 0 to 5"),
        (lambda: six.take([-1]), r"rows\[0\] is -1"),
        (lambda: six.take([True]), "element type bool"),
        (lambda: six.take([[0]]), r"shape \(1, 1\)"),
        (lambda: six.overlap([[0, 1], [2, 9]]), r"pairs\[1, 1\] is 9"),
        (lambda: six.overlap([0, 1]), r"must be \(m, 2\)"),
        (lambda: six.overlap([[0.0, 1.0]]), "whole numbers"),
        (lambda: six.overlap([[0, 1], [2]]), "rectangular"),
        (lambda: six.overlap([[0, 1]], closed=cast("Any", "no")), "closed is 'no'"),
        (lambda: six.put([0, 1], six), "2 rows are to be replaced by 6"),
        (lambda: six.join(stranger), "do not go together"),
        (lambda: six.join(cast("Any", "six")), "str is not a kind of bounds"),
        (lambda: six.overlap_with(six.take([0])), "row by row"),
        (lambda: six.moved(np.eye(dimension + 1)), "rotation has the shape"),
        (lambda: six.moved(2 * np.eye(dimension)), "Row 0 of rotation is not orthonormal"),
        (lambda: six.moved(None, [np.nan] * dimension), "Row 0 of translation"),
        (lambda: six.moved(None, np.zeros((5, dimension))), "translation has the shape"),
        (lambda: six.moved("turn"), "rotation has the element type"),
        (lambda: FITS[name](np.zeros((2, 0, dimension))), "Group 0 holds no points"),
        (lambda: FITS[name](np.zeros((4, dimension)), [0, 2, 2, 4]), "Group 1 holds no points"),
        (lambda: FITS[name](np.zeros((4, dimension)), [0, 3]), "begin with 0 and end with 4"),
        (lambda: FITS[name](np.zeros((4, dimension))), "together with starts"),
        (lambda: FITS[name](np.full((1, 2, dimension), np.inf)), "Row 0 of points"),
    ]
    for call, text in cases:
        with pytest.raises(InvalidInput, match=text):
            call()


def test_kernels_run_as_plain_python() -> None:
    program = """
import numpy as np
from choque.bounds import Boxes, KDops, OrientedBoxes, Spheres
points = np.random.default_rng(0).integers(0, 9, (3, 30, 3)).astype(np.float32)
for fit in (Boxes.fit, Spheres.fit, OrientedBoxes.fit, KDops.fit):
    volumes = fit(points).moved(np.eye(3)[[1, 2, 0]], [1, 2, 3])
    print(volumes.overlap([[0, 1], [1, 2]]), volumes.boxes().lower.tolist())
for kind in (KDops, OrientedBoxes):
    print(kind.from_boxes(Boxes.fit(points)).boxes().upper.tolist())
"""
    answers = [
        subprocess.run(
            [sys.executable, "-W", "error", "-c", program],
            env={**os.environ, "NUMBA_DISABLE_JIT": disabled},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for disabled in ("0", "1")
    ]
    assert answers[0] == answers[1]
