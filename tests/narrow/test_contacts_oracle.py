"""Contacts of every combination of shapes against distances found another way (F-001-16 to F-001-20, F-001-22)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from narrow_oracle import (
    COMBINATIONS,
    core_distance,
    generators,
    lattice_pairs,
    moved,
    neighbours,
    piercing_depth,
    random_pairs,
    reach,
    shapes_of,
    support,
    turned,
)
from scipy.spatial.transform import Rotation

from choque.narrow import Contacts, NarrowPhase, Shapes
from choque.narrow.shapes import CAPSULE, KIND_NAMES, PLANE, SPHERE, TILE

EVERY = pytest.mark.parametrize("kinds", COMBINATIONS, ids=lambda kinds: "-".join(KIND_NAMES[kind] for kind in kinds))
BAND = 1e-9


@pytest.fixture
def count(thorough: bool) -> int:
    return 100_000 if thorough else 3_000


def find(shapes: Shapes) -> Contacts:
    return NarrowPhase(threads=1).find(shapes, neighbours(shapes))


def check_contacts(shapes: Shapes, found: Contacts, tolerance: float) -> None:
    """Unit normals along which the bodies overlap by exactly the depth, and points halfway."""
    first, second = found.pairs.T
    normal, point, depth = (each.astype(float) for each in (found.normal, found.point, found.depth))
    assert np.all(depth > 0)
    assert np.allclose((normal**2).sum(axis=1), 1, atol=tolerance)
    far = support(shapes, first, normal)
    if shapes.kind[1] == PLANE:
        near = np.einsum("mi,mi->m", shapes.position[second].astype(float), normal)
        assert np.allclose(normal, -shapes.rotation[second, :, 1], atol=tolerance)
    else:
        near = -support(shapes, second, -normal)
    assert np.allclose(far - near, depth, rtol=0, atol=tolerance)
    assert np.allclose(np.einsum("mi,mi->m", point, normal), 0.5 * (far + near), rtol=0, atol=tolerance)


def are_apart(shapes: Shapes) -> Any:
    """Whether the cores are clearly apart: where they meet, two ways out may be equally long, and rounding decides."""
    size = shapes.size.max(axis=1) + np.abs(shapes.position).max(axis=1)
    return (core_distance(shapes) > 1e-5 * (size[::2] + size[1::2])) | (shapes.kind[1::2] == PLANE)


@EVERY
@pytest.mark.full
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_random_pairs(kinds: tuple[int, int], dtype: Any, count: int) -> None:
    """No pair is missed and none is made up; depth, normal and point are right."""
    shapes = random_pairs(kinds, count, seed=1 + kinds[0] * 5 + kinds[1], dtype=dtype)
    found = find(shapes)
    overlap = reach(shapes) - core_distance(shapes)
    band = BAND if dtype is np.float64 else 1e-4
    hit = np.zeros(count, bool)
    hit[found.pairs[:, 0] // 2] = True
    sure = np.abs(overlap) > BAND
    assert np.array_equal(hit[sure], overlap[sure] > 0)
    assert 0.05 < hit.mean() < 0.95
    check_contacts(shapes, found, band)
    pairs = found.pairs[:, 0] // 2
    plain = are_apart(shapes)[pairs]
    assert plain.mean() > 0.5
    assert np.allclose(found.depth[plain], overlap[pairs][plain], rtol=0, atol=band)


@EVERY
def test_whole_numbers(kinds: tuple[int, int], count: int) -> None:
    """On a lattice, where touching is exact and no contact, and where every degenerate case occurs."""
    shapes = lattice_pairs(kinds, count, seed=3)
    found = find(shapes)
    overlap = reach(shapes) - core_distance(shapes)
    overlap[np.abs(overlap) < BAND] = 0
    hit = np.zeros(count, bool)
    hit[found.pairs[:, 0] // 2] = True
    assert np.array_equal(hit, overlap > 0)
    assert (overlap == 0).sum() > count // 100, "some must just touch"
    check_contacts(shapes, found, BAND)


@EVERY
def test_moving_apart(kinds: tuple[int, int], count: int) -> None:
    """Moving the second body by the depth along the normal parts the bodies; a little less does not."""
    for shapes in (random_pairs(kinds, count, seed=5), lattice_pairs(kinds, count, seed=6)):
        found = find(shapes)
        second = found.pairs[:, 1]
        parted = find(moved(shapes, second, found.normal * (found.depth[:, None] + BAND)))
        assert not np.isin(parted.pairs[:, 1], second).any()
        held = find(moved(shapes, second, found.normal * (found.depth[:, None] - BAND)))
        assert np.isin(second, held.pairs[:, 1]).all()


@EVERY
def test_swapped_bodies(kinds: tuple[int, int], count: int) -> None:
    """Swapped bodies have the same contact, and its normal is turned round (F-001-22)."""
    shapes = random_pairs(kinds, count, seed=7)
    order = neighbours(shapes)[:, ::-1].ravel()
    other = shapes_of(shapes.kind[order], shapes.position[order], shapes.rotation[order], shapes.size[order])
    ours, theirs = find(shapes), find(other)
    assert np.array_equal(ours.pairs, theirs.pairs)
    assert np.allclose(ours.normal, -theirs.normal, atol=1e-8)
    assert np.allclose(ours.depth, theirs.depth, atol=BAND)
    assert np.allclose(ours.point, theirs.point, atol=1e-7)


@EVERY
def test_rigid_motion(kinds: tuple[int, int], count: int) -> None:
    """A contact moves with its bodies: nothing depends on the axes of the world."""
    rotation, shift = Rotation.random(random_state=11).as_matrix(), np.array([3.0, -1.0, 2.0])
    for shapes in (random_pairs(kinds, count, seed=8), lattice_pairs(kinds, count, seed=9)):
        overlap = reach(shapes) - core_distance(shapes)
        chosen = np.repeat((np.abs(overlap) > BAND) & ~_is_concentric(shapes), 2)
        shapes = shapes_of(shapes.kind[chosen], shapes.position[chosen], shapes.rotation[chosen], shapes.size[chosen])
        here, there = find(shapes), find(turned(shapes, rotation, shift))
        assert np.array_equal(here.pairs, there.pairs)
        assert np.allclose(here.depth, there.depth, atol=BAND)
        same = are_apart(shapes)[here.pairs[:, 0] // 2]
        assert same.mean() > 0.5
        assert np.allclose((here.normal @ rotation.T)[same], there.normal[same], atol=1e-7)
        assert np.allclose((here.point @ rotation.T + shift)[same], there.point[same], atol=1e-7)


@EVERY
@pytest.mark.parametrize("power", [-30, 30])
def test_scaling_by_a_power_of_two_is_exact(kinds: tuple[int, int], power: int) -> None:
    """No threshold is a length: a scene in micrometres has the contacts of one in kilometres, bit for bit."""
    for shapes in (random_pairs(kinds, 500, seed=16), lattice_pairs(kinds, 500, seed=17)):
        factor = 2.0**power
        here, there = find(shapes), find(replace(shapes, position=factor * shapes.position, size=factor * shapes.size))
        assert np.array_equal(here.pairs, there.pairs)
        assert np.array_equal(here.normal, there.normal)
        assert np.array_equal(factor * here.point, there.point)
        assert np.array_equal(factor * here.depth, there.depth)


def _is_concentric(shapes: Shapes) -> Any:
    """Spheres in one place part along the world's y."""
    return (shapes.kind[::2] == SPHERE) & (shapes.kind[1::2] == SPHERE) & (core_distance(shapes) == 0)


def test_piercing_takes_the_shortest_way(thorough: bool) -> None:
    """A capsule through the interior of a tile, ends and edges clear, parts from it by the shortest way (F-001-20)."""
    count = 5_000 if thorough else 200
    shapes = random_pairs((CAPSULE, TILE), count, seed=12)
    sides, _ = generators(shapes)
    weights = np.random.default_rng(12).uniform(-0.95, 0.95, (count, 3, 1))
    on_tile = weights[:, 0] * sides[1::2, 0] + weights[:, 1] * sides[1::2, 1]
    shapes.position[::2] = shapes.position[1::2] + on_tile + weights[:, 2] * sides[::2, 0]
    assert np.all(core_distance(shapes) < BAND)
    found = find(shapes)
    assert len(found) == count
    shortest = [piercing_depth(shapes, pair) for pair in range(count)]
    assert np.allclose(found.depth - reach(shapes), shortest, atol=BAND)
    tiles = np.abs(np.einsum("mi,mi->m", found.normal, shapes.rotation[1::2, :, 1]))
    assert (tiles > 1 - 1e-9).any(), "some leave through the face"
    assert (tiles < 0.99).any(), "some leave past an edge"


def test_nearly_parallel_and_nearly_crossing(count: int) -> None:
    """Axes that are almost parallel, or almost meet, part as well as others do (F-001-18)."""
    generator = np.random.default_rng(13)
    for other in (CAPSULE, TILE):
        shapes = random_pairs((CAPSULE, other), count, seed=14)
        tilt = 10.0 ** generator.uniform(-17, -3, count)[:, None] * generator.normal(size=(count, 3))
        rotation = shapes.rotation.copy()
        rotation[::2] = Rotation.from_rotvec(tilt).as_matrix() @ rotation[1::2]
        position = shapes.position.copy()
        near = 10.0 ** generator.uniform(-17, 0, (count, 1)) * generator.normal(size=(count, 3))
        sides, _ = generators(replace(shapes, rotation=rotation))
        weights = generator.uniform(-1, 1, (count, 2, 1))
        position[1::2] = position[::2] + near + weights[:, 0] * sides[::2, 0] - weights[:, 1] * sides[1::2, 0]
        for turn in (rotation, shapes.rotation):
            close = shapes_of(shapes.kind, position, turn, shapes.size)
            found = find(close)
            check_contacts(close, found, 1e-8)
            hit = np.zeros(count, bool)
            hit[found.pairs[:, 0] // 2] = True
            overlap = reach(close) - core_distance(close)
            assert np.array_equal(hit[np.abs(overlap) > 1e-8], overlap[np.abs(overlap) > 1e-8] > 0)
            ours = found.pairs[:, 0] // 2
            assert np.all(found.depth >= overlap[ours] - 1e-8), "nothing shorter than the distance allows parts them"


def test_crossing_tiles_are_ignored() -> None:
    """Tiles pass through each other, and through the ground (F-001-21)."""
    for kinds in ((TILE, TILE), (TILE, PLANE), (PLANE, PLANE)):
        assert len(find(random_pairs(kinds, 50, seed=15))) == 0
