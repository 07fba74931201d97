"""The passes of a manifold on vectors of four against their plain forms, and a pile against a dense solver."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import choque
from choque._core.kernel import kernel
from choque.dynamics.soft_step import rows, sphere_rows
from choque.dynamics.soft_step.making import POSE, TURN_A, make_rows


@kernel
def _pass(which: int, table: Any, speed: Any, ones: Any, others: Any, numbers: Any) -> None:
    """Run one pass of row 0, or of all four rows, between the bodies ``ones`` and ``others``; eight bodies move."""
    if which == 0:
        rows.warm_row(speed, table, 0, ones[0], others[0], 8)
    elif which == 1:
        rows.solve_row(speed, table, ones, others, 0, 8, numbers, 5)
    else:
        rows.solve_rows(speed, table, ones, others, 0, 8, numbers, 5)


@kernel
def _sphere_pass(which: int, table: Any, speed: Any, ones: Any, others: Any, numbers: Any) -> None:
    """Run one pass of row 0 of spheres, or of all four rows; what `DRIVE` is read from are the next four."""
    if which == 0:
        sphere_rows.solve_row(speed, table, ones, others, 0, 8, numbers, 5)
    elif which == 1:
        sphere_rows.relax_row(speed, table, ones, others, 0, 8, numbers, table[4:])
    elif which == 2:
        sphere_rows.solve_rows(speed, table, ones, others, 0, 8, numbers, 5)
    elif which == 4:
        sphere_rows.warm_row(speed, table, ones, others, 0, 8)
    elif which == 5:
        sphere_rows.warm_rows(speed, table, ones, others, 0, 8)
    else:
        sphere_rows.relax_rows(speed, table, ones, others, 0, 8, numbers, table[4:])


NUMBERS = np.array([240.0, 3.0, 0.0, 1.0, 0.0, 240.0, 3.0, 20.0, 0.8, 0.2], np.float32)


ONES = np.array([0, 2, 4, 6], np.int32)


def _bodies(random: np.random.Generator, count: int = 9) -> np.ndarray:
    """Bodies that move, and a static one."""
    speed = random.normal(size=(count, 16))
    speed[:, 3:12:4], speed[:, rows.SCALE] = 0.0, [*random.uniform(0.5, 3, count - 1), 1.0]
    return speed


def _same(run: Any, plain: Any, which: int, given: tuple[np.ndarray, np.ndarray], further: tuple) -> None:
    """A pass of the rows ``table`` leaves them and the bodies ``speed`` as its plain form does."""
    table, speed = given
    for others in (ONES + 1, np.full(4, 8, np.int32)):
        one, bodies = table.copy(), speed.copy()
        run(which, one, bodies, ONES, others, NUMBERS)
        other, wanted = table.copy(), speed.copy()
        contact = (0, ONES[0], others[0]) if plain is rows.warm_row else (ONES, others, 0)
        getattr(plain, "plain", plain)(wanted, other, *contact, 8, *further)
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)  # rows are solved in float32
        np.testing.assert_allclose(bodies, wanted, rtol=1e-5, atol=1e-5)
        np.testing.assert_array_equal(bodies[8], speed[8])  # static, never written to


@pytest.mark.parametrize("seed", range(4))
def test_manifolds_on_vectors_do_what_plain_python_does(seed: int) -> None:
    random = np.random.default_rng(seed)
    table = random.normal(size=(4, rows.WIDTH)).astype(np.float32)
    for at in (rows.NORMAL, rows.T1, rows.T2, rows.FA1, rows.FB1, rows.FA2, rows.FB2, rows.TA, rows.TB):
        table[:, at + 3] = 0.0
    for point in range(3):
        table[:, rows.CROSS + 4 * point : rows.CROSS + 5 * point + 1] = 0.0
    for at in (rows.MASS, rows.IMPULSE, rows.LEVER, rows.GREATEST):
        table[:, at : at + 4] = np.abs(table[:, at : at + 4])
    table[:, rows.MU] = 0.5
    given = table, _bodies(random)
    _same(_pass, rows.warm_row, 0, given, ())
    _same(_pass, rows.solve_row, 1, given, (NUMBERS, 5))
    _same(_pass, rows.solve_rows, 2, given, (NUMBERS, 5))


@pytest.mark.parametrize("seed", range(4))
def test_spheres_on_vectors_do_what_plain_python_does(seed: int) -> None:
    random = np.random.default_rng(seed)
    table = np.abs(random.normal(size=(8, sphere_rows.WIDTH))).astype(np.float32)  # four rows, and more of them
    table[:4, sphere_rows.NORMAL : sphere_rows.NORMAL + 3] = random.normal(size=(4, 3))
    table[:4, sphere_rows.GAP] = random.normal(size=4)
    table[:4, sphere_rows.SLIDE + 3], table[:4, sphere_rows.EXTRA] = 0.0, [0, 1, 0, 1]
    given = table, _bodies(random)
    _same(_sphere_pass, sphere_rows.solve_row, 0, given, (NUMBERS, 5))
    _same(_sphere_pass, sphere_rows.relax_row, 1, given, (NUMBERS, table[4:]))
    _same(_sphere_pass, sphere_rows.solve_rows, 2, given, (NUMBERS, 5))
    _same(_sphere_pass, sphere_rows.relax_rows, 3, given, (NUMBERS, table[4:]))
    _same(_sphere_pass, sphere_rows.warm_row, 4, given, ())
    _same(_sphere_pass, sphere_rows.warm_rows, 5, given, ())


@kernel
def _make(speed: Any, table: Any, bodies: Any, kept: Any, last: int) -> None:
    """Make the rows from 0 to ``last`` from manifolds in another order."""
    make_rows(speed, table, bodies, kept, LIVE, 0, last)


LIVE = np.array([2, 0, 3, 1])


@pytest.mark.parametrize("last", [1, 3, 4])
def test_rows_on_vectors_are_made_as_plain_python_makes_them(last: int) -> None:
    """Manifolds of one to four points, of moving bodies and static ones; all other places are left as they were."""
    random = np.random.default_rng(last)
    turns = np.linalg.qr(random.normal(size=(13, 3, 3)))[0]
    arms, found = random.normal(size=(4, 27)), random.normal(size=(4, POSE))
    arms[:, :3] /= np.linalg.norm(arms[:, :3], axis=1, keepdims=True)
    found[:, TURN_A:] = turns[:8].reshape(4, 18)
    marks = np.zeros((4, 5), np.uint32)
    marks[:, 4] = random.permutation(4) + 1
    for row, count in enumerate(marks[:, 4]):
        arms[row, 3:].reshape(6, 4)[:, count:] = 0.0
    pose = np.concatenate((random.normal(size=(5, 3)), turns[8:].reshape(5, 9)), axis=1)
    ball, pull = np.abs(random.normal(size=(5, 8))), random.normal(size=(5, 4))
    ball[4, 5] = pull[:, 3] = 0.0
    pairs = np.array([[0, 1], [2, 4], [3, 0], [4, 1]], np.int32)
    given = (
        (pose, random.normal(size=(5, 9)), ball, pull),
        (pairs, np.array([2, 0, 3, 1], np.int32), marks, found, arms),
    )
    speed, (one, other) = _bodies(random, 5), np.full((2, 4, rows.WIDTH), 7.0, np.float32)
    _make(speed, one, *given, last)
    getattr(make_rows, "plain", make_rows)(speed, other, *given, LIVE, 0, last)
    np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)
    assert (one[:last] == 7).any(axis=0).sum() == 8 + 3 + 8
    assert (one[last:] == 7).all()


def dense_rest(world: choque.World, rounds: int = 1000) -> np.ndarray:
    """Forces between bodies at rest (m, 3) on the second body of each contact: projected Gauss-Seidel, whole matrices.

    At each point that touches a normal force λ ≥ 0 and two of friction within the cone, such that J M⁻¹ Jᵀ λ + J g
    presses no bodies together: one point after another until nothing changes. Independent of the solver but for points.
    """
    found, bodies = world.contacts(), world.bodies
    lines, owner, mu, axes = [], [], [], []
    for row, (a, b) in enumerate(found.pairs):
        normal = found.normal[row]
        tangent = np.cross(normal, np.eye(3)[np.abs(normal).argmin()])
        tangent /= np.linalg.norm(tangent)
        for point in np.flatnonzero(found.separations[row, : found.point_count[row]] <= 0):
            for axis in (normal, tangent, np.cross(normal, tangent)):
                line = np.zeros((len(bodies), 6))
                for body, sign in ((a, -1.0), (b, 1.0)):
                    if not bodies.static[body]:
                        arm = found.points[row, point] - bodies.position[body]
                        turn = np.cross(arm, axis) @ bodies.rotation[body]
                        line[body, :3] = sign * axis * np.sqrt(bodies.inverse_mass[body])
                        line[body, 3:] = sign * turn * np.sqrt(bodies.inverse_inertia[body])
                lines.append(line.ravel())
                axes.append(axis)
            owner.append(row)
            mu.append(np.sqrt(bodies.friction[a] * bodies.friction[b]))
    jacobian, axes = np.array(lines), np.array(axes).reshape(-1, 3, 3)
    pull = np.zeros((len(bodies), 6))
    pull[~bodies.static, 1] = -9.81 / np.sqrt(bodies.inverse_mass[~bodies.static])
    matrix, wanted = jacobian @ jacobian.T, jacobian @ pull.ravel()
    force = np.zeros(len(lines))
    for _ in range(rounds):
        for k in range(0, len(lines), 3):
            force[k] = max(0.0, force[k] - (matrix[k] @ force + wanted[k]) / matrix[k, k])
            for across in (k + 1, k + 2) if mu[k // 3] > 0 else ():
                force[across] -= (matrix[across] @ force + wanted[across]) / matrix[across, across]
            size, most = np.hypot(force[k + 1], force[k + 2]), mu[k // 3] * force[k]
            force[k + 1 : k + 3] *= min(1.0, most / size) if size > 0 else 1.0
    on_points = np.einsum("kij,ki->kj", axes, force.reshape(-1, 3))
    answer = np.zeros((len(found), 3))
    np.add.at(answer, owner, on_points)
    return answer


def test_the_forces_in_a_pile_are_those_of_a_dense_solver() -> None:
    """Two columns of cubes of different mass, and a ball: the sum of the forces between two bodies is determined."""
    world = choque.World(response="soft-step", gravity=(0, -9.81, 0), response_options={"sleep": False})
    world.add_ground()
    world.add_boxes([[0, 0.5 + k, 0] for k in range(4)], mass=[1, 4, 2, 8])
    world.add_boxes([[3, 0.5 + k, 0] for k in range(2)], mass=[3, 1])
    world.add_spheres([[3, 2.5, 0]], 0.5, mass=5)
    for _ in range(240):
        world.step(1 / 60)
    found = dense_rest(world)
    pairs = [(int(a), int(b)) for a, b in world.contacts().pairs]
    ours = world.forces().sum(axis=1)
    assert pairs == [(0, 1), (0, 5), (1, 2), (2, 3), (3, 4), (5, 6), (6, 7)]
    np.testing.assert_allclose(found[:, 1], np.array([15, 9, 14, 10, 8, 6, 5]) * 9.81, rtol=1e-3)
    np.testing.assert_allclose(ours, found[:, 1], rtol=0.01)


@pytest.mark.parametrize("seed", range(3))
def test_each_force_in_a_random_pile_is_that_of_a_dense_solver(seed: int) -> None:
    """Twenty spheres of mass 1 to 3 at rest in a narrow box, without friction.

    Forces are determined up to those that cancel on every body: with seed 1 there are 61 contacts of rank 60.
    """
    random = np.random.default_rng(seed)
    world = choque.World(response="soft-step", gravity=(0, -9.81, 0), response_options={"sleep": False})
    world.add_ground(friction=0)
    sides = np.array([[1, 0, 0], [-1, 0, 0], [0, 0, 1], [0, 0, -1]]) * 5.9
    world.add_boxes(sides, 10.0, static=True, friction=0)
    place = random.uniform(-0.3, 0.3, (20, 3))
    place[:, 1] = 0.6 + 0.9 * np.arange(20)
    world.add_spheres(place, random.uniform(0.3, 0.45, 20), mass=random.uniform(1, 3, 20), friction=0, linear_damping=1)
    for _ in range(900):
        world.step(1 / 60)
    found = world.contacts()
    dense, ours = (dense_rest(world, 4000) * found.normal).sum(axis=1), world.forces().sum(axis=1)
    assert ours[found.pairs[:, 0] == 0].sum() == pytest.approx(world.bodies.mass[5:].sum() * 9.81, rel=1e-5)
    lines = np.zeros((len(found), len(world.bodies), 3))
    every = np.arange(len(found))
    lines[every, found.pairs[:, 0]], lines[every, found.pairs[:, 1]] = -found.normal, found.normal
    weight = np.outer(world.bodies.mass[5:], [0, 9.81, 0])
    np.testing.assert_allclose(np.tensordot(ours, lines, 1)[5:], weight, atol=1e-4)
    touches = ours + dense > 0
    basis = np.linalg.svd(lines[touches, 5:].reshape(touches.sum(), -1), full_matrices=False)
    determined = basis.U[:, basis.S > 1e-6]
    np.testing.assert_allclose(ours[touches] @ determined, dense[touches] @ determined, atol=0.01 * dense.max())


def test_moving_turning_mirroring_and_renumbering_a_scene_does_so_to_what_happens() -> None:
    """The same pile elsewhere, turned by a quarter about the vertical, mirrored, or its bodies in another order."""
    results = []
    for shift, change in ((0.0, ""), (64.0, ""), (0.0, "turn"), (0.0, "mirror"), (0.0, "order")):
        world = choque.World(response="soft-step", gravity=(0, -9.81, 0))
        world.add_ground()
        place = np.array([[0.0, 0.5, 0.0], [0.2, 1.6, 0.1], [-0.1, 2.8, 0.0]])
        if change == "turn":
            place = place[:, [2, 1, 0]] * [1, 1, -1]
        if change == "mirror":
            place = place * [-1, 1, 1]
        if change == "order":
            place = place[::-1]
        world.add_boxes(place + [shift, 0, shift])
        for _ in range(90):
            world.step(1 / 60)
        after = world.bodies.position[1:] - [shift, 0, shift]
        if change == "turn":
            after = after[:, [2, 1, 0]] * [-1, 1, 1]
        if change == "mirror":
            after = after * [-1, 1, 1]
        results.append(after[::-1] if change == "order" else after)
    np.testing.assert_allclose(results[1], results[0], atol=2e-3)  # rounding decides between equal features
    for other in results[2:]:
        np.testing.assert_allclose(other, results[0], atol=0.02)
