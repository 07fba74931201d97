"""Sky, ground, sun and shadows of a page, fitted to the scene.

Shadows lie under the bodies, on floors, walls and the ground, and are computed here and not by the browser: shadow
maps would double the time of its pictures, and viser's cover twenty units around the camera. The shadow of a box is a
hexagon; that of another body is an ellipse, the shadow of the ellipsoid with the same extents. Bodies cast no shadow on
each other.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque.narrow.shapes import CAPSULE, CONVEX, PLANE, SPHERE, TILE
from choque.record import BodyTable, Poses
from choque.studio.meshes import TILE_THICKNESS, DrawnMesh
from choque.studio.palette import GRID, GROUND, HORIZON, SKY
from choque.studio.stage.extents import local_boxes
from choque.studio.stage.quaternions import quaternions
from choque.studio.stage.stage import LIGHT
from choque.studio.surroundings import Surroundings

SUN_DISTANCE = 50.0
"""Distance of the sun from the middle of the bodies [radius of all bodies]: its rays are almost parallel."""

SUN, FILL = 2.7, 1.6
"""Intensities of the sun, and of the light from the sky and the ground."""

WARM, COOL = (255, 244, 226), (228, 236, 255)

MAX_SHADOWED = 3_000
"""With more bodies than this, shadows are off at first: they are as much to send as the bodies."""

FADE = 14.0
"""The ground fades out over this distance [radius of all bodies]."""

ELEVATIONS = (16.0, -44.0)
"""What the top and the bottom of the sky show: angles above the horizon [degrees]."""

CORNERS = 18
OPACITY = 0.42
"""The opacity of a shadow."""

LIFTED = 2e-3
"""Shadows lie at least this share of the radius of the scene above their floor."""

LAYERS = 8
"""Number of heights at which shadows lie, one after another: those that overlap at one height would flicker."""

Floats = NDArray[np.float64]


class Backdrop:
    """The sky behind a scene, the sun, the shadows of bodies, and the ground."""

    def __init__(self, scene: Any) -> None:
        self._scene = scene
        self._ground: Any = None
        self._around: Surroundings | None = None
        self._shadows = ShadowsLayer(scene)
        self.has_shadows = self.has_ground = True
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
        self.has_ground = value
        if self._ground is not None:
            self._ground.visible = value


def sky() -> NDArray[np.uint8]:
    """Return the sky and, below, the distant ground as a small picture (64, 2, 3); the browser stretches it.

    Its colours are those of films for a camera that looks a little down.
    """
    height = np.sin(np.radians(np.linspace(*ELEVATIONS, 64)))[:, np.newaxis]
    share = np.abs(height) / (np.abs(height) + 0.3)
    colors = np.array(HORIZON) * (1.0 - share) + np.where(height > 0.0, SKY, 0.75 * np.array(GROUND)) * share
    return np.repeat(colors[:, np.newaxis], 2, axis=1).astype(np.uint8)


class Ellipses(NamedTuple):
    """Shadows: centers (m, 3), rotations (m, 3, 3) whose y axes are normals, half axes (m, 2)."""

    center: Floats
    rotation: Floats
    half: Floats


class ShadowsLayer:
    """Draws the shadows of moving bodies."""

    def __init__(self, scene: Any) -> None:
        self._scene = scene
        self._discs: Any = None
        self._boxes: Any = None
        self._cast: BodyTable | None = None
        self._is_box = np.empty(0, np.bool_)

    def show(self, cast: BodyTable, poses: Poses, around: Surroundings) -> None:
        """Draw the shadows of bodies in their poses."""
        if cast is not self._cast:
            self.hide()
            self._cast, self._is_box = cast, boxes_of(cast)
        casting = cast.drawn & ~cast.static & np.isin(cast.kind, (SPHERE, CAPSULE, CONVEX))
        self._show_discs(ellipses_of(cast, poses, around, np.flatnonzero(casting & ~self._is_box)))
        self._show_boxes(hexagons_of(cast, poses, around, np.flatnonzero(casting & self._is_box)))

    def _show_discs(self, found: Ellipses) -> None:
        if not len(found.half):
            return
        scale = np.column_stack((found.half[:, 0], np.ones(len(found.half)), found.half[:, 1])).astype(np.float32)
        turned, place = quaternions(found.rotation.astype(np.float32)), found.center.astype(np.float32)
        if self._discs is None:
            disc = _disc()
            self._discs = self._scene.add_batched_meshes_simple(
                "/shadows/discs",
                disc.points,
                disc.triangles,
                turned,
                place,
                batched_scales=scale,
                batched_colors=np.zeros(3, np.uint8),
                opacity=OPACITY,
                material="standard",
                flat_shading=True,
                side="double",
                lod="off",
                cast_shadow=False,
                receive_shadow=False,
            )
            return
        # Not opacities: a page makes the whole mesh again for these, and shows none meanwhile.
        self._discs.batched_positions, self._discs.batched_wxyzs, self._discs.batched_scales = place, turned, scale

    def _show_boxes(self, hexagons: NDArray[np.float32]) -> None:
        points = hexagons.reshape(-1, 3)
        if self._boxes is not None:
            self._boxes.vertices = points
        elif len(points):
            first = 6 * np.arange(len(hexagons))[:, np.newaxis, np.newaxis]
            self._boxes = self._scene.add_mesh_simple(
                "/shadows/boxes",
                points,
                (first + [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]]).reshape(-1, 3).astype(np.uint32),
                color=(0, 0, 0),
                opacity=OPACITY,
                flat_shading=True,
                side="double",
                cast_shadow=False,
                receive_shadow=False,
            )

    def hide(self) -> None:
        """Remove the shadows."""
        for handle in (self._discs, self._boxes):
            if handle is not None:
                handle.remove()
        self._discs = self._boxes = self._cast = None


def boxes_of(cast: BodyTable) -> NDArray[np.bool_]:
    """Return which bodies (n,) are boxes: convex, with the corners of their extents."""
    found = np.zeros(len(cast), np.bool_)
    is_convex = cast.kind == CONVEX
    for hull in np.unique(cast.hull[is_convex]).tolist():
        points, _ = cast.hull_mesh(hull)
        sides = np.where(points == points.max(axis=0), 1, np.where(points == points.min(axis=0), 0, 8))
        if sorted((sides @ [1, 2, 4]).tolist()) == list(range(8)):
            found |= is_convex & (cast.hull == hull)
    return found


def hexagons_of(cast: BodyTable, poses: Poses, around: Surroundings, rows: NDArray[np.intp]) -> NDArray[np.float32]:
    """Return the corners (m, 6, 3), in order, of the shadows of boxes; a shadow that falls on nothing is a point."""
    middle, half = local_boxes(cast, rows)
    turn = poses.rotation[rows].astype(np.float64)
    place = poses.position[rows] + np.einsum("nij,nj->ni", turn, middle)
    ground = _Fallen.of(cast, poses, around, place)
    # The sides of the box as the light throws them on the surface: a sum of three segments is a hexagon, whose corners
    # are reached by walking along the segments by their angles.
    sides = np.einsum("nij,njk->nki", ground.onto, turn * half[:, np.newaxis].astype(np.float64))
    flat = np.stack([np.einsum("nki,ni->nk", sides, axis) for axis in (ground.across, ground.along)], axis=2)
    backward = (flat[..., 1] < 0.0) | ((flat[..., 1] == 0.0) & (flat[..., 0] < 0.0))
    sides = np.where(backward[..., np.newaxis], -sides, sides)
    flat = np.where(backward[..., np.newaxis], -flat, flat)
    order = np.argsort(np.arctan2(flat[..., 1], flat[..., 0]), axis=1)
    sides = np.take_along_axis(sides, order[..., np.newaxis], axis=1) * ground.hit[:, np.newaxis, np.newaxis]
    steps = 2.0 * np.concatenate((np.zeros((len(rows), 1, 3)), sides, -sides[:, :2]), axis=1)
    corners = np.cumsum(steps, axis=1) - sides.sum(axis=1, keepdims=True)
    found: NDArray[np.float32] = (ground.center[:, np.newaxis] + corners).astype(np.float32)
    return found


class _Fallen(NamedTuple):
    """Where shadows fall: whether they do (m,), normals, centers and axes (m, 3), projections (m, 3, 3)."""

    hit: NDArray[np.bool_]
    normal: Floats
    center: Floats
    across: Floats
    along: Floats
    onto: Floats

    @classmethod
    def of(cls, cast: BodyTable, poses: Poses, around: Surroundings, place: Floats) -> _Fallen:
        """Find the first surfaces behind places, and the oblique projections along the light on them."""
        distance, normal, thickness = _first_surfaces(cast, poses, around, place)
        hit = np.isfinite(distance)
        distance = np.where(hit, distance, 0.0)
        facing = np.maximum(normal @ LIGHT, 0.05)[:, np.newaxis, np.newaxis]
        onto = np.eye(3) - LIGHT[:, np.newaxis] * normal[:, np.newaxis, :] / facing
        across = np.cross(normal, np.where(np.abs(normal[:, :1]) < 0.7, [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]))
        across /= np.linalg.norm(across, axis=1, keepdims=True)
        lift = LIFTED * around.radius * (1.0 + np.arange(len(place)) % LAYERS / 3.0) + thickness
        center = place - distance[:, np.newaxis] * LIGHT + lift[:, np.newaxis] * normal
        return cls(hit, normal, center, across, np.cross(normal, across), onto)


def ellipses_of(cast: BodyTable, poses: Poses, around: Surroundings, rows: NDArray[np.intp]) -> Ellipses:
    """Return the shadow of each body of ``rows`` on the first floor or wall behind it, as the light falls.

    Shadows that fall on no surface have no size, so that their number stays the same.
    """
    ground = _Fallen.of(cast, poses, around, poses.position[rows].astype(np.float64))
    spread = _spread(cast, poses, rows)
    flat = ground.onto @ spread @ ground.onto.transpose(0, 2, 1)
    across, along, normal = ground.across, ground.along, ground.normal
    # The axes of the ellipse: eigenvectors of a matrix (2, 2) in closed form.
    a, b, c = (
        np.einsum("ni,nij,nj->n", one, flat, two) for one, two in ((across, across), (across, along), (along, along))
    )
    middle, apart = (a + c) / 2, np.hypot((a - c) / 2, b)
    half = np.sqrt(np.maximum(np.column_stack((middle + apart, middle - apart)), 0.0))
    angle = np.arctan2(2 * b, a - c)[:, np.newaxis] / 2
    first = np.cos(angle) * across + np.sin(angle) * along
    second = np.cross(first, normal)
    return Ellipses(ground.center, np.stack((first, normal, second), axis=2), half * ground.hit[:, np.newaxis])


def _first_surfaces(
    cast: BodyTable, poses: Poses, around: Surroundings, place: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return, for each place, the distance along the light to the first surface behind it, its normal and thickness.

    Tiles are drawn as slabs, half of whose thickness is above their plane.
    """
    nearest, thickness = np.full(len(place), np.inf), np.zeros(len(place))
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
        thickness[closer] = TILE_THICKNESS * cast.size[row, :2].mean() / 2 if cast.kind[row] == TILE else 0.0
    return nearest, normals, thickness


def _spread(cast: BodyTable, poses: Poses, rows: NDArray[np.intp]) -> Floats:
    """Return matrices (m, 3, 3) of ellipsoids with the extents of the bodies, in the axes of the world."""
    half = local_boxes(cast, rows)[1].astype(np.float64)
    turn = poses.rotation[rows].astype(np.float64)
    spread: Floats = (turn * half[:, np.newaxis] ** 2) @ turn.transpose(0, 2, 1)
    return spread


def _disc() -> DrawnMesh:
    """Make a disc of radius 1 at y = 0 that faces up."""
    turn = np.linspace(0.0, 2.0 * np.pi, CORNERS, endpoint=False)
    rim = np.column_stack((np.cos(turn), np.zeros(CORNERS), np.sin(turn)))
    after = np.roll(np.arange(CORNERS), -1) + 1
    triangles = np.column_stack((np.zeros(CORNERS), after, np.arange(CORNERS) + 1))
    return DrawnMesh(np.concatenate((np.zeros((1, 3)), rim)).astype(np.float32), triangles.astype(np.uint32))
