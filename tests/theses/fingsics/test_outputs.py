"""Logs, totals, benchmarks and expected results."""

from __future__ import annotations

import errno
from collections.abc import Callable
from io import FileIO
from pathlib import Path

import numpy as np
import pytest

from choque.errors import ChoqueError, InvalidInput, UnreadableFile
from choque.studio import Run
from choque.theses.fingsics import log as logs
from choque.theses.fingsics.log import COLUMNS, Log, read_log, write_log
from choque.theses.fingsics.modes import benchmark, compare_logs, find_cases
from choque.theses.fingsics.totals import Totals, mechanical_energy
from choque.world import World

Make = Callable[..., World]
HEADER = "BPCDTime,NPCDTests,NPCDTime,Collisions,CRTime,DrawTime,TotalTime"


def test_a_log_has_seven_columns_and_a_row_a_step(tmp_path: Path, make_world: Make) -> None:
    """F-001-37."""
    run, totals = Run(make_world(), stop_at=31), Totals()
    with Log(tmp_path / "log.csv") as log:
        run.observers += [log, totals]
        run.play_to_end()
    lines = (tmp_path / "log.csv").read_text().splitlines()
    assert lines[0] == HEADER
    assert len(lines) == 31
    columns = read_log(tmp_path / "log.csv")
    assert tuple(columns) == COLUMNS
    assert (columns["NPCDTests"].sum(), columns["Collisions"].sum()) == (totals.tests, totals.contacts)
    assert columns["TotalTime"].sum() == pytest.approx(1e3 * totals.total_seconds, rel=1e-4)


def test_pairs_of_kinds_add_up(make_world: Make) -> None:
    """F-001-38."""
    run, totals = Run(make_world()), Totals()
    run.observers.append(totals)
    run.step(60)
    assert len(totals.kinds) >= 4
    assert sum(total.tests for total in totals.kinds.values()) == totals.tests > 0
    assert sum(total.contacts for total in totals.kinds.values()) == totals.contacts > 0
    assert sum(total.seconds for total in totals.kinds.values()) <= totals.seconds["narrow"]
    assert totals.milliseconds() == pytest.approx(1e3 * totals.total_seconds / 60)


def test_steps_may_be_left_out_of_the_times(make_world: Make) -> None:
    world, totals, alone = make_world(), Totals(), Totals()
    for number in range(6):
        report = world.step()
        totals.add(report, is_timed=number > 0)
        if number > 0:
            alone.add(report)
    assert (totals.steps, totals.timed_steps) == (6, 5)
    assert totals.milliseconds() == alone.milliseconds()
    assert totals.cost == alone.cost
    assert totals.tests >= alone.tests == sum(total.timed_tests for total in totals.kinds.values())


def test_energy_of_a_throw_is_kept() -> None:
    world = World()
    world.add_spheres([0, 10, 0], mass=3.0, velocity=(4, 5, 0), acceleration=(0, -9.8, 0))
    before = mechanical_energy(world)
    assert before == pytest.approx(0.5 * 3 * 41 + 3 * 9.8 * 10)
    for _ in range(50):
        world.step(1e-4)
    assert mechanical_energy(world) == pytest.approx(before, rel=1e-5)


@pytest.mark.parametrize("broad", ["sap-incremental", "sap-obb"])
def test_a_benchmark_writes_runs_averages_and_summary(tmp_path: Path, make_world: Make, broad: str) -> None:
    """F-001-35, and F-001-15: both sides of the inequality and the verdict."""
    result = benchmark(lambda: make_world(broad=broad), tmp_path, steps=60, runs=3, scene="crowd")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "averages_per_frame.csv",
        "run1.csv",
        "run2.csv",
        "run3.csv",
        "summary.txt",
    ]
    runs = [read_log(tmp_path / f"run{number}.csv") for number in (1, 2, 3)]
    averages = read_log(tmp_path / "averages_per_frame.csv")
    for column in COLUMNS:
        mean = np.mean([each[column] for each in runs], axis=0)
        assert averages[column] == pytest.approx(mean, rel=1e-4), column
    assert averages["CRTime"].sum() > 0
    lines = dict(line.split(": ", 1) for line in (tmp_path / "summary.txt").read_text().splitlines() if ": " in line)
    assert (lines["Scene"], lines["Runs"], lines["Frames"], lines["FPS"]) == ("crowd", "3", "60", "60")
    assert (lines["Broad phase"], lines["NPCD tests per run"]) == (broad, str(result.totals.tests // 3))
    assert int(lines["o"]) == result.totals.tests
    assert float(lines["Mean total time per frame (ms)"]) > 0
    assert lines["sphere-capsule"].count(",") == 3
    if broad == "sap-obb":
        left, sign, right = lines["O/B > o1/(o1-o2)" if lines["Filter"] == "pays" else "O/B <= o1/(o1-o2)"].split()
        assert (float(left) > float(right)) == (sign == ">") == (lines["Filter"] == "pays")
    else:
        assert lines["Filter"] == "none to judge"


def test_a_benchmark_of_what_does_not_repeat_is_refused(tmp_path: Path, make_world: Make) -> None:
    worlds = [make_world(), make_world()]
    worlds[1].bodies.position[0] += 0.25
    with pytest.raises(InvalidInput, match="Run 2 of the scene 'scene' ended in another state"):
        benchmark(lambda: worlds.pop(0), tmp_path, steps=2, runs=2)


def test_logs_are_compared_by_their_counts(tmp_path: Path) -> None:
    """F-001-36: the times of expected files are garbage, and no matter."""
    rows = [(0.1, 3, 0.1, 1, 0.0, 0.0, 1.0), (0.1, 4, 0.1, 2, 0.0, 0.0, 1.0)]
    write_log(tmp_path / "a.csv", rows)
    write_log(tmp_path / "b.csv", [(9.0, 3, 9.0, 1, 9.0, 9.0, -1e12), (9.0, 4, 9.0, 5, 9.0, 9.0, 9.0)])
    write_log(tmp_path / "c.csv", rows[:1])
    equal = compare_logs(tmp_path / "a.csv", tmp_path / "a.csv")
    assert (equal.is_equal, str(equal), equal.tests, equal.collisions) == (True, "equal in all 2 rows", 7, 3)
    different = compare_logs(tmp_path / "a.csv", tmp_path / "b.csv")
    assert str(different) == "differs from row 2 on: Collisions is 2, expected 5"
    assert compare_logs(tmp_path / "a.csv", tmp_path / "c.csv").reason == "there are 2 rows, expected 1"


def test_cases_are_found_with_their_logs(tmp_path: Path) -> None:
    for folder in ("scenes", "testing/expected-results"):
        (tmp_path / folder).mkdir(parents=True)
    for name in ("one.xml", "two.xml", "notes.txt"):
        (tmp_path / "scenes" / name).write_text("")
    assert [case.name for case in find_cases(tmp_path)] == ["one", "two"]
    (tmp_path / "testing/expected-results/two_test.csv").write_text("")
    assert [(case.name, case.expected is not None) for case in find_cases(tmp_path)] == [("two", True)]
    with pytest.raises(UnreadableFile, match="no scenes"):
        find_cases(tmp_path / "testing")
    with pytest.raises(UnreadableFile, match="no folder"):
        find_cases(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("a,b\n1,2\n", "line 1: a log has a column NPCDTests"),
        (f"{HEADER}\n1,2,3\n", "line 2: 3 values for 7 columns"),
        (f"{HEADER}\n1,x,3,4,5,6,7\n", "line 2: could not convert"),
        ("\0\0", "not a log"),
    ],
)
def test_bad_logs(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "log.csv").write_text(text)
    with pytest.raises(UnreadableFile, match=words):
        read_log(tmp_path / "log.csv")


def test_a_log_on_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row, real = (1.0, 2, 3.0, 4, 5.0, 6.0, 7.0), logs.write_all

    def write_half(handle: FileIO, data: bytes) -> None:
        real(handle, data[: len(data) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    with Log(tmp_path / "log.csv") as log:
        log.add(row)
        monkeypatch.setattr(logs, "write_all", write_half)
        with pytest.raises(ChoqueError, match=r"the disk is full\. Its 1 rows stay readable"):
            log.add(row)
    assert len(read_log(tmp_path / "log.csv")["NPCDTests"]) == 1
    with pytest.raises(InvalidInput, match="already"):
        Log(tmp_path / "log.csv")
