"""``brownian``: boxes that change their direction at random."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from choque._core import check
from choque.files.box_arrays import BoxArrays
from choque.scene.box_scenes.density import world_edge_for_density
from choque.scene.box_scenes.motion import Rows, bounds, directions, reflected, sizes
from choque.scene.box_scenes.uniform import even_edges
from choque.scene.generators import Request


def brownian(request: Request, *, step: float = 0.01, cycle: int = 100, density: float = 0.1) -> Brownian:
    """Each box gets a fresh velocity once in every ``cycle`` of frames, at a moment of its own.

    A box moves 0.5 to 1.5 times ``step`` of its size a frame, between walls; the boxes fill ``density`` of
    the world. The scene is that of Serpa and Rodrigues (Broadmark, Computer Graphics Forum 39(1), 2020).
    """
    step = check.positive(step, "step")
    cycle = check.whole_number(cycle, "cycle", 1)
    density = check.number(density, "density", 1e-9, 1e3)
    random = request.random()
    edge = even_edges(request, random)
    wall = world_edge_for_density(edge, density)
    center = random.random(edge.shape) * wall
    moment = random.integers(cycle, size=(request.box_count, 1))
    return Brownian(request, center, edge, step * sizes(edge), moment, cycle, wall)


@dataclass(frozen=True, eq=False)
class _Cycle:
    """Unfolded positions at the start of a cycle, and the velocities before and after each box's moment."""

    number: int
    start: Rows
    before: Rows
    after: Rows


@dataclass(eq=False)
class Brownian:
    """The motion of `brownian`, cycle by cycle.

    A frame costs one expression; a new cycle costs new velocities for all boxes. The latest cycle is kept, so
    going forward draws each cycle once, and going back starts again from the first.
    """

    request: Request
    center: Rows
    edge: Rows
    reach: Rows
    moment: NDArray[np.int64]
    length: int
    wall: float
    _latest: _Cycle | None = field(default=None, repr=False)

    def frame(self, index: int) -> BoxArrays:
        """Return the bounds at frame ``index``."""
        number, elapsed = divmod(index, self.length)
        cycle = self._cycle(number)
        position = (
            cycle.start
            + np.minimum(elapsed, self.moment) * cycle.before
            + np.maximum(elapsed - self.moment, 0) * cycle.after
        )
        return bounds(reflected(position, self.wall), self.edge)

    def _cycle(self, number: int) -> _Cycle:
        cycle = self._latest
        if cycle is None or cycle.number > number:
            cycle = _Cycle(0, self.center, self._velocity(0), self._velocity(1))
        while cycle.number < number:
            end = cycle.start + self.moment * cycle.before + (self.length - self.moment) * cycle.after
            cycle = _Cycle(cycle.number + 1, end, cycle.after, self._velocity(cycle.number + 2))
        self._latest = cycle
        return cycle

    def _velocity(self, draw: int) -> Rows:
        random = self.request.random(stream=draw + 1)
        heading = directions(random, self.request.box_count, self.request.dimension)
        return heading * self.reach * (0.5 + random.random((self.request.box_count, 1)))
