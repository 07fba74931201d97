"""Contacts of convex bodies with every other kind, through the narrow phase: F-002-27, F-002-28, F-002-30."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from convex_oracle import random_rotations

from choque.errors import InvalidInput
from choque.narrow import Contacts, Hulls, NarrowPhase, Shapes
from choque.narrow.shapes import CAPSULE, CONVEX, PLANE, SPHERE, TILE
from choque.narrow.solids import icosphere

CUBES = Hulls.solids("cube")
Body = tuple[int, tuple[float, ...], tuple[float, ...]]


def shapes(*bodies: Body, hulls: Hulls = CUBES, rotation: np.ndarray | None = None) -> Shapes:
    kinds, places, sizes = zip(*bodies, strict=True)
    count = len(bodies)
    kind = np.array(kinds, np.int8)
    turns = np.broadcast_to(np.eye(3), (count, 3, 3)).copy() if rotation is None else rotation
    hull = np.where(kind == CONVEX, 0, -1).astype(np.int32)
    return Shapes(kind, np.array(places, float), turns, np.array(sizes, float), hull, hulls)


def find(*bodies: Body) -> Contacts:
    return NarrowPhase().find(shapes(*bodies), np.array([[0, 1]], np.int32))


UNIT = (1.0, 1.0, 1.0)
BOX = (CONVEX, (0.0, 0.0, 0.0), UNIT)


@pytest.mark.parametrize(
    ("other", "point", "normal", "depth"),
    [
        ((CONVEX, (1.9, 0.5, 0), UNIT), (0.95, 0.25, 0), (1, 0, 0), 0.1),
        ((CONVEX, (0, -1.5, 1.0), (0.5, 1, 1)), (0, -0.75, 0.5), (0, -1, 0), 0.5),
        ((SPHERE, (0, 2.5, 0), (1.6, 0, 0)), (0, 0.95, 0), (0, 1, 0), 0.1),
        (
            (SPHERE, (2, 2, 0), (2**0.5 + 0.2, 0, 0)),
            (1 - 0.1 / 2**0.5, 1 - 0.1 / 2**0.5, 0),
            (0.5**0.5, 0.5**0.5, 0),
            0.2,
        ),
        ((SPHERE, (0.5, 0, 0), (0.25, 0, 0)), (0.625, 0, 0), (1, 0, 0), 0.75),
        ((CAPSULE, (1.5, 0, 0), (0.7, 6, 0)), (0.9, 0, 0), (1, 0, 0), 0.2),
        ((CAPSULE, (0, 0, 3.5), (0.7, 4, 0)), (0, 0, 0.9), (0, 0, 1), 0.2),
        ((TILE, (0, 0.9, 0), (1, 1, 0)), (0, 0.95, 0), (0, 1, 0), 0.1),
        ((TILE, (0, 0.9, 0), (30, 30, 0)), (0, 0.95, 0), (0, 1, 0), 0.1),
        ((PLANE, (5, -0.9, 5), (0, 0, 0)), (0, -0.95, 0), (0, -1, 0), 0.1),
    ],
)
def test_closed_forms(other: Body, point: tuple[float, ...], normal: tuple[float, ...], depth: float) -> None:
    """The contact of a cube of edge 2 with other bodies, in either order."""
    for bodies, sign in (((BOX, other), 1), ((other, BOX), -1)):
        found = find(*bodies)
        assert len(found) == 1
        assert found.depth[0] == pytest.approx(depth, abs=1e-12)
        assert found.normal[0] * sign == pytest.approx(normal, abs=1e-12)
        assert found.point[0] == pytest.approx(point, abs=1e-12)


@pytest.mark.parametrize(
    "other",
    [
        (CONVEX, (2, 0, 0), UNIT),
        (CONVEX, (2, 2, 0), UNIT),
        (CONVEX, (2, 2, 2), UNIT),
        (SPHERE, (0, 2, 0), (1, 0, 0)),
        (CAPSULE, (0, 2, 0), (1, 3, 0)),
        (TILE, (0, 1, 0), (1, 1, 0)),
        (PLANE, (0, -1, 0), (0, 0, 0)),
    ],
)
def test_touching_is_no_contact(other: Body) -> None:
    assert len(find(BOX, other)) == 0


def test_the_ground_below_on_and_above() -> None:
    """F-002-30: the lowest vertex decides, by its height alone."""
    corner = np.array([[1, 0, 0], [0, 0.5**0.5, -(0.5**0.5)], [0, 0.5**0.5, 0.5**0.5]])
    for height, hits in ((2**0.5 - 0.25, 1), (2**0.5 + 1e-9, 0), (9.0, 0)):
        rotation = np.stack([np.eye(3), corner])
        bodies = shapes((PLANE, (0, 0, 0), (0, 0, 0)), (CONVEX, (3, height, 4), UNIT), rotation=rotation)
        found = NarrowPhase().find(bodies, np.array([[0, 1]], np.int32))
        assert len(found) == hits
        if hits:
            assert found.depth[0] == pytest.approx(0.25)
            assert found.normal[0] == pytest.approx([0, 1, 0])
            assert found.point[0] == pytest.approx([3, -0.125, 4])


def test_a_dense_hull_behaves_as_its_sphere() -> None:
    """Contacts of an icosphere of 642 vertices are those of a sphere, within its facets."""
    random = np.random.default_rng(1)
    faces = icosphere(3)
    hulls = Hulls.from_points(faces.points)
    count = 60
    for kind, size in ((SPHERE, (0.5, 0, 0)), (CAPSULE, (0.4, 1.0, 0)), (TILE, (1.5, 1.0, 0))):
        places = random.normal(size=(count, 3))
        bodies = [(CONVEX, (0.0, 0.0, 0.0), UNIT), *((kind, tuple(place), size) for place in places)]
        rotation = np.concatenate([np.eye(3)[None], random_rotations(random, count)])
        round_bodies = [(SPHERE, (0.0, 0.0, 0.0), (1.0, 0.0, 0.0)), *bodies[1:]]
        pairs = np.array([(0, row) for row in range(1, count + 1)], np.int32)
        found = NarrowPhase().find(shapes(*bodies, hulls=hulls, rotation=rotation), pairs)
        wanted = NarrowPhase().find(shapes(*round_bodies, rotation=rotation), pairs)
        clear = {tuple(pair) for pair, depth in zip(wanted.pairs.tolist(), wanted.depth, strict=True) if depth > 0.02}
        assert clear <= {tuple(pair) for pair in found.pairs.tolist()}
        depth_of = dict(zip(map(tuple, wanted.pairs.tolist()), wanted.depth, strict=True))
        shallow = [row for row, pair in enumerate(map(tuple, found.pairs.tolist())) if depth_of.get(pair, 0) < 0.9]
        for row in shallow:
            assert found.depth[row] == pytest.approx(depth_of.get(tuple(found.pairs[row].tolist()), 0), abs=0.02)


def _crowd(seed: int, count: int = 60) -> tuple[Shapes, np.ndarray]:
    random = np.random.default_rng(seed)
    hulls = Hulls.solids("rhombicuboctahedron", "cube", "icosphere")
    kind = random.choice([SPHERE, CAPSULE, TILE, CONVEX, CONVEX, CONVEX], count).astype(np.int8)
    kind[0] = PLANE
    hull = np.where(kind == CONVEX, random.integers(0, 3, count), -1).astype(np.int32)
    size = random.uniform(0.5, 1.5, (count, 3))
    rotation = random_rotations(random, count)
    position = random.uniform(-4, 4, (count, 3))
    pairs = np.array(list(itertools.combinations(range(count), 2)), np.int32)
    return Shapes(kind, position, rotation, size, hull, hulls), pairs


def test_memory_and_threads_change_nothing() -> None:
    """Frames of a moving crowd by one narrow phase that remembers, by fresh ones, and by two threads: the same bits."""
    crowd, pairs = _crowd(2, 130)
    keeping = NarrowPhase(threads=2)
    position = crowd.position.copy()
    for frame in range(4):
        moved = Shapes(crowd.kind, position + 0.05 * frame, crowd.rotation, crowd.size, crowd.hull, crowd.hulls)
        moved.position[::3] += 0.1 * frame
        remembered, fresh = keeping.find(moved, pairs), NarrowPhase(threads=1).find(moved, pairs)
        for name in ("pairs", "point", "normal", "depth"):
            assert getattr(remembered, name).tobytes() == getattr(fresh, name).tobytes()
        assert len(fresh) > 100


def test_moving_by_the_depth_parts_bodies() -> None:
    """Whatever the kinds: moving the second body along the normal by its depth leaves nothing but a touch."""
    crowd, pairs = _crowd(3)
    found = NarrowPhase().find(crowd, pairs)
    of_hulls = (crowd.kind[found.pairs] == CONVEX).any(axis=1)
    assert of_hulls.sum() > 50
    for row in np.flatnonzero(of_hulls)[:80]:
        first, second = found.pairs[row]
        position = crowd.position.copy()
        position[second] += found.normal[row] * found.depth[row] * (1 + 1e-9)
        parted = Shapes(crowd.kind, position, crowd.rotation, crowd.size, crowd.hull, crowd.hulls)
        again = NarrowPhase().find(parted, np.array([[first, second]], np.int32))
        assert len(again) == 0 or again.depth[0] < 1e-7
        back = position.copy()
        back[second] -= found.normal[row] * 1e-3
        closer = Shapes(crowd.kind, back, crowd.rotation, crowd.size, crowd.hull, crowd.hulls)
        assert len(NarrowPhase().find(closer, np.array([[first, second]], np.int32))) == 1


def test_turning_everything_turns_the_contacts() -> None:
    crowd, pairs = _crowd(4)
    keep = crowd.kind[pairs].max(axis=1) == CONVEX
    pairs = np.ascontiguousarray(pairs[keep])
    turn = random_rotations(np.random.default_rng(9), 1)[0]
    turned = Shapes(
        crowd.kind,
        np.ascontiguousarray(crowd.position @ turn.T),
        turn @ crowd.rotation,
        crowd.size,
        crowd.hull,
        crowd.hulls,
    )
    one, other = NarrowPhase().find(crowd, pairs), NarrowPhase().find(turned, pairs)
    assert one.pairs.tolist() == other.pairs.tolist()
    assert other.depth == pytest.approx(one.depth, abs=1e-9)


def test_float32_shapes() -> None:
    bodies = shapes(BOX, (CONVEX, (1.5, 0, 0), UNIT))
    small = Shapes(
        bodies.kind,
        *(part.astype(np.float32) for part in (bodies.position, bodies.rotation, bodies.size)),
        bodies.hull,
        CUBES,
    )
    found = NarrowPhase().find(small, np.array([[0, 1]], np.int32))
    assert found.depth.dtype == np.float32
    assert found.depth[0] == pytest.approx(0.5)


def test_missing_hulls_are_refused() -> None:
    bodies = shapes(BOX, BOX)
    pairs = np.array([[0, 1]], np.int32)
    with pytest.raises(InvalidInput, match="no hulls"):
        NarrowPhase().find(Shapes(bodies.kind, bodies.position, bodies.rotation, bodies.size), pairs)
    hull = np.array([0, 5], np.int32)
    with pytest.raises(InvalidInput, match="Shape 1 has the hull 5"):
        NarrowPhase().find(Shapes(bodies.kind, bodies.position, bodies.rotation, bodies.size, hull, CUBES), pairs)
