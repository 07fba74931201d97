"""What a step did and what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from choque.narrow.phase import KindTally
from choque.world._cost import Cost
from choque.world._detection import Detected

STAGES = ("bounds", "broad", "narrow", "response", "integrate")
"""The stages of a step, in their order."""


@dataclass(frozen=True)
class StepReport:
    """One step: how long each stage took, and how much there was to do.

    A response that makes exact tests itself leaves none to the narrow phase: then ``contacts`` and ``tally`` are found
    when they are first asked for, on the poses in which the step began, and their time is in no stage. A report that is
    kept and never asked keeps these poses.

    Attributes
    ----------
    frame
        The frame that the step led to.
    seconds
        By stage, in the order of the stages.
    total_seconds
        From beginning to end.
    bodies, pairs, impulses
        How many: candidates of the broad phase, which are the exact tests, and impulses.
    detected
        What was found; `contacts` and `tally` are read from it.
    cost
        The cost model of the step; exact tests of the response are part of its stage and not counted here.
    """

    frame: int
    seconds: Mapping[str, float]
    total_seconds: float
    bodies: int
    pairs: int
    impulses: int
    detected: Detected = field(repr=False)
    cost: Cost = field(repr=False)

    @property
    def contacts(self) -> int:
        """How many candidates touched as the step began."""
        return len(self.detected.contacts)

    @property
    def tally(self) -> Mapping[str, KindTally]:
        """By pair of kinds, such as ``"sphere-capsule"``: what the narrow phase says of tests, contacts and seconds."""
        return self.detected.tally

    def __str__(self) -> str:
        stages = ", ".join(f"{stage} {seconds * 1e3:.3f}" for stage, seconds in self.seconds.items())
        return (
            f"Frame {self.frame}: {self.bodies:,} bodies, {self.pairs:,} pairs, {self.contacts:,} contacts, "
            f"{self.impulses:,} impulses in {self.total_seconds * 1e3:.3f} ms ({stages})."
        )
