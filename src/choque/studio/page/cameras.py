"""Cameras of the page: free, or centred on the bodies or on the selected one."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque.record import BodyTable, Poses
from choque.scene import Camera
from choque.studio.stage.camera import VIEW_ANGLE, around_moving, directions

HOLD_SECONDS = 0.35
"""viser rotates the camera by arrow keys; this long after the last one, the camera is restored [s]."""

LATE_SECONDS = 10.0
"""A slow page can report a rotation by an arrow key this late; it is undone too [s]."""

PANE = (900, 720)
"""Assumed width and height of the scene beside the panels, before a page reports them [pixels]."""

TIMELINE = 162
"""Height of the bottom of a scene that a timeline covers [pixels]."""

MAX_COVERED = 0.4
"""The share of the height that a timeline is taken to cover, at most."""

UNMOVED = 1e-3
"""A camera within this share of its distance from where it was placed was not moved."""

ORIGIN = np.zeros(3)

Place = NDArray[np.float64]


class Cameras:
    """The cameras of all open tabs.

    At first the moving bodies fill the page, seen from the direction that the scene gives. A centred camera looks at
    its target, the centre of the bodies or the one that is followed; it can be rotated and zoomed, but not panned.
    """

    def __init__(
        self, server: Any, camera: Camera, cast: BodyTable, poses: Poses, *, has_timeline: bool = False
    ) -> None:
        self._server = server
        self._covered = TIMELINE if has_timeline else 0
        self._wanted = camera
        self._cast, self._poses = cast, poses
        self._camera, self._middle = _fitted(cast, poses, camera, PANE, self._covered)
        self._fitted: dict[int, tuple[float, Place]] = {}  # of each tab: aspect ratio and position
        self.target: Place = self._middle
        self.is_centred = True
        self._held: dict[int, tuple[Place, Place]] = {}  # of each tab, while arrow keys rotate its camera
        self._kept: dict[int, tuple[Place, Place]] = {}  # of each tab, where it was restored to
        self._release = 0.0
        initial = server.initial_camera
        self._unasked = [np.array(initial.position), self._middle + away(self._camera)]
        initial.up = (0.0, 1.0, 0.0)
        initial.fov = float(np.radians(VIEW_ANGLE))
        reach = max(self._camera.radius, camera.radius)
        initial.near, initial.far = min(0.1, self._camera.radius * 1e-2), max(20 * reach, 500.0)
        initial.look_at = tuple(self._middle)
        initial.position = tuple(self._unasked[1])
        self.show_all()

    def show_all(self) -> None:
        """Place the cameras so that all moving bodies are visible in their first poses."""
        self.target = self._middle
        for client in self._clients():
            self._fit(client)

    def stand_as_wanted(self) -> None:
        """Place the cameras where the scene says, looking at the origin."""
        self.target = ORIGIN
        for client in self._clients():
            _place(client, away(self._wanted), ORIGIN)

    def toggle(self) -> None:
        """Switch between centred and free."""
        self.is_centred = not self.is_centred
        self.follow(self.target)

    def follow(self, target: Place | None) -> None:
        """Set the target, None for the centre of the bodies; centred cameras follow it, free ones do not."""
        self.target = self._middle if target is None else np.asarray(target, np.float64)
        if not self.is_centred:
            return
        for client in self._clients():
            shift = self.target - client.camera.look_at
            if np.abs(shift).max() > 1e-6:
                with client.atomic():
                    client.camera.position = tuple(client.camera.position + shift)
                    client.camera.look_at = tuple(self.target)

    def moved(self, client: Any) -> None:
        """Handle a camera that was moved, or a page that was resized.

        A camera that was not moved by hand keeps all bodies visible; a centred one keeps its target. A page that is
        still loading may place its camera at the initial position of this view or of the one before: not a move.
        """
        aspect, place = self._fitted.get(client.client_id, (0.0, client.camera.position))
        is_there = _is_near(client.camera.position, place, self._camera.radius)
        is_late = not is_there and any(np.allclose(client.camera.position, each) for each in self._unasked)
        if self._was_turned_by_key(client):
            _place(client, *self._kept[client.client_id])
        elif is_late or (is_there and client.camera.aspect != aspect):
            self._fit(client)
        elif self.is_centred and not self._held and np.abs(self.target - client.camera.look_at).max() > 1e-3:
            client.camera.look_at = tuple(self.target)

    def looked_at(self) -> Place:
        """Return the point that the camera of the first tab looks at; the target if no tab is open."""
        for client in self._clients():
            found: Place = np.asarray(client.camera.look_at, np.float64)
            return found
        return self.target

    def eye(self) -> Place:
        """Return the position of the camera of the first tab; where it would be placed if no tab is open."""
        for client in self._clients():
            found: Place = np.asarray(client.camera.position, np.float64)
            return found
        return self.target + away(self._camera)

    def hold(self) -> None:
        """Remember the cameras, because an arrow key with another meaning is about to rotate them."""
        now = time.perf_counter()
        if now > self._release:
            self._held = {
                client.client_id: (np.array(client.camera.position), np.array(client.camera.look_at))
                for client in self._clients()
            }
        self._release = now + HOLD_SECONDS

    def let_go(self) -> float | None:
        """Restore the cameras after arrow keys; return the seconds until that is due, or None."""
        if not self._held:
            return None
        remaining = self._release - time.perf_counter()
        if remaining > 0:
            return remaining
        self._kept, self._held = self._held, {}
        for client in self._clients():
            if client.client_id in self._kept:
                _place(client, *self._kept[client.client_id])
        return None

    def _was_turned_by_key(self, client: Any) -> bool:
        """Return whether a page reports, late, that an arrow key rotated its camera.

        An arrow key rotates about the target either horizontally or vertically, the mouse both ways at once.
        """
        if self._held or client.client_id not in self._kept or time.perf_counter() > self._release + LATE_SECONDS:
            return False
        position, look_at = self._kept[client.client_id]
        if not _is_near(client.camera.look_at, look_at, self._camera.radius):
            return False
        before, after = position - look_at, np.asarray(client.camera.position) - look_at
        reach = float(np.linalg.norm(before))
        if abs(float(np.linalg.norm(after)) - reach) > UNMOVED * reach or _is_near(after, before, reach):
            return False
        is_level = abs(after[1] - before[1]) <= UNMOVED * reach
        across = before[0] * after[2] - before[2] * after[0]
        is_upright = abs(across) <= UNMOVED * reach**2 and before[[0, 2]] @ after[[0, 2]] >= 0
        return is_level or bool(is_upright)

    def _fit(self, client: Any) -> None:
        """Make all bodies visible in a tab, for its aspect ratio."""
        size = client.camera.image_width or PANE[0], client.camera.image_height or PANE[1]
        camera, middle = _fitted(self._cast, self._poses, self._wanted, size, self._covered)
        position = middle + away(camera)
        self._fitted[client.client_id] = client.camera.aspect, position
        if self.target is self._middle:
            self.target = self._middle = middle
        _place(client, position, middle)

    def _clients(self) -> list[Any]:
        return list(self._server.get_clients().values())


def away(camera: Camera) -> Place:
    """Return the vector from the target of a camera to its position."""
    ahead, _, _ = directions(camera)
    found: Place = -camera.radius * ahead
    return found


def _fitted(cast: BodyTable, poses: Poses, camera: Camera, size: tuple[int, int], covered: int) -> tuple[Camera, Place]:
    """Return the camera that shows the moving bodies above the covered pixels of a scene, and its target."""
    share = min(covered / size[1], MAX_COVERED)
    found, target = around_moving(cast, poses, camera, (size[0], round((1.0 - share) * size[1])))
    _, _, up = directions(found)
    farther = replace(found, radius=found.radius / (1.0 - share))
    lowered = share * float(np.tan(np.radians(VIEW_ANGLE / 2))) * farther.radius
    return farther, np.array(target) - lowered * up


def _is_near(one: Place, other: Place, distance: float) -> bool:
    return float(np.linalg.norm(np.asarray(one) - other)) <= UNMOVED * distance


def _place(client: Any, position: Place, look_at: Place) -> None:
    with client.atomic():
        client.camera.up_direction = (0.0, 1.0, 0.0)
        client.camera.position = tuple(position)  # this also moves the target
        client.camera.look_at = tuple(look_at)
