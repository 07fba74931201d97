"""A change of a set happens wholly or not at all, at whichever line of Choque an exception comes."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from choque._core.pair_sets import difference, merge_changes, no_pairs
from choque.bounds import Bounds, Boxes, KDops, OrientedBoxes
from choque.broad import BroadPhase, create, names
from choque.broad.state import MAX_PENDING
from choque.errors import BusyObject

Interrupt = Callable[[Callable[[], object], int], tuple[int, bool]]

COUNTS = {"auto": 760}
"""More boxes than `auto` tests by brute force."""

FEW = [3, 7, 11]


def scene(method: str) -> tuple[Bounds, Bounds, Bounds]:
    """Boxes in three frames; a third of the ends are equal, so that ties are exchanged too."""
    random = np.random.default_rng(5)
    lower = random.uniform(0, 6, (COUNTS.get(method, 90), 3))
    lower[::3] = lower[::3].round()
    frames = [lower + random.normal(0, spread, lower.shape) for spread in (0.0, 0.3, 0.4)]
    boxes = [Boxes(frame, frame + 1) for frame in frames]
    if method.endswith("obb"):
        return tuple(OrientedBoxes.fit(_corners(box), 8 * np.arange(len(box) + 1)) for box in boxes)
    if method == "sap-kdop":
        return tuple(KDops.fit(_corners(box), 8 * np.arange(len(box) + 1)) for box in boxes)
    return boxes[0], boxes[1], boxes[2]


def _corners(boxes: Boxes) -> Any:
    signs = np.array(np.meshgrid([0, 1], [0, 1], [0, 1])).reshape(3, 8).T
    return (boxes.lower[:, None] + signs * (boxes.upper - boxes.lower)[:, None]).reshape(-1, 3)


CHANGES: dict[str, Callable[[BroadPhase, Bounds], object]] = {
    "update": lambda made, moved: made.update(moved),
    "move": lambda made, moved: made.move(FEW, moved.take(FEW)),
    "add": lambda made, moved: made.add(moved.take(FEW)),
    "remove": lambda made, moved: made.remove(FEW),  # noqa: ARG005
}


def answers(made: BroadPhase) -> tuple[Any, ...]:
    return made.ids.tolist(), made.began.tolist(), made.ended.tolist(), made.pairs().tolist()


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("method", names())
def test_an_exception_at_any_line_of_a_change_leaves_the_set_before_it_or_after_it(
    method: str, change: str, interrupt: Interrupt, thorough: bool
) -> None:
    first, second, third = scene(method)
    base = create(method, first, threads=1)
    base.pairs()
    base.update(second)
    before = answers(base.copy())
    whole = base.copy()
    CHANGES[change](whole, third)
    after = answers(whole)
    last = third if change in ("update", "move") else None
    if last is not None:
        again = whole.copy()
        again.update(last)
        at_last = answers(again)
    line, step = 0, 1 if thorough or method in ("bvh", "sap-incremental") else 7
    while True:
        made = base.copy()
        _, was_interrupted = interrupt(lambda made=made: CHANGES[change](made, third), line)
        if not was_interrupted:
            break
        found = answers(made)
        if found != after:
            assert found == before, f"line {line}"
            CHANGES[change](made, third)
            assert answers(made) == after, f"line {line}"
        if last is not None:
            made.update(last)
            assert answers(made) == at_last, f"line {line}"
        line += step
    assert line > 20
    assert answers(made) == after


def test_a_second_thread_that_enters_a_set_is_refused() -> None:
    """Kernels run without the GIL: two threads in one set would write to the same memory."""
    first, second, _ = scene("auto")
    made = create("bvh", first)
    inside, leave = threading.Event(), threading.Event()

    class Waiting(Boxes):
        def boxes(self) -> Boxes:
            inside.set()
            leave.wait(20)
            return super().boxes()

    assert isinstance(second, Boxes)
    waiting = Waiting(second.lower, second.upper)
    thread = threading.Thread(target=made.update, args=(waiting,))
    thread.start()
    inside.wait(20)
    calls = {
        "held_pairs": made.pairs,
        "began": lambda: made.began,
        "move": lambda: made.move([0], first.take([0])),
        "query_points": lambda: made.query_points([[0, 0, 0]]),
    }
    for name, call in calls.items():
        with pytest.raises(BusyObject, match=f"Another thread is inside this BroadPhase, and {name} was called"):
            call()
    leave.set()
    thread.join()
    assert made.pairs().tolist() == create("brute", second).pairs().tolist()


def test_threads_that_take_turns_and_copies_are_not_refused() -> None:
    first, second, third = scene("auto")
    made = create("bvh", first)
    for frame in (second, third):
        thread = threading.Thread(target=made.update, args=(frame,))
        thread.start()
        thread.join()
    twin = pickle.loads(pickle.dumps(made.copy()))
    assert twin.pairs().tolist() == made.pairs().tolist() == create("brute", third).pairs().tolist()


def test_moves_whose_pairs_are_not_requested_cost_the_same_for_ever() -> None:
    """What `pairs` has yet to follow is bounded, however many moves are only read by `began` and `ended`."""
    random = np.random.default_rng(1)
    lower = random.uniform(0, 5, (60, 3))
    made = create("bvh", Boxes(lower, lower + 1))
    made.pairs()
    longest = kept = 0
    for _ in range(400):
        row = int(random.integers(60))
        lower[row] = random.uniform(0, 5, 3)
        made.move([row], Boxes(lower[[row]], lower[[row]] + 1))
        longest = max(longest, len(made._state.pending))
        kept = max(kept, sum(map(len, made._state.pending)))
    assert longest <= MAX_PENDING <= 100
    assert kept < 60 * 59
    assert made.pairs().tolist() == create("brute", Boxes(lower, lower + 1)).pairs().tolist()


def test_merged_changes_have_the_effect_of_all_of_them() -> None:
    random = np.random.default_rng(2)
    sets = [no_pairs()]
    for _ in range(12):
        keys = np.unique(random.integers(0, 40, random.integers(0, 30)))
        sets.append(np.stack((keys // 7, keys % 7 + 10), axis=1).astype(np.int32))
    sets = [one[np.lexsort(one.T[::-1])] for one in sets]
    for last in range(1, len(sets)):
        steps = [difference(sets[k], sets[k + 1]) for k in range(last)]
        net, direct = merge_changes(steps), difference(sets[0], sets[last])
        np.testing.assert_array_equal(net.began, direct.began)
        np.testing.assert_array_equal(net.ended, direct.ended)
