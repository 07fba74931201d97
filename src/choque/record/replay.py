"""Replaying recorded frames: the same controls as a run, without physics, in both directions."""

from __future__ import annotations

import math

from choque._core import check
from choque.errors import InvalidInput
from choque.record.frames import BodyTable, Frames, Poses


class Replay:
    """Plays `Frames`, such as those of a `Recording`.

    It starts paused at frame 0. ``speed`` is the number of frames per tick: 1 as recorded, −1 backwards, 0.5 at half
    the speed. At either end it pauses.

    >>> replay = Replay(recording)                                          # doctest: +SKIP
    >>> replay.seek(+600); replay.play(); replay.tick(); replay.poses       # doctest: +SKIP
    """

    def __init__(self, frames: Frames) -> None:
        if frames.frame_count < 1:
            raise InvalidInput(f"The recording {frames.name!r} has no frames to play.")
        self.frames = frames
        self.playing = False
        self._speed = 1.0
        self._place = 0.0

    @property
    def frame(self) -> int:
        """The number of the present frame."""
        return math.floor(self._place)

    @property
    def last_frame(self) -> int:
        """The number of the last frame."""
        return self.frames.frame_count - 1

    @property
    def time(self) -> float:
        """Seconds since the first frame, at the speed of the recording."""
        return self.frame / self.frames.frames_per_second

    @property
    def poses(self) -> Poses:
        """The poses of the present frame."""
        return self.frames.frame(self.frame)

    @property
    def bodies(self) -> BodyTable:
        """The bodies of the present frame."""
        return self.frames.bodies(self.frame)

    @property
    def speed(self) -> float:
        """Frames per tick; negative plays backwards."""
        return self._speed

    @speed.setter
    def speed(self, value: float) -> None:
        if not check.is_number(value) or not math.isfinite(value) or value == 0:
            raise InvalidInput(f"The speed of a replay is {value!r}; it must be a number other than 0.")
        self._speed = float(value)

    def play(self) -> None:
        """Let `tick` change the frame."""
        self.playing = True

    def pause(self) -> None:
        """Keep `tick` from changing the frame."""
        self.playing = False

    def toggle(self) -> None:
        """Play if paused, pause if playing."""
        self.playing = not self.playing

    def tick(self) -> int:
        """Move by ``speed`` frames if playing, pausing at either end; return the present frame."""
        if self.playing:
            self._go(self._place + self._speed)
            if self._place == (self.last_frame if self._speed > 0 else 0):
                self.playing = False
        return self.frame

    def step(self, frames: int = 1) -> int:
        """Pause and move by ``frames``, backwards if negative; return the present frame."""
        self.playing = False
        return self.seek(frames)

    def seek(self, by: int) -> int:
        """Move by ``by`` frames, no further than either end; return the present frame."""
        self._go(self.frame + check.whole_number(by, "by"))
        return self.frame

    def seek_to(self, frame: int) -> int:
        """Move to ``frame``, or to the nearest end; return the present frame."""
        self._go(check.whole_number(frame, "frame"))
        return self.frame

    def reset(self) -> None:
        """Return to the first frame and pause."""
        self._place, self.playing = 0.0, False

    def _go(self, place: float) -> None:
        self._place = min(max(float(place), 0.0), float(self.last_frame))
