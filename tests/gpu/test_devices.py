"""Requests for devices, and the note if another one does the work."""

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
from choque.broad import devices
from choque.broad.sap_kdop import SapKdop
from choque.errors import InvalidInput, MissingExtra, UnknownName
from choque.gpu import devices as _devices
from choque.gpu.devices import WarpDevice
from choque.gpu.session import Session

LOWER = np.array([[0.0, 0, 0], [1, 1, 1], [5, 5, 5]])
UPPER = LOWER + 2

pytestmark = pytest.mark.usefixtures("_forgetful")


def cards(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """A machine with ``count`` cards."""
    warp = SimpleNamespace(get_cuda_device_count=lambda: count)
    monkeypatch.setattr(_devices, "load_warp", lambda: warp)


def no_warp(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> Any:
        raise MissingExtra("The library 'warp' is needed. Install it with: pip install 'choque[gpu]'.")

    monkeypatch.setattr(_devices, "load_warp", missing)


@pytest.mark.parametrize("name", [None, "cpu"])
def test_the_cpu_is_the_default(name: str | None) -> None:
    assert gpu.resolve(name) == devices.resolve(name) == devices.Device()
    assert gpu.resolve(name).is_cpu


@pytest.mark.parametrize("name", ["tpu", "cudda", "cuda:x", "cuda:", "cuda:-1", "warp", "", 0, "CPU"])
def test_an_unknown_device_is_refused(name: Any) -> None:
    with pytest.raises(UnknownName, match="There is no device called"):
        gpu.resolve(name)
    with pytest.raises(InvalidInput, match="There is no device called"):
        choque.pairs(LOWER, UPPER, device=name)


def test_the_nearest_name_is_suggested() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'cuda'"):
        gpu.resolve("cudda")
    with pytest.raises(UnknownName, match="Did you mean 'cuda'"):
        devices.resolve("cudda")


@pytest.mark.parametrize("name", ["cuda", "cuda:0", "cuda:3"])
def test_without_a_card_the_cpu_works_and_a_note_says_so(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cards(monkeypatch, 0)
    with pytest.warns(gpu.DeviceNote, match=f"the CPU replaces '{name}'"):
        device = gpu.resolve(name)
    assert device.name == "cpu"
    assert device.note is not None
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # issued once
        assert gpu.resolve(name) == device


def test_without_warp_the_note_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    no_warp(monkeypatch)
    with pytest.warns(gpu.DeviceNote, match=r"pip install 'choque\[gpu\]'"):
        assert gpu.resolve("cuda").name == "cpu"
    assert gpu.device_names() == ["cpu", "cuda", "warp-cpu"]


def test_cards_are_numbered(monkeypatch: pytest.MonkeyPatch) -> None:
    cards(monkeypatch, 2)
    assert gpu.resolve("cuda") == WarpDevice("cuda:0")
    assert gpu.resolve("cuda:1") == WarpDevice("cuda:1")
    assert gpu.device_names() == ["cpu", "cuda", "cuda:0", "cuda:1", "warp-cpu"]
    with pytest.raises(UnknownName, match="cuda:2"):
        gpu.resolve("cuda:2")


def test_every_device_gives_the_same_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = choque.pairs(LOWER, UPPER)
    np.testing.assert_array_equal(choque.pairs(LOWER, UPPER, device="cpu"), wanted)
    np.testing.assert_array_equal(choque.pairs(LOWER, UPPER, device="warp-cpu"), wanted)
    cards(monkeypatch, 0)
    with pytest.warns(gpu.DeviceNote):
        np.testing.assert_array_equal(choque.pairs(LOWER, UPPER, device="cuda"), wanted)


def test_a_broad_phase_names_its_device(monkeypatch: pytest.MonkeyPatch) -> None:
    boxes = Boxes(LOWER, UPPER)

    def device_of(**options: str) -> str:
        index = choque.broad.create("sap-kdop", boxes, **options).index
        assert isinstance(index, SapKdop)
        return index.device

    assert device_of() == "cpu"
    assert device_of(device="warp-cpu") == "warp-cpu"
    cards(monkeypatch, 0)
    with pytest.warns(gpu.DeviceNote):
        assert device_of(device="cuda") == "cpu"


def test_a_method_without_kernels_for_a_device_is_refused() -> None:
    with pytest.raises(InvalidInput, match="'grid' has no kernels for the device 'warp-cpu'"):
        choque.pairs(LOWER, UPPER, method="grid", device="warp-cpu")


def test_a_session_needs_a_warp_device(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidInput, match="Use 'warp-cpu'"):
        Session("cpu")
    cards(monkeypatch, 0)
    with pytest.warns(gpu.DeviceNote), pytest.raises(InvalidInput, match="No CUDA card"):
        Session("cuda")


def test_warp_is_imported_on_first_use_of_a_device() -> None:
    code = "import sys, choque.broad, choque.gpu; choque.broad.find('sap-kdop'); assert 'warp' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_warp_starts_silently() -> None:
    pytest.importorskip("warp", reason="warp, of the extra 'gpu', is not installed")
    code = "from choque.gpu.devices import load_warp; load_warp(); import os; os.write(2, b'heard')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True)
    assert (done.stdout, done.stderr) == ("", "heard")


def test_public_names() -> None:
    assert all(hasattr(gpu, name) for name in gpu.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = gpu.nothing
