"""Pictures of bodies on the processor: no graphics library, no driver, no display."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from choque._core import threads as _threads
from choque.narrow.shapes import CAPSULE, SPHERE
from choque.record import BodyTable, Poses
from choque.scene import Camera
from choque.studio.palette import GRID, GROUND, HORIZON, SKY
from choque.studio.stage.camera import VIEW_ANGLE, directions
from choque.studio.stage.graphics import check_size
from choque.studio.stage.raster_kernels import Floats, Paint, Shapes, View, find_surfaces, shade
from choque.studio.stage.stage import AXES, AXES_LENGTH, FINEST, LIGHT, edges_of, instances
from choque.studio.surroundings import Surroundings

LIGHT_DISTANCE = 4.0
"""Distance of the light from the middle of the bodies [radius of all bodies]."""

BANDS = 4
"""Bands of a picture for each thread."""

LINE_WIDTH = 1.2
"""Width of lines [pixels]."""

SHADOW_SIDE = 768
"""Side of the shadow map [samples] for each of one or two samples a pixel."""

IN_FRONT = 1e-3
"""Lines in front of everything are drawn at this share of their distance."""

GROUND_REACH = 12.0
"""The ground fades out at this distance [radius of all bodies]."""

STAYS = 2.5
"""Light and ground stay as they are while the radius of all bodies grows by less than this factor."""

WIDENING, WIDEST = 2**0.5, 8.0
"""Where bodies leave the light, it widens in steps of this factor, lest shadows change often; its greatest width."""

_NO_LINES = np.empty((0, 2, 3)), np.empty((0, 2, 3), np.uint8)


class _Soup(NamedTuple):
    """The triangles of all bodies that are drawn as meshes, in the frames of their bodies."""

    points: Floats
    """(v, 3)"""
    normals: Floats
    """(v, 3), zero for the corners of flat triangles."""
    rows: NDArray[np.intp]
    """(v,) the body of each point."""
    triangles: NDArray[np.int64]
    """(t, 3)"""
    color: NDArray[np.uint8]
    """(t, 3)"""
    is_own: NDArray[np.bool_]
    """(t,) whether a triangle keeps this colour whatever colour its body has."""


class RasterStage:
    """Draws bodies with light, shadows and lines over them, on the processor.

    Parameters
    ----------
    camera
        The camera; it looks at ``target``.
    size
        Width and height in pixels.
    definition
        Latitudes of a sphere drawn as a mesh; None for balls and capsules that are round at any size.
    shadows
        Whether bodies cast shadows.
    smoothing
        Samples a pixel along each side, 1 to 4; only pixels on edges are shaded more than once.
    axes
        Whether the axes are drawn: x red, y green, z blue.
    threads
        The number of threads; None for all. The picture is the same for any number.

    Notes
    -----
    O(samples covered by each body) time: see `choque.studio.stage.raster_kernels`.
    """

    def __init__(
        self,
        camera: Camera | None = None,
        *,
        size: tuple[int, int] = (1280, 720),
        definition: int | None = None,
        shadows: bool = True,
        smoothing: int = 2,
        axes: bool = False,
        target: tuple[float, float, float] = (0.0, 0.0, 0.0),
        threads: int | None = None,
    ) -> None:
        check_size(size, smoothing, definition)
        self._size, self._smoothing, self._definition = size, smoothing, definition
        self._thread_count = _threads.available_count() if threads is None else threads
        self.aim(camera or Camera(), target)
        width, height = size[0] * smoothing, size[1] * smoothing
        self._view = _empty_view(width, height, 0.5 * height / np.tan(np.radians(VIEW_ANGLE / 2)))
        side = SHADOW_SIDE * min(smoothing, 2) if shadows else 0
        self._narrowest = 0.5 * side / np.tan(np.arcsin(1.02 / LIGHT_DISTANCE))
        self._light = _empty_view(side, side, self._narrowest)
        self._light_turn, self._light_eye = np.eye(3), np.zeros(3)
        self._cast: BodyTable | None = None
        self._poses: Poses | None = None
        self._round: NDArray[np.intp] = np.empty(0, np.intp)
        self._soup: _Soup | None = None
        self._lines = {"axes": _axes()} if axes else {}
        self._around: Surroundings | None = None
        self._ground = np.array([0.0, 1.0, 1.0, 0.0, *GROUND, *GRID])
        self._hidden: NDArray[np.bool_] = np.empty(0, np.bool_)
        self._color: NDArray[np.uint8] = _NO_LINES[1][:, 0]

    def aim(self, camera: Camera, target: Sequence[float]) -> None:
        """Move the camera; walls that come between it and the bodies are not drawn from the next `show` on."""
        ahead, right, up = directions(camera)
        self._turn = np.stack((right, -up, ahead))
        self._eye = np.asarray(target, np.float64) - camera.radius * ahead

    def set_colors(self, color: NDArray[np.uint8]) -> None:
        """Draw the bodies in these colours (n, 3) from now on, parts with a colour of their own excepted."""
        self._color = color

    def show(self, cast: BodyTable, poses: Poses) -> None:
        """Show bodies in their poses; a new table replaces the one before."""
        around = self._around
        if around is None or cast is not self._cast:
            self._around = around = self._around_now(Surroundings.of(cast, poses))
            self._light_turn = _looking_along(-LIGHT)
            eye = around.center + LIGHT_DISTANCE * around.radius * LIGHT
            if not np.array_equal(eye, self._light_eye):
                self._light, self._light_eye = self._light._replace(focal=self._narrowest), eye
            self._ground = _ground_of(around)
        self._widen_light(cast, poses)
        hidden = around.hidden(poses, self._eye)
        if cast is not self._cast or not np.array_equal(hidden, self._hidden):
            is_round = cast.drawn & np.isin(cast.kind, (SPHERE, CAPSULE)) & ~cast.rocket
            if self._definition is not None:
                is_round[:] = False
            self._round = np.flatnonzero(is_round)
            drawn = cast.drawn & ~is_round & ~around.ground & ~hidden
            self._soup = _make_soup(replace(cast, drawn=drawn), self._definition or FINEST)
            self._cast, self._hidden, self._color = cast, hidden, cast.color
        self._poses = poses

    def _around_now(self, found: Surroundings) -> Surroundings:
        """Return where bodies of a new table are: where those before were, if that is near, so that light stays."""
        before = self._around
        if before is None or not before.radius <= found.radius <= STAYS * before.radius:
            return found
        if np.linalg.norm(found.center - before.center) > STAYS * before.radius:
            return found
        return replace(found, center=before.center, radius=before.radius, level=before.level)

    def _widen_light(self, cast: BodyTable, poses: Poses) -> None:
        """Let the light reach bodies that went away, or they would have no shadow and seem to float."""
        away = (poses.position[cast.drawn & ~cast.static] - self._light_eye) @ self._light_turn.T
        away = away[away[:, 2] > 0.0]
        spread = 1.05 * float((np.abs(away[:, :2]).max(axis=1, initial=0.0) / away[:, 2]).max(initial=0.0))
        wider, half = 1.0, 0.5 * len(self._light.seen)
        while spread * self._narrowest > wider * half and wider < WIDEST:
            wider *= WIDENING
        self._light = self._light._replace(focal=min(self._light.focal, self._narrowest / wider))

    def hide_bodies(self) -> None:
        """Leave out all bodies until the next table is shown; ground, sky and lines stay."""
        assert self._cast is not None
        self._round = self._round[:0]
        self._soup = _make_soup(replace(self._cast, drawn=np.zeros(len(self._cast), np.bool_)), FINEST)

    def hide_ground(self) -> None:
        """Leave out the ground until other bodies are shown."""
        self._ground[3] = 0.0

    def show_boxes(self, name: str, corners: NDArray[np.float32], color: tuple[int, int, int]) -> None:
        """Draw boxes as wireframes by their ``corners`` (m, 8, 3): bits 0, 1 and 2 of a corner's number are its sides.

        A set of boxes replaces the one of the same ``name``; m = 0 removes it.
        """
        self._lines[name] = _colored(edges_of(corners), color)

    def add_segments(self, ends: NDArray[Any], color: tuple[int, int, int] | NDArray[np.uint8]) -> None:
        """Draw line segments (m, 2, 3), in one colour or with a colour for each end (m, 2, 3)."""
        self.show_segments(f"segments {len(self._lines)}", ends, color)

    def show_segments(
        self, name: str, ends: NDArray[Any], color: tuple[int, int, int] | NDArray[np.uint8], *, in_front: bool = False
    ) -> None:
        """Draw segments as `add_segments` does, in the place of those of this name; maybe in front of everything."""
        places = np.asarray(ends, np.float64).reshape(-1, 2, 3)
        # Moved along their rays to the camera, they are seen in the same place.
        self._lines[name] = _colored(self._eye + IN_FRONT * (places - self._eye) if in_front else places, color)

    def picture(self) -> NDArray[np.uint8]:
        """Render: (height, width, 3) red, green and blue, the top row first."""
        shapes, normals, color = self._placed(self._turn, self._eye)
        lines = [np.concatenate(parts) for parts in zip(_NO_LINES, *self._lines.values(), strict=True)]
        ends = ((lines[0] - self._eye) @ self._turn.T).reshape(-1, 6)
        casters = shapes.body
        if len(self._light.seen):
            seen_by_light, _, _ = self._placed(self._light_turn, self._light_eye)
            self._over_rows(find_surfaces, len(self._light.seen), seen_by_light, 0.0, self._light)
            casters = seen_by_light.body
        shapes = shapes._replace(lines=ends)
        self._over_rows(find_surfaces, len(self._view.seen), shapes, LINE_WIDTH * self._smoothing, self._view)
        turn = self._light_turn @ self._turn.T
        shift = self._light_turn @ (self._eye - self._light_eye)
        sky = np.array([SKY, HORIZON], np.float64)
        to_light = np.ascontiguousarray(np.column_stack((turn, shift)))
        to_world = np.ascontiguousarray(np.column_stack((self._turn.T, self._eye)))
        paint = Paint(color, lines[1], normals, sky, self._ground, to_world, self._turn @ LIGHT, to_light, casters)
        picture: NDArray[np.uint8] = np.empty((self._size[1], self._size[0], 3), np.uint8)
        rest = (self._smoothing, shapes, paint, self._view, self._light, picture)
        self._over_rows(shade, len(picture), *rest)
        return picture

    def close(self) -> None:
        """Forget the bodies."""
        self._cast = self._poses = self._soup = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _over_rows(self, task: Any, count: int, *arguments: Any) -> None:
        """Draw bands of rows, several for each thread: those of the sky take less time than those of the bodies."""
        bands = BANDS * self._thread_count if self._thread_count > 1 else 1
        draw = _threads.block_supply(count, -(-count // bands))
        task(0, 0, *arguments)  # compiled or loaded here: a signal during that would leave threads waiting for a lock

        def work(_: int) -> None:
            while (band := draw()) is not None:
                task(*band, *arguments)

        _threads.run(work, self._thread_count)

    def _placed(self, turn: Floats, eye: Floats) -> tuple[Shapes, Floats, NDArray[np.uint8]]:
        """Return the bodies in the coordinates of a view, normals at the corners of triangles, and all colours."""
        cast, poses, soup = self._cast, self._poses, self._soup
        if cast is None or poses is None or soup is None:
            nothing = np.empty((0, 9))
            return (
                Shapes(np.empty((0, 7)), nothing, np.empty((0, 6)), np.empty(0, np.int32)),
                nothing,
                _NO_LINES[1][:, 0],
            )
        rows = self._round[np.argsort((poses.position[self._round] - eye) @ turn[2], kind="stable")]
        balls = np.zeros((len(rows), 7))
        balls[:, :3] = (poses.position[rows] - eye) @ turn.T
        balls[:, 3] = cast.size[rows, 0]
        half = np.where(cast.kind[rows] == CAPSULE, cast.size[rows, 1] / 2, 0.0)
        balls[:, 4:] = (poses.rotation[rows, :, 2] * half[:, np.newaxis]) @ turn.T
        turned = turn @ poses.rotation.astype(np.float64)  # (n, 3, 3)
        origin = (poses.position - eye) @ turn.T
        points = np.einsum("vij,vj->vi", turned[soup.rows], soup.points) + origin[soup.rows]
        smooth = np.einsum("vij,vj->vi", turned[soup.rows], soup.normals)
        corners = points[soup.triangles]
        flat = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        normals = smooth[soup.triangles]
        has_normal: NDArray[np.bool_] = np.abs(soup.normals).sum(axis=1) > 0.0
        is_flat = ~has_normal[soup.triangles].all(axis=1)
        normals[is_flat] = flat[is_flat, np.newaxis]
        body = np.concatenate((rows, soup.rows[soup.triangles[:, 0]])).astype(np.int32)
        shapes = Shapes(balls, corners.reshape(-1, 9), np.empty((0, 6)), body)
        shown = np.where(soup.is_own[:, np.newaxis], soup.color, self._color[body[len(rows) :]])
        return shapes, np.ascontiguousarray(normals.reshape(-1, 9)), np.concatenate((self._color[rows], shown))


def _empty_view(width: int, height: int, focal: float) -> View:
    return View(float(focal), np.zeros((height, width), np.float32), np.zeros((height, width), np.int32))


def _ground_of(around: Surroundings) -> Floats:
    cell = 10.0 ** np.floor(np.log10(max(around.radius, 1e-6) / 2.0))
    opacity = 1.0 if around.is_solid else 0.6
    return np.array([around.level, cell, GROUND_REACH * around.radius, opacity, *GROUND, *GRID], np.float64)


def _looking_along(ahead: Floats) -> Floats:
    """Return the axes (3, 3) of a view that looks along a direction which is not upright."""
    right = np.cross(ahead, (0.0, 1.0, 0.0))
    right /= np.linalg.norm(right)
    return np.stack((right, np.cross(ahead, right), ahead))


def _axes() -> tuple[Floats, NDArray[np.uint8]]:
    ends = np.stack((np.zeros((3, 3)), AXES_LENGTH * np.eye(3)), axis=1)
    return _colored(ends, np.repeat((255 * np.array(AXES)).astype(np.uint8)[:, np.newaxis], 2, axis=1))


def _colored(ends: NDArray[Any], color: tuple[int, int, int] | NDArray[np.uint8]) -> tuple[Floats, NDArray[np.uint8]]:
    """Return lines (m, 2, 3) and a colour for each of their ends."""
    given = np.asarray(color, np.uint8)
    return np.asarray(ends, np.float64).reshape(-1, 2, 3), np.ascontiguousarray(
        np.broadcast_to(given, (len(ends), 2, 3))
    )


def _make_soup(cast: BodyTable, definition: int) -> _Soup:
    """Return the triangles of the meshes of all drawn bodies."""
    parts: list[tuple[Any, ...]] = []
    first = 0
    for rows, mesh, scale, color, offset, flipped in instances(cast, definition):
        signs = np.array([1.0, -1.0, -1.0]) if flipped else np.ones(3)
        points = mesh.points[np.newaxis] * scale[:, np.newaxis].astype(np.float64) * signs
        if offset is not None:
            points[:, :, 2] += offset[:, np.newaxis]
        normals = np.zeros_like(points)
        if mesh.normals is not None:
            normals += mesh.normals / scale[:, np.newaxis] * signs
            normals /= np.linalg.norm(normals, axis=2, keepdims=True)
        count, size = len(rows), len(mesh.points)
        starts = first + size * np.arange(count)
        triangles = (starts[:, np.newaxis, np.newaxis] + mesh.triangles.astype(np.int64)).reshape(-1, 3)
        shown = np.repeat(color, len(mesh.triangles), axis=0)
        is_own = (shown != np.repeat(cast.color[rows], len(mesh.triangles), axis=0)).any(axis=1)
        parts.append((points.reshape(-1, 3), normals.reshape(-1, 3), np.repeat(rows, size), triangles, shown, is_own))
        first += count * size
    if not parts:
        return _Soup(
            np.empty((0, 3)),
            np.empty((0, 3)),
            np.empty(0, np.intp),
            np.empty((0, 3), np.int64),
            np.empty((0, 3), np.uint8),
            np.empty(0, np.bool_),
        )
    return _Soup(*(np.concatenate(each) for each in zip(*parts, strict=True)))
