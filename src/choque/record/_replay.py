"""Playing what was recorded: the same handles as a run, without physics, and in both directions."""

from __future__ import annotations

import math

from choque.errors import InvalidInput
from choque.record._cast import Cast
from choque.record._frames import Frames, Poses


class Replay:
    """Plays `Frames`: a `Recording` or a `SceneDat`.

    It starts paused at frame 0. ``speed`` is how many frames a tick goes: 1 as recorded, −1 backwards, 0.5 at half
    the speed. At either end it holds the frame and stops playing.

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
        """The number of the frame that is shown."""
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
        """Where the bodies are now."""
        return self.frames.frame(self.frame)

    @property
    def cast(self) -> Cast:
        """Who they are."""
        return self.frames.cast(self.frame)

    @property
    def speed(self) -> float:
        """Frames a tick: negative plays backwards."""
        return self._speed

    @speed.setter
    def speed(self, value: float) -> None:
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value == 0:
            raise InvalidInput(f"The speed of a replay is {value!r}; it must be a number other than 0.")
        self._speed = float(value)

    def play(self) -> None:
        """Let ticks move it."""
        self.playing = True

    def pause(self) -> None:
        """Hold this frame."""
        self.playing = False

    def toggle(self) -> None:
        """Play if it is paused, pause if it plays."""
        self.playing = not self.playing

    def tick(self) -> int:
        """Go on by ``speed`` frames if it plays; give the frame that is shown. At an end it holds and pauses."""
        if self.playing:
            self._go(self._place + self._speed)
            if self._place == (self.last_frame if self._speed > 0 else 0):
                self.playing = False
        return self.frame

    def step(self, frames: int = 1) -> int:
        """Pause and go by single ``frames``, negative ones backwards; give the frame that is shown."""
        self.playing = False
        return self.seek(frames)

    def seek(self, by: int) -> int:
        """Go by ``by`` frames (±1, ±60 and ±600 are the keys of the original), no further than either end."""
        self._go(self.frame + _whole("seek", by))
        return self.frame

    def seek_to(self, frame: int) -> int:
        """Go to ``frame``, or to the end that is nearest to it; give the frame that is shown."""
        self._go(_whole("frame", frame))
        return self.frame

    def reset(self) -> None:
        """Go back to the first frame and pause."""
        self._place, self.playing = 0.0, False

    def _go(self, place: float) -> None:
        self._place = min(max(float(place), 0.0), float(self.last_frame))


def _whole(name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInput(f"{name} is {value!r}; it must be a whole number of frames.")
    return value
