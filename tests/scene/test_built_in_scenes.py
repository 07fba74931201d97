"""The scenes that come along: each loads, says what it is, and does what it says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from choque import scene
from choque.errors import UnreadableFile
from choque.scene import BodyScene
from choque.world import World

NAMES = scene.names("built-in")
OVERLAP = {"overlap": [[0, 1], [2, 3], [4, 5]]}


def run(name: str, seconds: float) -> World:
    made = scene.find_bodies(name)
    world = made.world()
    for _ in range(round(seconds * made.steps_per_second)):
        world.step(made.dt)
    return world


@pytest.mark.parametrize("name", NAMES)
def test_each_loads_and_runs(name: str, tmp_path: Path, assert_same: Callable[[BodyScene, BodyScene], None]) -> None:
    made = scene.find_bodies(name)
    assert made.name == name
    assert made.notes == ()
    assert made.summary == scene.describe(name)
    assert made.summary.endswith(".")
    assert made.overlapping().tolist() == OVERLAP.get(name, [])
    scene.write(tmp_path / "copy.toml", made)
    assert_same(made, scene.find_bodies(tmp_path / "copy.toml"))
    world = made.world()
    for _ in range(30):
        world.step(made.dt)
    assert np.isfinite(world.bodies.position).all()


def test_a_file_goes_before_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bowling").mkdir()
    with pytest.raises(UnreadableFile):
        scene.read("bowling")


def test_restitutions_act_as_their_mean() -> None:
    """F-001-26: 0.2 against 0.8 is 0.5 against 0.5."""
    speed = run("restitution", 3).bodies.velocity[:, 0]
    np.testing.assert_allclose(speed, [-2, 2, -2, 2, -4, 4, 0, 0], atol=1e-12)


def test_the_pusher_is_not_slowed() -> None:
    """F-001-25."""
    world = run("push", 6)
    pusher = int(np.flatnonzero((world.bodies.kind == 0) & world.bodies.static)[0])
    assert world.bodies.position[pusher, 0] == pytest.approx(-14 + 4 * 6)
    assert (world.bodies.position[-4:, 0] - [-9, -6, -3, 0] > 8).all()
    assert (world.bodies.position[-4:, 1] > 0.75).all()  # none is pressed into the floor


def test_the_struck_capsule_stays_and_spins() -> None:
    bodies = run("strike", 2).bodies
    np.testing.assert_allclose(bodies.position[0], 0, atol=1e-9)
    assert abs(bodies.angular_velocity[0, 1]) > 0.5


def test_the_cradle_passes_the_speed_on() -> None:
    """The blow runs to the right end, comes back from the wall, and leaves the left end."""
    np.testing.assert_allclose(run("cradle", 1.5).bodies.velocity[2:, 0], [0, 0, 0, 0, 0, 6], atol=1e-9)
    np.testing.assert_allclose(run("cradle", 3.2).bodies.velocity[2:, 0], [-6, 0, 0, 0, 0, 0], atol=1e-9)


def test_tiles_pass_through_each_other() -> None:
    """F-001-21: the moving tile is where its velocity says, and the ball was met."""
    world = run("crossing-tiles", 5)
    assert world.bodies.position[1, 0] == pytest.approx(4)
    assert world.bodies.velocity[3].any()


def test_speeds_stop_at_their_limits() -> None:
    """F-001-31."""
    bodies = run("speed-limit", 4).bodies
    speed = np.linalg.norm(bodies.velocity, axis=1)
    assert speed.max() == pytest.approx(2)
    assert np.linalg.norm(bodies.angular_velocity, axis=1).max() == pytest.approx(3)
    assert speed[2] == pytest.approx(1)


def test_gravity_belongs_to_each_body() -> None:
    """F-001-29: free fall, a t² / 2."""
    steps = 60
    moved = run("accelerations", 1).bodies.position - scene.find_bodies("accelerations").bodies.position
    drop = 0.5 * 0.5 * (steps / 60) ** 2
    np.testing.assert_allclose(moved, [[0, -drop, 0], [0, drop, 0], [0, 0, drop], [0, 0, 0]], atol=1e-9)


def test_nothing_leaves_the_hidden_walls() -> None:
    bodies = run("hidden-walls", 5).bodies
    assert np.abs(bodies.position[bodies.kind == 0]).max() < 4


def test_pins_fall() -> None:
    world = run("bowling", 3)
    pins = world.bodies.rotation[world.bodies.kind == 1][:, 1, 2]
    assert (np.abs(pins) < 0.9).sum() >= 5


def test_balls_bounce_less_high_the_less_elastic_they_are() -> None:
    made = scene.find_bodies("bounce")
    world = made.world()
    height = np.array([(world.step(made.dt), world.bodies.position[1:, 1].copy())[1] for _ in range(110)])
    peaks = height[60:].max(axis=0)
    assert peaks[0] == pytest.approx(5, abs=0.15)
    assert (np.diff(peaks) < -0.3).all()


def test_free_capsules_keep_their_angular_momentum_and_their_place() -> None:
    before, after = run("spin", 0).bodies, run("spin", 5).bodies
    momentum = [
        np.einsum("nij,nj,nkj,nk->ni", each.rotation, each.inertia, each.rotation, each.angular_velocity)
        for each in (before, after)
    ]
    np.testing.assert_allclose(momentum[1], momentum[0], atol=1e-11)
    np.testing.assert_array_equal(after.position, before.position)


def test_bodies_that_overlap_at_the_start_part_with_the_momentum_they_had() -> None:
    bodies = run("overlap", 2).bodies
    np.testing.assert_allclose((bodies.mass[:, None] * bodies.velocity).sum(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(bodies.velocity[:4].round(9) + 0.0, [[-1, 0, 0], [1, 0, 0], [0, -1, 0], [0, 1, 0]])


def test_capsules_at_all_angles_come_to_rest() -> None:
    assert run("rest", 6).asleep[1:].all()


def test_one_of_each_kind_comes_to_rest_in_the_valley() -> None:
    world = run("one-of-each", 10)
    assert (np.abs(world.bodies.position[2:, 0]) < 4).all()
    assert world.asleep[2:].all()


def test_an_empty_scene_has_nothing_to_do() -> None:
    world = run("empty", 1)
    assert (len(world), world.frame, len(world.pairs()), len(world.contacts())) == (0, 60, 0, 0)


def test_pairs_of_capsules_part_with_their_momentum_and_nine_tenths_of_their_speed() -> None:
    """Side by side and end to end they meet centrally: the speed of approach, 4, becomes 0.9 of it."""
    bodies = run("capsule-pairs", 4).bodies
    momentum = (bodies.mass[:, None] * bodies.velocity).reshape(4, 2, 3).sum(axis=1)
    np.testing.assert_allclose(momentum, 0, atol=1e-12)
    apart = bodies.velocity[1::2, 0] - bodies.velocity[::2, 0]
    np.testing.assert_allclose(apart[1:3], 3.6, atol=1e-9)
    assert (apart > 0).all()


def test_balls_come_back_from_the_face_the_edges_and_the_corners_of_a_tile() -> None:
    bodies = run("tile-regions", 4).bodies
    speed = np.linalg.norm(bodies.velocity[1:], axis=1)
    np.testing.assert_allclose(speed, 2, rtol=1e-6)
    assert bodies.velocity[1, 1] == pytest.approx(2)
    assert bodies.velocity[10, 1] == pytest.approx(-2)
    edges, corners = bodies.velocity[2:6, [0, 2]], bodies.velocity[6:10, [0, 2]]
    outward = np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])
    assert ((edges * outward).sum(axis=1) > 0.1).all()
    np.testing.assert_allclose(edges * outward[:, ::-1], 0, atol=1e-9)
    assert (corners * [[1, 1], [1, -1], [-1, 1], [-1, -1]] > 0.1).all()


@pytest.mark.parametrize("name", ["mixed-box-100", "capsule-box-16"])
def test_bodies_in_a_closed_box_keep_their_energy_and_stay_in_it(name: str) -> None:
    before, after = run(name, 0), run(name, 5)
    assert after.energy() == pytest.approx(before.energy(), rel=1e-9)
    walls = np.abs(after.bodies.position[after.bodies.static]).max(axis=0)
    inside = (np.abs(before.bodies.position) < walls).all(axis=1)
    assert (np.abs(after.bodies.position[inside]) < walls).all()
    assert (after.bodies.velocity != before.bodies.velocity).any(axis=1).sum() > 10


def test_rockets_fly_like_capsules() -> None:
    """F-001-45."""
    bodies = run("launch", 2).bodies
    shift = bodies.position[[1, 3]] - bodies.position[[0, 2]]
    np.testing.assert_allclose(shift, [[4, 0, 0], [4, 0, 0]], atol=1e-9)
    assert bodies.rocket.tolist() == [True, False, True, False, False, False]


@pytest.mark.parametrize("word", ["bowling", "boxes", "rest", "slide", "pile-200", "pile:60", "pins:12"])
def test_no_body_sinks_through_a_floor(word: str) -> None:
    made = scene.find_bodies(word)
    world = made.world()
    bodies = world.bodies
    floor = float(bodies.position[bodies.static, 1].min())
    for _ in range(6 * made.steps_per_second):
        world.step(made.dt)
    moving = ~world.bodies.static
    smallest = world.bodies.size[moving, 0] if word != "boxes" else 0.5
    assert (world.bodies.position[moving, 1] > floor + 0.5 * smallest).all()


@pytest.mark.parametrize("word", ["two-waves:100", "gas:100", "balls-in-box:100", "mixed-box:100"])
def test_no_body_leaves_a_closed_box(word: str) -> None:
    made = scene.find_bodies(word)
    world = made.world()
    walls = np.abs(world.bodies.position[world.bodies.static]).max(axis=0)
    for _ in range(900):
        world.step(made.dt)
    inside = np.abs(world.bodies.position[~world.bodies.static]) < walls
    assert inside.all()
