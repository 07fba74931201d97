"""Spheres: overlap and fitting, at every scale."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

import numpy as np
import pytest
from bounds_oracles import exact, exact_dot
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import ArrayLike

from choque.bounds import Spheres
from choque.errors import InvalidInput


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("closed", [True, False])
def test_whole_numbers_are_exact(dtype: str, dimension: int, closed: bool) -> None:
    generator = np.random.default_rng(8)
    center = generator.integers(-10, 10, (200, dimension))
    radius = generator.integers(0, 6, 200)
    pairs = np.stack(np.triu_indices(200, 1), axis=1)
    i, j = pairs.T
    squared, limit = ((center[i] - center[j]) ** 2).sum(axis=1), (radius[i] + radius[j]) ** 2
    wanted = squared <= limit if closed else squared < limit
    spheres = Spheres(center.astype(dtype), radius.astype(dtype))
    np.testing.assert_array_equal(spheres.overlap(pairs, closed=closed), wanted)
    assert (squared == limit).any()


@given(data=st.data(), width=st.sampled_from([32, 64]), scale=st.sampled_from([1e-44, 1e-20, 1.0, 1e30]))
def test_touching_spheres_are_never_missed(data: st.DataObject, width: Literal[32, 64], scale: float) -> None:
    limit = float(np.float32(scale))
    center = data.draw(hnp.arrays(f"float{width}", (2, 3), elements=st.floats(-limit, limit, width=width)))
    radius = np.zeros(2, center.dtype)
    radius[0] = data.draw(st.floats(0, limit, width=width))
    with np.errstate(over="ignore", under="ignore"):
        # The second sphere just touches the first, but for rounding: the exact test says on which side.
        offset = center[0].astype(float) - center[1]
        radius[1] = max(0.0, float(np.hypot(np.hypot(offset[0], offset[1]), offset[2])) - float(radius[0]))
    exact_offset = [a - b for a, b in zip(exact(center[0]), exact(center[1]), strict=True)]
    squared, reach = exact_dot(exact_offset, exact_offset), sum(exact(radius))
    answer = Spheres(center, radius).overlap([[0, 1]])[0]
    if squared <= reach**2:
        assert answer
    elif squared > reach**2 * Fraction(1 + 1e-14):
        assert not answer


def test_the_least_radius_that_touches_is_enough() -> None:
    """The smallest float radius with which two spheres share a point, exactly, must count."""
    generator = np.random.default_rng(30)
    center = generator.normal(size=(2000, 2, 3))
    radius = generator.uniform(0, 0.5, (2000, 2))
    for place, reach in zip(center, radius, strict=True):
        offset = [a - b for a, b in zip(exact(place[0]), exact(place[1]), strict=True)]
        squared = exact_dot(offset, offset)
        reach[1] = np.linalg.norm(place[0] - place[1]) - reach[0] - 1e-15
        while sum(exact(reach)) < 0 or sum(exact(reach)) ** 2 < squared:
            reach[1] = np.nextafter(reach[1], np.inf)
    assert (radius >= 0).mean() > 0.9
    fair = (radius >= 0).all(axis=1)
    first, second = (Spheres(center[fair, side].copy(), radius[fair, side].copy()) for side in (0, 1))
    assert first.overlap_with(second).all()


@pytest.mark.parametrize("scale", [2.0**-1060, 2.0**-600, 1.0, 2.0**600, 2.0**1000])
def test_every_scale_gives_the_same_answer(scale: float) -> None:
    spheres = Spheres(np.array([[0, 0], [300, 400], [300, 400]]) * scale, np.array([200, 300, 299]) * scale)
    assert spheres.overlap([[0, 1], [0, 2]]).tolist() == [True, False]
    assert spheres.overlap([[0, 1], [1, 2]], closed=False).tolist() == [False, True]


def test_an_infinite_sphere_meets_everything() -> None:
    spheres = Spheres([[0.0, 0.0, 0.0], [1e300, 0.0, 0.0]], [np.inf, 0])
    assert spheres.overlap([[0, 1]], closed=True).all()
    assert spheres.overlap([[0, 1]], closed=False).all()
    assert np.isinf(spheres.boxes().upper[0]).all()


def test_fit_is_close_to_the_smallest() -> None:
    """Against points whose smallest sphere is known: two opposite points on it, the others within."""
    generator = np.random.default_rng(9)
    directions = generator.normal(size=(100, 30, 3))
    points = directions / np.linalg.norm(directions, axis=2, keepdims=True)
    points[:, 3:] *= generator.uniform(0, 1, (100, 27, 1))
    points[:, 3] = -points[:, 2]
    fitted = Spheres.fit(points + np.array([5, 6, 7]))
    assert (fitted.radius >= 1 - 1e-12).all()
    assert fitted.radius.max() < 1.06
    assert fitted.radius.mean() < 1.02


def test_one_radius_for_all() -> None:
    center = np.zeros((3, 2), np.float32)
    assert Spheres(center, 0.1).radius.tolist() == [0.1] * 3
    assert Spheres(center, np.float32(0.1)).dtype == np.float32
    with pytest.raises(InvalidInput, match="radius"):
        Spheres(center, -1.0)
    with pytest.raises(InvalidInput, match="radius"):
        Spheres(center, [0.1, 0.2])


def test_one_point_has_no_radius() -> None:
    fitted = Spheres.fit([[[0.1, 0.2, 0.3]]])
    assert fitted.center.tolist() == [[0.1, 0.2, 0.3]]
    assert fitted.radius.tolist() == [0]


@pytest.mark.parametrize(
    ("center", "radius", "text"),
    [
        ([[0, 0], [0, np.nan]], [1, 1], "Row 1 of center"),
        ([[0, 0], [np.inf, 0]], [1, 1], "Row 1 of center"),
        ([[0, 0], [0, 0]], [1, -1], "Row 1 of radius"),
        ([[0, 0], [0, 0]], [1, np.nan], "Row 1 of radius"),
        ([[0, 0], [0, 0]], [1], r"radius has the shape \(1,\)"),
        ([[0, 0], [0, 0]], [[1, 1]], r"radius has the shape \(1, 2\)"),
    ],
)
def test_bad_spheres_are_named(center: ArrayLike, radius: ArrayLike, text: str) -> None:
    with pytest.raises(InvalidInput, match=text):
        Spheres(center, radius)
