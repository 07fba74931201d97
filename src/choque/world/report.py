"""What a step found, and how long each stage took."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from choque.narrow.phase import KindTally

if TYPE_CHECKING:
    from choque.world.detection import Detected

STAGES = ("bounds", "broad", "narrow", "response", "integrate")  # of a step, in their order
SOLVER_STAGES = ("bounds", "broad", "manifolds", "solver", "sleep", "integrate")  # of a step by ``soft-step``


@dataclass(frozen=True)
class StepReport:
    """One step: the time of each stage, and the amount of work.

    A response that makes exact tests itself leaves none to the narrow phase. Then ``contacts`` and ``tally`` are
    computed when they are first read, in the poses before the step, and their time belongs to no stage. Until then
    the report keeps a copy of these poses. That of ``soft-step`` can be read until the next step, even if that fails.

    Attributes
    ----------
    frame
        The number of the frame after the step.
    dt, time
        The length of the step, and the time of the world after it [s].
    seconds
        The time of each stage, `STAGES` or `SOLVER_STAGES`, in their order [s]. Manifolds are found
        or recycled; sleep is the search for islands that are still.
    total_seconds
        The time of the whole step [s].
    broad
        The broad-phase method.
    bodies, pairs, impulses
        How many bodies, candidates of the broad phase, and impulses.
    box_tests, filter_tests, filter_seconds
        How many boxes the broad phase tested, how many pairs a filter of tighter bounds tested, and the time of these
        tests, which is part of the broad phase [s]; 0 without a filter.
    has_exact_tests
        Whether the narrow phase tested the candidates within the step.
    detected
        What was found; `contacts` and `tally` are read from it.
    """

    frame: int
    dt: float
    time: float
    seconds: Mapping[str, float]
    total_seconds: float
    bodies: int
    pairs: int
    impulses: int
    broad: str
    box_tests: int
    filter_tests: int
    filter_seconds: float
    has_exact_tests: bool
    detected: Detected = field(repr=False)

    def at_rest(self, frame: int, dt: float, time: float) -> StepReport:
        """Return the same report for a later step in which all bodies still sleep."""
        made = StepReport.__new__(StepReport)  # in a tenth of the time of dataclasses.replace
        made.__dict__.update(self.__dict__, frame=frame, dt=dt, time=time, seconds=dict(self.seconds))
        return made

    @property
    def contacts(self) -> int:
        """How many candidates touched at the start of the step."""
        return self.detected.contact_count

    @property
    def counters(self) -> Mapping[str, int]:
        """Amounts of work of the response by name: by ``soft-step``, manifolds solved, found and recycled."""
        return self.detected.counters

    @property
    def tally(self) -> Mapping[str, KindTally]:
        """Tests, contacts and seconds of the narrow phase by pair of kinds, such as ``"sphere-capsule"``."""
        return self.detected.tally

    def __str__(self) -> str:
        stages = ", ".join(f"{stage} {seconds * 1e3:.3f}" for stage, seconds in self.seconds.items())
        return (
            f"Frame {self.frame}: {self.bodies:,} bodies, {self.pairs:,} pairs, {self.contacts:,} contacts, "
            f"{self.impulses:,} impulses in {self.total_seconds * 1e3:.3f} ms ({stages})."
        )
