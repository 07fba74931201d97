"""Scenes of boxes in motion: ``moving``, ``one-moves``, ``brownian`` and ``free-fall``."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from choque._core import check
from choque.errors import InvalidInput
from choque.files.box_arrays import BoxArrays
from choque.lab.scenes.boxes_at_rest import even_boxes, even_edges
from choque.lab.scenes.density import world_edge_for_density
from choque.lab.scenes.motion import Rows, Travel, bounds, directions, reflected, sizes
from choque.scene.generators import Request

FRAME_SECONDS = 1 / 30


def moving(request: Request, *, step: float = 0.01, overlaps: float = 3.0) -> Travel:
    """Every box travels ``step`` of its size a frame, in a direction of its own, reflected by the walls."""
    step = check.positive(step, "step")
    center, edge, world = even_boxes(request, check.positive(overlaps, "overlaps"))
    heading = directions(request.random(stream=1), request.box_count, request.dimension)
    return Travel(center, edge, step * sizes(edge) * heading, world)


def one_moves(request: Request, *, moving: int = 1, step: float = 0.1, overlaps: float = 3.0) -> Travel:
    """All boxes rest but ``moving`` of them, which travel ``step`` of their size a frame."""
    count = check.whole_number(moving, "moving", 0)
    if count > request.box_count:
        raise InvalidInput(f"moving is {moving}; there are only {request.box_count} boxes.")
    step = check.positive(step, "step")
    center, edge, world = even_boxes(request, check.positive(overlaps, "overlaps"))
    random = request.random(stream=1)
    chosen = random.permutation(request.box_count)[:count]
    velocity = np.zeros_like(center)
    velocity[chosen] = step * sizes(edge)[chosen] * directions(random, count, request.dimension)
    return Travel(center, edge, velocity, world)


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


def free_fall(
    request: Request,
    *,
    density: float = 0.1,
    packing: float = 0.5,
    restitution: float = 0.3,
    gravity: float = 9.81,
    drift: float = 0.5,
) -> FreeFall:
    """Boxes that fill ``density`` of the world fall along the last axis into a heap ``packing`` dense.

    ``gravity`` is in edges per second², a frame is 1/30 s; each bounce keeps ``restitution`` of the speed;
    sideways a box drifts at up to ``drift`` edges per second between the walls until it rests.
    """
    density = check.number(density, "density", 1e-9, 1e3)
    packing = check.number(packing, "packing", density, 1e3)
    restitution = check.number(restitution, "restitution", 0.0, 0.99)
    gravity = check.positive(gravity, "gravity")
    drift = check.number(drift, "drift", 0.0, 1e6)
    random = request.random()
    edge = even_edges(request, random)
    wall = world_edge_for_density(edge, density)
    center = random.random(edge.shape) * wall
    velocity = drift * (2 * random.random(edge.shape) - 1)
    return FreeFall(center, edge, velocity, wall, density / packing, restitution, gravity)


@dataclass(frozen=True, eq=False)
class FreeFall:
    """The motion of `free_fall`, a closed form of time: any frame costs the same.

    Boxes do not push each other. The heap stands in for that: a box that starts at height z comes to rest at
    ``settling`` times z, as if what lies below it carried it, so the order from bottom to top is kept and the
    heap is as dense as it is asked to be.
    """

    center: Rows
    edge: Rows
    velocity: Rows
    wall: float
    settling: float
    restitution: float
    gravity: float

    def frame(self, index: int) -> BoxArrays:
        """Return the bounds at frame ``index``."""
        time = index * FRAME_SECONDS
        height = self.center[:, -1]
        drop = height * (1 - self.settling)
        fall_time = np.sqrt(2 * drop / self.gravity)
        # In units of twice the time of the fall, bounce k lasts restitution^k: a geometric series.
        rest_time = fall_time * (1 + 2 * self.restitution / (1 - self.restitution))
        position = reflected(self.center + np.minimum(time, rest_time)[:, np.newaxis] * self.velocity, self.wall)
        position[:, -1] = height - drop + drop * self._height_left(time, fall_time)
        return bounds(position, self.edge)

    def _height_left(self, time: float, fall_time: Rows) -> Rows:
        """Return the height above the place of rest, (n,), in units of the height of the fall."""
        kept = self.restitution
        # A box without a fall is at rest from the start: its time is infinitely long in its own units.
        own_time = np.divide(time, fall_time, out=np.full_like(fall_time, np.inf), where=fall_time > 0)
        falling = own_time <= 1
        left = np.where(falling, 1 - np.minimum(own_time, 1) ** 2, 0.0)
        if not kept:
            return left
        since_impact = (own_time - 1) / 2
        bouncing = ~falling & (since_impact < kept / (1 - kept))
        since_impact = since_impact[bouncing]
        bounce = np.floor(np.log1p(-since_impact * (1 - kept) / kept) / np.log(kept)) + 1
        duration = kept**bounce
        started = kept * (1 - kept ** (bounce - 1)) / (1 - kept)
        progress = np.clip((since_impact - started) / duration, 0, 1)
        left[bouncing] = 4 * progress * (1 - progress) * duration**2
        return left
