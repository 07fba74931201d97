"""What the Fingsics study runs: worlds with their stages apart, recordings, replays, and other engines."""

from __future__ import annotations

import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from planted import Clock

import choque
from choque.errors import InvalidInput, UnknownName
from choque.lab import Plan, engines
from choque.lab.engines.pybullet import quaternions
from choque.lab.sampling import sample
from choque.lab.stopwatch import Stopwatch
from choque.lab.trial import CutOff
from choque.scene import BodyScene
from choque.scene.columns import BodyColumns, capsules, join, spheres, tiles
from choque.theses.fingsics import world_course, world_trial
from choque.theses.fingsics.world_course import Course, course, logged_course
from choque.theses.fingsics.world_trial import EngineTrial, RecordedTrial, ReplayTrial, WorldTrial
from choque.world.report import STAGES

STEPS = 25
ONCE = Plan(minimum=1, maximum=1, budget=60.0, limit=60.0)
SEVERAL = Plan(minimum=7, maximum=7, budget=60.0, limit=60.0)
"""A reading may be off because the machine looked away; half of them may not."""


@pytest.fixture(scope="module")
def scene() -> BodyScene:
    return choque.scene.bodies("mixed-box", 60, seed=3)


def test_time_is_divided_by_what_parts_took_of_a_whole_on_another_clock() -> None:
    clock = Clock()
    watch = Stopwatch(clock)
    clock.now += 2.0
    watch.divide({"broad": 30.0, "narrow": 10.0}, 40.0)
    assert watch.stop().stages == {"broad": 1.5, "narrow": 0.5}
    clock.now += 4.0
    watch.divide({"broad": 10.0}, 40.0)  # parts that hide most of the whole are not stretched over it
    assert not watch.stop().adds_up


@pytest.mark.parametrize("method", ["all", "brute", "sap-incremental", "sap-obb", "brute-obb", "grid", "bvh", "auto"])
def test_every_method_takes_the_same_course_with_stages_that_add_up(method: str, scene: BodyScene) -> None:
    """F-001-14: the collisions of every broad phase are those without one, to the state at the end."""
    trial = WorldTrial(scene, method, STEPS, expected=lambda: course(scene, STEPS))
    (outcome,) = sample([trial], SEVERAL)
    assert outcome.status == "measured", outcome.note  # in most of the readings the stages add up
    assert {tuple(reading.stages) for reading in outcome.readings} == {STAGES}
    assert trial.check().judgement == "exact", trial.check().note
    counters = trial.counters()
    assert counters["steps"] == STEPS
    assert counters["tests"] >= counters["contacts"] > 0
    kinds = {name for name in trial.facts() if name.startswith("ns ")}
    assert "ns sphere-capsule" in kinds


def test_a_second_run_starts_where_the_first_did(scene: BodyScene) -> None:
    trial = WorldTrial(scene, "auto", STEPS, expected=lambda: course(scene, STEPS))
    for _ in range(2):
        trial.run(Stopwatch())
        assert trial.check().judgement == "exact"
        assert trial.counters()["steps"] == STEPS


def test_another_course_is_wrong_and_the_first_step_that_differs_is_named(scene: BodyScene) -> None:
    right = course(scene, STEPS)
    other = choque.scene.bodies("mixed-box", 60, seed=4)
    trial = WorldTrial(other, "auto", STEPS, expected=lambda: right)
    trial.run(Stopwatch())
    verdict = trial.check()
    assert verdict.judgement == "wrong"
    step = next(
        k for k, (a, b) in enumerate(zip(course(other, STEPS).contacts, right.contacts, strict=True), 1) if a != b
    )
    assert f"in step {step}," in verdict.note
    assert right.judge(Course("x", right.contacts, hash=(right.hash or 0) ^ 1)).judgement == "wrong"
    assert right.judge(Course("x", right.contacts[:-1], hash=right.hash)).judgement == "wrong"
    assert Course("log", (1,), (5,)).judge(Course("x", (1,), (6,))).note == "6 tests in step 1, 5 by log"


def test_the_three_ways_to_find_a_course_agree(
    scene: BodyScene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without = course(scene, STEPS, tmp_path)
    assert without.method == "all"
    assert course(scene, STEPS, tmp_path) == without  # read back
    for limits, method in (((0, 10**6), "brute"), ((0, 0), "bvh")):
        monkeypatch.setattr(world_course, "ALL_UP_TO", limits[0])
        monkeypatch.setattr(world_course, "BRUTE_UP_TO", limits[1])
        found = course(scene, STEPS)
        assert (found.method, found.contacts, found.hash) == (method, without.contacts, without.hash)


def test_a_log_of_the_original_is_a_course(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("BPCDTime,NPCDTests,NPCDTime,Collisions,CRTime,DrawTime,TotalTime\n1,7,1,2,1,1,5\n1,9,1,3,1,1,5\n")
    assert logged_course(path) == Course("the Fingsics engine", (2, 3), (7, 9))


def test_what_would_take_too_long_or_too_much_memory_is_cut_off(
    scene: BodyScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-001-49: a sweep has a time limit."""
    trial = WorldTrial(scene, "auto", 10**9)
    with pytest.raises(CutOff, match="would take about"):
        trial.warm_up(5.0)
    monkeypatch.setattr(world_trial, "MAX_PAIRS", 2000)
    with pytest.raises(CutOff, match=r"would keep 2,130 pairs at once"):  # 60 · 59 / 2 of those that move, 60 · 6 walls
        WorldTrial(scene, "all", STEPS).warm_up(60.0)
    assert len(scene.world(broad="all").shadow("all").find(scene.world().bodies).pairs) == 2130


def test_oriented_boxes_are_counted_and_the_cost_model_is_reported(scene: BodyScene) -> None:
    """F-001-15: b, B, o, O and both sides of the inequality."""
    plain, filtered = WorldTrial(scene, "sap-incremental", STEPS), WorldTrial(scene, "sap-obb", STEPS)
    for trial in (plain, filtered):
        trial.run(Stopwatch())
    assert plain.counters()["bounding_tests"] == 0
    assert filtered.counters()["bounding_tests"] == plain.counters()["tests"]
    assert filtered.counters()["tests"] < plain.counters()["tests"]
    facts: Any = filtered.facts()
    assert facts["cost_ratio"] == pytest.approx(facts["exact_ns"] / facts["bounding_ns"])
    before, after = plain.counters()["tests"], filtered.counters()["tests"]
    assert facts["cost_threshold"] == pytest.approx(before / (before - after))


def test_a_run_keeps_no_pairs(scene: BodyScene, monkeypatch: pytest.MonkeyPatch) -> None:
    """599 steps of 3,162 bodies without a broad phase have three billion."""
    steps: list[weakref.ref[Any]] = []
    step = choque.World.step

    def watched(world: choque.World, *given: Any) -> Any:
        report = step(world, *given)
        steps.append(weakref.ref(report))
        return report

    monkeypatch.setattr(choque.World, "step", watched)
    trial = WorldTrial(scene, "all", STEPS)
    trial.run(Stopwatch())
    assert sum(report() is not None for report in steps) <= 1
    assert trial.counters()["tests"] == STEPS * (60 * 59 / 2 + 60 * 6)


def test_a_recorded_run_keeps_every_frame(scene: BodyScene) -> None:
    trial = RecordedTrial(scene, "auto", STEPS, expected=lambda: course(scene, STEPS))
    (outcome,) = sample([trial], ONCE)
    assert outcome.readings[0].stages.keys() == {*STAGES, "record"}
    assert trial.check().judgement == "exact"
    assert trial.counters()["recorded_bytes"] > 66 * 12


def test_a_replay_shows_what_was_recorded(scene: BodyScene) -> None:
    trial = ReplayTrial(scene, "auto", STEPS)
    (outcome,) = sample([trial], ONCE)
    assert list(outcome.readings[0].stages) == ["read"]
    assert trial.counters()["steps"] == STEPS + 1
    assert trial.check().judgement == "exact"
    trial._world.step()
    assert trial.check().judgement == "wrong"


# Other engines

bullet = pytest.mark.skipif("bullet" not in engines.installed(), reason="pybullet is not installed")


def in_a_room(bodies: BodyColumns, side: float = 10.0) -> BodyScene:
    half = side / 2
    walls = join(
        tiles([[half, 0, 0], [-half, 0, 0]], side, side, angles=(0, 0, 90)),
        tiles([[0, 0, half], [0, 0, -half]], side, side, angles=(90, 0, 0)),
        tiles([[0, half, 0], [0, -half, 0]], side, side),
    )
    return BodyScene("room", join(bodies, walls))


@bullet
def test_bullet_answers_an_elastic_collision() -> None:
    """F-001-53: friction and gravity off, restitution 1."""
    scene = in_a_room(spheres([[-2, 0, 0], [2, 0, 0]], 0.5, velocity=[[3, 0, 0], [-1, 0, 0]]))
    with engines.get("bullet")(scene) as engine:
        for _ in range(60):
            engine.step()
        np.testing.assert_allclose(engine.velocities(), [[-1, 0, 0], [3, 0, 0]], atol=0.05)


@bullet
def test_bullet_has_walls_where_tiles_are_and_capsules_along_their_axes() -> None:
    standing = capsules([[0, 0, 0]], 0.5, 2.0, velocity=[[0, 2, 0]], angles=(90.0, 0.0, 0.0))
    lying = capsules([[0, 0, 0]], 0.5, 2.0, velocity=[[0, 2, 0]])
    highest = []
    for bodies in (standing, lying):
        with engines.get("bullet")(in_a_room(bodies)) as engine:
            heights = []
            for _ in range(300):
                engine.step()
                heights.append(float(engine.positions()[0, 1]))
            highest.append(max(heights))
    np.testing.assert_allclose(highest, [5 - 1.5, 5 - 0.5], atol=0.1)


@bullet
def test_an_engine_is_timed_and_its_bodies_stay_in_the_room() -> None:
    scene = choque.scene.bodies("mixed-box", 40)
    trial = EngineTrial(engines.get("bullet"), scene, STEPS)
    (outcome,) = sample([trial], ONCE)
    assert list(outcome.readings[0].stages) == ["engine"]
    assert trial.check().judgement == "unchecked"
    facts: Any = trial.facts()
    assert facts["engine"].startswith("pybullet ")
    assert 0.3 < facts["linear_energy_kept"] < 1.01
    fleeing = BodyScene("open", spheres([[0, 0, 0]], 0.5, velocity=[[9, 0, 0]]))
    trial = EngineTrial(engines.get("bullet"), fleeing, 60)
    sample([trial], ONCE)
    assert trial.check().judgement == "wrong"


@pytest.mark.parametrize(
    ("bodies", "words"),
    [
        (BodyColumns.filled(3, [[0, 0, 0]], [[1, 1, 1]]), "is a box"),
        (spheres([[0, 0, 0]], 1.0, acceleration=(0, -9.8, 0)), "without gravity"),
    ],
)
def test_engines_refuse_what_they_would_not_run_alike(bodies: BodyColumns, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        engines.get("bullet")(BodyScene("odd", bodies))
    with pytest.raises(UnknownName, match="bullet"):
        engines.get("bulet")


def test_quaternions_turn_like_their_matrices() -> None:
    random = np.random.default_rng(5)
    matrices = np.linalg.qr(random.normal(size=(200, 3, 3)))[0]
    matrices *= np.linalg.det(matrices)[:, None, None]
    half_turns = np.array([np.diag(signs) for signs in ([1, -1, -1], [-1, 1, -1], [-1, -1, 1], [1, 1, 1])])
    matrices = np.concatenate((matrices, half_turns))
    x, y, z, w = quaternions(matrices).T
    vectors = random.normal(size=(len(matrices), 3))
    axis = np.stack((x, y, z), axis=1)
    across = np.cross(axis, vectors)
    turned = vectors + 2 * (w[:, None] * across + np.cross(axis, across))
    np.testing.assert_allclose(turned, np.einsum("nij,nj->ni", matrices, vectors), atol=1e-12)
