"""The events of a run: which contacts began and which ended, and when."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from choque._core.pair_sets import difference, no_pairs
from choque._core.types import Pairs
from choque.world import StepReport, World

KEPT = 400
LISTED = 40
A_FRAME_MOST = 60
"""How many events of one frame are kept; all are counted."""


class Event(NamedTuple):
    """A contact that began or ended."""

    time: float
    frame: int
    began: bool
    first: int
    second: int


class Events:
    """Follows the contacts of a world from frame to frame."""

    def __init__(self) -> None:
        self._pairs: Pairs = no_pairs()
        self.latest: deque[Event] = deque(maxlen=KEPT)
        self.began_count = self.ended_count = 0

    def note(self, world: World, report: StepReport) -> None:
        """Compare the contacts of the latest step with those of the step before."""
        present = world.contacts().pairs
        change = difference(self._pairs, present)
        self._pairs = present
        self.began_count += len(change.began)
        self.ended_count += len(change.ended)
        for began, pairs in ((False, change.ended), (True, change.began)):
            for first, second in pairs[:A_FRAME_MOST].tolist():
                self.latest.append(Event(world.time, report.frame, began, first, second))

    def clear(self) -> None:
        """Forget what was."""
        self._pairs = no_pairs()
        self.latest.clear()
        self.began_count = self.ended_count = 0

    def html(self) -> str:
        """The latest events, newest first."""
        head = f"{self.began_count:,} contacts began, {self.ended_count:,} ended."
        if not self.latest:
            return f"<div>{head} Play, or step: they are listed here.</div>"
        rows = "".join(
            f'<tr style="color:{"#7bd88f" if event.began else "#ff8a8a"}"><td>{event.time:.3f} s</td>'
            f"<td>{event.frame}</td><td>{'began' if event.began else 'ended'}</td>"
            f"<td>{event.first} – {event.second}</td></tr>"
            for event in list(self.latest)[: -LISTED - 1 : -1]
        )
        return (
            f'<div>{head}</div><table style="width:100%;text-align:left"><tr><th>time</th><th>frame</th>'
            f"<th>event</th><th>bodies</th></tr>{rows}</table>"
        )
