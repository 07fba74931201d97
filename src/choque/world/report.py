"""What a step found, and how long each stage took."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from choque._core.pair_sets import difference
from choque._core.types import Pairs
from choque.narrow.phase import KindTally

if TYPE_CHECKING:
    from choque.world.detection import Detected

STAGES = ("bounds", "broad", "narrow", "response", "integrate")  # the stages of a step, in their order


@dataclass(frozen=True)
class StepReport:
    """One step: the time of each stage, and the amount of work.

    A response that makes exact tests itself leaves none to the narrow phase. Then ``contacts`` and ``tally`` are
    computed when they are first read, in the poses before the step, and their time belongs to no stage. Until then
    the report keeps a copy of these poses.

    Attributes
    ----------
    frame
        The number of the frame after the step.
    dt, time
        The length of the step, and the time of the world after it [s].
    seconds
        The time of each stage, in the order of the stages [s].
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


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two choices of methods on the same bodies in one frame.

    Attributes
    ----------
    frame
        The frame whose bodies were tested.
    methods
        The names of both broad phases.
    seconds
        Time of bounds, broad phase and narrow phase together [s].
    pairs, contacts
        How many candidates and contacts each of them found.
    only_first, only_second
        (k, 2) int32 rows of bodies: candidates that only one of them found.
    contacts_differ
        Whether they found different contacts, which is always an error.
    """

    frame: int
    methods: tuple[str, str]
    seconds: tuple[float, float]
    pairs: tuple[int, int]
    contacts: tuple[int, int]
    only_first: Pairs
    only_second: Pairs
    contacts_differ: bool

    @classmethod
    def of(cls, frame: int, methods: tuple[str, str], first: Detected, second: Detected) -> Comparison:
        """Compare the results of two detections."""
        change = difference(first.pairs, second.pairs)
        return cls(
            frame=frame,
            methods=methods,
            seconds=(sum(first.seconds), sum(second.seconds)),
            pairs=(len(first.pairs), len(second.pairs)),
            contacts=(len(first.contacts), len(second.contacts)),
            only_first=change.ended,
            only_second=change.began,
            contacts_differ=not np.array_equal(first.contacts.pairs, second.contacts.pairs),
        )

    @property
    def pairs_differ(self) -> bool:
        """Whether their candidates differ: expected for different bounds, an error for equal ones."""
        return bool(len(self.only_first) or len(self.only_second))

    def __str__(self) -> str:
        first, second = self.methods
        lines = f"{first} took {self.seconds[0] * 1e3:.3f} ms, {second} {self.seconds[1] * 1e3:.3f} ms; "
        if not self.pairs_differ:
            lines += f"the same {self.pairs[0]:,} pairs."
        else:
            lines += (
                f"{self.pairs[0]:,} and {self.pairs[1]:,} pairs, of which {len(self.only_first):,} and "
                f"{len(self.only_second):,} were found by one only."
            )
        return f"{lines} CONTACTS DIFFER." if self.contacts_differ else lines
