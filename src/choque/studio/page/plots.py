"""Plots that follow a run: the time of each stage, and how many pairs, tests and contacts there are."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from choque.studio.page.page import Page
from choque.studio.page.server import load_viser
from choque.world import StepReport
from choque.world.report import STAGES

KEPT = 240
"""How many of the latest frames are shown."""

STAGE_COLORS = ("#8e9aaf", "#4aa8ff", "#ffb03b", "#ff6b6b", "#7bd88f")
COUNT_COLORS = ("#4aa8ff", "#c58cff", "#ff6b6b")
HEIGHT = 190

NUMBERS_WIDTH = 62
"""Pixels for the numbers beside a plot, such as 100,000."""

OUTLIER = 6.0
"""Times are cut off at so many times what is usual: a step in which something was loaded would flatten all others."""


class RunPlots:
    """Keeps the latest reports of a run and draws them now and then."""

    def __init__(self, page: Page) -> None:
        self._reports: deque[tuple[float, ...]] = deque(maxlen=KEPT)
        labels = ("candidate pairs", "bounds tests", "contacts")
        self._stages = _plot(page, "Milliseconds of each stage", STAGES, STAGE_COLORS)
        self._counts = _plot(page, "Pairs, tests, contacts", labels, COUNT_COLORS)

    def note(self, report: StepReport) -> None:
        """Keep what a step did."""
        times = (1e3 * report.seconds[stage] for stage in STAGES)
        self._reports.append((report.frame, *times, report.pairs, report.cost.bounding_tests, report.contacts))

    def clear(self) -> None:
        """Forget what was."""
        self._reports.clear()

    def draw(self) -> None:
        """Show what was kept."""
        table = np.array(self._reports, np.float64).reshape(-1, 4 + len(STAGES))
        if len(table) < 2:
            return
        columns = list(np.ascontiguousarray(table.T))
        middle = 1 + len(STAGES)
        longest = OUTLIER * float(np.median(table[:, 1:middle].max(axis=1)))
        columns[1:middle] = [np.minimum(column, longest) for column in columns[1:middle]]
        self._stages.data = tuple(columns[:middle])
        self._counts.data = (columns[0], *columns[middle:])


def _plot(page: Page, title: str, labels: Sequence[str], colors: Sequence[str]) -> Any:
    uplot: Any = load_viser().uplot
    look = {"stroke": "#9aa3b2", "grid": uplot.Axis_Grid(stroke="#3a3f4b", width=1)}
    start = np.array([0.0, 1.0])
    lines = [uplot.Series(label=label, stroke=color, width=1.5) for label, color in zip(labels, colors, strict=True)]
    return page.gui.add_uplot(
        (start, *(np.zeros(2) for _ in labels)),
        (uplot.Series(label="frame"), *lines),
        title=title,
        scales={"x": uplot.Scale(time=False, auto=True), "y": uplot.Scale(auto=True)},
        axes=(uplot.Axis(**look, size=44), uplot.Axis(**look, size=NUMBERS_WIDTH)),
        legend=uplot.Legend(show=True),
        height=HEIGHT,
    )
