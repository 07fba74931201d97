"""The figures of the Fingsics study."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from choque.lab.records import Records
from choque.lab.result import Result
from choque.theses.fingsics.study_cells import IN_TIME, finished, mean
from choque.theses.fingsics.study_count_claims import aspect_times
from choque.theses.fingsics.study_design import ENGINE_COUNT, MIXED, RATIOS, SIZES, STUDY, SWEEPS, capsules
from choque.theses.fingsics.study_printed import NAMES
from choque.theses.fingsics.study_time_claims import capacity_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STAGES = ("bounds", "broad", "narrow", "response", "integrate")


@STUDY.figure(
    "times",
    "Seconds a step by number of bodies",
    "Mixed box, exact rules, one thread: bounds and broad phase, narrow phase, and the whole step. Medians with the "
    "band of their 95 % interval; a line ends where its method exceeds the time limit.",
)
def times(result: Result) -> Figure:
    """Figures 5.4 and 5.5 of the thesis: a panel for each part."""
    from choque.lab import figures

    return figures.parts(result, ("broad phase", "narrow phase", "step"), scene=MIXED, mode="live", n=SIZES)


@STUDY.figure(
    "tests",
    "Exact tests left by number of bodies",
    "A step of the mixed box; crosses are contacts. brute-obb tests boxes before oriented boxes, and so leaves what "
    "sap-obb leaves.",
)
def tests_left(result: Result) -> Figure:
    """Figure 5.3 of the thesis."""
    from choque.lab.figures import format_axis
    from choque.lab.style import empty_figure, marks, new_figure

    cells = finished(result, scene=MIXED, mode="live", n=SIZES, method=list(NAMES))
    if not len(cells):
        return empty_figure()
    figure = new_figure(5.6, 3.6)
    axis = figure.subplots()
    for method, mark in marks(list(NAMES)).items():
        axis.plot(*_per_step(cells.where(method=method), "tests"), label=method, **mark.options())
    axis.plot(*_per_step(cells, "contacts"), linestyle="", marker="x", color="#777777", label="contacts")
    axis.set(xscale="log", yscale="log", xlabel="n", ylabel="exact tests a step")
    format_axis(axis, "")
    figure.legend(loc="outside right upper")
    return figure


def _per_step(cells: Records, column: str) -> tuple[list[int], list[float]]:
    """Numbers of bodies, and the mean of a counter over its steps."""
    places = sorted(cells.levels("n"))
    some = [cells.where(n=n) for n in places]
    return places, [float(np.mean(rows.numbers(column) / rows.numbers("steps"))) for rows in some]


@STUDY.figure(
    "aspect",
    "Sweep with and without oriented boxes, by the proportions of capsules",
    "5,000 capsules, 599 steps, exact rules. At each aspect the whole step of sap-incremental is 1: left bar alone, "
    "right bar with oriented boxes after it.",
)
def aspect(result: Result) -> Figure:
    """Figures 5.7 and 5.8 of the thesis: normalised times, split by stage."""
    from choque.lab.style import GREYS, HATCHES, empty_figure, new_figure

    ratios = list(aspect_times(result))
    if not ratios:
        return empty_figure()
    figure = new_figure(max(5.2, 1.6 + 0.9 * len(ratios)), 3.6)
    axis = figure.subplots()
    centers = np.arange(len(ratios))
    for side, method in ((-1, SWEEPS[0]), (1, SWEEPS[1])):
        bottom = np.zeros(len(ratios))
        for index, stage in enumerate(STAGES):
            shares = np.array([_normalised(result, ratio, method, stage) for ratio in ratios])
            look: dict[str, Any] = {"color": GREYS[index], "hatch": HATCHES[index], "edgecolor": "#333333"}
            label = stage if side < 0 else None
            axis.bar(centers + side * 0.2, shares, 0.38, bottom, linewidth=0.5, label=label, **look)
            bottom += shares
        if side > 0:
            for center, top in zip(centers, bottom, strict=True):
                axis.text(center + 0.2, max(top, 1.0) + 0.02, f"{top:.2f}", ha="center", fontsize=8)
    axis.axhline(1.0, color="#333333", linewidth=0.6)
    axis.set_xticks(centers, [f"{ratio}:1" for ratio in ratios])
    axis.set(ylabel="share of a step of sap-incremental", xlabel="length to diameter")
    axis.grid(False, axis="x")
    figure.legend(loc="outside lower center", ncols=len(STAGES))
    return figure


def _normalised(result: Result, ratio: int, method: str, stage: str) -> float:
    """The time of a stage over the whole of SAP at the same aspect."""
    where = {"scene": capsules(ratio), "mode": "live"}
    whole = sum(mean(result, part, method=SWEEPS[0], **where) or 0.0 for part in STAGES)
    return (mean(result, stage, method=method, **where) or 0.0) / whole


@STUDY.figure(
    "aspect-tests",
    "Exact tests by the proportions of capsules",
    "599 steps, by exact rules and by the engine's (hollow), which leave out some true contacts.",
)
def aspect_tests(result: Result) -> Figure:
    """Draw what oriented boxes save."""
    from choque.lab.figures import format_axis
    from choque.lab.style import empty_figure, marks, new_figure

    if not aspect_times(result):
        return empty_figure()
    figure = new_figure(4.6, 3.2)
    axis = figure.subplots()
    for method, mark in marks(SWEEPS).items():
        for mode in ("live", "legacy"):
            counts = {ratio: mean(result, "tests", scene=capsules(ratio), mode=mode, method=method) for ratio in RATIOS}
            known = [ratio for ratio in RATIOS if counts[ratio] is not None]
            options = mark.options()
            if mode == "legacy":
                options |= {"linestyle": "", "markerfacecolor": "none", "markeredgewidth": 1.0, "markersize": 8}
            label = method if mode == "live" else None
            axis.plot(known, [counts[ratio] or 0.0 for ratio in known], label=label, **options)
    axis.set(xscale="log", yscale="log", xlabel="length to diameter", ylabel="exact tests")
    format_axis(axis, "")
    axis.set_xticks(RATIOS, [f"{ratio}:1" for ratio in RATIOS])
    axis.set_xticks([], minor=True)
    axis.legend(loc="upper left")
    return figure


@STUDY.figure(
    "profile",
    "Where the time of a step goes",
    "10,000 bodies of the mixed box: the share of each stage in the whole run, whose length is at the right; the "
    "fastest on top.",
)
def profile(result: Result) -> Figure:
    """Figure 5.9 of the thesis, without drawing."""
    from choque.lab import figures
    from choque.lab.style import empty_figure

    sizes = [n for n in finished(result, scene=MIXED, mode="live").levels("n") if n <= 10_000]
    if not sizes:
        return empty_figure()
    return figures.stage_split(result, panels="scene", scene=MIXED, mode="live", n=max(sizes))


@STUDY.figure(
    "capacity",
    "How many bodies at 60 frames a second",
    "Seconds a step of auto, and seconds to read a frame of its recording; the line is a sixtieth of a second. Nothing "
    "is drawn.",
)
def capacity(result: Result) -> Figure:
    """Figure 5.10 of the thesis."""
    from choque.lab.figures import format_axis
    from choque.lab.style import empty_figure, marks, new_figure

    curves = {mode: capacity_curve(result, mode) for mode in ("live", "replay")}
    if not curves["live"][0]:
        return empty_figure()
    figure = new_figure(4.8, 3.2)
    axis: Axes = figure.subplots()
    for mode, mark in marks(list(curves)).items():
        axis.plot(*curves[mode], label=mode, **mark.options())
    axis.axhline(IN_TIME, color="#333333", linewidth=0.8)
    axis.text(0.02, IN_TIME * 1.1, "1/60 s", fontsize=8, transform=axis.get_yaxis_transform())
    axis.set(xscale="log", yscale="log", xlabel="n", ylabel="seconds a frame")
    axis.margins(x=0.06, y=0.12)
    format_axis(axis, "s")
    axis.legend(loc="lower right")
    return figure


@STUDY.figure(
    "engines",
    "A step of 3,162 bodies",
    "Medians with their 95 % interval, one thread, without friction and gravity. Bullet solves contacts by rules of "
    "its own.",
)
def compared_engines(result: Result) -> Figure:
    """Every method with a broad phase that finished, and other engines."""
    from choque.lab.style import empty_figure, new_figure
    from choque.lab.table import duration

    cells = finished(result, scene=MIXED, mode="live", n=ENGINE_COUNT).where(lambda row: row["method"] != "all")
    if not len(cells):
        return empty_figure()
    middle = {str(name): float(some.numbers("median").mean()) for (name,), some in cells.groups("method")}
    names = sorted(middle, key=lambda name: -middle[name])
    bounds = [[float(cells.where(method=name).numbers(end).mean()) for name in names] for end in ("lower", "upper")]
    values = np.array([middle[name] for name in names])
    figure = new_figure(5.2, 0.9 + 0.26 * len(names))
    axis = figure.subplots()
    tones = ["#bdbdbd" if name in result.study.factors[2].chosen(False) else "#5f5f5f" for name in names]
    spread = np.abs(np.array(bounds) - values)
    axis.barh(names, values, color=tones, edgecolor="#333333", linewidth=0.5, xerr=spread, ecolor="#111111")
    for row, value in enumerate(values):
        axis.text(1.02, row, duration(value), va="center", fontsize=8, transform=axis.get_yaxis_transform())
    axis.set(xlim=(0, None), xlabel="seconds a step")
    axis.xaxis.set_major_formatter(lambda value, _: duration(value) if value else "0")
    axis.grid(False, axis="y")
    axis.tick_params(axis="y", length=0)
    return figure
