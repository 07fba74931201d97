"""Direct, incremental and kinetic sweep-and-prune of moving polygons: H. M. Moraga Aros, Universidad de Chile, 2019.

The master's thesis compares three ways to track which of many polygons in the plane overlap while they move at constant
velocity: sorted again at every frame, sorted incrementally, or from event to event. `create_simulation` runs each of
them on a `Model`, such as the thesis's `scenes`; `choque lab run kinetic` repeats its measurements. The kinetic sweep
itself is `choque.kinetic.Sweep`. `contacts` finds when polygons touch, and `labels` makes contact tables of
labelled images, the thesis's application to cells. `Billiards` is another application of the sweep: hard disks and
spheres from collision to collision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from choque._core.lazy import exporting

if TYPE_CHECKING:
    from choque.theses.kinetic import labels, scenes, shapes
    from choque.theses.kinetic.base import Simulation, Statistics
    from choque.theses.kinetic.billiards import Billiards, Collisions
    from choque.theses.kinetic.model import Model
    from choque.theses.kinetic.selector import recommend
    from choque.theses.kinetic.simulation import create_simulation
    from choque.theses.kinetic.sorted_list import SortedList
    from choque.theses.kinetic.touching import ContactSpan, contacts

__all__ = [
    "Billiards",
    "Collisions",
    "ContactSpan",
    "Model",
    "Simulation",
    "SortedList",
    "Statistics",
    "contacts",
    "create_simulation",
    "labels",
    "recommend",
    "scenes",
    "shapes",
]

_HOMES = {
    ".base": "Simulation Statistics",
    ".billiards": "Billiards Collisions",
    ".model": "Model",
    ".selector": "recommend",
    ".simulation": "create_simulation",
    ".sorted_list": "SortedList",
    ".touching": "ContactSpan contacts",
}
__getattr__, __dir__ = exporting(__name__, __all__, _HOMES)
