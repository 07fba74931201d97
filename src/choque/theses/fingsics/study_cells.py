"""Selections of a result, for the claims and figures of the Fingsics study."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from choque.lab.records import Records
from choque.lab.result import Result
from choque.lab.statistics import Estimate
from choque.lab.verdict import RIGHT
from choque.theses.fingsics.study_design import MIXED, SWEEPS

SAP, FILTERED = SWEEPS
IN_TIME = 1 / 60
"""Seconds that a frame may take at 60 frames a second."""


def finished(result: Result, **where: Any) -> Records:
    """Return the cells with a right answer and with times."""
    return result.cells.where(lambda row: row["verdict"] in RIGHT and row.get("median") is not None).where(**where)


def mean(result: Result, column: str, **where: Any) -> float | None:
    """Return the mean of a column of these cells over seeds; None if there are no cells."""
    values = finished(result, **where).numbers(column)
    return float(values.mean()) if len(values) else None


def is_lone(ratio: Estimate) -> bool:
    """Tell whether there is a single reading of each cell, so that no interval shows disturbances of the machine."""
    return ratio.lower == ratio.upper


def largest_shared(result: Result, methods: Sequence[str], most: int = 10**9) -> int | None:
    """Return the largest mixed box that all of the methods finished."""
    live = finished(result, scene=MIXED, mode="live")
    sizes = [set(live.where(method=method).levels("n")) for method in methods]
    return max((n for n in set.intersection(*sizes) if n <= most), default=None) if sizes else None


def live(n: int, **where: Any) -> dict[str, Any]:
    """Return the parameters of the sweep over the number of bodies."""
    return {"scene": MIXED, "mode": "live", "n": n, **where}


def median(result: Result, metric: str, method: str, n: int) -> float:
    """Return a metric of one method at one size of the sweep."""
    return float(np.median(result.right.where(**live(n, method=method)).numbers(metric)))
