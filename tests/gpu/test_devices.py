"""Which device serves, and the sentence where it is another than the one asked for."""

from __future__ import annotations

import subprocess
import sys
import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import choque
from choque import gpu
from choque.bounds import Boxes
from choque.errors import InvalidInput, MissingExtra, UnknownName
from choque.gpu import devices as _devices
from choque.gpu.session import Session

LOWER = np.array([[0.0, 0, 0], [1, 1, 1], [5, 5, 5]])
UPPER = LOWER + 2

pytestmark = pytest.mark.usefixtures("_forgetful")


def cards(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """A machine with so many cards."""
    warp = SimpleNamespace(get_cuda_device_count=lambda: count)
    monkeypatch.setattr(_devices, "load_warp", lambda: warp)


def no_warp(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> Any:
        raise MissingExtra("The library 'warp' is needed. Install it with: pip install 'choque[gpu]'.")

    monkeypatch.setattr(_devices, "load_warp", missing)


@pytest.mark.parametrize("name", [None, "cpu"])
def test_the_processor_serves_when_nothing_else_is_asked_for(name: str | None) -> None:
    assert gpu.resolve(name) == gpu.Served("cpu")
    assert not gpu.resolve(name).uses_warp


@pytest.mark.parametrize("name", ["tpu", "cudda", "cuda:x", "cuda:", "cuda:-1", "warp", "", 0, "CPU"])
def test_a_device_that_does_not_exist_is_a_sentence(name: Any) -> None:
    with pytest.raises(UnknownName, match="There is no device called"):
        gpu.resolve(name)
    with pytest.raises(InvalidInput, match="There is no device called"):
        choque.pairs(LOWER, UPPER, device=name)


def test_the_nearest_name_is_suggested() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'cuda'"):
        gpu.resolve("cudda")


@pytest.mark.parametrize("name", ["cuda", "cuda:0", "cuda:3"])
def test_without_a_card_the_cpu_serves_and_says_so(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cards(monkeypatch, 0)
    with pytest.warns(gpu.DeviceNote, match=f"the CPU serves in place of '{name}'"):
        served = gpu.resolve(name)
    assert served.name == "cpu"
    assert served.note is not None
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # told once
        assert gpu.resolve(name) == served


def test_without_warp_the_cpu_serves_and_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    no_warp(monkeypatch)
    with pytest.warns(gpu.DeviceNote, match=r"pip install 'choque\[gpu\]'"):
        assert gpu.resolve("cuda").name == "cpu"
    assert gpu.device_names() == ["cpu", "cuda", "warp-cpu"]


def test_cards_are_numbered(monkeypatch: pytest.MonkeyPatch) -> None:
    cards(monkeypatch, 2)
    assert gpu.resolve("cuda") == gpu.Served("cuda:0")
    assert gpu.resolve("cuda:1") == gpu.Served("cuda:1")
    assert gpu.device_names() == ["cpu", "cuda", "cuda:0", "cuda:1", "warp-cpu"]
    with pytest.raises(UnknownName, match="cuda:2"):
        gpu.resolve("cuda:2")


def test_pairs_are_the_same_whoever_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = choque.pairs(LOWER, UPPER)
    np.testing.assert_array_equal(choque.pairs(LOWER, UPPER, device="cpu"), wanted)
    np.testing.assert_array_equal(choque.pairs(LOWER, UPPER, device="warp-cpu"), wanted)
    cards(monkeypatch, 0)
    with pytest.warns(gpu.DeviceNote):
        np.testing.assert_array_equal(choque.pairs(LOWER, UPPER, device="cuda"), wanted)


def test_a_broad_phase_says_who_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    boxes = Boxes(LOWER, UPPER)
    assert choque.broad.create("sap-kdop", boxes).device == "cpu"
    assert choque.broad.create("sap-kdop", boxes, device="warp-cpu").device == "warp-cpu"
    cards(monkeypatch, 0)
    with pytest.warns(gpu.DeviceNote):
        assert choque.broad.create("sap-kdop", boxes, device="cuda").device == "cpu"


def test_a_method_without_kernels_for_a_card_is_a_sentence() -> None:
    with pytest.raises(InvalidInput, match="'grid' has no kernels for the device 'warp-cpu'"):
        choque.pairs(LOWER, UPPER, method="grid", device="warp-cpu")


def test_a_session_needs_a_device_of_warp(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidInput, match="Use 'warp-cpu'"):
        Session("cpu")
    cards(monkeypatch, 0)
    with pytest.warns(gpu.DeviceNote), pytest.raises(InvalidInput, match="No CUDA card"):
        Session("cuda")


def test_warp_is_imported_only_when_a_device_is_asked_for() -> None:
    code = "import sys, choque.broad, choque.gpu; choque.broad.find('sap-kdop'); assert 'warp' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_warp_starts_without_a_word() -> None:
    pytest.importorskip("warp", reason="warp, of the extra 'gpu', is not installed")
    code = "from choque.gpu.devices import load_warp; load_warp(); import os; os.write(2, b'heard')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert (done.stdout, done.stderr) == ("", "heard")


def test_names_are_those_of_the_room() -> None:
    assert all(hasattr(gpu, name) for name in gpu.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = gpu.nothing
