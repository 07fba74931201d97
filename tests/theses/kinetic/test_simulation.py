"""Direct, incremental and kinetic behind one interface: the same pairs, statistics, trace, observers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from choque.errors import UnknownName
from choque.theses.kinetic import scenes
from choque.theses.kinetic.base import Signal
from choque.theses.kinetic.simulation import MERGES, METHODS, SORTS, ThesisDirect, axis_pairs, create_simulation

FRAME_METHODS = ("direct", "incremental", "incremental-recompute", "direct-thesis")


def test_golden_order_of_one_axis() -> None:
    order = ["b3", "b1", "b2", "e3", "e1", "b5", "b4", "e5", "e2", "e4"]
    ends = [(place, int(end[0] == "e"), int(end[1])) for place, end in enumerate(order)]
    assert axis_pairs(ends) == {(1, 2), (1, 3), (2, 3), (2, 4), (2, 5), (4, 5)}


@pytest.mark.parametrize("sort", SORTS)
@pytest.mark.parametrize("merge", MERGES)
def test_every_variant_of_the_thesis_equals_brute_force(sort: str, merge: str) -> None:
    random = np.random.default_rng(1)
    direct = ThesisDirect(sort, merge)
    lower = random.integers(0, 12, (25, 2)).astype(float)
    for _ in range(6):
        lower += random.integers(-1, 2, lower.shape)
        upper = lower + 2.0
        met = ((lower[:, None] <= upper) & (lower <= upper[:, None])).all(axis=2)
        assert direct.pairs(lower, upper) == [(a, b) for a, b in np.argwhere(np.triu(met, 1)).tolist()]


@pytest.mark.parametrize("scene", ["concentric", "random-shapes"])
def test_all_methods_find_the_same_pairs_at_every_frame(scene: str) -> None:
    options = {"n": 40, "occupancy": 0.1, "seed": 3} if scene == "random-shapes" else {}
    model = scenes.make(scene, **options)
    if scene == "random-shapes":
        model = scenes.Model(model.polygons, model.velocity, model.frame, model.interval, 37)
    runs = {method: create_simulation(model, method, closing_frame=True).run() for method in FRAME_METHODS}
    kinetic, sweep = create_simulation(model, "kinetic").run(), model.sweep()
    for number, (time, pairs) in enumerate(runs["direct"].frames):
        for method in FRAME_METHODS:
            assert runs[method].frames[number][1].tolist() == pairs.tolist(), (method, number)
        held = _held(model.sweep().pairs(), kinetic.events, time)
        instant = {event[0] for event in kinetic.events}
        sweep.advance(time)
        assert {tuple(pair) for pair in sweep.pairs().tolist()} == held
        if not any(abs(time - at) < 1e-9 for at in instant):
            assert {tuple(pair) for pair in pairs.tolist()} == held


def _held(initial: Any, events: list[tuple[float, str, tuple[int, int]]], until: float) -> set[tuple[int, int]]:
    held = {tuple(pair) for pair in initial.tolist()}
    for time, kind, pair in events:
        if time <= until:
            (held.add if kind == "began" else held.discard)(pair)
    return held


def test_recompute_runs_only_when_the_order_changed() -> None:
    still = scenes.make("resting-pair")
    assert create_simulation(still, "incremental-recompute").run().counts["recomputations"] == 0
    moving = scenes.make("random-shapes", n=30, occupancy=0.1)
    run = create_simulation(moving, "incremental-recompute").run()
    changed, sweep = 0, moving.sweep()
    for time in create_simulation(moving, "direct").times().tolist():  # type: ignore[attr-defined]
        before = sweep.counters.exchanges
        sweep.advance(time)
        changed += sweep.counters.exchanges > before
    assert run.counts["recomputations"] == changed


def test_statistics_of_the_three_objects(tmp_path: Path) -> None:
    run = create_simulation(scenes.make("three-objects"), "kinetic")
    statistics = run.run()
    run.write_statistics(tmp_path / "statistics.txt")
    text = (tmp_path / "statistics.txt").read_text()
    for line in (
        "object area: 33.0",
        "frame area: 400.0",
        "density: 0.0825",
        "duration: 10.0",
        "events: 17",
        "simple events: 16",
        "multiple events: 1",
        "multiple: t=2.0 axis=0 slots=2-4",
        "5.5 ended 1-2",
    ):
        assert f"{line}\n" in text
    assert statistics.counts["internal exchanges"] + statistics.counts["external exchanges"] == 19
    assert statistics.peak_bytes > 0


@pytest.mark.parametrize("method", METHODS)
def test_phases_add_up_to_the_total(method: str, tmp_path: Path) -> None:
    run = create_simulation(scenes.make("random-shapes", n=60, occupancy=0.05), method)
    run.run()  # compiled now
    statistics = run.run()
    run.write_statistics(tmp_path / "s.txt")
    parts = sum(statistics.seconds.values())
    assert parts <= statistics.total
    assert parts >= 0.8 * statistics.total or statistics.total - parts < 0.05
    assert statistics.seconds["io"] > 0


def test_trace_lists_every_swap_and_every_new_certificate() -> None:
    lines: list[str] = []
    create_simulation(scenes.make("three-objects"), "kinetic", trace=lines.append).run()
    assert sum("swap" in line for line in lines) == 19
    assert sum("simple event" in line for line in lines) == 16
    (multiple,) = (line for line in lines if "multiple event" in line)
    assert multiple == "t=2 multiple event on x, slots 2-4"
    assert lines[-2:] == ["t=6 simple event on y, slots 1-2", "  swap p2 and q1: they cease to overlap here"]
    assert (
        sum("planned" in line for line in lines) == 20
    )  # those that arise and fail within the multiple event are no plans


@pytest.mark.parametrize("method", ["kinetic", "direct"])
def test_observers_get_every_signal_and_change_nothing(method: str) -> None:
    model = scenes.make("three-objects")
    signals: list[Signal] = []
    alone = create_simulation(model, method).run()
    watched = create_simulation(model, method, observers=[signals.append, lambda _: None]).run()
    replaced = create_simulation(model, method, observers=[lambda _: None]).run()
    for other in (watched, replaced):
        assert other.events == alone.events
        assert other.counts == alone.counts
        assert other.multiple == alone.multiple
    kinds = [signal.kind for signal in signals]
    assert kinds[0] == "initial"
    if method == "kinetic":
        assert (kinds.count("simple"), kinds.count("multiple")) == (16, 1)
        assert (kinds.count("began"), kinds.count("ended")) == (2, 3)
    else:
        assert kinds.count("frame") == 1000


def test_frames_are_fps_times_duration_and_one_more_on_demand() -> None:
    model = scenes.make("concentric")
    assert len(create_simulation(model, "direct").run().frames) == 10
    assert len(create_simulation(model, "direct", closing_frame=True).run().frames) == 11


def test_unknown_method_is_named() -> None:
    with pytest.raises(UnknownName, match="kinetic"):
        create_simulation(scenes.make("three-objects"), "kinetik")
