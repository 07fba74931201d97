"""The state machine that drives a world, on a clock that the test turns."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from world_scenes import VirtualClock, gas, pile

from choque.errors import InvalidInput
from choque.studio import Run
from choque.studio.run import WallClock
from choque.world import StepReport, World


def test_a_run_starts_paused() -> None:
    """F-001-32: the frame stays until play."""
    run = Run(gas(20))
    for _ in range(5):
        assert run.tick() is None
    assert run.frame == 0
    run.play()
    assert [run.tick() is None for _ in range(3)] == [False] * 3
    run.pause()
    run.tick()
    assert run.frame == 3
    run.toggle()
    run.tick()
    assert (run.frame, run.playing) == (4, True)


def test_the_cap_holds_the_pace() -> None:
    """F-001-08: 600 frames of an empty world at 60 last 10 s, on a virtual clock."""
    clock = VirtualClock()
    run = Run(World(), dt=1 / 60, clock=clock)
    run.play()
    for _ in range(600):
        run.tick()
    assert run.frame == 600
    assert clock.now() == pytest.approx(10.0, rel=1e-9)


def test_a_paused_run_keeps_the_pace_too() -> None:
    clock = VirtualClock()
    run = Run(World(), dt=1 / 60, clock=clock)
    for _ in range(60):
        run.tick()
    assert (run.frame, clock.now()) == (0, pytest.approx(1.0))


def test_speed_changes_the_pace_and_nothing_else() -> None:
    clock = VirtualClock()
    fast, plain = Run(pile(20), clock=clock), Run(pile(20))
    fast.speed = 4.0
    for run in (fast, plain):
        run.play()
        for _ in range(60):
            run.tick()
    assert clock.now() == pytest.approx(0.25)
    assert fast.world.hash() == plain.world.hash()


def test_delays_lose_time_and_nothing_else() -> None:
    """F-001-07 and F-001-08: frames that take longer than their share are late, and where things go is the same."""
    clock = VirtualClock()
    random = np.random.default_rng(0)
    late, plain = Run(pile(30), clock=clock), Run(pile(30))
    delays: list[float] = []

    def delay(world: World, report: StepReport) -> None:
        delays.append(float(random.choice([0.0, 0.01, 0.05])))
        clock.pass_by(delays[-1])

    late.observers.append(delay)
    late.stop_at = plain.stop_at = 100
    late.play_to_end()
    plain.play_to_end()
    assert late.world.hash() == plain.world.hash()
    assert clock.now() == pytest.approx(sum(max(1 / 60, each) for each in delays))


def test_the_clock_of_the_machine_waits() -> None:
    clock = WallClock()
    began = clock.now()
    clock.wait_until(began + 0.02)
    assert clock.now() - began >= 0.02
    clock.wait_until(began)
    assert abs(clock.now() - time.perf_counter()) < 60  # of the same clock


@pytest.mark.parametrize(("stop_at", "steps"), [(1, 0), (2, 1), (300, 299)])
def test_stopping_at_a_frame_makes_one_step_less(stop_at: int, steps: int) -> None:
    run = Run(World(), stop_at=stop_at)
    run.play_to_end()
    assert run.frame == steps
    assert run.finished
    assert run.tick() is None
    assert run.step() is None
    run.stop_at = None
    assert not run.finished
    assert run.step() is not None


def test_slow_motion_takes_a_third() -> None:
    """F-001-46: shorter steps change the course, as in the Fingsics engine; short steps from the start are the same."""
    slow, short, plain = Run(pile(20)), Run(pile(20), dt=1 / 180), Run(pile(20))
    slow.slow_motion = True
    for run in (slow, short, plain):
        run.step(60)
    assert slow.world.hash() == short.world.hash() != plain.world.hash()
    assert slow.time == pytest.approx(1 / 3)
    slow.slow_motion = False
    slow.step()
    assert slow.time == pytest.approx(1 / 3 + 1 / 60)


def test_scripted_input() -> None:
    """F-001-46: pause, single steps, slow motion, quit."""
    run = Run(pile(10))
    script = "..p...p..n.m"  # p toggles, n steps, m toggles slow motion, each followed by a tick
    frames = []
    for key in script:
        if key == "p":
            run.toggle()
        elif key == "n":
            run.step()
        elif key == "m":
            run.slow_motion = not run.slow_motion
        run.tick()
        frames.append(run.frame)
    assert frames == [0, 0, 1, 2, 3, 4, 4, 4, 4, 5, 5, 5]


@pytest.mark.parametrize("as_world", [True, False])
def test_reset_is_the_beginning(as_world: bool) -> None:
    start = pile(20)
    for _ in range(5):
        start.step()
    began = start.hash()

    def make() -> World:
        world = pile(20)
        for _ in range(5):
            world.step()
        return world

    run = Run(start if as_world else make, stop_at=31)
    run.play_to_end()
    assert run.frame == 35
    ended = run.world.hash()
    for _ in range(2):
        run.reset()
        assert (run.world.hash(), run.playing, run.frame) == (began, False, 5)
        run.switch("sap-obb")
        run.play_to_end()
        assert run.world.hash() == ended


def test_observers_see_every_frame() -> None:
    seen: list[tuple[int, int, int]] = []
    run = Run(pile(20))
    run.observers.append(lambda world, report: seen.append((world.frame, report.frame, report.contacts)))
    run.step(3)
    run.tick()
    run.play()
    run.tick()
    assert [frame for frame, _, _ in seen] == [frame for _, frame, _ in seen] == [1, 2, 3, 4]


def test_two_methods_on_the_same_bodies() -> None:
    plain, compared = Run(pile(60)), Run(pile(60))
    compared.compare("brute")
    for _ in range(40):
        plain.step()
        compared.step()
    found = compared.comparison
    assert found is not None
    assert found.methods == ("auto", "brute")
    assert found.frame == 39
    assert not found.pairs_differ
    assert not found.contacts_differ
    assert all(seconds > 0 for seconds in found.seconds)
    assert "the same" in str(found)
    assert plain.world.hash() == compared.world.hash(), "looking changes nothing"

    compared.compare("sap-obb")
    report = compared.step()
    found = compared.comparison
    assert found is not None
    assert report is not None
    assert found.pairs_differ, "tighter bounds have fewer candidates"
    assert len(found.only_second) == 0
    assert not found.contacts_differ
    assert found.pairs[0] == report.pairs == found.pairs[1] + len(found.only_first)
    assert "by one only" in str(found)
    compared.compare(None)
    compared.step()
    assert compared.comparison is None


def test_a_method_that_misses_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A comparison that never reported a difference would prove nothing."""
    from choque.broad import register
    from choque.broad.brute import Brute
    from choque.broad.index import methods

    monkeypatch.setattr(methods, "_registered", {})

    class Forgetful(Brute):
        """Leaves out every other pair."""

        name = "forgetful-in-a-test"

        def pairs(self) -> Any:
            return super().pairs()[::2].copy()

    register(Forgetful)
    run = Run(pile(60))
    run.step(60)
    run.compare("forgetful-in-a-test")
    run.step()
    assert run.comparison is not None
    assert run.comparison.contacts_differ
    assert "CONTACTS DIFFER" in str(run.comparison)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda _: Run(3), "of type int"),
        (lambda _: Run(World(), dt=0), "dt is 0"),
        (lambda _: Run(World(), dt="soon"), "dt"),
        (lambda run: setattr(run, "speed", -1), "speed"),
        (lambda run: setattr(run, "stop_at", 0), "stop_at"),
        (lambda run: setattr(run, "stop_at", 2.5), "stop_at"),
        (lambda run: run.step(0), "count"),
        (lambda run: run.play_to_end(), "no end"),
        (lambda run: run.compare("nothing"), "nothing"),
        (lambda run: run.switch("nothing"), "nothing"),
    ],
)
def test_bad_input_changes_nothing(call: Any, message: str) -> None:
    run = Run(pile(5))
    before = (run.world.hash(), run.speed, run.stop_at, run.playing)
    with pytest.raises(InvalidInput, match=message):
        call(run)
    assert (run.world.hash(), run.speed, run.stop_at, run.playing) == before


class LateClock:
    """A clock whose waits end late by a thousandth of a second."""

    def __init__(self) -> None:
        self.time = 0.0

    def now(self) -> float:
        return self.time

    def wait_until(self, moment: float) -> None:
        self.time = max(self.time, moment) + 0.001


def test_waits_that_end_late_do_not_add_up() -> None:
    clock = LateClock()
    run = Run(World(), dt=0.01, clock=clock, stop_at=301)
    run.play_to_end()
    assert clock.time == pytest.approx(3.0, abs=0.002)
    clock.time += 5.0  # a pause: the run does not catch up
    for _ in range(10):
        run.tick()
    assert clock.time == pytest.approx(8.1, abs=0.003)
