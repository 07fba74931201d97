"""The passes of a manifold on vectors of four against their plain forms, and a pile against a dense solver."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import choque
from choque._core.kernel import kernel
from choque.dynamics.soft_step import rows, sphere_rows


@kernel
def _pass(which: int, table: Any, speed: Any, b: int, numbers: Any) -> None:
    """Run one pass of row 0 between body 0 and body ``b``, or of rows 0 and 1; four bodies move."""
    h, push, rate, scale, keep = numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]
    if which == 0:
        rows.warm_row(speed, table, 0, 0, b, 4)
    elif which == 1:
        rows.solve_row(speed, table, 0, 0, b, 4, h, push, rate, scale, keep)
    else:
        rows.solve_two_rows(speed, table, 0, 0, b, 2, b + (b < 4) * 2, 4, h, push, rate, scale, keep)


@kernel
def _sphere_pass(which: int, table: Any, speed: Any, b: int, numbers: Any) -> None:
    """Run one pass of row 0 of spheres between body 0 and body ``b``, or of rows 0 and 1; four bodies move."""
    h, push, rate, scale, keep = numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]
    if which == 0:
        sphere_rows.solve_row(speed, table, 0, 0, b, 4, h, push, rate, scale, keep)
    elif which == 1:
        sphere_rows.relax_row(speed, table, 0, 0, b, 4, h)
    elif which == 2:
        sphere_rows.solve_two_rows(speed, table, 0, 0, b, 2, b + (b < 4) * 2, 4, h, push, rate, scale, keep)
    else:
        sphere_rows.relax_two_rows(speed, table, 0, 0, b, 2, b + (b < 4) * 2, 4, h)


NUMBERS = np.array([240.0, 3.0, 20.0, 0.8, 0.2])


def _bodies(random: np.random.Generator) -> np.ndarray:
    """Four bodies that move, and a static one."""
    speed = random.normal(size=(5, 16))
    speed[:, 3:12:4], speed[:, rows.SCALE] = 0.0, [0.5, 2.0, 1.0, 3.0, 1.0]
    return speed


def _same(run: Any, plain: Any, which: int, given: tuple[np.ndarray, np.ndarray], b: int, further: tuple) -> None:
    """A pass of the rows ``table`` leaves them and the bodies ``speed`` as its plain form does."""
    table, speed = given
    one, bodies = table.copy(), speed.copy()
    run(which, one, bodies, b, NUMBERS)
    other, others = table.copy(), speed.copy()
    getattr(plain, "plain", plain)(others, other, 0, 0, b, *further)
    np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-7)  # the last bit of float32
    np.testing.assert_allclose(bodies, others, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(bodies[4], speed[4])  # static, never written to


@pytest.mark.parametrize("seed", range(4))
def test_manifolds_on_vectors_do_what_plain_python_does(seed: int) -> None:
    random = np.random.default_rng(seed)
    table = random.normal(size=(2, rows.WIDTH)).astype(np.float32)
    for at in (rows.NORMAL, rows.T1, rows.T2, rows.FA1, rows.FB1, rows.FA2, rows.FB2, rows.TA, rows.TB):
        table[:, at + 3] = 0.0
    for point in range(3):
        table[:, rows.CROSS + 4 * point : rows.CROSS + 5 * point + 1] = 0.0
    for at in (rows.MASS, rows.IMPULSE, rows.LEVER, rows.GREATEST):
        table[:, at : at + 4] = np.abs(table[:, at : at + 4])
    table[:, rows.MU] = 0.5
    given = table, _bodies(random)
    for b, d in ((1, 3), (4, 4)):
        _same(_pass, rows.warm_row, 0, given, b, (4,))
        _same(_pass, rows.solve_row, 1, given, b, (4, *NUMBERS))
        _same(_pass, rows.solve_two_rows, 2, given, b, (2, d, 4, *NUMBERS))


@pytest.mark.parametrize("seed", range(4))
def test_spheres_on_vectors_do_what_plain_python_does(seed: int) -> None:
    random = np.random.default_rng(seed)
    table = np.abs(random.normal(size=(2, sphere_rows.WIDTH))).astype(np.float32)
    table[:, sphere_rows.NORMAL : sphere_rows.NORMAL + 3] = random.normal(size=(2, 3))
    table[:, sphere_rows.GAP] = random.normal(size=2)
    table[:, sphere_rows.SLIDE + 3], table[:, sphere_rows.EXTRA] = 0.0, [0, 1]
    given = table, _bodies(random)
    for b, d in ((1, 3), (4, 4)):
        _same(_sphere_pass, sphere_rows.solve_row, 0, given, b, (4, *NUMBERS))
        _same(_sphere_pass, sphere_rows.relax_row, 1, given, b, (4, NUMBERS[0]))
        _same(_sphere_pass, sphere_rows.solve_two_rows, 2, given, b, (2, d, 4, *NUMBERS))
        _same(_sphere_pass, sphere_rows.relax_two_rows, 3, given, b, (2, d, 4, NUMBERS[0]))


def dense_rest(world: choque.World, rounds: int = 20_000) -> np.ndarray:
    """The normal forces at all contact points of bodies at rest: projected Gauss-Seidel on whole matrices.

    Least forces λ ≥ 0 with J M⁻¹ Jᵀ λ + J g ≥ 0 and complementarity, without friction; returned by pair of bodies.
    """
    found, bodies = world.contacts(), world.bodies
    lines, owner = [], []
    for row, (a, b) in enumerate(found.pairs):
        for point in range(found.point_count[row]):
            line = np.zeros((len(bodies), 6))
            for body, sign in ((a, -1.0), (b, 1.0)):
                if not bodies.static[body]:
                    arm = found.points[row, point] - bodies.position[body]
                    line[body, :3] = sign * found.normal[row]
                    line[body, 3:] = sign * np.cross(arm, found.normal[row])
            lines.append(line.ravel())
            owner.append(row)
    jacobian = np.array(lines)
    inverse = np.zeros((len(bodies), 6))
    inverse[:, :3], inverse[:, 3:] = bodies.inverse_mass[:, None], bodies.inverse_inertia  # of cubes: any axes
    matrix = (jacobian * inverse.ravel()) @ jacobian.T
    pull = np.zeros((len(bodies), 6))
    pull[~bodies.static, 1] = -9.81
    wanted = jacobian @ pull.ravel()
    force = np.zeros(len(lines))
    for _ in range(rounds // len(lines)):
        for k in range(len(lines)):
            force[k] = max(0.0, force[k] - (matrix[k] @ force + wanted[k]) / matrix[k, k])
    return np.bincount(owner, force, len(found))


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
    np.testing.assert_allclose(found, np.array([15, 9, 14, 10, 8, 6, 5]) * 9.81, rtol=1e-3)
    np.testing.assert_allclose(ours, found, rtol=0.01)


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
