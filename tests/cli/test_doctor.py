from __future__ import annotations

import json
from importlib import metadata
from typing import TYPE_CHECKING

import pytest

import choque
from choque.broad import _brute
from choque.cli import _kernels, _warm_up, doctor

if TYPE_CHECKING:
    from conftest import Command

IS_COMPILED = hasattr(_brute._emit_rows, "py_func")


def test_what_it_says(command: Command) -> None:
    text = command.succeeds("doctor")
    assert f"choque {choque.__version__}" in text
    assert "11,811 pairs in the reference scene, as it must be" in text
    assert "matplotlib" in text
    for words in ("off screen", "ffmpeg", "browser", "cards", "kernels", "the studio in"):
        assert words in text


def test_json(command: Command) -> None:
    report = json.loads(command.succeeds("doctor", "--json"))
    assert report["check"] == {"pairs": 11_811, "expected": 11_811, "right": True}
    assert report["kernels"]["writable"] in (True, False)
    for room in report["kernels"]["rooms"].values():
        assert 0 <= room["compiled"] <= room["kernels"]
    assert all(set(thing) == {"found", "words"} for thing in report["surroundings"].values())
    assert "warm-up" not in report


def test_extras_come_from_the_metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = [
        "numpy>=1.26",
        "numba>=0.60; extra == 'fast'",
        'no-such-library>=3; extra == "fast"',
        "mypy; extra == 'lint'",
    ]
    monkeypatch.setattr(metadata, "requires", lambda _: listed)
    found = doctor.extras()
    assert list(found) == ["fast"]
    assert list(found["fast"]["installed"]) == ["numba"]
    assert found["fast"]["missing"] == ["no-such-library"]
    assert found["fast"]["command"] == "pip install 'choque[fast]'"


def test_a_wrong_self_check_is_exit_code_1(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "REFERENCE_PAIRS", 7)
    outcome = command("doctor")
    assert outcome.code == 1
    assert "WRONG" in outcome.out


def test_the_warm_up_is_reported(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("choque.cli._warm_up.warm_up", lambda _: {"lost": "ImportError: gone"})
    outcome = command("doctor", "--warm-up")
    assert outcome.code == 1
    assert "failed: lost: ImportError: gone" in outcome.out


@pytest.mark.parametrize("station", list(_warm_up.STATIONS))
def test_a_station_of_the_warm_up_works(station: str, thorough: bool) -> None:
    if not thorough and IS_COMPILED:
        pytest.skip("compiles every kernel, which takes minutes; CHOQUE_FULL=1 runs it")
    _warm_up.STATIONS[station]()


def test_the_warm_up_goes_through_all_and_tells_how_far(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise RuntimeError("out of\norder")

    monkeypatch.setattr(_warm_up, "STATIONS", {"one": lambda: None, "two": fail, "three": lambda: None})
    monkeypatch.setattr("choque.lab.warm_up.warm_up", lambda names, progress: progress(0, len(names), "boxes") or {})
    told: list[tuple[int, int, str]] = []
    assert _warm_up.warm_up(lambda *step: told.append(step)) == {"two": "RuntimeError: out of order"}
    assert [about for _, _, about in told] == [
        "compiling boxes",
        "compiling one",
        "compiling two",
        "compiling three",
        "",
    ]
    assert told[-1][0] == told[-1][1]


@pytest.mark.skipif(not IS_COMPILED, reason="nothing is compiled")
def test_a_kernel_is_on_disk_once_it_was_called() -> None:
    choque.pairs([[0, 0]] * 3, [[1, 1]] * 3, method="brute")
    assert _kernels._is_on_disk(_brute._emit_rows)
    census = _kernels.census()
    assert census["rooms"]["broad"]["compiled"] >= 1
    assert set(census["rooms"]) == set(_kernels.ROOMS)
