"""Bounding volumes as arrays: fitted to points, moved by a transform, tested by the pair list."""

from __future__ import annotations

from choque.bounds._body_points import BodyPoints
from choque.bounds._bounds import Bounds
from choque.bounds._boxes import Boxes
from choque.bounds._directions import directions
from choque.bounds._kdops import KDops
from choque.bounds._oriented import OrientedBoxes
from choque.bounds._spheres import Spheres
from choque.bounds._support_map import SupportMap

__all__ = ["BodyPoints", "Bounds", "Boxes", "KDops", "OrientedBoxes", "Spheres", "SupportMap", "directions"]
