"""The state of moving polygons at one time: shapes, pairs, the sorted lists and the queue of events."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from choque._core.types import Pairs
from choque.kinetic import Sweep
from choque.theses.kinetic import Model

AXIS_NAMES = "xy"
QUEUE_SHOWN = 12
"""Maximum number of next events in a state."""


@dataclass(frozen=True)
class AxisList:
    """The end points of all boxes on one axis, in ascending order."""

    axis: int
    ends: NDArray[np.int32]
    """(2n,): 2·row and 2·row + 1 are the lower and the upper end of an object."""
    position: NDArray[np.float64]
    """(2n,) positions, in the order of the list."""
    velocity: NDArray[np.float64]
    due: NDArray[np.float64]
    """(2n,) when the certificate "not right of the next" fails; infinity for never, and for the last end."""


@dataclass(frozen=True)
class Planned:
    """A certificate that will fail: an event of the queue."""

    time: float
    axis: int
    slot: int
    left: int
    """The end point that catches up with …"""
    right: int
    """… this one."""
    closing_speed: float
    overlaps_elsewhere: bool
    """Whether the two objects overlap now on the other axis."""

    @property
    def effect(self) -> int:
        """The effect of the exchange on its axis: 1 the two objects begin to overlap, −1 they cease to, 0 neither."""
        if (self.left ^ self.right) & 1 == 0 or self.left >> 1 == self.right >> 1:
            return 0
        return 1 if self.left & 1 else -1

    @property
    def objects(self) -> tuple[int, int]:
        """The two objects, the smaller number first."""
        first, second = sorted((self.left >> 1, self.right >> 1))
        return first, second


@dataclass(frozen=True)
class MotionState:
    """Everything that the motion view shows at one time."""

    time: float
    polygons: list[NDArray[np.float64]]
    """(k, 2) vertices of each object."""
    lower: NDArray[np.float64]
    """(n, 2) of the boxes."""
    upper: NDArray[np.float64]
    velocity: NDArray[np.float64]
    pairs: Pairs
    """(m, 2) objects whose boxes overlap."""
    lists: tuple[AxisList, ...]
    queue: list[Planned]
    """The next events until the end of the interval, the first `QUEUE_SHOWN` of them, by time, axis and slot."""
    queue_length: int
    """The number of next events."""

    @property
    def colliding(self) -> NDArray[np.bool_]:
        """(n,) which objects are in a pair."""
        found = np.zeros(len(self.polygons), np.bool_)
        found[self.pairs.ravel()] = True
        return found


def state_of(model: Model, sweep: Sweep) -> MotionState:
    """Read the state of ``sweep``, which runs over ``model``. O(n log n)."""
    lower, upper = sweep.boxes()
    velocity = sweep.velocity
    orders = sweep.order
    count = 2 * len(model)
    due = np.full((len(orders), count), np.inf)
    for certificate in sweep.certificates():
        due[certificate.axis, certificate.slot] = certificate.time
    position = np.stack((lower, upper), axis=1).reshape(count, len(orders))
    speed = np.repeat(velocity, 2, axis=0)
    lists = tuple(
        AxisList(axis, order, position[order, axis], speed[order, axis], due[axis]) for axis, order in enumerate(orders)
    )
    queue, length = _queue(lists, model.interval[1])
    polygons = [np.asarray(polygon) for polygon in model.polygons_at(sweep.time)]
    return MotionState(sweep.time, polygons, lower, upper, velocity, sweep.pairs(), lists, queue, length)


def _queue(lists: tuple[AxisList, ...], end: float) -> tuple[list[Planned], int]:
    due = np.concatenate([line.due for line in lists])
    count = len(lists[0].due)
    rows = np.flatnonzero(due <= end)
    first = rows[np.argsort(due[rows], kind="stable")][:QUEUE_SHOWN]
    ranks = [np.argsort(line.ends) for line in lists]
    planned = []
    for row in first.tolist():
        axis, slot = divmod(row, count)
        line = lists[axis]
        left, right = line.ends[slot : slot + 2].tolist()
        closing = float(line.velocity[slot] - line.velocity[slot + 1])
        elsewhere = all(_overlap(ranks[other], left >> 1, right >> 1) for other in range(len(lists)) if other != axis)
        planned.append(Planned(float(due[row]), axis, slot, left, right, closing, elsewhere))
    return planned, len(rows)


def _overlap(rank: NDArray[np.intp], one: int, two: int) -> bool:
    """Return whether two objects overlap on an axis, by the ranks of their ends, as the sweep does."""
    return bool(rank[2 * one] < rank[2 * two + 1] and rank[2 * two] < rank[2 * one + 1])
