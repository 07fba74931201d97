"""Motion as a function of time: the kinetic sweep, and billiards on top of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from choque._core.lazy import exporting

if TYPE_CHECKING:
    from choque.kinetic._billiards import Billiards
    from choque.kinetic._sweep import Sweep
    from choque.kinetic.results import Collisions, Event, Events

__all__ = ["Billiards", "Collisions", "Event", "Events", "Sweep"]

__getattr__, __dir__ = exporting(
    __name__, __all__, {"._billiards": "Billiards", ".results": "Collisions Event Events", "._sweep": "Sweep"}
)
