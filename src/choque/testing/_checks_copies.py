"""Copies and pickles: equal when made, independent afterwards."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

from choque.broad import BroadPhase
from choque.testing import scenes
from choque.testing._mirror import Mirror
from choque.testing._subject import Subject, Trial, broad_phase_check

WAYS: dict[str, Callable[[Any], Any]] = {
    "copy()": lambda broad: broad.copy(),
    "copy.deepcopy": copy.deepcopy,
    "pickle": lambda broad: pickle.loads(pickle.dumps(broad)),
}


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
