"""Moments of inertia against sums over many points of the solids, and the formulas of the specification."""

from __future__ import annotations

import numpy as np
import pytest

from choque.dynamics.mechanics import capsule_inertia, sphere_inertia


def lattice(lower: np.ndarray, upper: np.ndarray, steps: int = 60) -> np.ndarray:
    """The centres of ``steps``³ cells of a box."""
    axes = [low + (np.arange(steps) + 0.5) / steps * (high - low) for low, high in zip(lower, upper, strict=True)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)


def moments(points: np.ndarray, mass: float) -> np.ndarray:
    squared = (points**2).mean(axis=0)
    return mass * (squared.sum() - squared)


def test_a_sphere_is_a_sum_over_its_points() -> None:
    points = lattice(-np.ones(3), np.ones(3)) * 1.7
    inside = points[(points**2).sum(axis=1) < 1.7**2]
    np.testing.assert_allclose(sphere_inertia(np.array([2.0]), np.array([1.7]))[0], moments(inside, 2.0), rtol=5e-3)


@pytest.mark.parametrize(("radius", "length"), [(0.3, 2.0), (0.5, 0.0), (1.0, 15.0)])
def test_a_capsule_is_a_sum_over_its_points(radius: float, length: float) -> None:
    long = length + 2 * radius
    points = lattice(np.array([-radius, -radius, -long / 2]), np.array([radius, radius, long / 2]), 80)
    beyond = np.maximum(np.abs(points[:, 2]) - length / 2, 0)
    inside = points[(points[:, :2] ** 2).sum(axis=1) + beyond**2 < radius**2]
    given = capsule_inertia(np.array([7.667]), np.array([radius]), np.array([length]))[0]
    np.testing.assert_allclose(given, moments(inside, 7.667), rtol=5e-3)
    assert given[0] == given[1]
