"""The kinetic sweep as a user sees it: goldens, changes on the way, walls, accelerated bodies, bad input."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pytest
from rational_oracle import Scene, random_scene

import choque
from choque.errors import InvalidInput
from choque.kinetic import Sweep

THREE = (
    np.array([[-2.0, 0.0], [-6.0, 7.0], [0.0, 3.0]]),
    np.array([[2.0, 4.0], [-4.0, 9.0], [5.0, 8.0]]),
    np.array([[-2.0, 3.0], [1.0, -3.0], [-1.0, -2.0]]),
)


def test_three_objects_of_the_thesis() -> None:
    sweep = Sweep(*THREE)
    assert sweep.pairs().tolist() == [[0, 2]]
    times, multiple = [], []
    while sweep.next_time <= 10:
        sweep.advance(10, stop="instant")
        times += [(m.axis, m.time) for m in sweep.meetings]
        multiple += [m for m in sweep.meetings if m.is_multiple]
    assert len(times) == sweep.counters.events == 17
    assert [t for axis, t in times if axis == 0] == [2 / 3, 4 / 3, 2, 8 / 3, 3, 9 / 2, 11 / 2]
    assert [t for axis, t in times if axis == 1] == [1 / 2, 3 / 5, 4 / 5, 5 / 6, 1, 7 / 6, 3 / 2, 8 / 5, 4, 6]
    (only,) = multiple
    assert (only.time, only.axis, sorted(only.after)) == (2.0, 0, [1, 3, 4])  # q0, q1 and p2
    assert (sweep.audit().simple, sweep.audit().multiple) == (16, 1)


def test_begin_and_end_stream_of_the_three_objects() -> None:
    events = [(e.time, e.kind, e.pair) for e in Sweep(*THREE).advance(10)]
    assert events == [
        (2 / 3, "began", (0, 1)),
        (3 / 2, "ended", (0, 1)),
        (8 / 5, "ended", (0, 2)),
        (2.0, "began", (1, 2)),
        (11 / 2, "ended", (1, 2)),
    ]


def test_the_horizon_is_included_and_nothing_beyond_it_happens() -> None:
    sweep = Sweep([[0, 0], [4, 0]], [[1, 1], [5, 1]], [[1, 0], [0, 0]])
    assert [e.time for e in sweep.advance(2.999)] == []
    assert [e.time for e in sweep.advance(3)] == [3.0]
    assert sweep.pairs().tolist() == [[0, 1]]
    assert list(sweep.advance(3)) == []
    assert sweep.time == 3.0


@pytest.mark.parametrize("closed", [True, False])
def test_touch_of_one_instant(closed: bool) -> None:
    """Corners that meet: on X they come together at the moment at which they part on Y."""
    sweep = Sweep([[0, 0], [3, 0]], [[1, 1], [4, 1]], [[1, 1], [0, 0.5]], closed=closed)
    events = sweep.advance(9)
    assert [(e.time, e.kind) for e in events] == ([(2.0, "began"), (2.0, "ended")] if closed else [])
    assert events.times.tolist() == ([2.0, 2.0] if closed else [])
    assert events.began.tolist() == ([True, False] if closed else [])
    assert events.pairs.tolist() == ([[0, 1], [0, 1]] if closed else [])


@pytest.mark.parametrize("closed", [True, False])
def test_ball_that_touches_at_its_highest_point(closed: bool) -> None:
    """Up to 5 under a shelf at 6, thrown at 10 with gravity −10: its upper end is at 1 + 10 t − 5 t²."""
    sweep = Sweep([[0, 0], [0, 6]], [[1, 1], [1, 7]], [[0, 10], [0, 0]], acceleration=[[0, -10], [0, 0]], closed=closed)
    assert [(e.time, e.kind) for e in sweep.advance(9)] == ([(1.0, "began"), (1.0, "ended")] if closed else [])
    assert sweep.audit().stale == 0


@pytest.mark.parametrize("closed", [True, False])
def test_bodies_that_touch_and_move_together(closed: bool) -> None:
    sweep = Sweep([[0, 0], [1, 0]], [[1, 1], [2, 1]], [[1, 0], [1, 0]], closed=closed)
    assert (len(sweep.pairs()), list(sweep.advance(9))) == (int(closed), [])
    parted = Sweep([[0, 0], [3, 0]], [[1, 1], [4, 1]], [[1, 0], [0, 0]], closed=closed)
    parted.advance(2.0)  # they touch now
    parted.set_velocity([0], [[0, 0]])
    assert [(e.time, e.kind) for e in parted.advance(9)] == ([] if closed else [(2.0, "ended")])
    assert len(parted.pairs()) == int(closed)


def test_accelerated_bodies_equal_direct_at_random_times(thorough: bool) -> None:
    for seed in range(300 if thorough else 12):
        random = np.random.default_rng(seed)
        lower, upper, velocity = random_scene(seed, count=10, dimension=2 + seed % 2, grid=bool(seed % 3))
        acceleration = random.integers(-2, 3, lower.shape).astype(float)
        closed = bool(seed % 2)
        sweep = Sweep(lower, upper, velocity, acceleration=acceleration, closed=closed)
        for time in np.sort(random.uniform(0, 6, 12)).tolist():
            sweep.advance(time)
            moved = velocity * time + acceleration * (time * time / 2)
            direct = choque.pairs(lower + moved, upper + moved, method="brute", closed=closed)
            assert sweep.pairs().tolist() == direct.tolist(), (seed, time)
        assert sweep.audit().stale == 0


@pytest.mark.parametrize("closed", [True, False])
def test_after_every_change_the_structure_equals_a_fresh_one(closed: bool, thorough: bool) -> None:
    for seed in range(200 if thorough else 12):
        random = np.random.default_rng(seed)
        sweep = Sweep(*random_scene(seed, count=8, dimension=2, grid=True), closed=closed)
        for step in range(8):
            sweep.advance(sweep.time + int(random.integers(0, 4)) / 4)
            some = random.permutation(sweep.ids)[:2]
            change = ("add", "remove", "set_velocity")[int(random.integers(0, 3))]
            if change == "add":
                sweep.add(*random_scene(1000 * seed + step, count=2, dimension=2, grid=True))
            elif change == "remove":
                sweep.remove(some)
            else:
                sweep.set_velocity(some, random.integers(-3, 4, (len(some), 2)))
            _equals_fresh(sweep)


def _equals_fresh(sweep: Sweep) -> None:
    fresh = Sweep(*sweep.boxes(), sweep.velocity, closed=sweep.closed, time=sweep.time)
    own = sweep.copy()
    assert own.audit().stale == 0
    # A pair that touches now may have ended already; a new structure reports it again. Then both agree.
    own.advance(own.time)
    fresh.advance(fresh.time)
    assert own.pairs().tolist() == own.ids[fresh.pairs()].tolist()
    mine, other = own.advance(own.time + 5), fresh.advance(fresh.time + 5)
    assert _events_of(mine.times, mine.began, mine.pairs) == _events_of(other.times, other.began, own.ids[other.pairs])


def _events_of(times: Any, began: Any, pairs: Any) -> list[tuple[float, tuple[int, ...], bool]]:
    rows = zip(times.tolist(), pairs.tolist(), began.tolist(), strict=True)
    return sorted((round(time, 9), tuple(pair), not started) for time, pair, started in rows)


def test_change_at_an_event_changes_the_future() -> None:
    sweep = Sweep([[0, 0], [4, 0]], [[1, 1], [5, 1]], [[1, 0], [0, 0]])
    seen = []
    while sweep.next_time <= 20:
        for event in sweep.advance(20, stop="event"):
            assert sweep.time == event.time
            seen.append((event.time, event.kind))
            if event.kind == "began":
                sweep.set_velocity([0], [[-1, 0]])
    assert seen == [(3.0, "began"), (3.0, "ended")]
    assert len(sweep.advance(20)) == 0
    assert sweep.time == 20.0


def test_events_are_computed_by_the_call_and_changes_in_the_loop_do_not_touch_them() -> None:
    sweep = Sweep([[0, 0], [2, 0], [2, 0]], [[1, 1], [3, 1], [3, 1]], [[1, 0], [0, 0], [0, 0]])
    events = sweep.advance(1)
    assert sweep.time == 1.0
    seen = []
    for event in events:
        seen.append(event.pair)
        if event.pair[0] in sweep.ids:
            sweep.remove([event.pair[0]])
    assert seen == [(0, 1), (0, 2)]
    assert sweep.ids.tolist() == [1, 2]
    assert len(sweep.meetings) == 0  # those of the latest instant named end points that are gone


@pytest.mark.parametrize("stop", ["event", "instant", "multiple"])
def test_stops_give_the_same_events_as_one_call(stop: Literal["event", "instant", "multiple"]) -> None:
    corners = random_scene(4, count=30, dimension=2, grid=True)
    whole, stepped = Sweep(*corners), Sweep(*corners)
    found, calls = [], 0
    while stepped.next_time <= 5:
        found += stepped.advance(5, stop=stop)
        calls += 1
    stepped.advance(5)
    assert found == list(whole.advance(5))
    assert stepped.counters == whole.counters
    assert calls > 3


def test_ids_are_never_used_again() -> None:
    sweep = Sweep(*THREE)
    sweep.remove([1])
    assert sweep.add([[0, 0]], [[1, 1]], [[0, 0]]).tolist() == [3]
    assert sweep.ids.tolist() == [0, 2, 3]
    assert sweep.pairs().tolist() == [[0, 2], [0, 3]]
    sweep.remove(sweep.ids)
    assert (len(sweep), len(sweep.pairs()), list(sweep.advance(3))) == (0, 0, [])


@pytest.mark.parametrize("walls", [False, True])
def test_the_heap_holds_every_certificate_below_one_that_fails_no_later(walls: bool) -> None:
    lower, upper, velocity = random_scene(3, count=6, dimension=2, grid=False)
    sweep = Sweep(lower, upper, velocity)
    if walls:
        sweep.bounce([-16, -16], [16, 16])
    sweep.advance(2.0)
    due, numbers = sweep.heap()
    assert sorted(numbers.tolist()) == list(range(2 * 12 + (2 * 6 if walls else 0)))
    assert due[0] == sweep.next_time
    assert all(due[(k - 1) // 2] <= due[k] for k in range(1, len(due)))
    listed = {divmod(number, 12): time for time, number in zip(due.tolist(), numbers.tolist(), strict=True)}
    failing = {place: time for place, time in listed.items() if np.isfinite(time) and place[0] < 2}
    assert failing == {(each.axis, each.slot): each.time for each in sweep.certificates()}
    for each in sweep.certificates():
        assert sweep.order[each.axis, each.slot : each.slot + 2].tolist() == [each.left, each.right]
    due[:] = -1  # what is given is a copy
    assert sweep.next_time >= 2.0


def test_walls_reflect_and_pairs_stay_right(thorough: bool) -> None:
    for seed in range(100 if thorough else 6):
        lower, upper, velocity = random_scene(seed, count=10, dimension=2, grid=bool(seed % 2))
        low, high = np.full(2, -16.0), np.full(2, 16.0)
        sweep = Sweep(lower, upper, velocity)
        sweep.bounce(low, high)
        for time in np.sort(np.random.default_rng(seed).uniform(0, 60, 12)).tolist():
            sweep.advance(time)
            room = high - low - (upper - lower)
            travelled = np.mod(lower - low + velocity * time, 2 * room)
            place = low + np.where(travelled > room, 2 * room - travelled, travelled)
            np.testing.assert_allclose(sweep.boxes()[0], place, atol=1e-9)
            direct = choque.pairs(place, place + (upper - lower), method="brute").tolist()
            assert sweep.pairs().tolist() == direct or _differ_by_touching(sweep, direct), (seed, time)
        assert sweep.audit().stale == 0


def test_ball_under_gravity_bounces_for_ever_and_one_at_rest_stays() -> None:
    sweep = Sweep([[0, 5], [3, 0]], [[1, 6], [4, 1]], [[0, 0], [0, 0]], acceleration=[[0, -10], [0, -10]])
    sweep.bounce([-10, 0], [10, np.inf])
    sweep.advance(10.0)
    np.testing.assert_allclose(sweep.boxes()[0], [[0, 5], [3, 0]], atol=1e-9)
    assert sweep.audit().bounces == 6  # at 1, 3, 5, 7 and 9 s, and the one that came to rest at once


def test_touch_under_acceleration_is_found_among_other_end_points() -> None:
    """A body falls to y = 0 and rises again; the end of a distant body stays there, or passes at that moment."""
    lower, upper, velocity = [[0, -1], [0, 1]], [[1, 0], [1, 2]], [[0, 0], [0, -2]]
    for third, speed in (([10, -1], 0), ([10, 0], 0), ([10, -2], 1), ([10, 1], -1), ([10, -1], -2)):
        sweep = Sweep(
            [*lower, third],
            [*upper, [third[0] + 1, third[1] + 1]],
            [*velocity, [0, speed]],
            acceleration=[[0, 0], [0, 2], [0, 4 if speed == -2 else 0]],
        )
        events = [(e.time, e.kind, e.pair) for e in sweep.advance(3)]
        assert events == [(1.0, "began", (0, 1)), (1.0, "ended", (0, 1))], (third, speed)
        assert sweep.audit().stale == 0


@pytest.mark.parametrize("closed", [True, False])
def test_events_of_accelerated_pairs_do_not_depend_on_other_bodies(closed: bool, thorough: bool) -> None:
    """Small whole numbers, so that many touches are exact and many end points coincide."""
    touches = 0
    for seed in range(400 if thorough else 25):
        random = np.random.default_rng(seed)
        lower = random.integers(-3, 4, (7, 2)).astype(float)
        upper = lower + random.integers(0, 3, lower.shape)
        velocity, acceleration = random.integers(-2, 3, lower.shape), 2 * random.integers(-1, 2, lower.shape)
        whole = Sweep(lower, upper, velocity, acceleration=acceleration, closed=closed)
        found = [(e.time, e.kind, e.pair) for e in whole.advance(4)]
        for a in range(7):
            for b in range(a + 1, 7):
                rows = [a, b]
                alone = Sweep(
                    lower[rows], upper[rows], velocity[rows], acceleration=acceleration[rows], closed=closed
                ).advance(4)
                wanted = [(e.time, e.kind, (a, b)) for e in alone]
                assert [each for each in found if each[2] == (a, b)] == wanted, (seed, a, b)
                times = [time for time, _, _ in wanted]
                touches += len(times) - len(set(times))
    assert touches > 10 or not closed


@pytest.mark.parametrize("change", ["set_velocity", "acceleration", "walls", "add", "remove"])
def test_body_that_rested_at_a_wall_keeps_its_acceleration(change: str) -> None:
    sweep = Sweep([[0, 0], [3, 0]], [[1, 1], [4, 1]], [[0, 0], [0, 0]], acceleration=[[0, -1], [0, -1]])
    sweep.bounce([-5, 0], [5, 50])
    sweep.advance(1)
    np.testing.assert_array_equal(sweep.boxes()[0], [[0, 0], [3, 0]])
    if change == "walls":
        sweep.bounce([-5, -2], [5, 50])
        sweep.advance(2)
        np.testing.assert_array_equal(sweep.boxes()[0], [[0, -0.5], [3, -0.5]])
        return
    if change == "add":
        sweep.add([[-3, 4]], [[-2, 5]], [[0, 0]])
    elif change == "remove":
        sweep.remove([1])
    if change == "acceleration":
        sweep.set_velocity([0], [[0, 4]], acceleration=[[0, -2]])
        sweep.advance(2)
        assert sweep.boxes()[0][0].tolist() == [0.0, 3.0]
        return
    sweep.set_velocity([0], [[0, 4]])
    sweep.advance(2)
    assert sweep.boxes()[0][0].tolist() == [0.0, 3.5]
    sweep.set_velocity([0], [[1, -4]])
    sweep.advance(20)
    assert sweep.boxes()[0][0, 1] >= 0.0
    assert sweep.audit().stale == 0


def test_fuzz_with_audits(thorough: bool) -> None:
    """A closed box, so that events never end; half of the numbers are on a grid, so that many coincide."""
    random = np.random.default_rng(11)
    lower, upper, velocity = random_scene(3, count=60, dimension=3, grid=True)
    velocity[::2] += random.normal(size=velocity[::2].shape)
    sweep = Sweep(lower, upper, velocity)
    sweep.bounce([-16] * 3, [16] * 3)
    wanted, events = (1_000_000 if thorough else 20_000), 0
    while events < wanted:
        before = sweep.counters.events
        while sweep.counters.events < before + 1000:
            sweep.advance(sweep.time + 0.25)
        events = sweep.counters.events
        audit = sweep.audit()
        assert (audit.stale, audit.local <= 2, audit.disorder < 1e-9) == (0, True, True)
        now = choque.pairs(*sweep.boxes(), method="brute").tolist()
        assert sweep.pairs().tolist() == now or _differ_by_touching(sweep, now)


def _differ_by_touching(sweep: Sweep, direct: list[list[int]]) -> bool:
    """Whether the sets differ only in pairs that touch within rounding at this very time."""
    lower, upper = sweep.boxes()
    doubtful = set(map(tuple, direct)) ^ set(map(tuple, sweep.pairs().tolist()))
    return all((np.abs(np.minimum(upper[a] - lower[b], upper[b] - lower[a])) < 1e-9).any() for a, b in doubtful)


def test_infinite_extents_are_legal() -> None:
    sweep = Sweep([[-np.inf, -np.inf], [0, 5]], [[np.inf, 0], [1, 6]], [[0, 0], [0, -1]])
    assert [(e.time, e.kind) for e in sweep.advance(50)] == [(5.0, "began")]


def test_copies_and_pickles_go_their_own_way() -> None:
    sweep = Sweep(*THREE)
    twin = pickle.loads(pickle.dumps(sweep))
    sweep.advance(9)
    assert [e.time for e in twin.advance(2)] == [2 / 3, 3 / 2, 8 / 5, 2.0]


def test_memory_is_linear_and_small() -> None:
    for dimension in (2, 3):
        lower, upper, velocity = random_scene(0, count=4000, dimension=dimension, grid=False)
        sweep = Sweep(lower, upper, velocity)
        assert sweep.byte_count == sum(sweep.byte_counts.values()) < 400 * 4000
        assert sweep.byte_counts["paths"] == pytest.approx(8000 * dimension * 32, rel=0.01)
        assert sweep.byte_counts["queue"] == 8000 * dimension * 16


def _gathering(count: int, seed: int, kind: str, closed: bool) -> Sweep:
    """Bodies that meet at time 1, or that part from one place, with velocities of whole numbers or of any."""
    random = np.random.default_rng(seed)
    velocity = random.integers(-9, 10, (count, 2)).astype(float) if seed % 2 else random.normal(size=(count, 2))
    lower = np.zeros((count, 2)) if kind == "burst" else -velocity
    size = random.integers(0, 2, (count, 2)) if seed % 2 and seed % 3 else 0  # exact: no rounding splits a meeting
    return Sweep(lower, lower + size, velocity, acceleration=[0, -2] if seed % 5 == 0 else None, closed=closed)


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("kind", ["meeting", "burst"])
def test_meetings_of_many_are_sorted_to_the_same_result(kind: str, closed: bool, monkeypatch: Any) -> None:
    for seed in range(8):
        monkeypatch.setattr("choque.kinetic.run._MAX_ROWS", 64)
        by_sorting = _gathering(40, seed, kind, closed)
        monkeypatch.setattr("choque.kinetic.run._MAX_ROWS", 1 << 40)
        by_exchanges = _gathering(40, seed, kind, closed)
        assert by_sorting.ids.tolist() == by_exchanges.ids.tolist()
        while by_exchanges.next_time <= 2:
            monkeypatch.setattr("choque.kinetic.run._MAX_ROWS", 64)
            found = list(by_sorting.advance(2, stop="instant"))
            monkeypatch.setattr("choque.kinetic.run._MAX_ROWS", 1 << 40)
            assert found == list(by_exchanges.advance(2, stop="instant"))
            assert by_sorting.order.tolist() == by_exchanges.order.tolist()
            mine, other = by_sorting.meetings, by_exchanges.meetings
            assert mine.before.tolist() == other.before.tolist()
            assert mine.after.tolist() == other.after.tolist()
            assert sorted(mine.exchanges.tolist()) == sorted(other.exchanges.tolist())
        first, second = by_sorting.audit(), by_exchanges.audit()
        assert (first.simple, first.multiple, first.external) == (second.simple, second.multiple, second.external)
        assert by_sorting.counters.exchanges == by_exchanges.counters.exchanges
        assert (first.stale, second.stale, by_sorting.counters.events) == (0, 0, by_exchanges.counters.events)


def test_meetings_that_rounding_splits_are_sorted_to_the_same_pairs(monkeypatch: Any) -> None:
    for seed in range(8):
        random = np.random.default_rng(seed)
        velocity = random.normal(size=(40, 2))
        upper = 1 / 3 - velocity + random.integers(0, 2, (40, 2))
        found = []
        for limit in (64, 1 << 40):
            monkeypatch.setattr("choque.kinetic.run._MAX_ROWS", limit)
            sweep = Sweep(1 / 3 - velocity, upper, velocity)
            changes = [(e.time, e.pair, e.kind) for e in sweep.advance(2)]
            spans = sorted((pair, round(time, 9), kind) for time, pair, kind in changes)
            assert (sweep.audit().stale, sweep.audit().disorder < 1e-12) == (0, True)
            found.append((spans, sweep.pairs().tolist(), sweep.order.tolist()))
        assert found[0][1:] == found[1][1:]
        # A touch within rounding may be seen by one way alone.
        lasting = [[each for each in spans if spans.count(each) == 1] for spans, _, _ in found]
        different = set(lasting[0]) ^ set(lasting[1])
        assert all(abs(time - 1) < 1e-9 for _, time, _ in different)


@pytest.mark.parametrize("kind", ["meeting", "burst"])
def test_memory_stays_linear_when_a_thousand_points_meet_at_once(kind: str) -> None:
    velocity = np.random.default_rng(0).normal(size=(1000, 2))
    place = -velocity if kind == "meeting" else np.zeros((1000, 2))
    sweep = Sweep(place, place, velocity)
    events = sweep.advance(1)
    assert len(events) == (1000 * 999 if kind == "meeting" else 500 * 999)
    if kind == "meeting":
        assert sweep.counters.exchanges == 2 * 4 * 500 * 999  # on each axis, each end of one body and each of the other
    assert sweep.byte_count < 320 * 1000
    sweep.advance(2)
    assert sweep.byte_count < 280 * 1000


def test_responsiveness_counts_what_exchanges_schedule() -> None:
    sweep = Sweep(*random_scene(0, count=300, dimension=2, grid=False))
    assert sweep.audit().responsive == 0.0
    sweep.advance(1.0)
    sweep.add([[0, 0]], [[1, 1]], [[1, 0]])
    assert 0.0 < sweep.audit().responsive <= 2.0


def test_events_before_a_change_are_kept_exact() -> None:
    corners = random_scene(2, count=9, dimension=3, grid=True)
    sweep = Sweep(*corners, closed=False)
    found = [(Fraction(e.time).limit_denominator(1000), e.pair, int(e.kind == "ended")) for e in sweep.advance(4)]
    assert found == Scene(*corners, closed=False).events(Fraction(4))


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda _: Sweep([[0, 0]], [[1, 1]], [[np.nan, 0]]), "Row 0 of velocity"),
        (lambda _: Sweep([[0, 0]], [[1, 1]], [[0, np.inf]]), "Row 0 of velocity"),
        (lambda _: Sweep([[0, 0]], [[1, 1]], [[0, 0]], acceleration=[[0, np.nan]]), "acceleration"),
        (lambda _: Sweep([[0, 0]], [[1, 1]], [[0, 0, 0]]), "velocity"),
        (lambda _: Sweep([[0, 0]], [[1, 1]], "fast"), "velocity"),
        (lambda _: Sweep([[2, 0]], [[1, 1]], [[0, 0]]), "lower > upper"),
        (lambda s: s.advance(0.5), "0.5, before the present time 1.0"),
        (lambda s: s.advance(float("nan")), "nan"),
        (lambda s: s.advance(2.0, stop="never"), "no stop called 'never'"),
        (lambda _: Sweep([[0, 0]], [[1, 1]], [[0, 0]], closed="half-open"), "closed is 'half-open'"),
        (lambda s: s.set_velocity([1], [[0, 0]]), "id 1"),
        (lambda s: s.set_velocity([0, 0], [[0, 0], [1, 1]]), "twice"),
        (lambda s: s.set_velocity([0], [[np.inf, 0]]), "velocity"),
        (lambda s: s.set_velocity([0.5], [[0, 0]]), "whole numbers"),
        (lambda s: s.remove([0, 9]), "id 9"),
        (lambda s: s.add([[0, 0, 0]], [[1, 1, 1]], [[0, 0, 0]]), "3D"),
        (lambda s: s.add([[0, 0]], [[1, 1]], [[0, np.nan]]), "velocity"),
        (lambda s: s.bounce([0, 0], [1, 1]), "row 0"),
        (lambda s: s.bounce([0, 0], [0, 1]), "no space"),
        (lambda s: s.bounce([0], [1]), "lower of the walls has the shape"),
    ],
)
def test_bad_input_is_one_sentence_and_changes_nothing(call: Any, named: str) -> None:
    sweep = Sweep(*THREE)
    sweep.remove([1])
    sweep.advance(1.0)
    before = sweep.lists.paths.copy(), sweep.lists.failures.copy(), sweep.ids.tolist(), sweep.pairs().tolist()
    with pytest.raises(InvalidInput, match=named):
        call(sweep)
    assert (sweep.lists.paths == before[0]).all()
    assert (sweep.lists.failures == before[1]).all()
    assert (sweep.ids.tolist(), sweep.pairs().tolist(), sweep.time) == (*before[2:], 1.0)


def test_walls_around_bodies_that_are_infinite_along_an_axis() -> None:
    """A body without an upper end bounces from the wall below it as one that has one, also under gravity."""
    lower, upper, velocity = [[0.0, -math.inf], [0.0, -1.0]], [[math.inf, math.inf], [1.0, 1.0]], [[0.0, 0.0]] * 2
    fall = [[-2.0, 0.0]] * 2
    sweep = Sweep(lower, upper, velocity, acceleration=fall)
    sweep.bounce([-4.0, -math.inf], [math.inf, math.inf])
    for time in (1.0, 3.0, 5.0, 11.5):
        sweep.advance(time)
        low, high = sweep.boxes()
        phase = (time - 2.0) % 4.0
        expected = -time * time if time < 2.0 else -4.0 + 4.0 * phase - phase * phase
        assert low[:, 0].tolist() == pytest.approx([expected, expected])
        assert (high[0, 0], low[0, 1]) == (math.inf, -math.inf)
    still = Sweep([[math.inf, 0.0]], [[math.inf, 1.0]], [[0.0, 0.0]])
    with pytest.raises(InvalidInput, match="must lie within the walls"):
        still.bounce([0.0, 0.0], [1.0, 9.0])
