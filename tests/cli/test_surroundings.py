"""What ``choque doctor`` says of machines other than this one: with a card, without a display, without programs."""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError

import pytest

from choque.cli import _surroundings, doctor
from choque.errors import MissingExtra


def test_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("choque.gpu.devices.load_warp", lambda: None)
    monkeypatch.setattr("choque.gpu.devices.device_names", lambda: ["cpu", "cuda:0", "cuda:1"])
    assert _surroundings._cards() == {"found": True, "words": "Warp with cuda:0, cuda:1"}
    monkeypatch.setattr("choque.gpu.devices.device_names", lambda: ["cpu"])
    assert not _surroundings._cards()["found"]

    def missing() -> None:
        raise MissingExtra("Warp is not there.")

    monkeypatch.setattr("choque.gpu.devices.load_warp", missing)
    assert _surroundings._cards()["words"].startswith("Warp is not installed")


def test_off_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.setattr(_surroundings, "find_library", lambda _: None)
    nothing = _surroundings._off_screen()
    assert not nothing["found"]
    assert "libegl1" in nothing["words"]
    monkeypatch.setattr(_surroundings, "find_library", lambda name: f"lib{name}.so")
    monkeypatch.setenv("DISPLAY", ":7")
    assert _surroundings._off_screen() == {"found": True, "words": "the display :7, EGL, OSMesa"}
    monkeypatch.setattr(sys, "platform", "darwin")
    assert _surroundings._off_screen()["words"] == "the system's own OpenGL"


def test_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)  # as if it were not installed
    monkeypatch.setattr("shutil.which", lambda name: f"/programs/{name}")
    assert _surroundings._ffmpeg() == {"found": True, "words": "/programs/ffmpeg"}
    assert _surroundings._browser()["words"] == "/programs/chromium"
    monkeypatch.setattr("shutil.which", lambda _: None)
    assert not _surroundings._ffmpeg()["found"]
    assert "--host" in _surroundings._browser()["words"]


def test_extras_of_a_source_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    def not_installed(_: str) -> None:
        raise PackageNotFoundError

    monkeypatch.setattr("importlib.metadata.requires", not_installed)
    assert doctor.extras() == {}
