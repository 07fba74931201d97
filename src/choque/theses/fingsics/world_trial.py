"""Trials of worlds: steps with the times of their five stages, recorded or not, replays, and other engines."""

from __future__ import annotations

import math
import shutil
import tempfile
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from choque.lab.engines import Engine
from choque.lab.stopwatch import Stopwatch
from choque.lab.trial import CutOff, Trial
from choque.lab.verdict import Verdict
from choque.lab.warm_up import warm_up_kinds
from choque.narrow.phase import KindTally
from choque.record import Recorder, Recording, Replay
from choque.scene import BodyScene
from choque.theses.fingsics import engine
from choque.theses.fingsics.totals import Cost, cost_of
from choque.theses.fingsics.world_course import Course
from choque.world import StepReport, World

FIRST_STEPS = 3
"""Steps from which the time of all steps is estimated."""
SHORT = 0.5
"""A run up to this long [s] is made once before it is timed, so that no kernel is loaded in the first timed run."""
MAX_PAIRS = 8_000_000
"""The maximum number of pairs without a broad phase, which are in memory at once at about 90 bytes each."""
IN_TIME = 1 / 60
"""The time of a frame at 60 frames per second [s]."""


@dataclass(frozen=True)
class StepFigures:
    """The figures of a step; its report also has the pairs themselves, which of many steps do not fit into memory."""

    total_seconds: float
    pairs: int
    contacts: int
    impulses: int
    cost: Cost
    tally: Mapping[str, KindTally]

    @classmethod
    def of(cls, report: StepReport) -> StepFigures:
        """Take the figures of a report."""
        amounts = report.pairs, report.contacts, report.impulses
        return cls(report.total_seconds, *amounts, cost_of(report), report.tally)


class WorldTrial(Trial):
    """A scene by one broad phase, step after step from its start; bounds, broad, narrow, response, integrate apart.

    The first step makes the structures of the broad phase, which is charged to it. Making the world is not timed.

    Parameters
    ----------
    scene
        Where every run starts.
    method
        The broad phase.
    steps
        How many steps a run has.
    expected
        Gives the course that is right, when it is asked for; None where there is none.
    by_engine_rules
        By the rules of the Fingsics engine.
    """

    def __init__(
        self,
        scene: BodyScene,
        method: str,
        steps: int,
        *,
        expected: Callable[[], Course] | None = None,
        by_engine_rules: bool = False,
    ) -> None:
        self.name, self.scene, self.steps, self.by_engine_rules = method, scene, steps, by_engine_rules
        self._expected = expected
        self._world: World | None = None
        self.figures: list[StepFigures] = []
        """The figures of the latest run, one for each step."""

    def prepare(self) -> None:
        """Make a new world in its initial state."""
        self._world = self._made()

    def run(self, watch: Stopwatch) -> None:
        """Make all steps."""
        world, dt = self._start(watch), self.scene.dt
        for _ in range(self.steps):
            report = world.step(dt)
            self._after_step(watch, report)
        watch.skip()

    def warm_up(self, patience: float) -> None:
        """Compile every pair of kinds, time a few steps twice to estimate the whole run, and make it if it is short."""
        moving = int((~self.scene.bodies.static).sum())
        pairs = moving * (len(self.scene) - (moving + 1) / 2)
        if self.name == "all" and pairs > MAX_PAIRS:
            raise CutOff(f"would keep {pairs:,.0f} pairs at once; {MAX_PAIRS:,} are allowed")
        warm_up_kinds(self._made(), self.scene.dt)
        expected = 0.0
        for _ in range(2):
            world = self._made()
            begin = self.clock()
            for _ in range(min(FIRST_STEPS, self.steps)):
                world.step(self.scene.dt)
                if self.clock() - begin > max(patience, FIRST_STEPS):
                    raise CutOff(f"one step takes about {self.clock() - begin:.2g} s; {patience:g} s are for all")
            expected = (self.clock() - begin) * self.steps / min(FIRST_STEPS, self.steps)
        if expected > patience:
            raise CutOff(f"would take about {expected:.2g} s; {patience:g} s are allowed")
        if expected < SHORT:
            super().warm_up(patience)

    def check(self) -> Verdict:
        """Compare the contacts of every step and the final state with those of the course."""
        if self._expected is None:
            return Verdict("unchecked")
        assert self._world is not None
        contacts, tests = (tuple(getattr(each, what) for each in self.figures) for what in ("contacts", "pairs"))
        return self._expected().judge(Course(self.name, contacts, tests, self._world.hash()))

    def counters(self) -> Mapping[str, int | float]:
        """Exact tests, contacts and impulses of a run, and tests of oriented boxes before them."""
        cost = self.cost
        return {
            "steps": len(self.figures),
            "tests": cost.exact_tests,
            "contacts": sum(each.contacts for each in self.figures),
            "impulses": sum(each.impulses for each in self.figures),
            "bounding_tests": cost.bounding_tests,
        }

    def facts(self) -> Mapping[str, int | float | str]:
        """Return the terms of the cost model and exact tests by kinds [ns], medians of steps; the share of late steps.

        Medians do not depend on the few steps that the machine interrupted.
        """
        if not self.figures:
            return {}
        late = np.mean([each.total_seconds > IN_TIME for each in self.figures])
        exact, bounding = self._typical("O"), self._typical("B")
        facts = {
            "structure_ns": self._typical("C"),
            "bounding_ns": bounding,
            "exact_ns": exact,
            "cost_ratio": exact / bounding if bounding else math.nan,
            "cost_threshold": self.cost.threshold,
            "late_share": float(late),
            **self._kind_costs(),
        }
        return {name: value for name, value in facts.items() if math.isfinite(value)}

    @property
    def cost(self) -> Cost:
        """The cost model of the latest run."""
        return sum((each.cost for each in self.figures), Cost())

    def _made(self) -> World:
        if self.by_engine_rules:
            return engine.world(self.scene, broad=self.name)
        return self.scene.world(broad=self.name)

    def _start(self, watch: Stopwatch) -> World:
        if self._world is None or self._world.frame:
            self._world = self._made()
        self.figures = []
        watch.skip()
        return self._world

    def _after_step(self, watch: Stopwatch, report: StepReport) -> None:
        watch.divide(report.seconds, report.total_seconds)
        self.figures.append(StepFigures.of(report))
        watch.skip()

    def _typical(self, letter: str) -> float:
        values = [each.cost.letters()[letter] for each in self.figures]
        measured = [value for value in values if value > 0]
        return float(np.median(measured)) * 1e9 if measured else 0.0

    def _kind_costs(self) -> dict[str, float]:
        costs: dict[str, list[float]] = {}
        for each in self.figures:
            for kinds, tally in each.tally.items():
                costs.setdefault(kinds, []).append(tally.seconds / tally.tests)
        return {f"ns {kinds}": float(np.median(values)) * 1e9 for kinds, values in costs.items()}


class RecordedTrial(WorldTrial):
    """A world trial that records each frame to a file: one more stage, which waits for the disk."""

    def run(self, watch: Stopwatch) -> None:
        """Make all steps, and close the recording."""
        with tempfile.TemporaryDirectory(prefix="choque-") as folder:
            path = Path(folder) / "run.choque"
            world, dt = self._start(watch), self.scene.dt
            with Recorder(path, world, dt=dt) as recorder:
                watch.lap("record")
                for _ in range(self.steps):
                    report = world.step(dt)
                    self._after_step(watch, report)
                    recorder.record()
                    watch.lap("record")
            watch.lap("record")
            self._bytes = path.stat().st_size
            with Recording(path) as recording:
                hashes = recording.hashes()
            self._is_whole = len(hashes) == self.steps + 1 and int(hashes[-1]) == world.hash()
        watch.skip()

    def check(self) -> Verdict:
        """Compare the course, and check that the recording has all of its frames."""
        return super().check() if self._is_whole else Verdict("wrong", "the recording does not hold every frame")

    def counters(self) -> Mapping[str, int | float]:
        """Return the counters of the run, and the bytes of the recording."""
        return {**super().counters(), "recorded_bytes": self._bytes}


class ReplayTrial(Trial):
    """A recording of a scene, played from its first frame to its last: no physics, only reading; no drawing either."""

    def __init__(self, scene: BodyScene, method: str, steps: int) -> None:
        self.name, self.steps = method, steps
        folder = tempfile.mkdtemp(prefix="choque-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self._path = Path(folder) / "replay.choque"
        world = scene.world(broad=method)
        with Recorder(self._path, world, dt=scene.dt) as recorder:
            for _ in range(steps):
                world.step(scene.dt)
                recorder.record()
        self._world = world

    def run(self, watch: Stopwatch) -> None:
        """Read every frame."""
        frames, late = 0, 0
        with Recording(self._path) as recording:
            replay = Replay(recording)
            replay.play()
            begin = self.clock()
            while True:
                self._poses = replay.poses
                now = self.clock()
                frames, late, begin = frames + 1, late + (now - begin > IN_TIME), now
                watch.lap("read")
                if not replay.playing:
                    break
                replay.tick()
        self._frames, self._late = frames, late / frames

    def check(self) -> Verdict:
        """Compare the poses of the last frame with the recorded world, to the last bit of float32."""
        bodies, poses = self._world.bodies, self._poses
        same = np.array_equal(poses.position, bodies.position.astype(np.float32)) and np.array_equal(
            poses.rotation, bodies.rotation.astype(np.float32)
        )
        whole = same and self._frames == self.steps + 1
        return Verdict("exact") if whole else Verdict("wrong", "the last frame is not as it was recorded")

    def counters(self) -> Mapping[str, int | float]:
        """Return the number of frames and of bytes read."""
        return {"steps": self._frames, "recorded_bytes": self._path.stat().st_size}

    def facts(self) -> Mapping[str, int | float | str]:
        """Return the share of frames that took longer than a frame at 60 per second."""
        return {"late_share": self._late}


class EngineTrial(Trial):
    """A scene by another engine, which has its own rules, so only its time is compared."""

    def __init__(self, engine: type[Engine], scene: BodyScene, steps: int) -> None:
        self.name, self.scene, self.steps = engine.name, scene, steps
        self._make = engine
        self._engine: Engine | None = None

    def prepare(self) -> None:
        """Make a new world in its initial state."""
        if self._engine is not None:
            self._engine.close()
        self._engine = self._make(self.scene)

    def run(self, watch: Stopwatch) -> None:
        """Make all steps."""
        assert self._engine is not None
        step = self._engine.step
        watch.skip()
        for _ in range(self.steps):
            step()
        watch.lap("engine")

    def warm_up(self, patience: float) -> None:
        """Estimate the time of all steps from a few."""
        with self._make(self.scene) as engine:
            begin = self.clock()
            for _ in range(FIRST_STEPS):
                engine.step()
            expected = (self.clock() - begin) * self.steps / FIRST_STEPS
        if expected > patience:
            raise CutOff(f"would take about {expected:.2g} s; {patience:g} s are allowed")

    def check(self) -> Verdict:
        """Check that every body is still between the walls."""
        assert self._engine is not None
        bodies = self.scene.bodies
        reach = np.abs(bodies.position).max(axis=0)
        inside = np.abs(self._engine.positions()) <= reach + bodies.size[~bodies.static].max(initial=0.0)
        if not inside.all():
            return Verdict("wrong", f"{int((~inside).any(axis=1).sum())} bodies are outside the walls")
        return Verdict("unchecked", "another engine has rules of its own")

    def counters(self) -> Mapping[str, int | float]:
        """Steps, and points of contact in the last of them."""
        assert self._engine is not None
        return {"steps": self.steps, "contact_points": self._engine.contact_count()}

    def facts(self) -> Mapping[str, int | float | str]:
        """Return its version and the fraction of kinetic energy it kept, which should be 1 for elastic bodies."""
        if self._engine is None:
            return {"engine": self._make.version()}
        bodies = self.scene.bodies
        moving = ~bodies.static
        before, after = (
            float(bodies.mass[moving] @ np.square(velocity).sum(axis=1))
            for velocity in (bodies.velocity[moving], self._engine.velocities())
        )
        return {"engine": self._make.version(), "linear_energy_kept": after / before if before else 1.0}
