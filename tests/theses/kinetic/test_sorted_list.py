"""The kinetic sorted list: the goldens of the specification, multiple meetings, certificates, changes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from choque.errors import InvalidInput
from choque.kinetic import loop
from choque.kinetic.results import Meeting
from choque.theses.kinetic import SortedList

P0, Q0, P1, Q1, P2, Q2 = range(6)


def golden() -> SortedList:
    third = 1 / 3
    return SortedList([-3, 2, 0, 3, -1, 1], velocity=[1, 1, 0, 0, -third, -third])


def test_golden_run_of_the_specification() -> None:
    points = golden()
    assert points.order.tolist() == [P0, P2, P1, Q2, Q0, Q1]
    seen = [(m.time, m.first, m.last, m.after) for m in points.advance(10)]
    assert seen == [(1.0, 4, 5, (Q1, Q0)), (1.5, 0, 1, (P2, P0)), (3.0, 1, 3, (Q2, P1, P0)), (6.0, 3, 4, (Q1, P0))]
    assert points.order.tolist() == [P2, Q2, P1, Q1, P0, Q0]
    assert points.counters.exchanges == 6


def test_no_stale_event_is_left_behind() -> None:
    """Points t, 5 and 6 − t: the first certificate of the first two, due at 5, must not act on others later."""
    points = SortedList([0, 5, 6], velocity=[1, 0, -1])
    assert [(c.slot, c.left, c.right, c.time) for c in points.certificates()] == [(0, 0, 1, 5.0), (1, 1, 2, 1.0)]
    orders = []
    while points.next_time <= 10:
        orders += [(m.time, points.order.tolist()) for m in points.advance(10, stop="instant")]
    assert orders == [(1.0, [0, 2, 1]), (3.0, [2, 0, 1]), (5.0, [2, 1, 0])]


@given(
    st.lists(st.tuples(st.integers(-20, 20), st.integers(-4, 4), st.integers(-2, 2)), max_size=12), st.integers(1, 40)
)
def test_order_is_right_at_any_time(points: list[tuple[int, int, int]], quarter: int) -> None:
    position, velocity, acceleration = np.array(points, float).reshape(-1, 3).T
    moving = SortedList(position, velocity, acceleration=acceleration)
    until = quarter / 4 + 2**-20  # exact, and no meeting of these whole numbers that is rational falls on it
    moving.advance(until)
    places = moving.position[moving.order]
    exact = position + velocity * until + acceleration * until * until / 2
    assert sorted(exact.tolist()) == pytest.approx(places.tolist(), rel=1e-12)
    assert (np.diff(exact[moving.order]) >= -1e-9).all()
    audit = moving.audit()
    assert audit.stale == 0
    assert audit.local <= 2
    assert audit.compact <= max(len(points) - 1, 0)


def test_linear_run_schedules_at_most_two_certificates_an_exchange() -> None:
    random = np.random.default_rng(3)
    points = SortedList(random.random(300), random.normal(size=300))
    scheduled = 0
    while points.next_time <= 0.4:
        (meeting,) = points.advance(0.4, stop="instant")
        now = int(points.lists.totals[loop.SCHEDULED])
        assert now - scheduled <= 2 * len(meeting.exchanges)
        scheduled = now
    audit = points.audit()
    assert (audit.efficient, audit.stale) == (1.0, 0)
    assert 0 < audit.responsive <= 2


@pytest.mark.parametrize("count", [3, 4, 7, 20])
def test_many_meet_at_once_and_leave_by_velocity(count: int) -> None:
    velocity = np.random.default_rng(count).permutation(count).astype(float)
    points = SortedList(8 - 2 * velocity, velocity)
    (meeting,) = points.advance(5)
    assert meeting.time == 2.0
    assert meeting.is_multiple
    assert len(meeting.exchanges) == count * (count - 1) // 2
    assert points.order.tolist() == np.argsort(velocity).tolist()


def test_both_tests_of_multiple_meetings_agree_on_planted_ones_and_give_no_false_alarm() -> None:
    random = np.random.default_rng(0)
    planted = SortedList(*_meeting_in_groups(random))
    sizes = []
    for meeting in _one_by_one(planted, 10):
        assert _coinciding(planted, meeting, 1e-12) == (meeting.first, meeting.last)
        sizes.append(len(meeting.after))
    assert sizes.count(5) >= 3
    free = SortedList(random.random(60), random.normal(size=60))
    for meeting in _one_by_one(free, 1):
        assert not meeting.is_multiple
        assert _coinciding(free, meeting, 1e-15) == (meeting.first, meeting.last)


def _coinciding(points: SortedList, meeting: Meeting, tolerance: float) -> tuple[int, int]:
    """The first and last slot whose points are where the meeting is: by coordinates instead of certificates."""
    places = points.position_at(meeting.time)
    near = np.abs(places[points.order] - places[meeting.after[0]]) <= tolerance
    return int(np.flatnonzero(near)[0]), int(np.flatnonzero(near)[-1])


def _one_by_one(points: SortedList, until: float) -> Iterator[Meeting]:
    while points.next_time <= until:
        yield from points.advance(until, stop="instant")


@pytest.mark.parametrize("grid", [True, False])
def test_one_call_gives_the_meetings_of_single_steps(grid: bool) -> None:
    random = np.random.default_rng(7)
    position, velocity = random.integers(0, 40, 200).astype(float), random.integers(-9, 10, 200).astype(float)
    if not grid:
        position, velocity = random.random(200), random.normal(size=200)
    whole, stepped = SortedList(position, velocity), SortedList(position, velocity)
    meetings = whole.advance(3.0)
    assert list(meetings) == list(_one_by_one(stepped, 3.0))
    assert len(meetings) > 1000
    assert meetings.is_multiple.tolist() == [meeting.is_multiple for meeting in meetings]
    assert meetings.is_multiple.any() == grid
    assert len(meetings.exchanges) == whole.counters.exchanges == stepped.counters.exchanges


def _meeting_in_groups(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Three groups of five, each of which meets in a point of its own at a time of its own."""
    velocity = np.concatenate([random.permutation(5) for _ in range(3)]).astype(float)
    time = np.repeat([1.0, 2.0, 4.0], 5)
    place = np.repeat([-64.0, 0.0, 64.0], 5)
    return place - velocity * time, velocity


def test_tolerance_joins_what_rounding_parts() -> None:
    position = np.array([0.0, 1.0, 2.0 + 1e-9])
    velocity = np.array([2.0, 1.0, 0.0])
    assert [m.is_multiple for m in SortedList(position, velocity).advance(2)] == [False, False, False]
    joined = SortedList(position, velocity, tolerance=1e-8)
    assert [m.is_multiple for m in joined.advance(2)] == [True]
    assert joined.order.tolist() == [2, 1, 0]


def test_ball_passes_a_line_twice() -> None:
    points = SortedList([5.0, 0.0], velocity=[0.0, 20.0], acceleration=[0.0, -10.0])
    assert [(round(m.time, 12), m.after) for m in points.advance(10)] == [
        (round(2 - 3**0.5, 12), (0, 1)),
        (round(2 + 3**0.5, 12), (1, 0)),
    ]


def test_a_changed_motion_plans_the_future_again() -> None:
    points = SortedList([0, 10], velocity=[1, 0])
    assert list(points.advance(4)) == []
    points.set_motion([1], velocity=[-1])
    assert [m.time for m in points.advance(20)] == [7.0]
    points.set_motion([0, 1], velocity=[0, 0])
    assert points.certificates() == []


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda _: SortedList([0, np.nan]), "Row 1"),
        (lambda _: SortedList([0, 1], velocity=[np.inf, 0]), "Row 0"),
        (lambda _: SortedList([0, 1], velocity=[1, 2, 3]), "velocity"),
        (lambda _: SortedList(["a"]), "position"),
        (lambda _: SortedList([0.0], time=np.nan), "time"),
        (lambda _: SortedList([0.0], tolerance=-1), "tolerance"),
        (lambda p: p.advance(-1), "-1"),
        (lambda p: p.advance("soon"), "soon"),
        (lambda p: p.advance(np.inf), "inf"),
        (lambda p: p.set_motion([7], [1]), "7"),
        (lambda p: p.set_motion([1, 1], [1, 2]), "twice"),
        (lambda p: p.set_motion([1], [np.nan]), "velocity"),
    ],
)
def test_bad_input_is_one_sentence_and_changes_nothing(call, named) -> None:  # type: ignore[no-untyped-def]
    points = golden()
    before = points.lists.paths.copy(), points.certificates(), points.order.tolist()
    with pytest.raises(InvalidInput, match=named):
        call(points)
    assert (points.lists.paths == before[0]).all()
    assert (points.certificates(), points.order.tolist()) == before[1:]


def test_advance_without_a_record_goes_to_the_same_state() -> None:
    random = np.random.default_rng(5)
    position, velocity = random.integers(-50, 50, 80), random.integers(-5, 6, 80)
    recorded, plain = SortedList(position, velocity), SortedList(position, velocity)
    meetings = recorded.advance(20)
    latest = plain.advance(20, record=False)
    assert plain.order.tolist() == recorded.order.tolist()
    assert plain.counters.exchanges == recorded.counters.exchanges == len(meetings.exchanges)
    assert [meeting.time for meeting in latest] == [time for time in meetings.times if time == meetings.times[-1]]
    with pytest.raises(InvalidInput, match="record is 'no'"):
        plain.advance(21, record="no")  # type: ignore[arg-type]
