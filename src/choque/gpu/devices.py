"""Devices of Warp: the one requested, or the CPU with a note that says why."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from types import ModuleType

from choque._core.types import Floats, Keys
from choque.broad.devices import CPU, BodySweep, Device
from choque.errors import MissingExtra, UnknownName, require

WARP_CPU = "warp-cpu"  # Warp's own CPU device: one slow thread, to test the kernels without a card
CUDA = "cuda"


class DeviceNote(UserWarning):
    """Warns that another device than the one requested does the work; the answer is the same."""


class WarpDevice(Device):
    """A device of Warp; its sweeps give the arrays of the CPU, bit for bit."""

    @property
    def warp_name(self) -> str:
        """The device as Warp calls it."""
        return CPU if self.name == WARP_CPU else self.name

    def sweep_slabs(self, slabs: Floats, slab: int) -> tuple[Keys, int]:
        """Return the pairs of rows of ``slabs`` (n, 2m) that overlap, packed and sorted, and the number of tests."""
        from choque.gpu.sweep import sweep_slabs

        return sweep_slabs(slabs, slab, self)

    def hold_bodies(self, k: int, slack: float) -> BodySweep:
        """Return an empty set of bodies on the device, bounded by k-DOPs; ``slack`` is the margin of a bound."""
        from choque.gpu.sweep import DeviceBodies

        return DeviceBodies(self, k, slack)


def resolve(requested: str | None) -> Device:
    """Return the device for a request: ``None`` or ``"cpu"``, ``"cuda"``, ``"cuda:N"``, or ``"warp-cpu"``.

    If there is no card, no driver or no Warp, the CPU does the work at full speed, and a `DeviceNote` is issued as a
    warning, once for each reason. An unknown name is an error, and so is the number of a card that does not exist.
    """
    if requested is None or requested == CPU:
        return Device()
    kind, colon, number = str(requested).partition(":")
    if requested != WARP_CPU and (kind != CUDA or (colon and not number.isdecimal())):
        raise UnknownName("device", requested, device_names())
    try:
        warp = load_warp()
    except MissingExtra as problem:
        return _fallen_back(f"{problem} Until then the CPU replaces {requested!r}.")
    if requested == WARP_CPU:
        return WarpDevice(WARP_CPU)
    cards = int(warp.get_cuda_device_count())
    if cards == 0:
        return _fallen_back(f"No CUDA card or no driver for one was found, so the CPU replaces {requested!r}.")
    if number and int(number) >= cards:
        raise UnknownName("device", requested, device_names())
    return WarpDevice(f"{CUDA}:{int(number or 0)}")


def device_names() -> list[str]:
    """List every name that `resolve` takes on this machine."""
    try:
        cards = int(load_warp().get_cuda_device_count())
    except MissingExtra:
        cards = 0
    return [CPU, CUDA, *(f"{CUDA}:{card}" for card in range(cards)), WARP_CPU]


@cache
def load_warp() -> ModuleType:
    """Import and initialise Warp silently; `MissingExtra` if it is not installed."""
    warp = require("warp", extra="gpu", purpose="to run kernels on a card")
    warp.config.quiet = True
    warp.config.log_level = 40
    with _silent_errors():  # `resolve` reports a missing driver in one sentence
        warp.init()
    return warp


@contextmanager
def _silent_errors() -> Iterator[None]:
    """Discard what compiled libraries write to standard error, which does not go through `sys.stderr`."""
    try:
        kept = os.dup(2)
    except OSError:  # there is none
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


@cache
def _fallen_back(note: str) -> Device:
    """Return the CPU, and warn of it once for each reason."""
    warnings.warn(note, DeviceNote, stacklevel=3)
    return Device(CPU, note)
