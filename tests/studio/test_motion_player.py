"""Going through moving polygons, against the sweep itself and against exact rationals (F-000-37)."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from choque.errors import InvalidInput
from choque.studio.motion.panel import lists_html, queue_html, shown_rows, why_html
from choque.studio.motion.player import MotionPlayer
from choque.studio.motion.words import describe_instant, explain_next
from choque.theses.kinetic import Model, scenes

EVENT_TIMES = sorted(
    {
        *(Fraction(2, 3), Fraction(4, 3), Fraction(2), Fraction(8, 3), Fraction(3), Fraction(9, 2), Fraction(11, 2)),
        *(Fraction(1, 2), Fraction(3, 5), Fraction(4, 5), Fraction(5, 6), Fraction(1), Fraction(7, 6), Fraction(3, 2)),
        *(Fraction(8, 5), Fraction(4), Fraction(6)),
    }
)
"""Of the scene three-objects, worked out by hand: seven on x, ten on y."""


def walk(player: MotionPlayer) -> list[float]:
    times = []
    while (instant := player.next_event()) is not None:
        times.append(instant.time)
    return times


def overlapping(state) -> list[list[int]]:
    """The pairs of closed boxes by comparing all with all."""
    return [
        [a, b]
        for a, b in combinations(range(len(state.polygons)), 2)
        if (state.lower[a] <= state.upper[b]).all() and (state.lower[b] <= state.upper[a]).all()
    ]


def test_events_one_by_one_are_the_seventeen_of_the_thesis() -> None:
    player = MotionPlayer(scenes.make("three-objects"))
    times = walk(player)
    np.testing.assert_allclose(times, [float(time) for time in EVENT_TIMES], rtol=1e-12)
    assert player.time == player.model.interval[1]
    assert player.next_event() is None


def test_the_only_multiple_event_is_shown_as_one() -> None:
    player = MotionPlayer(scenes.make("three-objects"))
    multiple = []
    while (instant := player.next_event()) is not None:
        multiple += [(instant.time, describe_instant(instant)) for meeting in instant.meetings if meeting.is_multiple]
    assert multiple == [(2.0, ["x: multiple meeting of 3, q1 p2 q0 → q0 p2 q1", "pair 1-2 began"])]


def test_events_backward_are_the_events_forward_in_reverse() -> None:
    player = MotionPlayer(scenes.make("three-objects"))
    forward = walk(player)
    backward = []
    while (instant := player.previous_event()) is not None:
        backward.append(instant.time)
        assert player.latest is instant
    assert backward == forward[::-1]
    assert player.time == player.model.interval[0]


def test_an_event_at_the_very_start_is_stepped_to_and_back_to() -> None:
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    model = Model((square, square + [1.0, 0.0]), np.array([[0.0, 0.0], [1.0, 0.0]]), interval=(0.0, 1.0))
    player = MotionPlayer(model)
    assert player.state().pairs.tolist() == [[0, 1]]
    first = player.next_event()
    assert first is not None
    assert (first.time, [event.kind for event in first.events]) == (0.0, ["ended"])
    player.seek(0.5)
    again = player.previous_event()
    assert again is not None
    assert again.time == 0.0
    assert player.previous_event() is None


@pytest.mark.parametrize("rate", [0.5, 7.0, 100.0])
def test_frame_k_shows_positions_at_k_steps(rate: float) -> None:
    """F-000-37: frame k shows positions at k·Δt."""
    model = scenes.make("three-objects")
    player = MotionPlayer(model, frames_per_second=rate)
    for frame in (0, 1, 3, player.last_frame, 2):
        player.to_frame(frame)
        state = player.state()
        assert state.time == pytest.approx(frame / rate, abs=1e-12)
        assert player.frame == frame
        for polygon, start, velocity in zip(state.polygons, model.polygons, model.velocity, strict=True):
            np.testing.assert_allclose(polygon, start + velocity * frame / rate, atol=1e-12)
    player.to_frame(10**9)
    assert player.time == model.interval[1]


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 1000), n=st.integers(0, 12), moves=st.lists(st.floats(-0.2, 1.2, allow_nan=False), max_size=6)
)
def test_seeking_shows_the_pairs_the_order_and_the_queue_of_that_time(seed: int, n: int, moves: list[float]) -> None:
    model = scenes.make("random-shapes", n=n, occupancy=0.3, seed=seed)
    player = MotionPlayer(model)
    for time in moves:
        player.seek(time)
        state = player.state()
        assert state.time == min(max(time, 0.0), 1.0)
        assert state.pairs.tolist() == overlapping(state)
        assert state.colliding.nonzero()[0].tolist() == sorted({row for pair in state.pairs.tolist() for row in pair})
        for line in state.lists:
            assert sorted(line.ends.tolist()) == list(range(2 * n))
            assert (np.diff(line.position) >= -1e-12).all()
            corners = np.stack((state.lower, state.upper), axis=1).reshape(-1, 2)
            np.testing.assert_array_equal(line.position, corners[line.ends, line.axis])
        times = [planned.time for planned in state.queue]
        assert times == sorted(times)
        assert all(state.time <= time <= 1.0 for time in times)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 1000))
def test_what_is_said_to_come_next_comes_next(seed: int) -> None:
    """The head of the queue names the time, the axis, the ends and the effect of the event that follows."""
    player = MotionPlayer(scenes.make("random-shapes", n=8, occupancy=0.5, seed=seed))
    for _ in range(12):
        state = player.state()
        instant = player.next_event()
        if instant is None:
            assert not state.queue
            assert explain_next(state).startswith("Nothing more")
            break
        head = state.queue[0]
        assert head.time == instant.time
        exchanges = {(m.axis, pair) for m in instant.meetings for pair in m.exchanges}
        assert (head.axis, (head.left, head.right)) in exchanges
        if len(exchanges) == 1:
            said = explain_next(state)
            assert ("the pair begins" in said) == any(event.kind == "began" for event in instant.events)
            assert ("the pair ends" in said) == any(event.kind == "ended" for event in instant.events)


def test_certificates_are_those_of_neighbours_that_come_nearer() -> None:
    state = MotionPlayer(scenes.make("three-objects")).state()
    for line in state.lists:
        for slot in range(len(line.ends) - 1):
            gap, closing = line.position[slot + 1] - line.position[slot], line.velocity[slot] - line.velocity[slot + 1]
            expected = gap / closing if closing > 0 else np.inf
            assert line.due[slot] == pytest.approx(expected)
        assert np.isinf(line.due[-1])


def test_bad_moves_are_refused_and_change_nothing() -> None:
    player = MotionPlayer(scenes.make("three-objects"))
    player.seek(1.0)
    with pytest.raises(InvalidInput, match="not a number"):
        player.seek(float("nan"))
    with pytest.raises(InvalidInput, match="above 0"):
        player.frames_per_second = 0.0
    assert (player.time, player.frames_per_second) == (1.0, 100.0)


def test_panels_tell_the_next_event_and_the_latest() -> None:
    player = MotionPlayer(scenes.make("three-objects"))
    for _ in range(3):
        latest = player.next_event()
    state = player.state()
    why = why_html(state, latest)
    assert "pair 0-1 began" in why
    assert "t = 0.8" in why
    assert queue_html(state).count("<tr") == 1 + len(state.queue)
    lists = lists_html(state, latest)
    assert lists.count("<tr") == 2 * (1 + 6)
    assert "background" in lists  # the two ends that were just exchanged
    player.seek(10.0)
    assert "Nothing more will happen" in why_html(player.state(), None)
    assert "empty" in queue_html(player.state())


@given(count=st.integers(0, 200), middle=st.integers(0, 199))
def test_a_long_list_is_shown_around_what_happens(count: int, middle: int) -> None:
    begin, end = shown_rows(count, min(middle, max(count - 1, 0)))
    assert 0 <= begin <= end <= count
    assert end - begin == min(count, 26)
    assert count == 0 or begin <= min(middle, count - 1) < end
