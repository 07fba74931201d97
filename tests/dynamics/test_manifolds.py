"""The manifolds that soft-step solves, against the narrow phase, which finds one contact a pair in another way."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import pytest

import choque
from choque.narrow import Hulls

SHAPES = ("sphere", "capsule", "box", "hull", "tile")
APART = 20.0
"""Between the pairs of bodies of a scene, none of which is larger than 2."""

TURNED = 0.05
"""A normal is turned to that of a face within 2.5 degrees, and bodies have half a length of 1."""


def add(world: choque.World, shape: str, place: np.ndarray, turn: np.ndarray) -> None:
    if shape == "sphere":
        world.add_spheres([place], 0.6)
    elif shape == "capsule":
        world.add_capsules([place], 0.4, 1.2, rotation=[turn])
    elif shape == "box":
        world.add_boxes([place], [0.9, 1.2, 0.7], rotation=[turn])
    elif shape == "hull":
        world.add_hulls(Hulls.solids("octahedron"), [place], 0.8, rotation=[turn])
    else:
        world.add_tiles([place], 1.6, 1.2, rotation=[turn])


def overlapping_pairs(seed: int) -> choque.World:
    """A world with two bodies of each two shapes, turned anyhow, some of which overlap."""
    random = np.random.default_rng(seed)
    world = choque.World(response="soft-step")
    for row, shapes in enumerate(combinations_with_replacement(SHAPES, 2)):
        turns = np.linalg.qr(random.normal(size=(2, 3, 3)))[0]
        turns[np.linalg.det(turns) < 0, :, 0] *= -1
        if row % 3 == 0:
            turns[1] = turns[0]  # faces and edges that are parallel
        way = random.normal(size=3)
        place = np.array(
            [[APART * row, 0, 0], [APART * row, 0, 0] + random.uniform(0.3, 0.9) * way / np.linalg.norm(way)]
        )
        for shape, at, turn in zip(shapes, place, turns, strict=True):
            add(world, shape, at, turn)
    return world


@pytest.mark.parametrize("seed", range(4))
def test_the_deepest_point_is_that_of_the_narrow_phase(seed: int) -> None:
    world = overlapping_pairs(seed)
    true = world.shadow("brute", bounds="box").find(world.bodies).contacts
    before = world.bodies.position.copy()
    world.step(1e-6)
    found = world.contacts()
    deepest = {
        tuple(pair): -found.separations[k, : found.point_count[k]].min() for k, pair in enumerate(found.pairs.tolist())
    }
    moving = [
        k
        for k, (a, b) in enumerate(true.pairs.tolist())
        if world.bodies.mass[a] < np.inf or world.bodies.mass[b] < np.inf
    ]
    assert len(moving) >= 8
    for k in moving:
        pair = tuple(true.pairs[k].tolist())
        assert deepest[pair] == pytest.approx(true.depth[k], abs=TURNED), pair
    # Moved apart along their normals, the bodies overlap no more.
    bodies = world.bodies
    bodies.position[...] = before
    for k, (_, b) in enumerate(found.pairs.tolist()):
        bodies.position[b] += max(deepest[tuple(found.pairs[k].tolist())], 0) * found.normal[k]
    left = world.shadow("brute", bounds="box").find(bodies).contacts
    assert (left.depth < TURNED).all()


def turn(axis: int, angle: float) -> np.ndarray:
    """Return the matrix of a turn about an axis of the world."""
    cosine, sine = np.cos(angle), np.sin(angle)
    matrix = np.eye(3)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    matrix[[i, i, j, j], [i, j, i, j]] = cosine, -sine, sine, cosine
    return matrix


def only_contact(world: choque.World) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the normal, the point and the depth of the one point in which two bodies touch."""
    world.step(1e-6)
    found = world.contacts()
    assert found.pairs.tolist() == [[0, 1]]
    assert found.point_count.tolist() == [1]
    return found.normal[0], found.points[0, 0], -float(found.separations[0, 0])


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_edges_of_boxes_that_cross_touch_in_one_point(sign: float) -> None:
    world = choque.World(response="soft-step")
    height = sign * (np.sqrt(2.0) - 0.05)
    world.add_boxes([[0, 0, 0], [0.1, height, 0.2]], rotation=[turn(0, np.pi / 4), turn(2, np.pi / 4)])
    normal, point, depth = only_contact(world)
    np.testing.assert_allclose(normal, [0, sign, 0], atol=1e-6)
    np.testing.assert_allclose(point, [0.1, 0.5 * height, 0], atol=1e-6)
    assert depth == pytest.approx(0.05, abs=1e-6)


@pytest.mark.parametrize("first", ["corner", "face"])
def test_the_corner_of_a_box_touches_the_face_of_another(first: str) -> None:
    tip = turn(0, np.arctan(np.sqrt(0.5))) @ turn(2, np.pi / 4)  # a diagonal along y
    place, turns = [[0, np.sqrt(0.75) - 0.03, 0], [0.1, -0.5, 0.1]], [tip, np.eye(3)]
    sign = -1.0
    if first == "face":
        place, turns, sign = place[::-1], turns[::-1], 1.0
    world = choque.World(response="soft-step")
    world.add_boxes(place, rotation=turns)
    normal, point, depth = only_contact(world)
    np.testing.assert_allclose(normal, [0, sign, 0], atol=1e-6)
    np.testing.assert_allclose(point, [0, -0.015, 0], atol=1e-6)
    assert depth == pytest.approx(0.03, abs=1e-6)


@pytest.mark.parametrize("axis", range(3))
def test_a_ball_whose_center_is_in_a_box_leaves_by_the_nearest_face(axis: int) -> None:
    place = np.zeros(3)
    place[axis] = 0.4
    world = choque.World(response="soft-step")
    world.add_boxes([[0, 0, 0]])
    world.add_spheres([place], 0.2)
    normal, _, depth = only_contact(world)
    np.testing.assert_allclose(normal, np.eye(3)[axis], atol=1e-6)
    assert depth == pytest.approx(0.3, abs=1e-6)


def test_a_ball_whose_center_is_on_a_tile_leaves_it_upwards() -> None:
    world = choque.World(response="soft-step")
    world.add_tiles([[0, 0, 0]], 2.0, 2.0)
    world.add_spheres([[0.2, 0, 0.3]], 0.2)
    normal, _, depth = only_contact(world)
    np.testing.assert_allclose(normal, [0, 1, 0], atol=1e-6)
    assert depth == pytest.approx(0.2, abs=1e-6)


def test_an_upright_capsule_stands_on_one_point() -> None:
    world = choque.World(response="soft-step")
    world.add_ground()
    world.add_capsules([[0, 0.3, 0]], 0.4, 1.2, rotation=[turn(0, np.pi / 2)])
    normal, point, depth = only_contact(world)
    np.testing.assert_allclose(normal, [0, 1, 0], atol=1e-6)
    assert depth == pytest.approx(0.7, abs=1e-6)
    np.testing.assert_allclose(point[[0, 2]], 0, atol=1e-6)
