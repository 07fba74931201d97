"""Cameras of views of bodies: they find the bodies, follow them, and stay where a hand puts them."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from choque import scene
from choque.record import BodyTable, Poses
from choque.scene import Camera
from choque.studio.page import cameras as studio_cameras
from choque.studio.page.cameras import HOLD_SECONDS, LATE_SECONDS, TIMELINE, Cameras
from choque.studio.stage.camera import VIEW_ANGLE
from choque.studio.stage.extents import outline
from choque.world import World

BEFORE = (90.0, 90.0, 90.0)
"""Where the view before wanted the first camera."""


@pytest.fixture
def tab() -> Any:
    camera = SimpleNamespace(
        aspect=0.75, image_width=450, image_height=600, position=np.zeros(3), look_at=np.zeros(3), up_direction=None
    )
    return SimpleNamespace(client_id=0, camera=camera, atomic=nullcontext)


@pytest.fixture
def server(tab: Any) -> Any:
    return SimpleNamespace(initial_camera=SimpleNamespace(position=BEFORE), get_clients=lambda: {0: tab})


@pytest.fixture
def cameras(server: Any) -> Cameras:
    bodies = scene.bodies("gas", 20).world(broad="brute").bodies
    poses = Poses(bodies.position.astype(np.float32), bodies.rotation.astype(np.float32))
    return Cameras(server, Camera(), BodyTable.of(bodies), poses)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Any:
    made = SimpleNamespace(now=100.0)
    monkeypatch.setattr(studio_cameras, "time", SimpleNamespace(perf_counter=lambda: made.now))
    return made


def turned(tab: Any, level: float, upward: float = 0.0) -> np.ndarray:
    """Return where the camera is after a turn around its target: ``level`` radians to the side, then ``upward``."""
    x, y, z = np.asarray(tab.camera.position) - tab.camera.look_at
    flat, height = np.hypot(x, z), np.arctan2(y, np.hypot(x, z)) + upward
    reach, side = np.hypot(flat, y), np.arctan2(x, z) + level
    away = reach * np.array([np.cos(height) * np.sin(side), np.sin(height), np.cos(height) * np.cos(side)])
    there: np.ndarray = np.asarray(tab.camera.look_at) + away
    return there


def press_arrow(cameras: Cameras, clock: Any) -> None:
    """Press an arrow key, and let the moment go by after which the camera is put back."""
    cameras.hold()
    wait = cameras.let_go()
    assert wait is not None
    assert wait <= HOLD_SECONDS
    clock.now += HOLD_SECONDS + 0.1
    assert cameras.let_go() is None


@pytest.mark.parametrize("turn", [(2.0, 0.0), (0.0, 0.3), (-0.05, 0.0)], ids=["sideways", "upward", "a little"])
def test_a_rotation_by_an_arrow_key_that_is_reported_late_is_undone(
    cameras: Cameras, tab: Any, clock: Any, turn: tuple[float, float]
) -> None:
    """F-001-34: a page drawn without a graphics card tells of it seconds after the key."""
    start = np.array(tab.camera.position)
    press_arrow(cameras, clock)
    clock.now += 4.0
    tab.camera.position = turned(tab, *turn)
    cameras.moved(tab)
    np.testing.assert_allclose(tab.camera.position, start)


def test_a_rotation_by_mouse_stays(cameras: Cameras, tab: Any, clock: Any) -> None:
    press_arrow(cameras, clock)
    tab.camera.position = elsewhere = turned(tab, 0.4, 0.2)
    cameras.moved(tab)
    np.testing.assert_array_equal(tab.camera.position, elsewhere)
    tab.camera.position = nearer = 0.5 * (np.asarray(tab.camera.position) + tab.camera.look_at)
    cameras.moved(tab)
    np.testing.assert_array_equal(tab.camera.position, nearer)


def test_long_after_a_key_every_rotation_stays(cameras: Cameras, tab: Any, clock: Any) -> None:
    press_arrow(cameras, clock)
    clock.now += LATE_SECONDS + 1.0
    tab.camera.position = elsewhere = turned(tab, 1.0)
    cameras.moved(tab)
    np.testing.assert_array_equal(tab.camera.position, elsewhere)


@pytest.mark.parametrize("unasked", ["the view before", "this view"])
def test_the_camera_of_a_slow_page_is_corrected(cameras: Cameras, server: Any, tab: Any, unasked: str) -> None:
    fitted = np.array(tab.camera.position)
    tab.camera.position = np.array(BEFORE if unasked == "the view before" else server.initial_camera.position)
    assert not np.allclose(tab.camera.position, fitted)
    cameras.moved(tab)
    np.testing.assert_allclose(tab.camera.position, fitted)


def pixels_of(points: np.ndarray, tab: Any, size: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return where points are seen in a tab: pixels from the left and from the top."""
    ahead = tab.camera.look_at - np.asarray(tab.camera.position)
    ahead = ahead / np.linalg.norm(ahead)
    right = np.cross(ahead, (0.0, 1.0, 0.0))
    right = right / np.linalg.norm(right)
    out = points - np.asarray(tab.camera.position)
    scale = size[1] / 2 / np.tan(np.radians(VIEW_ANGLE / 2)) / (out @ ahead)
    return size[0] / 2 + scale * (out @ right), size[1] / 2 - scale * (out @ np.cross(right, ahead))


@pytest.mark.parametrize("size", [(900, 600), (500, 700), (1600, 500)])
def test_all_bodies_are_seen_above_the_timeline(server: Any, tab: Any, size: tuple[int, int]) -> None:
    """By projecting the corners of the boxes around the bodies of `demolition`, four pyramids that fill the page."""
    world = scene.find_bodies("demolition").world(broad="brute")
    bodies = world.bodies
    poses = Poses(bodies.position.astype(np.float32), bodies.rotation.astype(np.float32))
    tab.camera.image_width, tab.camera.image_height = size
    tab.camera.aspect = size[0] / size[1]
    cast = BodyTable.of(bodies)
    Cameras(server, scene.find_bodies("demolition").camera, cast, poses, has_timeline=True)
    boxes: Any = world.bounds()
    moving = ~bodies.static
    ends = np.stack((boxes.lower[moving], boxes.upper[moving]))
    corners = np.array([[ends[i, :, 0], ends[j, :, 1], ends[k, :, 2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
    points = corners.transpose(0, 2, 1).reshape(-1, 3)
    across, down = pixels_of(points, tab, size)
    assert across.min() > 0.0
    assert across.max() < size[0]
    assert down.min() > 0.0
    assert down.max() < size[1] - TIMELINE
    fills = (np.ptp(across) / size[0], np.ptp(down) / (size[1] - TIMELINE))
    assert max(fills) > 0.6


def reach_of(tab: Any) -> float:
    """Return the distance of a camera from its target."""
    return float(np.linalg.norm(np.subtract(tab.camera.position, tab.camera.look_at)))


def moved_to(cast: BodyTable, poses: Poses, shift: tuple[float, float, float], scale: float = 1.0) -> Poses:
    """Return poses in which the moving bodies lie elsewhere and nearer together."""
    there = np.where(cast.static[:, np.newaxis], poses.position, scale * poses.position + np.array(shift, np.float32))
    return Poses(there.astype(np.float32), poses.rotation)


@pytest.fixture
def heap(server: Any) -> Any:
    world = World("brute")
    world.add_spheres([[x, y, 0.0] for x in (-8, 8) for y in (1, 9)], 0.5)
    world.add_ground()
    bodies = world.bodies
    cast, poses = BodyTable.of(bodies), Poses(bodies.position.astype(np.float32), bodies.rotation.astype(np.float32))
    return SimpleNamespace(cameras=Cameras(server, Camera(), cast, poses), cast=cast, poses=poses)


def play(heap: Any, poses: Poses, clock: Any, seconds: float, tab: Any) -> None:
    for _ in range(round(30 * seconds)):
        clock.now += 1 / 30
        heap.cameras.drift(heap.cast, poses)
        heap.cameras.moved(tab)  # the page reports where its camera is


def test_a_camera_goes_where_the_bodies_go_until_it_is_moved_by_hand(heap: Any, tab: Any, clock: Any) -> None:
    start = reach_of(tab)
    gathered = moved_to(heap.cast, heap.poses, (20.0, 0.5, 0.0), 0.2)
    play(heap, gathered, clock, 8.0, tab)
    near = reach_of(tab)
    assert near < 0.6 * start
    assert tab.camera.look_at[0] == pytest.approx(20.0, abs=1.5)
    tab.camera.position = by_hand = np.asarray(tab.camera.position) + (0.0, 3.0, 0.0)
    heap.cameras.moved(tab)
    play(heap, heap.poses, clock, 5.0, tab)
    np.testing.assert_array_equal(tab.camera.position, by_hand)
    heap.cameras.start_again()
    np.testing.assert_array_equal(tab.camera.position, by_hand)
    heap.cameras.show_all()
    assert reach_of(tab) == pytest.approx(start)


def test_a_camera_stays_for_bodies_that_bounce_or_are_added_and_goes_no_farther_than_a_limit(
    heap: Any, tab: Any, clock: Any
) -> None:
    start, reach = np.array(tab.camera.position), reach_of(tab)
    low = moved_to(heap.cast, heap.poses, (0.0, 0.5, 0.0), 0.2)
    for _ in range(4):
        play(heap, low, clock, 1.0, tab)
        play(heap, heap.poses, clock, 1.0, tab)
    np.testing.assert_allclose(tab.camera.position, start, atol=1e-6)
    added = replace(heap.cast, ids=heap.cast.ids + 100)
    more = Poses(
        np.concatenate((heap.poses.position, 50 + heap.poses.position)), np.tile(heap.poses.rotation, (2, 1, 1))
    )
    both, heap.cast = heap.cast, heap.cast.joined(added)
    assert len(heap.cast) == 2 * len(both)
    heap.cameras.drift(heap.cast, more)
    heap.cast = both
    play(heap, moved_to(heap.cast, heap.poses, (0.0, 0.0, 0.0), 100.0), clock, 20.0, tab)
    assert reach_of(tab) == pytest.approx(2.5 * reach, rel=0.01)


@pytest.mark.parametrize("name", [*scene.names("built-in"), *scene.names("bodies")])
def test_the_bodies_of_every_scene_fill_the_page_at_its_start(server: Any, tab: Any, name: str) -> None:
    """Nothing that moves is cut off, and all bodies together, where they fall included, reach over the free part."""
    found = scene.find_bodies(name)
    bodies = found.world(broad="brute").bodies
    cast, poses = BodyTable.of(bodies), Poses(bodies.position.astype(np.float32), bodies.rotation.astype(np.float32))
    tab.camera.image_width, tab.camera.image_height, tab.camera.aspect = 900, 600, 1.5
    Cameras(server, found.camera, cast, poses, has_timeline=True)
    points, _ = outline(replace(cast, drawn=cast.drawn & ~cast.static), poses)
    if not len(points):
        return  # it is empty
    across, down = pixels_of(points, tab, (900, 600))
    assert across.min() > -1.0
    assert across.max() < 901.0
    assert down.min() > -1.0
    assert down.max() < 601.0 - TIMELINE
    all_points, _ = outline(cast, poses)
    across, down = pixels_of(all_points, tab, (900, 600))
    assert max(np.ptp(across) / 900, np.ptp(down) / (600 - TIMELINE)) > 0.45
