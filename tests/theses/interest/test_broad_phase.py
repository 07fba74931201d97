"""The broad phase ``interest``: conformance, the closed form of its pairs, and nesting."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from interest_oracles import arena, rows, sphere_pairs

import choque
from choque._core.threads import parallel_at_any_size
from choque.bounds import Boxes, Spheres
from choque.broad import create
from choque.errors import InvalidInput
from choque.testing import broad_phase_checks, oracle
from choque.theses.interest import broad_phase

CHECKS = dict(broad_phase_checks())
SHAPES = ("box", "sphere")


@pytest.mark.parametrize("check", CHECKS)
def test_it_conforms(check: str, thorough: bool) -> None:
    CHECKS[check]("interest", thorough=thorough)


@pytest.mark.parametrize("check", ["edge-cases", "filters", "replay", "metamorphic", "mixed-precision", "thread-count"])
@pytest.mark.parametrize("options", [{"k": 2}, {"k": 3.0, "static_areas": True}])
def test_it_conforms_with_options(check: str, options: dict[str, Any]) -> None:
    CHECKS[check]("interest", options=options, exact=False)


@pytest.mark.parametrize("check", ["edge-cases", "filters", "replay", "metamorphic", "thread-count"])
def test_it_conforms_with_cells_for_few_bodies(check: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other of the two searches that few bodies may get."""
    monkeypatch.setattr(broad_phase, "CELLS_FROM", 0)
    CHECKS[check]("interest")


@st.composite
def spheres(draw: st.DrawFn) -> tuple[Any, Any, Any]:
    count, dimension = draw(st.integers(0, 30)), draw(st.sampled_from((2, 3)))
    random = np.random.default_rng(draw(st.integers(0, 10_000)))
    spread = draw(st.sampled_from((4, 40)))
    return random.integers(0, spread, (count, dimension)), random.integers(0, 5, count), random.random(count) < 0.3


@given(spheres(), st.sampled_from((1, 2, 3, 5)))
def test_pairs_have_a_closed_form(scene: tuple[Any, Any, Any], k: float) -> None:
    """F-004-20, F-004-22: dist ≤ r_min + k · r_max, or k · r + r of the static one; never two static ones."""
    center, radius, static = scene
    bounds = Spheres(center, radius)
    found = rows(create("interest", bounds, k=k).pairs())
    assert found == sphere_pairs(center, radius, k)
    mixed = rows(create("interest", bounds, k=k, static=static).pairs())
    assert mixed == sphere_pairs(center, radius, k, static)
    both = create("interest", bounds, k=k, static=static, static_areas=True).pairs()
    assert rows(both) == [pair for pair in found if not (static[pair[0]] and static[pair[1]])]


@given(spheres(), st.sampled_from(SHAPES), st.booleans())
def test_larger_areas_contain_smaller_ones(scene: tuple[Any, Any, Any], shape: Any, closed: bool) -> None:
    """F-004-23."""
    center, radius, _ = scene
    bounds = Spheres(center / 3.0, radius / 7.0)
    sets = [
        set(rows(create("interest", bounds, k=k, shape=shape, closed=closed).pairs())) for k in (1, 1.0000001, 2, 3)
    ]
    assert sets[0] <= sets[1] <= sets[2] <= sets[3]


@pytest.mark.parametrize("start", ["dense", "sparse"])
def test_areas_nest_and_no_pair_is_missed_in_the_arena(start: str, thorough: bool) -> None:
    """F-004-23, F-004-24, F-004-26, F-004-27: against the oracles at each frame."""
    motion = arena(100, start=start)
    frame_count, stride = (500, 1) if thorough else (500, 60)
    kept = {
        (shape, k): create("interest", Boxes(*motion.frame(0)), k=k, shape=shape) for shape in SHAPES for k in (1, 2, 3)
    }  # type: ignore[arg-type]
    sweep = choque.broad.create("sap-direct", Boxes(*motion.frame(0)))
    for frame in range(1, frame_count + 1, stride):
        center, radius = motion.spheres(frame)
        boxes = Boxes(*motion.frame(frame))
        pairs = {}
        for key, method in kept.items():
            method.update(boxes)
            pairs[key] = set(rows(method.pairs()))
        sweep.update(boxes)
        by_boxes = set(rows(oracle.overlapping_pairs(boxes.lower, boxes.upper)))
        assert pairs["box", 1] == by_boxes == set(rows(sweep.pairs()))
        assert pairs["box", 1] <= pairs["box", 2] <= pairs["box", 3]
        assert pairs["sphere", 1] <= pairs["sphere", 2] <= pairs["sphere", 3]
        assert pairs["sphere", 1] <= by_boxes
        colliding = set(sphere_pairs(center, radius))
        assert colliding <= pairs["sphere", 1]
        exact = Spheres(center, radius)
        for found in pairs.values():
            candidates = np.array(sorted(found), np.int32).reshape(-1, 2)
            assert set(rows(candidates[exact.overlap(candidates)])) == colliding


def test_given_boxes_as_spheres_are_as_wide_as_their_longest_edge() -> None:
    lower = np.array([[0.0, 0.0], [0.0, 2.5], [0.0, 5.6]])
    flat = Boxes(lower, lower + np.array([3.0, 1.0]))
    assert rows(create("interest", flat, shape="sphere").pairs()) == [(0, 1)]
    assert rows(create("interest", flat).pairs()) == []


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_spheres_are_compared_as_their_own_oracle_does(dtype: Any) -> None:
    random = np.random.default_rng(2)
    bounds = Spheres(random.random((400, 3)).astype(dtype), random.uniform(0, 0.1, 400).astype(dtype))
    everyone = np.array(np.triu_indices(400, 1), np.int32).T.copy()
    for closed in (True, False):
        np.testing.assert_array_equal(
            create("interest", bounds, closed=closed).pairs(), everyone[bounds.overlap(everyone, closed=closed)]
        )


def test_areas_follow_changes_with_any_k() -> None:
    random = np.random.default_rng(4)
    with parallel_at_any_size():
        kept = create("interest", Boxes(*arena(60).frame(90)), k=2.5, static=np.arange(60) % 3 == 0)
        held = set(rows(kept.began))
        for frame in range(91, 99):
            kept.update(Boxes(*arena(len(kept)).frame(frame)))
            held = (held - set(rows(kept.ended))) | set(rows(kept.began))
            kept.remove(random.choice(kept.ids, 2, replace=False))
            held = (held - set(rows(kept.ended))) | set(rows(kept.began))
            kept.add(Boxes(*arena(3, seed=frame).frame(frame)), static=[True, False, False])
            held = (held - set(rows(kept.ended))) | set(rows(kept.began))
            assert sorted(held) == rows(kept.pairs())


def test_infinite_and_empty_boxes_with_any_k() -> None:
    inf = np.inf
    lower = np.array([[-inf, -inf], [0, 0], [5, 5], [inf, 0], [1, 1], [7.5, 0]])
    upper = np.array([[inf, 0.5], [2, 2], [6, 6], [inf, 1], [1, 1], [inf, inf]])
    for closed in (True, False):
        wanted = set(rows(oracle.overlapping_pairs(lower, upper, closed=closed)))
        sets = [set(rows(create("interest", Boxes(lower, upper), k=k, closed=closed).pairs())) for k in (1, 2, 4)]
        assert sets[0] == wanted
        assert sets[0] <= sets[1] <= sets[2]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"k": 0.5}, "k is 0.5"),
        ({"k": np.nan}, "k is nan"),
        ({"k": np.inf}, "k is inf"),
        ({"k": "2"}, "k is '2'"),
        ({"shape": "cone"}, "no shape of an area called 'cone'"),
        ({"static_areas": None}, "static_areas is None"),
    ],
)
def test_bad_options_are_one_sentence(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        create("interest", Boxes([[0, 0]], [[1, 1]]), **options)


def test_a_plane_is_not_a_sphere() -> None:
    with pytest.raises(InvalidInput, match="finite"):
        create("interest", Boxes([[-np.inf, 0.0]], [[np.inf, 1.0]]), shape="sphere")
