"""Whole steps: analytic cases, every broad phase alike, the same course for any number of threads."""

from __future__ import annotations

import gc
from collections.abc import Callable

import numpy as np
import pytest
from world_scenes import GRAVITY, UPRIGHT, gas, pile

from choque import broad
from choque.errors import InvalidInput, UnknownName
from choque.narrow.phase import NarrowPhase
from choque.scene import find_bodies
from choque.world import World
from choque.world.detection import Detected
from choque.world.report import SOLVER_STAGES, STAGES

METHODS = [
    "all",
    "auto",
    "brute",
    "brute-obb",
    "bvh",
    "grid",
    "multi-sap",
    "sap-direct",
    "sap-incremental",
    "sap-kdop",
    "sap-obb",
]


def test_two_balls_exchange_their_velocities() -> None:
    world = World(response="impulse")
    world.add_spheres([[0, 0, 0], [2.1, 0, 0]], velocity=[[3, 0, 0], [-3, 0, 0]])
    reports = [world.step(1 / 60) for _ in range(6)]
    assert [report.impulses for report in reports] == [0, 0, 1, 0, 0, 0]
    np.testing.assert_allclose(world.bodies.velocity[:, 0], [-3, 3], rtol=1e-14)
    assert world.frame == 6
    assert world.time == pytest.approx(0.1)


@pytest.mark.parametrize("restitution", [0.0, 0.3, 1.0])
def test_a_ball_rebounds_from_the_floor(restitution: float) -> None:
    """F-001-24: at e·v, with e the mean of both, and one impulse (F-001-27)."""
    world = World(response="impulse")
    world.add_tiles([0, 0, 0], 10, 10, restitution=restitution)
    ball = world.add_spheres([0, 1.2, 0], 1.0, velocity=[0, -4, 0], restitution=restitution)
    impulses = sum(world.step(1 / 60).impulses for _ in range(20))
    assert world.bodies.velocity[ball[0], 1] == pytest.approx(4 * restitution, abs=1e-12)
    if restitution > 0:
        assert impulses == 1


@pytest.mark.parametrize("kind", ["sphere", "capsule", "tile"])
def test_a_static_body_keeps_its_speed_and_pushes(kind: str) -> None:
    """F-001-25: the bulldozer goes on at constant speed, and what it meets flies ahead of it."""
    world = World()
    if kind == "sphere":
        dozer = world.add_spheres([-5, 0, 0], 2.0, velocity=[10, 0, 0], static=True, mass=1e-3)
    elif kind == "capsule":
        dozer = world.add_capsules([-5, 0, 0], 1.0, 4.0, velocity=[10, 0, 0], static=True, rotation=UPRIGHT)
    else:
        dozer = world.add_tiles([-5, 0, 0], 9, 9, velocity=[10, 0, 0], rotation=[[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    pushed = world.add_spheres([[0, 0, 0], [2.5, 0, 0]], 1.0, mass=100, restitution=[0.5, 0.0])
    for _ in range(60):
        world.step(1 / 60)
    np.testing.assert_array_equal(world.bodies.velocity[dozer[0]], [10, 0, 0])
    assert world.bodies.position[dozer[0], 0] == pytest.approx(5, abs=1e-9)
    assert (world.bodies.velocity[pushed, 0] > 9).all()


def test_two_static_bodies_are_never_a_pair() -> None:
    for method in METHODS:
        world = World(method)
        world.add_tiles([[0, 0, 0], [0, 0.1, 0]], 5, 5)
        world.add_spheres([0, 0, 0], static=True)
        world.add_spheres([0, 0.2, 0])
        report = world.step()
        assert world.pairs().tolist() == [[0, 3], [1, 3], [2, 3]], method
        assert report.pairs == 3


def test_every_method_gives_the_same_course() -> None:
    """F-001-14: candidates differ, collisions do not, to the last bit."""
    for make, steps in ((gas, 60), (pile, 90)):
        hashes, contacts = {}, {}
        for method in METHODS:
            world = make(50, broad=method)
            contacts[method] = [world.step().contacts for _ in range(steps)]
            hashes[method] = world.hash()
        assert len(set(hashes.values())) == 1, hashes
        assert all(contacts[method] == contacts["all"] for method in METHODS)
        assert sum(contacts["all"]) > 50


def test_a_switch_on_the_way_changes_nothing() -> None:
    plain, switched = pile(40), pile(40)
    for step in range(80):
        if step % 10 == 5:
            switched.switch(METHODS[step // 10])
        plain.step()
        switched.step()
    assert plain.hash() == switched.hash()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_threads_change_nothing(dtype: str, thorough: bool) -> None:
    """F-001-07: two runs, and one and two threads, end in the same state; enough bodies for threads to be used."""
    hashes = []
    for threads in (1, 1, 2):
        world = gas(5_000, threads=threads, dtype=dtype)
        for _ in range(60 if thorough else 6):
            world.step()
        hashes.append(world.hash())
    assert hashes[0] == hashes[1] == hashes[2]
    assert gas(5_000, dtype=dtype).hash() not in hashes


def test_energy_and_momentum_are_kept() -> None:
    world = gas(80)
    before = world.energy()
    for _ in range(200):
        world.step()
    assert world.energy() == pytest.approx(before, rel=1e-12)
    free = World(response="impulse")
    random = np.random.default_rng(0)
    free.add_spheres(random.uniform(-2, 2, (40, 3)), 0.4, velocity=random.normal(size=(40, 3)), restitution=0.2)
    push, spin = free.momentum(), free.angular_momentum()
    impulses = sum(free.step().impulses for _ in range(100))
    assert impulses > 20
    np.testing.assert_allclose(free.momentum(), push, atol=1e-12)
    np.testing.assert_allclose(free.angular_momentum(), spin, atol=1e-11)


def test_a_rocket_is_a_capsule() -> None:
    """F-001-45: drawn differently, nothing else."""
    worlds = []
    for rocket in (False, True):
        world = World()
        world.add_capsules([[0, 0, 0], [1, 0.5, 0]], 0.5, 2.0, rocket=rocket, velocity=[[1, 0, 0], [-1, 0, 0]])
        for _ in range(40):
            world.step()
        worlds.append(world)
    assert worlds[0].hash() == worlds[1].hash()


def test_tiles_pass_through_one_another() -> None:
    """F-001-21: crossing tiles, one of them moving, have no contact; they are not even a pair."""
    world = World()
    world.add_tiles([[0, 0, 0], [0, 0.01, 0]], rotation=[np.eye(3), UPRIGHT], velocity=[[0, 0, 0], [0, 1, 0]])
    assert world.step().contacts == 0


@pytest.mark.parametrize(("response", "stages"), [("impulse", STAGES), ("soft-step", SOLVER_STAGES)])
def test_the_report_adds_up(response: str, stages: tuple[str, ...]) -> None:
    world = pile(60, response=response)
    reports = [world.step() for _ in range(40)]
    report = reports[-1]
    assert tuple(report.seconds) == stages
    assert min(report.seconds.values()) > 0
    assert sum(report.seconds.values()) == pytest.approx(report.total_seconds)
    assert set(report.counters) == ({"manifolds", "found", "recycled"} if stages is SOLVER_STAGES else set())
    assert report.pairs == len(world.pairs()) == sum(each.tests for each in report.tally.values())
    assert report.contacts == len(world.contacts()) == sum(each.contacts for each in report.tally.values())
    assert report.frame == world.frame == 40
    assert report.bodies == len(world)
    assert 0 < report.impulses <= report.contacts <= report.pairs
    assert f"{report.contacts:,} contacts" in str(report)


def test_contacts_are_those_of_all_pairs() -> None:
    world = pile(50)
    for _ in range(60):
        shapes = world.bodies.copy().shapes()
        every = np.stack(np.triu_indices(len(world), 1), axis=1).astype(np.int32)
        every = every[~world.bodies.static[every].all(axis=1)]
        wanted = NarrowPhase().find(shapes, every)
        world.step()
        found = world.contacts()
        np.testing.assert_array_equal(found.pairs, wanted.pairs)
        np.testing.assert_array_equal(found.point, wanted.point)
        np.testing.assert_array_equal(found.normal, wanted.normal)


def test_an_empty_world_can_be_stepped() -> None:
    world = World()
    report = world.step()
    assert (report.pairs, report.contacts, report.impulses, world.frame) == (0, 0, 0, 1)
    assert len(world.contacts()) == len(world.pairs()) == 0
    assert world.energy() == 0
    world.remove(world.add_spheres([0, 0, 0]))
    assert world.step().bodies == 0


def test_bodies_at_one_point_do_no_harm() -> None:
    world = World()
    world.add_spheres(np.zeros((5, 3)), velocity=np.eye(5, 3), acceleration=GRAVITY)
    world.add_capsules(np.zeros((5, 3)))
    for _ in range(5):
        world.step()
    assert np.isfinite(world.bodies.position).all()
    assert np.isfinite(world.bodies.velocity).all()


def test_speeds_never_exceed_their_limits() -> None:
    """F-001-31 in a world: light balls between heavy ones."""
    world = World(max_speed=50, max_spin=10)
    random = np.random.default_rng(1)
    center = random.uniform(-3, 3, (60, 3))
    world.add_spheres(center, 0.4, mass=10 ** random.uniform(-3, 3, 60), velocity=random.normal(size=(60, 3)) * 40)
    world.add_capsules(random.uniform(-3, 3, (40, 3)), 0.3, 1.0, angular_velocity=random.normal(size=(40, 3)) * 20)
    for _ in range(60):
        world.step()
        assert np.linalg.norm(world.bodies.velocity, axis=1).max() <= 50 * (1 + 1e-15)
        assert np.linalg.norm(world.bodies.angular_velocity, axis=1).max() <= 10 * (1 + 1e-15)


def test_names_of_methods_are_those_of_broad() -> None:
    assert set(METHODS) <= set(broad.names())


@pytest.mark.parametrize(
    ("call", "option", "meant"),
    [
        (World, "respnse", "response"),
        (World, "max_sped", "max_speed"),
        (World, "closd", "closed"),  # of the broad phase
        (lambda **given: World().switch(**given), "respnse", "response"),
        (lambda **given: World().shadow("grid", **given), "bnds", "bounds"),
    ],
)
def test_an_unknown_option_may_be_meant_as_an_argument_or_for_the_broad_phase(
    call: Callable[..., object], option: str, meant: str
) -> None:
    with pytest.raises(UnknownName, match=f"called '{option}'. Did you mean '{meant}'\\?"):
        call(**{option: 1})


def test_auto_is_the_sweep_that_a_device_has_kernels_for() -> None:
    pytest.importorskip("warp")
    assert World(device="warp-cpu").settings.broad == "sap-kdop"
    assert World(device="cpu").settings.broad == "auto"
    with pytest.raises(InvalidInput, match="'grid' has no kernels for the device 'warp-cpu'"):
        World("grid", device="warp-cpu")
    with pytest.raises(UnknownName, match="device called 'nonsense'"):
        World(device="nonsense")


@pytest.mark.parametrize("restitution", [0.0, 0.3, 0.6])
def test_a_ball_comes_to_rest_on_a_tile(restitution: float) -> None:
    world = World()
    world.add_spheres([0, 2, 0], 0.5, acceleration=(0, -9.8, 0), restitution=restitution)
    world.add_tiles([0, 0, 0], restitution=restitution)
    for _ in range(900):
        world.step()
    assert 0.3 < world.bodies.position[0, 1] < 0.55


def test_the_tally_of_a_step_that_another_followed_is_refused_rather_than_wrong() -> None:
    world = World(gravity=(0, -9.81, 0))
    world.add_ground()
    world.add_boxes([[0, 0.5, 0], [0, 3, 0]])
    first = world.step(1 / 60)
    assert sum(each.contacts for each in first.tally.values()) == first.contacts == 1
    world.step(1 / 60)
    with pytest.raises(InvalidInput, match="until the next step"):
        first.tally  # noqa: B018


def test_what_a_step_kept_is_freed_without_the_garbage_collector() -> None:
    """Cycles of references would hold the arrays of several steps, and every step would need new memory."""
    world = find_bodies("rubble:60").world()
    for _ in range(3):
        world.step(1 / 60)
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        for _ in range(3):
            assert world.step(1 / 60).tally is not None
            assert world.events is not None
        gc.collect()
        kept = [each for each in gc.garbage if isinstance(each, np.ndarray | Detected)]
        assert not kept
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
