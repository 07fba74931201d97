"""Worlds of rigid bodies: the state as arrays, the steps, their reports, and what drives them."""

from __future__ import annotations

from choque.world._bodies import Bodies
from choque.world._bounds import bounds_names
from choque.world._clock import Clock, VirtualClock, WallClock
from choque.world._compare import Comparison
from choque.world._cost import Cost
from choque.world._report import StepReport
from choque.world._run import Run
from choque.world._world import World

__all__ = [
    "Bodies",
    "Clock",
    "Comparison",
    "Cost",
    "Run",
    "StepReport",
    "VirtualClock",
    "WallClock",
    "World",
    "bounds_names",
]
