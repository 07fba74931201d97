"""Volumes around bodies that carry points: they contain, they are tight, and no pair of bodies that meet is lost."""

from __future__ import annotations

import itertools
import os
from typing import Any

import numpy as np
import pytest
from bounds_oracles import contains, exact, exact_dot, random_axes
from hypothesis import given
from hypothesis import strategies as st

from choque.bounds import Boxes, KDops, directions
from choque.errors import InvalidInput, UnknownName
from choque.theses.kdop.body_points import BodyPoints, SupportMap

SPACE = (6, 14, 18, 26)
SOURCES = ("vertices", "map")
PAIR_COUNT = 1_000_000 if os.environ.get("CHOQUE_FULL") == "1" else 8_000


def rounded_cube() -> np.ndarray:
    """24 vertices: the permutations of (±0.179303, ±0.179303, ±1)."""
    short = 0.179303
    signs = itertools.product((-1, 1), repeat=3)
    return np.array(
        sorted({tuple(np.roll([a * short, b * short, c], shift)) for a, b, c in signs for shift in range(3)})
    )


def truncated_octahedron() -> np.ndarray:
    """24 vertices: the permutations of (0, ±1, ±2)."""
    return np.array(
        sorted({p for a, b in itertools.product((-1, 1), repeat=2) for p in itertools.permutations((0, a, 2 * b))})
    )


def bodies(count: int, seed: int, groups: int = 1, dtype: Any = np.float64) -> tuple[Any, ...]:
    random = np.random.default_rng(seed)
    rotation = random_axes(random, count, 3)
    scale = random.choice([1.0, 2.0, 6.0, -0.5], (count, 3))
    position = random.normal(0, 5, (count, 3))
    return random.integers(0, groups, count), position.astype(dtype), rotation.astype(dtype), scale


@pytest.mark.parametrize("source", SOURCES)
def test_a_rotation_finer_than_the_position_is_not_narrowed(source: str) -> None:
    """Positions of a file in float32, rotations of our own in float64: what turns is what was given."""
    points = np.random.default_rng(3).normal(size=(1, 9, 3)) * [1, 1, 1000] + [0, 0, 1000]
    groups, position, rotation, _ = bodies(100, 2)
    places = position.astype(np.float32)
    volumes = BodyPoints(points).kdops(groups, places, rotation, k=26, source=source)
    reach = (np.einsum("nij,vj->nvi", rotation, points[0]) + places[:, None]) @ directions(26).T
    assert (volumes.lower < reach.min(axis=1) + 1e-9).all()
    assert (volumes.upper > reach.max(axis=1) - 1e-9).all()


@pytest.mark.parametrize("k", SPACE)
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_point_is_inside_exactly(k: int, source: str, dtype: Any) -> None:
    """In fractions: F-002-03, every vertex inside, under any rotation, scale and place."""
    points = np.random.default_rng(0).normal(size=(2, 7, 3))
    carrier = BodyPoints(points)
    groups, position, rotation, scale = bodies(12, 1, 2, dtype)
    volumes = carrier.kdops(groups, position, rotation, scale, k=k, source=source)
    assert volumes.dtype == dtype
    for body in range(12):
        for point in points[groups[body]]:
            local = [s * v for s, v in zip(exact(scale[body]), exact(point), strict=True)]
            place = [
                exact_dot(exact(row), local) + exact([shift])[0]
                for row, shift in zip(rotation[body], position[body], strict=True)
            ]
            assert contains(volumes, body, place)


@pytest.mark.parametrize("k", SPACE)
def test_vertices_give_the_fit_of_the_moved_points(k: int) -> None:
    carrier = BodyPoints(np.stack([rounded_cube(), truncated_octahedron()]))
    groups, position, rotation, scale = bodies(300, 2, 2)
    volumes = carrier.kdops(groups, position, rotation, scale, k=k)
    points = carrier.points.reshape(2, 24, 3)[groups] * scale[:, None]
    fitted = KDops.fit(points @ rotation.transpose(0, 2, 1) + position[:, None], k=k)
    np.testing.assert_allclose(volumes.lower, fitted.lower, rtol=0, atol=1e-11)
    np.testing.assert_allclose(volumes.upper, fitted.upper, rtol=0, atol=1e-11)


@pytest.mark.parametrize("resolution", [2, 8, 32])
@pytest.mark.parametrize("k", SPACE)
def test_a_map_contains_the_smallest_and_is_hardly_larger(k: int, resolution: int) -> None:
    random = np.random.default_rng(3)
    cloud = random.normal(size=(60, 3))
    carrier = BodyPoints([cloud / np.linalg.norm(cloud, axis=1)[:, None]])
    groups, position, rotation, _ = bodies(300, 4)
    smallest = carrier.kdops(groups, position, rotation, [2, 6, 2], k=k)
    mapped = carrier.kdops(groups, position, rotation, [2, 6, 2], k=k, source="map", resolution=resolution)
    assert (mapped.lower <= smallest.lower + 1e-12).all()
    assert (mapped.upper >= smallest.upper - 1e-12).all()
    growth = (mapped.upper - mapped.lower).mean() / (smallest.upper - smallest.lower).mean()
    assert 1 <= growth < 1 + 1 / resolution
    along_lattice = carrier.kdops([0], [[0, 0, 0]], [np.eye(3)], k=k, source="map", resolution=resolution)
    straight = carrier.kdops([0], [[0, 0, 0]], [np.eye(3)], k=k)
    np.testing.assert_allclose(along_lattice.upper, straight.upper, atol=1e-12)


@given(st.integers(0, 10**6), st.sampled_from([2, 4, 16]))
def test_the_map_is_above_the_reach_along_any_direction(seed: int, resolution: int) -> None:
    """The convexity argument: interpolated at any direction, through bodies turned so that x is that direction."""
    random = np.random.default_rng(seed)
    points = random.normal(size=(5, 3)) * random.choice([1e-3, 1, 1e3], 3)
    carrier = BodyPoints([points])
    turns = random_axes(random, 20, 3)
    mapped = carrier.kdops(np.zeros(20, int), np.zeros((20, 3)), turns, k=6, source="map", resolution=resolution)
    reach = turns @ points.T  # (20, 3 directions, points)
    assert (mapped.upper >= reach.max(axis=2)).all()
    assert (mapped.lower <= reach.min(axis=2)).all()


def test_no_pair_of_bodies_that_meet_is_lost() -> None:
    """F-002-08: on random pairs, elongated and diagonal, none that share a point is lost."""
    random = np.random.default_rng(5)
    hull = rounded_cube()
    carrier = BodyPoints([hull])
    block = min(10_000, PAIR_COUNT // 2)
    kept = dict.fromkeys(SPACE, 0)
    met = 0
    for start in range(0, PAIR_COUNT, block):
        rotation = random_axes(random, 2 * block, 3)
        if start // block % 2:  # bodies along diagonals, turned about them
            rotation = _along_diagonals(rotation)
        position = np.zeros((2 * block, 3))
        position[block:] = _in_ball(random, block) * 10.0
        none = np.zeros(2 * block, np.int64)
        meeting = _surely_meet(hull, rotation, position, np.array([2, 6, 2]))
        met += int(meeting.sum())
        pairs = np.stack((np.arange(block), np.arange(block) + block), axis=1)
        previous = np.ones(block, bool)
        for k in SPACE:
            for source in SOURCES:
                volumes = carrier.kdops(none, position, rotation, [2, 6, 2], k=k, source=source)
                overlap = volumes.overlap(pairs)
                assert overlap[meeting].all()
                kept[k] += int(overlap.sum())
                if k in (6, 18, 26) and source == "vertices":
                    assert not (overlap & ~previous).any()  # F-002-09: 26 within 18 within 6
                    previous = overlap
        assert carrier.spheres(none, position, rotation, [2, 6, 2]).overlap(pairs)[meeting].all()
        assert carrier.oriented(none, position, rotation, [2, 6, 2]).overlap(pairs)[meeting].all()
        if start == 0:
            boxes = carrier.boxes(none, position, rotation, [2, 6, 2])
            np.testing.assert_array_equal(
                boxes.overlap(pairs), carrier.kdops(none, position, rotation, [2, 6, 2], k=6).overlap(pairs)
            )  # F-002-07
    assert met > PAIR_COUNT // 100
    assert kept[26] < kept[18] < kept[6]


def _in_ball(random: np.random.Generator, count: int) -> np.ndarray:
    direction = random.normal(size=(count, 3))
    direction /= np.linalg.norm(direction, axis=1)[:, None]
    return direction * random.random((count, 1)) ** (1 / 3)


def _along_diagonals(rotation: np.ndarray) -> np.ndarray:
    """Frames whose second column, the long axis, is a diagonal of a face or of the cube."""
    diagonals = np.array([(1, 1, 0), (1, -1, 0), (0, 1, 1), (1, 0, -1), (1, 1, 1), (1, -1, 1)], float)
    long = (
        diagonals[np.arange(len(rotation)) % 6] / np.linalg.norm(diagonals, axis=1)[np.arange(len(rotation)) % 6, None]
    )
    first = np.cross(long, rotation[:, :, 0])
    first /= np.linalg.norm(first, axis=1)[:, None]
    return np.stack((first, long, np.cross(first, long)), axis=2)


def _surely_meet(hull: np.ndarray, rotation: np.ndarray, position: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Pairs that surely share a point: one of a few points inside one body is inside all 26 faces of the other.

    It says nothing of the others, and shares nothing with the projections under test. The faces of this hull have the
    normals of {−1, 0, 1}³, and its vertices say how far out they are.
    """
    half = len(position) // 2
    normals = np.array([d for d in itertools.product((-1, 0, 1), repeat=3) if any(d)], float)
    limit = (hull @ normals.T).max(axis=0)
    inner = np.concatenate((hull, 0.6 * hull, 0.25 * hull, [[0, 0, 0]])) * scale
    found = np.zeros(half, bool)
    for a, b in ((0, half), (half, 0)):
        one, two = slice(a, a + half), slice(b, b + half)
        world = inner @ rotation[one].transpose(0, 2, 1) + position[one][:, None]
        local = (world - position[two][:, None]) @ rotation[two] / scale
        found |= (local @ normals.T <= limit).all(axis=2).any(axis=1)
    return found


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_spheres_reach_the_farthest_point_of_all(dtype: Any) -> None:
    """F-002-04: a farther vertex that is not the first, on a scaled mesh."""
    points = np.array([[0.1, 0, 0], [0, 1, 0], [0, -3, 0], [0, 0, 2]])
    carrier = BodyPoints([points])
    groups, position, rotation, scale = bodies(40, 6, 1, dtype)
    spheres = carrier.spheres(groups, position, rotation, scale)
    wanted = np.linalg.norm(points[None] * scale[:, None], axis=2).max(axis=1)
    np.testing.assert_allclose(spheres.radius, wanted, rtol=1e-6)
    moved = (points[None] * scale[:, None]) @ rotation.transpose(0, 2, 1).astype(np.float64)
    assert (spheres.radius.astype(np.float64)[:, None] >= np.linalg.norm(moved, axis=2)).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_oriented_boxes_turn_with_the_bodies(dtype: Any) -> None:
    points = np.random.default_rng(7).normal(size=(2, 9, 3)) + 1
    carrier = BodyPoints(points)
    groups, position, rotation, scale = bodies(25, 8, 2, dtype)
    boxes = carrier.oriented(groups, position, rotation, scale)
    local = np.ptp(points, axis=1)[groups] * np.abs(scale)
    np.testing.assert_allclose(boxes.half, local / 2, rtol=1e-5, atol=1e-5)
    moved = (points[groups] * scale[:, None]) @ rotation.transpose(0, 2, 1).astype(np.float64) + position[:, None]
    offset = np.einsum("nij,npj->npi", boxes.axes.astype(np.float64), moved - boxes.center[:, None])
    assert (np.abs(offset) <= boxes.half[:, None] * (1 + 1e-6)).all()


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_change_nothing(threads: int) -> None:
    carrier = BodyPoints([truncated_octahedron()])
    arguments = bodies(5000, 9)
    for source in SOURCES:
        assert carrier.kdops(*arguments, source=source, threads=threads) == carrier.kdops(
            *arguments, source=source, threads=1
        )


def test_ragged_groups_flat_ones_and_single_points_are_bounded() -> None:
    flat = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]])
    carrier = BodyPoints(np.concatenate((flat, [[5, 5, 5]], rounded_cube())), [0, 3, 4, 28])
    volumes = carrier.kdops([1, 0, 2], np.zeros((3, 3)), np.tile(np.eye(3), (3, 1, 1)), k=6)
    np.testing.assert_allclose(volumes.lower, [[5, 5, 5], [0, 0, 0], [-1, -1, -1]], atol=1e-12)
    np.testing.assert_allclose(volumes.upper, [[5, 5, 5], [1, 1, 0], [1, 1, 1]], atol=1e-12)
    assert len(carrier) == 3
    assert "28 points in 3 groups" in repr(carrier)


def test_no_bodies_have_no_bounds() -> None:
    carrier = BodyPoints([rounded_cube()])
    none = (np.empty(0, np.int64), np.empty((0, 3)), np.empty((0, 3, 3)))
    for source in SOURCES:
        assert len(carrier.kdops(*none, source=source)) == 0
    assert carrier.boxes(*none) == Boxes(np.empty((0, 3)), np.empty((0, 3)))


ONE = ([0], [[0.0, 0.0, 0.0]], [np.eye(3)])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c: c.kdops(*ONE, k=8), "are in 3D"),
        (lambda c: c.kdops(*ONE, k=7), "4 or 8 in 2D"),
        (lambda c: c.kdops(*ONE, 0.0), "scale holds 0.0"),
        (lambda c: c.kdops(*ONE, [1, np.nan, 1]), "scale holds nan"),
        (lambda c: c.kdops(*ONE, [1, 2]), r"scale has the shape \(2,\)"),
        (lambda c: c.kdops([1], *ONE[1:]), r"groups|rows"),
        (lambda c: c.kdops([0], [[0, 0]], ONE[2]), r"position has the shape \(1, 2\)"),
        (lambda c: c.kdops([0], ONE[1], [np.eye(2)]), r"rotation has the shape"),
        (lambda c: c.kdops([0], [[0, np.nan, 0]], ONE[2]), "Row 0 is not a number"),
        (lambda c: c.kdops(*ONE, source="map", resolution=3), "power of two"),
        (lambda _: BodyPoints(np.zeros((1, 4, 2))), "are in 3D"),
        (lambda _: BodyPoints([[[np.inf, 0, 0]]]), "finite"),
        (lambda _: BodyPoints(np.zeros((4, 3)), [0, 2, 2, 4]), "holds no points"),
    ],
)
def test_invalid_input_is_refused(call: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        call(BodyPoints([rounded_cube()]))


def test_a_source_that_is_none_is_named() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'map'"):
        BodyPoints([rounded_cube()]).kdops(*ONE, source="maps")


def test_maps_are_made_once() -> None:
    carrier = BodyPoints([rounded_cube()])
    assert carrier.support_map(8) is carrier.support_map(8)
    assert isinstance(carrier.support_map(8), SupportMap)
