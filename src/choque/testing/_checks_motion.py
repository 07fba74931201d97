"""Bodies that move, come and go: began and ended replayed from nothing give the answer of every frame."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from choque._core.types import I64
from choque.bounds import Boxes
from choque.broad import BroadPhase
from choque.scene import BoxScene, generate
from choque.testing import scenes
from choque.testing._mirror import Mirror
from choque.testing._subject import Subject, Trial, broad_phase_check, scene_of
from choque.testing.scenes import Corners, FloatName

PLACES = 120  # how many moving places a run has; each body follows one of them


@dataclass(frozen=True)
class Course:
    """What a run goes through: where the places are at each frame, and the settings."""

    name: str
    dimension: int
    dtype: FloatName
    settings: dict[str, Any]
    filtered: bool = False

    def frame(self, number: int, frame_count: int) -> Corners:
        """The corners of every place at a frame."""
        if self.name != "teleporting":
            return _places(self.name, self.dimension, frame_count, self.dtype).frame(number)
        random = np.random.default_rng(number)
        lower = random.integers(-6, 6, (PLACES, self.dimension)).astype(self.dtype)
        return lower, lower + random.integers(0, 3, lower.shape).astype(self.dtype)


@cache
def _places(name: str, dimension: int, frame_count: int, dtype: FloatName) -> BoxScene:
    """The places of a course; every method meets the same ones."""
    return generate(name, PLACES, dimension=dimension, frames=frame_count, dtype=dtype)


COURSES = (
    Course("moving", 3, "float32", {"closed": True}),
    Course("brownian", 2, "float64", {"closed": False}),
    Course("teleporting", 3, "float64", {"closed": True}, filtered=True),
    Course("teleporting", 2, "float32", {"closed": False}, filtered=True),
    Course("one-moves", 3, "float64", {"closed": True}),
    Course("free-fall", 3, "float32", {"closed": False}, filtered=True),
)


class Run:
    """A broad phase and its mirror, taken through the same changes."""

    def __init__(self, trial: Trial, course: Course, frame_count: int) -> None:
        self.trial, self.course, self.frame_count = trial, course, frame_count
        self.random = np.random.default_rng(PLACES)
        self.places = np.arange(PLACES // 2)  # of each living body, in ascending id
        self.corners = course.frame(0, frame_count)
        boxes, filters = self._boxes(self.places), self._filters(len(self.places))
        self.mirror = Mirror(boxes, closed=course.settings["closed"], **filters)
        self.broad: BroadPhase = trial.make(boxes, **filters)

    def step(self, number: int) -> None:
        """Go to a frame and change something: in turn all, some, arrivals, departures, nothing."""
        self.corners = self.course.frame(number, self.frame_count)
        change = ("update", "move", "add", "move", "remove", "update", "rest")[number % 7]
        self.trial.moment = f"frame {number}, after {change}"
        getattr(self, f"_{change}")()

    def _update(self) -> None:
        boxes = self._boxes(self.places)
        self.broad.update(boxes)
        self.mirror.update(boxes)

    def _move(self) -> None:
        ids = self.random.permutation(self.mirror.ids)[: int(self.random.integers(0, 10))]
        boxes = self._boxes(self.places[np.searchsorted(self.mirror.ids, ids)])
        self.broad.move(ids, boxes)
        self.mirror.move(ids, boxes)

    def _rest(self) -> None:
        self.broad.move([], self._boxes(self.places[:0]))

    def _add(self) -> None:
        arriving = self.random.integers(0, PLACES, int(self.random.integers(0, 9)))
        filters = self._filters(len(arriving))
        given = self.broad.add(self._boxes(arriving), **filters)
        wanted = self.mirror.add(self._boxes(arriving), **filters)
        self.places = np.append(self.places, arriving)
        self.trial.require(
            np.array_equal(given, wanted), f"add() gave the ids {np.asarray(given).tolist()}, not {wanted.tolist()}"
        )

    def _remove(self) -> None:
        # The newest always leaves: only then is there an id that a careless method would use again.
        leaving = self.random.permutation(self.mirror.ids[:-1])[: int(self.random.integers(0, 9))]
        ids = np.append(leaving, self.mirror.ids[-1:])
        self.broad.remove(ids)
        self.places = self.places[~np.isin(self.mirror.ids, ids)]
        self.mirror.remove(ids)

    def _boxes(self, places: I64) -> Boxes:
        return Boxes(*(np.ascontiguousarray(corner[places]) for corner in self.corners))

    def _filters(self, count: int) -> dict[str, Any]:
        if not self.course.filtered:
            return {}
        return {
            "groups": self.random.integers(1, 8, count),
            "masks": self.random.integers(1, 8, count),
            "static": self.random.random(count) < 0.3,
        }

    def check_now(self) -> None:
        """Everything that can be read agrees with the mirror."""
        trial, found = self.trial, self.broad.pairs()
        trial.agree("pairs()", found, self.mirror.pairs())
        trial.require(bool(self.mirror.allowed(found).all()), "pairs() holds a pair that the filter forbids")
        trial.require(np.array_equal(self.broad.ids, self.mirror.ids), "ids are not those of the living bodies")
        trial.require(self.broad.count() == len(found), f"count() is {self.broad.count()} for {len(found)} pairs")


def _runs(subject: Subject, few: int = 25) -> list[Run]:
    """A run on each course, over ``few`` frames unless the check is thorough."""
    frame_count = 200 if subject.thorough else few
    made = []
    for course in COURSES:
        scene = scene_of(f"{course.name}, bodies coming and going", *course.frame(0, frame_count))
        made.append(Run(subject.trial(scene, **course.settings), course, frame_count))
    return made


@broad_phase_check("replay")
def replay(subject: Subject) -> None:
    """Began and ended, replayed from nothing while bodies come and go, give each frame's pairs."""
    for run in _runs(subject, few=15):  # every kind of change twice
        with run.trial as trial:
            held: set[tuple[int, int]] = set()
            for number in range(run.frame_count):
                if number:
                    run.step(number)
                began, ended = run.broad.began, run.broad.ended
                trial.well_formed("began", began)
                trial.well_formed("ended", ended)
                arrived, left = set(map(tuple, began.tolist())), set(map(tuple, ended.tolist()))
                known, unknown = arrived & held, left - held
                trial.require(not known, f"began holds {min(known, default=0)}, which was a pair before")
                trial.require(not unknown, f"ended holds {min(unknown, default=0)}, which was no pair before")
                held = (held - left) | arrived
                replayed = np.array(sorted(held), np.int32).reshape(-1, 2)
                trial.agree("began and ended, replayed,", replayed, run.mirror.pairs())
                # Asking for all pairs on some frames only takes both ways: by changes, and from scratch.
                if number % 3 == 0:
                    run.check_now()
                    same = np.array_equal(replayed, run.broad.pairs())
                    trial.require(same, "began and ended, replayed, are not pairs()")


@broad_phase_check("unwatched-motion")
def unwatched_motion(subject: Subject) -> None:
    """Frames whose pairs are not read leave no trace: pairs are right whenever they are read."""
    for run in _runs(subject):
        with run.trial:
            for number in range(1, run.frame_count):
                run.step(number)
                if number % 6 == 4:
                    run.check_now()
            run.check_now()


@broad_phase_check("net-change")
def net_change(subject: Subject) -> None:
    """Began and ended are the net change of the latest call alone, also when no one looked before it."""
    for run in _runs(subject):
        with run.trial as trial:
            before = run.mirror.pairs()
            own_before: set[tuple[int, int]] = set()
            for number in range(1, min(run.frame_count, 60)):
                run.step(number)
                after = run.mirror.pairs()
                if number % 4 == 3:
                    held_before, held = set(map(tuple, before.tolist())), set(map(tuple, after.tolist()))
                    if not subject.exact:
                        held_before, held = own_before, set(map(tuple, run.broad.pairs().tolist()))
                    for name, wanted in (("began", held - held_before), ("ended", held_before - held)):
                        found = set(map(tuple, getattr(run.broad, name).tolist()))
                        trial.require(found == wanted, f"{name} differs at {min(found ^ wanted, default=0)}")
                elif number % 4 == 2 and not subject.exact:
                    own_before = set(map(tuple, run.broad.pairs().tolist()))
                before = after


@broad_phase_check("from-nothing-and-back")
def from_nothing_and_back(subject: Subject) -> None:
    """A broad phase that starts empty fills, empties and fills again, and never uses an id twice."""
    scene = scenes.make("touching", count=40, dtype="float32")
    with subject.trial(scene) as trial:
        boxes = scene.boxes()
        broad, mirror = trial.make(boxes.take([])), Mirror(boxes.take([]))
        for round_number in range(3):
            trial.moment = f"round {round_number}"
            ids = broad.add(boxes)
            trial.require(
                np.array_equal(ids, mirror.add(boxes)), f"add() gave ids from {ids[0]} on: one was used before"
            )
            trial.agree("pairs()", broad.pairs(), mirror.pairs())
            trial.require(np.array_equal(broad.began, broad.pairs()), "began is not pairs() after filling")
            full = broad.pairs()
            broad.remove(ids[::-1])
            mirror.remove(ids)
            trial.require(len(broad) == len(broad.pairs()) == broad.count() == 0, "something is left of no bodies")
            trial.require(np.array_equal(broad.ended, full), "ended is not all pairs after emptying")


@broad_phase_check("mixed-precision")
def mixed_precision(subject: Subject) -> None:
    """Float64 boxes among float32 ones, and the reverse, are compared in float64."""
    for closed in (True, False):
        low = [[0, 0], [3, 0], [0.1, 5], [-np.inf, 0.6]]
        high = [[1, 1], [4, 1], [0.3, 6], [np.inf, np.inf]]
        coarse = Boxes(np.array(low, np.float32), np.array(high, np.float32))
        # Each ends or begins within a rounding step of float32 from a box above, on either side of it.
        near = [[np.nextafter(1.0, 0), 0.5], [np.nextafter(1.0, 2), 0.5], [2.0, 0.25], [0.3, 5.5]]
        far = [[2.0, 0.75], [2.5, 0.75], [np.nextafter(3.0, 4), 0.75], [0.5, 5.75]]
        fine = Boxes(np.array(near), np.array(far))
        for first, second in ((coarse, fine), (fine, coarse)):
            with subject.trial(scene_of("float32 beside float64", first.lower, first.upper), closed=closed) as trial:
                broad, mirror = trial.make(), Mirror(first, closed=closed)
                trial.agree("query()", broad.query(second), mirror.query(second), ordered=False)
                broad.add(second)
                mirror.add(second)
                trial.moment = "after add"
                trial.agree("pairs()", broad.pairs(), mirror.pairs())
                trial.moment = "after move"
                broad, mirror = trial.make(), Mirror(first, closed=closed)
                for target in (broad, mirror):
                    target.move(np.array([1, 2], np.int32), second.take([0, 1]))
                trial.agree("pairs()", broad.pairs(), mirror.pairs())
