"""Motion as a function of time: the kinetic sorted list, the kinetic sweep, and billiards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from choque._core.lazy import exporting

if TYPE_CHECKING:
    from choque.kinetic._billiards import Billiards
    from choque.kinetic._results import Collisions, Event, Events, Meeting, Meetings
    from choque.kinetic._sorted_list import SortedList
    from choque.kinetic._structure import Audit, Certificate
    from choque.kinetic._sweep import Sweep

__all__ = [
    "Audit",
    "Billiards",
    "Certificate",
    "Collisions",
    "Event",
    "Events",
    "Meeting",
    "Meetings",
    "SortedList",
    "Sweep",
]

__getattr__, __dir__ = exporting(
    __name__,
    __all__,
    {
        "._structure": "Audit Certificate",
        "._billiards": "Billiards",
        "._results": "Collisions Event Events Meeting Meetings",
        "._sorted_list": "SortedList",
        "._sweep": "Sweep",
    },
)
