"""The sweep with k-DOPs of a world whose bodies stay on a device."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core.counters import Counters
from choque._core.pair_keys import unpack_pairs
from choque._core.sweep_axis import AXIS_PERIOD, SweepAxis
from choque._core.types import Pairs
from choque.bounds import directions
from choque.broad import PairFilter
from choque.gpu._served_sweep import ServedSweep
from choque.gpu.bodies import HALF_SPACE, SOLID, DeviceBodies, Solids
from choque.gpu.devices import Served, resolve
from choque.gpu.session import Traffic
from choque.narrow.extents import slack_of
from choque.narrow.shapes import CAPSULE, CONVEX, PLANE, SPHERE, TILE
from choque.world.bodies import Bodies
from choque.world.bounds import refuse_lost, slabs_of
from choque.world.settings import Settings

OPTIONS = frozenset(("threads", "device", "axis_period", "centred", "tiles"))
"""The options of ``sap-kdop`` under which bodies stay; others change what may meet and are left to it."""


class ResidentSweep(ServedSweep):
    """Candidates of bodies whose solids stay on a device: poses go up each frame, and pairs come down.

    Guarantees: the candidates are those of ``sap-kdop`` on the processor, in the same order. What the bodies are is
    sent when bodies come or go or change their size, hulls when there are new ones; ``traffic`` counts the bytes.
    """

    name = "sap-kdop"

    def __init__(self, served: Served, k: int, options: dict[str, Any]) -> None:
        self.served = served
        self.counters = Counters()
        self._k = k
        self._options = options
        self._update_count = -1
        self._axis = SweepAxis(options.get("axis_period", AXIS_PERIOD), options.get("centred", True))
        self._device: DeviceBodies | None = None
        self._bodies: Bodies | None = None  # those that the device knows, with a copy of what they are
        self._filter: PairFilter | None = None

    @classmethod
    def serving(cls, settings: Settings) -> ResidentSweep | None:
        """What serves these settings if bodies can stay on their device, else None."""
        options = settings.method_options()
        k = slabs_of(settings.bounds, settings.broad)
        if settings.broad != cls.name or k is None or not options.keys() <= OPTIONS:
            return None
        served = resolve(options.pop("device", None))
        return cls(served, k, options) if served.uses_warp else None

    def __deepcopy__(self, memo: dict[int, Any]) -> ResidentSweep:
        """A sweep that has yet to be sent its bodies: what is on a device is not copied."""
        return ResidentSweep(self.served, self._k, self._options)

    @property
    def traffic(self) -> Traffic:
        """The bytes that went to the device and came back so far."""
        return Traffic() if self._device is None else self._device.traffic

    @property
    def has_looked(self) -> bool:
        """Whether there were ever bodies to follow."""
        return self._device is not None

    def follow(self, bodies: Bodies) -> Pairs:
        """The candidates among ``bodies`` as they are now, in rows, sorted."""
        refuse_lost(bodies)
        device = self._informed(bodies)
        self._update_count += 1
        places = np.concatenate((bodies.position, bodies.position), axis=1)
        self._axis.choose(places, 3, directions(self._k), self._update_count)
        keys, tests = device.pairs(bodies.position, bodies.rotation, self._axis.slab)
        self.counters.tests += tests
        return unpack_pairs(keys if self._filter is None else keys[: self._filter.keep_allowed(keys)])

    def _informed(self, bodies: Bodies) -> DeviceBodies:
        """The device, once it knows what these bodies are."""
        known = self._bodies
        if self._device is None:
            self._device = DeviceBodies(self.served, self._k, slack_of(bodies.dtype))
        if known is None or known.hulls is not bodies.hulls:
            self._device.send_hulls(*bodies.shapes().solids()[-2:])
        if known is None or known.ids is not bodies.ids:
            static = bodies.static if bodies.static.any() else None
            self._filter = PairFilter.make(len(bodies), None, None, static)
        is_same = known is not None and all(
            np.array_equal(getattr(known, name), getattr(bodies, name)) for name in ("kind", "size", "hull")
        )
        if not is_same:
            self._device.send_solids(solids_of(bodies))
        if known is None or not is_same or known.ids is not bodies.ids or known.hulls is not bodies.hulls:
            self._bodies = _noted(bodies)
        return self._device


def solids_of(bodies: Bodies) -> Solids:
    """What bodies are, as a device is told.

    Spheres, capsules and tiles are rectangles with a radius. Halves are exact, so nothing is rounded here that is not
    in `choque.narrow.extents`.
    """
    kind, given = bodies.kind, bodies.size.astype(np.float64)
    form = np.full(len(bodies), SOLID, np.int32)
    size: NDArray[np.float64] = np.zeros((len(bodies), 3))
    is_round = (kind == SPHERE) | (kind == CAPSULE)
    size[is_round, 0] = given[is_round, 0]
    size[kind == CAPSULE, 2] = 0.5 * given[kind == CAPSULE, 1]
    size[kind == TILE, 1:] = 0.5 * given[kind == TILE, :2]
    size[kind == CONVEX] = given[kind == CONVEX]
    form[kind == CONVEX] = bodies.hull[kind == CONVEX]
    form[kind == PLANE] = HALF_SPACE
    return Solids(form, size)


def _noted(bodies: Bodies) -> Bodies:
    """These bodies, with copies of the columns that a user may write to and the device was told."""
    return replace(bodies, kind=bodies.kind.copy(), size=bodies.size.copy(), hull=bodies.hull.copy())
