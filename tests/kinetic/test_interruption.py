"""Kinetic structures after an exception at any line: changes are whole or undone, and no event is lost or doubled."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from choque.errors import BusyObject
from choque.kinetic import Sweep
from choque.theses.kinetic import Billiards, SortedList

Interrupt = Callable[[Callable[[], object], int], tuple[int, bool]]


def moving(kind: str) -> Sweep:
    random = np.random.default_rng(7)
    if kind == "crowd":  # more end points at one place and time than one instant keeps
        velocity = random.normal(0, 1, (60, 2))
        return Sweep(-velocity, -velocity, velocity)
    lower = random.uniform(0, 6, (30, 2))
    lower[::3] = lower[::3].round()
    sweep = Sweep(lower, lower + 1, random.normal(0, 1, lower.shape))
    sweep.bounce([-5, -5], [12, 12])
    sweep.remove([4])  # ids are not rows
    sweep.advance(0.4)
    return sweep


def rows(events: Any) -> list[Any]:
    return [(event.time, event.kind, event.pair) for event in events]


@pytest.mark.parametrize("kind", ["walls", "crowd"])
def test_events_of_an_interrupted_advance_come_with_the_next_one(
    kind: str, interrupt: Interrupt, thorough: bool
) -> None:
    base = moving(kind)
    whole = base.copy()
    expected, pairs = rows(whole.advance(1.0)), whole.pairs().tolist()
    assert len(expected) > 10
    line, step, delivered = 0, 1 if thorough or kind == "walls" else 5, 0
    while True:
        sweep = base.copy()
        _, was_interrupted = interrupt(lambda sweep=sweep: sweep.advance(1.0), line)
        if not was_interrupted:
            break
        assert sweep.audit().stale == 0
        if line % 2:
            sweep.remove(sweep.add([[-4.5, -4.5]], [[-4, -4]], [[0, 0]]).tolist())
        found = rows(sweep.advance(1.0))
        delivered += not found  # interrupted while the result was on its way to the caller
        assert found in (expected, []), f"line {line}"
        assert sweep.pairs().tolist() == pairs, f"line {line}"
        line += step
    assert line > 10
    assert delivered <= 1


CHANGES: dict[str, Callable[[Sweep], object]] = {
    "add": lambda sweep: sweep.add([[1, 1], [2, 3]], [[2, 2], [3, 4]], [[1, 0], [0, 1]], acceleration=[[0, 1], [0, 0]]),
    "remove": lambda sweep: sweep.remove([0, 7]),
    "bounce": lambda sweep: sweep.bounce([-6, -6], [13, 13]),
    "set_velocity": lambda sweep: sweep.set_velocity([2, 9], [[3, 0], [0, -3]], acceleration=[[0, 2], [1, 0]]),
}


@pytest.mark.parametrize("change", CHANGES)
def test_an_exception_at_any_line_leaves_the_sweep_before_the_change_or_after_it(
    change: str, interrupt: Interrupt
) -> None:
    base = moving("walls")

    def observed(sweep: Sweep) -> tuple[Any, ...]:
        later = sweep.copy()
        return sweep.ids.tolist(), sweep.pairs().tolist(), sweep.audit().stale, rows(later.advance(3.0))

    before, whole = observed(base), base.copy()
    CHANGES[change](whole)
    after = observed(whole)
    assert before[2] == after[2] == 0
    line = 0
    while True:
        sweep = base.copy()
        _, was_interrupted = interrupt(lambda sweep=sweep: CHANGES[change](sweep), line)
        if not was_interrupted:
            break
        found = observed(sweep)
        assert found in (before, after), f"line {line}"
        if found == before != after:
            CHANGES[change](sweep)
            assert sorted(observed(sweep)[3]) == sorted(after[3]) or change == "add"
        line += 1
    assert line > 10


def test_collisions_of_interrupted_billiards_come_with_the_next_call(interrupt: Interrupt) -> None:
    random = np.random.default_rng(1)
    places = np.stack(np.meshgrid(np.arange(5.0), np.arange(5.0)), -1).reshape(-1, 2) * 2 + 1
    base = Billiards(places, random.normal(0, 3, places.shape), 0.4, lower=[0, 0], upper=[10, 10])
    whole = copy.deepcopy(base)
    expected = rows(whole.advance(40.0))
    assert len(expected) > 300  # more than the first log holds
    line = delivered = 0
    while True:
        table = copy.deepcopy(base)
        _, was_interrupted = interrupt(lambda table=table: table.advance(40.0), line)
        if not was_interrupted:
            break
        found = rows(table.advance(40.0))
        delivered += not found
        assert found in (expected, []), f"line {line}"
        assert table.position.tolist() == whole.position.tolist()
        line += 1
    assert line > 20
    assert delivered <= 1


def test_meetings_of_an_interrupted_list_come_with_the_next_call(interrupt: Interrupt) -> None:
    random = np.random.default_rng(3)
    base = SortedList(random.uniform(0, 9, 60).round(1), velocity=random.normal(0, 1, 60))
    expected = [(meeting.time, meeting.after) for meeting in base.copy().advance(9.0)]
    assert len(expected) > 300
    line = delivered = 0
    while True:
        points = base.copy()
        _, was_interrupted = interrupt(lambda points=points: points.advance(9.0), line)
        if not was_interrupted:
            break
        found = [(meeting.time, meeting.after) for meeting in points.advance(9.0)]
        delivered += not found
        assert found in (expected, []), f"line {line}"
        line += 1
    assert line > 20
    assert delivered <= 1


@pytest.mark.parametrize("kind", ["sweep", "billiards", "list"])
def test_a_second_thread_is_refused(kind: str) -> None:
    made: Any = {
        "sweep": lambda: Sweep([[0, 0]], [[1, 1]], [[0, 0]]),
        "billiards": lambda: Billiards([[0, 0]], [[0, 0]], 1.0),
        "list": lambda: SortedList([0.0, 1.0]),
    }[kind]()
    problems = []

    def enter() -> None:
        try:
            made.advance(1.0)
        except BusyObject as problem:
            problems.append(str(problem))

    made._gate.enter()
    other = threading.Thread(target=enter)
    other.start()
    other.join()
    made._gate.leave()
    assert "one thread at a time" in problems[0]
