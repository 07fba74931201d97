"""What many steps add up to."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np

from choque.theses.fingsics.cost import Cost, cost_of
from choque.world import StepReport, World


@dataclass
class KindTotal:
    """What one pair of kinds took part in: exact tests, contacts and the seconds of the tests."""

    tests: int = 0
    contacts: int = 0
    seconds: float = 0.0


@dataclass
class Totals:
    """Sums over steps; an observer of a run.

    Attributes
    ----------
    steps, tests, contacts, impulses
        Counts; tests are the exact ones, which are the candidates of the broad phase.
    seconds
        By stage; `total_seconds` is from beginning to end.
    kinds
        By pair of kinds, such as ``"sphere-capsule"``; their counts add up to those of the whole.
    cost
        The cost model.
    """

    steps: int = 0
    tests: int = 0
    contacts: int = 0
    impulses: int = 0
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    total_seconds: float = 0.0
    kinds: dict[str, KindTotal] = field(default_factory=lambda: defaultdict(KindTotal))
    cost: Cost = field(default_factory=Cost)

    def __call__(self, world: World, report: StepReport) -> None:  # noqa: ARG002
        """Observe a step."""
        self.add(report)

    def add(self, report: StepReport) -> None:
        """Add a step."""
        self.steps += 1
        self.tests += report.pairs
        self.contacts += report.contacts
        self.impulses += report.impulses
        self.total_seconds += report.total_seconds
        self.cost = self.cost + cost_of(report)
        for stage, seconds in report.seconds.items():
            self.seconds[stage] += seconds
        for kinds, tally in report.tally.items():
            total = self.kinds[kinds]
            total.tests += tally.tests
            total.contacts += tally.contacts
            total.seconds += tally.seconds

    def milliseconds(self, *stages: str) -> float:
        """The mean time of some stages, of the whole step if none is named."""
        seconds = sum(self.seconds[stage] for stage in stages) if stages else self.total_seconds
        return 1e3 * seconds / self.steps if self.steps else 0.0


def mechanical_energy(world: World) -> float:
    """Kinetic energy, and potential energy in each body's own constant acceleration, of all that are not static.

    Where nothing collides, or every collision is elastic, it stays what it was but for the error of the integrator.
    """
    bodies = world.bodies
    moving = ~bodies.static
    lift = np.einsum("ij,ij->i", bodies.acceleration[moving].astype(np.float64), bodies.position[moving])
    return world.energy() - float((bodies.mass[moving].astype(np.float64) * lift).sum())
