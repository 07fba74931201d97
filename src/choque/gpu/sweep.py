"""The parallel sweep on a device (project, sort, count, scan, fill), and bodies whose shapes stay there."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from choque._core import check
from choque._core.types import F64, Floats, Keys, Rows
from choque.bounds import directions
from choque.broad.devices import Device, DeviceShapes
from choque.errors import InvalidInput
from choque.gpu.session import Session, Traffic

MAX_PAIRS_AT_ONCE = 1 << 27  # pairs written and sorted in one batch: 1 GiB twice
MAX_SEGMENTS = (1 << 31) - 1  # limit of Warp for the work items of a launch

Sort: TypeAlias = Callable[[Session, Any], tuple[Any, Any, Any]]
"""Sorts intervals (n, 2) on a device by their starts.

Returns the sorted keys, the order of the rows, and the intervals in the numbers of those keys, all on the device.
"""


def library_sort(session: Session, intervals: Any) -> tuple[Any, Any, Any]:
    """Sort intervals by Warp's radix sort, in linear time; equal keys keep their order."""
    from choque.gpu import kernels_sweep as kernels

    count = intervals.shape[0]
    number = session.warp.dtype_to_numpy(intervals.dtype)
    keys, order = session.empty(2 * count, number), session.empty(2 * count, np.int32)  # Warp sorts between two halves
    if not count:
        return keys, order, intervals
    session.launch(kernels.copy_keys, count, intervals, keys, order)
    session.sort(keys, order, count)
    return keys[:count], order[:count], intervals


def sweep_slabs(
    slabs: Floats, slab: int, device: str | Device | Session = "cuda", *, sort: Sort = library_sort
) -> tuple[Keys, int]:
    """Return the pairs of bodies whose intervals overlap along every direction, packed and sorted, and count the tests.

    Parameters
    ----------
    slabs
        (n, 2m): the lower ends along m directions, then the upper ones.
    slab
        The direction that is swept.
    device
        A name that `choque.gpu.resolve` takes, its result, or a session.
    sort
        Sorts the intervals on the device; Warp's radix sort by default.

    Returns
    -------
    keys, tests
        Packed pairs (`choque._core.pair_keys`), and the number of candidates.

    Notes
    -----
    One work item bisects for the end of each interval; one tests each segment of 64 candidates, so that a long interval
    is shared. Counts are scanned, pairs are written where the scan says and then sorted: the array does not depend on
    timing and equals that of the CPU, bit for bit. O(n) memory beside the answer and the segments.
    """
    ends = check.floats(slabs, "slabs")
    if ends.ndim != 2 or ends.shape[1] < 2 or ends.shape[1] % 2:
        raise InvalidInput(f"slabs has the shape {ends.shape}; it must be (n, 2m): lower ends, then upper ones.")
    chosen = check.whole_number(slab, "slab", 0, ends.shape[1] // 2 - 1)
    session = session_of(device)
    return sweep_device_slabs(session, session.upload(ends), chosen, sort=sort)


def sweep_device_slabs(session: Session, slabs: Any, slab: int, *, sort: Sort = library_sort) -> tuple[Keys, int]:
    """Do what `sweep_slabs` does, with slabs that are on the device."""
    from choque.gpu import kernels_sweep as kernels

    count = slabs.shape[0]
    intervals = session.empty((count, 2), session.warp.dtype_to_numpy(slabs.dtype))
    session.launch(kernels.project_slabs, count, slabs, int(slab), intervals)
    return sweep_intervals(session, intervals, slabs, int(kernels.SLABS), sort=sort)


def session_of(device: str | Device | Session) -> Session:
    """Return the session of ``device``; there is one for each device."""
    return device if isinstance(device, Session) else _kept_session(device)


_kept_session = cache(Session)


def sweep_intervals(
    session: Session, intervals: Any, volumes: Any, rule: int, *, sort: Sort = library_sort
) -> tuple[Keys, int]:
    """Return the pairs of ``volumes`` that overlap by a ``rule`` of the kernels and whose ``intervals`` do.

    ``volumes`` are slabs (n, 2m), rule `kernels_sweep.SLABS`, or spheres (n, 4), rule 1 if closed and 0 if half-open.
    """
    from choque.gpu import kernels_sweep as kernels

    count = int(intervals.shape[0])
    if count < 2:
        return np.empty(0, np.uint64), 0
    keys, order, intervals = sort(session, intervals)
    ends, segments = session.empty(count, np.int32), session.empty(count, np.int64)
    session.launch(kernels.find_ends, count, keys, order, intervals, ends, segments)
    sums = session.scan(segments)
    item_count = session.download_last(sums)
    if item_count > MAX_SEGMENTS:
        raise InvalidInput(
            f"{item_count:,} segments of candidates exceed the limit of a device, {MAX_SEGMENTS:,}: nearly everything "
            "overlaps along the swept axis. Use the device 'cpu', which splits the sweep into tiles."
        )
    if item_count == 0:
        return np.empty(0, np.uint64), 0
    counts = session.empty(item_count, np.int64)
    session.launch(kernels.count_pairs, item_count, order, ends, sums, volumes, rule, counts)
    places = session.scan(counts)
    pair_count = session.download_last(places)
    tests = session.zeros(1, np.int64)
    session.launch(kernels.sum_tests, count, ends, tests)
    found = [
        _filled(session, (order, ends, sums, volumes, rule, places), span)
        for span in _batches(session, places, item_count, pair_count)
    ]
    pairs = found[0] if len(found) == 1 else np.sort(np.concatenate(found), kind="stable")
    return pairs, int(session.download(tests)[0])


def _batches(session: Session, places: Any, item_count: int, pair_count: int) -> list[tuple[int, int, int, int]]:
    """Return ranges of items and of the pairs that they write: (first, last, first pair, last pair)."""
    if pair_count <= MAX_PAIRS_AT_ONCE:
        return [(0, item_count, 0, pair_count)]
    sums = session.download(places)
    spans = []
    first = written = 0
    while first < item_count:
        last = max(first + 1, int(np.searchsorted(sums, written + MAX_PAIRS_AT_ONCE, side="right")))
        spans.append((first, last, written, int(sums[last - 1])))
        first, written = last, int(sums[last - 1])
    return spans


def _filled(session: Session, shared: tuple[Any, ...], span: tuple[int, int, int, int]) -> Keys:
    """Return the sorted pairs of a range of items; ``shared`` are the arguments that all ranges have in common."""
    from choque.gpu import kernels_sweep as kernels

    first, last, written, end = span
    pair_count = end - written
    if pair_count == 0:
        return np.empty(0, np.uint64)
    # Warp sorts keys and values between two halves; the values are not used here.
    pairs, dummies = session.empty(2 * pair_count, np.uint64), session.zeros(2 * pair_count, np.int32)
    session.launch(kernels.fill_pairs, last - first, *shared, first, session.warp.int64(written), pairs)
    session.sort(pairs, dummies, pair_count)
    keys: Keys = session.download(pairs[:pair_count])
    return keys


class DeviceBodies:
    """Hulls and solids on a device, and the pairs of bodies whose k-DOPs overlap.

    ``device`` is a result of `choque.gpu.resolve`; ``slack`` is the margin of a bound, relative to position and extent.

    Guarantees: slabs, pairs and their order equal those of the CPU bit for bit, as every number is computed by the same
    operations in double precision. A frame sends 48 bytes a body in float32 and 96 in float64, and returns 8 bytes a
    pair and three numbers; ``traffic`` counts them.
    """

    def __init__(self, device: Device, k: int, slack: float) -> None:
        self._session = Session(device)
        self._direction = self._session.upload(directions(k).astype(np.float64))
        self._limits = self._session.upload(np.array([slack, np.inf]))
        self.send_hulls(np.empty((0, 3)), np.zeros(1, np.int64))
        self.send_solids(DeviceShapes(np.empty(0, np.int32), np.empty((0, 3))))

    @property
    def traffic(self) -> Traffic:
        """Bytes up and down, and launches by kernel."""
        return self._session.traffic

    def send_hulls(self, points: F64, starts: Rows) -> None:
        """Send the points (p, 3) of all hulls, and (h + 1,) where those of each hull start."""
        if len(points) >= 1 << 31:
            raise InvalidInput(
                f"The hulls have {len(points):,} points in all; the limit of a device is 2³¹ − 1. Use the device 'cpu'."
            )
        self._hulls = self._session.upload(points), self._session.upload(starts.astype(np.int32))

    def send_solids(self, solids: DeviceShapes) -> None:
        """Send the shapes of the bodies."""
        self._count = len(solids.form)
        self._solids = self._session.upload(solids.form), self._session.upload(solids.size)

    def slabs(self, position: Floats, rotation: Floats) -> Any:
        """Return the slabs (n, k) of the bodies in these poses on the device, lower ends first."""
        from choque.gpu import kernels_bodies as kernels

        half = self._direction.shape[0]
        slabs = self._session.empty((self._count, 2 * half), position.dtype)
        poses = self._session.upload(position), self._session.upload(rotation.reshape(self._count, 9))
        given = *self._solids, *self._hulls, *poses, self._direction, self._limits
        self._session.launch(kernels.bound_bodies, (self._count, half), *given, slabs)
        return slabs

    def pairs(self, position: Floats, rotation: Floats, slab: int) -> tuple[Keys, int]:
        """Return the pairs of bodies in these poses whose slabs overlap, packed and sorted, and the number of tests.

        ``slab`` is the swept direction, which affects the number of tests and not the pairs.
        """
        return sweep_device_slabs(self._session, self.slabs(position, rotation), slab)
