"""Pairs of triangles against rational numbers: random ones, grids, fans in one plane, shared corners, needles."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator

import mesh_oracles as oracle
import numpy as np
import pytest
from numpy.typing import NDArray

from choque._core.kernel import kernel
from choque.meshes.triangles import KINDS, intersection_of, neighbors_kind, triangles_kind

Pair = tuple[NDArray[np.float64], NDArray[np.float64]]
COUNT = 600 if os.environ.get("CHOQUE_FULL") == "1" else 250


def as_triangle(corners: NDArray[np.float64]) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(map(float, corner)) for corner in corners)


def on_a_grid(random: np.random.Generator) -> Pair:
    size = int(random.integers(2, 5))
    return tuple(random.integers(0, size, (2, 3, 3)).astype(np.float64))  # type: ignore[return-value]


def in_a_plane(random: np.random.Generator) -> Pair:
    corners = random.integers(0, 4, (2, 3, 3)).astype(np.float64)
    corners[..., 2] = corners[..., :2] @ random.integers(-2, 3, 2)
    return corners[0], corners[1]


def with_a_shared_corner(random: np.random.Generator) -> Pair:
    one, two = on_a_grid(random)
    count = int(random.integers(1, 4))
    two[random.permutation(3)[:count]] = one[random.permutation(3)[:count]]
    return one, two


def rounded_onto(random: np.random.Generator) -> Pair:
    """A corner or an edge of the second on the first, as well as floats allow: needs exact signs."""
    one, two = random.standard_normal((2, 3, 3))
    two *= random.choice([1e-3, 1.0, 1e3])
    for corner in range(int(random.integers(1, 4))):
        weights = random.dirichlet([1, 1, 1]) if random.integers(2) else random.integers(0, 3, 3) / 2
        two[corner] = weights @ one / max(weights.sum(), 1)
    return one, two


def needles(random: np.random.Generator) -> Pair:
    one, two = random.standard_normal((2, 3, 3))
    one[2] = one[0] + (one[1] - one[0]) * random.random()
    if random.integers(2):
        two[2] = two[0]
    two += one[0] + (one[1] - one[0]) * 0.5 - two[0]
    return one, two


def anywhere(random: np.random.Generator) -> Pair:
    return tuple(random.random((2, 3, 3)))  # type: ignore[return-value]


SORTS = [anywhere, on_a_grid, in_a_plane, with_a_shared_corner, rounded_onto, needles]


def pairs(sort: object, count: int = COUNT) -> Iterator[Pair]:
    random = np.random.default_rng(7)
    for _ in range(count):
        yield sort(random)  # type: ignore[operator]


@pytest.mark.parametrize("sort", SORTS)
def test_kinds_are_those_of_rational_numbers(sort: object) -> None:
    seen: Counter[str] = Counter()
    for one, two in pairs(sort):
        wanted = oracle.kind(one, two)
        assert KINDS[triangles_kind(as_triangle(one), as_triangle(two))] == wanted, (one.tolist(), two.tolist())
        assert KINDS[triangles_kind(as_triangle(two[::-1]), as_triangle(one))] == wanted, (one.tolist(), two.tolist())
        seen[wanted] += 1
    assert len(seen) >= 2


@kernel
def kinds_of(p: NDArray[np.float64], q: NDArray[np.float64], kinds: NDArray[np.int64]) -> None:
    for row in range(kinds.size):
        one = (p[row, 0, 0], p[row, 0, 1], p[row, 0, 2]), (p[row, 1, 0], p[row, 1, 1], p[row, 1, 2])
        two = (q[row, 0, 0], q[row, 0, 1], q[row, 0, 2]), (q[row, 1, 0], q[row, 1, 1], q[row, 1, 2])
        kinds[row] = triangles_kind(
            (one[0], one[1], (p[row, 2, 0], p[row, 2, 1], p[row, 2, 2])),
            (two[0], two[1], (q[row, 2, 0], q[row, 2, 1], q[row, 2, 2])),
        )


def test_kinds_are_those_of_whole_numbers_in_any_affine_map(thorough: bool) -> None:
    """Grids, planes, shared corners and needles; maps with large numbers keep kinds, and need exact signs."""
    random = np.random.default_rng(11)
    seen: Counter[str] = Counter()
    for _ in range(100 if thorough else 2):
        size = random.integers(2, 9, (10_000, 1, 1))
        p, q = (random.integers(0, size, (10_000, 3, 3)) for _ in range(2))
        q[:2000, :, 2], p[:2000, :, 2] = 1, 1
        q[2000:4000, :1], q[3000:5000, 1:2] = p[2000:4000, :1], p[3000:5000, 2:]
        p[5000:6000, 2] = 2 * p[5000:6000, 1] - p[5000:6000, 0]
        p[6000:7000, 1] += random.integers(-90, 90, (1000, 3))
        wanted = oracle.kinds_of_whole_numbers(p, q)
        affine = random.integers(-(2**20), 2**20, (3, 3)), random.integers(-(2**40), 2**40, 3)
        assert abs(np.linalg.det(affine[0])) > 1
        for matrix, shift in ((np.eye(3, dtype=np.int64), np.zeros(3, np.int64)), affine):
            kinds = np.empty(10_000, np.int64)
            kinds_of(*((each @ matrix.T + shift).astype(np.float64) for each in (p, q)), kinds)
            wrong = np.flatnonzero(np.array(KINDS)[kinds] != wanted)
            assert not len(wrong), (p[wrong[0]].tolist(), q[wrong[0]].tolist(), wanted[wrong[0]])
        seen.update(wanted.tolist())
    assert min(seen.values()) > 500
    assert len(seen) == 4


@pytest.mark.parametrize("sort", [with_a_shared_corner, on_a_grid, in_a_plane])
def test_shared_corners_are_no_contacts(sort: object) -> None:
    seen: Counter[str] = Counter()
    for one, two in pairs(sort):
        if not all(any(oracle.normal(oracle.rational(each))) for each in (one, two)):
            continue  # without interior
        wanted = oracle.kind_beside_corners(one, two)
        assert KINDS[neighbors_kind(as_triangle(one), as_triangle(two))] == wanted, (one.tolist(), two.tolist())
        seen[wanted] += 1
    assert len(seen) >= 3


@pytest.mark.parametrize("sort", [anywhere, on_a_grid])
def test_segments_end_where_rational_ones_do(sort: object) -> None:
    found = 0
    for one, two in pairs(sort, 500):
        ends = np.array(intersection_of(as_triangle(one), as_triangle(two)))
        if np.isnan(ends).any():
            continue
        corners = np.array([[float(x) for x in point] for point in oracle.shared(one, two)])
        wanted = corners[[np.lexsort(corners.T[::-1])[k] for k in (0, -1)]]
        gap = min(np.abs(ends - wanted).max(), np.abs(ends[::-1] - wanted).max())
        size = max(np.abs(one).max(), np.abs(two).max())
        assert gap < 1e-9 * size * max(1, sharpness(one, two)), (one.tolist(), two.tolist())
        found += 1
    assert found > 20


def sharpness(one: NDArray[np.float64], two: NDArray[np.float64]) -> float:
    """How much rounding is magnified: nearly parallel planes and needles."""
    first, second = (np.cross(each[1] - each[0], each[2] - each[0]) for each in (one, two))
    across = np.linalg.norm(np.cross(first, second))
    lengths = np.prod([np.linalg.norm(each[1] - each[0]) * np.linalg.norm(each[2] - each[0]) for each in (one, two)])
    return float(lengths / across) if across else np.inf
