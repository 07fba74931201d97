"""Sky, ground, sun and shadows of a page, fitted to the scene.

Shadows are ellipses under the bodies, on floors, walls and the ground, computed here and not by the browser: shadow
maps would double the time of its pictures, and viser's cover twenty units around the camera. An ellipse is the shadow
of the ellipsoid with the same extents as the body. Bodies cast no shadow on each other.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque.narrow.shapes import CAPSULE, CONVEX, PLANE, SPHERE, TILE
from choque.record import BodyTable, Poses
from choque.studio.meshes import Mesh
from choque.studio.palette import GRID, GROUND, HORIZON, SKY
from choque.studio.stage.extents import local_boxes
from choque.studio.stage.quaternions import quaternions
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

CORNERS = 18
OPACITY = 0.42
"""The opacity of the shadow of a body that touches the floor."""

LIFTED = 2e-3
"""Shadows lie at least this share of the radius of the scene above their floor."""

LAYERS = 8
"""Number of heights at which shadows lie, one after another: those that overlap at one height would flicker."""

HIGH = 6.0
"""At this many radii from the floor a shadow has half its opacity."""

Floats = NDArray[np.float64]


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
        scene.set_background_image(sky())
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


def sky() -> NDArray[np.uint8]:
    """Return the sky and, below, the distant ground as a small picture (64, 2, 3); the browser stretches it."""
    height = np.linspace(0.0, 1.0, 64)
    colors = [np.interp(height, (0.0, 0.4, 1.0), (SKY[k], HORIZON[k], GROUND[k])) for k in range(3)]
    return np.repeat(np.stack(colors, axis=1)[:, np.newaxis], 2, axis=1).astype(np.uint8)


class Ellipses(NamedTuple):
    """Shadows: centers (m, 3), rotations (m, 3, 3) whose y axes are normals, half axes (m, 2), opacities (m,)."""

    center: Floats
    rotation: Floats
    half: Floats
    opacity: NDArray[np.float32]


class ShadowsLayer:
    """Draws the shadows of moving bodies."""

    def __init__(self, scene: Any) -> None:
        self._scene = scene
        self._handle: Any = None

    def show(self, cast: BodyTable, poses: Poses, around: Surroundings) -> None:
        """Draw the shadows of bodies in their poses."""
        found = shadows_of(cast, poses, around)
        scale = np.column_stack((found.half[:, 0], np.ones(len(found.half)), found.half[:, 1])).astype(np.float32)
        turned, place = quaternions(found.rotation.astype(np.float32)), found.center.astype(np.float32)
        if self._handle is None or len(self._handle.batched_positions) != len(place):
            self.hide()
            if len(place):
                disc = _disc()
                self._handle = self._scene.add_batched_meshes_simple(
                    "/shadows",
                    disc.points,
                    disc.triangles,
                    turned,
                    place,
                    batched_scales=scale,
                    batched_colors=np.zeros(3, np.uint8),
                    batched_opacities=found.opacity,
                    material="standard",
                    flat_shading=True,
                    side="double",
                    lod="off",
                    cast_shadow=False,
                    receive_shadow=False,
                )
            return
        self._handle.batched_positions, self._handle.batched_wxyzs = place, turned
        self._handle.batched_scales, self._handle.batched_opacities = scale, found.opacity

    def hide(self) -> None:
        """Remove the shadows."""
        if self._handle is not None:
            self._handle.remove()
            self._handle = None


def shadows_of(cast: BodyTable, poses: Poses, around: Surroundings) -> Ellipses:
    """Return the shadow of each drawn moving body on the first floor or wall behind it, as the light falls.

    Shadows that fall on no surface have the opacity 0, so that their number stays the same.
    """
    rows = np.flatnonzero(cast.drawn & ~cast.static & np.isin(cast.kind, (SPHERE, CAPSULE, CONVEX)))
    place = poses.position[rows].astype(np.float64)
    distance, normal = _first_surfaces(cast, poses, around, place)
    hit = np.isfinite(distance)
    spread = _spread(cast, poses, rows)
    # The oblique projection along the light on the plane of the surface, applied to the spread of the body.
    facing = np.maximum(normal @ LIGHT, 0.05)
    onto = np.eye(3) - LIGHT[:, np.newaxis] * normal[:, np.newaxis, :] / facing[:, np.newaxis, np.newaxis]
    flat = onto @ spread @ onto.transpose(0, 2, 1)
    across = np.cross(normal, np.where(np.abs(normal[:, :1]) < 0.7, [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]))
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    along = np.cross(normal, across)
    # The axes of the ellipse: eigenvectors of a matrix (2, 2) in closed form.
    a, b, c = (
        np.einsum("ni,nij,nj->n", one, flat, two) for one, two in ((across, across), (across, along), (along, along))
    )
    middle, apart = (a + c) / 2, np.hypot((a - c) / 2, b)
    half = np.sqrt(np.maximum(np.column_stack((middle + apart, middle - apart)), 0.0))
    angle = np.arctan2(2 * b, a - c)[:, np.newaxis] / 2
    first = np.cos(angle) * across + np.sin(angle) * along
    second = np.cross(first, normal)
    size = np.sqrt(np.trace(spread, axis1=1, axis2=2) / 3.0)
    height = np.where(hit, distance, 0.0) * facing
    opacity = np.where(hit, OPACITY / (1.0 + (np.maximum(height - size, 0.0) / (HIGH * size)) ** 2), 0.0)
    lift = LIFTED * around.radius * (1.0 + np.arange(len(rows))[:, np.newaxis] % LAYERS / 3.0)
    center = place - np.where(hit, distance, 0.0)[:, np.newaxis] * LIGHT + lift * normal
    return Ellipses(center, np.stack((first, normal, second), axis=2), half, opacity.astype(np.float32))


def _first_surfaces(cast: BodyTable, poses: Poses, around: Surroundings, place: Floats) -> tuple[Floats, Floats]:
    """Return, for each place, the distance along the light to the first surface behind it and the normal there."""
    nearest = np.full(len(place), np.inf)
    normals = np.tile(np.array([0.0, 1.0, 0.0]), (len(place), 1))
    below = place[:, 1] - around.level
    nearest = np.where(below > 0.0, below / LIGHT[1], nearest)
    for row in np.flatnonzero(cast.drawn & cast.static & np.isin(cast.kind, (TILE, PLANE))).tolist():
        turn, middle = poses.rotation[row].astype(np.float64), poses.position[row].astype(np.float64)
        away = place - middle
        normal = turn[:, 1]
        rate = float(normal @ LIGHT)
        if abs(rate) < 0.05:
            continue
        distance = (away @ normal) / rate
        at = away - distance[:, np.newaxis] * LIGHT
        inside = distance > 0.0
        if cast.kind[row] == TILE:
            inside &= (np.abs(at @ turn[:, [0, 2]]) <= cast.size[row, :2] / 2).all(axis=1)
        closer = inside & (distance < nearest)
        nearest[closer] = distance[closer]
        normals[closer] = normal if rate > 0.0 else -normal
    return nearest, normals


def _spread(cast: BodyTable, poses: Poses, rows: NDArray[np.intp]) -> Floats:
    """Return matrices (m, 3, 3) of ellipsoids with the extents of the bodies, in the axes of the world."""
    half = local_boxes(cast, rows)[1].astype(np.float64)
    turn = poses.rotation[rows].astype(np.float64)
    spread: Floats = (turn * half[:, np.newaxis] ** 2) @ turn.transpose(0, 2, 1)
    return spread


def _disc() -> Mesh:
    """Make a disc of radius 1 at y = 0 that faces up."""
    turn = np.linspace(0.0, 2.0 * np.pi, CORNERS, endpoint=False)
    rim = np.column_stack((np.cos(turn), np.zeros(CORNERS), np.sin(turn)))
    after = np.roll(np.arange(CORNERS), -1) + 1
    triangles = np.column_stack((np.zeros(CORNERS), after, np.arange(CORNERS) + 1))
    return Mesh(np.concatenate((np.zeros((1, 3)), rim)).astype(np.float32), triangles.astype(np.uint32))
