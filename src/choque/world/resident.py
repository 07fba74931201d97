"""Bodies that stay on a device: the index that bounds and sweeps them there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import ArrayLike

from choque._core.emission import Sink
from choque._core.pair_keys import unpack_pairs
from choque._core.sweep_axis import AXIS_PERIOD, SweepAxis
from choque._core.types import F64, Floats, Keys, Pairs
from choque.bounds import Bounds, Boxes, directions
from choque.broad.devices import HALF_SPACE, SOLID, BodySweep, Device, DeviceShapes, resolve
from choque.broad.index import Index
from choque.dynamics.response import RESPONSES
from choque.narrow.extents import slack_of
from choque.narrow.shapes import CAPSULE, CONVEX, MESH, PLANE, SPHERE, TILE
from choque.world.bodies import Bodies
from choque.world.bounds import box_bounds, refuse_lost, slabs_of
from choque.world.settings import Settings

OPTIONS = frozenset(("threads", "device", "axis_period", "tiles"))
"""Options of ``sap-kdop`` with which bodies can stay on a device; others affect the pairs."""


class BodyPoses(Bounds):
    """Bodies in their present poses, which a device bounds: position (n, 3), rotation (n, 3, 3) and the bodies."""

    position: Floats
    rotation: Floats
    bodies: Bodies

    _fields = ("position", "rotation")

    @classmethod
    def of(cls, bodies: Bodies, threads: int) -> BodyPoses:  # noqa: ARG003 - the signature of makers of bounds
        """Return the poses of ``bodies``, all of them finite."""
        refuse_lost(bodies)
        bodies.shapes().check_hulls()
        poses = cls.unchecked(bodies.position, bodies.rotation)
        poses.__dict__["bodies"] = bodies
        return poses

    def boxes(self) -> Boxes:
        """Return the axis-aligned boxes of the bodies."""
        return box_bounds(self.bodies, 1)

    @classmethod
    def fit(cls, points: ArrayLike, starts: ArrayLike | None = None) -> Self:
        """Raise: poses come from bodies."""
        raise NotImplementedError

    def _moved(self, rotation: F64, translation: F64) -> Self:
        raise NotImplementedError

    def _swept(self, way: F64) -> Self:
        raise NotImplementedError

    def _operands(self) -> Any:
        raise NotImplementedError


class ResidentSweep(Index):
    """The method ``sap-kdop`` for bodies whose shapes stay on a device: each frame sends poses and returns pairs.

    Guarantees: the pairs are those of ``sap-kdop`` on the CPU, in the same order. Shapes are sent when bodies are added
    or removed or change their size, hulls when there are new ones; ``traffic`` counts the bytes. All copies of an index
    share the bodies on the device; a deep copy sends its own.
    """

    name: ClassVar[str] = "sap-kdop"
    keeps_bounds: ClassVar[bool] = True

    def __init__(self, *, device: Device, k: int, axis_period: int | None = AXIS_PERIOD) -> None:
        self._resident = _Resident(device, k, axis_period)

    @classmethod
    def for_settings(cls, settings: Settings) -> ResidentSweep | None:
        """Return an index for these settings if bodies can stay on their device, else None."""
        options = settings.method_options()
        k = slabs_of(settings.bounds, settings.broad)
        has_skin = RESPONSES.find(settings.response).has_skin  # then wider bounds are made on the CPU, and rarely
        if settings.broad != cls.name or k is None or has_skin or not options.keys() <= OPTIONS:
            return None
        device = resolve(options.pop("device", None))
        if device.is_cpu:
            return None
        return cls(device=device, k=k, axis_period=options.get("axis_period", AXIS_PERIOD))

    @property
    def device(self) -> str:
        """Name of the device in use."""
        return self._resident.device.name

    @property
    def axis(self) -> tuple[int, ...]:
        """The swept direction as whole numbers."""
        return self._resident.axis.direction

    @property
    def traffic(self) -> Any:
        """Bytes sent to the device and back so far; None before the first frame."""
        return None if self._resident.held is None else self._resident.held.traffic

    def pack(self, bounds: Bounds, closed: bool, threads: int) -> Floats:  # noqa: ARG002
        """Return records of the positions alone, which choose the axis; the device computes the bounds."""
        position = cast("BodyPoses", bounds).position
        return np.concatenate((position, position), axis=1)

    def build(self) -> None:
        """Choose the axis."""
        self._resident.choose_axis(self.records)

    def emit(self, sink: Sink) -> None:
        """Sweep on the device."""
        keys, tests = self._swept()
        sink.tests += tests
        sink.add(keys)

    def pairs(self) -> Pairs:
        """Return the pairs of the sweep on the device, which are sorted."""
        keys, tests = self._swept()
        self.counters.tests += tests
        allowed = self.table.pair_filter
        return unpack_pairs(keys if allowed is None else keys[: allowed.keep_allowed(keys)])

    def _swept(self) -> tuple[Keys, int]:
        poses = cast("BodyPoses", self.table.bounds)
        held = self._resident.informed(poses.bodies)
        return held.pairs(poses.position, poses.rotation, self._resident.axis.slab)


class _Resident:
    """The bodies on a device and the axis of their sweep; a copy is empty, since arrays on a device are not copied."""

    def __init__(self, device: Device, k: int, axis_period: int | None) -> None:
        self.device = device
        self.held: BodySweep | None = None
        self.axis = SweepAxis(axis_period)
        self._k = k
        self._update_count = -1
        self._bodies: Bodies | None = None  # those that were sent, with a copy of their shapes

    def __reduce__(self) -> tuple[type[_Resident], tuple[Device, int, int | None]]:
        return type(self), (self.device, self._k, self.axis.period)

    def choose_axis(self, records: Floats) -> None:
        """Look for the axis of the bodies at ``records`` if it is due."""
        self._update_count += 1
        self.axis.choose(records, 3, directions(self._k), self._update_count)

    def informed(self, bodies: Bodies) -> BodySweep:
        """Send what the device does not know of these bodies yet, and return the bodies there."""
        known = self._bodies
        if self.held is None:
            self.held = self.device.hold_bodies(self._k, slack_of(bodies.dtype))
        has_hulls = known is not None and known.hulls is bodies.hulls
        if not has_hulls:
            self.held.send_hulls(*bodies.shapes().solids()[-2:])
        has_shapes = known is not None and all(
            np.array_equal(getattr(known, name), getattr(bodies, name)) for name in ("kind", "size", "hull")
        )
        if not has_shapes:
            self.held.send_solids(solids_of(bodies))
        if not (has_hulls and has_shapes):
            copies = {name: getattr(bodies, name).copy() for name in ("kind", "size", "hull")}  # users may change them
            self._bodies = replace(bodies, **copies)
        return self.held


def solids_of(bodies: Bodies) -> DeviceShapes:
    """Return the shapes of bodies in the form that devices take.

    Spheres, capsules and tiles are rectangles with a radius. Halves are exact, so there is no rounding beside that of
    `choque.narrow.extents`.
    """
    kind, given = bodies.kind, bodies.size.astype(np.float64)
    form = np.full(len(bodies), SOLID, np.int32)
    size: F64 = np.zeros((len(bodies), 3))
    is_round = (kind == SPHERE) | (kind == CAPSULE)
    size[is_round, 0] = given[is_round, 0]
    size[kind == CAPSULE, 2] = 0.5 * given[kind == CAPSULE, 1]
    size[kind == TILE, 1:] = 0.5 * given[kind == TILE, :2]
    has_points = (kind == CONVEX) | (kind == MESH)
    size[has_points], form[has_points] = given[has_points], bodies.hull[has_points]
    form[kind == PLANE] = HALF_SPACE
    return DeviceShapes(form, size)
