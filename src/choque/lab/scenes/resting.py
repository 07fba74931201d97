"""Scenes that come to rest: bodies with friction under gravity, for the response ``soft-step``."""

from __future__ import annotations

from math import ceil, sqrt

import numpy as np
from numpy.typing import NDArray

from choque._core import check
from choque.lab.scenes.lattice import GRAVITY, block, block_counts, bright_colors, walls
from choque.meshes import Mesh
from choque.scene.columns import BOX, CAPSULE, MESH, SOLIDS, SPHERE, BodyColumns, boxes, ground, join, spheres
from choque.scene.generators import BodyRequest, usually

FLOOR = (110, 110, 110)


@usually(210)
def pyramid(request: BodyRequest, *, friction: float = 0.6) -> BodyColumns:
    """Cubes in one plane, each row one shorter than the row below it; 5,050 of them have 100 in the lowest row."""
    friction, count = check.number(friction, "friction", 0.0), request.body_count
    base = max(1, ceil((sqrt(8 * count + 1) - 1) / 2))
    return _cubes(request, _pyramid(base)[:count], friction)


def pyramids(request: BodyRequest, *, base: int = 10, friction: float = 0.6) -> BodyColumns:
    """Pyramids of cubes, ``base`` in the lowest row of each, beside and behind each other; the last may lack some."""
    base, friction = check.whole_number(base, "base", 1), check.number(friction, "friction", 0.0)
    one = _pyramid(base)
    many = ceil(request.body_count / len(one))
    beside = max(1, ceil(sqrt(many * 3 / (base + 2))))
    place = np.stack(np.unravel_index(np.arange(many), (ceil(many / beside) or 1, beside)), axis=1)[:, ::-1]
    shift = (place - (place.max(axis=0, initial=0) / 2)) * [base + 2.0, 3.0]
    position = one + shift[:, np.newaxis] @ [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    return _cubes(request, position.reshape(-1, 3)[: request.body_count], friction)


def _pyramid(base: int) -> NDArray[np.float64]:
    """Return the centres of the cubes of a pyramid, row by row."""
    rows = [(row, cube) for row in range(base) for cube in range(base - row)]
    row, cube = np.array(rows, np.float64).reshape(-1, 2).T
    return np.stack([cube - (base - row - 1) / 2, row + 0.5, np.zeros(len(row))], axis=1)


def _cubes(request: BodyRequest, position: NDArray[np.float64], friction: float) -> BodyColumns:
    colors = bright_colors(request.random(), len(position))
    return join(
        ground(friction=friction, restitution=0.0, color=FLOOR),
        boxes(position, 1.0, acceleration=GRAVITY, restitution=0.0, friction=friction, color=colors),
    )


@usually(10)
def stack(request: BodyRequest, *, ratio: float = 1.0) -> BodyColumns:
    """Cubes one upon another; the topmost is ``ratio`` times as heavy as the others."""
    ratio, count = check.positive(ratio, "ratio"), request.body_count
    position = np.zeros((count, 3))
    position[:, 1] = np.arange(count) + 0.5
    mass = np.ones(count)
    mass[-1:] = ratio
    colors = bright_colors(request.random(), count)
    return join(
        ground(restitution=0.0, color=FLOOR),
        boxes(position, 1.0, acceleration=GRAVITY, restitution=0.0, mass=mass, color=colors),
    )


@usually(11)
def arch(request: BodyRequest, *, friction: float = 0.8) -> BodyColumns:
    """Wedges lean on each other over a gap: half a ring that stands without glue, by friction and weight alone."""
    friction, count = check.number(friction, "friction", 0.0), request.body_count
    stones = max(count, 3)
    half, outer = np.pi / (2 * stones), stones * 4 / 11
    height = outer / 4 * np.cos(half)  # a wedge is 3/4 as wide below as above, and so is the radius
    around = np.pi * (np.arange(count) + 0.5) / stones
    away = outer * np.cos(half) - height * 10 / 21  # the centre of mass of a wedge
    position = away * np.stack([np.cos(around), np.sin(around), 0 * around], axis=1)
    return join(
        ground(friction=friction, restitution=0.0, color=FLOOR),
        boxes(
            position,
            (2 * outer * np.sin(half), height, 1.0),
            solid=SOLIDS.index("wedge"),
            angles=np.degrees(around)[:, np.newaxis] * [0, 0, 1] - [0, 0, 90],
            acceleration=GRAVITY,
            restitution=0.0,
            friction=friction,
            color=bright_colors(request.random(), count),
        ),
    )


@usually(40)
def dominoes(request: BodyRequest, *, gap: float = 0.5) -> BodyColumns:
    """Dominoes in a row; the first is pushed over, and the others follow."""
    gap, count = check.number(gap, "gap", 0.25, 0.9), request.body_count
    position = np.zeros((count, 3))
    position[:, 0] = (np.arange(count) - (count - 1) / 2) * gap
    position[:, 1] = 0.5
    velocity, spin = np.zeros((count, 3)), np.zeros((count, 3))
    velocity[:1, 0], spin[:1, 2] = 1.0, -120.0  # about its lower edge
    colors = bright_colors(request.random(), count)
    return join(
        ground(restitution=0.0, color=FLOOR),
        boxes(
            position,
            (0.15, 1.0, 0.5),
            acceleration=GRAVITY,
            restitution=0.0,
            friction=0.4,
            velocity=velocity,
            spin=spin,
            color=colors,
        ),
    )


@usually(200)
def hopper(request: BodyRequest, *, angle: float = 60.0, mouth: float = 5.0, rolling: float = 0.1) -> BodyColumns:
    """Balls run through a funnel of slope ``angle``, whose mouth is ``mouth`` balls wide, and heap up below it.

    Mouths narrower than about four balls are blocked by arches of balls, as in nature.
    """
    angle, count = check.number(angle, "angle", 20.0, 70.0), request.body_count
    inner, rolling = check.number(mouth, "mouth", 1.5, 50.0) / 2, check.number(rolling, "rolling", 0.0)
    random, slope, bottom = request.random(), np.tan(np.radians(angle)), 2.0 + 1.2 * count ** (1 / 3)
    position = block(count, (1.1, 1.1, 1.1)) + random.uniform(-0.04, 0.04, (count, 3))  # or they stand as columns
    reach = np.linalg.norm(position[:, [0, 2]], axis=1).max(initial=0.0)
    holding = np.cbrt(inner**3 + 3.2 * count / (np.pi * slope))  # all balls at rest fill half of the funnel
    outer = max(holding, reach + 1.0, inner + 1.0)
    rise = (outer - inner) * slope
    around = np.radians(np.arange(0, 360, 10))
    ring = np.stack([np.cos(around), 0 * around, np.sin(around)], axis=1)
    rim, throat = ring * outer + [0, bottom + rise, 0], ring * inner + [0, bottom, 0]
    funnel = Mesh(np.concatenate((rim, throat)), _between(len(ring)))
    lift = bottom + max(0.0, reach - inner) * slope + 1.0
    colors = bright_colors(random, count)
    falling = spheres(
        position + [0, lift - position[:, 1].min(initial=0.0), 0],
        0.5,
        acceleration=GRAVITY,
        restitution=0.1,
        rolling=rolling,
        color=colors,
    )
    return join(ground(restitution=0.0, color=FLOOR), falling, _surface(funnel))


def _surface(mesh: Mesh, **attributes: object) -> BodyColumns:
    """Return a static mesh around or below other bodies."""
    return BodyColumns.filled(MESH, [[0, 0, 0]], 0.0, mesh=mesh, **{"restitution": 0.0, "color": FLOOR, **attributes})


def _between(count: int) -> NDArray[np.int64]:
    """Return the faces of a band between two closed rings of ``count`` vertices each, the second after the first."""
    one = np.arange(count)
    after = np.roll(one, -1)
    return np.concatenate((np.stack((one, after, after + count), 1), np.stack((one, after + count, one + count), 1)))


@usually(400)
def rubble(request: BodyRequest, *, friction: float = 0.6) -> BodyColumns:
    """Balls, capsules, boxes and octahedra, turned every way, fall into an open box and come to rest."""
    friction, count = check.number(friction, "friction", 0.0), request.body_count
    tower = np.array(block_counts(count, flatness=2.0)) * 1.6
    falling = _mixed(request, block(count, (1.6, 1.6, 1.6), flatness=2.0), friction)
    return join(falling, walls(tower + 0.4, restitution=0.0, lidded=False))


def _mixed(request: BodyRequest, position: NDArray[np.float64], friction: float) -> BodyColumns:
    """Return balls, capsules, boxes and octahedra, as many of each, turned every way, in spheres of radius 0.8.

    They are shuffled: balls that are exactly above each other would stay a column when they fall.
    """
    random = request.random()
    number = random.permutation(np.arange(len(position)) % 4)
    sizes = np.array([(0.5, 0.0, 0.0), (0.35, 0.8, 0.0), (0.9, 0.7, 0.8), (1.2, 1.2, 1.2)])
    return BodyColumns.filled(
        np.array([SPHERE, CAPSULE, BOX, BOX])[number],
        position,
        sizes[number],
        solid=np.where(number == 3, SOLIDS.index("octahedron"), 0),
        angles=random.uniform(0.0, 360.0, (len(position), 3)),
        acceleration=GRAVITY,
        restitution=0.0,
        friction=friction,
        rolling=0.05,
        color=bright_colors(random, len(position)),
    )


@usually(400)
def washer(request: BodyRequest, *, speed: float = 40.0) -> BodyColumns:
    """Bodies of all kinds tumble in a drum with fins that turns at ``speed`` degrees a second.

    The drum is a mesh; its front is a pane that is not drawn.
    """
    speed, count = check.number(speed, "speed", -360.0, 360.0), request.body_count
    radius = 4.0
    while len(place := _beside_fins(radius)) < count:
        radius += 0.5
    turn = np.radians(np.arange(0, 360, 60)[:, np.newaxis] + [-5, -2, 2, 5, *range(12, 54, 8)]).ravel()
    away = radius * np.tile([1.0, FIN, FIN, 1.0, *[1.0] * 6], 6)  # all around, with six fins
    ring = np.stack([away * np.cos(turn), away * np.sin(turn), 0 * turn], axis=1)
    vertices = np.concatenate((ring - [0, 0, 3.5], ring + [0, 0, 3.5], [[0, 0, -3.5]]))
    first = np.arange(len(ring))
    back = np.stack((np.roll(first, -1), first, 0 * first + 2 * len(ring)), axis=1)
    drum = Mesh(vertices, np.concatenate((_between(len(ring)), back)))
    pane = boxes([[0, 0, 4.0]], (2 * radius, 2 * radius, 1.0), static=True, restitution=0.0, drawn=False)
    return join(pane, _mixed(request, place[:count], 0.6), _surface(drum, spin=(0.0, 0.0, speed)))


FIN = 0.75
"""How far the fins of a drum are from its axis, as a share of its radius."""


def _beside_fins(radius: float) -> NDArray[np.float64]:
    """Return places for bodies in a drum."""
    cells = np.arange(-ceil(radius), ceil(radius) + 1) * 1.65
    grid = np.stack(np.meshgrid(cells, cells, [-2.5, -0.85, 0.85, 2.5], indexing="ij"), axis=-1).reshape(-1, 3)
    away, turn = np.hypot(grid[:, 0], grid[:, 1]), np.arctan2(grid[:, 1], grid[:, 0])
    beside = away * np.abs(np.sin(turn - np.round(turn * 3 / np.pi) * np.pi / 3)) - 0.1 * radius
    places: NDArray[np.float64] = grid[(away < radius - 1.0) & ((away < FIN * radius - 1.0) | (beside > 1.0))]
    return places


def terrain(request: BodyRequest, *, height: float = 2.0, friction: float = 0.6) -> BodyColumns:
    """Bodies of all kinds fall on a landscape of hills, which is a mesh, and come to rest in its hollows."""
    height, friction = check.number(height, "height", 0.0, 20.0), check.number(friction, "friction", 0.0)
    count = request.body_count
    along, upward, across = block_counts(count, flatness=0.5)
    position = block(count, (1.6, 1.6, 1.6), flatness=0.5) + [0.0, height + 0.8 * upward + 1.0, 0.0]
    falling = _mixed(request, position, friction)
    width = 2.0 * max(along, across) + 10.0
    return join(falling, _surface(_landscape(width, height, request.random()), color=(120, 140, 105)))


def _landscape(width: float, height: float, random: np.random.Generator) -> Mesh:
    """Return hills up to about ``height`` over a square, in cells of about one unit, with a rim that holds bodies."""
    cells = max(8, ceil(width))
    place = np.linspace(-width / 2, width / 2, cells + 1)
    x, z = np.meshgrid(place, place, indexing="ij")
    y = np.zeros_like(x)
    for _ in range(6):
        turn, long, phase = random.uniform(0, 2 * np.pi), random.uniform(6.0, 14.0), random.uniform(0, 2 * np.pi)
        y += np.sin(2 * np.pi * (np.cos(turn) * x + np.sin(turn) * z) / long + phase) / 6
    rim = np.maximum(np.maximum(np.abs(x), np.abs(z)) - 0.5 * width + 3.0, 0.0)
    y = height * y + 0.2 * rim**2
    row = np.arange(x.size).reshape(x.shape)
    a, b, c, d = row[:-1, :-1].ravel(), row[:-1, 1:].ravel(), row[1:, 1:].ravel(), row[1:, :-1].ravel()
    faces = np.concatenate((np.stack((a, b, c), axis=1), np.stack((a, c, d), axis=1)))
    return Mesh(np.stack((x, y, z), axis=-1).reshape(-1, 3), faces)


@usually(20)
def conveyor(request: BodyRequest, *, speed: float = 2.0) -> BodyColumns:
    """Boxes ride on a belt, whose surface runs at ``speed``, and fall off its end."""
    speed, count = check.number(speed, "speed", -20.0, 20.0), request.body_count
    length = 2.0 * count + 8.0
    belt = boxes(
        [[0.0, 1.5, 0.0]],
        (length, 1.0, 3.0),
        static=True,
        restitution=0.0,
        surface_velocity=(speed, 0.0, 0.0),
        color=FLOOR,
    )
    position = np.zeros((count, 3))
    position[:, 0], position[:, 1] = 2.0 * (np.arange(count) - (count - 1) / 2), 2.6
    colors = bright_colors(request.random(), count)
    riding = boxes(position, (1.0, 1.0, 1.0), acceleration=GRAVITY, restitution=0.0, color=colors)
    return join(ground(restitution=0.0, color=FLOOR), belt, riding)
