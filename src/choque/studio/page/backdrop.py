"""Sky, ground, sun and shadows of a page, fitted to the scene."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque.record import BodyTable, Poses
from choque.studio.page.shadows import ShadowsLayer
from choque.studio.palette import GRID, GROUND, HORIZON, SKY
from choque.studio.stage.stage import LIGHT
from choque.studio.surroundings import Surroundings

SUN_DISTANCE = 50.0
"""Distance of the sun from the middle of the bodies [radius of all bodies]: its rays are almost parallel."""

SUN, FILL = 2.0, 1.15
"""Intensities of the sun, and of the light from the sky and the ground."""

WARM, COOL = (255, 244, 226), (228, 236, 255)

MAX_SHADOWED = 3_000
"""With more bodies than this, shadows are off at first: they are as much to send as the bodies."""

FADE = 14.0
"""The ground fades out over this distance [radius of all bodies]."""


class Backdrop:
    """The sky behind a scene, the sun, the shadows of bodies, and the ground."""

    def __init__(self, scene: Any) -> None:
        self._scene = scene
        self._ground: Any = None
        self._around: Surroundings | None = None
        self._shadows = ShadowsLayer(scene)
        self.has_shadows = True
        scene.configure_default_lights(enabled=False)
        scene.configure_environment_map(hdri=None)
        scene.set_background_image(_sky())
        scene.add_light_hemisphere(
            "/light/sky", intensity=FILL, sky_color=(228, 236, 255), ground_color=(120, 116, 112)
        )

    def fit(self, around: Surroundings) -> None:
        """Place the sun and the ground for a scene."""
        self._around = around
        self._scene.add_light_spot(
            "/light/sun",
            color=WARM,
            angle=0.2,
            decay=0.0,
            intensity=SUN,
            direction=tuple(-LIGHT),
            position=tuple(around.center + SUN_DISTANCE * around.radius * LIGHT),
        )
        cell = 10.0 ** np.floor(np.log10(max(around.radius, 1e-6) / 2.0))
        self._ground = self._scene.add_grid(
            "/ground",
            plane="xz",
            infinite_grid=True,
            cell_size=cell,
            section_size=5.0 * cell,
            cell_color=GRID,
            section_color=GRID,
            cell_thickness=0.6,
            section_thickness=1.1,
            fade_distance=FADE * around.radius,
            fade_strength=1.5,
            fade_from="camera",
            plane_color=GROUND,
            plane_opacity=1.0 if around.is_solid else 0.5,
            shadow_opacity=0.0,
            position=(around.center[0], around.level, around.center[2]),
        )

    def show(self, cast: BodyTable, poses: Poses) -> None:
        """Draw the shadows of bodies in their poses."""
        if self.has_shadows and self._around is not None:
            self._shadows.show(cast, poses, self._around)

    def set_shadows(self, value: bool) -> None:
        """Switch shadows on or off; those of the next picture are drawn by `show`."""
        self.has_shadows = value
        if not value:
            self._shadows.hide()

    def set_ground(self, value: bool) -> None:
        """Show or hide the ground."""
        if self._ground is not None:
            self._ground.visible = value


def _sky() -> NDArray[np.uint8]:
    """Return the sky and, below, the distant ground as a small picture (64, 2, 3); the browser stretches it."""
    height = np.linspace(0.0, 1.0, 64)
    colors = [np.interp(height, (0.0, 0.4, 1.0), (SKY[k], HORIZON[k], GROUND[k])) for k in range(3)]
    return np.repeat(np.stack(colors, axis=1)[:, np.newaxis], 2, axis=1).astype(np.uint8)
