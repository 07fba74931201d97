"""Light and cameras for views of the studio whose scene is not a world of bodies."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from choque.view.world_camera import VIEW_ANGLE

NARROW = 0.62
"""Width over height of what two panels leave of a small page; wider ones show more."""

NEAR, FAR = 0.1, 1000.0
"""From where to where cameras see in views that say nothing about it."""


@dataclass(frozen=True)
class Lens:
    """How wide a camera sees [radians, from bottom to top], from where to where, and which way is up."""

    angle: float = math.radians(VIEW_ANGLE)
    near: float = NEAR
    far: float = FAR
    up: tuple[float, float, float] = (0.0, 1.0, 0.0)


def light_evenly(scene: Any) -> None:
    """Light a scene of viser from the sky and from the ground, without shadows, which cost more than the picture."""
    scene.configure_default_lights(enabled=True, cast_shadow=False)
    scene.configure_environment_map(hdri=None)
    scene.add_light_ambient("/light/even", intensity=0.6)
    scene.add_light_hemisphere("/light/sky", intensity=1.4, sky_color=(235, 240, 255), ground_color=(96, 92, 90))


def look_from(server: Any, place: Callable[[float], ArrayLike], target: ArrayLike, lens: Lens) -> None:
    """Put the cameras of all tabs, those that will be opened too, where ``place`` says for a width over height."""
    first = server.initial_camera
    first.fov, first.near, first.far, first.up = lens.angle, lens.near, lens.far, lens.up
    first.look_at, first.position = target, place(NARROW)
    for client in server.get_clients().values():
        camera = client.camera
        with client.atomic():
            _fit(camera, lens)
            camera.position, camera.look_at = place(camera.aspect), target


def give_back(server: Any) -> None:
    """Let the cameras of all tabs see as those of worlds do, once a view with another lens is closed."""
    for client in server.get_clients().values():
        with client.atomic():
            _fit(client.camera, Lens())


def _fit(camera: Any, lens: Lens) -> None:
    camera.fov, camera.near, camera.far = lens.angle, lens.near, lens.far
    camera.up_direction = lens.up
