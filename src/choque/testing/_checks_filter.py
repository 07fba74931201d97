"""Groups, masks and static flags: which bodies may be a pair."""

from __future__ import annotations

from typing import Any

import numpy as np

from choque.testing import scenes
from choque.testing._mirror import Mirror
from choque.testing._subject import Subject, broad_phase_check

COUNT = 80


def _filters() -> list[dict[str, Any]]:
    random = np.random.default_rng(7)
    bits = random.integers(0, 16, (2, COUNT))
    resting = random.random(COUNT) < 0.5
    return [
        {"static": resting},
        {"static": True},
        {"groups": bits[0]},
        {"masks": bits[1]},
        {"groups": bits[0], "masks": bits[1], "static": resting},
        {"groups": 0x80000000, "masks": 0xFFFFFFFF},
        {"groups": 2, "masks": 4},
        {"groups": bits[0].astype(np.uint8).tolist(), "static": resting.tolist()},
    ]


@broad_phase_check("filters")
def filters(subject: Subject) -> None:
    """Groups, masks and static flags hold in pairs and count, and two static bodies never meet."""
    scene = scenes.make("touching", count=COUNT)
    for chosen in _filters():
        for closed in (True, False):
            with subject.trial(scene, closed=closed, **chosen) as trial:
                mirror = Mirror(scene.boxes(), closed=closed, **chosen)
                found = trial.make().pairs()
                trial.require(bool(mirror.allowed(found).all()), "pairs() holds a pair that the filter forbids")
                trial.agree("pairs()", found, mirror.pairs())
                counted = trial.make().count()
                trial.require(counted == len(found), f"count() is {counted}; there are {len(found)} pairs")


@broad_phase_check("filters-follow-bodies")
def filters_follow_bodies(subject: Subject) -> None:
    """Each body keeps its filter when others come and go, and one added without a filter meets everything."""
    scene = scenes.make("touching", count=COUNT)
    arriving = scenes.make("touching", count=20, seed=1).boxes()
    for chosen in (*_filters(), {}):
        with subject.trial(scene, **chosen) as trial:
            broad, mirror = trial.make(), Mirror(scene.boxes(), **chosen)
            gone = np.array([79, 0, 41, 3], np.int32)
            for target in (broad, mirror):
                target.remove(gone)
                target.add(arriving, groups=3, masks=np.arange(20) % 5, static=np.arange(20) % 2 == 0)
                target.remove(gone[:0])
                target.add(arriving)
                target.remove(np.array([80, 99, 102], np.int32))
            trial.moment = "after remove and add"
            trial.require(bool(mirror.allowed(broad.pairs()).all()), "pairs() holds a pair that the filter forbids")
            trial.agree("pairs()", broad.pairs(), mirror.pairs())
