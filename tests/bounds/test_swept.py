"""Swept volumes contain the body at every moment of its way, and no fast body passes through a thin wall unseen."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from bounds_oracles import contains, exact

import choque
from choque.bounds import Boxes, KDops, OrientedBoxes, Spheres
from choque.broad import create
from choque.errors import InvalidInput

KINDS = [
    (2, Boxes),
    (3, Boxes),
    (2, Spheres),
    (3, Spheres),
    (2, OrientedBoxes),
    (3, OrientedBoxes),
    (2, KDops),
    (3, KDops),
]


@pytest.mark.parametrize(("dimension", "kind"), KINDS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_point_stays_inside_all_the_way(dimension: int, kind: Any, dtype: Any) -> None:
    """F-002-50, in fractions: points of the body, at five moments."""
    random = np.random.default_rng(0)
    points = (random.normal(size=(20, 5, dimension)) + random.normal(0, 100, (20, 1, dimension))).astype(dtype)
    way = random.normal(0, 30, (20, dimension))
    way[::5] *= 1e-9
    way[1] = 0
    swept = kind.fit(points).swept(way)
    assert swept.dtype == dtype
    for row in range(20):
        for point in points[row]:
            for moment in (0, 1, 2, 3, 4):
                share = Fraction(moment, 4)
                place = [p + share * w for p, w in zip(exact(point), exact(way[row]), strict=True)]
                assert contains(swept, row, place)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_boxes_and_slabs_are_exact_on_whole_numbers(dtype: Any) -> None:
    random = np.random.default_rng(1)
    points = random.integers(-50, 50, (40, 4, 3)).astype(dtype)
    way = random.integers(-20, 20, (40, 3))
    there = np.concatenate((points, points + way[:, None].astype(dtype)), axis=1)
    assert Boxes.fit(points).swept(way) == Boxes.fit(there)
    for k in (6, 14, 18, 26):
        assert KDops.fit(points, k=k).swept(way) == KDops.fit(there, k=k)


def test_no_way_changes_nothing() -> None:
    points = np.random.default_rng(2).normal(size=(30, 6, 3))
    for volumes in (Boxes.fit(points), KDops.fit(points, k=18)):
        assert volumes.swept([0, 0, 0]) == volumes
        assert volumes.swept(np.zeros((30, 3))) == volumes


def test_oriented_boxes_and_spheres_stay_small() -> None:
    points = np.random.default_rng(3).normal(size=(30, 6, 3))
    way = np.array([0.5, 0, 0])
    spheres, boxes = Spheres.fit(points), OrientedBoxes.fit(points)
    np.testing.assert_allclose(spheres.swept(way).radius, spheres.radius + 0.25, rtol=1e-12)
    np.testing.assert_allclose(boxes.swept(way).half, boxes.half + np.abs(boxes.axes @ way) / 2, rtol=1e-9)


def test_infinite_boxes_may_move() -> None:
    ground = Boxes([[-np.inf, -np.inf, -1]], [[np.inf, np.inf, 0]])
    assert ground.swept([5, 5, 5]) == Boxes([[-np.inf, -np.inf, -1]], [[np.inf, np.inf, 5]])


def test_a_way_beyond_the_floats_reaches_infinity_and_no_further() -> None:
    far = Boxes([[1e308, 0, 0]], [[1e308, 1, 1]]).swept([1.5e308, 0, 0])
    assert far.upper[0, 0] == np.inf
    assert far.lower[0, 0] == 1e308


@pytest.mark.parametrize(
    ("way", "message"),
    [
        ([1, 2], "displacement has the shape"),
        ([np.nan, 0, 0], "finite"),
        (np.zeros((2, 3)), "displacement has the shape"),
    ],
)
def test_bad_ways_are_sentences(way: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Boxes(np.zeros((3, 3)), np.ones((3, 3))).swept(way)
    with pytest.raises(InvalidInput, match=message):
        choque.pairs(np.zeros((3, 3)), np.ones((3, 3)), displacement=way)


METHODS = [
    name
    for name in choque.broad.names()
    if name not in ("all",) and choque.broad.find(name).__module__.startswith("choque.")
]


@pytest.mark.parametrize("method", METHODS)
def test_a_bullet_does_not_tunnel_in_any_broad_phase(method: str) -> None:
    """F-002-50: a wall one tenth thick, and bullets that fly fifty times that in a step."""
    wall = [[5.0, -100, -100], [5.1, 100, 100]]
    bullets = np.array([[0.0, y, z] for y in (-3.0, 0.0, 3.0) for z in (-2.0, 2.0)])
    lower = np.concatenate(([wall[0]], bullets))
    upper = np.concatenate(([wall[1]], bullets + 0.1))
    way = np.zeros_like(lower)
    way[1:, 0] = [10, 10, 4.8, 5.3, -10, 10]
    assert len(choque.pairs(lower, upper, method=method)) == 0
    assert len(choque.pairs(lower + way, upper + way, method=method)) == 0
    hit = choque.pairs(lower, upper, method=method, displacement=way)
    assert hit[:, 1].tolist() == [1, 2, 4, 6]
    assert (hit[:, 0] == 0).all()
    broad = create(method, Boxes(lower, upper))
    broad.update(Boxes(lower, upper).swept(way))
    np.testing.assert_array_equal(broad.pairs(), hit)


def test_pairs_that_meet_on_the_way_are_among_the_swept_pairs() -> None:
    random = np.random.default_rng(4)
    lower = random.random((150, 2)) * 20
    upper = lower + random.random((150, 2))
    way = random.normal(0, 2, (150, 2))
    swept = {*map(tuple, choque.pairs(lower, upper, displacement=way).tolist())}
    for moment in np.linspace(0, 1, 21):
        now = choque.pairs(lower + moment * way, upper + moment * way)
        assert {*map(tuple, now.tolist())} <= swept


def test_slabs_that_go_too_far_for_a_number_become_infinite() -> None:
    swept = KDops.from_boxes(Boxes([[0, 0]], [[1, 1]])).swept([1e308, 1e308])
    assert (swept.lower[0, :3] <= 0).all()
    assert 1e308 <= swept.upper[0, 0] < 1.001e308
    assert swept.upper[0, 2] == np.inf
