"""The parallel sweep: project, sort, count, scan, fill."""

from __future__ import annotations

from functools import cache
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from choque._core import check
from choque._core.types import Floats, Keys
from choque.errors import InvalidInput
from choque.gpu._session import Session
from choque.gpu._sorts import sort_intervals
from choque.gpu.devices import Served

PAIRS_AT_ONCE = 1 << 27
"""So many pairs are written and sorted at a time, at most: 1 GiB twice."""

SEGMENTS_MOST = (1 << 31) - 1

SLACK = {np.dtype(np.float32): 64 * 2.0**-24, np.dtype(np.float64): 64 * 2.0**-53}
"""More than the relative error of all that is computed for one bound."""


def sweep_slabs(
    slabs: Floats, slab: int, device: str | Served | Session = "cuda", *, sort: str = "library"
) -> tuple[Keys, int]:
    """The pairs of bodies whose intervals meet along every direction, packed and sorted, and the number of tests.

    Parameters
    ----------
    slabs
        (n, 2m): the lower ends along m directions, then the upper ones.
    slab
        The direction that is swept.
    device
        Where it runs, see `choque.gpu.resolve`.
    sort
        ``"library"``, ``"decimal"`` or ``"bitonic"``.

    Notes
    -----
    One item bisects for the end of each interval; one item tests each segment of 64 candidates, however they are
    spread over the intervals. Counts are scanned and pairs written where the scan says, then sorted: no race decides
    anything, so the array is that of the processor, bit for bit. O(n) memory beside the answer and the segments.
    """
    ends = check.floats(slabs, "slabs")
    if ends.ndim != 2 or ends.shape[1] < 2 or ends.shape[1] % 2:
        raise InvalidInput(f"slabs has the shape {ends.shape}; it must be (n, 2m): lower ends, then upper ones.")
    if isinstance(slab, bool) or not isinstance(slab, Integral) or not 0 <= slab < ends.shape[1] // 2:
        raise InvalidInput(f"slab is {slab!r}; directions go from 0 to {ends.shape[1] // 2 - 1}.")
    session = session_of(device)
    return sweep_device_slabs(session, session.upload(ends), int(slab), sort)


def sweep_spheres(
    center: Floats,
    radius: Floats,
    direction: ArrayLike,
    device: str | Served | Session = "cuda",
    *,
    closed: bool = True,
    sort: str = "library",
) -> tuple[Keys, int]:
    """The pairs of spheres that meet, packed and sorted, and the number of tests; swept along ``direction`` (3,)."""
    middle, size = check.floats(center, "center"), check.floats(radius, "radius")
    if middle.ndim != 2 or middle.shape[1] != 3 or size.shape != middle.shape[:1]:
        raise InvalidInput(
            f"center has the shape {middle.shape} and radius {size.shape}; they must be (n, 3) and (n,)."
        )
    along = check.floats(direction, "direction")
    if along.shape != (3,) or not np.isfinite(along).all() or not along.any():
        raise InvalidInput(f"direction is {direction!r}; it must be three finite numbers, not all 0.")
    session = session_of(device)
    spheres = np.concatenate((middle, size[:, None]), axis=1)
    return sweep_device_spheres(session, session.upload(spheres), direction, closed, sort)


def sweep_device_slabs(session: Session, slabs: Any, slab: int, sort: str) -> tuple[Keys, int]:
    """`sweep_slabs` of slabs that are on the device."""
    from choque.gpu import _kernels_sweep as kernels

    count = slabs.shape[0]
    intervals = session.empty((count, 2), session.warp.dtype_to_numpy(slabs.dtype))
    session.launch(kernels.project_slabs, count, slabs, int(slab), intervals)
    return _swept(session, intervals, sort, slabs, int(kernels.SLABS))


def sweep_device_spheres(
    session: Session, spheres: Any, direction: ArrayLike, closed: bool, sort: str
) -> tuple[Keys, int]:
    """`sweep_spheres` of spheres (n, 4) that are on the device."""
    from choque.gpu import _kernels_sweep as kernels

    number = np.dtype(session.warp.dtype_to_numpy(spheres.dtype))
    along = np.asarray(direction, np.float64)
    with_length = session.upload(np.append(along, np.linalg.norm(along)).astype(number))
    slack = session.upload(np.array([SLACK[number]], number))
    intervals = session.empty((spheres.shape[0], 2), number)
    session.launch(kernels.project_spheres, spheres.shape[0], spheres, with_length, slack, intervals)
    return _swept(session, intervals, sort, spheres, int(closed))


def session_of(device: str | Served | Session) -> Session:
    """The session on ``device``; one is kept for each device, so nothing is looked up twice."""
    return device if isinstance(device, Session) else _kept_session(device)


@cache
def _kept_session(device: str | Served) -> Session:
    return Session(device)


def _swept(session: Session, intervals: Any, sort: str, volumes: Any, rule: int) -> tuple[Keys, int]:
    """The pairs of ``volumes`` that meet by a ``rule`` of the kernels, among those whose ``intervals`` do."""
    from choque.gpu import _kernels_sweep as kernels

    count = int(intervals.shape[0])
    if count < 2:
        return np.empty(0, np.uint64), 0
    keys, order, intervals = sort_intervals(session, intervals, sort)
    ends, segments = session.empty(count, np.int32), session.empty(count, np.int64)
    session.launch(kernels.find_ends, count, keys, order, intervals, ends, segments)
    sums = session.scan(segments)
    item_count = session.download_last(sums)
    if item_count > SEGMENTS_MOST:
        raise InvalidInput(
            f"{item_count:,} blocks of candidates are more than a device counts: nearly everything overlaps along the "
            "axis that is swept. Take the device 'cpu', which splits the sweep into tiles."
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
    """Ranges of items and of the pairs that they write: (first, last, first pair, last pair)."""
    if pair_count <= PAIRS_AT_ONCE:
        return [(0, item_count, 0, pair_count)]
    sums = session.download(places)
    spans = []
    first = written = 0
    while first < item_count:
        last = max(first + 1, int(np.searchsorted(sums, written + PAIRS_AT_ONCE, side="right")))
        spans.append((first, last, written, int(sums[last - 1])))
        first, written = last, int(sums[last - 1])
    return spans


def _filled(session: Session, shared: tuple[Any, ...], span: tuple[int, int, int, int]) -> Keys:
    """The sorted pairs of a range of items; ``shared`` is what all of them look at."""
    from choque.gpu import _kernels_sweep as kernels

    first, last, written, end = span
    pair_count = end - written
    if pair_count == 0:
        return np.empty(0, np.uint64)
    # The library sorts pairs of arrays between two halves; here the second one has nothing to say.
    pairs, dummies = session.empty(2 * pair_count, np.uint64), session.zeros(2 * pair_count, np.int32)
    session.launch(kernels.fill_pairs, last - first, *shared, first, session.warp.int64(written), pairs)
    session.sort(pairs, dummies, pair_count)
    keys: Keys = session.download(pairs[:pair_count])
    return keys
