"""Panels beside a run: plots of times and counts, events, a second method, the cost model."""

from __future__ import annotations

import statistics
from collections import deque
from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np

from choque._core.pair_sets import difference, no_pairs
from choque._core.types import Pairs
from choque.studio.page.page import Page
from choque.studio.page.server import load_viser
from choque.theses.fingsics.totals import Cost, cost_of
from choque.world import Comparison, StepReport, World
from choque.world.report import STAGES

MEDIAN_OF = 60
"""How many of the latest values the median is taken of."""


class Recent:
    """The latest values of a quantity, and their median.

    A panel shows the median: a step that compiles or loads something can take a thousand times as long as others and
    would distort a mean for minutes.
    """

    def __init__(self) -> None:
        self._values: deque[float] = deque(maxlen=MEDIAN_OF)

    def add(self, value: float) -> None:
        """Add a value."""
        self._values.append(value)

    @property
    def median(self) -> float:
        """The median; 0 before the first value."""
        return statistics.median(self._values) if self._values else 0.0


def counted(number: int, word: str) -> str:
    """Return a number with its word: "1 contact", "2 contacts"."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


PLOTTED_FRAMES = 240
"""How many of the latest frames are plotted."""

STAGE_COLORS = ("#8e9aaf", "#4aa8ff", "#ffb03b", "#ff6b6b", "#7bd88f")
COUNT_COLORS = ("#4aa8ff", "#c58cff", "#ff6b6b")
HEIGHT = 190

NUMBERS_WIDTH = 62
"""Width of the axis labels of a plot, such as 100,000 [pixels]."""

OUTLIER = 6.0
"""Times are clipped at this multiple of the median: one step that loads something would flatten all others."""


class RunPlots:
    """Plots of the latest reports of a run: the time of each stage; pairs, tests and contacts."""

    def __init__(self, page: Page) -> None:
        self._reports: deque[tuple[float, ...]] = deque(maxlen=PLOTTED_FRAMES)
        labels = ("candidate pairs", "bounds tests", "contacts")
        self._stages = _plot(page, "Milliseconds of each stage", STAGES, STAGE_COLORS)
        self._counts = _plot(page, "Pairs, tests, contacts", labels, COUNT_COLORS)

    def add(self, report: StepReport) -> None:
        """Add the report of a step."""
        times = (1e3 * report.seconds[stage] for stage in STAGES)
        self._reports.append((report.frame, *times, report.pairs, cost_of(report).bounding_tests, report.contacts))

    def clear(self) -> None:
        """Forget everything."""
        self._reports.clear()

    def draw(self) -> None:
        """Update the plots."""
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


KEPT_EVENTS = 400
LISTED = 40
MAX_EVENTS_A_FRAME = 60
"""How many events of one frame are kept; all are counted."""


class Event(NamedTuple):
    """A contact that began or ended."""

    time: float
    frame: int
    began: bool
    first: int
    second: int


class Events:
    """The contacts of a world that began or ended, frame by frame."""

    def __init__(self) -> None:
        self._pairs: Pairs = no_pairs()
        self.latest: deque[Event] = deque(maxlen=KEPT_EVENTS)
        self.began_count = self.ended_count = 0

    def add(self, world: World, report: StepReport) -> None:
        """Compare the contacts of the latest step with those of the step before."""
        present = world.contacts().pairs
        change = difference(self._pairs, present)
        self._pairs = present
        self.began_count += len(change.began)
        self.ended_count += len(change.ended)
        for began, pairs in ((False, change.ended), (True, change.began)):
            for first, second in pairs[:MAX_EVENTS_A_FRAME].tolist():
                self.latest.append(Event(world.time, report.frame, began, first, second))

    def clear(self) -> None:
        """Forget everything."""
        self._pairs = no_pairs()
        self.latest.clear()
        self.began_count = self.ended_count = 0

    def html(self) -> str:
        """Return a table of the latest events, the newest first."""
        head = f"{self.began_count:,} contacts began, {self.ended_count:,} ended."
        if not self.latest:
            return f"<div>{head} Play or step to list them here.</div>"
        rows = "".join(
            f'<tr style="color:{"#7bd88f" if event.began else "#ff8a8a"}"><td>{event.time:.3f} s</td>'
            f"<td>{event.frame}</td><td>{'began' if event.began else 'ended'}</td>"
            f"<td>{event.first} – {event.second}</td></tr>"
            for event in list(self.latest)[: -LISTED - 1 : -1]
        )
        return (
            f'<div>{head}</div><table style="width:100%;text-align:left"><tr><th>time</th><th>frame</th>'
            f"<th>event</th><th>bodies</th></tr>{rows}</table>"
        )


RED, GREEN = "#ff5c5c", "#7bd88f"


class SecondMethod:
    """Comparisons of the broad phase with a second one, since that was chosen."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self._seconds = (Recent(), Recent())
        self._latest: Comparison | None = None
        self.first_difference: Comparison | None = None
        """The first frame in which the pairs differed."""
        self.first_wrong: Comparison | None = None
        """The first frame in which the contacts differed."""

    def add(self, comparison: Comparison) -> None:
        """Add the comparison of a frame."""
        self._latest = comparison
        for recent, seconds in zip(self._seconds, comparison.seconds, strict=True):
            recent.add(seconds)
        if comparison.pairs_differ and self.first_difference is None:
            self.first_difference = comparison
        if comparison.contacts_differ and self.first_wrong is None:
            self.first_wrong = comparison

    def html(self, same_bounds: bool) -> str:
        """Return a table of both methods, and whether their pairs and contacts agree."""
        latest = self._latest
        if latest is None:
            return "<div>Play or step to compare both methods on the same bodies.</div>"
        rows = "".join(
            f"<tr><td>{escape(latest.methods[k])}</td><td>{latest.seconds[k] * 1e3:.2f}</td>"
            f"<td>{recent.median * 1e3:.2f}</td><td>{latest.pairs[k]:,}</td><td>{latest.contacts[k]:,}</td></tr>"
            for k, recent in enumerate(self._seconds)
        )
        table = (
            '<table style="width:100%;text-align:left"><tr><th>method</th><th>ms</th><th>median</th>'
            f"<th>pairs</th><th>contacts</th></tr>{rows}</table>"
        )
        return table + self._verdict(same_bounds)

    def _verdict(self, same_bounds: bool) -> str:
        wrong, different = self.first_wrong, self.first_difference
        if wrong is not None:
            return _line(RED, f"Contacts differ since frame {wrong.frame}. One of the methods is wrong.")
        if different is None:
            return _line(GREEN, "The same pairs in every frame.")
        alone = f"{len(different.only_first):,} only in the first, {len(different.only_second):,} only in the second"
        why = "" if same_bounds else " They use different bounds, so this is allowed; the contacts are the same."
        return _line(RED, f"Pairs differ since frame {different.frame}: {alone}.{why}")


def cost_html(cost: Cost, steps: int) -> str:
    """Return the cost model of the Fingsics thesis, and whether testing tighter bounds first pays."""
    letters = cost.letters()
    rows = (
        ("C, building and sweeping", f"{letters['C'] * 1e3 / max(steps, 1):.3f} ms"),
        ("b, tests of tighter bounds", f"{letters['b'] / max(steps, 1):,.0f}"),
        ("B, time of one", f"{letters['B'] * 1e9:,.0f} ns"),
        ("o, exact tests", f"{letters['o'] / max(steps, 1):,.0f}"),
        ("O, time of one", f"{letters['O'] * 1e9:,.0f} ns"),
    )
    table = "".join(f"<tr><td>{name}</td><td style='text-align:right'>{value}</td></tr>" for name, value in rows)
    if cost.filter_pays is None:
        verdict = "<div>This method does not test tighter bounds; sap-obb does.</div>"
    else:
        sign, word = (">", "pays") if cost.filter_pays else ("≤", "does not pay")
        color = GREEN if cost.filter_pays else RED
        verdict = _line(
            color, f"O/B = {cost.ratio:.2f} {sign} {cost.threshold:.2f} = o₁/(o₁ − o₂): testing tighter bounds {word}."
        )
    return f"<div>T = C + b·B + o·O, mean of {steps:,} steps:</div><table style='width:100%'>{table}</table>" + verdict


def _line(color: str, words: str) -> str:
    return f'<div style="color:{color};font-weight:bold">{escape(words)}</div>'
