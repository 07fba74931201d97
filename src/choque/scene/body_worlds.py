"""From the columns of a scene to a world, and back to what touches at its start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from choque._core.types import Floats, Pairs
from choque.scene.body_columns import BOX, CAPSULE, GROUND, SPHERE, TILE, BodyColumns
from choque.scene.body_scene import WORLD_SETTINGS

if TYPE_CHECKING:
    from choque.scene.body_scene import BodyScene
    from choque.world import World


def make_world(scene: BodyScene, options: dict[str, Any]) -> World:
    """Put the bodies of ``scene`` into a new world, row k as body k."""
    from choque.world import World

    settings = dict(scene.settings)
    if options.get("broad", settings.get("broad")) != settings.get("broad"):
        settings = {key: value for key, value in settings.items() if key in WORLD_SETTINGS and key != "bounds"}
    world = World(**{**settings, **options})
    rows = [np.flatnonzero(scene.bodies.kind == kind) for kind in range(GROUND + 1)]
    for kind, members in enumerate(rows):
        if len(members):
            _add(world, kind, scene.bodies.take(members))
    # They came kind by kind, because a world takes thousands of one kind at once; now each goes to its own row.
    place = np.concatenate(rows)
    if (np.diff(place) != 1).any():
        for name, column in world.bodies.columns().items():
            if name != "ids":
                column[place] = column.copy()
    return world


def _add(world: World, kind: int, bodies: BodyColumns) -> None:
    rotation: Floats = bodies.rotation
    angular_velocity: Floats = bodies.angular_velocity
    if world.settings.legacy:
        from choque.theses.fingsics.rotation import legacy_radians, legacy_rotations

        rotation, angular_velocity = legacy_rotations(bodies.angles), legacy_radians(bodies.spin)
    shared: dict[str, Any] = {
        "mass": bodies.mass,
        "velocity": bodies.velocity,
        "acceleration": bodies.acceleration,
        "angular_velocity": angular_velocity,
        "rotation": rotation,
        "elasticity": bodies.elasticity,
        "static": bodies.static,
        "color": bodies.color,
        "drawn": bodies.drawn,
    }
    first, second = bodies.size[:, 0], bodies.size[:, 1]
    if kind == SPHERE:
        world.add_spheres(bodies.position, first, **shared)
    elif kind == CAPSULE:
        world.add_capsules(bodies.position, first, second, rocket=bodies.rocket, **shared)
    elif kind == TILE:
        world.add_tiles(bodies.position, first, second, **shared)
    elif kind == BOX:
        world.add_boxes(bodies.position, bodies.size, **shared)
    else:
        for row, height in enumerate(bodies.position[:, 1].tolist()):
            world.add_ground(height, **{key: column[row : row + 1] for key, column in shared.items()})


def overlapping_pairs(scene: BodyScene) -> Pairs:
    """List the pairs of bodies that overlap at the start, (m, 2), sorted."""
    settings = {"broad": "auto", "bounds": None, "narrow": "exact", "response": "impulse", "legacy": False}
    world = make_world(scene, settings)
    # A step looks for contacts before it moves anything.
    world.step(scene.dt)
    return world.contacts().pairs
