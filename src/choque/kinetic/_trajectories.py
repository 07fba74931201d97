"""Where a point on a line is as a function of time, and when two such points meet.

These classes are for single points and for checking: they compute with whatever numbers they are given, so that
constant and linear motions of `fractions.Fraction` have exact meetings. Structures hold many trajectories as arrays,
see `choque.kinetic._certificates`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Trajectory:
    """position + velocity·t + acceleration·t²/2, with t = 0 at the start of the clock."""

    position: Any
    velocity: Any = 0
    acceleration: Any = 0

    def at(self, time: Any) -> Any:
        """The position at ``time``."""
        return self.position + self.velocity * time + self.acceleration * time * time / 2

    def velocity_at(self, time: Any) -> Any:
        """The velocity at ``time``."""
        return self.velocity + self.acceleration * time

    def meetings(self, other: Trajectory) -> tuple[Any, ...]:
        """All times, ascending, at which the two are at one place; none if they always are."""
        gap, slope = other.position - self.position, other.velocity - self.velocity
        curve = other.acceleration - self.acceleration
        if curve == 0:
            return () if slope == 0 else (-gap / slope,)
        square = slope * slope - 2 * curve * gap
        if square < 0:
            return ()
        if square == 0:
            return (-slope / curve,)
        # The root of larger size first, the other by Vieta: no difference of nearly equal numbers.
        larger = -(slope + math.copysign(math.sqrt(square), slope))
        first, second = larger / curve, 2 * gap / larger if larger else 0.0
        return (first, second) if first < second else (second, first)

    def failure(self, right: Trajectory, now: Any = 0) -> Any | None:
        """When the certificate "``self`` is at most ``right``", true at ``now``, fails; None if never.

        It fails where they meet and ``right`` is the slower one, in velocity or, at equal velocities, in acceleration.
        """
        for time in self.meetings(right):
            slope = right.velocity_at(time) - self.velocity_at(time)
            if time >= now and slope < 0:
                return time
        return None


def constant(position: Any) -> Trajectory:
    """A point at rest."""
    return Trajectory(position)


def linear(position: Any, velocity: Any) -> Trajectory:
    """A point of constant velocity."""
    return Trajectory(position, velocity)


def quadratic(position: Any, velocity: Any, acceleration: Any) -> Trajectory:
    """A point of constant acceleration, such as a ball under gravity."""
    return Trajectory(position, velocity, acceleration)
