from __future__ import annotations

import json
from importlib import metadata
from typing import TYPE_CHECKING

import pytest

import choque
from choque.cli import doctor

if TYPE_CHECKING:
    from conftest import Command


def test_what_it_says(command: Command) -> None:
    text = command.succeeds("doctor")
    assert f"choque {choque.__version__}" in text
    assert "11,811 pairs in the reference scene, as it must be" in text
    assert "matplotlib" in text


def test_json(command: Command) -> None:
    report = json.loads(command.succeeds("doctor", "--json"))
    assert report["check"] == {"pairs": 11_811, "expected": 11_811, "right": True}
    assert report["kernels"]["writable"] in (True, False)
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
    monkeypatch.setattr("choque.lab.warm_up.warm_up", lambda **_: {"lost": "ImportError: gone"})
    outcome = command("doctor", "--warm-up")
    assert outcome.code == 1
    assert "failed: lost: ImportError: gone" in outcome.out
