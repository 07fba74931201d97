"""The four criteria of a kinetic data structure as numbers from a run, and whether its order and queue are sound.

After Basch, Guibas and Hershberger, "Data structures for mobile data", 1999.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from choque.kinetic import _events
from choque.kinetic._certificates import certify_all
from choque.kinetic._heap import Queue
from choque.kinetic._lists import Lists


@dataclass(frozen=True)
class Audit:
    """What a kinetic structure costs and whether it is sound."""

    responsive: float
    """Certificates scheduled for each exchange, on average; at most 2 for linear motions."""
    efficient: float
    """The share of exchanges that changed what is kept: the order of a list, the overlap of two bodies on an axis."""
    local: int
    """The most certificates in which one element of a list takes part; at most 2."""
    compact: int
    """Certificates that are due some day; fewer than one for each end point and axis."""
    stale: int
    """Certificates that are not those of the present neighbours; 0."""
    disorder: float
    """How far, at worst, a left neighbour is beyond its right one now: 0, or rounding."""


def audit(lists: Lists) -> Audit:
    """Examine ``lists`` at their present time. O(n)."""
    axes, count = lists.order.shape
    exchanges = int(lists.totals[_events.EXCHANGES])
    changing = int(lists.totals[_events.MIXED]) if lists.paired else exchanges
    scheduled = np.isfinite(lists.failures[: axes * count]).reshape(axes, count)
    beside = scheduled.astype(np.int64)
    beside[:, 1:] += scheduled[:, :-1]
    due, heap, place = lists.queue
    fresh = Queue(np.full(due.size, np.inf), np.empty_like(heap), np.empty_like(place))
    certify_all(lists.motion._replace(queue=fresh), lists.now)
    with np.errstate(invalid="ignore"):
        places = np.take_along_axis(lists.positions(), lists.order.astype(np.int64), axis=1)
        beyond = places[:, :-1] - places[:, 1:]
    return Audit(
        responsive=int(lists.totals[_events.SCHEDULED]) / max(exchanges, 1),
        efficient=changing / max(exchanges, 1),
        local=int(beside.max(initial=0)),
        compact=int(scheduled.sum()),
        stale=int((fresh.due[fresh.place] != np.maximum(lists.failures, lists.now)).sum()) if count else 0,
        disorder=float(np.nanmax(beyond, initial=0.0)),
    )
