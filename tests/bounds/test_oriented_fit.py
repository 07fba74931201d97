"""Oriented boxes that are fitted to points: tight, and no larger than simpler fits."""

from __future__ import annotations

import numpy as np
import pytest
from bounds_oracles import random_axes

from choque.bounds import Boxes, OrientedBoxes

CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])


def surface(half: np.ndarray) -> np.ndarray:
    x, y, z = (*half.T, np.zeros(len(half)))[:3]
    return np.asarray(x * y + y * z + z * x)


@pytest.mark.parametrize("half", [[1, 1, 1], [1, 1, 5], [0.3, 1, 2], [5, 5, 1], [2, 1, 0], [1, 0, 0]])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_corners_of_a_turned_box_are_fitted_tightly(half: list[float], dtype: str) -> None:
    axes = random_axes(np.random.default_rng(15), 200, 3)
    points = (CORNERS * half) @ axes + np.array([1, 2, 3])
    fitted = OrientedBoxes.fit(points.astype(dtype))
    tolerance = 1e-4 if dtype == "float32" else 1e-12
    wanted = np.tile(np.sort(half), (200, 1))
    np.testing.assert_allclose(np.sort(fitted.half, axis=1), wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("half", [[1, 1], [1, 5], [3, 0]])
def test_the_corners_of_a_turned_rectangle_are_fitted_tightly(half: list[float]) -> None:
    axes = random_axes(np.random.default_rng(16), 200, 2)
    fitted = OrientedBoxes.fit((CORNERS[::2, :2] * half) @ axes + 4)
    np.testing.assert_allclose(np.sort(fitted.half, axis=1), np.tile(np.sort(half), (200, 1)), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("count", [4, 12, 300])
@pytest.mark.parametrize("dimension", [2, 3])
def test_no_larger_than_along_principal_or_coordinate_axes(count: int, dimension: int) -> None:
    generator = np.random.default_rng(17)
    spread = generator.exponential(size=(60, 1, dimension))
    points = (generator.normal(size=(60, count, dimension)) * spread) @ random_axes(generator, 60, dimension)
    fitted = surface(OrientedBoxes.fit(points).half)
    for row, cloud in enumerate(points):
        principal = np.linalg.eigh(np.cov(cloud.T)).eigenvectors
        assert fitted[row] <= surface(np.ptp(cloud @ principal, axis=0)[None] / 2)[0] * (1 + 1e-8)
        assert fitted[row] <= surface(np.ptp(cloud, axis=0)[None] / 2)[0] * (1 + 1e-8)


def test_a_fit_passes_its_own_validation() -> None:
    for dtype in ("float32", "float64"):
        points = np.random.default_rng(18).normal(size=(50, 9, 3)).astype(dtype)
        fitted = OrientedBoxes.fit(points)
        assert OrientedBoxes(fitted.center, fitted.half, fitted.axes) == fitted


def test_a_box_along_the_axes_keeps_them() -> None:
    fitted = OrientedBoxes.fit([CORNERS * [1, 2, 3]])
    np.testing.assert_array_equal(fitted.axes[0], np.eye(3))
    np.testing.assert_allclose(fitted.half, [[1, 2, 3]], rtol=1e-13)


def test_many_moves_keep_the_box() -> None:
    """A thousand small turns leave a box that is still a box and has hardly grown."""
    axes = random_axes(np.random.default_rng(19), 1, 3)
    box = OrientedBoxes([[1, 2, 3]], [[1, 2, 3]], axes)
    angle = 2 * np.pi / 1000
    turn = [[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]]
    for _ in range(1000):
        box = box.moved(turn)
    OrientedBoxes(box.center, box.half, box.axes)
    np.testing.assert_allclose(box.center, [[1, 2, 3]], atol=1e-11)
    np.testing.assert_allclose(box.axes, axes, atol=1e-11)
    np.testing.assert_allclose(box.half, [[1, 2, 3]], rtol=1e-9)
    assert isinstance(box.boxes(), Boxes)
