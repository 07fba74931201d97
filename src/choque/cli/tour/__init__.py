"""The tour of ``choque demo``: one file a stop, each a part of Choque shown in seconds with a picture of its own."""

from __future__ import annotations

from choque.cli.tour._stop import Shown, Stop
from choque.cli.tour.areas import AREAS
from choque.cli.tour.bodies import BODIES
from choque.cli.tour.boxes import BOXES
from choque.cli.tour.methods import METHODS
from choque.cli.tour.motion import MOTION
from choque.cli.tour.solids import SOLIDS

STOPS: tuple[Stop, ...] = (BODIES, BOXES, MOTION, SOLIDS, AREAS, METHODS)

__all__ = ["STOPS", "Shown", "Stop"]
