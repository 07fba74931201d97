"""Bodies that come and go in a sweep: the answers of a sweep built again, at a cost that hardly grows with the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from choque.errors import InvalidInput
from choque.kinetic import Sweep
from choque.kinetic._slots import MOVED  # counts the work of an insertion


def scattered(count: int, seed: int = 0, *, grid: bool = False) -> tuple[Any, Any, Any]:
    random = np.random.default_rng(seed)
    lower = random.uniform(0, 3 * count**0.5, (count, 2))
    lower = lower.round() if grid else lower
    return lower, lower + random.uniform(0.25, 1, (count, 2)), random.integers(-4, 5, (count, 2)) / 4


def built_again(sweep: Sweep, acceleration: Any) -> Sweep:
    return Sweep(*sweep.boxes(), sweep.velocity, acceleration=acceleration, closed=sweep.closed, time=sweep.time)


def spans(events: Any) -> list[Any]:
    return [(event.time, event.kind, event.pair) for event in events]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.booleans(), st.booleans())
def test_a_sweep_after_any_history_is_one_that_is_built_again(seed: int, closed: bool, curved: bool) -> None:
    random = np.random.default_rng(seed)
    sweep = Sweep(*scattered(40, seed, grid=True), closed=closed, acceleration=[0, 0.5] if curved else None)
    for step in range(24):
        if step % 3 == 0:
            lower, upper, velocity = scattered(2, seed + step, grid=True)
            sweep.add(2 * lower, 2 * lower + upper - lower, velocity, acceleration=[0, 0.5] if curved else None)
        elif step % 3 == 1:
            sweep.remove(random.choice(sweep.ids, int(random.integers(1, 4)), replace=False))
        else:
            sweep.advance(sweep.time + 0.5)
            _ = sweep.meetings
    audit = sweep.audit()
    assert (audit.stale, audit.disorder) == (0, 0.0)
    sweep.advance(sweep.time)  # what happens now is over
    other = built_again(sweep, [0, 0.5] if curved else None)
    other.advance(other.time)
    assert sweep.pairs().tolist() == sweep.ids[other.pairs()].tolist()
    assert sweep.audit().compact == other.audit().compact
    assert len(sweep.heap()[0]) == len(other.heap()[0])
    # Paths that start at another time round otherwise: events are compared pair by pair, by time but for rounding.
    found, expected = sweep.advance(sweep.time + 2.003), other.advance(other.time + 2.003)
    one = sorted((*event.pair, event.time) for event in found)
    two = sorted((*sweep.ids[list(event.pair)].tolist(), event.time) for event in expected)
    assert len(one) == len(two)
    np.testing.assert_allclose(one, two, rtol=1e-12)
    assert sweep.order.shape == other.order.shape


@pytest.mark.parametrize("where", ["anywhere", "one place"])
def test_one_body_costs_the_same_among_few_and_among_many(where: str) -> None:
    work = {}
    for count in (1000, 30_000):
        sweep = Sweep(*scattered(count))
        sweep.add([[0, 0]], [[1, 1]], [[0, 0]])  # makes room
        lists, before, turns = sweep.lists, int(sweep.lists.size[MOVED]), 60
        random = np.random.default_rng(1)
        for _ in range(turns):
            place = random.uniform(0, 3 * count**0.5, (1, 2)) if where == "anywhere" else np.full((1, 2), 5.0)
            sweep.add(place, place + 1, [[0.5, 0]])
        for each in random.choice(sweep.ids, turns, replace=False) if where == "anywhere" else sweep.ids[-turns:]:
            sweep.remove([each])
        assert sweep.lists is lists, "the lists were built again"
        work[count] = (int(lists.size[MOVED]) - before) / (2 * turns)
        assert sweep.audit().stale == 0
    assert work[30_000] < 2 * work[1000] < 2000


def test_a_hole_that_removals_leave_is_closed() -> None:
    lower = np.stack((np.arange(600.0), np.zeros(600)), 1)
    sweep = Sweep(lower, lower + 0.5, np.zeros((600, 2)))
    for each in range(100, 300):
        sweep.remove([each])
    line = sweep.lists.order[0]
    filled = np.flatnonzero(line >= 0)
    assert np.diff(filled).max() < 100
    assert sweep.ids.tolist() == [*range(100), *range(300, 600)]
    assert sweep.order[0].tolist() == list(range(800))


def test_many_that_meet_at_once_in_lists_with_room() -> None:
    random = np.random.default_rng(3)
    velocity = random.normal(0, 1, (200, 2))
    whole = Sweep(-velocity, -velocity, velocity)
    sweep = Sweep(-velocity[:180], -velocity[:180], velocity[:180])
    for row in range(180, 200):
        sweep.add(-velocity[row : row + 1], -velocity[row : row + 1], velocity[row : row + 1])
    assert not sweep.lists.is_dense
    assert spans(sweep.advance(2)) == spans(whole.advance(2))
    assert (sweep.counters.exchanges, sweep.audit().multiple) == (whole.counters.exchanges, whole.audit().multiple)
    assert sweep.order.tolist() == whole.order.tolist()


def test_meetings_and_certificates_are_counted_among_the_living() -> None:
    lower = np.array([[4.0 * k, 0] for k in range(20)])
    speed = np.where(np.arange(20) == 10, 1.0, 0.0)
    sweep = Sweep(lower, lower + 1, np.stack((speed, 0 * speed), 1))
    sweep.remove([3])
    (event,) = sweep.advance(10, stop="event")
    assert (event.time, event.pair) == (3.0, (10, 11))
    (meeting,) = sweep.meetings
    assert (meeting.first, meeting.last, meeting.after) == (19, 20, (20, 19))
    assert [each.slot for each in sweep.certificates()] == [18, 20]


def test_a_body_that_is_gone_is_refused_by_its_id() -> None:
    sweep = Sweep(*scattered(20))
    sweep.remove([4])
    for call in (lambda: sweep.remove([4]), lambda: sweep.set_velocity([4], [[0, 0]])):
        with pytest.raises(InvalidInput, match="No living body has the id 4"):
            call()
    assert sweep.add([[0, 0]], [[1, 1]], [[0, 0]]).tolist() == [20]
