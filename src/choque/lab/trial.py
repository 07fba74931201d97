"""Trials: work that can be repeated, with an answer that can be checked."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping

from choque.lab.stopwatch import Clock, Stopwatch
from choque.lab.verdict import Verdict


class CutOff(Exception):
    """Raised by a warm-up if the work would take longer than allowed; its text says how long."""


class Trial(ABC):
    """One prepared cell of a study; a study's file makes it from parameters.

    Only `run` must be written. What the constructor makes (the scene, the bodies) is not timed.
    """

    name: str = "trial"
    """Its name in progress and notes."""
    clock: Clock = staticmethod(time.perf_counter)
    """Where seconds come from."""

    @abstractmethod
    def run(self, watch: Stopwatch) -> None:
        """Do all of the work once, and assign every part of it to a stage by ``watch.lap``."""

    def prepare(self) -> None:  # noqa: B027
        """Get ready for a turn, untimed: after other trials, caches are cold and threads sleep."""

    def release(self) -> None:  # noqa: B027
        """Free what the last run left; called after each run, untimed."""

    def warm_up(self, patience: float) -> None:  # noqa: ARG002
        """Warm up, untimed; raise `CutOff` when one run would take more than ``patience`` seconds."""
        self.run(Stopwatch(self.clock))

    def check(self) -> Verdict:
        """Judge the answer of the last run against an oracle; not timed."""
        return Verdict("unchecked")

    def counters(self) -> Mapping[str, int | float]:
        """Return what one run counted: figures that do not depend on a clock, by which two runs can be compared."""
        return {}

    def facts(self) -> Mapping[str, int | float | str]:
        """Return facts about the work, such as the density of its scene."""
        return {}
