"""A change of areas happens wholly or not at all, at whichever line of Choque an exception comes."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from choque.bounds import Boxes
from choque.errors import BusyObject, InvalidInput
from choque.interest import Areas, Skinned

Interrupt = Callable[[Callable[[], object], int], tuple[int, bool]]

COUNTS = {"few": 60, "patched": 2_400}
"""Bodies whose lists are searched whole, and so many that single changes are searched locally."""

CHANGES: dict[str, Callable[[Areas, np.ndarray], object]] = {
    "update": lambda areas, where: areas.update(where),
    "move": lambda areas, where: areas.move([3, 7], where[[3, 7]]),
    "resize": lambda areas, where: areas.resize([3, 7], [2.0, None]),  # noqa: ARG005
    "adapt": lambda areas, where: areas.adapt(4),  # noqa: ARG005
    "add": lambda areas, where: areas.add(where[:2] + 0.1, radius=1.0),
    "remove": lambda areas, where: areas.remove([3, 7]),  # noqa: ARG005
}


def observed(areas: Areas) -> tuple[Any, ...]:
    state = areas.ids.tolist(), areas.position.tolist(), np.nan_to_num(areas.radius, nan=-1.0).tolist()
    return *state, areas.entered.tolist(), areas.left.tolist(), areas.pairs().tolist()


@pytest.mark.parametrize("size", COUNTS)
@pytest.mark.parametrize("change", CHANGES)
def test_an_exception_at_any_line_leaves_the_areas_before_the_change_or_after_it(
    size: str, change: str, interrupt: Interrupt, thorough: bool
) -> None:
    random = np.random.default_rng(2)
    count = COUNTS[size]
    where = random.uniform(0, count ** (1 / 3), (count, 3))
    base = Areas(where, radius=1.0, body_radius=0.1, threads=1)
    base.move([11], where[11:12] + 0.2)  # opens a patch where there are many
    moved = base.position + random.normal(0, 0.05, where.shape)
    before = observed(base.copy())
    whole = base.copy()
    CHANGES[change](whole, moved)
    after = observed(whole)
    line, step = 0, 1 if thorough else 3 if size == "few" else 11
    while True:
        areas = base.copy()
        _, was_interrupted = interrupt(lambda areas=areas: CHANGES[change](areas, moved), line)
        if not was_interrupted:
            break
        found = observed(areas.copy())
        assert found in (before, after), f"line {line}"
        if found != after:
            CHANGES[change](areas, moved)
            assert observed(areas) == after, f"line {line}"
        line += step
    assert line > 8


def test_arguments_that_are_refused_do_not_make_lists_be_searched_again() -> None:
    where = np.random.default_rng(2).uniform(0, 10, (3_000, 2))
    areas = Areas(where, radius=0.3)
    for call in (lambda: areas.move([1], [[np.nan, 0]]), lambda: areas.remove([-4]), lambda: areas.add([[1, 2, 3]])):
        with pytest.raises(InvalidInput):
            call()
    searches = areas.counters.events
    areas.pairs()
    assert areas.counters.events == searches


def test_an_exception_at_any_line_of_an_update_leaves_skinned_boxes_before_it_or_after_it(interrupt: Interrupt) -> None:
    random = np.random.default_rng(4)
    lower = random.uniform(0, 5, (80, 3))
    far = lower + random.normal(0, 0.5, lower.shape)
    base = Skinned(Boxes(lower, lower + 1), displacement=0.01, frames=3, threads=1)
    before, line = base.pairs().tolist(), 0
    whole = base.copy()
    whole.update(Boxes(far, far + 1))
    while True:
        kept = base.copy()
        _, was_interrupted = interrupt(lambda kept=kept: kept.update(Boxes(far, far + 1)), line)
        if not was_interrupted:
            break
        found = kept.pairs().tolist()
        assert (found, kept.frame_count, kept.run_count) in ((before, 1, 1), (whole.pairs().tolist(), 2, 2))
        kept.update(Boxes(far, far + 1))
        assert kept.pairs().tolist() == whole.pairs().tolist()
        line += 1
    assert line > 20


@pytest.mark.parametrize("make", [lambda: Areas(np.zeros((3, 2)), radius=1.0), lambda: _skinned()])
def test_a_second_thread_is_refused(make: Callable[[], Any]) -> None:
    kept = make()
    problems = []

    def enter() -> None:
        try:
            kept.pairs()
        except BusyObject as problem:
            problems.append(str(problem))

    kept._gate.enter()
    try:
        other = threading.Thread(target=enter)
        other.start()
        other.join()
        assert "one thread at a time" in problems[0]
        assert len(pickle.loads(pickle.dumps(kept)).pairs()) >= 3
    finally:
        kept._gate.leave()


def _skinned() -> Skinned:
    return Skinned(Boxes(np.zeros((3, 2)), np.ones((3, 2))), displacement=0.1, frames=2)
