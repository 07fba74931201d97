"""Hard balls: single collisions in closed form, against a naive simulation, energy, and kinetic theory."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from choque.errors import InvalidInput
from choque.theses.kinetic import Billiards


def gas(seed: int, side: int, dimension: int, share: float) -> Billiards:
    """Balls on a grid that fill a ``share`` of a box of edge 1, with the velocities of a gas in equilibrium."""
    random = np.random.default_rng(seed)
    count = side**dimension
    volume = share / count
    radius = math.sqrt(volume / math.pi) if dimension == 2 else (3 * volume / (4 * math.pi)) ** (1 / 3)
    centers = (np.indices((side,) * dimension).reshape(dimension, -1).T + 0.5) / side
    jitter = 0.9 * (0.5 / side - radius)
    centers += random.uniform(-jitter, jitter, centers.shape)
    velocity = random.normal(size=(count, dimension))
    return Billiards(centers, velocity, radius, lower=np.zeros(dimension), upper=np.ones(dimension))


def test_head_on_and_oblique_collisions() -> None:
    table = Billiards([[0, 0], [5, 0]], [[2, 0], [-1, 0]], radius=[1, 1], mass=[1, 3])
    assert [(c.time, c.pair) for c in table.advance(10)] == [(1.0, (0, 1))]
    np.testing.assert_allclose(table.velocity, [[-2.5, 0], [0.5, 0]])
    assert table.time == 10.0
    np.testing.assert_allclose(table.position, [[2 - 2.5 * 9, 0], [4 + 0.5 * 9, 0]])
    oblique = Billiards([[0, 0], [3, 1]], [[1, 0], [0, 0]], radius=math.sqrt(0.5))
    (hit,) = oblique.advance(10)
    assert hit.time == pytest.approx(2.0)
    np.testing.assert_allclose(oblique.velocity, [[0.5, -0.5], [0.5, 0.5]], atol=1e-12)


def test_boxes_meet_but_balls_pass() -> None:
    table = Billiards([[0, 0], [3, 1.9]], [[1, 0], [0, 0]], radius=1 - 1e-3)
    assert len(table.advance(3.0)) == 1
    table = Billiards([[0, 0], [3, 1.9]], [[1, 0], [0, 0]], radius=0.94)
    assert len(table.advance(10.0)) == 0


def test_a_ball_between_two_walls_under_gravity() -> None:
    ball = Billiards([[0.5, 1.5]], [[0, 0]], radius=0.5, lower=[-1, 0], upper=[2, 9], acceleration=[0, -2])
    energy = ball.energy()
    ball.advance(7.0)
    assert ball.bounce_count == 4  # at 1, 3, 5 and 7 s
    assert ball.energy() == pytest.approx(energy, rel=1e-12)
    np.testing.assert_allclose(ball.position, [[0.5, 0.5]], atol=1e-9)


def test_ball_at_rest_on_the_floor_is_hit_at_the_right_time_and_without_loss() -> None:
    """The upper ball falls from 5 to where its center is √(1 − 0.6²) = 0.8 above the other one, which rests at 0.5."""
    table = Billiards(
        [[0, 0.5], [0.6, 5]], [[0, 0], [0, 0]], 0.5, lower=[-5, 0], upper=[5, 50], acceleration=[0, -9.81]
    )
    energy = table.energy()
    assert next(iter(table.advance(5))).time == pytest.approx(math.sqrt(2 * (5 - 1.3) / 9.81), rel=1e-12)
    assert table.energy() == pytest.approx(energy, rel=1e-12)


@pytest.mark.parametrize("dimension", [2, 3])
def test_energy_is_kept_when_balls_rest_on_the_floor_under_others(dimension: int, thorough: bool) -> None:
    for seed in range(40 if thorough else 6):
        random = np.random.default_rng(seed)
        radius, on_floor = random.uniform(0.2, 0.45, 12), random.random(12) < 0.5
        position = np.zeros((12, dimension))
        position[:, 0] = np.arange(12)
        position[:, -1] = radius + np.where(on_floor, 0, random.uniform(0, 3, 12))
        velocity = np.where(on_floor[:, None], 0, random.normal(size=position.shape))
        low, high = np.full(dimension, -1.0), np.full(dimension, 12.0)
        low[-1] = 0.0
        high[1:-1] = 1.0
        pull = np.zeros(dimension)
        pull[-1] = -9.81
        mass = random.uniform(0.5, 2, 12)
        table = Billiards(position, velocity, radius, mass=mass, lower=low, upper=high, acceleration=pull)
        energy = table.energy()
        assert len(table.advance(3)) > 3
        assert table.energy() == pytest.approx(energy, rel=1e-12)
        now = table.position
        apart = np.linalg.norm(now[:, None] - now, axis=2) - (radius[:, None] + radius)
        assert apart[np.triu_indices(12, 1)].min() > -1e-9
        assert (now - radius[:, None] - low).min() > -1e-9


def test_row_of_balls_on_a_high_floor_comes_to_rest_again() -> None:
    """Rounding lifts the balls by a hair; they must not bounce for ever below the spacing of their coordinates."""
    row = [[k - 3.0, 100.5] for k in range(6)]
    table = Billiards(row, [[1, 0], *[[0, 0]] * 5], 0.45, lower=[-5, 100.05], upper=[5, 150], acceleration=[0, -9.81])
    table.advance(20)
    assert table.bounce_count < 1000
    np.testing.assert_allclose(table.position[:, 1], 100.5, atol=1e-9)


def test_ball_that_rests_on_another_ball_is_refused() -> None:
    walls = {"lower": [-5, 0], "upper": [5, 50], "acceleration": [0, -9.81]}
    with pytest.raises(InvalidInput, match=r"balls 0 and 1 are pressed together at time .*walls only"):
        Billiards([[0, 0.5], [0, 1.5]], [[0, 0], [0, 0]], 0.5, **walls).advance(1)
    Billiards([[0, 0.5], [1, 0.5]], [[0, 0], [0, 0]], 0.5, **walls).advance(1)  # side by side


def naive(centers: Any, velocity: Any, radius: float, until: float) -> list[tuple[float, tuple[int, int]]]:
    """All pairs and all walls of the unit box at each step."""
    now, found = 0.0, []
    while True:
        best, what = until - now, None
        for a in range(len(centers)):
            for axis in range(centers.shape[1]):
                speed = velocity[a, axis]
                room = 1 - radius - centers[a, axis] if speed > 0 else centers[a, axis] - radius
                if speed and room / abs(speed) < best:
                    best, what = room / abs(speed), (a, -1, axis)
            for b in range(a + 1, len(centers)):
                r, v = centers[b] - centers[a], velocity[b] - velocity[a]
                closing = r @ v
                square = closing**2 - (v @ v) * (r @ r - 4 * radius**2)
                if closing < 0 <= square:
                    time = max((-closing - math.sqrt(square)) / (v @ v), 0.0)
                    if time < best:
                        best, what = time, (a, b, -1)
        centers, now = centers + velocity * best, now + best
        if what is None:
            return found
        a, b, axis = what
        if b < 0:
            velocity[a, axis] *= -1
        else:
            n = (centers[b] - centers[a]) / np.linalg.norm(centers[b] - centers[a])
            push = ((velocity[b] - velocity[a]) @ n) * n
            velocity[a], velocity[b] = velocity[a] + push, velocity[b] - push
            found.append((now, (a, b)))


@pytest.mark.parametrize("dimension", [2, 3])
def test_equals_a_naive_simulation_until_chaos(dimension: int) -> None:
    table = gas(1, 3 if dimension == 2 else 2, dimension, 0.3)
    radius = float(table._radius[0])
    wanted = naive(table.position, table.velocity, radius, 0.6)
    found = [(c.time, c.pair) for c in table.advance(0.6)]
    assert len(found) > 5
    assert [pair for _, pair in found] == [pair for _, pair in wanted]
    np.testing.assert_allclose([t for t, _ in found], [t for t, _ in wanted], rtol=1e-6)


def test_energy_is_kept_and_balls_stay_apart(thorough: bool) -> None:
    table = gas(2, 7, 2, 0.4)
    energy, wanted = table.energy(), 1_000_000 if thorough else 20_000
    collisions = table.advance(1e9, limit=wanted)
    assert table.collision_count == len(collisions) == wanted
    assert (np.diff(collisions.times) >= 0).all()
    assert collisions.times[-1] == table.time
    assert table.energy() == pytest.approx(energy, rel=1e-12)
    centers = table.position
    apart = np.linalg.norm(centers[:, None] - centers, axis=2)[np.triu_indices(len(table), 1)]
    assert apart.min() >= 2 * table._radius[0] * (1 - 1e-9)
    assert (centers.min(), centers.max()) >= (table._radius[0] * (1 - 1e-9), 0)
    audit = table._sweep.audit()
    assert (audit.stale, audit.disorder < 1e-9) == (0, True)


def _beside_walls(reach: float, dimension: int) -> float:
    """The share of places at which a partner one diameter away in a random direction is within the walls, too."""
    direction = np.random.default_rng(0).normal(size=(20_000, dimension))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    return float(np.prod(1 - reach * np.abs(direction), axis=1).mean())


@pytest.mark.parametrize("dimension", [2, 3])
def test_collision_rate_is_that_of_kinetic_theory(dimension: int, thorough: bool) -> None:
    """n/2 · density · (2 D or π D²) · mean relative speed · contact value collisions a second, D the diameter."""
    share = 0.01
    table = gas(3, 12 if dimension == 2 else 5, dimension, share)
    wanted = 200_000 if thorough else 15_000
    table.advance(1e9, limit=wanted)
    count, radius = len(table), float(table._radius[0])
    temperature = 2 * table.energy() / (dimension * count)
    room = 1 - 2 * radius  # centers keep a radius from the walls
    density = (count - 1) / room**dimension * _beside_walls(2 * radius / room, dimension)
    if dimension == 2:
        section, relative = 4 * radius, math.sqrt(math.pi * temperature)
        crowding = (1 - 7 * share / 16) / (1 - share) ** 2
    else:
        section, relative = math.pi * 4 * radius**2, 4 * math.sqrt(temperature / math.pi)
        crowding = (1 - share / 2) / (1 - share) ** 3
    theory = count / 2 * density * section * relative * crowding
    assert wanted / table.time == pytest.approx(theory, rel=0.02)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: Billiards([[0, 0], [1, 0]], [[0, 0], [0, 0]], radius=0.6), "balls 0 and 1 overlap"),
        (lambda: Billiards([[0, 0]], [[0, np.nan]], radius=1), "velocity"),
        (lambda: Billiards([[0, 0]], [[0, 0]], radius=0), "radius"),
        (lambda: Billiards([[0, 0]], [[0, 0]], radius=1, mass=[-1]), "mass"),
        (lambda: Billiards([[0, 0]], [[0, 0]], radius=1, lower=[0, 0], upper=[5, 5]), "row 0"),
        (lambda: Billiards([0, 0], [[0, 0]], radius=1), "position"),
        (lambda: Billiards([[0, 0]], [[0, 0]], radius=1).advance(-1), "-1"),
    ],
)
def test_bad_input_is_named(call: Any, named: str) -> None:
    with pytest.raises(InvalidInput, match=named):
        call()
