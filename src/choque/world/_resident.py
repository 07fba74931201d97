"""The k-DOP sweep of a world whose bodies stay on a device."""

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
from choque.broad.devices import HALF_SPACE, SOLID, BodySweep, Device, Solids, resolve
from choque.narrow.extents import slack_of
from choque.narrow.shapes import CAPSULE, CONVEX, PLANE, SPHERE, TILE
from choque.world.bodies import Bodies
from choque.world.bounds import refuse_lost, slabs_of
from choque.world.settings import Settings

OPTIONS = frozenset(("threads", "device", "axis_period", "centred", "tiles"))
"""Options of ``sap-kdop`` with which bodies can stay on a device; others affect the pairs."""


class ResidentSweep:
    """Candidates of bodies whose shapes stay on a device: each frame sends poses and returns pairs.

    Guarantees: the candidates are those of ``sap-kdop`` on the CPU, in the same order. Shapes are sent when bodies are
    added or removed or change their size, hulls when there are new ones; ``traffic`` counts the bytes.
    """

    name = "sap-kdop"

    def __init__(self, device: Device, k: int, options: dict[str, Any]) -> None:
        self._device = device
        self.counters = Counters()
        self._k = k
        self._options = options
        self._update_count = -1
        self._axis = SweepAxis(options.get("axis_period", AXIS_PERIOD), options.get("centred", True))
        self._held: BodySweep | None = None  # the bodies on the device
        self._bodies: Bodies | None = None  # the bodies that were sent, with a copy of their shapes
        self._filter: PairFilter | None = None

    @classmethod
    def serving(cls, settings: Settings) -> ResidentSweep | None:
        """Return a sweep for these settings if bodies can stay on their device, else None."""
        options = settings.method_options()
        k = slabs_of(settings.bounds, settings.broad)
        if settings.broad != cls.name or k is None or not options.keys() <= OPTIONS:
            return None
        device = resolve(options.pop("device", None))
        return None if device.is_cpu else cls(device, k, options)

    def __deepcopy__(self, memo: dict[int, Any]) -> ResidentSweep:
        """Return a sweep without bodies, since arrays on a device are not copied."""
        return ResidentSweep(self._device, self._k, self._options)

    @property
    def device(self) -> str:
        """Name of the device in use."""
        return self._device.name

    @property
    def axis(self) -> tuple[int, ...]:
        """The swept direction as whole numbers."""
        return self._axis.direction

    @property
    def traffic(self) -> Any:
        """Bytes sent to the device and back so far; None before the first frame."""
        return None if self._held is None else self._held.traffic

    @property
    def has_looked(self) -> bool:
        """Whether there was a frame with bodies."""
        return self._held is not None

    def follow(self, bodies: Bodies) -> Pairs:
        """Return the candidates among ``bodies`` in their present poses, in rows, sorted."""
        refuse_lost(bodies)
        held = self._informed(bodies)
        self._update_count += 1
        places = np.concatenate((bodies.position, bodies.position), axis=1)
        self._axis.choose(places, 3, directions(self._k), self._update_count)
        keys, tests = held.pairs(bodies.position, bodies.rotation, self._axis.slab)
        self.counters.tests += tests
        return unpack_pairs(keys if self._filter is None else keys[: self._filter.keep_allowed(keys)])

    def _informed(self, bodies: Bodies) -> BodySweep:
        """Send what the device does not know of these bodies yet, and return the bodies there."""
        known = self._bodies
        if self._held is None:
            self._held = self._device.hold_bodies(self._k, slack_of(bodies.dtype))
        if known is None or known.hulls is not bodies.hulls:
            self._held.send_hulls(*bodies.shapes().solids()[-2:])
        if known is None or known.ids is not bodies.ids:
            static = bodies.static if bodies.static.any() else None
            self._filter = PairFilter.make(len(bodies), None, None, static)
        is_same = known is not None and all(
            np.array_equal(getattr(known, name), getattr(bodies, name)) for name in ("kind", "size", "hull")
        )
        if not is_same:
            self._held.send_solids(solids_of(bodies))
        if known is None or not is_same or known.ids is not bodies.ids or known.hulls is not bodies.hulls:
            self._bodies = _noted(bodies)
        return self._held


def solids_of(bodies: Bodies) -> Solids:
    """Return the shapes of bodies in the form that devices take.

    Spheres, capsules and tiles are rectangles with a radius. Halves are exact, so there is no rounding beside that of
    `choque.narrow.extents`.
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
    """Return these bodies with copies of the columns that were sent to the device and that a user may write to."""
    return replace(bodies, kind=bodies.kind.copy(), size=bodies.size.copy(), hull=bodies.hull.copy())
