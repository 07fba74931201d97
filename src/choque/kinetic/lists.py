"""Sorted lists of moving end points, one for each axis, with one queue: the state of every kinetic structure.

`choque.kinetic.run` advances it in time.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Self

import numpy as np

from choque._core.counters import Counters
from choque._core.types import F64, I32, I64
from choque.kinetic import loop
from choque.kinetic._crowds import Crowd, list_exchanges
from choque.kinetic._slots import ENDS, FULL, Stock, insert_bodies, remove_bodies
from choque.kinetic.certificates import EMPTY, MovingEnds, Paths, certify_all, certify_ends
from choque.kinetic.heap import Queue, build
from choque.kinetic.paths import initial_order, insertion_turns, merged_order, positions_at
from choque.kinetic.results import Events, Meetings, join_exchanges

_FIRST_ROWS = 1 << 6  # size of the first buffer of the exchanges of one instant


class Lists:
    """The order of moving end points on every axis, kept by certificates.

    Rows of bodies that were removed are not used again, and slots between end points may be empty (`_slots`), so that
    few bodies come and go at little cost; `rebuilt` closes the gaps.

    ``closed`` is the topology, ``paired`` whether the ends are the lower and upper ends of bodies, two each. The time
    begins at ``now``. Failures at most ``tolerance`` later than the first one of an instant belong to it. ``order``
    (axes, ends) is the present order, if it is known.

    Guarantees: each slot has one certificate, always that of its present neighbours; 56 bytes for each end point. An
    exchange costs O(log n).
    """

    def __init__(
        self, paths: Paths, *, closed: bool, paired: bool, now: float, tolerance: float = 0.0, order: I32 | None = None
    ) -> None:
        self.closed, self.paired, self.tolerance = closed, paired, tolerance
        self.totals: I64 = np.zeros(loop.TOTALS, np.int64)
        self.clock = np.array([now, now])
        self.walls: F64 = np.empty((0, 0))
        self.pressed: F64 = np.empty((0, 0))
        self.instant: I64 = np.empty((_FIRST_ROWS, 4), np.int64)
        self.picks: I64 = np.empty(_FIRST_ROWS, np.int64)
        self.peak_bytes = 0
        self.undelivered: list[Events] = []  # events that an interrupted call found and could not return
        self.crowd: tuple[Crowd, int] | None = None  # the latest instant if it was sorted, and the instants until then
        # (bodies + 1,) the id of the body in each row; behind the rows in use, the ids of those that come next
        self.ids: I32 = np.arange(paths.shape[1] // 2 + 1, dtype=np.int32)
        self._replace(paths, initial_order(paths, closed, now) if order is None else order, 0)

    def _replace(self, paths: Paths, order: I32, spare: int) -> None:
        """Continue with other end points, in their present ``order`` (axes, ends), with room for ``spare`` more."""
        axes, count = order.shape
        slots = count + spare
        self.paths = np.concatenate((paths, np.zeros((axes, spare, 4))), axis=1) if spare else paths
        self.alive = np.arange(slots // 2) < count // 2
        self.size: I64 = np.array([count // 2, count, 0])
        self.order, self.rank = laid_out(order, slots, slots)
        self._forget_instant()
        self._schedule_all()

    def _schedule_all(self) -> None:
        """Schedule every certificate."""
        curves = self.paths[:, _filled(self.order[0]), 2]
        self.common = curves[:, :1].copy()
        enclosed = self.walls.size and (curves.any() or self.pressed.any())
        self.curved = bool(enclosed or (curves != self.common).any())
        self.queue = self._new_queue(self.order)
        self.peak_bytes = max(self.peak_bytes, self.byte_count)
        certify_all(self.motion, self.now)

    def _new_queue(self, order: I32) -> Queue:
        """Return a queue without failures for the slots of ``order``, and for the walls."""
        certificates = max(order.size + (order.shape[0] * (self.rank.shape[1] // 2) if self.walls.size else 0), 1)
        return Queue(np.full(certificates, np.inf), np.empty(certificates, np.int32), np.empty(certificates, np.int32))

    def enclosed(self, walls: F64) -> Self:
        """Return lists with walls (2, axes) around the bodies in place of those that are there."""
        changed = copy.copy(self)
        if self.pressed.any():
            changed.paths, changed.pressed = self.paths.copy(), self.pressed.copy()
            changed.release(np.arange(self.rank.shape[1] // 2))
        changed.walls, changed.pressed = walls, np.zeros((self.order.shape[0], self.rank.shape[1] // 2))
        changed._schedule_all()
        return changed

    def insert(self, arriving: Paths) -> bool:
        """Insert bodies with these paths (axes, ends, 4), at present; return False if there is no room for them."""
        count = arriving.shape[1]
        rows, ends = self.size[: ENDS + 1].tolist()
        if 2 * rows + count > self.rank.shape[1] or ends + count > FULL * self.order.shape[1]:
            return False
        turns = insertion_turns(arriving, self.closed, self.now)
        curves = arriving[:, :, 2]
        self.curved = self.curved or bool((curves != self.common).any() or (self.walls.size and curves.any()))
        self._forget_instant()
        insert_bodies(arriving, turns, self.motion, self._stock(), self.now)
        return True

    def remove(self, rows: I64) -> bool:
        """Remove the bodies in these rows; return False if too few would be left for the slots."""
        if 3 * (int(self.size[ENDS]) - 2 * len(rows)) < self.order.shape[1]:
            return False
        self._forget_instant()
        remove_bodies(rows, self.motion, self._stock(), self.now)
        return True

    def rebuilt(self, arriving: Paths, leaving: I64, *, room: bool) -> Self:
        """Return lists without the bodies in the rows ``leaving``, with others behind, and ``room`` for few more."""
        alive = self.alive.copy()
        alive[leaving] = False
        ends = np.repeat(alive, 2) if self.paired else np.ones(self.rank.shape[1], bool)
        numbers = np.cumsum(ends, dtype=np.int32) - np.int32(1)
        lines = [_filled(line) for line in self.order]
        order = np.array([numbers[line[ends[line]]] for line in lines], np.int32).reshape(len(lines), -1)
        paths = np.ascontiguousarray(self.paths[:, ends])
        if arriving.shape[1]:
            order = merged_order(paths, order, arriving, self.closed, self.now)
            paths = np.concatenate((paths, arriving), axis=1)
        spare = paths.shape[1] // 4 * 2 if room else 0
        changed = copy.copy(self)
        changed.totals = self.totals.copy()
        if self.pressed.size:
            changed.pressed = np.zeros((len(order), (paths.shape[1] + spare) // 2))
            changed.pressed[:, : alive.sum()] = self.pressed[:, alive]
        following = self.ids[self.size[0]]
        coming = np.arange(following, following + (arriving.shape[1] + spare) // 2 + 1, dtype=np.int32)
        changed.ids = np.concatenate((self.ids[:-1][alive], coming))
        changed._replace(paths, order, spare)
        return changed

    def dense(self) -> Self:
        """Return the lists without empty slots and rows."""
        return self if self.is_dense else self.rebuilt(self.paths[:, :0], np.empty(0, np.int64), room=False)

    def _forget_instant(self) -> None:
        """Forget the latest instant, which was about other end points."""
        self.totals[loop.ROWS] = 0
        self.crowd = None

    def _stock(self) -> Stock:
        slots = self.order.shape[1]
        return Stock(self.size, self.alive, np.empty(slots, np.int32), np.empty(slots))

    @property
    def rows(self) -> I64:
        """The rows of the living bodies, ascending."""
        return np.flatnonzero(self.alive)

    @property
    def is_dense(self) -> bool:
        """Whether no slot and no row is empty."""
        return bool(self.size[ENDS] == self.order.shape[1] == self.rank.shape[1])

    @property
    def numbers(self) -> I32:
        """(ends,) the number of each living end point, counted by the rows of the living alone."""
        return np.cumsum(np.repeat(self.alive, 2), dtype=np.int32) - np.int32(1)

    @property
    def dense_order(self) -> I32:
        """(axes, ends) the living end points in ascending order, by number."""
        return self.order if self.is_dense else self.numbers[np.array([_filled(line) for line in self.order])]

    @property
    def dense_paths(self) -> Paths:
        """(axes, ends, 4) the paths of the living end points, by number."""
        return self.paths if self.is_dense else self.paths[:, np.repeat(self.alive, 2)]

    def close_gaps(self) -> None:
        """Leave no slot empty; rows stay as they are."""
        axes, slots = self.order.shape
        lines = np.array([_filled(line) for line in self.order])
        order, rank = laid_out(lines, lines.shape[1], self.rank.shape[1])
        queue, failures = self._new_queue(order), self.failures
        queue.due[: order.size] = failures[: axes * slots][self.order.ravel() != EMPTY]
        queue.due[order.size :] = failures[axes * slots :]
        build(queue)
        instant = self.instant.copy()
        rows = instant[: self.totals[loop.ROWS]]
        certificates = rows[:, loop.CERTIFICATE]
        passed = certificates >= 0
        moved = self._dense_certificates(np.where(passed, certificates, ~certificates))
        certificates[:] = np.where(passed, moved, ~moved)
        vars(self).update(order=order, rank=rank, queue=queue, instant=instant)  # all at once

    def release(self, rows: I64) -> None:
        """Return their accelerations, from now on, to the bodies of these rows that rest at walls."""
        if not self.pressed.size:
            return
        axes, chosen = np.nonzero(self.pressed[:, rows])
        pressing = self.pressed[axes, rows[chosen]]
        for side in range(2):
            ends = 2 * rows[chosen] + side
            self.paths[axes, ends, 2], self.paths[axes, ends, 3] = pressing, self.now
        self.pressed[axes, rows[chosen]] = 0.0

    def schedule(self, ends: I64) -> None:
        """Schedule the certificates of these end points, which have new paths from their present positions on."""
        curves = self.paths[:, ends, 2]
        self.curved = self.curved or bool((curves != self.common).any() or (self.walls.size and curves.any()))
        certify_ends(ends, self.motion, self.now)

    def replan(self, ends: I64, rows: I64, change: Callable[[], None]) -> None:
        """Let ``change`` write other paths for ``ends``, of the bodies ``rows``, and schedule them; wholly or not."""
        before = self.paths[:, ends].copy(), self.pressed[:, rows].copy() if self.pressed.size else None, self.curved
        try:
            change()
            self.schedule(ends)
        except BaseException:
            self.paths[:, ends] = before[0]
            if before[1] is not None:
                self.pressed[:, rows] = before[1]
            self.schedule(ends)
            self.curved = before[2]
            raise

    def _dense_certificates(self, certificates: I64) -> I64:
        """Return the numbers that certificates have where no slot is empty."""
        filled = (self.order != EMPTY).ravel()
        before = np.append(np.cumsum(filled) - filled, 0)  # those of all axes before it, too
        shift = self.order.size - np.count_nonzero(filled)
        is_wall = certificates >= self.order.size
        return np.where(is_wall, certificates - shift, before[np.where(is_wall, -1, certificates)])

    @property
    def motion(self) -> MovingEnds:
        """The end points, as kernels take them."""
        settings = self.closed, self.paired, self.curved
        return MovingEnds(self.paths, self.order, self.rank, self.walls, self.pressed, self.queue, *settings)

    @property
    def journal(self) -> loop.Journal:
        """The time, the totals and the latest instant, as kernels take them."""
        return loop.Journal(self.clock, self.totals, self.instant, self.picks)

    @property
    def failures(self) -> F64:
        """The failure times of all certificates by number: axis × ends + slot, then axis × bodies + row for walls."""
        return self.queue.due[self.queue.place] if self.order.size else self.queue.due

    @property
    def now(self) -> float:
        """The present time."""
        return float(self.clock[0])

    @property
    def next_time(self) -> float:
        """The time of the next instant; infinity if there is none."""
        return float(self.queue.due[0])

    @property
    def counters(self) -> Counters:
        """The totals so far."""
        return Counters(
            events=int(self.totals[loop.INSTANTS]),
            exchanges=int(self.totals[loop.EXCHANGES]),
            peak_bytes=self.peak_bytes,
        )

    @property
    def latest_meetings(self) -> Meetings:
        """The meetings of the latest instant: exchanges of one axis whose slots are neighbours."""
        if self.crowd is not None and not self.totals[loop.ROWS]:
            crowd, instants = self.crowd
            if instants == self.totals[loop.INSTANTS]:
                line = np.empty(self.order.shape[1], np.int64)
                rows = np.empty((list_exchanges(crowd, np.empty((0, 3), np.int64), line), 3), np.int64)
                list_exchanges(crowd, rows, line)
                return self._joined(rows)
        rows = self.instant[: self.totals[loop.ROWS], : loop.PAIR]
        certificates = rows[:, loop.CERTIFICATE]
        return self._joined(rows[(certificates >= 0) & (certificates < self.order.size)])

    def _joined(self, rows: I64) -> Meetings:
        """Return exchanges (certificate, left, right) of the latest instant as meetings of living end points."""
        if not self.is_dense:
            rows = np.column_stack((self._dense_certificates(rows[:, 0]), self.numbers[rows[:, 1:]]))
        return join_exchanges(np.full(len(rows), self.clock[1]), rows, int(self.size[ENDS]))

    def grow_instant(self) -> None:
        """Double the buffer of the exchanges of one instant."""
        self.resize_instant(2 * len(self.instant))

    def resize_instant(self, size: int) -> None:
        """Give the buffer of the exchanges of one instant another size."""
        instant = np.concatenate((self.instant[:size], np.empty((max(size - len(self.instant), 0), 4), np.int64)))
        self.instant, self.picks = instant, np.empty(size, np.int64)
        self.peak_bytes = max(self.peak_bytes, self.byte_count)

    def positions(self, time: float | None = None) -> F64:
        """Return the positions (axes, ends) of the living end points at ``time``, by default now."""
        return positions_at(self.dense_paths, self.now if time is None else time)

    @property
    def byte_count(self) -> int:
        """The size of all arrays [bytes]."""
        return sum(self.byte_counts.values())

    @property
    def byte_counts(self) -> dict[str, int]:
        """The size of each structure [bytes]."""
        crowd = () if self.crowd is None else self.crowd[0][:2]
        structures = {
            "paths": (self.paths, self.common, self.alive),
            "order": (self.order,),
            "ranks": (self.rank,),
            "queue": tuple(self.queue),
            "walls": (self.walls, self.pressed),
            "instant": (self.instant, self.picks, self.clock, self.totals, *crowd),
        }
        return {name: sum(each.nbytes for each in arrays) for name, arrays in structures.items()}


def laid_out(order: I32, slots: int, ends: int) -> tuple[I32, I32]:
    """Return ``order`` spread evenly over ``slots``, and the slot (axes, ends) of each end point."""
    axes, count = order.shape
    spots = np.arange(count) * slots // max(count, 1)
    spread, rank = np.full((axes, slots), EMPTY, np.int32), np.zeros((axes, ends), np.int32)
    for axis, line in enumerate(order):
        spread[axis, spots], rank[axis, line] = line, spots
    return spread, rank


def _filled(line: I32) -> I32:
    """Return the end points of one axis, in order."""
    ends: I32 = line[line != EMPTY]
    return ends
