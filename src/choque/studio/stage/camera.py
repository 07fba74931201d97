"""Cameras of worlds, and the camera that shows all bodies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from choque.narrow.shapes import PLANE
from choque.record import BodyTable, Frames, Poses
from choque.scene import Camera
from choque.studio.stage.extents import outline

VIEW_ANGLE = 45.0
"""Vertical field of view [degrees]."""

UPRIGHT = 0.999
"""Cosine between the normal of a level half-space and the vertical, at least."""

FARTHER = 4.0
"""To show floors and walls too, a camera may be this many times as far away as for the moving bodies alone."""

NEARER = 2.5
"""If not, it is this many times as far away as for the moving bodies alone, so that something around them is seen."""

HEADROOM = 0.5
"""Walls are shown up to this share of the height of the moving bodies above them."""

WIDER, SHARES = 2.5, (0.1, 0.2, 0.35, 0.5, 0.75, 1.0)
"""How much farther away a camera may be to show the course of bodies; the parts of the course that are looked at."""

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
    for _ in range(3):  # perspective moves the center, so it is found iteratively
        away = points - center
        along, across, height = away @ ahead, away @ right, away @ up
        distance = max(
            float(((np.abs(across) + reach) / sideways - along).max()),
            float(((np.abs(height) + reach) / upward - along).max()),
        )
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
        return Camera(NEARER * near.radius, near.pitch, near.yaw), middle
    return found


def around_course(frames: Frames, camera: Camera, size: tuple[int, int]) -> tuple[Camera, tuple[float, float, float]]:
    """Return a camera that shows the bodies at the start and where they go, and its target.

    It shows as much of their course as it can without being much farther away than for the start (`WIDER`); of many
    bodies, the few that are flung farthest may leave the picture (`FLUNG`).
    """
    parts = [round(share * (frames.frame_count - 1)) for share in (0.0, *SHARES)]
    casts, courses = [frames.bodies(index) for index in parts], [frames.frame(index) for index in parts]
    cast, poses = casts[0], courses[0]
    if len(courses[-1]) == len(poses):  # static bodies that move are shown as others are
        moves = (courses[-1].position != poses.position).any(axis=1)
        casts = [replace(each, static=each.static & ~moves) if len(each) == len(moves) else each for each in casts]
        cast = casts[0]
    found = first = around_moving(cast, poses, camera, size)
    for later, moved in zip(casts[1:], courses[1:], strict=True):
        if len(later.hull_first) != len(cast.hull_first):
            break
        cast = cast.joined(_without_flung(later, moved, courses[0]))
        position, rotation = np.concatenate((poses.position, moved.position)), (poses.rotation, moved.rotation)
        poses = Poses(position, np.concatenate(rotation))
        wider = around_moving(cast, poses, camera, size)
        if wider[0].radius > WIDER * first[0].radius:
            break
        found = wider
    return found


def _without_flung(cast: BodyTable, poses: Poses, start: Poses) -> BodyTable:
    """Return a table in which the few bodies that went farthest from where many started are not drawn."""
    moving = np.flatnonzero(cast.drawn & ~cast.static)
    if len(moving) < MANY:
        return cast
    away = np.linalg.norm(poses.position[moving] - np.median(start.position[moving], axis=0), axis=1)
    near = cast.drawn.copy()
    near[moving[away > np.quantile(away, 1.0 - FLUNG)]] = False
    return replace(cast, drawn=near)


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
