"""Bounding volumes as arrays: fitted to points, moved by a transform, tested for overlap by a list of pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from choque._core.lazy import exporting

if TYPE_CHECKING:
    from choque.bounds._bounds import Bounds, Boxes
    from choque.bounds._kdops import KDops, directions
    from choque.bounds._oriented import OrientedBoxes
    from choque.bounds._spheres import Spheres

__all__ = ["Bounds", "Boxes", "KDops", "OrientedBoxes", "Spheres", "directions"]

__getattr__, __dir__ = exporting(
    __name__,
    __all__,
    {"._bounds": "Bounds Boxes", "._kdops": "KDops directions", "._oriented": "OrientedBoxes", "._spheres": "Spheres"},
)
