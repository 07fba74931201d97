"""Devices that a sweep can run on, by name: the way in for packages such as `choque.gpu`.

An entry point of the group ``choque.devices`` names a function that takes a request such as ``"cuda:1"`` and returns a
`Device`; its own name is the part of the request before the colon.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from choque._core.registry import Registry
from choque._core.types import F64, I32, Floats, Keys, Rows
from choque.errors import InvalidInput, UnknownName

CPU = "cpu"
SOLID, HALF_SPACE = -1, -2  # values of `DeviceShapes.form` for bodies without a hull


class DeviceShapes(NamedTuple):
    """The shapes of n bodies, without their poses."""

    # (n,) int32: the hull of a body; `SOLID` for a rectangle with a radius around it (spheres, capsules, tiles);
    # `HALF_SPACE` for all points below the body's x-z-plane
    form: I32
    # (n, 3) float64: the scale of a hull along its axes; or the radius of a rectangle and half its edges along its x
    # and z
    size: F64


class BodySweep(Protocol):
    """Bodies whose shapes stay on a device, and the pairs of those whose k-DOPs overlap."""

    @property
    def traffic(self) -> Any:
        """Bytes sent to the device (``up``) and back (``down``), and launches by kernel."""

    def send_hulls(self, points: F64, starts: Rows) -> None:
        """Send the points (p, 3) of all hulls, and (h + 1,) where those of each hull start."""

    def send_solids(self, solids: DeviceShapes) -> None:
        """Send the shapes of the bodies."""

    def pairs(self, position: Floats, rotation: Floats, slab: int) -> tuple[Keys, int]:
        """Return the pairs of bodies in these poses whose slabs overlap, packed and sorted, and the number of tests."""


@dataclass(frozen=True)
class Device:
    """Where a sweep runs. This class stands for the CPU; subclasses of it for other devices."""

    name: str = CPU  # ``"cpu"``, ``"warp-cpu"``, or a card such as ``"cuda:0"``
    note: str | None = None  # why it is not the device requested; None if it is

    @property
    def is_cpu(self) -> bool:
        """Whether the compiled kernels of the CPU do the work."""
        return self.name == CPU

    def sweep_slabs(self, slabs: Floats, slab: int) -> tuple[Keys, int]:
        """Return the pairs of rows of ``slabs`` (n, 2m) that overlap, packed and sorted, and the number of tests."""
        raise NotImplementedError

    def hold_bodies(self, k: int, slack: float) -> BodySweep:
        """Return an empty set of bodies on the device, bounded by k-DOPs; ``slack`` is the margin of a bound."""
        raise NotImplementedError


devices: Registry[Callable[[str], Device]] = Registry("device", group="choque.devices")


def resolve(requested: str | None) -> Device:
    """Return the device for a request: None or ``"cpu"``, or a registered name, with a number after a colon if any."""
    if requested is None or requested == CPU:
        return Device()
    kind = requested.partition(":")[0] if isinstance(requested, str) else ""
    if kind not in devices:
        raise UnknownName("device", str(requested), [CPU, *devices])
    return devices.find(kind)(requested)


def on_device(device: str, method: str, options: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the method and the options for a request of a ``device``."""
    resolved = resolve(device)
    if resolved.is_cpu:
        return method, options
    if method not in ("auto", "sap-kdop"):
        raise InvalidInput(
            f"The method {method!r} has no kernels for the device {device!r}; "
            "use 'sap-kdop' or 'auto', or leave the device out."
        )
    return "sap-kdop", {**options, "device": resolved.name}
