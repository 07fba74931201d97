"""What a step did and what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from choque.world._cost import Cost

STAGES = ("bounds", "broad", "narrow", "response", "integrate")
"""The stages of a step, in their order."""


@dataclass(frozen=True)
class StepReport:
    """One step: how long each stage took, and how much there was to do.

    Attributes
    ----------
    frame
        The frame that the step led to.
    seconds
        By stage, in the order of the stages.
    total_seconds
        From beginning to end.
    bodies, pairs, contacts, impulses
        How many: candidates of the broad phase, which are the exact tests, then contacts, then impulses.
    tally
        By pair of kinds, such as ``("sphere", "capsule")``: what the narrow phase says of tests, contacts and seconds.
    cost
        The cost model of the step.
    """

    frame: int
    seconds: Mapping[str, float]
    total_seconds: float
    bodies: int
    pairs: int
    contacts: int
    impulses: int
    tally: Any = field(repr=False)
    cost: Cost = field(repr=False)

    def __str__(self) -> str:
        stages = ", ".join(f"{stage} {seconds * 1e3:.3f}" for stage, seconds in self.seconds.items())
        return (
            f"Frame {self.frame}: {self.bodies:,} bodies, {self.pairs:,} pairs, {self.contacts:,} contacts, "
            f"{self.impulses:,} impulses in {self.total_seconds * 1e3:.3f} ms ({stages})."
        )
