"""Sweep and prune with k-DOPs: one sorted direction, and all others tested at once."""

from __future__ import annotations

import copy
import threading
import time
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

from choque._core import check, memory, threads
from choque._core.emission import Sink
from choque._core.kernel import helper, kernel
from choque._core.pair_keys import PairFilter, key_first, key_second, unpack_pairs
from choque._core.pair_sets import Change
from choque._core.records import FLAT
from choque._core.rounding import narrow_down, narrow_up
from choque._core.sweep_axis import AXIS_PERIOD, SweepAxis
from choque._core.types import I64, Floats, Integer, Keys, Pairs
from choque.bounds import Bounds, KDops, Spheres, directions
from choque.broad.devices import resolve
from choque.broad.index import Index
from choque.broad.sweep_order import Line, Order, order_of
from choque.broad.sweep_tiles import TileSweep, tiled_sweep

TILE_EDGES = 4.5
"""The edge of a tile in typical edges of a box: a block of tests costs little, a box in several lists much."""

PROJECTING = 2.0**-48  # more than the relative error of projecting a centre on a direction and adding a radius

AHEAD = 32
"""Scattered rows are read ahead in groups of this size, so that the CPU waits for all of them at once. This nearly
halves the time: 146,822 pairs of 18-DOPs took 2.8 ms against 4.8.
"""


class SapKdop(Index):
    """Sorts k-DOPs along the direction of their greatest spread and tests each against those that start before it ends.

    Parameters
    ----------
    axis_period
        Updates after which the principal axis of the centres is computed again; it also is when the spread along the
        present one has fallen below half of the largest. None to keep the first.
    tiles
        Whether the sweep is split into tiles on two further directions; None if that is faster.
    device
        Where the sweep runs: None or ``"cpu"``; ``"cuda"`` or ``"cuda:N"`` for a card, which the CPU replaces, with a
        `choque.gpu.DeviceNote`, if there is none; ``"warp-cpu"`` to test the kernels of cards. The pairs are the same,
        and the attribute ``device`` names the device in use.

    Notes
    -----
    Guarantees: given `KDops` of any k, equals the all-pairs test of the k-DOPs; given `Spheres`, of the spheres; any
    other bounds count as the boxes around them, which are 6-DOPs. Exact in both topologies; O(n) memory beside the
    answer. The principal axis is snapped to the k/2 directions of the bounds (those of the 18-DOP for spheres), along
    which intervals are known. Keys are sorted by counting, in linear time. A sweep over three directions finds the
    candidates, tile by tile in nearly linear time and 32 at once; the slabs of a whole block of them are then tested
    without branches (``counters.filtered``). Threads draw short blocks of bodies, and bodies that touch very many tiles
    are swept separately, so that one long interval delays no other thread.

    After Liu, Harada, Lee and Kim, "Real-time Collision Culling of a Million Bodies on Graphics Processing Units", 2010
    (axis by principal components, parallel sweep), and Klosowski, Held, Mitchell, Sowizral and Zikan, "Efficient
    Collision Detection Using Bounding Volume Hierarchies of k-DOPs", 1998.
    """

    name: ClassVar[str] = "sap-kdop"
    keeps_bounds: ClassVar[bool] = True
    suited_bounds: ClassVar[str] = "18-dop"

    def __init__(
        self, *, axis_period: int | None = AXIS_PERIOD, tiles: bool | None = None, device: str | None = None
    ) -> None:
        if axis_period is not None:
            axis_period = check.whole_number(axis_period, "axis_period", 1, otherwise="None for never")
        if tiles is not None:
            tiles = check.boolean(tiles, "tiles", otherwise="None for the faster")
        self.axis_period = axis_period
        self._device = resolve(device)
        self.tiles = tiles
        self.stage_seconds = {"axis": 0.0, "projection": 0.0, "sort": 0.0}  # of the latest build on the CPU
        self._update_count = 0
        self._axis = SweepAxis(self.axis_period)
        self._sweep: Line | TileSweep | None = None
        self._packed: tuple[KDops, Floats] | None = None  # bounds, and the slabs packed from them

    @property
    def device(self) -> str:
        """Name of the device in use: ``"cpu"``, ``"warp-cpu"``, or a card such as ``"cuda:0"``."""
        return self._device.name

    @property
    def axis(self) -> tuple[int, ...]:
        """The swept direction as whole numbers: (1, 1, 0) is the diagonal of x and y."""
        return self._axis.direction

    @property
    def axis_changes(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """(number of the update, axis) for each change of the axis."""
        return self._axis.changes

    def build(self) -> None:
        """Choose the axis, project and sort."""
        along = self._directions()
        began = perf_counter()
        self._axis = copy.copy(self._axis)  # the past keeps its own
        self._axis.choose(self.records, self.table.dimension, along, self._update_count)
        chosen = perf_counter()
        frame = frame_along(self._axis.slab, along)
        bounds = self.table.bounds
        if isinstance(bounds, KDops):
            if self._packed is None or self._packed[0] is not bounds:  # some were moved, added or removed
                self._packed = bounds, pack_slabs(bounds, self.table.closed, self.thread_count())[0]
            self._slabs = self._packed[1]
        elif isinstance(bounds, Spheres):
            self._slabs = sphere_slabs(bounds, along[list(frame[: self.table.dimension])])
            frame = (0, 1, 2 if self.table.dimension == 3 else -1)
        else:
            self._slabs = self.records
        self._frame = frame
        keys = np.ascontiguousarray(self._slabs[:, frame[0]])
        projected = perf_counter()
        self.stage_seconds = {"axis": chosen - began, "projection": projected - chosen, "sort": 0.0}
        if not self._device.is_cpu:
            return  # the device sorts
        order = order_of(keys, self.thread_count())
        self.stage_seconds["sort"] = perf_counter() - projected
        boxes = framed(self._slabs, frame, order, self.thread_count())
        self._sweep = tiled_sweep(
            boxes, order, tiles=self.tiles, tile_edges=TILE_EDGES, thread_count=self.thread_count()
        )

    def pack(self, bounds: Bounds, closed: bool, threads: int) -> Floats:
        """Return the records of ``bounds``, and keep the slabs that k-DOPs give in the same pass for `build`."""
        if not isinstance(bounds, KDops):
            return super().pack(bounds, closed, threads)
        slabs, records = pack_slabs(bounds, closed, threads)
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
        """Return the pairs whose bounds overlap, found by the CPU or by the device."""
        if self._device.is_cpu:
            found = super().pairs()
        else:
            keys, tests = self._device.sweep_slabs(self._slabs, self._frame[0])
            self.counters.tests += tests
            allowed = self.table.pair_filter
            found = unpack_pairs(keys if allowed is None else keys[: allowed.keep_allowed(keys)])
        return self.meeting(found) if isinstance(self.table.bounds, Spheres) else found

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

    def _directions(self) -> I64:
        bounds, dimension = self.table.bounds, self.table.dimension
        if isinstance(bounds, KDops):
            return directions(bounds.k)
        return directions(KDops.DEFAULT_K[dimension] if isinstance(bounds, Spheres) else 2 * dimension)

    @property
    def byte_count(self) -> int:
        """The bytes of the records, the slabs and the sweep."""
        return super().byte_count + (0 if self._sweep is None else self._sweep.nbytes)


def frame_along(slab: int, directions: I64) -> tuple[int, int, int]:
    """Return the rows of three directions: a swept one, and the two most nearly perpendicular to it and to each other.

    In the plane the third is −1.
    """
    units = directions / np.linalg.norm(directions, axis=1)[:, None]
    leaning = np.abs(units @ units[slab])
    second = int(np.argmin(leaning))
    third = -1 if directions.shape[1] == 2 else int(np.argmin(np.maximum(leaning, np.abs(units @ units[second]))))
    return slab, second, third


def pack_slabs(bounds: KDops, closed: bool, thread_count: int) -> tuple[Floats, Floats]:
    """Return the slabs of ``bounds``, (n, k), lower ends first, and the records of their boxes.

    As in records, half-open slabs have the float below their upper ends, so that ``<=`` tests both topologies.
    """
    lower, upper = bounds.lower, bounds.upper
    if not closed:
        with np.errstate(over="ignore"):
            upper = np.nextafter(upper, upper.dtype.type(-np.inf))
        # There is no float below −inf: a slab that ends there overlaps nothing, so it becomes an empty interval.
        nowhere = (bounds.upper == -np.inf).any(axis=1, keepdims=True)
        lower = np.where(nowhere, lower.dtype.type(np.inf), lower)
    slabs: Floats = memory.empty((len(bounds), bounds.k), bounds.dtype)
    records: Floats = memory.empty((len(bounds), 6), bounds.dtype)
    threads.over_ranges(_pack, len(bounds), thread_count, lower, upper, bounds.dimension, slabs, records)
    return slabs, records


def sphere_slabs(spheres: Spheres, directions: Any) -> Floats:
    """Return the ends of ``spheres`` along ``directions`` (m, d), rounded outward, lower ones first: (n, 2m)."""
    center, radius = spheres.center.astype(np.float64, copy=False), spheres.radius.astype(np.float64, copy=False)
    along = center @ directions.T
    reach = radius[:, None] * (np.linalg.norm(directions, axis=1) * (1 + PROJECTING))
    reach += PROJECTING * (np.abs(center) @ np.abs(directions).T)
    lower, upper = narrow_down(along - reach, spheres.dtype), narrow_up(along + reach, spheres.dtype)
    slabs: Floats = np.concatenate((lower, upper), axis=1)
    return slabs


def framed(slabs: Floats, frame: tuple[int, int, int], order: Order, thread_count: int) -> Floats:
    """Return the boxes (n, 6) in the coordinates of a `frame_along` and in ``order``, for a sweep along the first."""
    boxes: Floats = memory.empty((len(order), 6), slabs.dtype)
    threads.over_ranges(_frame, len(order), thread_count, slabs, np.array(frame), order, boxes)
    return boxes


class SlabFilter:
    """Filter of the pairs of a sweep, chunk by chunk: keeps those that overlap along all directions and are allowed."""

    def __init__(self, slabs: Floats, pair_filter: PairFilter | None) -> None:
        self.tested, self.seconds = 0, 0.0  # the number of pairs tested, and the time of all threads together
        self._slabs = slabs
        self._filter = pair_filter
        self._lock = threading.Lock()

    def keep_allowed(self, keys: Keys) -> int:
        """Move the pairs that are kept to the front of ``keys``, in order, and return their number."""
        start = time.perf_counter()
        kept, _ = _keep_meeting(keys, self._slabs)
        with self._lock:
            self.tested += keys.size
            self.seconds += time.perf_counter() - start
        return kept if self._filter is None else self._filter.keep_allowed(keys[:kept])


@kernel
def _pack(first: int, last: int, lower: Any, upper: Any, dimension: Integer, slabs: Any, records: Any) -> None:
    half = lower.shape[1]
    for row in range(first, last):
        for slab in range(half):
            slabs[row, slab] = lower[row, slab]
            slabs[row, half + slab] = upper[row, slab]
        records[row, 2] = 0
        records[row, 5] = FLAT
        for axis in range(dimension):
            records[row, axis] = lower[row, axis]
            records[row, axis + 3] = upper[row, axis]


@kernel
def _frame(first: int, last: int, slabs: Any, places: Any, order: Order, boxes: Any) -> int:
    half = slabs.shape[1] // 2
    touched = 0
    for start in range(first, last, AHEAD):
        stop = min(start + AHEAD, last)
        for k in range(start, stop):
            touched += _touch(slabs, np.int64(order[k]))
        for k in range(start, stop):
            row = np.int64(order[k])
            for axis in range(3):
                place = places[axis]
                boxes[k, axis] = slabs[row, place] if place >= 0 else 0
                boxes[k, axis + 3] = slabs[row, half + place] if place >= 0 else FLAT
    return touched


@kernel
def _keep_meeting(keys: Keys, slabs: Any) -> tuple[int, int]:
    """Compact ``keys`` in place to the pairs whose ``slabs`` (n, 2m) all overlap; return their number first."""
    half = slabs.shape[1] // 2
    kept = 0
    touched = 0
    for start in range(0, keys.size, AHEAD):
        stop = min(start + AHEAD, keys.size)
        for k in range(start, stop):
            one, two = key_first(keys[k]), key_second(keys[k])
            touched += _touch(slabs, one) + _touch(slabs, two)
        for k in range(start, stop):
            key = keys[k]
            one, two = key_first(key), key_second(key)
            apart = False
            for slab in range(half):
                apart |= (slabs[one, slab] > slabs[two, half + slab]) | (slabs[two, slab] > slabs[one, half + slab])
            keys[kept] = key
            kept += not apart
    return kept, touched


@helper
def _touch(slabs: Any, row: Integer) -> Integer:
    """Read both ends of a row, to load it into the cache; the result has no meaning but must be used."""
    return np.int64(slabs[row, 0] <= slabs[row, slabs.shape[1] - 1])
