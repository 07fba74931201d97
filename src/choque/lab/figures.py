"""The figures that most studies need, from a result and the names of factors: curves, stage splits, ratios."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from choque.lab.records import Records
from choque.lab.result import Result
from choque.lab.style import GREYS, HATCHES, empty_figure, marks, new_figure
from choque.lab.table import duration
from choque.lab.verdict import RIGHT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = 3
NARROWEST = 5.4
"""Inches that a legend of six entries needs."""


def curves(
    result: Result,
    *,
    panels: str,
    metric: str | None = None,
    series: Sequence[Any] | None = None,
    titled: Callable[[Any], str] = str,
    **where: Any,
) -> Figure:
    """Draw a metric as work grows, on logarithmic axes: a panel for each level of ``panels``, a line for each method.

    A point is the median, its band the 95 % interval. A line ends where its method was cut off. ``titled`` words the
    level of a panel.
    """
    study, chosen = result.study, result.metric_named(metric)
    compared = list(series or result.samples.levels(study.compares))
    levels = _in_order(result.right.where(**where).levels(panels))
    if not levels:
        return empty_figure()
    figure, axes = _panels(levels)
    for axis, panel in zip(axes, levels, strict=False):
        _draw_curves(axis, result, compared, chosen.name, {**where, panels: panel})
        axis.set_title(titled(panel))
    for axis in axes:
        format_axis(axis, chosen.unit)
    _label_edges(figure, axes, str(study.grows), chosen.title)
    _legend(figure, axes, compared)
    return figure


def parts(result: Result, metrics: Sequence[str], *, series: Sequence[Any] | None = None, **where: Any) -> Figure:
    """Draw several metrics of one setting as work grows: a panel for each, a line for each method, as in `curves`."""
    compared = list(series or result.samples.levels(result.study.compares))
    if not len(result.right.where(**where)):
        return empty_figure()
    figure, axes = _panels(metrics)
    for axis, name in zip(axes, metrics, strict=False):
        _draw_curves(axis, result, compared, name, where)
        axis.set_title(name)
    unit = result.metric_named(metrics[0]).unit
    for axis in axes:
        format_axis(axis, unit)
    _label_edges(figure, axes, str(result.study.grows), "seconds" if unit == "s" else unit)
    _legend(figure, axes, compared)
    return figure


def stage_split(result: Result, *, panels: str, titled: Callable[[Any], str] = str, **where: Any) -> Figure:
    """Draw the share of each stage, fastest method on top, at the largest size that most finished."""
    study = result.study
    cells = result.cells.where(lambda row: row["verdict"] in RIGHT and row.get("median") is not None).where(**where)
    levels = _in_order(cells.levels(panels))
    if not levels:
        return empty_figure()
    stages = [stage for stage in result.stages if len(cells.numbers(stage))]  # other cells may have others
    figure, axes = _panels(levels, height=0.24 * len(cells.levels(study.compares)) + 0.7, share=False)
    for axis, panel in zip(axes, levels, strict=False):
        rows, size = _largest_shared(cells.where(**{panels: panel}), study.grows)
        parts = {str(level): _stage_means(some, stages) for (level,), some in rows.groups(study.compares)}
        # Bars are drawn from the bottom up.
        names = sorted(parts, key=lambda name: -sum(parts[name].values()))
        totals = np.array([sum(parts[name].values()) for name in names])
        left = np.zeros(len(names))
        for index, stage in enumerate(stages):
            shares = np.array([parts[name].get(stage, 0.0) for name in names]) / totals
            tone: dict[str, Any] = {"color": GREYS[index % len(GREYS)], "hatch": HATCHES[index % len(HATCHES)]}
            axis.barh(names, shares, left=left, label=stage, edgecolor="#333333", linewidth=0.5, **tone)
            left += shares
        for row, total in enumerate(totals):
            axis.text(1.02, row, duration(total), va="center", fontsize=8)
        axis.set(xlim=(0, 1), title=titled(panel) if size is None else f"{titled(panel)}, {study.grows} = {size:,}")
        axis.xaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
        axis.set_xticks([0, 0.5, 1])
        axis.grid(False, axis="y")
        axis.tick_params(axis="y", length=0)
    _legend(figure, axes, stages)
    return figure


def ratios(result: Result, *, columns: str, **where: Any) -> Figure:
    """Draw ratios to the best: a row for each method, a column for each level, at the largest size most finished."""
    study = result.study
    ranking = result.ranking.where(lambda row: row.get("ratio") is not None).where(**where)
    levels = ranking.levels(columns)
    if not levels:
        return empty_figure()
    methods = ranking.levels(study.compares)
    values = np.full((len(methods), len(levels)), np.nan)
    headings = []
    for column, level in enumerate(levels):
        rows, size = _largest_shared(ranking.where(**{columns: level}), study.grows)
        headings.append(f"{level}\n{size:,}" if size is not None else str(level))
        for row in rows:
            values[methods.index(row[study.compares]), column] = row["ratio"]
    order = np.argsort(np.median(np.where(np.isnan(values), np.inf, values), axis=1))
    return _number_grid(values[order], [str(methods[index]) for index in order], headings)


def number_table(rows: Records, path: Path) -> Figure:
    """Draw records as a table of numbers, and write them to a CSV file."""
    if not len(rows):
        return empty_figure()
    rows.to_csv(path)
    figure = new_figure(0.95 * len(rows.columns), 0.5 + 0.28 * len(rows))
    axis = figure.subplots()
    axis.axis("off")
    cells = [[_shown(row.get(name)) for name in rows.columns] for row in rows]
    grid = axis.table(cellText=cells, colLabels=[name.replace(" ", "\n", 1) for name in rows.columns], loc="center")
    grid.auto_set_font_size(False)
    grid.set_fontsize(7.5)
    grid.scale(1, 1.25)
    for (row, _), cell in grid.get_celld().items():
        cell.set_linewidth(0.3)
        if row == 0:
            cell.set_height(1.7 * cell.get_height())
            cell.set_text_props(weight="bold")
    return figure


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else "" if value is None else str(value)


def _draw_curves(axis: Axes, result: Result, compared: Sequence[Any], metric: str, where: dict[str, Any]) -> None:
    """Draw a line with its band for each of the ``compared`` that has right answers there."""
    present = result.right.where(**where).levels(result.study.compares)
    for level, mark in marks(compared).items():
        if level not in present:
            continue
        places, middle = result.curve(level, metric=metric, **where)
        if not len(places):
            continue
        options = mark.options()
        axis.plot(places, [each.value for each in middle], label=str(level), **options)
        lower, upper = [each.lower for each in middle], [each.upper for each in middle]
        axis.fill_between(places, lower, upper, color=options["color"], alpha=0.18, linewidth=0)
    axis.set(xscale="log", yscale="log")
    axis.margins(x=0.06, y=0.08)


def _number_grid(values: Any, rows: Sequence[str], columns: Sequence[str]) -> Figure:
    figure = new_figure(1.6 + 0.95 * len(columns), 0.7 + 0.3 * len(rows))
    axis = figure.subplots()
    shade = np.clip(np.log10(np.where(np.isnan(values), 1.0, values)) / 2, 0, 1)
    axis.imshow(shade, cmap="Greys", vmin=0, vmax=1.4, aspect="auto")
    for (row, column), value in np.ndenumerate(values):
        if np.isnan(value):
            axis.text(column, row, "–", ha="center", va="center", color="#999999")
            continue
        text = f"{value:.2f}" if value < 10 else f"{value:.0f}"
        colour = "white" if shade[row, column] > 0.75 else "black"
        weight = "bold" if value <= 1.0 else "normal"
        axis.text(column, row, text, ha="center", va="center", color=colour, weight=weight)
    axis.set_xticks(range(len(columns)), columns)
    axis.set_yticks(range(len(rows)), rows)
    axis.xaxis.tick_top()
    axis.tick_params(length=0)
    axis.grid(False)
    for spine in axis.spines.values():
        spine.set_visible(False)
    return figure


def _stage_means(rows: Records, stages: Sequence[str]) -> dict[str, float]:
    return {stage: float(rows.numbers(stage).mean()) for stage in stages if len(rows.numbers(stage))}


def _largest_shared(rows: Records, grows: str | None) -> tuple[Records, Any]:
    """Return the rows of the largest size that at least half of the methods finished."""
    if grows is None:
        return rows, None
    counts = {size: len(some) for (size,), some in rows.groups(grows)}
    shared = [size for size, count in counts.items() if 2 * count >= max(counts.values())]
    size = max(shared, default=None)
    return rows.where(**{grows: size}), size


def _panels(levels: Sequence[Any], height: float = 2.6, share: bool = True) -> tuple[Figure, list[Axes]]:
    """Small multiples: a panel for each level, axes shared or separate with more space between."""
    columns = min(COLUMNS, max(len(levels), 1))
    rows = math.ceil(max(len(levels), 1) / columns)
    figure = new_figure(max(3.1 * columns + 0.4, NARROWEST), height * rows + 0.7)
    grid = figure.subplots(rows, columns, sharex=share, sharey=share, squeeze=False)
    if not share:
        layout: Any = figure.get_layout_engine()
        layout.set(wspace=0.1, hspace=0.06)
    axes = list(grid.flat)
    for axis in axes[len(levels) :]:
        axis.set_visible(False)
    return figure, axes


def _label_edges(figure: Figure, axes: Sequence[Axes], x: str, y: str) -> None:
    shown = [axis for axis in axes if axis.get_visible()]
    columns = min(COLUMNS, len(shown))
    for index, axis in enumerate(shown):
        is_lowest = index + columns >= len(shown)
        axis.tick_params(labelbottom=is_lowest, labelleft=index % columns == 0)
        axis.set_xlabel(x if is_lowest else "")
    figure.supylabel(y, fontsize=9)


def _legend(figure: Figure, axes: Sequence[Axes], order: Sequence[Any]) -> None:
    """Draw one legend below all panels, in the order of the series."""
    handles: dict[str, Any] = {}
    for axis in axes:
        found, labels = axis.get_legend_handles_labels()
        handles.update(dict(zip(labels, found, strict=True)))
    shown = [str(each) for each in order if str(each) in handles]
    figure.legend(
        [handles[name] for name in shown], shown, loc="outside lower center", ncols=min(6, max(len(shown), 1))
    )


def format_axis(axis: Axes, unit: str) -> None:
    """Label logarithmic axes in round numbers, seconds as durations."""
    from matplotlib.ticker import LogLocator, NullFormatter

    for one in (axis.xaxis, axis.yaxis):
        lower, upper = one.get_view_interval()
        # Within two powers of ten one or two ticks would be all; then 2 and 5 are labelled as well.
        subdivisions = (1.0,) if upper > 100 * lower else (1.0, 2.0, 5.0)
        one.set_major_locator(LogLocator(subs=subdivisions, numticks=12))
        one.set_minor_formatter(NullFormatter())
    axis.xaxis.set_major_formatter(lambda value, _: _short(value))
    axis.yaxis.set_major_formatter(lambda value, _: duration(value) if unit == "s" else _short(value))


def _in_order(levels: list[Any]) -> list[Any]:
    """Return numbers in ascending order, names in that of the design."""
    return sorted(levels) if all(isinstance(level, int | float) for level in levels) else levels


def _short(value: float) -> str:
    for letter, scale in (("M", 1e6), ("k", 1e3)):
        if value >= scale:
            return f"{value / scale:g} {letter}"
    return f"{value:g}"
