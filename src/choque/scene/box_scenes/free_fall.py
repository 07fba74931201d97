"""``free-fall``: boxes that drop, bounce and come to rest in a heap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from choque._core import check
from choque.files.box_arrays import BoxArrays
from choque.scene.box_scenes.density import world_edge_for_density
from choque.scene.box_scenes.motion import Rows, bounds, reflected
from choque.scene.box_scenes.uniform import even_edges
from choque.scene.generators import Request

FRAME_SECONDS = 1 / 30


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
