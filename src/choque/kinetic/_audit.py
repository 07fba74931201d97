"""Cost and soundness of kinetic structures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from choque.kinetic import _events
from choque.kinetic._certificates import EMPTY, certify_all
from choque.kinetic._heap import Queue
from choque.kinetic._lists import Lists


@dataclass(frozen=True)
class Audit:
    """Cost and soundness of a kinetic structure: the four criteria of such structures, totals, and checks.

    After Basch, Guibas and Hershberger, "Data structures for mobile data", 1999.
    """

    responsive: float
    """Certificates scheduled by an exchange, on average; at most 2 for linear motions."""
    efficient: float
    """The share of exchanges that changed what is kept: the order of a list, the overlap of two bodies on an axis."""
    local: int
    """The maximum number of certificates in which one element of a list takes part; at most 2."""
    compact: int
    """Certificates that ever fail; fewer than one for each end point and axis."""
    stale: int
    """Certificates that are not those of the present neighbours; 0 if the structure is sound."""
    disorder: float
    """The maximum distance by which a left neighbour is beyond its right one now: 0, or rounding."""
    simple: int
    """Meetings of two end points so far."""
    multiple: int
    """Meetings of three or more end points at one coordinate and time so far."""
    external: int
    """Exchanges so far of a lower and an upper end of two bodies, whose overlap on the axis changed with them."""
    bounces: int
    """Reflections at walls so far, each axis counted on its own."""


def audit(lists: Lists) -> Audit:
    """Examine lists at the present time. O(n)."""
    axes, totals = len(lists.order), lists.totals
    exchanges = int(totals[_events.EXCHANGES])
    changing = int(totals[_events.MIXED]) if lists.paired else exchanges
    failures, filled = lists.failures, (lists.order != EMPTY).ravel()
    scheduled = np.isfinite(failures[: filled.size][filled]).reshape(axes, -1)
    beside = scheduled.astype(np.int64)
    beside[:, 1:] += scheduled[:, :-1]
    due, heap, place = lists.queue
    fresh = Queue(np.full(due.size, np.inf), np.empty_like(heap), np.empty_like(place))
    certify_all(lists.motion._replace(queue=fresh), lists.now)
    with np.errstate(invalid="ignore"):
        places = np.take_along_axis(lists.positions(), lists.dense_order.astype(np.int64), axis=1)
        beyond = places[:, :-1] - places[:, 1:]
    return Audit(
        responsive=int(totals[_events.SCHEDULED]) / max(exchanges, 1),
        efficient=changing / max(exchanges, 1),
        local=int(beside.max(initial=0)),
        compact=int(scheduled.sum()),
        stale=int((fresh.due[fresh.place] != np.maximum(failures, lists.now)).sum()) if filled.size else 0,
        disorder=float(np.nanmax(beyond, initial=0.0)),
        simple=int(totals[_events.SIMPLE]),
        multiple=int(totals[_events.MULTIPLE]),
        external=int(totals[_events.MIXED]),
        bounces=int(totals[_events.BOUNCES]),
    )
