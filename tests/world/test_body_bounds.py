"""Bounds of bodies against points sampled on them: nothing sticks out, nothing is wider than it must be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from world_scenes import gas, pile, random_rotations

from choque.bounds import Boxes, KDops, OrientedBoxes, Spheres, directions
from choque.errors import UnknownName
from choque.narrow.phase import NarrowPhase
from choque.world import World, bounds_names

SEEDS = st.integers(0, 2**32 - 1)
SAMPLES = 4_000


def world_of(seed: int, **options: object) -> World:
    """One sphere, capsule and tile, anywhere and turned anyhow."""
    random = np.random.default_rng(seed)
    world = World(**options)  # type: ignore[arg-type]
    turned = random_rotations(random, 3)
    center = random.uniform(-100, 100, (3, 3))
    world.add_spheres(center[:1], random.uniform(0.1, 3), rotation=turned[:1])
    world.add_capsules(center[1:2], random.uniform(0.1, 2), random.uniform(0, 9), rotation=turned[1:2])
    world.add_tiles(center[2:], random.uniform(0.1, 9), random.uniform(0.1, 9), rotation=turned[2:])
    return world


def surface(world: World, row: int, random: np.random.Generator) -> np.ndarray:
    """Points on the body of ``row``, its extremes along the axes of the body among them."""
    bodies = world.bodies
    ball = random.normal(size=(SAMPLES, 3))
    ball /= np.linalg.norm(ball, axis=1, keepdims=True)
    first, second = bodies.size[row, 0], bodies.size[row, 1]
    if row == 0:
        local = ball * first
    elif row == 1:
        local = ball * first + np.outer(random.choice([-0.5, 0.5], SAMPLES), [0, 0, second])
    else:
        corners = np.array([[x, 0, z] for x in (-0.5, 0.5) for z in (-0.5, 0.5)])
        inside = np.insert(random.uniform(-0.5, 0.5, (SAMPLES, 2)), 1, 0, axis=1)
        local = np.concatenate((corners, inside)) * [first, 0, second]
    return bodies.position[row].astype(np.float64) + local @ bodies.rotation[row].astype(np.float64).T


@given(SEEDS)
def test_boxes_and_slabs_are_tight_around_samples(seed: int) -> None:
    random = np.random.default_rng(seed)
    world = world_of(seed)
    for name in ("box", "6-dop", "14-dop", "18-dop", "26-dop"):
        world.switch(bounds=name)
        bounds = world.bounds()
        along = np.eye(3) if name == "box" else directions(int(name.split("-")[0])).astype(float)
        assert isinstance(bounds, Boxes if name == "box" else KDops)
        for row in range(3):
            points = surface(world, row, random) @ along.T
            assert (points >= bounds.lower[row] - 1e-12).all()
            assert (points <= bounds.upper[row] + 1e-12).all()
            reach = np.ptp(points, axis=0)
            wide = bounds.upper[row] - bounds.lower[row]
            assert (wide <= reach + 0.1 * world.bodies.size[row, 0] + 1e-9).all()


@given(SEEDS)
def test_oriented_boxes_and_spheres_hold_samples(seed: int) -> None:
    random = np.random.default_rng(seed)
    world = world_of(seed)
    world.switch(bounds="oriented")
    oriented = world.bounds()
    world.switch(bounds="sphere")
    spheres = world.bounds()
    assert isinstance(oriented, OrientedBoxes)
    assert isinstance(spheres, Spheres)
    for row in range(3):
        points = surface(world, row, random)
        inside = (points - oriented.center[row]) @ oriented.axes[row].T
        assert (np.abs(inside) <= oriented.half[row] + 1e-12).all()
        assert (np.abs(inside).max(axis=0) >= oriented.half[row] - 0.1 * world.bodies.size[row, 0]).all()
        far = np.linalg.norm(points - spheres.center[row], axis=1)
        assert far.max() <= spheres.radius[row] * (1 + 1e-12)
        assert far.max() >= 0.95 * spheres.radius[row]
    world.switch(bounds="box")
    assert oriented.boxes() == world.bounds(), "a filter of oriented boxes sweeps the boxes of the bodies themselves"


@given(SEEDS, st.sampled_from(["float32", "float64"]))
def test_what_touches_has_bounds_that_overlap(seed: int, dtype: str) -> None:
    """Bodies at distances around touching: no contact of the narrow phase lacks its bounds, in either float type."""
    random = np.random.default_rng(seed)
    world = World(dtype=dtype)
    count = 60
    center = random.uniform(-50, 50, (count, 3))
    axis = random.normal(size=(count, 3))
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    axis[::2] = np.round(axis[::2])  # along coordinate axes boxes are as tight as the bodies
    lone = ~axis.any(axis=1)
    axis[lone] = (1, 0, 0)
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    radius = random.uniform(0.1, 2, (count, 2)).astype(dtype)
    apart = radius.astype(np.float64).sum(axis=1) * (1 + random.integers(-4, 5, count) * np.finfo(dtype).eps)
    world.add_spheres(center, radius[:, 0])
    world.add_spheres(center + axis * apart[:, np.newaxis], radius[:, 1])
    pairs = np.stack((np.arange(count), np.arange(count, 2 * count)), axis=1).astype(np.int32)
    touching = NarrowPhase().find(world.bodies.shapes(), pairs).pairs
    for name in bounds_names():
        if name != "fingsics":
            world.switch(bounds=name)
            assert world.bounds().overlap(touching).all(), name


def test_a_ground_plane_is_unbounded() -> None:
    world = World()
    world.add_ground(2.0)
    tilted = np.array([[0.8, -0.6, 0], [0.6, 0.8, 0], [0, 0, 1]])
    world.add_ground(0.0, rotation=tilted)
    boxes = world.bounds()
    assert isinstance(boxes, Boxes)
    np.testing.assert_array_equal(boxes.lower, np.full((2, 3), -np.inf))
    np.testing.assert_array_equal(boxes.upper[1], [np.inf] * 3)
    np.testing.assert_allclose(boxes.upper[0], [np.inf, 2, np.inf])
    assert boxes.upper[0, 1] >= 2
    world.switch(bounds="26-dop")
    slabs = world.bounds()
    assert isinstance(slabs, KDops)
    assert np.isfinite(slabs.upper[0]).sum() == 1
    assert not np.isfinite(slabs.lower).any()


@pytest.mark.parametrize(
    "method", ["brute", "brute-obb", "grid", "bvh", "sap-direct", "sap-incremental", "sap-obb", "multi-sap", "octree"]
)
def test_every_method_takes_unbounded_bounds(method: str) -> None:
    world = World(method)
    world.add_ground(0.0)
    world.add_spheres([[0, 0.9, 0], [5, 3, 0], [9, 0.5, 9]], 1.0)
    world.step()
    assert world.contacts().pairs.tolist() == [[0, 1], [0, 3]]


@pytest.mark.parametrize("threads", [1, 2])
def test_bounds_do_not_depend_on_threads(threads: int) -> None:
    world = gas(5_000, threads=threads)
    alone = gas(5_000, threads=1)
    for name in ("box", "oriented", "18-dop", "sphere"):
        world.switch(bounds=name)
        alone.switch(bounds=name)
        assert world.bounds() == alone.bounds()


def test_methods_are_given_what_suits_them() -> None:
    world = pile(10, broad="sap-obb")
    assert isinstance(world.bounds(), OrientedBoxes)
    world.switch("grid")
    assert isinstance(world.bounds(), Boxes)
    world.switch(bounds="14-dop")
    assert isinstance(world.bounds(), KDops)
    world.switch("brute-obb")
    assert isinstance(world.bounds(), OrientedBoxes)
    with pytest.raises(UnknownName, match="18-dop"):
        world.switch(bounds="16-dop")
