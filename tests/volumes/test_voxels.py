"""Voxels to extreme vertices and back, the six orders, and which sets of points are refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from volume_oracles import extreme_points, random_mask

from choque.errors import ChoqueError, InvalidInput, UnknownName
from choque.volumes import ExtremeVertices, Volume
from choque.volumes.keys import ORDERS

FIGURE_1 = "000 002 011 012 020 021 101 102 110 112 120 121 200 201 210 211"

masks = arrays(np.bool_, array_shapes(min_dims=1, max_dims=3, max_side=6))


def test_figure_1_of_the_thesis() -> None:
    """F-003-01."""
    mask = np.zeros((2, 2, 2), np.bool_)
    for cell in ((0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0)):
        mask[cell] = True
    points = ExtremeVertices.from_mask(mask).points
    assert ["".join(map(str, point)) for point in points.tolist()] == FIGURE_1.split()


def test_vertices_are_the_points_of_odd_parity() -> None:
    """F-003-01."""
    random = np.random.default_rng(0)
    for _ in range(100):
        mask = random_mask(random, int(random.integers(1, 4)), 6)
        assert ExtremeVertices.from_mask(mask).points.tolist() == extreme_points(mask)


def test_round_trips(thorough: bool) -> None:
    """F-003-02."""
    random = np.random.default_rng(1)
    for _ in range(10_000 if thorough else 300):
        mask = random_mask(random, int(random.integers(1, 4)))
        offset = tuple(random.integers(-50, 50, mask.ndim).tolist())
        upper = tuple(start + size for start, size in zip(offset, mask.shape, strict=True))
        model = ExtremeVertices.from_mask(mask, offset=offset)
        assert np.array_equal(model.mask(offset, upper), mask)
        assert len(model) % 2 == 0
        assert len(model) != 10 or mask.ndim < 3


@given(masks, st.data())
def test_every_order_holds_the_same_object(mask: np.ndarray, data: st.DataObject) -> None:
    """F-003-03."""
    model = ExtremeVertices.from_mask(mask)
    order = data.draw(st.sampled_from(ORDERS[mask.ndim]))
    other = model.reordered(order)
    columns = ["xyz".index(axis) for axis in order]
    assert other.points[:, columns].tolist() == sorted(model.points[:, columns].tolist())
    assert other.reordered(model.order).points.tolist() == model.points.tolist()
    assert other == model
    assert np.array_equal(other.mask(), model.mask())


@pytest.mark.parametrize("layout", ["C", "F", "reversed", "transposed", "strided"])
def test_the_layout_in_memory_does_not_matter(layout: str) -> None:
    mask = np.random.default_rng(2).random((5, 7, 9)) < 0.4
    same = {
        "C": mask.copy(),
        "F": np.asfortranarray(mask),
        "reversed": mask[::-1].copy()[::-1],
        "transposed": mask.transpose(1, 2, 0).copy().transpose(2, 0, 1),
        "strided": np.repeat(mask, 2, axis=1)[:, ::2],
    }[layout]
    assert ExtremeVertices.from_mask(same).points.tolist() == extreme_points(mask)


@given(masks)
def test_a_missing_vertex_is_refused(mask: np.ndarray) -> None:
    """F-003-04."""
    points = ExtremeVertices.from_mask(mask).points
    assert ExtremeVertices.from_points(points) == ExtremeVertices.from_mask(mask)
    if len(points):
        with pytest.raises(InvalidInput, match="odd number"):
            ExtremeVertices.from_points(points[1:])
        with pytest.raises(InvalidInput, match="twice"):
            ExtremeVertices.from_points(np.concatenate((points, points[:1])))


def test_points_even_along_one_axis_only_are_refused() -> None:
    """F-003-04."""
    with pytest.raises(InvalidInput, match="along y"):
        ExtremeVertices.from_points([[0, 0], [2, 0], [0, 1], [3, 1]])
    with pytest.raises(InvalidInput, match="along x"):
        ExtremeVertices.from_points([[0, 0], [0, 1], [1, 0], [1, 1], [5, 0], [5, 2]])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ExtremeVertices.from_mask(np.zeros((2, 2, 2, 2), bool)), "4 axes"),
        (lambda: ExtremeVertices.from_mask(np.zeros((2, 2, 2))), "type float64"),
        (lambda: ExtremeVertices.from_points([1, 2, 3]), "one row for each"),
        (lambda: ExtremeVertices.from_points([[0.5, 0.0, 0.0]]), "whole numbers"),
        (lambda: ExtremeVertices.from_boxes([0, 0, 0], [1, 1, 1]), "one row for each"),
        (lambda: ExtremeVertices.from_boxes([[0, 0, 0]], [[1, 1]]), "same"),
        (lambda: ExtremeVertices.from_boxes([[0, 2, 0]], [[1, 1, 1]]), "above its upper"),
        (lambda: ExtremeVertices.from_mask(np.ones((1, 1, 1), bool)).reordered("xxz"), "order"),
        (lambda: ExtremeVertices.from_mask(np.ones((1, 1), bool)) & ExtremeVertices.from_mask([True]), "alike"),
        (lambda: ExtremeVertices.from_mask([True]).moved((1 << 22,)) | ExtremeVertices.from_mask([True]), "apart"),
        (lambda: list(ExtremeVertices.from_mask([True]).planes()), "planes"),
        (lambda: ExtremeVertices.from_mask([True]).scaled((0,)), "a whole number of at least 1"),
        (lambda: ExtremeVertices.from_mask([True]).combine(ExtremeVertices.from_mask([True]), "unite"), "union"),
    ],
)
def test_bad_input_is_one_sentence(call: object, words: str) -> None:
    with pytest.raises(ChoqueError, match=words) as caught:
        call()  # type: ignore[operator]
    assert isinstance(caught.value, InvalidInput | UnknownName)


def test_boxes_may_be_lists() -> None:
    two = ExtremeVertices.from_boxes([[0, 0, 0], [4, 0, 0]], [[2, 1, 1], [5, 3, 1]])
    assert two.mask().sum() == 5


def test_a_window_costs_what_it_holds() -> None:
    """Two voxels far apart have no mask together, and any window has; the whole is refused in a sentence."""
    far = 200_000
    both = Volume.from_voxels(np.ones((1, 1, 1), bool)) | Volume.from_voxels(
        np.ones((1, 1, 1), bool), origin=(far,) * 3
    )
    for corner in ((0, 0, 0), (far, far, far)):
        window = both.voxels(tuple(at - 1 for at in corner), tuple(at + 2 for at in corner))
        assert np.argwhere(window).tolist() == [[1, 1, 1]]
    with pytest.raises(InvalidInput, match="more than 2³⁴"):
        both.voxels()


def test_windows_are_those_of_the_whole_mask() -> None:
    random = np.random.default_rng(5)
    for order in ("xyz", "zyx", "yxz"):
        mask = random.random((7, 6, 5)) < 0.4
        model = Volume.from_voxels(mask).model.reordered(order)
        for _ in range(20):
            lower = random.integers(-3, 8, 3)
            upper = lower + random.integers(0, 8, 3)
            wide = np.zeros((30, 30, 30), bool)
            wide[10:17, 10:16, 10:15] = mask
            wanted = wide[tuple(slice(low + 10, high + 10) for low, high in zip(lower, upper, strict=True))]
            assert np.array_equal(model.mask(tuple(lower.tolist()), tuple(upper.tolist())), wanted)


def test_objects_far_apart_share_nothing() -> None:
    one = Volume.from_voxels(np.ones((2, 2, 2), bool))
    two = one.translated((3_000_000, 0, 0))
    assert (one & two).is_empty
    assert one - two == one
    assert one != two
    with pytest.raises(InvalidInput, match="apart"):
        one | two


@pytest.mark.parametrize(
    ("corner", "sentence"),
    [
        ([[1, 2], [3]], "not a rectangular array"),
        ([[1e300, 0.0]], "at most 2,097,151 voxels"),
        ([[0.5, 0.0]], "whole numbers"),
        ([[np.nan, 0.0]], "finite"),
        ([1, 2], "one row for each"),
    ],
)
def test_corners_that_are_no_lattice_points_are_refused(corner: object, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        ExtremeVertices.from_boxes([[0, 0]], corner)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput):
        ExtremeVertices.from_points(corner)  # type: ignore[arg-type]
