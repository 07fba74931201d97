"""Motion as a function of time: the kinetic sorted list, the kinetic sweep, contacts of polygons, and billiards.

`choque.kinetic.labels` makes contact tables of labelled images.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from choque._core.lazy import exporting

if TYPE_CHECKING:
    from choque.kinetic._audit import Audit
    from choque.kinetic._billiards import Billiards
    from choque.kinetic._contacts import ContactSpan, contacts
    from choque.kinetic._results import Collisions, Event, Events, Meeting, Meetings
    from choque.kinetic._sorted_list import Certificate, SortedList, Trajectory
    from choque.kinetic._sweep import Sweep

__all__ = [
    "Audit",
    "Billiards",
    "Certificate",
    "Collisions",
    "ContactSpan",
    "Event",
    "Events",
    "Meeting",
    "Meetings",
    "SortedList",
    "Sweep",
    "Trajectory",
    "contacts",
]

_HOMES = {
    "Audit": "_audit",
    "Billiards": "_billiards",
    "Certificate": "_sorted_list",
    "Collisions": "_results",
    "ContactSpan": "_contacts",
    "Event": "_results",
    "Events": "_results",
    "Meeting": "_results",
    "Meetings": "_results",
    "SortedList": "_sorted_list",
    "Sweep": "_sweep",
    "Trajectory": "_sorted_list",
    "contacts": "_contacts",
}

__getattr__ = exporting(__name__, {name: f"{__name__}.{home}" for name, home in _HOMES.items()})
