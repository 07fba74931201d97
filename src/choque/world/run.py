"""Runs of a world: play, pause, step, reset and stop; the clocks that pace them, and warming up before them."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from itertools import product
from typing import Any, Protocol, TypeAlias

import numpy as np

from choque._core import check
from choque.errors import ChoqueError, InvalidInput
from choque.world._world import World
from choque.world.detection import Detection
from choque.world.report import Comparison, StepReport

SLOW_MOTION = 3  # in slow motion a step is this many times shorter
BODIES_OF_EACH_KIND = 2  # two bodies of each kind cover every pair of kinds, including that of a kind with itself

WARM_UP_STEPS = 4
"""The first step builds the structures of the broad phase; in the others, bodies collide, rebound and separate."""

Observer: TypeAlias = Callable[[World, StepReport], object]
"""Called after each step with the world and the report of the step."""


class Clock(Protocol):
    """A clock that paces a run."""

    def now(self) -> float:
        """Return the seconds since a fixed moment."""
        ...

    def wait_until(self, moment: float) -> None:
        """Return when the clock shows ``moment``, at once if it is past."""
        ...


class WallClock:
    """The clock of the machine; waiting means sleeping."""

    def now(self) -> float:
        """Return the seconds since a fixed moment."""
        return time.perf_counter()

    def wait_until(self, moment: float) -> None:
        """Sleep until ``moment``."""
        remaining = moment - time.perf_counter()
        if remaining > 0:
            time.sleep(remaining)


class Run:
    """A run of a world, paused at first.

    A loop calls `tick` repeatedly; keys and buttons call the other methods in between. Every step has the length
    ``dt``, regardless of how long it takes to compute, so delays do not change the simulation.

    Parameters
    ----------
    make_world
        A function that makes the world, called again by `reset`; or a world, whose present state `reset` restores.
    dt
        Length of a step [s]; a clock holds the run to 1 / ``dt`` frames per second.
    clock
        The clock that paces the run; None for maximum speed.
    stop_at
        See `Run.stop_at`.

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
        *,
        dt: float = 1 / 60,
        clock: Clock | None = None,
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
            raise InvalidInput(
                f"A {type(make_world).__name__} was given to run; give a world, or a function that makes one."
            )
        self.dt = check.positive(dt, "dt")
        self.clock = clock
        self.playing = False
        self.slow_motion = False
        """True: steps are a third as long, which changes the simulation."""
        self.observers: list[Observer] = []
        self.comparison: Comparison | None = None
        """The comparison of the latest frame, while `compare` is on."""
        self._shadow: Detection | None = None
        self._plain: Detection | None = None
        self._speed = 1.0
        self._due: float | None = None  # when the latest frame had to end, by the clock
        self._first_frame = self.world.frame
        self.stop_at = stop_at

    @property
    def frame(self) -> int:
        """The present frame of the world."""
        return self.world.frame

    @property
    def time(self) -> float:
        """The simulated time of the world [s]."""
        return self.world.time

    @property
    def shadow(self) -> Detection | None:
        """The second detection on the same bodies, for reading; None unless `compare` is on."""
        return self._shadow

    @property
    def speed(self) -> float:
        """Simulated seconds per second of the clock; it does not change the simulation."""
        return self._speed

    @speed.setter
    def speed(self, value: float) -> None:
        self._speed = check.positive(value, "speed")

    @property
    def stop_at(self) -> int | None:
        """The frame to stop at, counted from 1, so after ``stop_at`` − 1 steps; None for no end."""
        return self._stop_at

    @stop_at.setter
    def stop_at(self, frame: int | None) -> None:
        self._stop_at = None if frame is None else check.whole_number(frame, "stop_at", 1, otherwise="None for no end")

    @property
    def finished(self) -> bool:
        """Whether the frame to stop at is reached."""
        return self._stop_at is not None and self.frame - self._first_frame >= self._stop_at - 1

    def play(self) -> None:
        """Let `tick` make steps."""
        self.playing = True

    def pause(self) -> None:
        """Keep `tick` from making steps."""
        self.playing = False

    def toggle(self) -> None:
        """Play if paused, pause if playing."""
        self.playing = not self.playing

    def step(self, count: int = 1) -> StepReport | None:
        """Make ``count`` steps, paused or not; return the report of the last one, None if the run is finished."""
        report = None
        for _ in range(check.whole_number(count, "count", 1)):
            if self.finished:
                break
            report = self._step()
        return report

    def tick(self) -> StepReport | None:
        """Make a step if the run is playing and not finished, then wait for the end of the frame.

        Frames end at equal distances of the clock: a wait that ends late shortens the next one. A run that is behind by
        a whole frame or more does not catch up.
        """
        now = 0.0 if self.clock is None else self.clock.now()
        report = self._step() if self.playing and not self.finished else None
        if self.clock is not None:
            length = self.dt / self._speed
            began = self._due if self._due is not None and 0.0 <= now - self._due < length else now
            self._due = began + length
            self.clock.wait_until(self._due)
        return report

    def play_to_end(self) -> None:
        """Play until the frame to stop at."""
        if self._stop_at is None:
            raise InvalidInput("This run has no end; set stop_at, or make steps with step.")
        self.play()
        while not self.finished:
            self.tick()

    def reset(self) -> None:
        """Return to the first state and its methods, and pause."""
        self.world = self._make_world()
        self._first_frame = self.world.frame
        self.playing = False
        self.comparison = None

    def switch(self, broad: str | None = None, **choice: Any) -> None:
        """Continue from the same state with other methods; see `World.switch`."""
        self.world.switch(broad, **choice)

    def compare(self, broad: str | None, *, bounds: str | None = None, **options: Any) -> None:
        """Run a second detection on the same bodies at every step from now on; None ends it.

        `comparison` then holds both times, both pairs, and whether they differ. The second detection does not affect
        the run.
        """
        self._shadow = None if broad is None else self.world.shadow(broad, bounds=bounds, **options)
        self.comparison = None

    def _without_skin(self) -> Detection:
        """Return a detection with the methods of the world, kept while these stay the same."""
        if self._plain is None or self._plain.settings is not self.world.settings:
            self._plain = Detection(self.world.settings)
        return self._plain

    def _step(self) -> StepReport:
        world = self.world
        frame = world.frame
        exact = not world.response.needs_candidates  # both skip the tests that the response makes itself
        dt = self.dt / SLOW_MOTION if self.slow_motion else self.dt
        first = second = None
        if self._shadow is not None:
            ahead = world.bodies_ahead(dt)
            second = self._shadow.find(ahead, exact=exact)
            if (
                world.response.has_skin
            ):  # candidates within wider bounds, and contacts ahead of time, compare with nothing
                first = self._without_skin().find(ahead, exact=exact)
        report = world.step(dt)
        if self._shadow is not None and second is not None:
            methods = (world.settings.broad, self._shadow.settings.broad)
            self.comparison = Comparison.of(frame, methods, first or report.detected, second)
        for observe in self.observers:
            observe(world, report)
        return report


def warm_up(world: World, dt: float = 1 / 60) -> None:
    """Run the methods of ``world`` once, so that no step that is timed later compiles or loads a kernel.

    Calls `warm_up_kinds`, then steps a copy of the whole world, for what depends on the number of bodies. The world
    itself does not change: its states are the same, bit for bit, with or without this call.
    """
    warm_up_kinds(world, dt)
    _make_steps(world.copy(), dt)


def warm_up_kinds(world: World, dt: float = 1 / 60) -> None:
    """Collide a few bodies of each kind of ``world`` in a small world; the cost does not depend on its size.

    Every pair of kinds is tested, touches and is resolved.
    """
    if len(world):
        _make_steps(_collided_sample(world, dt), dt)


def _make_steps(world: World, dt: float) -> None:
    # An error here is not reported: the run itself raises it if it gets that far.
    with suppress(ChoqueError):
        for _ in range(WARM_UP_STEPS):
            world.step(dt)


def _collided_sample(world: World, dt: float) -> World:
    """A few bodies of each kind, static and not, at one place, separating by half their size a step."""
    bodies = world.bodies
    chosen = np.zeros(len(bodies), bool)
    for kind, static in product(np.unique(bodies.kind).tolist(), (False, True)):
        chosen[np.flatnonzero((bodies.kind == kind) & (bodies.static == static))[:BODIES_OF_EACH_KIND]] = True
    small = world.copy()
    small.remove(bodies.ids[~chosen])
    random = np.random.default_rng(0)
    sample = small.bodies
    sizes = sample.size[sample.size > 0]
    reach = float(sizes.min()) if len(sizes) else 1.0
    sample.position[:] = random.uniform(-0.3, 0.3, sample.position.shape) * reach
    sample.velocity[~sample.static] = random.uniform(-0.5, 0.5, (int((~sample.static).sum()), 3)) * reach / dt
    return small
