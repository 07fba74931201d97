"""Motion as a function of time: the kinetic sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING

from choque._core.lazy import exporting

if TYPE_CHECKING:
    from choque.kinetic._sweep import Sweep
    from choque.kinetic.results import Event, Events

__all__ = ["Event", "Events", "Sweep"]

__getattr__, __dir__ = exporting(__name__, __all__, {".results": "Event Events", "._sweep": "Sweep"})
