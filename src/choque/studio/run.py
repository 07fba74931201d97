"""Runs of a world: play, pause, step, reset, stop and compare methods; and the clocks that pace them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

from choque._core import check
from choque._core.pair_sets import difference
from choque._core.types import Pairs
from choque.errors import InvalidInput
from choque.world import StepReport, World
from choque.world.detection import Detected, Detection

SLOW_MOTION = 3  # in slow motion a step is this many times shorter

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
    >>> run = choque.studio.Run(world, stop_at=61)
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
                f"What to run is of type {type(make_world).__name__}; give a world, or a function that makes one."
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
    def first_frame(self) -> int:
        """The frame of the world in which the run began."""
        return self._first_frame

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
