"""The meetings of an instant: end points at one coordinate of one axis, and how they leave it.

Two tests tell a multiple meeting, of three or more end points, from a simple one. The *queue* test joins exchanges of
one time and axis that share an element. The *coordinate* test looks at where the neighbours of an exchange are. They
agree but for neighbours that touch without passing, and for rounding, which the tolerance of the second one covers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from choque.kinetic import _events
from choque.kinetic._lists import Lists


@dataclass(frozen=True)
class Meeting:
    """Two or more end points at one place of one axis at one time."""

    time: float
    axis: int
    first: int
    """The lowest slot of the axis that they take."""
    before: tuple[int, ...]
    """The end points in their order just before; 2·row and 2·row + 1 are the lower and upper end of a body."""
    after: tuple[int, ...]
    """The end points in their order just after."""
    exchanges: tuple[tuple[int, int], ...]
    """The pairs exchanged, (left, right) before, in the order in which it was done."""

    @property
    def last(self) -> int:
        """The highest slot of the axis that they take."""
        return self.first + len(self.after) - 1

    @property
    def is_multiple(self) -> bool:
        """Whether three or more meet."""
        return len(self.after) > 2


def meetings_of(lists: Lists) -> list[Meeting]:
    """The meetings of the instant that was just closed, by the queue test; by axis and slot."""
    axes, count = lists.order.shape
    rows = lists.instant[: lists.totals[_events.ROWS]]
    rows = rows[(rows[:, 0] >= 0) & (rows[:, 0] < axes * count)]
    if not len(rows):
        return []
    slots = np.unique(rows[:, 0])
    heads = np.flatnonzero(np.diff(slots, prepend=-2) > 1)
    meetings = []
    for begin, end in zip(slots[heads], slots[np.append(heads[1:] - 1, len(slots) - 1)], strict=True):
        axis, first = divmod(int(begin), count)
        own = rows[(rows[:, 0] >= begin) & (rows[:, 0] <= end)]
        after = lists.order[axis, first : int(end) - axis * count + 2].tolist()
        before = list(after)
        for certificate, left, right, _ in own[::-1].tolist():
            slot = certificate - int(begin)
            before[slot], before[slot + 1] = left, right
        exchanged = tuple((left, right) for left, right in own[:, 1:3].tolist())
        meetings.append(Meeting(float(lists.clock[1]), axis, first, tuple(before), tuple(after), exchanged))
    return meetings


def coordinate_run(lists: Lists, meeting: Meeting, tolerance: float = 0.0) -> tuple[int, int]:
    """The slots (first, last) whose end points are at the coordinate of ``meeting``: the coordinate test."""
    line = lists.order[meeting.axis]
    places = lists.positions(meeting.time)[meeting.axis]
    here = places[meeting.after[0]]
    first, last = meeting.first, meeting.last
    while first > 0 and abs(places[line[first - 1]] - here) <= tolerance:
        first -= 1
    while last + 1 < len(line) and abs(places[line[last + 1]] - here) <= tolerance:
        last += 1
    return first, last
