"""Paths of end points as arrays: made from boxes, looked at, and put in order."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from choque._core import check
from choque._core.types import F64, I32
from choque.bounds import Boxes
from choque.errors import InvalidInput
from choque.kinetic.certificates import Paths


def paths_of(boxes: Boxes, velocity: ArrayLike, acceleration: ArrayLike | None, now: float) -> Paths:
    """Return the paths (d, 2n, 4) of both ends of all boxes."""
    shape = boxes.lower.shape
    paths = np.empty((shape[1], 2 * shape[0], 4))
    paths[:, 0::2, 0], paths[:, 1::2, 0] = boxes.lower.T, boxes.upper.T
    paths[:, :, 1] = np.repeat(check.table(velocity, "velocity", shape), 2, axis=0).T
    curve = 0.0 if acceleration is None else check.table(acceleration, "acceleration", shape) / 2.0
    paths[:, :, 2] = np.repeat(np.broadcast_to(curve, shape), 2, axis=0).T
    paths[:, :, 3] = now
    return paths


def positions_at(paths: Paths, time: float) -> F64:
    """Return the positions (axes, ends) of the end points at ``time``."""
    step = time - paths[:, :, 3]
    places: F64 = paths[:, :, 0] + (paths[:, :, 1] + paths[:, :, 2] * step) * step
    return places


def velocities_at(paths: Paths, time: float) -> F64:
    """Return the velocities (axes, ends) of the end points at ``time``."""
    speeds: F64 = paths[:, :, 1] + 2.0 * paths[:, :, 2] * (time - paths[:, :, 3])
    return speeds


def initial_order(paths: Paths, closed: bool, now: float) -> I32:
    """Return the order (axes, ends) at ``now``: by position, topology, velocity and acceleration."""
    places, speeds = positions_at(paths, now), velocities_at(paths, now)
    side = np.arange(paths.shape[1]) & 1
    side = side if closed else 1 - side
    order = [np.lexsort((paths[axis, :, 2], speeds[axis], side, places[axis])) for axis in range(len(paths))]
    return np.array(order, np.int32).reshape(paths.shape[:2])


def merged_order(paths: Paths, order: I32, arriving: Paths, closed: bool, now: float) -> I32:
    """Return ``order`` with the ends ``arriving``, numbered from those of ``paths`` on; the others keep theirs.

    Closed: a lower end goes before all ends at its position, an upper one behind them; half-open: the reverse.
    """
    places, first = positions_at(paths, now), paths.shape[1]
    merged = []
    for axis, (line, new) in enumerate(zip(order, initial_order(arriving, closed, now), strict=True)):
        present = np.maximum.accumulate(places[axis][line]) if len(line) else np.empty(0)
        before = np.searchsorted(present, arriving[axis, new, 0], "left")
        behind = np.searchsorted(present, arriving[axis, new, 0], "right")
        spots = np.where((new & 1 == 0) == closed, before, behind)
        merged.append(np.insert(line, spots, new + np.int32(first)))
    return np.array(merged, np.int32)


def insertion_turns(arriving: Paths, closed: bool, now: float) -> I32:
    """Return the ends ``arriving`` (axes, ends) in the order in which they are inserted one by one.

    Those that go before all ends at their position come first, from right to left; the others from left to right.
    """
    turns = []
    for line in initial_order(arriving, closed, now):
        goes_before = (line & 1 == 0) == closed
        turns.append(np.concatenate((line[goes_before][::-1], line[~goes_before])))
    return np.array(turns, np.int32)


def as_time(value: Any, name: str, earliest: float | None = None) -> float:
    """Return ``value`` as a finite time, not before ``earliest``."""
    time = value if type(value) is float and math.isfinite(value) else check.number(value, name)
    if earliest is not None and time < earliest:
        raise InvalidInput(
            f"{name} is {time!r}, before the present time {earliest!r}; kinetic structures only go forward."
        )
    return time
