"""Cameras of the page: free, or centred on the bodies or on the one that was picked."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque.record import BodyTable, Poses
from choque.scene import Camera
from choque.studio.stage.camera import VIEW_ANGLE, directions, framing

HOLD_SECONDS = 0.35
"""So long after an arrow key was pressed, which viser turns the camera with, the camera is put back."""

LATE_SECONDS = 10.0
"""So long after an arrow key a page that draws slowly may still tell of a turn by it, which is put back as well."""

PANE = 0.9
"""Width over height of what two panels leave of a page, where nothing is known of it yet."""

UNMOVED = 1e-3
"""A camera that stands this near to where it was put, as a share of its distance, was not moved."""

FARTHER = 4.0
"""So many times as far as for the bodies that move alone, a camera stands at most to see floors and walls too."""

ORIGIN = np.zeros(3)

Place = NDArray[np.float64]


class Cameras:
    """The cameras of all tabs that are open.

    At first they stand where the bodies that move fill the page, in the direction that the scene asks for. A centred
    camera keeps looking at its target, the middle of the bodies or the one that is followed; it can be turned and moved
    nearer and farther, not shifted. A free camera goes where it is taken.
    """

    def __init__(self, server: Any, camera: Camera, cast: BodyTable, poses: Poses) -> None:
        self._server = server
        self._wanted = camera
        self._cast, self._poses = cast, poses
        self._camera, self._middle = around_moving(cast, poses, camera, PANE)
        self._fitted: dict[int, tuple[float, Place]] = {}  # of each tab: for which proportion, and where it stands
        self.target: Place = self._middle
        self.is_centred = True
        self._held: dict[int, tuple[Place, Place]] = {}  # of each tab, while arrow keys turn its camera
        self._kept: dict[int, tuple[Place, Place]] = {}  # of each tab, where it was put back to
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
        """Stand where all bodies that move can be seen as they were at the start."""
        self.target = self._middle
        for client in self._clients():
            self._fit(client)

    def stand_as_wanted(self) -> None:
        """Stand where the scene says: so far from the origin."""
        self.target = ORIGIN
        for client in self._clients():
            _place(client, away(self._wanted), ORIGIN)

    def toggle(self) -> None:
        """Centred to free and back."""
        self.is_centred = not self.is_centred
        self.follow(self.target)

    def follow(self, target: Place | None) -> None:
        """Look at ``target``, None for the middle of the bodies; a centred camera goes along, a free one stays."""
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
        """The camera of a tab was moved there, or its page has got another size.

        One that nobody has moved goes on seeing all bodies; a centred one keeps looking at its target. A page that is
        still loading may put its camera where this view, or the one before, wanted the first one: no move either.
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
        """Where the camera of the first tab looks; the target if none is open."""
        for client in self._clients():
            found: Place = np.asarray(client.camera.look_at, np.float64)
            return found
        return self.target

    def hold(self) -> None:
        """Remember where the cameras are, because an arrow key that means something else is about to turn them."""
        now = time.perf_counter()
        if now > self._release:
            self._held = {
                client.client_id: (np.array(client.camera.position), np.array(client.camera.look_at))
                for client in self._clients()
            }
        self._release = now + HOLD_SECONDS

    def let_go(self) -> float | None:
        """Put the cameras back once the arrow keys are still; gives the seconds until that is due, None for never."""
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
        """Tell whether a page is late to tell that an arrow key turned its camera after it was put back.

        Such a turn goes round what is looked at, either level or straight up or down; a hand turns it both ways.
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
        """Let a tab see all bodies, whatever its proportions."""
        aspect = client.camera.aspect or PANE
        camera, middle = around_moving(self._cast, self._poses, self._wanted, aspect)
        position = middle + away(camera)
        self._fitted[client.client_id] = aspect, position
        if self.target is self._middle:
            self.target = self._middle = middle
        _place(client, position, middle)

    def _clients(self) -> list[Any]:
        return list(self._server.get_clients().values())


def around_moving(cast: BodyTable, poses: Poses, camera: Camera, aspect: float) -> tuple[Camera, Place]:
    """A camera in the direction of ``camera`` that sees all bodies that move, and where it looks.

    It sees walls and floors too, onto which bodies fall, unless it had to stand much farther away (`FARTHER`).
    ``aspect`` is the width of the picture over its height.
    """
    size = (round(1000 * aspect), 1000)
    moving = replace(cast, drawn=cast.drawn & ~cast.static)
    found, target = framing(cast, poses, camera, size)
    if moving.drawn.any():
        near, middle = framing(moving, poses, camera, size)
        if found.radius > FARTHER * near.radius:
            found, target = near, middle
    return found, np.array(target)


def away(camera: Camera) -> Place:
    """From what a camera looks at to where it stands."""
    ahead, _, _ = directions(camera)
    found: Place = -camera.radius * ahead
    return found


def _is_near(one: Place, other: Place, distance: float) -> bool:
    return float(np.linalg.norm(np.asarray(one) - other)) <= UNMOVED * distance


def _place(client: Any, position: Place, look_at: Place) -> None:
    with client.atomic():
        client.camera.up_direction = (0.0, 1.0, 0.0)
        client.camera.position = tuple(position)  # which moves what is looked at along
        client.camera.look_at = tuple(look_at)
