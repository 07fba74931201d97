"""Oriented boxes: overlap against exact separating axes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from bounds_oracles import oriented_gap, random_axes

from choque.bounds import Boxes, OrientedBoxes
from choque.errors import InvalidInput

SHAPES: dict[str, list[float]] = {
    "compact": [1, 0.8, 1.2],
    "elongated": [0.05, 0.05, 2],
    "plate": [1.5, 1, 1e-6],
    "flat": [1.5, 1, 0],
    "segment": [0, 2, 0],
    "point": [0, 0, 0],
}
RELATIONS = ["free", "same", "nearly same", "quarter turn", "shared edge"]


def second_axes(generator: np.random.Generator, axes: np.ndarray, relation: str) -> np.ndarray:
    """The axes of the other box: unrelated, parallel, almost parallel, or with one edge in common."""
    if relation == "free":
        return random_axes(generator, len(axes), axes.shape[1])
    if relation == "same":
        return axes.copy()
    if relation == "quarter turn":
        return np.ascontiguousarray(axes[:, ::-1])
    if relation == "nearly same":
        bent = axes + generator.normal(scale=10.0 ** generator.uniform(-17, -6), size=axes.shape)
        return np.ascontiguousarray(np.linalg.qr(bent.transpose(0, 2, 1)).Q.transpose(0, 2, 1))
    angle = generator.uniform(0, np.pi, len(axes))[:, None]
    turned = axes.copy()
    turned[:, 0] = np.cos(angle) * axes[:, 0] + np.sin(angle) * axes[:, 1]
    turned[:, 1] = np.cos(angle) * axes[:, 1] - np.sin(angle) * axes[:, 0]
    return turned


def touching_pair(
    generator: np.random.Generator, count: int, dimension: int, dtype: str, shapes: list[str], relation: str
) -> tuple[OrientedBoxes, OrientedBoxes]:
    """Boxes with a surface point in common, but for rounding, and boxes somewhat deeper or farther."""
    first, second = (np.tile(SHAPES[shape][:dimension], (count, 1)) for shape in shapes)
    axes_a = random_axes(generator, count, dimension)
    axes_b = second_axes(generator, axes_a, relation)
    center_a = generator.uniform(-5, 5, (count, dimension))
    corner_a, corner_b = (generator.integers(-1, 2, (count, dimension)) for _ in range(2))
    shift = generator.choice([0, 0, 0, 1e-3, -1e-3, 0.1], (count, 1)) * generator.normal(size=(count, dimension))
    center_b = center_a + shift
    center_b += np.einsum("ni,nik->nk", corner_a * first, axes_a) - np.einsum("ni,nik->nk", corner_b * second, axes_b)
    return (
        OrientedBoxes(center_a.astype(dtype), first.astype(dtype), axes_a.astype(dtype)),
        OrientedBoxes(center_b.astype(dtype), second.astype(dtype), axes_b.astype(dtype)),
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("relation", RELATIONS)
def test_closed_answers_against_exact_separation(relation: str, dimension: int, dtype: str) -> None:
    generator = np.random.default_rng(10)
    meeting = apart = 0
    for _ in range(12):
        shapes = [str(shape) for shape in generator.choice(list(SHAPES), 2)]
        first, second = touching_pair(generator, 6, dimension, dtype, shapes, relation)
        answer = first.overlap_with(second)
        np.testing.assert_array_equal(answer, second.overlap_with(first))
        for row in range(6):
            gap = oriented_gap(first, second, row)
            meeting += gap <= 0
            apart += gap > 1e-7
            if gap <= 0:
                assert answer[row], "two boxes that share a point were called apart"
            elif gap > 1e-7:
                assert not answer[row], "two boxes that are apart were called overlapping"
    assert meeting > 5
    assert apart > 5


def test_many_deep_overlaps_are_never_missed() -> None:
    """100,000 pairs that share a point by construction, in every shape and relation."""
    generator = np.random.default_rng(11)
    count = 1000
    for relation in RELATIONS:
        for _ in range(20):
            shapes = [str(shape) for shape in generator.choice(list(SHAPES), 2)]
            half_a, half_b = (np.tile(SHAPES[shape], (count, 1)).astype(float) for shape in shapes)
            axes_a = random_axes(generator, count, 3)
            axes_b = second_axes(generator, axes_a, relation)
            inside_a, inside_b = (generator.uniform(-1, 1, (count, 3)) for _ in range(2))
            center_b = np.einsum("ni,nik->nk", inside_a * half_a, axes_a)
            center_b -= np.einsum("ni,nik->nk", inside_b * half_b, axes_b)
            # What the float center lost is given back as extent, so that the common point is truly common.
            first = OrientedBoxes(np.zeros((count, 3)), half_a + 1e-14, axes_a)
            assert first.overlap_with(OrientedBoxes(center_b, half_b + 1e-14, axes_b)).all()


def test_crossing_edges_need_their_cross_product() -> None:
    """Two thin rods, crossed and turned, are separated by the cross product of their edges only."""
    axes = random_axes(np.random.default_rng(12), 1, 3)
    tilted = axes.copy()
    tilted[0, 0], tilted[0, 1] = ((axes[0, 0] + axes[0, 1]) / np.sqrt(2), (axes[0, 1] - axes[0, 0]) / np.sqrt(2))
    turned = tilted[:, [1, 0, 2]]
    turn = np.array([[np.cos(0.6), np.sin(0.6)], [-np.sin(0.6), np.cos(0.6)]])
    turned[0, 1:] = turn @ turned[0, 1:]
    half = np.array([[5.0, 0.1, 0.1]])
    for distance, wanted in ((0.2, True), (0.35, False)):
        first = OrientedBoxes([[0, 0, 0]], half, tilted)
        normal = np.cross(tilted[0, 0], turned[0, 0])
        second = OrientedBoxes([normal / np.linalg.norm(normal) * distance], half, turned)
        assert first.overlap_with(second).tolist() == [wanted]
        assert (oriented_gap(first, second, 0) <= 0) == wanted


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("closed", [True, False])
def test_boxes_with_coordinate_axes_are_boxes(dimension: int, dtype: str, closed: bool) -> None:
    generator = np.random.default_rng(13)
    lower = generator.integers(0, 12, (150, dimension)).astype(dtype)
    boxes = Boxes(lower, lower + generator.integers(0, 5, (150, dimension)).astype(dtype))
    oriented = OrientedBoxes.from_boxes(boxes)
    assert oriented.boxes() == boxes
    assert oriented.dtype == boxes.dtype
    pairs = np.stack(np.triu_indices(150, 1), axis=1)
    np.testing.assert_array_equal(oriented.overlap(pairs, closed=closed), boxes.overlap(pairs, closed=closed))


def test_from_boxes_contains_boxes_that_have_no_exact_middle() -> None:
    generator = np.random.default_rng(14)
    lower = generator.normal(size=(500, 3)).astype(np.float32)
    boxes = Boxes(lower, lower + generator.exponential(size=(500, 3)).astype(np.float32))
    around = OrientedBoxes.from_boxes(boxes).boxes()
    assert (around.lower <= boxes.lower).all()
    assert (around.upper >= boxes.upper).all()
    np.testing.assert_allclose(around.upper, boxes.upper, rtol=1e-6, atol=1e-6)


def test_infinite_boxes_count_as_overlapping() -> None:
    ground = OrientedBoxes.from_boxes(
        Boxes([[-np.inf, 0.0, -1.0], [5.0, 5.0, 5.0]], [[np.inf, np.inf, 0.0], [6.0, 6.0, 6.0]])
    )
    assert ground.overlap([[0, 1], [1, 0]]).all()
    assert np.isinf(ground.boxes().upper[0]).tolist() == [True, True, False]


@pytest.mark.parametrize("scale", [2.0**-1060, 2.0**-140, 1.0, 2.0**100, 2.0**1000])
def test_every_scale_gives_the_same_answer(scale: float) -> None:
    corner = np.array([[0, 0, 0], [2000, 0, 0], [2001, 0, 0]])
    boxes = OrientedBoxes(corner * scale, np.full((3, 3), 1000 * scale), np.tile(np.eye(3), (3, 1, 1)))
    assert boxes.overlap([[0, 1], [0, 2]]).tolist() == [True, scale < 2.0**-1000]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"center": [[0, 0], [0, np.inf]]}, "Row 1 of center"),
        ({"half": [[1, 1], [1, -1]]}, "Row 1 of half"),
        ({"half": [[1, 1], [np.nan, 1]]}, "Row 1 of half"),
        ({"half": [[1, 1, 1]] * 2}, r"half has the shape \(2, 3\)"),
        ({"axes": np.eye(2)}, r"axes has the shape \(2, 2\).*must be \(2, 2, 2\)"),
        ({"axes": [np.eye(2), [[1, 0.1], [0, 1]]]}, "Row 1 of axes is not orthonormal"),
        ({"axes": [np.eye(2), 1.01 * np.eye(2)]}, "Row 1 of axes is not orthonormal"),
        ({"axes": [np.full((2, 2), np.nan), np.eye(2)]}, "Row 0 of axes"),
    ],
)
def test_bad_boxes_are_named(change: dict[str, Any], text: str) -> None:
    right: dict[str, Any] = {"center": [[0, 0], [1, 1]], "half": [[1, 1], [2, 2]], "axes": [np.eye(2), np.eye(2)]}
    OrientedBoxes(**right)
    with pytest.raises(InvalidInput, match=text):
        OrientedBoxes(**{**right, **change})
