"""The table that `auto` consults: what each method took on boxes like these, as the laboratory measured it.

The study ``comparison`` writes one, ``performance-map.json``. One is shipped; the file that the environment variable
``CHOQUE_AUTO_TABLE`` names takes its place.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from choque.broad._cost_table import CostTable, read_cost_table
from choque.broad._survey import Survey
from choque.errors import UnreadableFile

SHIPPED = Path(__file__).with_name("auto_table.json")
VARIABLE = "CHOQUE_AUTO_TABLE"

CANDIDATES = ("brute", "sap-direct", "grid", "bvh")
"""Who may be chosen; a table may know more methods."""

COORDINATES = ("n", "grid_tests", "sweep_tests", "size_classes", "moving")
"""Where boxes lie among all sets of boxes: the numbers of a `Survey`, and 1 for an update of all of them."""

WEIGHTS = {"grid_tests": 1.0, "sweep_tests": 0.5, "size_classes": 2.0, "moving": 10.0}
"""How much a decade of each tells methods apart; what moves is never compared with what rests."""


def coordinates(survey: Survey, moving: bool) -> tuple[float, ...]:
    """Where boxes lie: a number for each of `COORDINATES`."""
    return (*survey, float(moving))


def present_table() -> CostTable:
    """The table in use: the one that `VARIABLE` names, or the one that is shipped."""
    return _cached(os.environ.get(VARIABLE) or str(SHIPPED))


@cache
def _cached(path: str) -> CostTable:
    table = read_cost_table(path, CANDIDATES, WEIGHTS)
    if table.coordinates != COORDINATES:
        raise UnreadableFile(
            f"The performance map {path} lies on {', '.join(table.coordinates)}; auto needs {', '.join(COORDINATES)}."
        )
    return table
