"""Kinetic sweep-and-prune: which boxes overlap, from when to when, while they move on known paths."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core import check
from choque._core.ids import Identities, no_body
from choque._core.threads import one_thread
from choque._core.types import F64, I32, Pairs, Rows
from choque.bounds import Boxes
from choque.broad import find
from choque.broad.index import BoxTable
from choque.errors import InvalidInput
from choque.kinetic import loop
from choque.kinetic._slots import ENDS, ROWS
from choque.kinetic.lists import Lists
from choque.kinetic.paths import as_time, paths_of, positions_at, velocities_at
from choque.kinetic.results import Events, Meetings
from choque.kinetic.run import run
from choque.kinetic.structure import KineticStructure

_FINDER = "sap-direct"  # the broad phase that finds the pairs in the ranks of the end points
_FEW = 8  # bodies come and go one by one if they are at most one of this many; otherwise the lists are built again
_NO_ROWS: Rows = np.empty(0, np.int64)
_STOPS = {"event": loop.EACH_EVENT, "instant": loop.EACH_INSTANT, "multiple": loop.EACH_MULTIPLE}


class Sweep(KineticStructure):
    """The overlapping pairs of moving boxes, followed from event to event.

    Parameters
    ----------
    lower, upper
        (n, 2) or (n, 3) the boxes at ``time``; row i gets id i. Infinite extents are legal.
    velocity, acceleration
        (n, d), or one row for all.
    closed
        True: boxes that touch overlap. False: they do not.
    time
        The time at which the boxes have these extents.
    tolerance
        Failures at most this much later than the first one of an instant belong to it; with 0 only equal times are one
        instant.

    Notes
    -----
    Guarantees: no frame rate, so no event is missed; every event once, ordered by time, then by pair, began before
    ended; failure times in closed form in float64; each pair of end points exchanged exactly as often as the true order
    changes. A touch of one instant began and ended at that instant if closed, and is no event if half-open. O(log n)
    for an exchange, nothing while nothing happens; 57 bytes for each end point and axis (228 for a body in 2D; half as
    much again once single bodies have been added), independent of the number of pairs, which are found in the ranks of
    the end points. k end points that meet at once take O(k) memory, and O(k log k) time beside the events, if they have
    equal accelerations; O(k²) memory otherwise.

    A change that fails leaves the sweep as it was; one that is interrupted has happened wholly or not at all. An
    interrupted `advance` stays at the time that it reached, and the next one returns the events up to there first. One
    object is for one thread at a time.

    After Coming and Staadt, "Kinetic Sweep and Prune for Multi-body Continuous Motion", 2006, with multiple events as
    in Moraga Aros's master's thesis, Universidad de Chile, 2019.

    Examples
    --------
    >>> sweep = Sweep([[0, 0], [4, 0]], [[1, 1], [5, 1]], velocity=[[1, 0], [0, 0]])
    >>> [(event.time, event.kind, event.pair) for event in sweep.advance(until=10)]
    [(3.0, 'began', (0, 1)), (5.0, 'ended', (0, 1))]
    """

    def __init__(
        self,
        lower: ArrayLike,
        upper: ArrayLike,
        velocity: ArrayLike,
        *,
        acceleration: ArrayLike | None = None,
        closed: bool = True,
        time: float = 0.0,
        tolerance: float = 0.0,
    ) -> None:
        now = as_time(time, "time")
        boxes = Boxes(lower, upper)
        paths = paths_of(boxes, velocity, acceleration, now)
        topology, joining = check.boolean(closed, "closed"), check.number(tolerance, "tolerance", 0)
        super().__init__(Lists(paths, closed=topology, paired=True, now=now, tolerance=joining))
        self._found: tuple[int, Pairs] | None = None  # the pairs, and the number of exchanges before them

    def __len__(self) -> int:
        return int(self.lists.size[ENDS]) // 2

    def __repr__(self) -> str:
        topology = "closed" if self.closed else "half-open"
        return f"<Sweep: {len(self)} bodies in {self.dimension}D, {topology}, at time {self.time:g}>"

    @property
    def closed(self) -> bool:
        """Whether boxes that touch overlap."""
        return self.lists.closed

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return int(self.lists.order.shape[0])

    @property
    def ids(self) -> I32:
        """(n,) the ids of the living bodies, ascending."""
        return self.lists.ids[self.lists.rows]

    @property
    def _identities(self) -> Identities:
        """The ids of all rows, those of removed bodies among them."""
        rows = self.lists.size[ROWS]
        return Identities(self.lists.ids[:rows], int(self.lists.ids[rows]))

    @property
    def byte_count(self) -> int:
        """The size of the structure [bytes]."""
        return self.lists.byte_count + self.lists.ids.nbytes

    @property
    def byte_counts(self) -> dict[str, int]:
        """The size of each structure [bytes]: paths, order, ranks, queue, walls, instant (the latest one), ids."""
        return {**self.lists.byte_counts, "ids": self.lists.ids.nbytes}

    @property
    def velocity(self) -> F64:
        """(n, d) the present velocities of the living bodies, in ascending id."""
        return np.ascontiguousarray(velocities_at(self.lists.dense_paths, self.time)[:, 0::2].T)

    @property
    def order(self) -> I32:
        """(d, 2 n) the end points of each axis in ascending order; 2 i is the lower, 2 i + 1 the upper end of row i.

        At the time of an event it is the order just after the exchange.
        """
        return np.array(self.lists.dense_order)

    @property
    def meetings(self) -> Meetings:
        """The end points that met at the latest instant and changed their order, by axis and slot.

        Empty before the first instant, after `add` and `remove`, and if bodies only bounced.
        """
        return self.lists.latest_meetings

    @one_thread
    def boxes(self) -> tuple[F64, F64]:
        """Return (lower, upper) of the living bodies now, each (n, d), in ascending id."""
        places = self.lists.positions()
        return np.ascontiguousarray(places[:, 0::2].T), np.ascontiguousarray(places[:, 1::2].T)

    @one_thread
    def pairs(self) -> Pairs:
        """Return all overlapping pairs of ids now, (m, 2) int32, sorted; at the time of an event, those just after."""
        age = int(self.lists.totals[loop.EXCHANGES])
        if self._found is None or self._found[0] != age:
            # As records, not as boxes: the lower end of a half-open box of size zero comes after its upper end.
            rows = self.lists.rows
            records = np.zeros((len(rows), 6))
            records[:, 0 : self.dimension] = self.lists.rank[:, 2 * rows].T
            records[:, 3 : 3 + self.dimension] = self.lists.rank[:, 2 * rows + 1].T
            found = find(_FINDER)().over(BoxTable(records, self.dimension, threads=1)).pairs()
            self._found = age, self.lists.ids[rows[found]]
        return self._found[1].copy()

    @one_thread
    def advance(self, until: float, *, stop: Literal["event", "instant", "multiple"] | None = None) -> Events:
        """Go to ``until`` and return the events on the way as arrays, which iterate as `Event`.

        Parameters
        ----------
        until
            The time to go to; events at this time are included.
        stop
            None goes to ``until``. Otherwise stop before it, after the first instant at which a pair begins or ends or
            a body bounces (``"event"``), at which anything happens (``"instant"``), or at which three or more end
            points meet (``"multiple"``).

        Notes
        -----
        The events are computed by the call: when a loop over them begins, the sweep is already at its new time, and
        changes of the sweep inside the loop do not change the events of the loop. An event of a body that the loop has
        removed therefore still comes. To react to events at their own times, stop at each of them::

            while sweep.next_time <= until:
                for event in sweep.advance(until, stop="event"):
                    ...
            sweep.advance(until)
        """
        end = as_time(until, "until", self.time)
        mode = loop.TO_THE_END if stop is None else _STOPS[check.choice(stop, "stop", _STOPS)]
        names = self._identities
        return run(self.lists, end, mode, None if names.are_rows else names.name)[0]

    @one_thread
    def set_velocity(self, ids: ArrayLike, velocity: ArrayLike, *, acceleration: ArrayLike | None = None) -> None:
        """Change the velocity of the bodies ``ids`` from now on, and the acceleration if it is given. O(log n) each."""
        rows = self._rows_of(ids)
        shape = (len(rows), self.dimension)
        speed = check.table(velocity, "velocity", shape)
        curve = None if acceleration is None else check.table(acceleration, "acceleration", shape) / 2.0
        ends = np.concatenate((2 * rows, 2 * rows + 1))

        def change() -> None:
            self.lists.release(rows)
            paths = self.lists.paths
            paths[:, ends, 0] = positions_at(paths[:, ends], self.time)
            paths[:, ends, 1] = np.tile(speed.T, 2)
            paths[:, ends, 3] = self.time
            if curve is not None:
                paths[:, ends, 2] = np.tile(curve.T, 2)

        self.lists.replan(ends, rows, change)

    @one_thread
    def add(
        self, lower: ArrayLike, upper: ArrayLike, velocity: ArrayLike, *, acceleration: ArrayLike | None = None
    ) -> I32:
        """Add bodies with these boxes at the present time and return their ids, which are never used again.

        Overlaps that exist already are in `pairs` at once and are not reported as events. O(log² n) for a body if few
        are added, amortised; O(n) if they are more than an eighth of those that are there.
        """
        boxes = Boxes(lower, upper)
        if boxes.dimension != self.dimension:
            raise InvalidInput(
                f"The boxes given are {boxes.dimension}D and this sweep is {self.dimension}D; they must be alike."
            )
        arriving = paths_of(boxes, velocity, acceleration, self.time)
        if self.lists.walls.size:
            _check_inside(boxes.lower, boxes.upper, self.lists.walls)
        following = self._identities.following
        self._found = None
        are_few = _FEW * len(boxes) <= len(self)
        if not (are_few and self.lists.insert(arriving)):
            self.lists = self.lists.rebuilt(arriving, _NO_ROWS, room=are_few)
        return np.arange(following, following + len(boxes), dtype=np.int32)

    @one_thread
    def remove(self, ids: ArrayLike) -> None:
        """Remove the bodies ``ids`` and their pairs, without events. O(log² n) for each; O(n) if they are many."""
        rows = self._rows_of(ids)
        self._found = None
        if not (_FEW * len(rows) <= len(self) and self.lists.remove(rows)):
            self.lists = self.lists.rebuilt(self.lists.paths[:, :0], rows, room=False)

    @one_thread
    def bounce(self, lower: ArrayLike, upper: ArrayLike) -> None:
        """Put walls around the bodies, which reverse the velocity of a body on that axis from now on.

        ``lower`` and ``upper`` are (d,), infinite for no wall. A body that its acceleration presses against a wall, and
        that would rise from it by less than the rounding of its coordinates, rests there until `set_velocity` gives it
        another velocity or `bounce` puts the walls elsewhere; it keeps its acceleration meanwhile.
        """
        walls = _as_walls(lower, upper, self.dimension)
        _check_inside(*self.boxes(), walls)
        self.lists = self.lists.enclosed(walls)

    @one_thread
    def heap(self) -> tuple[F64, I32]:
        """Return the queue in heap order: the failure time of every certificate, and its number.

        The parent of place k is at (k − 1) // 2 and fails no later; the certificate that fails next is at place 0. The
        number of a certificate is axis × 2 n + slot; those of walls, if there are any, follow as axis × n + row. A time
        of infinity means never.
        """
        queue = self.lists.dense().queue
        return queue.due.copy(), queue.heap.copy()

    def _rows_of(self, ids: ArrayLike) -> Rows:
        """Return the rows of living bodies."""
        rows = self._identities.rows_of(ids)
        gone = rows[~self.lists.alive[rows]]
        if gone.size:
            raise no_body(int(self.lists.ids[gone[0]]))
        return rows


def _as_walls(lower: ArrayLike, upper: ArrayLike, dimension: int) -> F64:
    walls = np.empty((2, dimension))
    for row, (name, values) in enumerate((("lower of the walls", lower), ("upper of the walls", upper))):
        given = check.shape(check.floats(values, name), name, (dimension,), "sweep")
        walls[row] = check.numbers(given, name)  # infinite where there is no wall
    if not (walls[0] < walls[1]).all():
        raise InvalidInput(
            f"The walls {walls[0].tolist()} and {walls[1].tolist()} leave no space; lower must be below upper."
        )
    return walls


def _check_inside(lower: NDArray[np.floating], upper: NDArray[np.floating], walls: F64) -> None:
    space = walls[1] - walls[0]
    with np.errstate(invalid="ignore"):  # of boxes at infinity
        is_smaller = (upper - lower < space * (1.0 - 1e-9)) | np.isinf(space)
    fits = (lower >= walls[0]) & (upper <= walls[1]) & is_smaller
    if not fits.all():
        row = int(np.flatnonzero(~fits.all(axis=1))[0])
        raise InvalidInput(
            f"The body in row {row}, from {lower[row].tolist()} to {upper[row].tolist()}, must lie within the walls "
            f"{walls[0].tolist()} and {walls[1].tolist()} and be smaller than the space between them."
        )
