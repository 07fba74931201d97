"""Sweep and prune with k-DOPs: one sorted direction, and all others tested at once."""

from __future__ import annotations

from numbers import Integral
from time import perf_counter
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from choque._core.emission import Sink
from choque._core.pair_keys import unpack_pairs
from choque._core.pair_sets import Change
from choque._core.sweep_axis import AXIS_PERIOD, SweepAxis
from choque._core.types import Floats, Pairs
from choque.bounds import Bounds, KDops, Spheres, directions
from choque.broad._sap_kdop_frame import Frame
from choque.broad._sap_kdop_slabs import SlabFilter, framed, pack_slabs, sphere_slabs
from choque.broad._sap_kdop_tiles import TileSweep, tiled_sweep
from choque.broad._sweep_order import order_of
from choque.broad.index import Index
from choque.broad.sweep_line import Line
from choque.errors import InvalidInput
from choque.gpu._served_sweep import ServedSweep
from choque.gpu.devices import resolve


class SapKdop(ServedSweep, Index):
    """Sorts k-DOPs along the direction of their greatest spread and tests each against those that start before it ends.

    Parameters
    ----------
    axis_period
        The principal axis of the centres is found anew every so many updates, and at once when the spread along the
        present one has fallen below half of the largest; None to keep the first.
    centred
        Whether the principal axis is that of the centres about their mean; False for about the origin, as some
        programs have it.
    tiles
        Whether the sweep is split into tiles on two further directions; None for where that is faster.
    device
        Where the sweep runs: None or ``"cpu"``; ``"cuda"`` or ``"cuda:N"`` for a card, in whose place the CPU serves
        with a `choque.gpu.DeviceNote` where there is none; ``"warp-cpu"`` to prove the kernels of cards. The pairs are
        the same, and ``device`` says who served.

    Notes
    -----
    Guarantees: given `KDops` of any k, equals the all-pairs test of the k-DOPs; given `Spheres`, of the spheres; any
    other bounds count as the boxes around them, which are 6-DOPs. Exact in both topologies; O(n) memory beside the
    answer. The principal axis is snapped to the k/2 directions of the bounds (18-DOP's for spheres), where intervals
    are read and not computed. Keys are sorted by counting, in linear time. A sweep over three directions finds the
    candidates, tile by tile in nearly linear time and 32 at once; the slabs of a whole block of them are then tested
    without a branch (``counters.filtered``). Threads draw short blocks of bodies, and bodies that touch very many tiles
    are swept apart, so one long interval holds up nobody.

    After Liu, Harada, Lee and Kim, "Real-time Collision Culling of a Million Bodies on Graphics Processing Units", 2010
    (axis by principal components, parallel sweep), and Klosowski, Held, Mitchell, Sowizral and Zikan, "Efficient
    Collision Detection Using Bounding Volume Hierarchies of k-DOPs", 1998.
    """

    name: ClassVar[str] = "sap-kdop"
    keeps_bounds: ClassVar[bool] = True

    def __init__(
        self,
        *,
        axis_period: int | None = AXIS_PERIOD,
        centred: bool = True,
        tiles: bool | None = None,
        device: str | None = None,
    ) -> None:
        self.axis_period = _checked_period(axis_period)
        for value, name in ((centred, "centred"), (tiles, "tiles")):
            if not isinstance(value, bool) and not (value is None and name == "tiles"):
                raise InvalidInput(f"{name} is {value!r}; it must be True or False.")
        self.served = resolve(device)
        self.centred = centred
        self.tiles = tiles
        self.stage_seconds = {"axis": 0.0, "projection": 0.0, "sort": 0.0}  # of the latest build; a card sorts unseen
        self._update_count = 0
        self._axis = SweepAxis(self.axis_period, centred)
        self._sweep: Line | TileSweep | None = None
        self._packed: tuple[KDops, Floats] | None = None  # bounds, and the slabs packed from them

    def build(self) -> None:
        """Choose the axis, project and sort."""
        along = self._directions()
        began = perf_counter()
        self._axis.choose(self.records, self.table.dimension, along, self._update_count)
        chosen = perf_counter()
        frame = Frame.along(self._axis.slab, along)
        bounds = self.table.bounds
        if isinstance(bounds, KDops):
            if self._packed is None or self._packed[0] is not bounds:  # some were moved, added or removed
                self._packed = bounds, pack_slabs(bounds, self.table.closed, self.thread_count())[0]
            self._slabs = self._packed[1]
        elif isinstance(bounds, Spheres):
            self._slabs = sphere_slabs(bounds, along[list(frame.slabs[: self.table.dimension])])
            frame = Frame((0, 1, 2 if self.table.dimension == 3 else -1))
        else:
            self._slabs = self.records
        self._frame = frame
        keys = np.ascontiguousarray(self._slabs[:, frame.slabs[0]])
        projected = perf_counter()
        self.stage_seconds = {"axis": chosen - began, "projection": projected - chosen, "sort": 0.0}
        if self.served.uses_warp:
            return  # the card sorts
        order = order_of(keys, self.thread_count())
        self.stage_seconds["sort"] = perf_counter() - projected
        boxes = framed(self._slabs, frame, order, self.thread_count())
        self._sweep = tiled_sweep(boxes, order, self.tiles, self.thread_count())

    def pack(self, bounds: Bounds, closed: bool, thread_count: int) -> Floats:
        """Return the records of ``bounds``, and keep the slabs that k-DOPs give in the same pass for `build`."""
        if not isinstance(bounds, KDops):
            return super().pack(bounds, closed, thread_count)
        slabs, records = pack_slabs(bounds, closed, thread_count)
        self._packed = bounds, slabs
        return records

    def update(self, previous: Floats) -> Change | None:
        """Build again; the axis is chosen again every ``axis_period`` updates."""
        self._update_count += 1
        return super().update(previous)

    def emit(self, sink: Sink) -> None:
        """Sweep the three directions of the frame."""
        if self._sweep is not None:
            self.counters.duplicates += self._sweep.emit(sink)

    def pairs(self) -> Pairs:
        """Return the pairs whose bounds overlap, found by the processor or by the device."""
        found = self._found()
        return self.meeting(found) if isinstance(self.table.bounds, Spheres) else found

    def _found(self) -> Pairs:
        if not self.served.uses_warp:
            return super().pairs()
        from choque.gpu import sweep_slabs

        keys, tests = sweep_slabs(self._slabs, self._frame.slabs[0], self.served)
        self.counters.tests += tests
        return unpack_pairs(
            keys if self.table.pair_filter is None else keys[: self.table.pair_filter.keep_allowed(keys)]
        )

    def make_sink(self, keep: bool) -> Sink:
        """Return a sink that tests the slabs of all directions, chunk by chunk."""
        if not isinstance(self.table.bounds, KDops) or self.table.bounds.lower.shape[1] <= self.table.dimension:
            return super().make_sink(keep)  # the sweep tests all the directions that there are
        return Sink(len(self), self.thread_count(), SlabFilter(self._slabs, self.table.pair_filter), keep)

    def account(self, sink: Sink) -> None:
        """Add the tests of slabs too."""
        super().account(sink)
        if isinstance(sink.pair_filter, SlabFilter):
            self.counters.tests += sink.pair_filter.tested
            self.counters.filtered += sink.pair_filter.tested
            self.counters.filter_seconds += sink.pair_filter.seconds

    def _directions(self) -> NDArray[np.int64]:
        bounds, dimension = self.table.bounds, self.table.dimension
        if isinstance(bounds, KDops):
            return directions(bounds.k)
        return directions(KDops.DEFAULT_K[dimension] if isinstance(bounds, Spheres) else 2 * dimension)

    @property
    def byte_count(self) -> int:
        """The bytes of the records, the slabs and the sweep."""
        return super().byte_count + (0 if self._sweep is None else self._sweep.nbytes)


def _checked_period(given: int | None) -> int | None:
    if given is None or (isinstance(given, Integral) and not isinstance(given, bool) and given >= 1):
        return None if given is None else int(given)
    raise InvalidInput(f"axis_period is {given!r}; it must be a whole number of at least 1, or None for never.")
