"""Independence: the same arrays for any number of threads, and objects and copies that do not disturb each other."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import Any

import numpy as np

from choque._core.threads import parallel_at_any_size
from choque._core.types import Pairs
from choque.broad import BroadPhase
from choque.testing import scenes
from choque.testing._mirror import Mirror
from choque.testing._subject import Subject, Trial, broad_phase_check

WAYS: dict[str, Callable[[Any], Any]] = {
    "copy()": lambda broad: broad.copy(),
    "copy.deepcopy": copy.deepcopy,
    "pickle": lambda broad: pickle.loads(pickle.dumps(broad)),
}


@broad_phase_check("thread-count")
def thread_count(subject: Subject) -> None:
    """One thread, two and three give identical arrays, on scenes small enough to be split oddly."""
    names = ("uniform", "clustered", "touching", "ground-plane", "all-identical", "one", "empty")
    for name, closed in product(names, (True, False)):
        scene = scenes.make(name, count=300 if name in ("uniform", "clustered") else 40, dtype="float32")
        resting = np.arange(len(scene.lower)) % 4 == 0
        with subject.trial(scene, closed=closed, static=resting) as trial, parallel_at_any_size():
            alone = trial.make(threads=1)
            for number in (2, 3):
                trial.moment = f"{number} threads"
                several = trial.make(threads=number)
                same = np.array_equal(alone.pairs(), several.pairs())
                trial.require(same, "pairs() is not the array that one thread gives")
                trial.require(alone.count() == trial.make(threads=number).count(), "count() differs from one thread's")
                asked = np.array_equal(alone.query(scene.boxes()), several.query(scene.boxes()))
                trial.require(asked, "query() is not the array that one thread gives")
    _follow(subject)


def _follow(subject: Subject) -> None:
    """Changes with two threads give the arrays of one thread."""
    start = scenes.make("touching", count=80)
    steps = [scenes.make("touching", count=80, seed=seed).boxes() for seed in range(1, 5)]
    with subject.trial(start) as trial, parallel_at_any_size():
        both = [trial.make(threads=number) for number in (1, 2)]
        for number, boxes in enumerate(steps):
            trial.moment = f"two threads, step {number}"
            for broad in both:
                if number % 2:
                    broad.move(np.arange(10, 30), boxes.take(np.arange(20)))
                else:
                    broad.update(boxes)
            for what in ("began", "ended"):
                same = np.array_equal(getattr(both[0], what), getattr(both[1], what))
                trial.require(same, f"{what} is not the array that one thread gives")
            trial.require(np.array_equal(both[0].pairs(), both[1].pairs()), "pairs() differs from one thread's")


@broad_phase_check("two-objects")
def two_objects(subject: Subject) -> None:
    """Two objects, each used by a thread of its own at the same time, give the answers they give alone."""
    repeats = 20 if subject.thorough else 4
    starts = [scenes.make(name, count=200) for name in ("uniform", "clustered")]
    turns = [scenes.make("touching", count=200, seed=seed).boxes() for seed in range(3)]

    def follow(number: int) -> list[Pairs]:
        found = []
        with subject.trial(starts[number], closed=bool(number)) as trial:
            broad = trial.make(threads=2)
            for boxes in turns * repeats:
                broad.update(boxes)
                found += [broad.began, broad.pairs()]
        return found

    with ThreadPoolExecutor(2) as pool, parallel_at_any_size():
        answers = list(pool.map(follow, (0, 1)))
    for number, found in enumerate(answers):
        with subject.trial(starts[number], closed=bool(number)) as trial:
            trial.moment = "two objects in two threads"
            mirror = Mirror(starts[number].boxes(), closed=bool(number))
            wanted = []
            for boxes in turns:
                mirror.update(boxes)
                wanted.append(mirror.pairs())
            for step, pairs in enumerate(found[1::2]):
                trial.agree(f"pairs() of step {step}", pairs, wanted[step % len(turns)])


@broad_phase_check("copies")
def copies(subject: Subject) -> None:
    """A copy or a pickle gives the same answers, continues as its source would, and leaves it unchanged."""
    scene = scenes.make("touching", count=60, dimension=2, dtype="float32")
    elsewhere = scenes.make("touching", count=60, dimension=2, dtype="float32", seed=5).boxes()
    for name, duplicate in WAYS.items():
        for asked in (True, False):  # with the pairs known already, and with all work still to do
            with subject.trial(scene, closed=False, static=np.arange(60) % 3 == 0) as trial:
                trial.moment = f"{name}, pairs {'asked' if asked else 'not asked'} before"
                broad = trial.make()
                mirror = Mirror(scene.boxes(), closed=False, static=np.arange(60) % 3 == 0)
                for target in (broad, mirror):
                    target.remove(np.array([5], np.int32))
                    target.move(np.array([7, 9], np.int32), elsewhere.take([7, 9]))
                if asked:
                    broad.pairs()
                twin, twin_mirror = duplicate(broad), copy.deepcopy(mirror)
                _equal(trial, broad, twin)
                for target in (twin, twin_mirror):
                    target.add(elsewhere.take(np.arange(10)))
                    target.move(np.array([0, 60, 8], np.int32), elsewhere.take([12, 13, 14]))
                trial.agree("pairs() of the copy after more changes", twin.pairs(), twin_mirror.pairs())
                trial.agree("pairs() of the source after the copy changed", broad.pairs(), mirror.pairs())
                for target in (broad, mirror):
                    target.move(np.array([1, 2], np.int32), elsewhere.take([1, 2]))
                trial.agree("pairs() of the source after its own change", broad.pairs(), mirror.pairs())
                trial.agree("pairs() of the copy after the source changed", twin.pairs(), twin_mirror.pairs())


def _equal(trial: Trial, broad: BroadPhase, twin: BroadPhase) -> None:
    trial.require(type(twin) is type(broad), f"the copy is of the type {type(twin).__name__}")
    for what in ("ids", "began", "ended"):
        trial.require(np.array_equal(getattr(twin, what), getattr(broad, what)), f"{what} of the copy differs")
    trial.require(np.array_equal(twin.pairs(), broad.pairs()), "pairs() of the copy differs")
