"""Continuous detection: a fast body cannot pass through a thin one (F-002-50)."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from convex_oracle import random_rotations

from choque.errors import InvalidInput
from choque.narrow import Hulls, gjk, time_of_impact

CUBE = np.array(list(itertools.product((-0.5, 0.5), repeat=3)))
WALL = CUBE * [1e-4, 20, 20] + [50, 0, 0]


@pytest.mark.parametrize("speed", [60, 100, 1e3, 1e6, 1e9])
def test_a_bullet_never_tunnels(speed: float) -> None:
    """A bullet of a hundredth and a wall of a ten-thousandth, at up to a billion units a step."""
    bullet = CUBE * 0.01
    ahead = gjk(bullet, WALL).distance
    found = time_of_impact(bullet, WALL, [speed, 0, 0])
    assert found.hit
    assert found.time == pytest.approx(ahead / speed, rel=1e-6)
    assert found.time <= ahead / speed * (1 + 1e-12)
    assert found.normal == pytest.approx([1, 0, 0], abs=1e-6)
    assert not gjk(bullet + [speed, 0, 0], WALL).collide
    assert not time_of_impact(bullet, WALL, [-speed, 0, 0]).hit
    assert not time_of_impact(bullet + [0, 11, 0], WALL, [speed, 0, 0]).hit


def test_closed_forms() -> None:
    """Bodies that meet, part, slide past, overlap from the start, and meet while both move."""
    assert time_of_impact(CUBE, CUBE + [4, 0, 0], [6, 0, 0]).time == pytest.approx(0.5, abs=1e-6)
    assert time_of_impact(CUBE, CUBE + [4, 0, 0], [3, 0, 0], [-3, 0, 0]).time == pytest.approx(0.5, abs=1e-6)
    late = time_of_impact(CUBE, CUBE + [4, 0, 0], [2.9, 0, 0])
    assert (late.hit, late.time) == (False, 1.0)
    assert np.isnan(late.point).all()
    assert not time_of_impact(CUBE, CUBE + [4, 1.01, 0], [9, 0, 0]).hit
    assert not time_of_impact(CUBE, CUBE + [4, 0, 0], [9, 0, 0], [9, 0, 0]).hit
    inside = time_of_impact(CUBE, CUBE + [0.5, 0, 0], [1, 0, 0])
    assert (inside.hit, inside.time) == (True, 0.0)


def test_a_turning_bar_sweeps_into_a_post() -> None:
    """A bar of half length 2 about the z axis reaches a post at the angle that trigonometry gives."""
    bar, post = CUBE * [4, 0.2, 0.2], CUBE * [0.2, 0.2, 4] + [0, 1.5, 0]
    found = time_of_impact(bar, post, spin_a=[0, 0, 3.0])
    assert found.hit
    # The long upper edge, y = 0.1 in the frame of the bar, reaches the post's corner at (0.1, 1.4).
    angle = np.arctan2(1.4, 0.1) - np.arcsin(0.1 / np.hypot(0.1, 1.4))
    assert found.time == pytest.approx(angle / 3.0, abs=1e-5)
    assert found.time <= angle / 3.0
    assert not time_of_impact(bar, post, spin_a=[0, 0, 1.0]).hit
    assert not time_of_impact(bar * 0.5, post, spin_a=[0, 0, 3.0]).hit


def test_no_earlier_moment_has_a_collision(thorough: bool) -> None:
    """Random motion and turning: sampled frames before the time found are free, and at it the bodies are near."""
    random = np.random.default_rng(1)
    count = 300 if thorough else 40
    hulls = Hulls.solids("cube", "rhombicuboctahedron")
    places = random.normal(size=(2, count, 3)) * 4
    turns = [random_rotations(random, count) for _ in range(2)]
    motion, spin = random.normal(size=(2, count, 3)) * 6, random.normal(size=(2, count, 3)) * 2
    rows = np.arange(count) % 2
    found = time_of_impact(
        hulls.at(places[0], turns[0], row=rows), hulls.at(places[1], turns[1]), *motion, spin_a=spin[0], spin_b=spin[1]
    )
    assert 5 < found.hit.sum() < count
    for time in np.linspace(0, 1, 41):
        poses = [
            hulls.at(places[k] + time * motion[k], _turned(spin[k] * time, turns[k]), row=rows if k == 0 else 0)
            for k in range(2)
        ]
        early = time < found.time - 1e-9
        assert not gjk(*poses).collide[early].any()
    at = found.time[:, None]
    ends = [
        hulls.at(places[k] + at * motion[k], _turned(spin[k] * at, turns[k]), row=rows if k == 0 else 0)
        for k in range(2)
    ]
    assert (gjk(*ends).distance[found.hit] < 1e-5).all()


def _turned(vector: np.ndarray, turns: np.ndarray) -> np.ndarray:
    from scipy.spatial.transform import Rotation

    return np.ascontiguousarray(Rotation.from_rotvec(vector).as_matrix() @ turns)


def test_bad_input_is_refused() -> None:
    for arguments, text in (
        ({"tolerance": 0}, "tolerance"),
        ({"motion_a": [1, 2]}, "motion_a"),
        ({"spin_b": [np.nan, 0, 0]}, "spin_b"),
    ):
        with pytest.raises(InvalidInput, match=text):
            time_of_impact(CUBE, WALL, **arguments)  # type: ignore[arg-type]
