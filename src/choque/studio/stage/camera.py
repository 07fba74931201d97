"""Cameras of worlds, and the camera that shows all bodies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from choque.narrow.shapes import PLANE
from choque.record import BodyTable, Frames, Poses
from choque.scene import Camera
from choque.studio.stage.extents import outline, typical_size

VIEW_ANGLE = 45.0
"""Vertical field of view [degrees]."""

UPRIGHT = 0.999
"""Cosine between the normal of a level half-space and the vertical, at least."""

FARTHER = 2.5
"""To show floors and walls too, a camera may be this many times as far away as for the moving bodies alone."""

HEADROOM = 0.5
"""Walls are shown up to this share of the height of the moving bodies above them."""

WIDER, SHARES = 2.5, (0.1, 0.2, 0.35, 0.5, 0.6, 0.7, 0.85, 1.0)
"""How much farther away a camera may be to show the course of bodies; the parts of the course that are looked at."""

TIGHTER, SOFTENED = 0.8, 0.15
"""A camera moves in a film if it can be nearer by this factor at its end or start; its path is averaged over this share
of the film before and after."""

MANY, FLUNG = 50, 0.15
"""Of at least this many bodies, this share that goes farthest is not followed."""

SLOWNESS = 0.7
"""Time constant of a camera that follows [s]."""

SLOW, CLOSEST = 0.15, 0.4
"""Such a camera leaves out bodies slower than this share of the fastest, and stays this share of its first distance."""

MARGIN = 1.12
"""Size of a picture over the size of its content."""


def extent(cast: BodyTable, poses: Poses) -> tuple[NDArray[np.float64], float]:
    """Return the center and the radius of all drawn bodies except ground planes."""
    points, reach = outline(cast, poses)
    if not len(points):
        return np.zeros(3), 10.0
    center = (points.min(axis=0) + points.max(axis=0)) / 2
    return center, float(max((np.linalg.norm(points - center, axis=1) + reach).max(), 1.0))


def framing(
    cast: BodyTable, poses: Poses, camera: Camera, size: tuple[int, int], top: float = np.inf
) -> tuple[Camera, tuple[float, float, float]]:
    """Return a camera, in the direction of ``camera``, that fills a picture with the drawn bodies, and its target.

    What is above ``top`` may be cut off.
    """
    points, reach = outline(cast, poses)
    if not len(points):
        return camera, (0.0, 0.0, 0.0)
    points[:, 1] = np.minimum(points[:, 1], top)
    level = cast.drawn & (cast.kind == PLANE) & (poses.rotation[:, 1, 1] > UPRIGHT)
    if level.any():  # what falls is seen until it lies on the ground
        ground = np.where([False, True, False], float(poses.position[level, 1].max()), points)
        points, reach = np.concatenate((points, ground)), np.concatenate((reach, np.zeros(len(ground))))
    ahead, right, up = directions(camera)
    center = (points.min(axis=0) + points.max(axis=0)) / 2
    upward = float(np.tan(np.radians(VIEW_ANGLE / 2))) / MARGIN
    sideways = upward * size[0] / size[1]
    for shifts_left in range(4, -1, -1):  # perspective moves the center, so it is found iteratively
        away = points - center
        along, across, height = away @ ahead, away @ right, away @ up
        distance = max(
            float(((np.abs(across) + reach) / sideways - along).max()),
            float(((np.abs(height) + reach) / upward - along).max()),
        )
        if not shifts_left:  # the distance must be that of the last center, or something is cut off
            break
        depth = np.maximum(along + distance, 1e-6)
        for direction, offset in ((right, across), (up, height)):
            shift = ((offset + reach) / depth).max() + ((offset - reach) / depth).min()
            center = center + direction * shift / 2 * distance
    return Camera(max(distance, 0.1), camera.pitch, camera.yaw), (float(center[0]), float(center[1]), float(center[2]))


def around_moving(
    cast: BodyTable, poses: Poses, camera: Camera, size: tuple[int, int]
) -> tuple[Camera, tuple[float, float, float]]:
    """Return a camera in the direction of ``camera`` that shows all moving bodies, and its target.

    Walls and floors are shown too, unless the camera had to be much farther away (`FARTHER`); what rises high above
    the moving bodies (`HEADROOM`) is cut off.
    """
    moving = replace(cast, drawn=cast.drawn & (~cast.static | (cast.kind == PLANE)))
    if not (moving.drawn & ~cast.static).any():
        return framing(cast, poses, camera, size)
    points, reach = outline(moving, poses)
    lowest, highest = (points[:, 1] - reach).min(), (points[:, 1] + reach).max()
    found = framing(cast, poses, camera, size, float(highest + HEADROOM * (highest - lowest)))
    near, middle = framing(moving, poses, camera, size)
    if found[0].radius > FARTHER * near.radius:
        return Camera(FARTHER * near.radius, near.pitch, near.yaw), middle
    return found


class Course:
    """A camera that shows the bodies and where they go in the course of a film.

    It shows as much of their course as it can without being much farther away than for the start (`WIDER`); of many
    bodies, the few that are flung farthest may leave the picture (`FLUNG`), and so may bodies that fall off the floor
    and the few that are added later. Where the bodies gather it moves slowly to them, and where they spread it moves
    slowly away, if that makes a difference (`TIGHTER`); otherwise it stands still.
    """

    def __init__(self, frames: Frames, camera: Camera, size: tuple[int, int]) -> None:
        self._view = camera, size
        parts = _parts(frames)
        whole = self._around(parts)
        found, self._ahead = [whole], 0.0
        if self._around(parts[-2:])[0].radius < TIGHTER * whole[0].radius:
            found, self._ahead = [self._around(parts[k:]) for k in range(len(parts))], -SOFTENED / 2
        elif self._around(parts[:2])[0].radius < TIGHTER * whole[0].radius:
            found, self._ahead = [self._around(parts[: k + 2]) for k in range(len(parts))], SOFTENED / 2
        places = [each if each[0].radius < whole[0].radius else whole for each in found]
        self._keys = np.array([[np.log(each.radius), *target] for each, target in places])
        self._times = np.array([0.0, *SHARES])[: len(places)]

    def at(self, share: float) -> tuple[Camera, tuple[float, float, float]]:
        """Return the camera and its target after this share of the film."""
        offsets = np.linspace(-1.0, 1.0, 17)
        weight = 1.0 + np.cos(np.pi * offsets)
        times = share + self._ahead + SOFTENED * offsets
        values = [float(np.interp(times, self._times, key) @ weight / weight.sum()) for key in self._keys.T]
        camera, _ = self._view
        return replace(camera, radius=float(np.exp(values[0]))), (values[1], values[2], values[3])

    def _around(self, parts: list[tuple[BodyTable, Poses]]) -> tuple[Camera, tuple[float, float, float]]:
        """Return a camera for bodies at several times: at the first one, and as many later ones as are near."""
        cast, poses = parts[0]
        found = first = around_moving(cast, poses, *self._view)
        for later, moved in parts[1:]:
            if len(later.hull_first) != len(cast.hull_first):
                break
            cast = cast.joined(later)
            position, rotation = np.concatenate((poses.position, moved.position)), (poses.rotation, moved.rotation)
            poses = Poses(position, np.concatenate(rotation))
            wider = around_moving(cast, poses, *self._view)
            if wider[0].radius > WIDER * first[0].radius:
                break
            found = wider
        return found


def _parts(frames: Frames) -> list[tuple[BodyTable, Poses]]:
    """Return the bodies that a camera is to show, and their poses, at the start and after `SHARES` of a film."""
    indices = [round(share * (frames.frame_count - 1)) for share in (0.0, *SHARES)]
    parts = [(frames.bodies(index), frames.frame(index)) for index in indices]
    cast, start = parts[0]
    end = parts[-1][1]
    if len(end) >= len(start):  # static bodies that move are shown as others are
        moves = (end.position[: len(start)] != start.position).any(axis=1)
        for k, (each, poses) in enumerate(parts):
            if len(each) >= len(start):
                static = each.static.copy()
                static[: len(start)] &= ~moves
                parts[k] = replace(each, static=static), poses
    cast = parts[0][0]
    return [parts[0], *((without_lost(each, poses, cast, start), poses) for each, poses in parts[1:])]


def without_lost(cast: BodyTable, poses: Poses, first: BodyTable, start: Poses) -> BodyTable:
    """Return a table in which bodies that no camera follows are not drawn, unless none is left.

    They are those that fell below everything static, the few that were added, and of many the few that went farthest;
    the top of what stands is far from the middle, but went nowhere.
    """
    moving = cast.drawn & ~cast.static
    near = cast.drawn.copy()
    if np.count_nonzero(moving[len(start) :]) < FLUNG * np.count_nonzero(moving):
        near[len(start) :] = False
    standing = first.drawn & first.static
    points, _ = outline(replace(first, drawn=standing), start)
    if len(points) and not (standing & (first.kind == PLANE)).any() and len(cast) >= len(start):
        was_above = start.position[:, 1] > points[:, 1].min()
        near[: len(start)] &= ~(
            was_above & moving[: len(start)] & (poses.position[: len(start), 1] < points[:, 1].min())
        )
    rows = np.flatnonzero(near & moving)
    if len(rows) >= MANY:
        middle = np.median(start.position[first.drawn & ~first.static], axis=0)
        away = np.linalg.norm(poses.position[rows] - middle, axis=1)
        went = np.full(len(cast), np.inf)
        went[: len(start)] = np.linalg.norm(poses.position[: len(start)] - start.position[: len(cast)], axis=1)
        near[rows[(away > np.quantile(away, 1.0 - FLUNG)) & (went[rows] > typical_size(cast))]] = False
    return replace(cast, drawn=near) if (near & moving).any() else cast


class Follower:
    """A camera that follows what moves: it turns never, and moves and zooms slowly.

    Bodies that are slower than a share of the fastest are left out of the picture, if others are faster.
    """

    def __init__(self, camera: Camera, size: tuple[int, int]) -> None:
        self._camera, self._size = camera, size
        self._time = 0.0
        self._position: NDArray[np.float64] | None = None
        self._place: NDArray[np.float64] | None = None  # distance, target
        self._first = 0.0

    def place(self, time: float, cast: BodyTable, poses: Poses) -> tuple[Camera, tuple[float, float, float]]:
        """Return the camera and its target at a time [s], which must not be before that of the call before."""
        wanted, target = around_moving(self._active(cast, poses), poses, self._camera, self._size)
        goal = np.array([wanted.radius, *target])
        if self._place is None:
            self._place, self._first = goal, wanted.radius
        goal[0] = max(goal[0], CLOSEST * self._first)
        share = 1.0 - float(np.exp(-(time - self._time) / SLOWNESS))
        self._place = self._place + share * (goal - self._place)
        self._time, self._position = time, poses.position.astype(np.float64)
        radius, x, y, z = self._place.tolist()
        return Camera(radius, self._camera.pitch, self._camera.yaw), (x, y, z)

    def _active(self, cast: BodyTable, poses: Poses) -> BodyTable:
        moving = cast.drawn & ~cast.static
        if self._position is None or len(self._position) != len(cast) or not moving.any():
            return cast
        speed = np.linalg.norm(poses.position - self._position, axis=1)
        active = moving & (speed >= SLOW * speed[moving].max())
        return replace(cast, drawn=active) if speed[moving].max() > 0.0 else replace(cast, drawn=moving)


def directions(camera: Camera) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the forward, right and up directions of a camera: at yaw 0 it is at +z, at yaw 90 at +x."""
    pitch, yaw = np.radians((camera.pitch, camera.yaw))
    ahead = np.array([-np.cos(pitch) * np.sin(yaw), np.sin(pitch), -np.cos(pitch) * np.cos(yaw)])
    right = np.array([np.cos(yaw), 0.0, -np.sin(yaw)])
    return ahead, right, np.cross(right, ahead)


def camera_at(position: NDArray[np.float64], target: NDArray[np.float64]) -> Camera:
    """Return the camera at ``position`` that looks at ``target``; +y is up."""
    away = position - target
    radius = float(np.linalg.norm(away))
    if not radius > 0.0:
        return Camera()
    ahead = -away / radius
    pitch, yaw = np.arcsin(np.clip(ahead[1], -1.0, 1.0)), np.arctan2(-ahead[0], -ahead[2])
    return Camera(radius, float(np.degrees(pitch)), float(np.degrees(yaw)))
