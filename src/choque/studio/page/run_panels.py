"""Panels around a run: a timeline, plots of times and counts, events, a second method, the cost model."""

from __future__ import annotations

import statistics
from collections import deque
from collections.abc import Callable, Sequence
from html import escape
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from choque._core.pair_sets import Change, apply_change, difference, no_pairs
from choque._core.types import Pairs
from choque.studio.page.page import Page
from choque.studio.page.server import load_viser
from choque.studio.palette import GLOW
from choque.studio.run import Comparison
from choque.theses.fingsics.totals import Cost, cost_of
from choque.world import Bodies, StepReport, World

Measure: TypeAlias = Callable[[World, int | None], float]
"""A number of a world; the second argument is the id of the selected body, or None."""

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


def counted(number: int, word: str, plural: str = "") -> str:
    """Return a number with its word: "1 contact", "2 contacts"."""
    return f"{number:,} {word if number == 1 else plural or f'{word}s'}"


PLOTTED_FRAMES = 240
"""How many of the latest frames are plotted."""

STAGE_COLORS = {
    "bounds": "#8e9aaf",
    "broad": "#4aa8ff",
    **dict.fromkeys(("narrow", "manifolds"), "#ffb03b"),
    **dict.fromkeys(("response", "solver"), "#ff6b6b"),
    "sleep": "#c58cff",
    "integrate": "#7bd88f",
}
OTHER_STAGE = "#c9b458"
"""Colour of stages that another response names."""

COUNT_COLORS = ("#4aa8ff", "#c58cff", "#ff6b6b")
MEASURE_COLORS = ("#ffb03b",)
HEIGHT = 170

NUMBERS_WIDTH = 62
"""Width of the axis labels of a plot, such as 100,000 [pixels]."""

OUTLIER = 3.0
"""Times are clipped at this multiple of the median: one step that loads something would flatten all others."""


def _of_one(column: str, axis: int | None = None) -> Measure:
    """Return a measure of the selected body: a component of a column, or its length."""

    def measure(world: World, picked: int | None) -> float:
        row = int(np.searchsorted(world.bodies.ids, -1 if picked is None else picked))
        if picked is None or row >= len(world) or world.bodies.ids[row] != picked:
            return 0.0
        values = getattr(world.bodies, column)[row]
        return float(values if np.ndim(values) == 0 else np.linalg.norm(values) if axis is None else values[axis])

    return measure


def _columns() -> dict[str, Measure]:
    """Return a measure of the selected body for each column of numbers, and for each component of a vector."""
    found: dict[str, Measure] = {}
    for column, (kind, shape) in Bodies.COLUMNS.items():
        if kind is None and shape == (3,):
            found |= {f"selected: {column} {'xyz'[axis]}": _of_one(column, axis) for axis in range(3)}
        elif kind is None and shape == ():
            found[f"selected: {column}"] = _of_one(column)
    return {name.replace("_", " "): measure for name, measure in found.items()}


MEASURES: dict[str, Measure] = {
    "kinetic energy": lambda world, _: world.energy(),
    "momentum": lambda world, _: float(np.linalg.norm(world.momentum())),
    "angular momentum": lambda world, _: float(np.linalg.norm(world.angular_momentum())),
    "greatest speed": lambda world, _: float(np.linalg.norm(world.bodies.velocity, axis=1).max(initial=0.0)),
    "bodies asleep": lambda world, _: float(np.count_nonzero(world.asleep)),
    "selected: speed": _of_one("velocity"),
    "selected: spin": _of_one("angular_velocity"),
    **_columns(),
}
"""What can be plotted over the frames of a run; of the selected body, every column of numbers."""


class RunPlots:
    """The latest reports of a run: stages as a flame; plots of pairs, tests, contacts, and of a chosen measure."""

    def __init__(self, page: Page) -> None:
        self._reports: deque[tuple[float, ...]] = deque(maxlen=PLOTTED_FRAMES)
        self._stages: tuple[str, ...] = ()
        self._work = ""
        self.measure = next(iter(MEASURES))
        self.values: deque[tuple[float, float]] = deque(maxlen=PLOTTED_FRAMES)
        """Frames, and the chosen measure in them."""
        self._flame = page.html()
        labels = ("candidate pairs", "bounds tests", "contacts")
        self._counts = _plot(page, "Pairs, tests, contacts", labels, COUNT_COLORS)
        page.choice("Plot", list(MEASURES), self.measure, self.choose)
        self._chosen = _plot(page, self.measure, ("value",), MEASURE_COLORS, has_legend=False)

    def choose(self, name: str) -> None:
        """Plot another measure."""
        self.measure = self._chosen.title = name
        self.values.clear()

    def add(self, world: World, report: StepReport, picked: int | None, touching: int) -> None:
        """Add the report of a step, the measure after it, and the number of bodies in contact, sleepers included.

        A step in which all bodies sleep computes nothing, so that it is not plotted. After a way back, the frames that
        are made again replace those of before.
        """
        for kept in (self.values, self._reports):
            while kept and kept[-1][0] >= report.frame:
                kept.pop()
        self.values.append((report.frame, MEASURES[self.measure](world, picked)))
        if report.total_seconds:
            if self._stages != tuple(report.seconds):  # another response
                self._reports.clear()
                self._stages = tuple(report.seconds)
            work = ", ".join(f"{escape(name)} {number:,}" for name, number in report.counters.items())
            self._work = f"<br>{work}" if work else ""
            times = (1e3 * seconds for seconds in report.seconds.values())
            self._reports.append((report.frame, *times, report.pairs, cost_of(report).bounding_tests, touching))

    def clear(self) -> None:
        """Forget everything."""
        self._reports.clear()
        self.values.clear()

    def draw(self) -> None:
        """Update the plots."""
        middle = 1 + len(self._stages)
        table = np.array(self._reports, np.float64).reshape(-1, middle + 3)
        if len(table) < 2:
            return
        self._counts.data = tuple(np.ascontiguousarray(table[:, [0, *range(middle, table.shape[1])]].T))
        self._flame.content = flame(table[:, 0], self._stages, table[:, 1:middle]) + self._work
        if len(self.values) > 1:
            self._chosen.data = tuple(np.ascontiguousarray(np.array(self.values).T))


COLUMNS, FLAME_HEIGHT = 80, 96
"""Number of the latest steps in the flame, and its height [pixels]."""


def flame(frames: NDArray[np.float64], stages: Sequence[str], milliseconds: NDArray[np.float64]) -> str:
    """Return the stages of steps stacked over time: a column is a step; the pointer shows its times.

    Parameters
    ----------
    frames
        (n,) frames, of which the latest `COLUMNS` are shown.
    stages, milliseconds
        The names of the stages, and their times (n, stages).
    """
    frames, times = frames[-COLUMNS:], milliseconds[-COLUMNS:]
    total = times.sum(axis=1)
    top = max(min(float(total.max()), OUTLIER * float(np.median(total))), 1e-9)
    edges = np.pad(np.cumsum(times, axis=1), ((0, 0), (1, 0)))
    places = FLAME_HEIGHT * (1.0 - np.minimum(edges / top, 1.0))
    stacks = "".join(
        f'<path fill="{color}" d="'
        + "".join(f"M{x} {low:.1f}h.9V{high:.1f}h-.9z" for x, (low, high) in enumerate(places[:, k : k + 2].tolist()))
        + '"/>'
        for k, color in enumerate(STAGE_COLORS.get(stage, OTHER_STAGE) for stage in stages)
    )
    hints = "".join(
        f'<rect x="{x}" width="1" height="{FLAME_HEIGHT}" fill="transparent"><title>frame {frame:.0f}: {whole:.2f} ms; '
        + ", ".join(f"{escape(stage)} {time:.2f}" for stage, time in zip(stages, row, strict=True))
        + "</title></rect>"
        for x, (frame, whole, row) in enumerate(zip(frames.tolist(), total.tolist(), times.tolist(), strict=True))
    )
    middle = np.median(milliseconds[-MEDIAN_OF:], axis=0)
    words = ", ".join(
        f'<span style="color:{STAGE_COLORS.get(stage, OTHER_STAGE)}">{escape(stage)}</span> {time:.2f}'
        for stage, time in zip(stages, middle.tolist(), strict=True)
    )
    return (
        f'<svg viewBox="0 0 {COLUMNS} {FLAME_HEIGHT}" preserveAspectRatio="none" width="100%" height="{FLAME_HEIGHT}" '
        f'role="img" aria-label="stages of the latest steps, stacked">{stacks}{hints}</svg>'
        f"{middle.sum():.2f} ms a step, up to {top:.2f} ms: {words}"
    )


def _plot(page: Page, title: str, labels: Sequence[str], colors: Sequence[str], *, has_legend: bool = True) -> Any:
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
        legend=uplot.Legend(show=has_legend, live=False),  # no values: there is none until the pointer is over it
        height=HEIGHT,
    )


KEPT_EVENTS = 400
LISTED = 40
MAX_EVENTS_A_FRAME = 60
"""How many events of one frame are kept; all are counted."""


class ContactEvent(NamedTuple):
    """A contact that began or ended."""

    time: float
    frame: int
    began: bool
    first: int
    second: int


class EventLog:
    """The contacts of a world that began or ended, frame by frame.

    Sleeping bodies, whose contacts a step does not find again, keep those that they had. After a way back, the frames
    that are made again replace those of before.
    """

    def __init__(self) -> None:
        self._pairs: Pairs = no_pairs()
        self.latest: deque[ContactEvent] = deque(maxlen=KEPT_EVENTS)
        self._totals = [(-1, 0, 0)]  # frames, and how many contacts began and ended until then

    @property
    def began_count(self) -> int:
        """How many contacts began."""
        return self._totals[-1][1]

    @property
    def ended_count(self) -> int:
        """How many contacts ended."""
        return self._totals[-1][2]

    def add(self, world: World, report: StepReport) -> int:
        """Compare the contacts of the latest step with those of the step before; return how many began."""
        change = difference(self._pairs, world.contacts().pairs)
        change = Change(change.began, change.ended[~_sleep(world, change.ended)])
        self._pairs = apply_change(self._pairs, change)
        while self._totals[-1][0] >= report.frame:
            self._totals.pop()
        while self.latest and self.latest[-1].frame >= report.frame:
            self.latest.pop()
        _, began_count, ended_count = self._totals[-1]
        self._totals.append((report.frame, began_count + len(change.began), ended_count + len(change.ended)))
        for began, pairs in ((False, change.ended), (True, change.began)):
            for first, second in pairs[:MAX_EVENTS_A_FRAME].tolist():
                self.latest.append(ContactEvent(world.time, report.frame, began, first, second))
        return len(change.began)

    @property
    def touching(self) -> int:
        """The number of pairs in contact."""
        return len(self._pairs)

    def resume(self, pairs: Pairs) -> None:
        """Continue from the contacts of another frame, as ids."""
        self._pairs = pairs

    def clear(self) -> None:
        """Forget everything."""
        self._pairs = no_pairs()
        self.latest.clear()
        del self._totals[1:]

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


def _sleep(world: World, pairs: Pairs) -> NDArray[np.bool_]:
    """Return for which pairs (m,) both bodies are still there and sleep, or one does and the other is static."""
    bodies, asleep = world.bodies, world.asleep
    if not (len(pairs) and asleep.any()):
        return np.zeros(len(pairs), np.bool_)
    rows = np.searchsorted(bodies.ids, pairs).clip(max=len(bodies) - 1)
    stays = (bodies.ids[rows] == pairs) & (asleep | bodies.static)[rows]
    found: NDArray[np.bool_] = stays.all(axis=1)
    return found


BINS = 160
"""Number of bars that show how many contacts began."""

MARK_HEIGHT = 22


class Timeline:
    """A slider over all frames of a run, with a bar for the contacts that began in each part of it.

    Parameters
    ----------
    seek
        Called with the frame that was chosen.
    """

    def __init__(self, page: Page, seek: Callable[[int], object]) -> None:
        self._began: dict[int, int] = {}
        with page.bottom_panel("Timeline"):
            self._marks = page.html()
            self._slider = page.slider("Frame", 0, 1, 1, 0, lambda frame: seek(int(frame)))

    @property
    def frame(self) -> int:
        """The frame that is shown."""
        return int(self._slider.value)

    def add(self, frame: int, began: int) -> None:
        """Note how many contacts began in a frame."""
        self._began[frame] = began

    def clear(self) -> None:
        """Forget all contacts."""
        self._began.clear()

    def show(self, first: int, frame: int, last: int, time: float) -> None:
        """Show the present frame of those from ``first`` to ``last``, and the address of this moment [s]."""
        handle = self._slider
        top = max(last, first + 1)
        if (handle.min, handle.max) != (first, top):
            handle.min, handle.max = first, top
        if handle.value != frame:
            handle.value = frame
        moment = f'<a href="#t={time:.3f}" style="color:#8cc0ff">Link to this moment</a>: #t={time:.3f}'
        self._marks.content = self._bars(first, top) + moment

    def _bars(self, first: int, last: int) -> str:
        frames = np.array([frame for frame in self._began if first <= frame <= last], np.int64)
        counts = np.array([self._began[frame] for frame in frames.tolist()], np.float64)
        width = max((last - first + 1) / BINS, 1.0)
        heights = np.bincount(((frames - first) / width).astype(np.int64), counts, BINS)[:BINS]
        heights = MARK_HEIGHT * np.sqrt(heights / max(heights.max(), 1.0))
        color = f"rgb{GLOW}"
        bars = "".join(
            f'<rect x="{place}" y="{MARK_HEIGHT - height:.1f}" width="0.8" height="{height:.1f}" fill="{color}"/>'
            for place, height in enumerate(heights)
            if height
        )
        count = round((last - first + 1) / width)
        return (
            f'<svg viewBox="0 0 {max(count, 1)} {MARK_HEIGHT}" preserveAspectRatio="none" width="100%" '
            f'height="{MARK_HEIGHT}" role="img" aria-label="contacts that began, by frame">{bars}</svg>'
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
