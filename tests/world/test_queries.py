"""Questions to worlds against brute force: points sampled along rays, all pairs of shapes, closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import choque
from choque.bounds import Boxes, Spheres
from choque.errors import InvalidInput
from choque.narrow import Hulls, Kind, Shapes, contacts
from choque.narrow.rays import enter_solids

SAMPLES = 4001


def turns(random: np.random.Generator, count: int) -> np.ndarray:
    """Random rotations (count, 3, 3)."""
    found = np.linalg.qr(random.normal(size=(count, 3, 3)))[0]
    return found * np.linalg.det(found)[:, np.newaxis, np.newaxis]


def mixed_world(seed: int, count: int = 6, **options: object) -> choque.World:
    """Bodies of every kind in a cube of 8, with a ground below it."""
    random = np.random.default_rng(seed)
    world = choque.World(**options)  # type: ignore[arg-type]

    def places() -> np.ndarray:
        return random.uniform(-4, 4, (count, 3))

    world.add_spheres(places(), random.uniform(0.2, 1, count))
    world.add_capsules(
        places(), random.uniform(0.2, 0.6, count), random.uniform(0, 2, count), rotation=turns(random, count)
    )
    world.add_boxes(places(), random.uniform(0.3, 2, (count, 3)), rotation=turns(random, count))
    world.add_hulls(
        Hulls.solids("octahedron"), places(), random.uniform(0.5, 1, (count, 3)), rotation=turns(random, count)
    )
    world.add_tiles(places()[:2], 3.0, 2.0, rotation=turns(random, 2))
    world.add_ground(-5.0)
    return world


def inside(world: choque.World, row: int, points: np.ndarray, slack: float = 0.0) -> np.ndarray:
    """Which of the points (k, 3) lie in a solid body that is larger by ``slack``, from its definition."""
    bodies = world.bodies
    local = (points - bodies.position[row]) @ bodies.rotation[row]
    size, kind = bodies.size[row], bodies.kind[row]
    if kind == Kind.SPHERE:
        return np.linalg.norm(local, axis=1) <= size[0] + slack
    if kind == Kind.CAPSULE:
        local[:, 2] -= np.clip(local[:, 2], -size[1] / 2, size[1] / 2)
        return np.linalg.norm(local, axis=1) <= size[0] + slack
    if kind == Kind.PLANE:
        return local[:, 1] <= slack
    if bodies.hulls.first[bodies.hull[row] + 1] - bodies.hulls.first[bodies.hull[row]] == 8:
        return (np.abs(local) <= size / 2 + slack).all(axis=1)
    return np.abs(local / size).sum(axis=1) <= 1 + slack / size.min()


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**20))
def test_rays_enter_where_points_along_them_first_lie_in_a_body(seed: int) -> None:
    world, random = mixed_world(seed), np.random.default_rng(seed + 1)
    origin, end = random.uniform(-6, 6, (2, 8, 3))
    hits = world.cast_rays(origin, end - origin, longest=1.0, every=True)
    share = np.linspace(0, 1, SAMPLES)[:, np.newaxis]
    solid = np.flatnonzero(world.bodies.kind != Kind.TILE)
    for ray in range(len(origin)):
        along = origin[ray] + share * (end[ray] - origin[ray])
        mine = {int(hits.ids[k]): k for k in np.flatnonzero(hits.question == ray)}
        for row in solid.tolist():
            within = inside(world, row, along)
            if not within.any():
                if row in mine:  # a chord shorter than the distance of two samples
                    assert inside(world, row, hits.point[mine[row], np.newaxis], 1e-9).all()
                continue
            at, first = mine.pop(row), share[np.argmax(within), 0]
            assert first - 1 / (SAMPLES - 1) - 1e-12 <= hits.distance[at] <= first + 1e-12
            if hits.distance[at] > 0:
                normal, point = hits.normal[at], hits.point[at]
                assert np.linalg.norm(normal) == pytest.approx(1)
                assert inside(world, row, (point - 1e-7 * normal)[np.newaxis]).all()
                assert not inside(world, row, (point + 1e-7 * normal)[np.newaxis]).any()
                assert normal @ (end[ray] - origin[ray]) < 1e-12
    closest = world.cast_rays(origin, end - origin, longest=1.0)
    for ray in range(len(origin)):
        rows = np.flatnonzero(hits.question == ray)
        assert closest.ids[ray] == (hits.ids[rows[0]] if len(rows) else -1)
        assert closest.distance[ray] == (hits.distance[rows].min() if len(rows) else np.inf)


def test_rays_meet_tiles_from_both_sides_and_pass_beside_them() -> None:
    world = choque.World()
    world.add_tiles([[0, 1, 0]], 4.0, 2.0)
    hits = world.cast_rays(
        [[1.9, 3, 0.9], [0, -3, 0], [2.1, 3, 0], [0, 1, -9]], [[0, -1, 0], [0, 2, 0], [0, -1, 0], [0, 0, 1]]
    )
    assert hits.ids.tolist() == [0, 0, -1, -1]
    assert hits.distance.tolist() == [2, 2, np.inf, np.inf]
    assert hits.normal[:2].tolist() == [[0, 1, 0], [0, -1, 0]]


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**20))
def test_shapes_overlap_what_all_pairs_say_and_stop_where_they_first_touch(seed: int) -> None:
    world, random = mixed_world(seed, 4), np.random.default_rng(seed + 1)
    place = random.uniform(-4, 4, (5, 3))
    for shapes in (
        Shapes.of_spheres(place, 0.7),
        Shapes.of_capsules(place, 0.3, 1.0, rotation=turns(random, 5)),
        Shapes.of_boxes(place, [0.5, 1, 2], rotation=turns(random, 5)),
    ):
        assert world.query(shapes).tolist() == all_overlaps(world, shapes, np.zeros((5, 3)))
        motion = random.uniform(-4, 4, (5, 3))
        hits = world.cast_shapes(shapes, motion)
        before, after = np.minimum(hits.distance, 1) - 1e-4, hits.distance + 1e-3
        started = hits.distance == 0
        touched = all_overlaps(world, shapes, np.maximum(before, 0)[:, np.newaxis] * motion)
        assert {row for row, _ in touched} <= set(np.flatnonzero(started).tolist())
        sampled = [
            all_overlaps(world, shapes, share * np.minimum(before, 1)[:, np.newaxis] * motion) for share in (0.3, 0.7)
        ]
        assert {row for found in sampled for row, _ in found} <= set(np.flatnonzero(started).tolist())
        deep = all_overlaps(world, shapes, np.minimum(after, 1)[:, np.newaxis] * motion)
        for row in np.flatnonzero(~started & (after < 1)).tolist():
            assert [row, int(hits.ids[row])] in deep or np.abs(hits.normal[row] @ motion[row]) < 0.1


def all_overlaps(world: choque.World, shapes: Shapes, moved: np.ndarray) -> list[list[int]]:
    """Every pair of a shape, moved, and a body, by exact contacts without a broad phase."""
    scratch = world.copy()
    count = len(world)
    place = shapes.position + moved
    for row in range(len(shapes)):
        size, turn = shapes.size[row], shapes.rotation[row]
        if shapes.kind[row] == Kind.SPHERE:
            scratch.add_spheres(place[row], size[0])
        elif shapes.kind[row] == Kind.CAPSULE:
            scratch.add_capsules(place[row], size[0], size[1], rotation=turn)
        else:
            scratch.add_boxes(place[row], size, rotation=turn)
    pairs = np.array([[body, count + row] for row in range(len(shapes)) for body in range(count)], np.int32)
    found = contacts(scratch.bodies.shapes(), pairs).pairs
    return sorted([int(row) - count, int(body)] for body, row in found)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**20), count=st.integers(1, 5))
def test_nearest_bodies_are_those_of_the_closed_forms(seed: int, count: int) -> None:
    random = np.random.default_rng(seed)
    world = choque.World()
    world.add_spheres(random.uniform(-9, 9, (20, 3)), random.uniform(0.2, 2, 20))
    world.add_capsules(random.uniform(-9, 9, (9, 3)), 0.4, 3.0, rotation=turns(random, 9))
    world.add_boxes(random.uniform(-9, 9, (20, 3)), random.uniform(0.3, 4, (20, 3)), rotation=turns(random, 20))
    world.add_ground(-9.0)
    bodies, points = world.bodies, random.uniform(-10, 10, (6, 3))
    exact = np.empty((6, len(world)))
    for row in range(len(world)):
        local = (points - bodies.position[row]) @ bodies.rotation[row]
        if bodies.kind[row] == Kind.PLANE:
            exact[:, row] = local[:, 1]
        elif bodies.kind[row] == Kind.CONVEX:
            exact[:, row] = np.linalg.norm(np.maximum(np.abs(local) - bodies.size[row] / 2, 0), axis=1)
        else:
            local[:, 2] -= np.clip(local[:, 2], -bodies.size[row, 1] / 2, bodies.size[row, 1] / 2)
            exact[:, row] = np.linalg.norm(local, axis=1) - bodies.size[row, 0]
    exact = np.maximum(exact, 0)
    hits = world.nearest(points, count=count)
    distance = hits.distance.reshape(6, count)
    np.testing.assert_allclose(distance, np.sort(exact, axis=1)[:, :count], atol=1e-9)
    np.testing.assert_allclose(exact[hits.question, hits.ids], hits.distance, atol=1e-9)
    gap = np.linalg.norm(points[hits.question] - hits.point, axis=1)
    np.testing.assert_allclose(gap, hits.distance, atol=1e-9)
    ignored = world.nearest(points, count=count, ignore=hits.ids)
    assert not np.isin(ignored.ids, hits.ids).any()


def test_segments_overlaps_and_nearest_bodies_of_a_world_in_motion_are_those_of_all_pairs() -> None:
    """The answers come from the structure of the broad phase, whose boxes are wider than the bodies."""
    world, random = mixed_world(5, 4, gravity=(0, -9.81, 0)), np.random.default_rng(6)
    every = np.argwhere(np.ones((7, len(world)))).astype(np.int32)
    for _ in range(4):
        for _ in range(3):
            world.step(1 / 60)
        start, end = random.uniform(-6, 6, (2, 7, 3))
        hits = world.cast_rays(start, end - start, longest=1.0)
        entered = enter_solids(world.bodies.shapes(), every, start, end - start).distance.reshape(7, -1)
        entered[entered > 1] = np.inf
        np.testing.assert_array_equal(hits.distance, entered.min(axis=1))
        assert hits.ids.tolist() == np.where(np.isfinite(hits.distance), entered.argmin(axis=1), -1).tolist()
        shapes = Shapes.of_spheres(start, 0.7)
        assert world.query(shapes).tolist() == all_overlaps(world, shapes, np.zeros((7, 3)))
        nearest, all_bodies = world.nearest(start), world.nearest(start, count=len(world))
        np.testing.assert_array_equal(nearest.ids, all_bodies.ids.reshape(7, -1)[:, 0])


def test_sleeping_bodies_answer_as_others_do_and_moved_ones_from_where_they_are() -> None:
    world = choque.World(gravity=(0, -9.81, 0))
    world.add_ground()
    world.add_boxes([[0, 0.5, 0], [0, 1.5, 0], [4, 0.5, 0]])
    awake = None
    for frame in range(100):
        world.step(1 / 60)
        hits = world.cast_rays([[-5, 0.5, 0], [0, 9, 0], [9, 0.5, 0]], [[1, 0, 0], [0, -1, 0], [-1, 0, 0]])
        assert hits.ids.tolist() == [1, 2, 3]
        awake = hits.distance if frame == 20 else awake
    assert world.asleep[1:].all()
    np.testing.assert_allclose(hits.distance, awake, atol=1e-3)
    world.bodies.position[3] = [4, 5.5, 0]
    assert world.cast_rays([9, 0.5, 0], [-1, 0, 0]).ids.tolist() == [1]
    assert world.cast_rays([9, 5.5, 0], [-1, 0, 0]).ids.tolist() == [3]


def test_masks_ignored_bodies_and_sensors_are_passed_through() -> None:
    world = choque.World(dtype="float32")
    near, far = world.add_spheres([[3, 0, 0], [6, 0, 0]], 1.0, group=[2, 4])
    world.add_boxes([[1, 0, 0]], sensor=True)
    ray = ([0, 0, 0], [1, 0, 0])
    assert world.cast_rays(*ray).ids.tolist() == [near]
    assert world.cast_rays(*ray, ignore=near).ids.tolist() == [far]
    assert world.cast_rays(*ray, mask=4).ids.tolist() == [far]
    assert world.cast_rays(*ray, mask=1).ids.tolist() == [-1]
    assert world.query(Boxes([[2, 0, 0]], [[5.5, 1, 1]])).tolist() == [[0, near], [0, far]]
    assert world.query(Spheres([[2.0, 0, 0]], [0.5]), mask=4).tolist() == []
    ball, way = Spheres([[0.0, 0, 0]], [0.5]), [10, 0, 0]
    assert world.cast_shapes(ball, way).distance == pytest.approx([0.15], abs=1e-5)
    assert world.cast_shapes(ball, way, ignore=near).ids.tolist() == [far]
    assert world.cast_shapes(ball, way, mask=4).ids.tolist() == [far]
    assert world.cast_shapes(ball, way, mask=1).ids.tolist() == [-1]
    assert world.nearest([0, 0, 0], ignore=near).ids.tolist() == [far]


def test_shapes_come_down_on_a_tilted_ground_by_the_closed_form() -> None:
    slope = choque.dynamics.response.rotations(np.array([[0.0, 0, 30]]))[0]
    world = choque.World()
    world.add_ground(rotation=slope)
    hits = world.cast_shapes(Shapes.of_spheres([[0, 5, 0], [0, 5, 0]], 1.0), [[0, -10, 0], [0, -1, 0]])
    assert hits.ids.tolist() == [0, -1]
    assert hits.distance[0] == pytest.approx((5 - 1 / np.cos(np.radians(30))) / 10)
    np.testing.assert_allclose(hits.normal[0], slope[:, 1])


def test_an_empty_world_and_no_questions_have_no_answers() -> None:
    world = choque.World()
    none = np.empty((0, 3))
    assert world.cast_rays([0, 0, 0], [1, 0, 0]).ids.tolist() == [-1]
    assert world.nearest([0, 0, 0], count=2).ids.tolist() == [-1, -1]
    assert world.query(Shapes.of_spheres([[0, 0, 0]])).shape == (0, 2)
    assert world.cast_shapes(Shapes.of_spheres([[0, 0, 0]]), [1, 0, 0]).ids.tolist() == [-1]
    world.add_spheres([0, 0, 0])
    assert (
        len(world.cast_rays(none, none)) == len(world.nearest(none)) == len(world.query(Shapes.of_spheres(none))) == 0
    )
    assert world.nearest([0, 5, 0], count=3).ids.tolist() == [0, -1, -1]


def test_bad_questions_are_refused_in_a_sentence() -> None:
    world = choque.World()
    world.add_spheres([0, 0, 0])
    flat = Shapes(np.array([2], np.int8), np.zeros((1, 3)), np.eye(3)[np.newaxis], np.ones((1, 3)))
    for ask in (
        lambda: world.cast_rays([0, 0, 0], [0, 0, 0]),
        lambda: world.cast_rays([0, np.nan, 0], [1, 0, 0]),
        lambda: world.cast_rays([[0, 0, 0]] * 2, [[1, 0, 0]] * 3),
        lambda: world.cast_rays([0, 0, 0], [1, 0, 0], longest=-1),
        lambda: world.cast_rays([0, 0, 0], [1, 0, 0], ignore=[7]),
        lambda: world.cast_rays([0, 0, 0], [1, 0, 0], mask=-1),
        lambda: world.query(flat),
        lambda: world.query("ball"),  # type: ignore[arg-type]
        lambda: world.cast_shapes(Shapes.of_spheres([[0, 0, 0]]), [np.inf, 0, 0]),
        lambda: world.nearest([0, 0, 0], count=0),
        lambda: world.cast_rays([0, 0, 0], [1, 0, 0], longest="far"),  # type: ignore[arg-type]
        lambda: world.cast_rays([0, 0, 0], [1, 0, 0], longest=[1, 2]),  # type: ignore[arg-type]
        # beyond 1e50 squares overflow, and what is far away seemed to touch
        lambda: world.cast_rays([0, 0, -1e200], [0, 0, 1]),
        lambda: world.nearest([1e200, 0, 0]),
        lambda: world.cast_shapes(Shapes.of_spheres([[0, 9, 0]]), [0, -1e200, 0]),
        lambda: world.query(choque.bounds.Spheres([[1e200, 0, 0]], [1.0])),
        lambda: world.query(choque.bounds.Boxes([[1e200, 0, 0]], [[2e200, 1, 1]])),
        lambda: world.query(Shapes.of_spheres([[1e200, 0, 0]])),
        lambda: Shapes.of_spheres([[0, 0, 0]], -1.0),
        lambda: Shapes.of_boxes([[0, 0, 0]], [[1, 1, 1]] * 2),
    ):
        with pytest.raises(InvalidInput):
            ask()
