"""Shape matching: F-002-31 to F-002-34, and the square root it rests on."""

from __future__ import annotations

import itertools
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from dynamics_oracles import random_rotations
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from choque import World
from choque.errors import InvalidInput, UnknownName
from choque.narrow import Hulls, epa
from choque.narrow.convex.cores import cores_of_hulls
from choque.narrow.convex.epa import new_polytope
from choque.narrow.shapes import CONVEX, PLANE, SPHERE
from choque.theses.kdop.particles import MATCHES, SKIPPED, Candidates, Matching, relax
from choque.theses.kdop.polar import is_rotation, matrix_square_root, rotation_in
from choque.theses.kdop.shape_matching import ShapeMatching

CUBES = Hulls.solids("cube")


def bodies_at(
    position: Any, rotation: Any = None, *, ground: bool = False, static: Any = False, hulls: Hulls = CUBES
) -> SimpleNamespace:
    """Convex bodies of hull 0 at half their size and, if asked for, a ground as the last one."""
    places = np.array(position, float)
    turns = np.broadcast_to(np.eye(3), (len(places), 3, 3)) if rotation is None else rotation
    kind = np.full(len(places), CONVEX, np.int8)
    still = np.broadcast_to(static, (len(places),))
    if ground:
        places, turns = np.vstack([places, np.zeros(3)]), np.concatenate([turns, np.eye(3)[None]])
        kind, still = np.append(kind, np.int8(PLANE)), np.append(still, True)
    count = len(places)
    return SimpleNamespace(
        ids=np.arange(count, dtype=np.int32),
        kind=kind,
        position=np.ascontiguousarray(places),
        rotation=np.ascontiguousarray(turns),
        velocity=np.zeros((count, 3)),
        angular_velocity=np.zeros((count, 3)),
        acceleration=np.zeros((count, 3)),
        inertia=np.ones((count, 3)),
        static=np.array(still, np.bool_),
        size=np.full((count, 3), 0.5),
        hull=np.where(kind == CONVEX, 0, -1).astype(np.int32),
        hulls=hulls,
    )


def every_pair(count: int) -> np.ndarray:
    return np.array(list(itertools.combinations(range(count), 2)), np.int32).reshape(-1, 2)


def depth(bodies: SimpleNamespace, one: int = 0, other: int = 1) -> float:
    posed = [bodies.hulls.at(bodies.position[row], bodies.rotation[row], bodies.size[row]) for row in (one, other)]
    return float(epa(*posed).depth)


positive = arrays(np.float64, (3, 3), elements=st.floats(-10, 10))


@given(positive)
def test_a_root_times_itself_is_the_matrix(matrix: np.ndarray) -> None:
    """F-002-32, to 1e-9 of the largest entry; singular ones are refused."""
    square = matrix @ matrix.T + 0.1 * np.eye(3)
    root = matrix_square_root(square)
    assert root @ root == pytest.approx(square, abs=1e-9 * np.abs(square).max())
    assert root == pytest.approx(root.T)


@pytest.mark.parametrize("matrix", [np.zeros((3, 3)), np.ones((3, 3)), np.diag([1.0, 1, 0]), np.diag([1.0, 1, -1])])
def test_singular_matrices_have_no_root(matrix: np.ndarray) -> None:
    with pytest.raises(InvalidInput, match="singular or not positive"):
        matrix_square_root(matrix)


@given(st.integers(0, 10_000), st.floats(1e-3, 1e3), st.floats(0.05, 20))
def test_the_rotation_of_a_product(seed: int, size: float, stretch: float) -> None:
    """A = R S with S symmetric and positive gives R back, by Newton's iteration and by the root alike."""
    random = np.random.default_rng(seed)
    turn, axes = random_rotations(random, 2)
    symmetric = axes @ np.diag([1.0, stretch, stretch**0.5]) @ axes.T
    found = np.empty((3, 3))
    assert rotation_in(np.ascontiguousarray(size * turn @ symmetric), np.empty((5, 3, 3)), found)
    assert found == pytest.approx(turn, abs=1e-9)


@pytest.mark.parametrize(
    "matrix",
    [
        np.zeros((3, 3)),
        np.ones((3, 3)),
        np.diag([1.0, 1, 0]),
        np.diag([1.0, 1, -1]),
        np.full((3, 3), np.nan),
        np.full((3, 3), np.inf),
    ],
)
def test_matrices_without_a_rotation(matrix: np.ndarray) -> None:
    """Collapsed, mirrored and broken shapes: False, and what was there stays."""
    found = np.full((3, 3), 7.0)
    assert not rotation_in(matrix, np.empty((5, 3, 3)), found)
    assert (found == 7).all()


def test_the_rule_on_residual_scale() -> None:
    """Resolution 20: RᵀR − I is tested, so that true rotations of any angle pass and 2 % of scale do not."""
    for turn in random_rotations(np.random.default_rng(0), 20):
        assert is_rotation(np.ascontiguousarray(turn))
        assert not is_rotation(np.ascontiguousarray(turn * 1.02))
        assert not is_rotation(np.ascontiguousarray(turn @ np.diag([1, 1, 0.98])))


@pytest.mark.parametrize("shift", [(0.9, 0, 0), (0.3, 0.5, 0.2), (0.95, 0.95, 0.95), (0, 0, 0)])
def test_an_overlapping_pair_separates(shift: tuple[float, ...]) -> None:
    """F-002-31: cubes of edge 1 part within a few answers, keep their shape, and their mean stays."""
    bodies = bodies_at([(0, 0, 0), shift])
    before, response = bodies.position.mean(axis=0), ShapeMatching()
    for _ in range(40):
        response.respond(bodies, every_pair(2), 0.1)
    assert depth(bodies) < 1e-3
    assert bodies.position.mean(axis=0) == pytest.approx(before, abs=1e-9)
    for turn in bodies.rotation:
        assert turn @ turn.T == pytest.approx(np.eye(3), abs=1e-12)


def test_bodies_apart_are_left_alone() -> None:
    bodies = bodies_at([(0, 0, 0), (1.5, 0, 0), (0, 3, 0)], ground=True)
    bodies.position[:3, 1] += 2
    before = bodies.position.copy(), bodies.rotation.copy()
    response = ShapeMatching()
    assert response.respond(bodies, every_pair(4), 0.1) == 0
    assert (bodies.position == before[0]).all()
    assert (bodies.rotation == before[1]).all()
    assert response.counts[0] == 6  # once each: nothing moved, so nothing is asked again


def test_static_bodies_do_not_move() -> None:
    bodies = bodies_at([(0, 0, 0), (0, 0.8, 0)], static=[True, False])
    for _ in range(30):
        ShapeMatching().respond(bodies, every_pair(2), 0.1)
    assert bodies.position[0].tolist() == [0, 0, 0]
    assert bodies.position[1, 1] == pytest.approx(1, abs=1e-2)


@pytest.mark.parametrize(("height", "collisions"), [(0.3, True), (0.5, True), (0.6, False)])
def test_the_ground_lifts_what_is_below(height: float, collisions: bool) -> None:
    """F-002-30: below, on and above the plane y = 0."""
    bodies = bodies_at([(3, height, 4)], ground=True)
    assert (ShapeMatching().respond(bodies, np.array([[0, 1]], np.int32), 0.1) > 0) == collisions
    assert bodies.position[0] == pytest.approx([3, max(height, 0.5), 4], abs=1e-3)
    assert bodies.position[1].tolist() == [0, 0, 0]


def test_a_corner_on_the_ground_turns_the_body() -> None:
    """A cube whose corner is below the ground is lifted and turned, as a rigid body."""
    angle = 0.3
    turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    bodies = bodies_at([(0, 0.5, 0)], turn[None], ground=True)
    ShapeMatching().respond(bodies, np.array([[0, 1]], np.int32), 0.1)
    assert bodies.position[0, 1] > 0.5
    new_angle = np.arctan2(bodies.rotation[0, 1, 0], bodies.rotation[0, 0, 0])
    assert 0 < new_angle < angle
    assert bodies.rotation[0] @ bodies.rotation[0].T == pytest.approx(np.eye(3), abs=1e-12)


def test_a_body_whose_vertices_are_not_around_its_centre() -> None:
    """The position follows the body, not the mean of its vertices: a body pushed straight moves straight."""
    random = np.random.default_rng(4)
    points = np.concatenate([random.normal(size=(20, 3)) * 0.2 + [0, 0, 1], [[1.0, 0, -1], [-1, 1, -1], [-1, -1, -1]]])
    hulls = Hulls.from_points(points)
    bodies = bodies_at([(0, 0, 0), (0.2, 0.1, 0.3)], hulls=hulls)
    local = hulls.points * 0.5
    before = [local @ bodies.rotation[row].T + bodies.position[row] for row in range(2)]
    for _ in range(60):
        ShapeMatching().respond(bodies, every_pair(2), 0.1)
    after = [local @ bodies.rotation[row].T + bodies.position[row] for row in range(2)]
    assert depth(bodies) < 1e-2
    middle = np.mean(before, axis=(0, 1))
    assert np.linalg.norm(np.mean(after, axis=(0, 1)) - middle) < 0.5


def _relax(deform: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """One answer on two overlapping cubes whose particles were deformed by hand beforehand."""
    cores = cores_of_hulls(CUBES.at([[0, 0, 0], [0.9, 0, 0]], scale=0.5))
    matching, counts = Matching.at_rest(cores), np.zeros(5, np.int64)
    matching.rest[:8] = deform(matching.rest[:8])
    candidates = Candidates(
        np.array([[0, 1]], np.int32), np.zeros(1, np.uint8), np.zeros((2, 3)), np.zeros(2, np.bool_), np.zeros((1, 3))
    )
    relax(1, cores, candidates, matching, new_polytope(), counts)
    return matching.state, counts, matching.mean, matching.turn


def test_a_shape_that_allows_no_rotation_is_skipped() -> None:
    """F-002-33: a collapsed and a mirrored rest shape are skipped and moved only; the other body is matched."""
    for deform in (lambda rest: rest * [1, 1, 0], lambda rest: rest * [1, 1, -1], lambda rest: rest * 0):
        state, counts, mean, turn = _relax(deform)
        assert state.tolist() == [2, 1]
        assert (counts[MATCHES], counts[SKIPPED]) == (1, 1)
        assert mean[0, 0] < 0
        assert (turn[0] == 0).all()
    assert _relax(lambda rest: rest)[0].tolist() == [1, 1]


def test_translation_only_is_what_a_skipped_shape_gets(monkeypatch: pytest.MonkeyPatch) -> None:
    """F-002-33: the commit leaves the rotation of a skipped shape and moves its position."""
    from choque.theses.kdop import shape_matching as module

    def skip(iterations: int, cores: Any, candidates: Any, matching: Matching, *_: Any) -> None:
        matching.mean[0] += [1.0, 2.0, 3.0]
        matching.state[0] = 2

    monkeypatch.setattr(module, "relax", skip)
    turn = random_rotations(np.random.default_rng(2), 2)
    bodies = bodies_at([(0, 0, 0), (0.5, 0, 0)], turn)
    ShapeMatching().respond(bodies, every_pair(2), 0.1)
    assert bodies.position[0] == pytest.approx([1, 2, 3], abs=1e-12)
    assert (bodies.rotation == turn).all()


def test_verlet_with_damping() -> None:
    """F-002-34: the closed form of each step, and the terminal speed a dt d / (1 − d)."""
    bodies = bodies_at([(0, 0, 0), (9, 9, 9)], static=[False, True])
    bodies.acceleration[0] = [0, -9.8 / 1.1, 0]
    bodies.velocity[1] = [1, 0, 0]
    response = ShapeMatching(damping=0.95)
    response.integrate(bodies, 0.09)
    a = -9.8 / 1.1
    assert bodies.position[0, 1] == pytest.approx(0.5 * a * 0.09**2)
    assert bodies.velocity[0, 1] == pytest.approx(a * 0.09 * 0.95)
    for _ in range(600):
        response.integrate(bodies, 0.09)
    assert bodies.velocity[0, 1] == pytest.approx(a * 0.09 * 0.95 / 0.05, rel=1e-9)
    assert bodies.velocity[1].tolist() == [1, 0, 0]
    assert bodies.position[1, 0] == pytest.approx(9 + 601 * 0.09)


def test_resuming_from_a_saved_state_gives_the_same_bits() -> None:
    random = np.random.default_rng(5)
    start = bodies_at(random.uniform(-1, 1, (12, 3)), random_rotations(random, 12), ground=True)
    start.position[:12, 1] += 1
    start.acceleration[:12, 1] = -9.8
    pairs = every_pair(13)
    one, other = start, None
    first, second = ShapeMatching(), ShapeMatching()
    for frame in range(12):
        if frame == 6:
            other = SimpleNamespace(**{name: getattr(one, name) for name in vars(one)})
            for name in ("position", "rotation", "velocity", "acceleration"):
                setattr(other, name, getattr(one, name).copy())
            second.restore({name: array.copy() for name, array in first.state().items()})
        for bodies, response in ((one, first), (other, second)):
            if bodies is not None:
                response.respond(bodies, pairs, 0.05)
                response.integrate(bodies, 0.05)
    assert other is not None
    assert one.position.tobytes() == other.position.tobytes()
    assert one.rotation.tobytes() == other.rotation.tobytes()


@pytest.mark.full
def test_a_pile_never_produces_nan(thorough: bool) -> None:
    """F-002-33: a column of bodies falls on the ground; 7,000 frames in full. Nothing explodes or sinks."""
    count, frames = (512, 7_000) if thorough else (30, 250)
    random = np.random.default_rng(0)
    place = np.zeros((count, 3))
    place[:, 1] = 16 * np.arange(1, count + 1) + 10 if thorough else 4 * np.arange(1, count + 1)
    bodies = bodies_at(place, random_rotations(random, count), ground=True, hulls=Hulls.solids("rhombicuboctahedron"))
    bodies.size[:] = 2.0
    bodies.acceleration[:count, 1] = -9.8 / 1.1
    response = ShapeMatching()
    for _ in range(frames):
        response.integrate(bodies, 0.09)
        middle = bodies.position[:count]
        gap = np.linalg.norm(middle[:, None] - middle[None], axis=2) if count < 100 else None
        near = _near(middle) if gap is None else np.argwhere(np.triu(gap < 4.2, 1))
        low = np.flatnonzero(middle[:, 1] < 2.1)
        pairs = np.concatenate([near, np.column_stack([low, np.full(len(low), count)])])
        pairs = np.ascontiguousarray(pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))], np.int32)
        response.respond(bodies, pairs, 0.09)
        assert np.isfinite(bodies.position).all()
        assert np.isfinite(bodies.rotation).all()
    assert response.counts[SKIPPED] == 0
    assert bodies.position[:count, 1].min() > 0.2
    assert np.abs(bodies.position[:count, [0, 2]]).max() < 100
    errors = bodies.rotation @ bodies.rotation.transpose(0, 2, 1) - np.eye(3)
    assert np.abs(errors).max() < 1e-12


def _near(middle: np.ndarray) -> np.ndarray:
    from choque import pairs

    return pairs(middle - 2.1, middle + 2.1).astype(np.int64)


def test_bad_input_is_refused() -> None:
    for arguments, text in (
        ({"iterations": 0}, "iterations"),
        ({"damping": 1.5}, "damping"),
        ({"damping": "x"}, "damping"),
    ):
        with pytest.raises(InvalidInput, match=text):
            ShapeMatching(**arguments)  # type: ignore[arg-type]
    bodies = bodies_at([(0, 0, 0), (0.5, 0, 0)])
    bodies.kind[1] = SPHERE
    with pytest.raises(InvalidInput, match="is a sphere"):
        ShapeMatching().check(bodies)
    with pytest.raises(InvalidInput, match="do not fit"):
        ShapeMatching().restore({"keys": np.zeros(3), "axis": np.zeros((2, 3))})


@pytest.mark.parametrize("boxes", [1, 3])
def test_what_is_shown_is_parted(boxes: int) -> None:
    """A step moves first and parts then: a body at rest lies on the ground, not as deep in it as it falls in a step."""
    world = World("sap-kdop", response="shape-matching")
    world.add_ground()
    world.add_boxes([[0, 0.6 + 1.1 * row, 0] for row in range(boxes)], acceleration=(0, -9.8, 0))
    for _ in range(200):
        world.step()
    np.testing.assert_allclose(world.bodies.position[1:, 1], 0.5 + np.arange(boxes), atol=0.08 * boxes)
    assert world.bodies.position[1, 1] > 0.5 - 0.01 * (boxes - 1) - 1e-3


def test_spin_and_limits_have_effect() -> None:
    world = World(response="shape-matching", max_speed=2.0, max_spin=1.0)
    world.add_boxes([0, 0, 0], angular_velocity=[0, 0, 9], acceleration=[0, -9.8, 0])
    for _ in range(60):
        world.step()
        assert np.linalg.norm(world.bodies.velocity) <= 2
        assert np.linalg.norm(world.bodies.angular_velocity) <= 1
    assert world.bodies.rotation[0, 1, 0] > 0.2


def test_options_are_those_of_a_world(tmp_path: Path) -> None:
    world = World(response="shape-matching", response_options={"iterations": 20, "damping": 1.0})
    assert world.response.iterations == 20
    world.write(tmp_path / "saved")
    assert World.read(tmp_path / "saved").response.iterations == 20
    world.switch("grid")
    assert world.response.iterations == 20
    world.switch(response_options={})
    assert world.response.iterations == 10
    world.switch(response="impulse")
    with pytest.raises(UnknownName, match="option of the response 'shape-matching' called 'iteration'"):
        World(response="shape-matching", response_options={"iteration": 20})
    with pytest.raises(InvalidInput, match="iterations is 0"):
        World(response="shape-matching", response_options={"iterations": 0})


def test_bodies_without_vertices_are_refused_before_the_first_step() -> None:
    world = World(response="shape-matching")
    with pytest.raises(InvalidInput, match="The body 0 is a sphere"):
        world.add_spheres([0, 0, 0])
    assert len(world) == 0
    world = World()
    world.add_spheres([0, 0, 0])
    with pytest.raises(InvalidInput, match="The body 0 is a sphere"):
        world.switch(response="shape-matching")
    assert world.settings.response == world.response.name == "soft-step"
