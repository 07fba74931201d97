"""What drives a world: play, pause, step, slow motion, reset, stop; whoever looks on is told of each frame."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, TypeAlias

from choque.errors import InvalidInput
from choque.world._clock import Clock
from choque.world._compare import Comparison
from choque.world._detection import Detection
from choque.world._report import StepReport
from choque.world._world import World

SLOW_MOTION = 3
"""By how much steps are shorter in slow motion."""

Observer: TypeAlias = Callable[[World, StepReport], object]
"""Called after each frame with the world and the report of the step that led there."""


class Run:
    """A world in motion, which starts paused.

    A loop calls `tick` again and again; keys and buttons call the other methods in between. The step is always ``dt``
    long, however long it takes, so delays change nothing about where things go.

    Parameters
    ----------
    make_world
        What gives the world afresh at each `reset`, or a world, whose present state `reset` comes back to.
    dt
        Seconds of a step; its inverse is the number of frames a second that a clock holds the run to.
    clock
        What paces it; None for as fast as it goes.

    Examples
    --------
    >>> world = choque.World()
    >>> _ = world.add_spheres([0, 10, 0], acceleration=(0, -9.8, 0))
    >>> run = choque.world.Run(world, stop_at=61)
    >>> run.play_to_end()
    >>> run.frame
    60
    """

    def __init__(
        self,
        make_world: Callable[[], World] | World,
        dt: float = 1 / 60,
        clock: Clock | None = None,
        *,
        stop_at: int | None = None,
    ) -> None:
        if isinstance(make_world, World):
            start = make_world.copy()
            self._make_world: Callable[[], World] = start.copy
            self.world = make_world
        elif callable(make_world):
            self._make_world = make_world
            self.world = make_world()
        else:
            raise InvalidInput(f"A {type(make_world).__name__} was given to run; give a world, or what makes one.")
        self.dt = _positive(dt, "dt")
        self.clock = clock
        self.playing = False
        self.slow_motion = False
        """True: steps are a third as long, which changes where things go, as in the original."""
        self.observers: list[Observer] = []
        self.comparison: Comparison | None = None
        """What the latest frame showed while `compare` was on."""
        self._rival: Detection | None = None
        self._speed = 1.0
        self._first_frame = self.world.frame
        self.stop_at = stop_at

    @property
    def frame(self) -> int:
        """The frame that the world is in."""
        return self.world.frame

    @property
    def time(self) -> float:
        """The seconds that the world has lived."""
        return self.world.time

    @property
    def rival(self) -> Detection | None:
        """The second broad phase that looks at the same bodies, to be read; None unless `compare` is on."""
        return self._rival

    @property
    def speed(self) -> float:
        """How many seconds of the world go by in one of the clock's; it does not change where things go."""
        return self._speed

    @speed.setter
    def speed(self, value: float) -> None:
        self._speed = _positive(value, "speed")

    @property
    def stop_at(self) -> int | None:
        """The frame to stop at, the first picture being number 1: after ``stop_at`` − 1 steps. None for never."""
        return self._stop_at

    @stop_at.setter
    def stop_at(self, frame: int | None) -> None:
        if frame is not None and (isinstance(frame, bool) or not isinstance(frame, Integral) or frame < 1):
            raise InvalidInput(f"stop_at is {frame!r}; it must be a whole number of at least 1, or None for never.")
        self._stop_at = None if frame is None else int(frame)

    @property
    def finished(self) -> bool:
        """Whether the frame to stop at is reached."""
        return self._stop_at is not None and self.frame - self._first_frame >= self._stop_at - 1

    def play(self) -> None:
        """Let time go on."""
        self.playing = True

    def pause(self) -> None:
        """Hold time."""
        self.playing = False

    def toggle(self) -> None:
        """Play if it is paused, pause if it plays."""
        self.playing = not self.playing

    def step(self, count: int = 1) -> StepReport | None:
        """Make ``count`` steps now, paused or not; the report of the last one, None if the run is finished already."""
        if isinstance(count, bool) or not isinstance(count, Integral) or count < 1:
            raise InvalidInput(f"count is {count!r}; it must be a whole number of steps, at least 1.")
        report = None
        for _ in range(int(count)):
            if self.finished:
                break
            report = self._step()
        return report

    def tick(self) -> StepReport | None:
        """Go once round the loop: a step if it plays and is not finished, then the wait for the end of the frame."""
        began = 0.0 if self.clock is None else self.clock.now()
        report = self._step() if self.playing and not self.finished else None
        if self.clock is not None:
            self.clock.wait_until(began + self.dt / self._speed)
        return report

    def play_to_end(self) -> None:
        """Play until the frame to stop at."""
        if self._stop_at is None:
            raise InvalidInput("This run has no end; set stop_at, or make steps with step.")
        self.play()
        while not self.finished:
            self.tick()

    def reset(self) -> None:
        """Go back to the beginning, paused; methods are those of the beginning again."""
        self.world = self._make_world()
        self._first_frame = self.world.frame
        self.playing = False
        self.comparison = None

    def switch(self, broad: str | None = None, **choice: Any) -> None:
        """Go on by other methods from the same state; see `World.switch`."""
        self.world.switch(broad, **choice)

    def compare(self, broad: str | None, *, bounds: str | None = None, **options: Any) -> None:
        """Let a second broad phase look at the same bodies at every step from now on; None ends it.

        Both times, both pairs, and whether these differ, are in `comparison` after each frame. The second changes
        nothing about the run.
        """
        self._rival = None if broad is None else self.world.rival(broad, bounds=bounds, **options)
        self.comparison = None

    def _step(self) -> StepReport:
        world = self.world
        frame = world.frame
        exact = not world.response.needs_candidates  # both put off what the response tests itself
        second = None if self._rival is None else self._rival.find(world.bodies, exact=exact)
        report = world.step(self.dt / SLOW_MOTION if self.slow_motion else self.dt)
        if self._rival is not None and second is not None and world._latest is not None:
            methods = (world.settings.broad, self._rival.settings.broad)
            self.comparison = Comparison.of(frame, methods, world._latest, second)
        for observe in self.observers:
            observe(world, report)
        return report


def _positive(value: float, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < math.inf:
        raise InvalidInput(f"{name} is {value!r}; it must be a number greater than 0.")
    return float(value)
