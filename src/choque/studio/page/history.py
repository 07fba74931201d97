"""The past of a live run: kept states, the actions of the page, and the way back to any frame."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

import numpy as np

from choque.errors import InvalidInput
from choque.studio.run import Run
from choque.world import World

MAX_KEPT = 64
"""Maximum number of kept states; when there are more, every second one is dropped, and half as many are kept after."""

FIRST_EVERY = 8
"""At first every eighth state is kept."""

MAX_BYTES = 1 << 27
"""Memory of all kept states, by the arrays of their bodies [bytes]."""

Change = Callable[[World], object]
"""An action of the page on a world: a function of the world alone, so that it can be done again."""


class History:
    """Keeps states of a run, and returns to any frame by simulating from the last kept state before it.

    Actions of the page (`act`) are kept with the frame in which they were done, and done again on the way; so a run
    that goes back passes through the same states, bit for bit, until an action changes its future.

    Parameters
    ----------
    run
        The run; its world is replaced when it goes back.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.restart()

    def restart(self) -> None:
        """Forget everything; the present frame is the first one."""
        world = self.run.world
        self.first = self.last = world.frame
        """The first frame, and the last one that was reached."""
        self._every = FIRST_EVERY
        self._kept: list[World] = [world.copy()]
        self._actions: dict[int, list[Change]] = {}
        self._lengths: list[float] = []  # of every step [s]

    @property
    def kept_count(self) -> int:
        """The number of kept states."""
        return len(self._kept)

    def act(self, change: Change) -> None:
        """Change the world now; what came after the present frame is forgotten."""
        world = self.run.world
        change(world)
        frame = self.last = world.frame
        del self._lengths[frame - self.first :]
        self._kept = [state for state in self._kept if state.frame <= frame]
        self._actions = {at: done for at, done in self._actions.items() if at <= frame}
        self._actions.setdefault(frame, []).append(change)

    def step(self) -> bool:
        """Make one step of the run; return whether the run was in the next frame before and changes are made again."""
        self.run.step()
        self._note()
        return self._redo(self.run.world)

    def seek(self, frame: int) -> None:
        """Return to a frame between the first and the last one, with what was done in it."""
        if not self.first <= frame <= self.last:
            raise InvalidInput(f"Frame {frame} was asked for; the run has been in frames {self.first} to {self.last}.")
        place = bisect_right([state.frame for state in self._kept], frame) - 1
        world = self._kept[place].copy()
        while world.frame < frame:
            self._redo(world)
            world.step(self._lengths[world.frame - self.first])
        self._redo(world)
        self.run.world = world

    def frame_at(self, time: float) -> int | None:
        """Return the first frame at which the world had this time [s], or None if it has not been reached."""
        half = 0.5 * self.run.dt
        reached = self._kept[0].time + np.concatenate(([0.0], np.cumsum(self._lengths)))
        found = int(np.searchsorted(reached, time - half))
        return self.first + found if found < len(reached) else None

    def _redo(self, world: World) -> bool:
        """Do the actions of the present frame again, if there are any: kept states are from before them."""
        changes = self._actions.get(world.frame, ())
        for change in changes:
            change(world)
        return bool(changes)

    def _note(self) -> None:
        world = self.run.world
        if world.frame <= self.last:
            return
        self._lengths.append(world.dt)
        self.last = world.frame
        if (world.frame - self.first) % self._every:
            return
        self._kept.append(world.copy())
        if len(self._kept) > max(2, min(MAX_KEPT, MAX_BYTES // max(bytes_of(world), 1))):
            self._every *= 2
            self._kept = [state for state in self._kept if (state.frame - self.first) % self._every == 0]


def bytes_of(world: World) -> int:
    """Return the memory of the arrays of the bodies of a world [bytes]."""
    return sum(int(getattr(world.bodies, name).nbytes) for name in world.bodies.COLUMNS)
