"""Sweep and prune with k-DOPs: one sorted direction, and all others tested at once."""

from __future__ import annotations

from numbers import Integral
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from choque._core.emission import Sink
from choque._core.pair_keys import unpack_pairs
from choque._core.pair_sets import Change
from choque._core.records import PackedBoxes
from choque._core.sweep_axis import AXIS_PERIOD, SweepAxis
from choque._core.types import Floats, Pairs
from choque.bounds import Bounds, KDops, Spheres, directions
from choque.broad._contract import BroadPhase
from choque.broad._sap_kdop_frame import Frame
from choque.broad._sap_kdop_slabs import SlabFilter, framed, pack_slabs, sphere_slabs
from choque.broad._sap_kdop_tiles import TileSweep, tiled_sweep
from choque.broad._sweep_line import Line
from choque.broad._sweep_order import order_of
from choque.errors import InvalidInput
from choque.gpu._served_sweep import ServedSweep
from choque.gpu.devices import resolve


class SapKdop(ServedSweep, BroadPhase):
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
    uses_tighter_bounds: ClassVar[bool] = True

    def __init__(
        self,
        bounds: Bounds | PackedBoxes,
        *,
        axis_period: int | None = AXIS_PERIOD,
        centred: bool = True,
        tiles: bool | None = None,
        device: str | None = None,
        **shared: Any,
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
        self._packed_bounds: KDops | None = None  # those that `_slabs` is of
        super().__init__(bounds, **shared)

    def _build(self) -> None:
        along = self._directions()
        began = perf_counter()
        self._axis.choose(self._records, self._dimension, along, self._update_count)
        chosen = perf_counter()
        frame = Frame.along(self._axis.slab, along)
        if isinstance(self._bounds, KDops):
            if self._packed_bounds is not self._bounds:  # some were moved, added or removed
                self._slabs, _ = pack_slabs(self._bounds, self.closed, self._thread_count())
                self._packed_bounds = self._bounds
        elif isinstance(self._bounds, Spheres):
            self._slabs = sphere_slabs(self._bounds, along[list(frame.slabs[: self._dimension])])
            frame = Frame((0, 1, 2 if self._dimension == 3 else -1))
        else:
            self._slabs = self._records
        self._frame = frame
        keys = np.ascontiguousarray(self._slabs[:, frame.slabs[0]])
        projected = perf_counter()
        self.stage_seconds = {"axis": chosen - began, "projection": projected - chosen, "sort": 0.0}
        if self.served.uses_warp:
            return  # the card sorts
        order = order_of(keys, self._thread_count())
        self.stage_seconds["sort"] = perf_counter() - projected
        boxes = framed(self._slabs, frame, order, self._thread_count())
        self._sweep = tiled_sweep(boxes, order, self.tiles, self._thread_count())

    def _load(self, bounds: Bounds | PackedBoxes) -> None:
        if not isinstance(bounds, KDops):
            super()._load(bounds)
            return
        self._bounds = self._packed_bounds = bounds
        self._slabs, self._records = pack_slabs(bounds, self.closed, self._thread_count(len(bounds)))

    def _updated(self, previous: Floats) -> Change | None:
        self._update_count += 1
        return super()._updated(previous)

    def _emit(self, sink: Sink) -> None:
        if self._sweep is not None:
            self.counters.duplicates += self._sweep.emit(sink)

    def _found(self) -> Pairs:
        if not self.served.uses_warp:
            return super()._found()
        from choque.gpu import sweep_slabs

        keys, tests = sweep_slabs(self._slabs, self._frame.slabs[0], self.served)
        self.counters.tests += tests
        return unpack_pairs(keys if self._filter is None else keys[: self._filter.keep_allowed(keys)])

    def _sink(self, keep: bool) -> Sink:
        if not isinstance(self._bounds, KDops) or self._bounds.lower.shape[1] <= self._dimension:
            return super()._sink(keep)  # the sweep tests all the directions that there are
        return Sink(len(self), self._thread_count(), SlabFilter(self._slabs, self._filter), keep)

    def _account(self, sink: Sink) -> None:
        super()._account(sink)
        if isinstance(sink.pair_filter, SlabFilter):
            self.counters.tests += sink.pair_filter.tested
            self.counters.filtered += sink.pair_filter.tested
            self.counters.filter_seconds += sink.pair_filter.seconds

    def _refine(self, found: Pairs) -> Pairs:
        return self._tighter(found) if isinstance(self._bounds, Spheres) else found

    def _directions(self) -> NDArray[np.int64]:
        if isinstance(self._bounds, KDops):
            return directions(self._bounds.k)
        return directions(
            KDops.DEFAULT_K[self._dimension] if isinstance(self._bounds, Spheres) else 2 * self._dimension
        )

    def _note_bytes(self, extra: int = 0) -> None:
        super()._note_bytes(extra + (0 if self._sweep is None else self._sweep.nbytes))


def _checked_period(given: int | None) -> int | None:
    if given is None or (isinstance(given, Integral) and not isinstance(given, bool) and given >= 1):
        return None if given is None else int(given)
    raise InvalidInput(f"axis_period is {given!r}; it must be a whole number of at least 1, or None for never.")
