"""Which device serves: the one asked for, or the CPU with a sentence that says why."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from types import ModuleType

from choque.errors import MissingExtra, UnknownName, require

CPU = "cpu"
WARP_CPU = "warp-cpu"
"""Warp's own CPU device: one slow thread that proves the kernels where there is no card, and never the fast path."""

CUDA = "cuda"


class DeviceNote(UserWarning):
    """Says that another device than the one asked for does the work; the answer is the same."""


@dataclass(frozen=True)
class Served:
    """What serves a request for a device.

    Attributes
    ----------
    name
        ``"cpu"`` for the compiled kernels of the processor, ``"warp-cpu"``, or a card such as ``"cuda:0"``.
    note
        Why it is not the device asked for; None if it is.
    """

    name: str
    note: str | None = None

    @property
    def uses_warp(self) -> bool:
        """Whether kernels of this room serve, not those of the processor."""
        return self.name != CPU

    @property
    def warp_name(self) -> str:
        """The device as Warp calls it."""
        return CPU if self.name == WARP_CPU else self.name


def resolve(requested: str | None) -> Served:
    """The device that serves a request: ``None`` or ``"cpu"``, ``"cuda"``, ``"cuda:N"``, or ``"warp-cpu"``.

    A card that is asked for and not there (no card, no driver, no Warp) is no error: the CPU serves at full speed, and
    a `DeviceNote` is issued as a warning, once for each reason. A name that stands for no device is an error, and so is
    the number of a card beyond those that are there.
    """
    if requested is None or requested == CPU:
        return Served(CPU)
    if not isinstance(requested, str):
        raise UnknownName("device", repr(requested), device_names())
    kind, _, number = requested.partition(":")
    if requested != WARP_CPU and (kind != CUDA or (":" in requested and not number.isdecimal())):
        raise UnknownName("device", requested, device_names())
    try:
        warp = load_warp()
    except MissingExtra as problem:
        return _fallen_back(f"{problem} Meanwhile the CPU serves in place of {requested!r}.")
    if requested == WARP_CPU:
        return Served(WARP_CPU)
    cards = int(warp.get_cuda_device_count())
    if cards == 0:
        return _fallen_back(
            f"No CUDA card or no driver for one was found, so the CPU serves in place of {requested!r}."
        )
    if number and int(number) >= cards:
        raise UnknownName("device", requested, device_names())
    return Served(f"{CUDA}:{int(number or 0)}")


def device_names() -> list[str]:
    """Every name that `resolve` takes on this machine."""
    try:
        cards = int(load_warp().get_cuda_device_count())
    except MissingExtra:
        cards = 0
    return [CPU, CUDA, *(f"{CUDA}:{card}" for card in range(cards)), WARP_CPU]


@cache
def load_warp() -> ModuleType:
    """Warp, imported and initialised without a word, or `MissingExtra`."""
    warp = require("warp", extra="gpu", purpose="to run kernels on a card")
    warp.config.quiet = True
    warp.config.log_level = 40
    with _silent_errors():  # a missing driver is told by `resolve`, in one sentence
        warp.init()
    return warp


@contextmanager
def _silent_errors() -> Iterator[None]:
    """Keep what compiled libraries write to standard error from being seen; they know nothing of `sys.stderr`."""
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


def _fallen_back(note: str) -> Served:
    _tell(note)
    return Served(CPU, note)


@cache
def _tell(note: str) -> None:
    warnings.warn(note, DeviceNote, stacklevel=2)
