"""What the claims and figures of the Fingsics study ask of a result."""

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
    """The cells with a right answer that has times."""
    return result.cells.where(lambda row: row["verdict"] in RIGHT and row.get("median") is not None).where(**where)


def mean(result: Result, column: str, **where: Any) -> float | None:
    """A column of the cells there, averaged over seeds; None where there is none."""
    values = finished(result, **where).numbers(column)
    return float(values.mean()) if len(values) else None


def is_lone(ratio: Estimate) -> bool:
    """Whether it rests on one reading of each: no interval says what a machine that looked away did to it."""
    return ratio.lower == ratio.upper


def largest_shared(result: Result, methods: Sequence[str], most: int = 10**9) -> int | None:
    """The largest mixed box that all of the methods finished."""
    live = finished(result, scene=MIXED, mode="live")
    sizes = [set(live.where(method=method).levels("n")) for method in methods]
    return max((n for n in set.intersection(*sizes) if n <= most), default=None) if sizes else None


def live(n: int, **where: Any) -> dict[str, Any]:
    """Where the sweep over the number of bodies is."""
    return {"scene": MIXED, "mode": "live", "n": n, **where}


def median(result: Result, metric: str, method: str, n: int) -> float:
    """A metric of one method at one size of the sweep."""
    return float(np.median(result.right.where(**live(n, method=method)).numbers(metric)))
