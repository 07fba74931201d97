"""One search that serves several frames misses nothing in any of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from interest_oracles import arena, sphere_pairs

import choque
from choque.bounds import Boxes, Spheres
from choque.broad import create
from choque.errors import InvalidInput
from choque.interest import Skinned
from choque.testing import oracle
from choque.theses.interest.broad_phase import skin


def boxes_of(motion: Any, frame: int) -> Boxes:
    return Boxes(*motion.frame(frame))


def test_k_of_an_example() -> None:
    assert skin(0.5, 0.01, 6) == pytest.approx(1.2, abs=1e-9)
    assert skin([3.0, 0.5], 0.01, 6) == skin(0.5, 0.01, 6)
    assert skin([0.0, 1.0], 5.0, 1) == 1.0
    assert skin([0.0, 1.0], 0.0, 9) == 1.0


@pytest.mark.parametrize("shape", ["sphere", "box"])
@pytest.mark.parametrize("frames", [2, 5, 12])
def test_areas_of_that_k_hold_all_pairs_of_the_frames_that_follow(frames: int, shape: Any) -> None:
    """The least such k: with a good deal less, a pair of two bodies that fly at each other is missed."""
    motion = arena(250, speed_rule="normalised", speed=0.03, largest=0.05, start="sparse")
    k = skin(motion.reach, 0.03, frames)
    for start in range(0, 24, frames):
        held = set(map(tuple, create("interest", boxes_of(motion, start), k=k, shape=shape).pairs().tolist()))
        for frame in range(start, start + frames):
            boxes = boxes_of(motion, frame)
            now = oracle.overlapping_pairs(boxes.lower, boxes.upper).tolist()
            if shape == "sphere":
                now = sphere_pairs(*motion.spheres(frame))
            assert set(map(tuple, now)) <= held
    meeting = Spheres([[0.0, 0.0], [1 + 0.1 * (frames - 1), 0.0]], [0.5, 0.5])
    assert len(create("interest", meeting, k=skin(0.5, 0.05, frames)).pairs()) == 1
    assert len(create("interest", meeting, k=skin(0.5, 0.05 * 0.99, frames)).pairs()) == 0


@pytest.mark.parametrize("method", ["auto", "sap-direct", "bvh", "grid"])
@pytest.mark.parametrize("closed", [True, False])
def test_kept_pairs_equal_those_of_every_frame(method: str, closed: bool, thorough: bool) -> None:
    motion = arena(150, start="sparse", pulse=0.05)
    kept = Skinned(boxes_of(motion, 0), displacement=0.02, frames=6, broad=method, closed=closed)
    each = choque.broad.create(method, boxes_of(motion, 0), closed=closed)
    frame_count = 500 if thorough else 30
    for frame in range(1, frame_count):
        kept.update(boxes_of(motion, frame))
        each.update(boxes_of(motion, frame))
        np.testing.assert_array_equal(kept.pairs(), each.pairs())
    assert kept.frame_count == frame_count
    assert kept.run_count <= frame_count // 5 + 1
    assert kept.broad.name == method


def test_a_body_faster_than_announced_costs_a_run_and_no_pair() -> None:
    random = np.random.default_rng(0)
    lower = random.random((80, 2)).astype(np.float32)
    kept = Skinned(Boxes(lower, lower + np.float32(0.05)), displacement=0.001, frames=4)
    for _ in range(5):
        lower = lower + random.normal(0, 0.05, lower.shape).astype(np.float32)
        boxes = Boxes(lower, lower + np.float32(0.05))
        kept.update(boxes)
        np.testing.assert_array_equal(kept.pairs(), choque.pairs(boxes.lower, boxes.upper))
    assert kept.run_count == 6


def test_tighter_bounds_are_tested_as_they_are() -> None:
    motion = arena(200, start="sparse")
    kept = Skinned(Spheres(*motion.spheres(0)), displacement=0.01, frames=5)
    for frame in range(1, 12):
        kept.update(Spheres(*motion.spheres(frame)))
        assert [tuple(pair) for pair in kept.pairs().tolist()] == sphere_pairs(*motion.spheres(frame))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((-1.0, 0.1, 2), "radius.*negative"),
        ((np.nan, 0.1, 2), "radius.*NaN"),
        (([], 0.1, 2), "radius has the shape"),
        ((0.0, 0.1, 2), "Row 0 of radius is 0"),
        ((1e-320, 0.1, 2), "too small for a displacement of 0.1"),
        ((1.0, -0.1, 2), "displacement is -0.1"),
        ((1.0, np.inf, 2), "displacement is inf"),
        ((1.0, 0.1, 0), "frames is 0"),
        ((1.0, 0.1, 1.5), "frames is 1.5"),
    ],
)
def test_bad_skins_are_one_sentence(arguments: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        skin(*arguments)


def test_bad_updates_are_one_sentence() -> None:
    boxes = Boxes([[0, 0]], [[1, 1]])
    kept = Skinned(boxes, displacement=0.1, frames=2)
    with pytest.raises(InvalidInput, match="2 volumes in 2D for 1 bodies"):
        kept.update(Boxes([[0, 0], [1, 1]], [[1, 1], [2, 2]]))
    with pytest.raises(InvalidInput, match="The bounds are of type list"):
        kept.update([[0, 0]])  # type: ignore[arg-type]
