"""Every built-in method passes the public conformance suite, and agrees with the oracle on what hypothesis draws.

``CHOQUE_FULL=1`` runs the long form of each check and hundreds of drawn examples a method.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import choque.broad
from choque.bounds import Boxes
from choque.testing import broad_phase_checks, oracle
from choque.testing._mirror import Mirror  # the oracle of changes, which the suite uses

BUILT_IN = (
    "all",
    "auto",
    "brute",
    "brute-obb",
    "bsp",
    "bvh",
    "grid",
    "kd-tree",
    "multi-sap",
    "octree",
    "sap-axes",
    "sap-direct",
    "sap-incremental",
    "sap-kdop",
    "sap-obb",
    "sap-recompute",
)
SUPERSETS = {"all"}
FULL = os.environ.get("CHOQUE_FULL") == "1"
CHECKS = dict(broad_phase_checks())

# Few values, so that bounds coincide often; among them those where arithmetic, unlike comparison, goes wrong.
COORDINATES = (-np.inf, -1e30, -7.0, -1.0, -1e-45, 0.0, 0.1, 0.5, 1.0, 1.5, 2.0, 3.0, 1e30, np.inf)


def test_every_built_in_method_is_registered() -> None:
    assert set(BUILT_IN) <= set(choque.broad.names())


@pytest.mark.parametrize("method", BUILT_IN)
def test_a_method_is_found_under_its_own_name(method: str) -> None:
    assert choque.broad.find(method).name == method


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("method", BUILT_IN)
def test_method_passes_check(method: str, check: str, thorough: bool) -> None:
    CHECKS[check](method, thorough=thorough, exact=method not in SUPERSETS)


@st.composite
def scenes(draw: st.DrawFn) -> tuple[list[Boxes], dict[str, Any]]:
    """Two states of up to 20 bodies, of fewer in `make test`, and settings."""
    count = draw(st.integers(0, 20 if FULL else 8))
    dimension = draw(st.sampled_from((2, 3)))
    dtype = draw(st.sampled_from((np.float32, np.float64)))
    coordinate = draw(st.sampled_from((st.integers(-3, 3), st.sampled_from(COORDINATES), st.floats(-4, 4, width=32))))
    size = 2 * count * dimension
    states = []
    for _ in range(2):
        drawn = draw(st.lists(coordinate, min_size=size, max_size=size))
        corners = np.sort(np.array(drawn, dtype).reshape(2, count, dimension), axis=0)
        states.append(Boxes(*corners))
    settings: dict[str, Any] = {"closed": draw(st.booleans())}
    bits = st.lists(st.integers(0, 3), min_size=count, max_size=count)
    if draw(st.booleans()):
        settings["groups"] = np.array(draw(bits), np.int64)
        settings["static"] = np.array(draw(bits), np.int64) == 0
    return states, settings


@pytest.mark.parametrize("method", BUILT_IN)
@given(scenes())
def test_method_agrees_with_oracle_before_and_after_a_change(
    method: str, scene: tuple[list[Boxes], dict[str, Any]]
) -> None:
    (before, after), settings = scene
    wanted = [_pairs(oracle.overlapping_pairs(state.lower, state.upper, **settings)) for state in (before, after)]
    broad = choque.broad.create(method, before, **settings)
    counted, held = broad.count(), _pairs(broad.pairs())
    broad.update(after)
    began, ended, now = _pairs(broad.began), _pairs(broad.ended), _pairs(broad.pairs())
    assert counted == len(held)
    assert (held - ended) | began == now
    assert not began & held
    assert ended <= held
    if method in SUPERSETS:
        assert held >= wanted[0]
        assert now >= wanted[1]
    else:
        assert held == wanted[0]
        assert now == wanted[1]


@st.composite
def scripts(draw: st.DrawFn) -> tuple[bool, list[tuple[str, int]]]:
    """A topology, and changes in any order, each with a seed for its boxes; "look" asks for all pairs."""
    kinds = st.sampled_from(("update", "move", "move", "add", "remove", "look"))
    return draw(st.booleans()), draw(st.lists(st.tuples(kinds, st.integers(0, 1000)), max_size=14))


@pytest.mark.parametrize("method", sorted(set(BUILT_IN) - SUPERSETS))
@given(scripts())
def test_method_follows_any_script(method: str, script: tuple[bool, list[tuple[str, int]]]) -> None:
    closed, changes = script
    broad, mirror = (choque.broad.create(method, _drawn(0, 8), closed=closed), Mirror(_drawn(0, 8), closed=closed))
    for change, seed in changes:
        random = np.random.default_rng(seed)
        some = random.permutation(mirror.ids)[: int(random.integers(0, 5))]
        before = _pairs(mirror.pairs())
        if change == "update":
            arguments: tuple[Any, ...] = (_drawn(seed, len(mirror.ids)),)
        elif change == "move":
            arguments = (some, _drawn(seed, len(some)))
        elif change == "add":
            arguments = (_drawn(seed, seed % 4),)
        elif change == "remove":
            arguments = (some,)
        else:
            assert _pairs(broad.pairs()) == before
            continue
        getattr(broad, change)(*arguments)
        getattr(mirror, change)(*arguments)
        if seed % 2:
            assert _pairs(broad.began) == _pairs(mirror.pairs()) - before
            assert _pairs(broad.ended) == before - _pairs(mirror.pairs())
    assert _pairs(broad.pairs()) == _pairs(mirror.pairs())


def _drawn(seed: int, count: int) -> Boxes:
    random = np.random.default_rng(seed)
    lower = random.integers(0, 5, (count, 2)).astype(np.float64)
    return Boxes(lower, lower + random.integers(0, 3, lower.shape))


def _pairs(array: Any) -> set[tuple[int, int]]:
    found = [(int(i), int(j)) for i, j in array]
    assert len(found) == len(set(found))
    return set(found)
