"""Make ``opening.webp``, the moving picture of the README: balls and capsules in a box; those that touch light up.

``python docs/images/opening.py`` writes it beside itself, in a few minutes; it needs the extra ``video`` and Pillow.
There is no gravity and no friction, every collision is elastic, and the walls are half-spaces, of which the floor and
the back are drawn.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from choque import World
from choque.narrow.shapes import PLANE, TILE
from choque.record import BodyTable, Poses
from choque.scene import Camera
from choque.studio.stage.stage import WorldStage

SIZE = (640, 360)
RATE, SECONDS = 25, 5.0
BEFORE = 1.6
"""Time that is simulated before the first picture, so that bodies are well mixed [s]."""

STEPS_PER_PICTURE = 24
"""Steps are short, so that bodies that collide overlap by less than a hundredth of their size."""

HALF = np.array([5.2, 2.7, 2.6])
"""Half the sides of the box."""

PALETTE = np.array([(92, 116, 148), (122, 146, 172), (74, 94, 126), (150, 168, 186), (104, 132, 146)])
GLOW = np.array([255.0, 158.0, 66.0])
FADE = 0.16
"""Time constant of the light after a contact [s]."""

WALL, EDGE = (44, 52, 68), (96, 112, 140)


def make_world(seed: int = 7) -> tuple[World, NDArray[np.intp]]:
    """Return the world and the rows of its moving bodies."""
    random = np.random.default_rng(seed)
    world = World()
    place = _places(random)
    balls, capsules = place[: len(place) // 2], place[len(place) // 2 :]
    colors = PALETTE[random.integers(len(PALETTE), size=len(place))]
    velocity = random.normal(size=(len(place), 3)) * 1.3
    radius = random.uniform(0.32, 0.52, len(balls))
    world.add_spheres(
        position=balls, radius=radius, mass=8 * radius**3, velocity=velocity[: len(balls)], color=colors[: len(balls)]
    )
    turns = np.linalg.qr(random.normal(size=(len(capsules), 3, 3)))[0]
    turns *= np.sign(np.linalg.det(turns))[:, None, None]
    world.add_capsules(
        position=capsules,
        radius=0.24,
        length=0.75,
        rotation=turns,
        velocity=velocity[len(balls) :],
        angular_velocity=random.normal(size=(len(capsules), 3)),
        color=colors[len(balls) :],
    )
    moving = np.arange(len(place))
    for axis in range(3):
        for side in (-1.0, 1.0):
            _add_wall(world, axis, side)
    flat = np.eye(3)
    upright = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    for position, rotation, width in (((0, -HALF[1], 0), flat, HALF[2]), ((0, 0, -HALF[2]), upright, HALF[1])):
        row = world.add_tiles(position=[position], length=2 * HALF[0], width=2 * width, rotation=rotation, color=WALL)
        assert len(row) == 1
    return world, moving


def _places(random: np.random.Generator) -> NDArray[np.float64]:
    """Points of a jittered lattice, far enough apart that no bodies overlap at the start."""
    axes = [np.linspace(-half + 0.85, half - 0.85, count) for half, count in zip(HALF, (6, 3, 3), strict=True)]
    lattice = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    return random.permutation(lattice + random.uniform(-0.08, 0.08, lattice.shape))


def _add_wall(world: World, axis: int, side: float) -> None:
    """Add the half-space beyond one side of the box."""
    inward = np.zeros(3)
    inward[axis] = -side
    other = np.roll(inward, 1)
    rotation = np.column_stack((other, inward, np.cross(other, inward)))
    wall = world.add_ground(rotation=rotation, drawn=False)
    world.bodies.position[np.flatnonzero(world.bodies.ids == wall[0])[0]] = -inward * HALF[axis]


def edges() -> NDArray[np.float64]:
    """The edges (12, 2, 3) of the box."""
    corners = np.array([[(corner >> axis & 1) * 2 - 1 for axis in range(3)] for corner in range(8)]) * HALF
    ends = [(a, a | 1 << axis) for axis in range(3) for a in range(8) if not a >> axis & 1]
    return corners[np.array(ends)]


def bloomed(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the picture with a halo around what is warm and bright."""
    image = picture.astype(np.float32)
    warmth = np.clip((image[..., 0] - image[..., 2] - 60.0) / 120.0, 0.0, 1.0)
    mask = Image.fromarray((255 * warmth).astype(np.uint8))
    halo = sum(np.asarray(mask.filter(ImageFilter.GaussianBlur(radius)), np.float32) for radius in (5, 14)) / 255.0
    return np.clip(image + 0.34 * halo[..., None] * GLOW, 0, 255).astype(np.uint8)


def pictures() -> list[Image.Image]:
    """Simulate and draw."""
    world, moving = make_world()
    dt = 1.0 / (RATE * STEPS_PER_PICTURE)
    kinds, light = world.bodies.kind, np.zeros(len(world.bodies))
    table = BodyTable.of(world.bodies)
    is_wall = np.isin(kinds, (TILE, PLANE))
    found = []
    with WorldStage(Camera(10.6, -13.0, 8.0), size=SIZE, smoothing=2, definition=20, target=(0.0, -0.15, 0.0)) as stage:
        stage.add_segments(edges(), EDGE)
        for _ in range(round(BEFORE / dt)):
            world.step(dt)
        for _ in range(round(RATE * SECONDS)):
            for _ in range(STEPS_PER_PICTURE):
                world.step(dt)
                light *= np.exp(-dt / FADE)
                pairs = world.contacts().pairs
                light[pairs[~is_wall[pairs].any(axis=1)].ravel()] = 1.0
            share = light[:, None] ** 1.2
            color = (1 - share) * table.color + share * GLOW
            bodies = world.bodies
            poses = Poses(bodies.position.astype(np.float32), bodies.rotation.astype(np.float32))
            stage.show(replace(table, color=color.astype(np.uint8)), poses)
            found.append(Image.fromarray(bloomed(stage.picture())))
    outside = np.abs(world.bodies.position[moving]) > HALF
    assert not outside.any(), "a body has left the box"
    return found


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_suffix(".webp")
    first, *others = pictures()
    first.save(
        target,
        save_all=True,
        append_images=others,
        duration=1000 // RATE,
        loop=0,
        quality=62,
        method=6,
        minimize_size=False,
    )
    sys.stdout.write(f"{target}: {len(others) + 1} pictures, {target.stat().st_size:,} bytes\n")
