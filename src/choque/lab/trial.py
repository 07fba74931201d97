"""What is measured: work that can be done again and again, and an answer that can be checked."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping

from choque.lab.stopwatch import Clock, Stopwatch
from choque.lab.verdict import Verdict


class CutOff(Exception):
    """Raised by a rehearsal that finds the work too long for the time allowed; its text says how long."""


class Trial(ABC):
    """One cell of a study, made ready: a study's file turns parameters into one of these.

    Only `run` must be written. Whatever is made in the constructor (the scene, the bodies) is not timed.
    """

    name: str = "trial"
    """What progress and notes call it."""
    clock: Clock = staticmethod(time.perf_counter)
    """Where seconds come from."""

    @abstractmethod
    def run(self, watch: Stopwatch) -> None:
        """Do all of the work once, and charge every part of it to a stage by ``watch.lap``."""

    def prepare(self) -> None:  # noqa: B027
        """Get ready for a turn, untimed: whoever comes after others finds cold caches and sleeping threads."""

    def release(self) -> None:  # noqa: B027
        """Let go of what the last run left; called after each, untimed, as freeing is no stage of the work."""

    def warm_up(self, patience: float) -> None:  # noqa: ARG002
        """Warm up, untimed; raise `CutOff` when one run would take more than ``patience`` seconds."""
        self.run(Stopwatch(self.clock))

    def check(self) -> Verdict:
        """Judge the answer of the last run against an oracle; not timed."""
        return Verdict("unchecked")

    def counters(self) -> Mapping[str, int | float]:
        """What one run counted: figures without a clock in them, on which two runs can be compared."""
        return {}

    def facts(self) -> Mapping[str, int | float | str]:
        """What is worth knowing about the work itself, such as the density of its scene."""
        return {}
