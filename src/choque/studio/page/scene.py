"""Lights and cameras of views that do not show bodies."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque.studio.page.backdrop import sky
from choque.studio.stage.camera import VIEW_ANGLE

NARROW = 0.62
"""Width over height of the scene between two panels on a small page."""

UNMOVED = 1e-3
"""A camera within this share of its distance from where it was placed was not moved."""

NEAR, FAR = 0.1, 1000.0
"""Default near and far clipping distances."""


@dataclass(frozen=True)
class Lens:
    """Vertical field of view [radians], clipping distances and the up direction of a camera."""

    angle: float = math.radians(VIEW_ANGLE)
    near: float = NEAR
    far: float = FAR
    up: tuple[float, float, float] = (0.0, 1.0, 0.0)


def light_evenly(scene: Any) -> None:
    """Light a scene of viser evenly, without shadows, which would double the time of a picture."""
    scene.configure_default_lights(enabled=True, cast_shadow=False)
    scene.configure_environment_map(hdri=None)
    scene.set_background_image(sky())
    scene.add_light_ambient("/light/even", intensity=0.6)
    scene.add_light_hemisphere("/light/sky", intensity=1.4, sky_color=(235, 240, 255), ground_color=(96, 92, 90))


class CameraPlacement:
    """Places the cameras of all tabs, and again when a page is resized, unless a camera was moved by hand.

    A page that is still loading may place its camera at the initial position of this view or of the one before; this
    is corrected too.
    """

    def __init__(self, server: Any) -> None:
        self._server = server
        self._fitted: dict[int, tuple[float, NDArray[np.float64]]] = {}  # of each tab: aspect ratio and position
        self._put: Callable[[Any], None] | None = None
        self._before = np.array(server.initial_camera.position)

    def look_from(self, place: Callable[[float], ArrayLike], target: ArrayLike, lens: Lens) -> None:
        """Place all cameras, also of tabs opened later; ``place`` returns the position for a width over height."""
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
        """Handle a camera that was moved, or a page that was resized."""
        camera = client.camera
        aspect, position = self._fitted.get(client.client_id, (0.0, np.asarray(camera.position)))
        reach = float(np.linalg.norm(position - np.asarray(camera.look_at)))
        is_there = float(np.linalg.norm(np.asarray(camera.position) - position)) <= UNMOVED * reach
        unasked = (self._before, self._server.initial_camera.position)
        is_late = not is_there and any(np.allclose(camera.position, each) for each in unasked)
        if self._put is not None and (is_late or (is_there and camera.aspect != aspect)):
            self._put(client)


def reset_lens(server: Any) -> None:
    """Give all cameras the default lens, after a view with another one is closed."""
    for client in server.get_clients().values():
        with client.atomic():
            _fit(client.camera, Lens())


def _fit(camera: Any, lens: Lens) -> None:
    camera.fov, camera.near, camera.far = lens.angle, lens.near, lens.far
    camera.up_direction = lens.up
