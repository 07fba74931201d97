"""Light and cameras for views of the studio whose scene is not a world of bodies."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque.studio.stage.camera import VIEW_ANGLE

NARROW = 0.62
"""Width over height of what two panels leave of a small page; wider ones show more."""

UNMOVED = 1e-3
"""A camera that stands this near to where it was put, as a share of its distance, was not moved."""

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


class Stand:
    """Where the cameras of all tabs were put; one that nobody moved since is put right when its page changes size.

    A page that is still loading may put its camera where this view, or the one before, wanted the first one; it is put
    right too.
    """

    def __init__(self, server: Any) -> None:
        self._server = server
        self._fitted: dict[int, tuple[float, NDArray[np.float64]]] = {}  # of each tab: for which proportion, and where
        self._put: Callable[[Any], None] | None = None
        self._before = np.array(server.initial_camera.position)

    def look_from(self, place: Callable[[float], ArrayLike], target: ArrayLike, lens: Lens) -> None:
        """Put all cameras, those of tabs that will be opened too, where ``place`` says for a width over height."""
        first = self._server.initial_camera
        first.fov, first.near, first.far, first.up = lens.angle, lens.near, lens.far, lens.up
        first.look_at, first.position = target, place(NARROW)

        def put(client: Any) -> None:
            camera = client.camera
            position = np.asarray(place(camera.aspect), np.float64)
            self._fitted[client.client_id] = camera.aspect, position
            with client.atomic():
                _fit(camera, lens)
                camera.position, camera.look_at = position, target

        self._put = put
        for client in self._server.get_clients().values():
            put(client)

    def moved(self, client: Any) -> None:
        """The camera of a tab was moved there, or its page has got another size."""
        camera = client.camera
        aspect, position = self._fitted.get(client.client_id, (0.0, np.asarray(camera.position)))
        reach = float(np.linalg.norm(position - np.asarray(camera.look_at)))
        is_there = float(np.linalg.norm(np.asarray(camera.position) - position)) <= UNMOVED * reach
        unasked = (self._before, self._server.initial_camera.position)
        is_late = not is_there and any(np.allclose(camera.position, each) for each in unasked)
        if self._put is not None and (is_late or (is_there and camera.aspect != aspect)):
            self._put(client)


def give_back(server: Any) -> None:
    """Let the cameras of all tabs see as those of worlds do, once a view with another lens is closed."""
    for client in server.get_clients().values():
        with client.atomic():
            _fit(client.camera, Lens())


def _fit(camera: Any, lens: Lens) -> None:
    camera.fov, camera.near, camera.far = lens.angle, lens.near, lens.far
    camera.up_direction = lens.up
