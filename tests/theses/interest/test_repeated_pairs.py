"""Areas of interest as the thesis has them, every area against every body: the same pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import choque.theses.interest.arena  # noqa: F401  (registers the scene)
from choque import scene
from choque.bounds import Boxes, Spheres
from choque.broad import BroadPhase, create
from choque.testing import broad_phase_checks
from choque.theses.interest.repeated_pairs import ExhaustiveInterest, ScannedInterest, distinct_by_scan

CHECKS = dict(broad_phase_checks())
SHAPES = ("box", "sphere")


@pytest.mark.parametrize("check", ["edge-cases", "filters", "replay", "metamorphic", "mixed-precision", "thread-count"])
@pytest.mark.parametrize("options", [{}, {"k": 3.0, "static_areas": True}])
def test_it_conforms(check: str, options: dict[str, Any]) -> None:
    CHECKS[check](ScannedInterest, options=options, exact="k" not in options)


@pytest.mark.parametrize("seed", range(30))
def test_pairs_are_those_of_the_search(seed: int) -> None:
    random = np.random.default_rng(seed)
    count, k = int(random.integers(0, 30)), float(random.integers(1, 6))
    bounds = Spheres(random.integers(0, 4 + 36 * (seed % 2), (count, 2 + seed % 2)), random.integers(0, 5, count))
    static = random.random(count) < 0.3
    wanted = create("interest", bounds, k=k, static=static).pairs().tolist()
    for method in (ScannedInterest, ExhaustiveInterest):
        assert BroadPhase(bounds, method(k=k), static=static).pairs().tolist() == wanted


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_scanning_finds_the_same_pairs_and_repeats_them(shape: Any, k: float) -> None:
    """F-004-34, F-004-39: d(d − 1) area tests, every mutual pair found twice; the search does far fewer."""
    boxes = Boxes(*scene.generate("arena", 1500, start="sparse", largest=0.02, dtype="float64").frame(0))
    old, new = BroadPhase(boxes, ScannedInterest(k=k, shape=shape)), create("interest", boxes, k=k, shape=shape)
    np.testing.assert_array_equal(old.pairs(), new.pairs())
    tests = 1500 * 1499
    assert old.counters.tests - (len(old.pairs()) if shape == "sphere" else 0) >= tests
    assert new.counters.tests < 0.3 * tests
    if k == 1 and shape == "box":
        assert old.counters.duplicates == len(old.pairs())
    assert new.counters.duplicates == 0


def test_scanning_keeps_the_first_of_each_key() -> None:
    keys = np.random.default_rng(0).integers(0, 40, 200).astype(np.uint64)
    wanted = list(dict.fromkeys(keys.tolist()))
    assert distinct_by_scan(keys).tolist() == wanted
    assert distinct_by_scan(keys[:0]).size == 0
