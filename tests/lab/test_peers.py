"""Every installed peer against brute force written here, before and after a move."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from choque._core.types import Floats, Pairs
from choque.errors import InvalidInput, MissingExtra, UnknownName
from choque.lab import peers
from choque.lab.peers.contract import canonical, canonical_hits, overlapping

Scene = tuple[Floats, Floats]


def every_pair(lower: Floats, upper: Floats) -> Pairs:
    """The overlapping pairs by the definition, all n² at once."""
    meet = ((lower[:, None] <= upper[None]) & (lower[None] <= upper[:, None])).all(axis=2)
    return np.argwhere(np.triu(meet, 1)).astype(np.int32)


def scattered(dimension: int, number: type, count: int = 300, spread: float = 3.0, seed: int = 7) -> Scene:
    generator = np.random.default_rng(seed)
    edge = generator.uniform(1 / spread, 1.0, (count, dimension))
    lower: Floats = generator.uniform(0, (count * 0.4) ** (1 / dimension), (count, dimension)).astype(number)
    return lower, (lower + edge).astype(number)


def cases(question: str, *dimensions: int) -> list[Any]:
    """(peer, dimension) for every peer that solves this problem, skipped where its library is missing."""
    found: list[Any] = []
    for name in peers.names():
        peer = peers.get(name, threads=2)
        missing = pytest.mark.skipif(not peer.is_installed(), reason=f"{peer.distribution} is not installed")
        if peer.question == question:
            taken = [dimension for dimension in dimensions if dimension in peer.dimensions]
            found += [pytest.param(peer, dimension, id=f"{name}-{dimension}D", marks=missing) for dimension in taken]
    return found


def answer_of(peer: peers.Peer, lower: Floats, upper: Floats) -> Pairs:
    state = peer.create(lower, upper)
    return peer.read(state, peer.pairs(state))


@pytest.mark.parametrize("spread", [1.0, 3.0, 50.0])
@pytest.mark.parametrize(("peer", "dimension"), cases("boxes", 2, 3))
def test_pairs_are_those_of_brute_force(peer: peers.Peer, dimension: int, spread: float) -> None:
    lower, upper = scattered(dimension, np.float32, spread=spread)
    expected = every_pair(lower, upper)
    assert len(expected) > 100
    np.testing.assert_array_equal(answer_of(peer, lower, upper), expected)


@pytest.mark.parametrize(("peer", "dimension"), cases("boxes", 2, 3))
def test_touching_boxes_are_pairs(peer: peers.Peer, dimension: int) -> None:
    axes = np.meshgrid(*[np.arange(4.0)] * dimension, indexing="ij")
    lower = np.stack([axis.ravel() for axis in axes], axis=1).astype(np.float32)
    np.testing.assert_array_equal(answer_of(peer, lower, lower + 1), every_pair(lower, lower + 1))


@pytest.mark.parametrize(("peer", "dimension"), cases("boxes", 2, 3))
def test_update_follows_the_boxes(peer: peers.Peer, dimension: int) -> None:
    lower, upper = (corners * 64 // 1 / 64 for corners in scattered(dimension, np.float32))
    given = lower.copy()
    step = np.random.default_rng(1).integers(-64, 65, lower.shape).astype(np.float32) / 64
    state = peer.create(lower, upper)
    peer.pairs(state)
    state = peer.update(state, lower + step, upper + step)
    expected = every_pair(lower + step, upper + step)
    assert not np.array_equal(expected, every_pair(lower, upper))
    np.testing.assert_array_equal(peer.read(state, peer.pairs(state)), expected)
    np.testing.assert_array_equal(lower, given)


@pytest.mark.parametrize(("peer", "dimension"), cases("boxes", 2, 3))
def test_more_pairs_than_a_first_guess(peer: peers.Peer, dimension: int) -> None:
    lower = np.random.default_rng(3).random((60, dimension)).astype(np.float32)
    assert len(answer_of(peer, lower, lower + 1)) == 60 * 59 // 2


@pytest.mark.parametrize(("peer", "dimension"), cases("spheres", 2, 3))
def test_spheres_are_about_as_many_as_boxes(peer: peers.Peer, dimension: int) -> None:
    lower, upper = scattered(dimension, np.float64, count=2_000, spread=1.0)
    ratio = len(answer_of(peer, lower, upper)) / len(every_pair(lower, upper))
    assert 0.8 < ratio < 1.2


@pytest.mark.parametrize(("name", "dimension"), [("shapely-strtree", 3), ("vesin", 2), ("vesin-spheres", 2)])
def test_boxes_of_a_dimension_that_a_peer_cannot_take_are_refused(name: str, dimension: int) -> None:
    lower, upper = scattered(dimension, np.float64)
    with pytest.raises(InvalidInput, match=f"{dimension}D"):
        peers.get(name).create(lower, upper)


def test_a_missing_library_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vesin", None)
    with pytest.raises(MissingExtra, match=r"choque\[peers\]"):
        peers.get("vesin").create(*scattered(3, np.float64))


def test_unknown_peer_suggests_one() -> None:
    with pytest.raises(UnknownName, match="vesin"):
        peers.get("vesim")


def test_installed_imports_nothing() -> None:
    before = set(sys.modules)
    assert set(peers.installed()) <= set(peers.names())
    assert not {"warp", "coal", "ipctk", "fcl"} & (set(sys.modules) - before)


def test_canonical_drops_order_repeats_and_selves() -> None:
    first, second = np.array([5, 2, 3, 1, 2]), np.array([2, 5, 3, 0, 9])
    assert canonical(first, second).tolist() == [[0, 1], [2, 5], [2, 9]]
    assert canonical_hits(np.array([2, 0, 1]), np.array([0, 2, 1])).tolist() == [[0, 2], [1, 2]]


def test_overlapping_agrees_with_the_definition() -> None:
    lower, upper = scattered(3, np.float32, count=80)
    first, second = np.triu_indices(80, 1)
    true = overlapping(lower, upper, first, second)
    np.testing.assert_array_equal(np.stack((first[true], second[true]), axis=1), every_pair(lower, upper))
