"""The kinetic sweep against exact rationals: the order changes, the events, and the pairs at any time."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from rational_oracle import Scene, accelerated_exchanges, random_scene

import choque
from choque.kinetic import Sweep

UNTIL = 6.0


def _seeds(thorough: bool, reduced: int) -> range:
    return range(1000 if thorough else reduced)


@pytest.mark.parametrize("closed", [True, False])
def test_exchanges_events_and_pairs_are_the_true_ones_where_everything_coincides(closed: bool, thorough: bool) -> None:
    for seed in _seeds(thorough, 60):
        dimension = 2 + seed % 2
        corners = random_scene(seed, count=2 + seed % 9, dimension=dimension, grid=True)
        sweep, truth = Sweep(*corners, closed=closed), Scene(*corners, closed=closed)
        assert sweep.pairs().tolist() == truth.pairs(Fraction(0)), seed
        events = sweep.advance(UNTIL)
        assert (sweep.counters.exchanges, sweep.counters.events) == truth.exchanges(Fraction(UNTIL)), seed
        found = [
            (time, tuple(pair), int(not began))
            for time, began, pair in zip(
                events.times.tolist(), events.began.tolist(), events.pairs.tolist(), strict=True
            )
        ]
        assert found == [(float(time), pair, kind) for time, pair, kind in truth.events(Fraction(UNTIL))], seed
        audit = sweep.audit()
        assert (audit.stale, audit.local <= 2, audit.disorder <= 1e-12) == (0, True, True), seed


@pytest.mark.parametrize("closed", [True, False])
def test_exchanges_are_the_true_ones_for_any_floats(closed: bool, thorough: bool) -> None:
    for seed in _seeds(thorough, 40):
        corners = random_scene(seed, count=3 + seed % 10, dimension=2 + seed % 2, grid=False)
        sweep, truth = Sweep(*corners, closed=closed), Scene(*corners, closed=closed)
        events = sweep.advance(UNTIL)
        assert sweep.counters.exchanges == truth.exchanges(Fraction(UNTIL))[0], seed
        expected = truth.events(Fraction(UNTIL))
        np.testing.assert_allclose(events.times, [float(time) for time, _, _ in expected], rtol=1e-12, atol=1e-13)
        assert sorted(map(tuple, events.pairs.tolist())) == sorted(pair for _, pair, _ in expected), seed


def test_exchanges_of_accelerated_bodies_are_the_true_ones(thorough: bool) -> None:
    until = UNTIL + 2.0**-20  # no meeting of these whole numbers is there
    for seed in _seeds(thorough, 40):
        corners = random_scene(seed, count=2 + seed % 9, dimension=2 + seed % 2, grid=True)
        acceleration = np.random.default_rng(seed).integers(-2, 3, corners[0].shape).astype(float)
        sweep = Sweep(*corners, acceleration=acceleration)
        sweep.advance(until)
        assert sweep.counters.exchanges == accelerated_exchanges(*corners, acceleration, Fraction(until)), seed


@pytest.mark.parametrize("grid", [True, False])
def test_kinetic_equals_direct_at_random_times(grid: bool, thorough: bool) -> None:
    for seed in _seeds(thorough, 20):
        closed = bool(seed % 2)
        lower, upper, velocity = random_scene(seed, count=12, dimension=2 + seed // 2 % 2, grid=grid)
        sweep = Sweep(lower, upper, velocity, closed=closed)
        # Odd multiples of 2⁻²⁰ are exact, and no meeting of the grid, whose slopes are at most 6, falls on them.
        times = np.unique(np.random.default_rng(seed).integers(0, 6 << 19, 1000 if thorough else 20)) * 2.0 + 1.0
        for time in (times * 2.0**-20).tolist():
            sweep.advance(time)
            direct = choque.pairs(lower + velocity * time, upper + velocity * time, method="brute", closed=closed)
            assert sweep.pairs().tolist() == direct.tolist(), (seed, time)


def test_pairs_at_a_stop_are_those_just_after_the_event() -> None:
    corners = random_scene(8, count=12, dimension=2, grid=True)
    sweep = Sweep(*corners)
    held = set(map(tuple, sweep.pairs().tolist()))
    while sweep.next_time <= UNTIL:
        for event in sweep.advance(UNTIL, stop="event"):
            assert sweep.time == event.time
            (held.add if event.kind == "began" else held.remove)(event.pair)
        assert held == set(map(tuple, sweep.pairs().tolist()))


def test_buffers_grow_and_nothing_is_dropped() -> None:
    """All ends of all bodies meet in one point of one axis at one time."""
    count = 120
    position = np.arange(-count, count, 2.0)[:, None] * np.array([[1.0, 0.0]])
    velocity = -position
    corners = position, position, velocity
    sweep = Sweep(*corners)
    events = sweep.advance(2.0)
    inversions = count * (count - 1) // 2
    assert sweep.counters.exchanges == 4 * inversions
    assert sweep.counters.events == sweep.audit().multiple == 1
    assert len(events) == 2 * inversions  # every two points touch for an instant
    assert (events.times == 1.0).all()
    half_open = Sweep(*corners, closed=False)
    assert len(half_open.advance(2.0)) == 0
    assert half_open.counters.exchanges == 4 * inversions
