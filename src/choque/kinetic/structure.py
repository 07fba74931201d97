"""What kinetic structures share: the time, totals, certificates, and the audit of cost and soundness."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Self

import numpy as np

from choque._core.counters import Counters
from choque._core.threads import Gate, one_thread
from choque.kinetic import loop
from choque.kinetic.certificates import EMPTY, certify_all
from choque.kinetic.heap import Queue
from choque.kinetic.lists import Lists


@dataclass(frozen=True)
class Audit:
    """Cost and soundness of a kinetic structure: the four criteria of such structures, totals, and checks.

    After Basch, Guibas and Hershberger, "Data structures for mobile data", 1999.
    """

    responsive: float  #: Certificates scheduled by an exchange, on average; at most 2 for linear motions.
    efficient: float
    """The share of exchanges that changed what is kept: the order of a list, the overlap of two bodies on an axis."""
    local: int  #: The maximum number of certificates in which one element of a list takes part; at most 2.
    compact: int  #: Certificates that ever fail; fewer than one for each end point and axis.
    stale: int  #: Certificates that are not those of the present neighbours; 0 if the structure is sound.
    disorder: float  #: The maximum distance by which a left neighbour is beyond its right one now: 0, or rounding.
    simple: int  #: Meetings of two end points so far.
    multiple: int  #: Meetings of three or more end points at one coordinate and time so far.
    external: int
    """Exchanges so far of a lower and an upper end of two bodies, whose overlap on the axis changed with them."""
    bounces: int  #: Reflections at walls so far, each axis counted on its own.


def audit(lists: Lists) -> Audit:
    """Examine lists at the present time. O(n)."""
    axes, totals = len(lists.order), lists.totals
    exchanges = int(totals[loop.EXCHANGES])
    changing = int(totals[loop.MIXED]) if lists.paired else exchanges
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
        responsive=int(totals[loop.SCHEDULED]) / max(exchanges, 1),
        efficient=changing / max(exchanges, 1),
        local=int(beside.max(initial=0)),
        compact=int(scheduled.sum()),
        stale=int((fresh.due[fresh.place] != np.maximum(failures, lists.now)).sum()) if filled.size else 0,
        disorder=float(np.nanmax(beyond, initial=0.0)),
        simple=int(totals[loop.SIMPLE]),
        multiple=int(totals[loop.MULTIPLE]),
        external=int(totals[loop.MIXED]),
        bounces=int(totals[loop.BOUNCES]),
    )


@dataclass(frozen=True)
class Certificate:
    """The statement that two neighbours are in order, and the time at which it ceases to be true."""

    axis: int
    slot: int
    left: int  #: The end point, or point, in ``slot``.
    right: int  #: The end point, or point, in ``slot + 1``.
    time: float


class KineticStructure:
    """Sorted lists of moving end points behind a gate for one thread at a time."""

    def __init__(self, lists: Lists) -> None:
        self.lists = lists  # also for what is built on the structure
        self._gate = Gate()

    @property
    def time(self) -> float:
        """The present time."""
        return self.lists.now

    @property
    def next_time(self) -> float:
        """When the order changes next, or a body meets a wall; infinity if never."""
        return self.lists.next_time

    @property
    def counters(self) -> Counters:
        """Totals so far; a copy.

        ``exchanges`` counts pairs of end points that changed their order, ``events`` the instants on each axis at which
        that happened: a meeting of many end points is one. `audit` splits them further.
        """
        return self.lists.counters

    @one_thread
    def certificates(self) -> list[Certificate]:
        """Return all certificates that ever fail, by axis and slot."""
        lists = self.lists.dense()
        axes, count = lists.order.shape
        failures = lists.failures[: axes * count]
        found = []
        for number in np.flatnonzero(np.isfinite(failures)).tolist():
            axis, slot = divmod(number, count)
            left, right = lists.order[axis, slot : slot + 2].tolist()
            found.append(Certificate(axis, slot, left, right, float(failures[number])))
        return found

    @one_thread
    def audit(self) -> Audit:
        """Return the four criteria of kinetic data structures as numbers, and whether the structure is sound. O(n)."""
        return audit(self.lists)

    @one_thread
    def copy(self) -> Self:
        """Return an independent copy."""
        return copy.deepcopy(self)
