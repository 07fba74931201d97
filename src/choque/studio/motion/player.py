"""Playback of moving polygons: by time, frame by frame, or event by event, forward and backward."""

from __future__ import annotations

import math
from dataclasses import dataclass

from choque.errors import InvalidInput
from choque.kinetic import Event, Sweep
from choque.kinetic.results import Meeting
from choque.studio.motion.state import MotionState, state_of
from choque.theses.kinetic import Model

_FIRST_LOOK_BACK = 1e-4
"""The share of the interval that is searched first for the previous event."""


@dataclass(frozen=True)
class Instant:
    """Everything that happens at one time."""

    time: float
    meetings: list[Meeting]
    """End points that meet, by axis and place."""
    events: list[Event]
    """Pairs of boxes that begin or cease to overlap."""


class MotionPlayer:
    """A model and the kinetic sweep over it, at any time of its interval.

    Going forward continues the sweep, going back starts a new one. At the time of an event the state is the one just
    after it.

    Parameters
    ----------
    model
        The moving polygons.
    frames_per_second
        Frame rate for steps by frames; None for that of the model.
    """

    def __init__(self, model: Model, *, frames_per_second: float | None = None) -> None:
        self.model = model
        self.latest: Instant | None = None
        """The event of the latest step; None after any other move."""
        self._frames_per_second = model.frames_per_second
        if frames_per_second is not None:
            self.frames_per_second = frames_per_second
        self.sweep: Sweep = model.sweep()

    @property
    def time(self) -> float:
        """The present time."""
        return self.sweep.time

    @property
    def frames_per_second(self) -> float:
        """The frame rate."""
        return self._frames_per_second

    @frames_per_second.setter
    def frames_per_second(self, rate: float) -> None:
        if not (math.isfinite(rate) and rate > 0):
            raise InvalidInput(f"The frames per second are {rate!r}; give a number above 0.")
        self._frames_per_second = float(rate)

    @property
    def frame(self) -> int:
        """The frame at the present time, or the last one before."""
        return math.floor((self.time - self.model.interval[0]) * self._frames_per_second + 1e-9)

    @property
    def last_frame(self) -> int:
        """The last frame within the interval."""
        return math.floor(self.model.duration * self._frames_per_second + 1e-9)

    def time_of(self, frame: int) -> float:
        """Return the time of a frame, within the interval."""
        begin, end = self.model.interval
        return min(max(begin + frame / self._frames_per_second, begin), end)

    def state(self) -> MotionState:
        """Return the present state."""
        return state_of(self.model, self.sweep)

    def seek(self, time: float) -> None:
        """Go to a time, clamped to the interval."""
        begin, end = self.model.interval
        if math.isnan(time):
            raise InvalidInput("The time to go to is not a number.")
        wanted = min(max(time, begin), end)
        self.latest = None
        if wanted < self.time:
            self.sweep = self.model.sweep()
        self.sweep.advance(wanted)

    def to_frame(self, frame: int) -> None:
        """Go to a frame, clamped to the interval."""
        self.seek(self.time_of(frame))

    def next_event(self) -> Instant | None:
        """Go to the next time at which end points meet; None, at the end of the interval, when none is left."""
        end = self.model.interval[1]
        if self.sweep.next_time > end:
            self.seek(end)
            return None
        self.latest = self._step(self.sweep)
        return self.latest

    def previous_event(self) -> Instant | None:
        """Go to the latest time before the present at which end points met; None, at the start, when there is none.

        Searches longer and longer stretches, so that few events are stepped through one by one.
        """
        begin, now = self.model.interval[0], self.time
        stretch = self.model.duration * _FIRST_LOOK_BACK
        while True:
            sweep = self.model.sweep()
            if now - stretch <= begin:
                break
            sweep.advance(now - stretch)
            if sweep.next_time < now:
                break
            stretch *= 4.0
        found = None
        while sweep.next_time < now:
            found = self._step(sweep)
        if found is None:
            self.seek(begin)
            return None
        self.sweep, self.latest = sweep, found
        return found

    def _step(self, sweep: Sweep) -> Instant:
        events = sweep.advance(sweep.next_time, stop="instant")
        return Instant(sweep.time, list(sweep.meetings), list(events))
