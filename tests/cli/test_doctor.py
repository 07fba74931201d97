"""``choque doctor``: its report, its self-check and the warm-up."""

from __future__ import annotations

import json
import os
import sys
from importlib import metadata
from importlib.metadata import PackageNotFoundError
from typing import TYPE_CHECKING

import pytest

import choque
from choque._core.kernel import announcement
from choque.cli import _warm_up, doctor  # patched: calls that fail to compile
from choque.errors import MissingExtra

if TYPE_CHECKING:
    from conftest import Command

IS_COMPILED = not os.environ.get("NUMBA_DISABLE_JIT")


def test_the_report_names_everything(command: Command) -> None:
    text = command.succeeds("doctor")
    assert f"choque {choque.__version__}" in text
    assert "11,811 pairs in the reference scene, correct" in text
    assert "matplotlib" in text
    for words in ("ffmpeg", "browser", "cards", "kernels", "the studio in"):
        assert words in text


def test_json(command: Command) -> None:
    report = json.loads(command.succeeds("doctor", "--json"))
    assert report["check"] == {"pairs": 11_811, "expected": 11_811, "right": True}
    assert report["kernels"]["writable"] in (True, False)
    for count in report["kernels"]["packages"].values():
        assert 0 <= count["compiled"] <= count["kernels"]
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


@pytest.mark.parametrize("package", list(_warm_up.PACKAGES))
def test_a_call_of_the_warm_up_works(package: str, thorough: bool) -> None:
    if not thorough and IS_COMPILED:
        pytest.skip("compiles every kernel, which takes minutes; CHOQUE_FULL=1 runs it")
    _warm_up.PACKAGES[package]()
    if IS_COMPILED:
        compiled = announcement.count
        _warm_up.PACKAGES[package]()
        assert announcement.count == compiled, "the first call compiles all that the second one needs"


def test_the_warm_up_covers_bounds_methods_and_packages() -> None:
    calls = _warm_up.calls()
    assert "Boxes bounds, float32" in calls
    assert all(f"{name}, {dtype}" in calls for name in choque.broad.names() for dtype in _warm_up.FLOAT_TYPES)
    assert set(_warm_up.PACKAGES) < set(calls)
    for name in ("KDops bounds, float64", "bvh, float32", "all, float64"):
        calls[name]()


def test_the_progress_of_the_warm_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_warm_up, "calls", lambda: {"one": lambda: None})
    steps: list[tuple[int, int, str]] = []
    assert _warm_up.warm_up(lambda *step: steps.append(step)) == {}
    assert steps == [(0, 1, "compiling one"), (1, 1, "")]


@pytest.mark.skipif(not IS_COMPILED, reason="nothing is compiled")
def test_kernels_are_counted_by_package() -> None:
    choque.pairs([[0, 0]] * 3, [[1, 1]] * 3, method="brute")
    found = doctor.kernels()
    assert found["packages"]["broad"]["compiled"] >= 1
    assert set(found["packages"]) == set(doctor.PACKAGES)


def test_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("choque.gpu.devices.load_warp", lambda: None)
    monkeypatch.setattr("choque.gpu.devices.device_names", lambda: ["cpu", "cuda:0", "cuda:1"])
    assert doctor._cards() == {"found": True, "words": "Warp with cuda:0, cuda:1"}
    monkeypatch.setattr("choque.gpu.devices.device_names", lambda: ["cpu"])
    assert not doctor._cards()["found"]

    def missing() -> None:
        raise MissingExtra("Warp is not there.")

    monkeypatch.setattr("choque.gpu.devices.load_warp", missing)
    assert doctor._cards()["words"].startswith("Warp is not installed")


def test_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)  # as if it were not installed
    monkeypatch.setattr("shutil.which", lambda name: f"/programs/{name}")
    assert doctor._ffmpeg() == {"found": True, "words": "/programs/ffmpeg"}
    assert doctor._browser()["words"] == "/programs/chromium"
    monkeypatch.setattr("shutil.which", lambda _: None)
    assert not doctor._ffmpeg()["found"]
    assert "--host" in doctor._browser()["words"]


def test_extras_of_a_source_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    def not_installed(_: str) -> None:
        raise PackageNotFoundError

    monkeypatch.setattr("importlib.metadata.requires", not_installed)
    assert doctor.extras() == {}
