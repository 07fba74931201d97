"""``arena``: spheres that cross a cube and are reflected by its walls, as in the thesis on areas of interest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core import check
from choque.errors import InvalidInput, UnknownName
from choque.files.box_arrays import BoxArrays
from choque.lab.scenes.motion import Rows, directions
from choque.scene.generators import Request

START = ("dense", "sparse")
SPEED_RULES = ("raw", "normalised")
PULSE_FRAMES = 50
SWING_FRAMES = 80


def arena(
    request: Request,
    *,
    start: str = "dense",
    edge: float = 4.0,
    smallest: float = 0.01,
    largest: float = 0.1,
    speed: float = 0.01,
    speed_rule: str = "raw",
    speed_spread: float = 0.0,
    links: int = 1,
    pulse: float = 0.0,
    resting: float = 0.0,
    dense_steps: int = 500,
) -> Arena:
    """Spheres in a cube of ``edge``, with radii even from ``smallest`` to ``largest`` shares of it.

    ``start`` "dense": all at the center, and confined to the inner cube of half the edge. "sparse": where the dense
    scene is after ``dense_steps``, and from there free in the whole cube. ``speed_rule`` "raw": each component of a
    step is even in ± ``speed``, so that speeds differ; "normalised": every step is ``speed`` long. ``speed_spread``
    makes a body up to that share faster or slower. ``links`` spheres make a chain that bends while it moves, in all
    poses inside the sphere that one body would be. ``pulse`` is the share by which radii shrink and swell.
    ``resting`` is the share of bodies that never move, placed evenly.
    """
    if start not in START:
        raise UnknownName("start of the arena", str(start), START)
    if speed_rule not in SPEED_RULES:
        raise UnknownName("rule of speeds", str(speed_rule), SPEED_RULES)
    edge = check.positive(edge, "edge")
    largest = check.number(largest, "largest", 1e-6, 0.2)
    smallest = check.number(smallest, "smallest", 1e-6, largest)
    speed = check.positive(speed, "speed")
    speed_spread = check.number(speed_spread, "speed_spread", 0.0, 1.0)
    links = check.whole_number(links, "links", 1)
    pulse = check.number(pulse, "pulse", 0.0, 0.9)
    resting = check.number(resting, "resting", 0.0, 1.0)
    dense_steps = check.whole_number(dense_steps, "dense_steps", 0)

    random = request.random()
    body_count = -(-request.box_count // links)
    shape = (body_count, request.dimension)
    reach = random.uniform(smallest * edge, largest * edge, body_count)
    if speed_rule == "raw":
        velocity = speed * random.uniform(-1.0, 1.0, shape)
    else:
        velocity = speed * directions(random, *shape)
    velocity *= 1.0 + random.uniform(-speed_spread, speed_spread, (body_count, 1))
    static = random.permutation(body_count) < round(resting * body_count)
    velocity[static] = 0.0
    origin = np.zeros(shape)
    origin[static] = random.uniform(-1.0, 1.0, shape)[static] * (edge / 4 - reach[static, np.newaxis])
    path = Path(origin, velocity, edge / 4 - reach[:, np.newaxis])
    elapsed = dense_steps if start == "sparse" else 0
    if start == "sparse":
        path = path.released(elapsed, edge / 2 - reach[:, np.newaxis])
    phases = _Phases.draw(request, links, body_count)
    return Arena(edge, path, reach, static, request.box_count, links, pulse, elapsed, phases)


@dataclass(frozen=True, eq=False)
class Path:
    """Straight travel from ``origin`` by ``velocity`` a step, each (n, d), between mirrors at ± ``wall`` (n, 1).

    Mirrors are where the surface of a body meets the wall, and a step that would cross one goes on behind it with only
    that component turned round. That is a closed form of the step: nothing accumulates, and any frame costs the same.
    """

    origin: Rows
    velocity: Rows
    wall: Rows

    def position(self, step: int) -> Rows:
        """Return the position of the bodies after ``step`` steps."""
        return self._folded(step)[0]

    def heading(self, step: int) -> Rows:
        """Return the velocity of the bodies after ``step`` steps."""
        return np.where(self._folded(step)[1], -self.velocity, self.velocity)

    def released(self, step: int, wall: Rows) -> Path:
        """Return the path from ``step`` on, with its walls moved to ``wall``."""
        return Path(self.position(step), self.heading(step), wall)

    def _folded(self, step: int) -> tuple[Rows, NDArray[np.bool_]]:
        unfolded = self.origin + step * self.velocity
        phase = np.mod(unfolded + self.wall, 4 * self.wall)
        is_back = phase > 2 * self.wall
        folded = np.where(is_back, 4 * self.wall - phase, phase) - self.wall
        # Not folded where nothing was met: a path that starts inside starts there to the last bit.
        return np.where(np.abs(unfolded) <= self.wall, unfolded, folded), is_back


@dataclass(frozen=True, eq=False)
class _Phases:
    """The phases at which bodies pulse and bend, (n,) and (n, links, angles)."""

    pulse: NDArray[np.float64]
    lean: NDArray[np.float64]
    swing: NDArray[np.float64]

    @classmethod
    def draw(cls, request: Request, links: int, body_count: int) -> _Phases:
        random = request.random(stream=1)  # its own stream: bending and pulsing change no path
        turn = 2 * np.pi
        shape = (body_count, links, request.dimension - 1)
        return cls(
            random.uniform(0, turn, body_count),
            np.broadcast_to(random.uniform(0, turn, (body_count, 1, request.dimension - 1)), shape),
            random.uniform(0, turn, shape),
        )


@dataclass(frozen=True, eq=False)
class Arena:
    """The motion of `arena`: bodies on their paths, each one sphere or a chain of spheres."""

    edge: float
    """That of the cube, whose center is the origin."""
    path: Path
    """The centers of the bodies."""
    reach: NDArray[np.float64]
    """(bodies,): the radius of the sphere around each body that holds it in every pose and at every frame."""
    static: NDArray[np.bool_]
    """(bodies,) bool: those that never move."""
    sphere_count: int
    links: int
    """The number of spheres, and the number of them in a body; the last body may have fewer."""
    pulse: float
    """The share by which radii shrink and grow."""
    elapsed: int
    """The number of steps before the first frame."""
    phases: _Phases

    @property
    def body(self) -> NDArray[np.int64]:
        """(n,): the body that each sphere belongs to."""
        return np.arange(self.sphere_count) // self.links

    def spheres(self, index: int) -> tuple[Rows, NDArray[np.float64]]:
        """Return the centers (n, d) and radii (n,) of all spheres at frame ``index``."""
        radius = self._swollen(index) / self.links
        center = self.path.position(index)[:, np.newaxis]
        if self.links > 1:
            center = center + 2 * radius[:, np.newaxis, np.newaxis] * self._pose(index)
        dimension = center.shape[2]
        return center.reshape(-1, dimension)[: self.sphere_count], radius.repeat(self.links)[: self.sphere_count]

    def frame(self, index: int) -> BoxArrays:
        """Return the boxes around the spheres at frame ``index``."""
        center, radius = self.spheres(index)
        return center - radius[:, np.newaxis], center + radius[:, np.newaxis]

    def density(self, index: int) -> float:
        """Return the mean distance of the spheres from their common center at a frame: lower is denser."""
        return density(*self.spheres(index))

    def _swollen(self, index: int) -> NDArray[np.float64]:
        """Return the present radius of each body, at most its reach."""
        wave = np.sin(2 * np.pi * (self.elapsed + index) / PULSE_FRAMES + self.phases.pulse)
        return self.reach * (1.0 + self.pulse * wave) / (1.0 + self.pulse)

    def _pose(self, index: int) -> Rows:
        """Return the centers of the links, (bodies, links, d), in link diameters, about the middle of each chain."""
        angle = self.phases.lean + 0.8 * np.sin(2 * np.pi * (self.elapsed + index) / SWING_FRAMES + self.phases.swing)
        if angle.shape[2] == 1:
            step = np.concatenate((np.cos(angle), np.sin(angle)), axis=2)
        else:
            around, up = angle[..., :1], angle[..., 1:]
            step = np.concatenate((np.cos(around) * np.cos(up), np.sin(around) * np.cos(up), np.sin(up)), axis=2)
        place = np.cumsum(step, axis=1)
        middle = 0.5 * (place[:, (self.links - 1) // 2] + place[:, self.links // 2])
        relative: Rows = place - middle[:, np.newaxis]
        return relative


def density(position: ArrayLike, radius: ArrayLike) -> float:
    """Return the mean distance of the bodies from their common center, weighted by radius.

    ``position`` is (n, 2) or (n, 3), ``radius`` (n,) or one number for all, in the same unit as the result. Lower means
    denser; compare values of one scene only. If no body has a size, all have the same weight.

    Examples
    --------
    >>> density([[0, 0], [4, 0]], [3, 1])
    2.0
    """
    center = check.finite(check.coordinates(position, "position"), "position").astype(np.float64)
    if not len(center):
        raise InvalidInput("position holds no bodies; the density of nothing is not defined. Give at least one.")
    weight = check.table(radius, "radius", (len(center),), 0)
    middle = np.average(center, axis=0, weights=weight if weight.any() else None)
    return float(np.sqrt(((center - middle) ** 2).sum(axis=1)).mean())
