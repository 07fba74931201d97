"""Worlds of rigid bodies: the state as arrays, the steps and their reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from choque._core.lazy import exporting

if TYPE_CHECKING:
    from choque.world._queries import Hits
    from choque.world._world import World
    from choque.world.bodies import Bodies
    from choque.world.bounds import bounds_names
    from choque.world.report import StepReport

__all__ = ["Bodies", "Hits", "StepReport", "World", "bounds_names"]

__getattr__, __dir__ = exporting(
    __name__,
    __all__,
    {"._queries": "Hits", "._world": "World", ".bodies": "Bodies", ".bounds": "bounds_names", ".report": "StepReport"},
    ("World", "bounds.mean_row-"),
)
