"""The table that `auto` consults: what each method took on boxes like these, as the laboratory measured it.

The study ``comparison`` writes one, ``performance-map.json``. One is shipped; the file that the environment variable
``CHOQUE_AUTO_TABLE`` names takes its place.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from choque.broad.cost_table import CostTable, read_cost_table
from choque.broad.survey import Survey
from choque.errors import UnreadableFile

SHIPPED = Path(__file__).with_name("auto_table.json")
VARIABLE = "CHOQUE_AUTO_TABLE"

CANDIDATES = ("brute", "sap-direct", "sap-incremental", "grid", "bvh")
"""Who may be chosen; a table may know more methods."""

COORDINATES = ("n", "grid_tests", "sweep_tests", "size_classes", "moving", "passed")
"""Where boxes lie among all sets of boxes: the numbers of a `Survey`."""

WEIGHTS = {"grid_tests": 1.0, "sweep_tests": 0.5, "size_classes": 2.0, "moving": 10.0, "passed": 0.5}
"""How much a decade of each tells methods apart; what moves is not compared with what rests."""


def coordinates(survey: Survey) -> tuple[float, ...]:
    """Where boxes lie: a number for each of `COORDINATES`."""
    return tuple(float(number) for number in survey)


@cache
def present_table(moving: bool) -> CostTable:
    """The places of the table in use that move, or those that rest; all of them where it has no such places.

    It is read when it is first asked for: the one that `VARIABLE` names then, or the one that is shipped.
    """
    path = os.environ.get(VARIABLE) or str(SHIPPED)
    table = read_cost_table(path, CANDIDATES, WEIGHTS)
    if table.coordinates != COORDINATES:
        raise UnreadableFile(
            f"The performance map {path} lies on {', '.join(table.coordinates)}; auto needs {', '.join(COORDINATES)}."
        )
    return table.only("moving", float(moving)) or table
