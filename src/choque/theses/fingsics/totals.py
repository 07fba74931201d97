"""Sums over the steps of a run, what happened in it, and the cost model of the Fingsics thesis."""

from __future__ import annotations

import math
from array import array
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from choque.world import StepReport, World

ROUNDING = 1e-12
"""A share of the energy below which a change is that of rounding."""

WITHOUT_STRUCTURE = ("brute",)
"""Methods that only test bounds: their T is b B + o O."""


@dataclass(frozen=True)
class Cost:
    """The cost model of collision detection, T = C + b B + o O, measured.

    C is the time of the broad phase before any test of tighter bounds, b and B the number and unit cost of those tests,
    o and O the number and unit cost of exact tests. A method without structure has no C, since it only tests bounds.
    Costs of several steps can be added.
    """

    structure_seconds: float = 0.0
    """C: the broad phase without its tests of bounds."""
    bounding_tests: int = 0
    """b: tests of tighter bounds, or of all bounds where a method does nothing else."""
    bounding_seconds: float = 0.0
    """b B: the time of these."""
    exact_tests: int = 0
    """o: tests of the narrow phase, which are the candidates."""
    exact_seconds: float = 0.0
    """o O: the time of these."""
    unfiltered: int = 0
    """o₁: the candidates before a filter of tighter bounds; 0 where there is none."""

    @property
    def seconds(self) -> float:
        """T: the sum of all parts."""
        return self.structure_seconds + self.bounding_seconds + self.exact_seconds

    def letters(self) -> dict[str, float]:
        """Return C, b, B, o and O, in seconds and counts; a unit cost without tests is 0."""
        return {
            "C": self.structure_seconds,
            "b": self.bounding_tests,
            "B": self.bounding_seconds / self.bounding_tests if self.bounding_tests else 0.0,
            "o": self.exact_tests,
            "O": self.exact_seconds / self.exact_tests if self.exact_tests else 0.0,
        }

    @property
    def has_filter(self) -> bool:
        """Whether candidates were filtered by tighter bounds in a measurable time."""
        return self.unfiltered > 0 and self.bounding_seconds > 0

    @property
    def ratio(self) -> float:
        """O / B: the cost of an exact test in tests of bounds; NaN if it is unknown."""
        unit = self.letters()
        return unit["O"] / unit["B"] if self.has_filter and self.exact_tests else float("nan")

    @property
    def threshold(self) -> float:
        """o₁ / (o₁ − o₂): the filter pays if O / B exceeds it; infinite if it rejects nothing."""
        if not self.has_filter:
            return float("nan")
        rejected = self.unfiltered - self.exact_tests
        return self.unfiltered / rejected if rejected else float("inf")

    @property
    def filter_pays(self) -> bool | None:
        """Whether the filter saved more than it cost, O / B > o₁ / (o₁ − o₂); None if it is unknown."""
        if not self.has_filter or not self.exact_tests:
            return None
        return self.ratio > self.threshold

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.structure_seconds + other.structure_seconds,
            self.bounding_tests + other.bounding_tests,
            self.bounding_seconds + other.bounding_seconds,
            self.exact_tests + other.exact_tests,
            self.exact_seconds + other.exact_seconds,
            self.unfiltered + other.unfiltered,
        )

    def __str__(self) -> str:
        unit = self.letters()
        model = (
            f"T = C + bB + oO = {self.seconds * 1e3:.3f} ms: C = {unit['C'] * 1e3:.3f} ms, "
            f"b = {self.bounding_tests:,} at B = {unit['B'] * 1e9:.1f} ns, "
            f"o = {self.exact_tests:,} at O = {unit['O'] * 1e9:.1f} ns."
        )
        if self.filter_pays is None:
            return f"{model} There is no filter of tighter bounds to judge."
        verdict = "the filter pays" if self.filter_pays else "the filter does not pay"
        sign = ">" if self.filter_pays else "<="
        return f"{model} O/B = {self.ratio:.2f} {sign} {self.threshold:.2f} = o1/(o1 - o2): {verdict}."


def cost_of(report: StepReport) -> Cost:
    """Return the cost of one step, without the exact tests that a response makes itself."""
    tests, seconds = (report.pairs, report.seconds.get("narrow", 0.0)) if report.has_exact_tests else (0, 0.0)
    broad = report.seconds["broad"]
    if report.filter_tests:
        filtered = report.filter_tests
        return Cost(broad - report.filter_seconds, filtered, report.filter_seconds, tests, seconds, filtered)
    if report.broad not in WITHOUT_STRUCTURE or not report.box_tests:
        return Cost(broad if report.bodies else 0.0, 0, 0.0, tests, seconds)
    return Cost(0.0, report.box_tests, broad, tests, seconds)


class CostMeter:
    """Adds up the cost of the steps of a run since the latest change of methods; an observer of a run."""

    def __init__(self) -> None:
        self.total = Cost()
        self._settings: object = None

    def __call__(self, world: World, report: StepReport) -> None:
        """Add a step."""
        if world.settings is not self._settings:
            self._settings, self.total = world.settings, Cost()
        self.total += cost_of(report)


@dataclass
class KindTotal:
    """Exact tests, contacts and seconds of one pair of kinds."""

    tests: int = 0
    contacts: int = 0
    seconds: float = 0.0
    timed_tests: int = 0
    """Those that ``seconds`` are the time of."""


@dataclass
class Totals:
    """Sums over steps; an observer of a run."""

    steps: int = 0
    timed_steps: int = 0
    """Those whose times are counted."""
    tests: int = 0
    contacts: int = 0
    impulses: int = 0
    """Counts; tests are the exact ones, which are the candidates of the broad phase."""
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    """By stage; `total_seconds` is from beginning to end."""
    total_seconds: float = 0.0
    step_seconds: array[float] = field(default_factory=lambda: array("d"))
    """Of each timed step."""
    kinds: dict[str, KindTotal] = field(default_factory=lambda: defaultdict(KindTotal))
    """By pair of kinds, such as ``"sphere-capsule"``; their counts add up to those of the whole."""
    counters: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    """Amounts of work of the response by name, as in `choque.world.StepReport`."""
    cost: Cost = field(default_factory=Cost)
    """The cost model."""

    def __call__(self, world: World, report: StepReport) -> None:  # noqa: ARG002
        """Add a step."""
        self.add(report)

    def add(self, report: StepReport, *, is_timed: bool = True) -> None:
        """Add a step; with its times, and the cost that is made of them, if ``is_timed``."""
        self.steps += 1
        self.tests += report.pairs
        self.contacts += report.contacts
        self.impulses += report.impulses
        for kinds, tally in report.tally.items():
            total = self.kinds[kinds]
            total.tests += tally.tests
            total.contacts += tally.contacts
            total.timed_tests += tally.tests * is_timed
            total.seconds += tally.seconds * is_timed
        if is_timed:
            self.timed_steps += 1
            self.total_seconds += report.total_seconds
            self.step_seconds.append(report.total_seconds)
            self.cost = self.cost + cost_of(report)
            for stage, seconds in report.seconds.items():
                self.seconds[stage] += seconds
        for name, count in report.counters.items():
            self.counters[name] += count

    def milliseconds(self, *stages: str) -> float:
        """Return the mean time of some ``stages`` [ms], or of the whole step."""
        seconds = sum(self.seconds[stage] for stage in stages) if stages else self.total_seconds
        return 1e3 * seconds / self.timed_steps if self.timed_steps else 0.0

    @property
    def median_milliseconds(self) -> float:
        """The median time of a step [ms], which other work on the machine disturbs less than the mean."""
        return 1e3 * float(np.median(self.step_seconds)) if self.step_seconds else 0.0


def mechanical_energy(world: World) -> float:
    """Return the kinetic energy and the potential energy of all bodies that are not static, in their own accelerations.

    Without collisions, or with elastic ones, it is constant except for the error of the integrator.
    """
    bodies = world.bodies
    moving = ~bodies.static
    lift = np.einsum("ij,ij->i", bodies.acceleration[moving].astype(np.float64), bodies.position[moving])
    return world.energy() - float((bodies.mass[moving].astype(np.float64) * lift).sum())


class FastestHit:
    """The two bodies that met the fastest, by `choque.world.World.events`; an observer of a run."""

    def __init__(self) -> None:
        self.speed = self.time = 0.0
        self.pair: tuple[int, ...] = ()

    def __call__(self, world: World, report: StepReport) -> None:
        """Look at the hits of a step."""
        events = world.events
        if events.speed.max(initial=0.0) > self.speed:
            place = int(events.speed.argmax())
            self.speed, self.time = float(events.speed[place]), report.time
            self.pair = tuple(events.hits[place].tolist())

    def record(self) -> dict[str, Any] | None:
        """Return it as JSON values; None if there was no hit."""
        return {"speed": self.speed, "pair": self.pair, "time": self.time} if self.pair else None


@dataclass(frozen=True)
class Outcome:
    """A run at its end."""

    scene: str
    dt: float
    world: World
    totals: Totals
    fastest: FastestHit
    energy: tuple[float, float]
    """Before and after."""
    folder: Path | None
    """Where files were written; None if none were."""

    def record(self) -> dict[str, Any]:
        """Return the outcome as JSON values."""
        world, totals, cost = self.world, self.totals, self.totals.cost
        times = {stage: totals.milliseconds(stage) for stage in totals.seconds}
        return {
            "scene": self.scene,
            "folder": None if self.folder is None else str(self.folder),
            "bodies": len(world),
            "asleep": int(world.asleep.sum()),
            "frame": world.frame,
            "hash": f"{world.hash():016x}",
            "broad": world.settings.broad,
            "steps": totals.steps,
            "timed_steps": totals.timed_steps,
            "tests": totals.tests,
            "contacts": totals.contacts,
            "impulses": totals.impulses,
            "fastest_hit": self.fastest.record(),
            "milliseconds": {**times, "step": totals.milliseconds()},
            "median_milliseconds": totals.median_milliseconds,
            "kinds": {
                kinds: {"tests": total.tests, "contacts": total.contacts, "seconds": total.seconds}
                for kinds, total in sorted(totals.kinds.items())
            },
            "counters": dict(totals.counters),
            "cost": {**cost.letters(), "filter_pays": cost.filter_pays},
            "energy": dict(zip(("start", "end"), self.energy, strict=True)),
        }

    def events_sentence(self) -> str:
        """Return a sentence on what the bodies did."""
        moving, asleep = int((~self.world.bodies.static).sum()), int(self.world.asleep.sum())
        parts = []
        if asleep:
            parts.append(f"{asleep:,} of {moving:,} moving bodies {'sleeps' if asleep == 1 else 'sleep'} at the end")
        parts.append(f"{self.totals.contacts / max(self.totals.steps, 1):,.1f} contacts in a step")
        if self.fastest.pair:
            a, b = self.fastest.pair
            when = f"of bodies {a} and {b} after {self.fastest.time:.2f} s"
            parts.append(f"the fastest hit at {self.fastest.speed:.3g} m/s, {when}")
        return f"{'; '.join(parts)}."

    def solver_sentence(self) -> str:
        """Return a sentence on the manifolds of the response ``soft-step``, which counts them."""
        solved, found, recycled = (self.totals.counters[name] for name in ("manifolds", "found", "recycled"))
        again = f"{recycled:,} manifolds of the step before used again"
        return f"Manifolds: {solved:,} solved, {found:,} pairs tested, {again}."

    def energy_sentence(self) -> str:
        """Return a sentence on the change of energy."""
        before, after = self.energy
        if self.world.bodies.acceleration.any():  # the zero of potential energy is arbitrary, and so is any share
            is_kept = math.isclose(after, before, rel_tol=ROUNDING, abs_tol=ROUNDING)
            change = f"{abs(after - before):.6g} J {'lost' if after < before else 'gained'}"
            return f"Energy, kinetic and potential together: {'unchanged' if is_kept else change}."
        share = (after - before) / abs(before) if before else math.nan
        drift = ""
        if math.isfinite(share):
            lost = f"{abs(share):.1%} {'lost' if share < 0 else 'gained'}"
            drift = f" ({lost})" if abs(share) >= 1e-3 else f" ({share:+.1e})"
        return f"Energy: {before:.6g} J at the start, {after:.6g} J at the end{drift}."
