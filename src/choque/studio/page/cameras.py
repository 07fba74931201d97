"""Cameras of the page: free, or centred on the bodies or on the selected one."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque.record import BodyTable, Poses
from choque.scene import Camera
from choque.studio.stage.camera import VIEW_ANGLE, around_moving, directions, without_lost

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

REMEMBERED = 120
"""How many of the latest places of a camera count as not moved by hand: a slow page reports where it was."""

SLOWNESS = 0.7
"""Time constant of the motion, which is that of a critically damped spring [s]."""

RECENT = 10
"""After this many looks in a row that need less distance the camera comes nearer: what bounces comes back."""

LOOK_SECONDS = 0.25
"""Time between two looks [s]."""

NEARER, FARTHER, ASIDE = 0.8, 1.05, 0.12
"""The camera moves if its distance would be less or more by these factors, or its target be farther than this share of
its distance from the present one."""

WIDEST = 2.5
"""How many times as far away as at the start the camera may be."""

STILL = 1e-3
"""A camera within this share of its distance from its goal has arrived."""

LONGEST = 0.1
"""Time between two moves that counts, at most [s]: a run may have been paused."""

ORIGIN = np.zeros(3)

Place = NDArray[np.float64]


class Drift:
    """The distance and the target of a camera; `look` says where it should be, `move` lets time pass."""

    def __init__(self, distance: float, target: Place) -> None:
        self._now = np.array([np.log(distance), *target])
        self._goal, self._speed = self._now, np.zeros(4)
        self._farthest = self._now[0] + np.log(WIDEST)
        self._recent: deque[Place] = deque([self._now], maxlen=RECENT)

    @property
    def distance(self) -> float:
        """Distance of the camera from its target."""
        return float(np.exp(self._now[0]))

    @property
    def target(self) -> Place:
        """Where the camera looks."""
        return self._now[1:].copy()

    def look(self, distance: float, target: Place) -> None:
        """Note from where the bodies are all seen now; the camera goes there if that makes a difference."""
        self._recent.append(np.array([min(np.log(distance), self._farthest), *target]))
        wanted = max(self._recent, key=lambda each: float(each[0]))
        ratio = float(np.exp(wanted[0] - self._goal[0]))
        aside = float(np.linalg.norm(wanted[1:] - self._goal[1:])) / float(np.exp(self._goal[0]))
        if not NEARER <= ratio <= FARTHER or aside > ASIDE:
            self._goal = wanted

    def move(self, seconds: float) -> bool:
        """Move for some seconds; return whether the camera is still on its way."""
        away = self._now - self._goal
        scale = np.array([1.0, *[self.distance] * 3])
        if np.abs(away / scale).max() < STILL and np.abs(self._speed / scale).max() < STILL:
            return False
        rate, time = 1.0 / SLOWNESS, min(seconds, LONGEST)
        push = self._speed + rate * away
        fade = np.exp(-rate * time)
        self._now = self._goal + (away + push * time) * fade
        self._speed = (self._speed - rate * push * time) * fade
        return True


class Cameras:
    """The cameras of all open tabs.

    At first the moving bodies fill the page, seen from the direction that the scene gives; while a run plays, cameras
    that no viewer moved go slowly where the bodies go (`drift`). A centred camera looks at its target, the centre of
    the bodies or the one that is followed; it can be rotated and zoomed, but not panned.
    """

    def __init__(
        self, server: Any, camera: Camera, cast: BodyTable, poses: Poses, *, has_timeline: bool = False
    ) -> None:
        self._server = server
        self._covered = TIMELINE if has_timeline else 0
        self._wanted = camera
        self._cast, self._poses = cast, poses
        self._camera, self._middle = _fitted(cast, poses, camera, PANE, self._covered)
        self._fitted: dict[int, tuple[float, Place]] = {}  # of each tab: aspect ratio and latest positions (k, 3)
        self._by_hand: set[int] = set()  # tabs whose cameras were moved
        self._drifts: dict[int, Drift] = {}
        self._drifted = self._looked = 0.0
        self.target: Place = self._middle
        self.is_centred = self.is_drifting = True
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
        self._by_hand.clear()
        self.start_again()

    def drift(self, cast: BodyTable, poses: Poses) -> None:
        """Move cameras that no viewer has moved to where the bodies are by now, slowly and if that makes a difference.

        Bodies that were added, that fell off the floor, and of many the few that went farthest are not followed.
        """
        now = time.perf_counter()
        passed, self._drifted = now - self._drifted, now
        count = len(self._cast)
        if not (self.is_drifting and self.is_centred and self.target is self._middle):
            return
        if len(cast) < count or not np.array_equal(cast.ids[:count], self._cast.ids):
            return
        is_due = now - self._looked >= LOOK_SECONDS
        if is_due:
            self._looked = now
            cast = without_lost(cast, poses, self._cast, self._poses)
        for client in self._clients():
            drift = self._drifts.get(client.client_id)
            if drift is None or client.client_id in self._by_hand:
                continue
            if is_due:
                camera, middle = _fitted(cast, poses, self._wanted, _size_of(client), self._covered)
                drift.look(camera.radius, middle)
            if drift.move(passed):
                self._put(client, drift)

    def start_again(self) -> None:
        """Place the cameras as `show_all` does, but for those that were moved by hand."""
        for client in self._clients():
            if client.client_id not in self._by_hand:
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
        aspect, places = self._fitted.get(client.client_id, (0.0, np.array([client.camera.position])))
        apart = np.linalg.norm(places - np.asarray(client.camera.position), axis=1).min()
        is_there = bool(apart <= UNMOVED * self._camera.radius)
        is_late = not is_there and any(np.allclose(client.camera.position, each) for each in self._unasked)
        if self._was_turned_by_key(client):
            _place(client, *self._kept[client.client_id])
        elif is_late or (is_there and client.camera.aspect != aspect):
            self._fit(client)
        elif not is_there:
            self._by_hand.add(client.client_id)
            if self.is_centred and not self._held and np.abs(self.target - client.camera.look_at).max() > 1e-3:
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
        camera, middle = _fitted(self._cast, self._poses, self._wanted, _size_of(client), self._covered)
        self._drifts[client.client_id] = drift = Drift(camera.radius, middle)
        self._fitted.pop(client.client_id, None)
        self._put(client, drift)

    def _put(self, client: Any, drift: Drift) -> None:
        """Place the camera of a tab where its drift is, and remember that no viewer moved it there."""
        middle = drift.target
        position = middle + away(replace(self._camera, radius=drift.distance))
        before = self._fitted.get(client.client_id, (0.0, position[np.newaxis]))[1]
        self._fitted[client.client_id] = client.camera.aspect, np.vstack((before[1 - REMEMBERED :], position))
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


def _size_of(client: Any) -> tuple[int, int]:
    """Return the width and height of the scene of a tab [pixels]."""
    return client.camera.image_width or PANE[0], client.camera.image_height or PANE[1]


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
