"""Motion as a function of time: trajectories, the kinetic sorted list, the kinetic sweep, and what is built on them."""

from __future__ import annotations

from choque.kinetic._audit import Audit
from choque.kinetic._billiards import Billiards, Collision
from choque.kinetic._contacts import Contact, contacts
from choque.kinetic._lists import News
from choque.kinetic._meetings import Meeting
from choque.kinetic._sorted_list import Certificate, SortedList
from choque.kinetic._sweep import Counters, Event, Sweep
from choque.kinetic._trajectories import Trajectory, constant, linear, quadratic

__all__ = [
    "Audit",
    "Billiards",
    "Certificate",
    "Collision",
    "Contact",
    "Counters",
    "Event",
    "Meeting",
    "News",
    "SortedList",
    "Sweep",
    "Trajectory",
    "constant",
    "contacts",
    "linear",
    "quadratic",
]
