"""Sweep and prune with kept end points: updates and moves against the oracle."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from choque._core import threads
from choque.bounds import Boxes
from choque.broad import create, exchanges
from choque.testing import oracle, scenes

METHODS = ("sap-incremental", "sap-recompute")
"""The method, and the one of the kinetic thesis, which differs from it in how updates find the pairs."""


def make(name: str, count: int, dimension: int = 3, dtype: Any = np.float64, seed: int = 0) -> Boxes:
    return scenes.make(name, dimension=dimension, dtype=np.dtype(dtype).name, count=count, seed=seed).boxes()


def pairs_of(boxes: Boxes, closed: bool = True) -> Any:
    return oracle.overlapping_pairs(boxes.lower, boxes.upper, closed=closed)


def as_set(pairs: Any) -> set[tuple[int, int]]:
    return {*map(tuple, pairs.tolist())}


def drifting(boxes: Boxes, amount: float, seed: int) -> Boxes:
    """The boxes moved at random by about ``amount`` of a mean edge."""
    edge = (boxes.upper - boxes.lower).sum() / max(boxes.lower.size, 1)
    shift = np.random.default_rng(seed).normal(0, amount * edge, boxes.lower.shape)
    lower = boxes.lower + shift.astype(boxes.dtype)
    return Boxes(lower, np.maximum(lower, boxes.upper + shift.astype(boxes.dtype)))


def hopping(boxes: Boxes, seed: int) -> Boxes:
    """Every bound moves by −1, 0 or 1: on a lattice, nearly every move makes or breaks a tie."""
    random = np.random.default_rng(seed)
    lower = boxes.lower + random.integers(-1, 2, boxes.lower.shape).astype(boxes.dtype)
    return Boxes(lower, lower + random.integers(0, 3, boxes.lower.shape).astype(boxes.dtype))


class Follower:
    """Replays began and ended from nothing and compares with the oracle after each change."""

    def __init__(self, sweep: Any, boxes: Boxes) -> None:
        self.sweep = sweep
        self.known: set[tuple[int, int]] = set()
        self.check(boxes)

    def check(self, boxes: Boxes) -> None:
        began, ended = as_set(self.sweep.began), as_set(self.sweep.ended)
        assert not began & self.known
        assert ended <= self.known
        self.known = (self.known | began) - ended
        expected = self.sweep.ids[pairs_of(boxes, self.sweep.closed)]
        assert self.known == as_set(expected)
        np.testing.assert_array_equal(self.sweep.pairs(), expected)


def put(boxes: Boxes, rows: Any, some: Boxes) -> Boxes:
    lower, upper = np.array(boxes.lower), np.array(boxes.upper)
    lower[rows], upper[rows] = some.lower, some.upper
    return Boxes(lower, upper)


@pytest.fixture(params=[1, 1 << 12], ids=["log of one", "long log"])
def log_size(request, monkeypatch):
    """Also with logs so short that each kernel stops and goes on again and again."""
    monkeypatch.setattr(exchanges, "_FIRST_LOG", request.param)


@pytest.mark.usefixtures("log_size")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("thread_count", [1, 2])
def test_updates_replay_to_the_oracle(monkeypatch, method, dimension, dtype, closed, thread_count):
    monkeypatch.setattr(threads, "SERIAL_BELOW", 1)
    options = {"closed": closed, "threads": thread_count}
    boxes = make("mixed", 200, dimension, dtype)
    follower = Follower(create(method, boxes, **options), boxes)
    for frame in range(6):
        boxes = drifting(boxes, 0.3 * frame, frame)
        follower.sweep.update(boxes)
        follower.check(boxes)
    boxes = make("touching", 120, dimension, dtype)
    follower = Follower(create(method, boxes, **options), boxes)
    for frame in range(6):
        boxes = hopping(boxes, frame)
        follower.sweep.update(boxes)
        follower.check(boxes)


@pytest.mark.usefixtures("log_size")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("moving", [0, 1, 10, 60])
def test_moves_replay_to_the_oracle(method, closed, moving):
    random = np.random.default_rng(moving)
    for boxes, change in (
        (make("mixed", 150), lambda some, k: drifting(some, 2.0, k)),
        (make("touching", 120, 2), hopping),
    ):
        follower = Follower(create(method, boxes, closed=closed), boxes)
        for frame in range(8):
            ids = random.choice(len(boxes), moving, replace=False)
            some = change(boxes.take(ids), frame)
            follower.sweep.move(ids, some)
            boxes = put(boxes, ids, some)
            follower.check(boxes)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["infinite", "huge", "subnormal", "ground-plane", "far-away", "lattice", "wide-range"])
def test_legal_extremes_come_and_go(name, method, closed, dtype):
    boxes = make(name, 60, dtype=dtype)
    follower = Follower(create(method, boxes, closed=closed), boxes)
    random = np.random.default_rng(0)
    for _ in range(3):
        boxes = boxes.take(random.permutation(len(boxes)))
        follower.sweep.update(boxes)
        follower.check(boxes)
        some = random.choice(len(boxes), 7, replace=False)
        boxes = put(boxes, some, boxes.take(some[::-1].copy()))
        follower.sweep.move(some, boxes.take(some))
        follower.check(boxes)


@pytest.mark.parametrize("size", [0.0, 0.4])
def test_identical_boxes_part_and_meet_again(size):
    together = Boxes(np.zeros((40, 3)), np.full((40, 3), size))
    apart = Boxes(together.lower + np.arange(40)[:, None], together.upper + np.arange(40)[:, None])
    follower = Follower(create("sap-incremental", together), together)
    for boxes in (apart, together, apart):
        follower.sweep.update(boxes)
        follower.check(boxes)
    for row in range(40):
        boxes = put(boxes, [row], together.take(np.array([row])))
        follower.sweep.move([row], boxes.take(np.array([row])))
        follower.check(boxes)


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[Boxes], list[list[int]]]:
    """A few states of a few bodies, and who moves from one to the next."""
    count, dimension = draw(st.integers(0, 20)), draw(st.sampled_from([2, 3]))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    numbers = st.one_of(st.integers(-3, 3).map(float), st.sampled_from([np.inf, -np.inf, -0.0, 0.3]))
    states, movers = [], []
    for _ in range(draw(st.integers(2, 4))):
        ends = draw(arrays.arrays(dtype, (2, count, dimension), elements=numbers))
        states.append(Boxes(ends.min(axis=0), ends.max(axis=0)))
        movers.append(sorted(draw(st.sets(st.integers(0, max(count - 1, 0)), max_size=count))))
    return states, movers


@given(histories(), st.booleans(), st.booleans(), st.sampled_from(METHODS))
def test_any_history_replays_to_the_oracle(history, closed, all_move, method):
    (boxes, *states), movers = history
    follower = Follower(create(method, boxes, closed=closed), boxes)
    for state, rows in zip(states, movers[1:], strict=True):
        if all_move:
            boxes = state
            follower.sweep.update(state)
        else:
            some = state.take(np.array(rows, np.int64))
            boxes = put(boxes, rows, some)
            follower.sweep.move(rows, some)
        follower.check(boxes)


def test_what_passes_through_between_two_frames_is_no_change():
    boxes = Boxes([[0, 0], [10, 0]], [[1, 1], [11, 1]])
    through = Boxes([[20, 0], [10, 0]], [[21, 1], [11, 1]])
    for change in ("update", "move"):
        sweep = create("sap-incremental", boxes)
        sweep.update(through) if change == "update" else sweep.move([0], through.take(np.array([0])))
        assert sweep.counters.exchanges > 0
        assert len(sweep.began) == len(sweep.ended) == 0


def test_swaps_are_the_inversions_of_all_end_points():
    boxes = make("mixed", 100)
    moved = drifting(boxes, 0.5, 1)
    sweep = create("sap-incremental", boxes)
    sweep.update(moved)
    inversions = 0
    for axis in range(3):
        before = np.concatenate((boxes.lower[:, axis], boxes.upper[:, axis]))
        after = np.concatenate((moved.lower[:, axis], moved.upper[:, axis]))[np.argsort(before, kind="stable")]
        inversions += np.count_nonzero(np.triu(after[:, None] > after[None], 1))
    assert sweep.counters.exchanges == inversions


def test_a_rigid_shift_exchanges_nothing():
    boxes = make("touching", 120, 3)
    for method in METHODS:
        sweep = create(method, boxes)
        pairs = sweep.pairs()
        sweep.counters.reset()
        sweep.update(Boxes(boxes.lower + 8, boxes.upper + 8))
        assert sweep.counters.exchanges == 0
        assert len(sweep.began) == len(sweep.ended) == 0
        np.testing.assert_array_equal(sweep.pairs(), pairs)
        assert sweep.counters.tests == 0, "the pairs were found again though the order is the same"


def test_recompute_runs_once_for_each_change_of_order():
    boxes = make("mixed", 50, 2)
    sweep = create("sap-recompute", boxes)
    for frame, amount in enumerate((1.0, 0.0, 1.0, 0.0, 0.0)):
        boxes = drifting(boxes, amount, frame)
        sweep.update(boxes)
    assert sweep.index.recomputations == 2


@pytest.mark.parametrize("method", METHODS)
def test_changes_asked_for_late_are_still_those_of_the_latest_change(method):
    states = [make("mixed", 120, 3, seed=seed) for seed in range(4)]
    sweep = create(method, states[0])
    for state in states[1:]:
        sweep.update(state)
    before, after = states[-2:]
    assert as_set(sweep.began) == as_set(pairs_of(after)) - as_set(pairs_of(before))
    assert as_set(sweep.ended) == as_set(pairs_of(before)) - as_set(pairs_of(after))


def test_bodies_come_and_go_between_moves():
    random = np.random.default_rng(5)
    boxes = make("mixed", 80)
    follower = Follower(create("sap-incremental", boxes), boxes)
    for frame in range(6):
        arriving = make("mixed", 15, 3, seed=frame)
        follower.sweep.add(arriving)
        boxes = boxes.join(arriving)
        follower.check(boxes)
        leaving = random.choice(len(boxes), 10, replace=False)
        follower.sweep.remove(follower.sweep.ids[leaving])
        boxes = boxes.take(np.delete(np.arange(len(boxes)), leaving))
        follower.check(boxes)
        moving = np.sort(random.choice(len(boxes), 5, replace=False))
        some = drifting(boxes.take(moving), 2.0, frame)
        follower.sweep.move(follower.sweep.ids[moving], some)
        boxes = put(boxes, moving, some)
        follower.check(boxes)


@pytest.mark.parametrize("closed", [True, False])
def test_float_types_may_change_on_the_way(closed):
    boxes = make("mixed", 100, 2, np.float32)
    follower = Follower(create("sap-incremental", boxes, closed=closed), boxes)
    for frame, dtype in enumerate((np.float64, np.float32, np.float64, np.float64, np.float32)):
        moved = drifting(boxes, 1.0, frame)
        boxes = Boxes(moved.lower.astype(dtype), moved.upper.astype(dtype))
        follower.sweep.update(boxes)
        follower.check(boxes)
    for dtype in (np.float64, np.float32):
        wide = drifting(boxes.take(np.arange(5)), 1.0, 9)
        some = Boxes(wide.lower.astype(dtype), wide.upper.astype(dtype))
        boxes = put(Boxes(boxes.lower.astype(np.float64), boxes.upper.astype(np.float64)), np.arange(5), some)
        follower.sweep.move(np.arange(5), some)
        follower.check(boxes)


@pytest.mark.parametrize("method", METHODS)
def test_changes_pass_the_filter(method):
    random = np.random.default_rng(0)
    boxes = make("mixed", 150, 2)
    settings = {
        "groups": random.integers(1, 4, 150),
        "masks": random.integers(1, 4, 150),
        "static": random.random(150) < 0.3,
    }
    sweep = create(method, boxes, **settings)
    twin = create("brute", boxes, **settings)
    for frame in range(5):
        boxes = drifting(boxes, 1.0, frame)
        some = np.arange(frame, 150, 40)
        shift = drifting(boxes.take(some), 3.0, frame)
        for change in (lambda each, to=boxes: each.update(to), lambda each, to=shift, who=some: each.move(who, to)):
            change(sweep)
            change(twin)
            np.testing.assert_array_equal(sweep.began, twin.began)
            np.testing.assert_array_equal(sweep.ended, twin.ended)
            np.testing.assert_array_equal(sweep.pairs(), twin.pairs())
        boxes = put(boxes, some, shift)


def test_a_move_touches_only_what_it_passes():
    boxes = make("uniform", 5000)
    sweep = create("sap-incremental", boxes)
    sweep.counters.reset()
    some = boxes.take(np.array([17]))
    sweep.move([17], Boxes(some.lower + 1e-3, some.upper + 1e-3))
    assert 0 < sweep.counters.exchanges < 50
    assert sweep.counters.tests <= sweep.counters.exchanges


def test_the_lists_take_no_more_than_they_say():
    for dtype, per_box in ((np.float32, 16), (np.float64, 24)):
        sweep = create("sap-incremental", make("mixed", 1000, 3, dtype))
        assert sweep.index._values.nbytes + sweep.index.ends.nbytes == 3 * per_box * 1000


def test_copies_go_their_own_way():
    boxes = make("mixed", 100)
    sweep = create("sap-incremental", boxes)
    twins = [sweep.copy(), pickle.loads(pickle.dumps(sweep))]
    moved = drifting(boxes, 3.0, 0)
    sweep.update(moved)
    sweep.move([3], boxes.take(np.array([3])))
    for twin in twins:
        np.testing.assert_array_equal(twin.pairs(), pairs_of(boxes))
        twin.update(moved)
        np.testing.assert_array_equal(twin.pairs(), pairs_of(moved))
