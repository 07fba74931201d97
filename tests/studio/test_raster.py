"""The renderer on the processor, against rays that are cast through every sample by other formulas."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from choque import World
from choque.record import BodyTable, Poses
from choque.scene import Camera
from choque.studio.stage import raster
from choque.studio.stage.camera import directions
from choque.studio.stage.raster import RasterStage
from choque.studio.stage.raster_kernels import NOTHING, Shapes, View, find_surfaces
from choque.studio.stage.stage import LIGHT

SIDE, FOCAL = 48, 40.0


def rays() -> NDArray[np.float64]:
    places = (np.arange(SIDE) + 0.5 - SIDE / 2) / FOCAL
    x, y = np.meshgrid(places, places)
    return np.stack((x, y, np.ones_like(x)), axis=-1)


def distances_to_balls(balls: NDArray[np.float64], steps: int = 500) -> NDArray[np.float64]:
    """(m, SIDE, SIDE) where each ray enters each ball or capsule, by sphere tracing; infinite if it does not."""
    direction = rays()
    length = np.linalg.norm(direction, axis=-1)
    found = []
    for cx, cy, cz, radius, *half in balls:
        center, axis = np.array([cx, cy, cz]), np.array(half)
        z = np.zeros((SIDE, SIDE))
        gap = np.full((SIDE, SIDE), np.inf)
        for _ in range(steps):
            away = z[..., None] * direction - center
            share = np.clip(away @ axis / max(axis @ axis, 1e-300), -1.0, 1.0)
            gap = np.linalg.norm(away - share[..., None] * axis, axis=-1) - radius
            z = np.minimum(z + gap / length, 100.0)
        found.append(np.where(np.abs(gap) < 1e-6, z, np.inf))
    return np.array(found)


def distances_to_triangles(triangles: NDArray[np.float64]) -> NDArray[np.float64]:
    """(t, SIDE, SIDE) where each ray meets each triangle (Möller and Trumbore, 1997); infinite if it does not."""
    direction = rays()
    found = []
    for corners in triangles.reshape(-1, 3, 3):
        first, second = corners[1] - corners[0], corners[2] - corners[0]
        cross = np.cross(direction, second)
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = 1.0 / (cross @ first)
            u = scale * (cross @ -corners[0])
            other = np.cross(-corners[0], first)
            v = scale * (direction @ other)
            z = scale * (second @ other)
            found.append(np.where((u >= 0) & (v >= 0) & (u + v <= 1) & (z > 0), z, np.inf))
    return np.array(found)


def seen_by(shapes: Shapes) -> View:
    view = View(FOCAL, np.empty((SIDE, SIDE), np.float32), np.empty((SIDE, SIDE), np.int32))
    find_surfaces(0, SIDE // 3, shapes, 1.0, view)
    find_surfaces(SIDE // 3, SIDE, shapes, 1.0, view)
    return view


def shapes_of(balls: NDArray[np.float64], triangles: NDArray[np.float64]) -> Shapes:
    return Shapes(balls, triangles, np.empty((0, 6)), np.zeros(len(balls) + len(triangles), np.int32))


@pytest.mark.parametrize("seed", range(5))
def test_nearest_surfaces_are_those_that_rays_meet_first(seed: int) -> None:
    random = np.random.default_rng(seed)
    balls = np.zeros((12, 7))
    balls[:, :3] = random.uniform((-3, -3, 1), (3, 3, 9), (12, 3))
    balls[:, 3] = random.uniform(0.1, 0.8, 12)
    balls[::2, 4:] = random.normal(0, 0.7, (6, 3))
    balls[1, 2], balls[3, :2] = -4.0, 0.0  # behind the camera; in the middle
    balls[2, 4:] = balls[2, :3] / np.linalg.norm(balls[2, :3])  # a capsule seen along its axis
    # None around the camera: there, where a ray leaves a body is not defined.
    reach = balls[:, 3] + np.linalg.norm(balls[:, 4:], axis=1)
    balls = balls[np.linalg.norm(balls[:, :3], axis=1) > reach + 0.05]
    triangles = random.uniform((-3, -3, -1), (3, 3, 9), (10, 3, 3)).reshape(-1, 9)
    view = seen_by(shapes_of(balls, triangles))
    wanted = np.concatenate((distances_to_balls(balls), distances_to_triangles(triangles)))
    nearest = wanted.min(axis=0)
    number = np.where(np.isinf(nearest), NOTHING, wanted.argmin(axis=0))
    agree = view.seen == number
    assert agree.mean() > 0.999  # the rest are samples on outlines
    with np.errstate(divide="ignore"):
        assert np.allclose(1.0 / view.inverse[agree], nearest[agree], rtol=1e-4, atol=0)


def test_triangles_that_reach_behind_the_camera_are_not_clipped_away() -> None:
    ground = np.array([[-400, 1, -400, 400, 1, -400, 0, 1, 400]], np.float64)
    view = seen_by(shapes_of(np.empty((0, 7)), ground))
    assert (view.seen[SIDE // 2 + 3 :] == 0).all()
    assert (view.seen[: SIDE // 2] == NOTHING).all()


def ball_over_floor() -> tuple[BodyTable, Poses]:
    world = World()
    world.add_tiles([[0, 0, 0]], length=12, width=12)
    world.add_spheres([[0, 2, 0]], radius=1.0)
    bodies = world.bodies
    table = replace(BodyTable.of(bodies), color=np.array([[200, 200, 200], [220, 40, 40]], np.uint8))
    return table, Poses(bodies.position.astype(np.float32), bodies.rotation.astype(np.float32))


def drawn(threads: int = 1, **options: object) -> NDArray[np.int64]:
    with RasterStage(Camera(14, -50, 0), size=(120, 90), threads=threads, **options) as stage:  # type: ignore[arg-type]
        stage.show(*ball_over_floor())
        return stage.picture().astype(np.int64)


def test_a_ball_casts_a_shadow_on_the_floor_and_none_on_itself() -> None:
    with_shadow, without = drawn(), drawn(shadows=False)
    differs = (with_shadow != without).any(axis=2)
    assert 100 < differs.sum() < 1500
    is_ball = without[..., 0] > 2 * without[..., 1]
    assert is_ball.sum() > 100
    assert not (differs & is_ball).sum() > 25  # its outline, mixed with the floor
    assert (with_shadow[differs].sum(axis=1) < without[differs].sum(axis=1)).all()


def test_a_ball_that_went_far_away_still_casts_a_shadow() -> None:
    cast, poses = ball_over_floor()
    ball, seen = np.flatnonzero(~cast.static), []
    far = Poses(poses.position.copy(), poses.rotation)
    far.position[ball] += np.float32([-40.0, 0.0, 0.0])
    for shadows in (True, False):
        with RasterStage(Camera(14, -50, 0), size=(120, 90), threads=1, shadows=shadows) as stage:
            stage.show(cast, poses)
            stage.aim(Camera(14, -50, 0), (-40.0, 0.0, 0.0))
            stage.show(cast, far)
            seen.append(stage.picture().astype(np.int64))
    assert (seen[0].sum(axis=2) < seen[1].sum(axis=2) - 20).sum() > 50


def test_the_picture_is_the_same_for_any_number_of_threads() -> None:
    assert (drawn(threads=1) == drawn(threads=3)).all()


def test_samples_smooth_outlines_and_meshes_replace_round_bodies_on_request() -> None:
    smooth, rough, mesh = drawn(smoothing=3), drawn(smoothing=1), drawn(definition=3)
    assert np.abs(smooth - rough).sum() > 0
    assert (mesh != drawn()).any(axis=2).sum() > 50


def test_an_empty_stage_is_the_sky() -> None:
    picture = RasterStage(Camera(10, 0, 0), size=(32, 24), smoothing=1).picture()
    assert (np.abs(picture.astype(int) - picture[:, ::-1]) <= 1).all()
    top, horizon = picture[0, 16].astype(int), picture[11, 16].astype(int)
    assert (top < horizon).all()


def test_a_wall_between_the_camera_and_the_bodies_is_left_out() -> None:
    world = World()
    upright = np.array([[1.0, 0, 0], [0, 0, -1.0], [0, 1.0, 0]])  # the normal is z
    world.add_tiles([[0, 0, 3]], length=12, width=12, rotation=upright)
    world.add_spheres([[0, 0, 0]], radius=1.0)
    bodies = world.bodies
    table = replace(BodyTable.of(bodies), color=np.array([[200, 200, 200], [220, 40, 40]], np.uint8))
    poses = Poses(bodies.position.astype(np.float32), bodies.rotation.astype(np.float32))
    with RasterStage(Camera(14, 0, 0), size=(60, 60), shadows=False) as stage:
        stage.show(table, poses)
        front = stage.picture()
        stage.aim(Camera(14, 0, 180), (0, 0, 0))
        stage.show(table, poses)
        back = stage.picture()
    assert front[30, 30, 0] > 2 * front[30, 30, 1]  # the ball is seen from both sides,
    assert back[30, 30, 0] > 2 * back[30, 30, 1]
    assert np.ptp(front[30, 48]) > 20 > np.ptp(back[30, 48])  # and the grey wall only behind it


def test_lines_are_hidden_by_what_is_in_front_of_them() -> None:
    with RasterStage(Camera(14, 0, 0), size=(120, 90), shadows=False) as stage:
        stage.show(*ball_over_floor())
        stage.add_segments(np.array([[[-5, 2, -3], [5, 2, -3]], [[-5, 3.5, 3], [5, 3.5, 3]]], float), (0, 255, 0))
        green = (stage.picture() == (0, 255, 0)).all(axis=2)
    rows = np.flatnonzero(green.any(axis=1))
    assert green[rows.min()].sum() > 60  # in front of the ball, whole
    behind = green[rows[rows > rows.min() + 3]].any(axis=0)
    assert 0 < behind.sum() < 60  # interrupted by the ball
    assert not behind[58:62].any()


def test_a_small_picture_holds_every_kind_of_body_and_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few enough samples for kernels that run as plain Python."""
    monkeypatch.setattr(raster, "SHADOW_SIDE", 24)
    world = World()
    world.add_ground()
    world.add_tiles([[0, 0.2, 0]], length=6, width=6)
    world.add_spheres([[-1.5, 1.2, 0]], radius=0.8)
    world.add_capsules([[1.5, 1.2, 0]], length=1.5, radius=0.5)
    world.add_boxes([[0, 1, 2.5]], 1.5)
    bodies = world.bodies
    poses = Poses(bodies.position.astype(np.float32), bodies.rotation.astype(np.float32))
    lines = np.array([[[-3, 3, 0], [3, 3, 0]], [[2, -1, 3], [2, 4, 3]], [[0, 2, 0], [0, 2, 90]]], float)
    pictures = {}
    for shadows in (True, False):
        with RasterStage(Camera(9, -25, 20), size=(32, 24), shadows=shadows, axes=True, threads=1) as stage:
            stage.show(BodyTable.of(bodies), poses)
            stage.add_segments(lines, (0, 255, 0))
            pictures[shadows] = stage.picture().astype(int)
    light, dark = pictures[False], pictures[True]
    assert 10 < (dark.sum(axis=2) < light.sum(axis=2)).sum() < 300  # of 768 pixels
    assert (dark <= light).all()
    green = (light[..., 1] > light[..., 0] + 60).any(axis=0), (light[..., 1] > light[..., 0] + 60).any(axis=1)
    assert green[0].sum() > 16  # a line across most columns,
    assert green[1].sum() > 8  # and one across most rows


def test_levels_of_light_change_gradually() -> None:
    """Steps of one level were seen as rings on large balls."""
    with RasterStage(Camera(), size=(64, 256), smoothing=1, shadows=False) as stage:
        rows = stage.picture()[:120].astype(float).reshape(30, 4 * 64, 3).mean(axis=1)  # of the sky, 4 rows together
    assert np.unique(rows[:, 0] % 1.0).size > 4


def test_balls_in_another_order_for_the_light_than_for_the_camera_have_no_shadow_on_themselves() -> None:
    world = World()
    ahead, _, _ = directions(Camera(30, -10, 20))
    small = -12.0 * ahead - (12.0 * (-ahead @ LIGHT) + 6.0) * LIGHT  # nearer to the camera, farther from the light
    world.add_spheres([[0, 0, 0], small], [4.0, 0.5])
    pictures = []
    for shadows in (True, False):
        with RasterStage(Camera(30, -10, 20), size=(160, 90), shadows=shadows) as stage:
            poses = Poses(world.bodies.position.astype("f4"), world.bodies.rotation.astype("f4"))
            stage.show(BodyTable.of(world.bodies), poses)
            pictures.append(stage.picture()[20:45, 60:100])
    np.testing.assert_array_equal(*pictures)
