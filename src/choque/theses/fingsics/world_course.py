"""The course of a scene, which is the same for every broad phase: contacts of each step, and the hash at the end."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from choque.errors import ChoqueError
from choque.files.atomic import replacing
from choque.lab.verdict import Verdict
from choque.scene import BodyScene

ALL_UP_TO = 320
"""Up to this many bodies the course is computed without a broad phase; above, by testing all pairs of boxes."""
BRUTE_UP_TO = 10_100
"""Above this many, one method computes it, and all pairs of boxes are tested in its last step only."""
BEYOND = "bvh"


@dataclass(frozen=True)
class Course:
    """The results of a run, or the expected ones."""

    method: str
    """The method, or the program, that the results come from."""
    contacts: tuple[int, ...]
    """The contacts of each step."""
    tests: tuple[int, ...] | None = None
    """Exact tests of each step; None if they depend on the method."""
    hash: int | None = None
    """The hash of the state after the last step; None if it is unknown."""

    def judge(self, other: Course) -> Verdict:
        """Return whether another run has the same results in every step and ends in the same state."""
        if len(other.contacts) != len(self.contacts):
            return Verdict("wrong", f"{len(other.contacts)} steps, {self.method} has {len(self.contacts)}")
        for what, own, expected in (("contacts", other.contacts, self.contacts), ("tests", other.tests, self.tests)):
            for step, (one, right) in enumerate(zip(own or (), expected or (), strict=False), 1):
                if one != right:
                    return Verdict("wrong", f"{one:,} {what} in step {step}, {right:,} by {self.method}")
        if self.hash is not None and other.hash != self.hash:
            return Verdict("wrong", f"the same number of contacts as {self.method}, but another state at the end")
        return Verdict("exact")


def course(scene: BodyScene, steps: int, scratch: Path | None = None) -> Course:
    """Return the course of ``scene`` by exact rules, computed once for each folder ``scratch``."""
    path = None if scratch is None else scratch / f"{_key(scene, steps)}.json"
    if path is not None and path.exists():
        kept = json.loads(path.read_text(encoding="utf-8"))
        return Course(kept["method"], tuple(kept["contacts"]), hash=kept["hash"])
    found = _follow(scene, steps)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as handle:
            handle.write(json.dumps(asdict(found)).encode())
    return found


def logged_course(path: Path) -> Course:
    """Return the course in a log of the engine: tests and contacts of each step."""
    from choque.theses.fingsics.log import read_log

    log = read_log(path)
    contacts, tests = (tuple(int(value) for value in log[column]) for column in ("Collisions", "NPCDTests"))
    return Course("the Fingsics engine", contacts, tests)


def _follow(scene: BodyScene, steps: int) -> Course:
    count = len(scene)
    method = "all" if count <= ALL_UP_TO else "brute" if count <= BRUTE_UP_TO else BEYOND
    world = scene.world(broad=method)
    shadow = world.shadow("brute") if method == BEYOND else None
    contacts = [world.step(scene.dt).contacts for _ in range(steps - 1)]
    if shadow is not None:
        expected = shadow.find(world.bodies).contacts.pairs
    contacts.append(world.step(scene.dt).contacts)
    if shadow is not None and not np.array_equal(world.contacts().pairs, expected):
        raise ChoqueError(f"{method} and brute disagree on {scene.name!r}, so there is no course to compare with.")
    return Course(method, tuple(contacts), hash=world.hash())


def _key(scene: BodyScene, steps: int) -> str:
    words = (scene.name, scene.seed, sorted(scene.parameters.items()), len(scene), steps)
    return hashlib.sha256(repr(words).encode()).hexdigest()[:20]
