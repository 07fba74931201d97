"""The study of the k-DOP thesis with its figures and tables: 18-DOPs, boxes and spheres around convex bodies.

`design` has what is varied, `claims` the claims of the thesis. The run of each pile leaves a table of its frames, and
of means over ten, in the folder ``frames`` of the study.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from choque.lab.records import Records, Row
from choque.lab.result import Result
from choque.theses.kdop import claims
from choque.theses.kdop.design import (
    CPU_SORTS,
    DEVICE_SORTS,
    FIELD,
    FIELD_VOLUMES,
    PRINTED,
    SCALED,
    SHAPES,
    SORTING,
    STUDY,
    TITLES,
    UNSCALED,
    VOLUMES,
)
from choque.theses.kdop.frames import MAIN, STAGES, Series, presets_of, series, volumes_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


__all__ = ["STUDY", "claims"]

Values = NDArray[np.float64]

ALL_GROUND = "With spheres every body is a candidate for the ground, as the sphere around that is all of space."
WINDOWS = 140
"""Points of a line: fifty of 7,000 frames each."""
MEDIANS = "Medians of fifty frames in 7,000, which short interruptions do not change."
BY_PRESET = f"{MEDIANS} Where there are two columns, the right one has the numbers of the text."


def tables(result: Result) -> Records:
    """Return tables 5.1 to 5.3 from the tables of frames: pairs and milliseconds, beside the printed ones."""
    rows: list[Row] = []
    for preset in presets_of(result):
        for (elongation, volume), printed in PRINTED.items():
            frames = series(result, elongation, volume, preset)
            if frames is None:
                continue
            rows.append(
                {
                    "preset": preset,
                    "shape": SHAPES[elongation],
                    "volume": TITLES[volume],
                    "mean pairs": float(frames["pairs"].mean()),
                    "printed mean": printed.mean_pairs,
                    "most pairs": int(frames["pairs"].max()),
                    "printed most": printed.most_pairs,
                    "body pairs": float(frames["body_pairs"].mean()),
                    "ground pairs": float(frames["ground_pairs"].mean()),
                    "true pairs": float(frames["true_pairs"].mean()),
                    "false positives": float(frames["false_positives"].mean()),
                    "ms a frame": float(frames["frame_time"][1:].mean()),
                    "printed ms": printed.frame,
                    "build ms": float(np.median(frames["build"])),
                }
            )
    return Records(rows)


@STUDY.figure(
    "tables",
    "Tables 5.1 to 5.3: pairs and milliseconds a frame",
    "Means over all frames, for their times without the first, and for building the median; pairs of body and body and "
    "of body and ground apart. Printed: 512 bodies with a GTX 1060; here one thread of a processor, nothing drawn.",
)
def draw_tables(result: Result) -> Figure:
    """Draw a grid of numbers, and write tables.csv in the folder of the run."""
    from choque.lab import figures

    return figures.number_table(tables(result), result.folder / "tables.csv")


@STUDY.figure("pairs", "Candidate pairs by frame", f"Figures 5.6 and 5.7. {BY_PRESET} {ALL_GROUND}")
def pairs(result: Result) -> Figure:
    """A line for each volume."""
    return _by_frame(result, "pairs", "candidate pairs")


@STUDY.figure("stages", "Where the time of a frame goes", f"Figures 5.8 to 5.13, stacked. {MEDIANS}")
def stages(result: Result) -> Figure:
    """A panel for each of the six runs."""
    from choque.lab.style import COLOURS

    def draw(axis: Axes, frames: Series) -> None:
        heights = [frames[stage] for stage in STAGES]
        labels = [stage.replace("_", " ") for stage in STAGES]
        axis.stackplot(frames["frame"], heights, labels=labels, colors=COLOURS[1 : len(STAGES) + 1], linewidth=0)

    return _six(result, draw, "milliseconds")


@STUDY.figure(
    "frame-times", "Milliseconds a frame", f"Figures 5.14 and 5.15; counting true pairs is not in them. {BY_PRESET}"
)
def frame_times(result: Result) -> Figure:
    """A line for each volume."""
    return _by_frame(result, "frame_time", "milliseconds a frame")


@STUDY.figure(
    "false-positives",
    "False positives by frame",
    f"Figures 5.16 and 5.17: candidates that do not collide, body with body. {BY_PRESET}",
)
def false_positives(result: Result) -> Figure:
    """A line for each volume."""
    return _by_frame(result, lambda frames: frames["body_pairs"] - frames["true_body_pairs"], "false positives")


@STUDY.figure(
    "gjk-epa", "GJK and EPA by frame", f"Figures 5.18 and 5.19: the response without matching shapes. {BY_PRESET}"
)
def gjk_epa(result: Result) -> Figure:
    """A line for each volume."""
    return _by_frame(result, "gjk_epa", "milliseconds of GJK and EPA")


@STUDY.figure("build", "Building the volumes", f"Figure 5.20. {BY_PRESET}")
def build(result: Result) -> Figure:
    """A line for each volume."""
    return _by_frame(result, "build", "milliseconds to build")


@STUDY.figure("sap", "The sweep by frame", f"Figures 5.21 and 5.22: projection, sort and prune. {BY_PRESET}")
def sap(result: Result) -> Figure:
    """A line for each volume."""
    return _by_frame(result, "sap", "milliseconds of the sweep")


@STUDY.figure("sap-phases", "The phases of the sweep", f"Figure 5.23. {MEDIANS}")
def sap_phases(result: Result) -> Figure:
    """A panel for each of the six runs."""
    from choque.lab.style import COLOURS

    def draw(axis: Axes, frames: Series) -> None:
        for colour, phase in zip(COLOURS, ("projection", "radix", "prune", "pca"), strict=False):
            axis.plot(frames["frame"], frames[phase], label=phase, color=colour, linewidth=1.0)
        axis.set_yscale("log")

    return _six(result, draw, "milliseconds")


@STUDY.figure(
    "field-times",
    "Bounds, broad phase and contacts by number of bodies",
    "Bodies of 24 vertices in a cube, three overlapping boxes each; a panel for each elongation. A line ends where "
    "candidates would not fit, or take too long.",
)
def field_times(result: Result) -> Figure:
    """Draw what goes beyond the thesis: up to a million bodies, five volumes."""
    return _fields(result, None)


@STUDY.figure(
    "field-pairs", "Candidates by number of bodies", "The same fields: what each volume leaves to the exact tests."
)
def field_pairs(result: Result) -> Figure:
    """False positives by volume."""
    return _fields(result, "candidates")


@STUDY.figure(
    "map",
    "Which volume pays where",
    "The fastest of five volumes by number of bodies and elongation, and its lead over the second.",
)
def best_where(result: Result) -> Figure:
    """A row for each elongation."""
    from choque.lab.performance_map import draw_map

    return draw_map(_only(result, FIELD), rows="elongation")


@STUDY.figure(
    "sorts",
    "Seconds to sort by number of keys",
    "The decimal radix sort of the thesis, the library's and a bitonic network on Warp's CPU device, which is one slow "
    "thread: they say how much work each is, nothing about a card. Beside them the sort of sap-kdop and NumPy's.",
)
def sorts(result: Result) -> Figure:
    """One panel."""
    from choque.lab import figures

    return figures.curves(_only(result, SORTING), panels="experiment", series=(*DEVICE_SORTS, *CPU_SORTS))


def _only(result: Result, experiment: str) -> Result:
    """Return the result of one experiment alone."""
    samples = result.samples.where(lambda row: row.get("experiment") == experiment)
    return Result(result.study, result.folder, result.record, samples)


def _fields(result: Result, metric: str | None) -> Figure:
    """A panel for each elongation."""
    from choque.lab import figures

    some = _only(result, FIELD)
    return figures.curves(
        some, panels="elongation", metric=metric, series=FIELD_VOLUMES, titled=lambda level: f"elongation {level:g}"
    )


def _smooth(frames: Series) -> Series:
    """Return the medians of every column over windows of frames."""
    width = max(len(frames["frame"]) // WINDOWS, 1)
    count = len(frames["frame"]) // width
    return {name: np.median(values[: count * width].reshape(count, width), axis=1) for name, values in frames.items()}


def _by_frame(result: Result, column: str | Callable[[Series], Values], label: str) -> Figure:
    """A column by frame: a row of panels for each shape, a column for each preset, a line for each volume."""
    from choque.lab.style import empty_figure, marks, new_figure

    presets = presets_of(result)
    drawn = {
        (elongation, preset, volume): frames
        for elongation in (UNSCALED, SCALED)
        for preset in presets
        for volume in volumes_of(result)
        if (frames := series(result, elongation, volume, preset)) is not None
    }
    if not drawn:
        return empty_figure()
    figure = new_figure(0.4 + 3.9 * len(presets), 5.2)
    grid = figure.subplots(2, len(presets), squeeze=False, sharey="row")
    signs = marks(VOLUMES)
    for (elongation, preset, volume), frames in drawn.items():
        axis = grid[(UNSCALED, SCALED).index(elongation), presets.index(preset)]
        options = {**signs[volume].options(), "marker": ""} if volume in signs else {}
        smooth = _smooth(frames)
        values = smooth[column] if isinstance(column, str) else column(smooth)
        axis.plot(smooth["frame"], values, label=TITLES.get(volume, volume), **options)
        axis.set_title(f"{SHAPES[elongation]}, {preset}")
    for axis in grid[:, 0]:
        axis.set_ylabel(label)
        axis.set_ylim(bottom=0)
    for axis in grid[-1]:
        axis.set_xlabel("frame")
    _legend(figure, grid.flat)
    return figure


def _six(result: Result, draw: Callable[[Axes, Series], None], label: str) -> Figure:
    """The six runs of the main preset: a row for each shape, a column for each volume."""
    from choque.lab.style import empty_figure, new_figure

    runs = {
        (elongation, volume): frames
        for elongation in (UNSCALED, SCALED)
        for volume in VOLUMES
        if (frames := series(result, elongation, volume, MAIN)) is not None
    }
    if not runs:
        return empty_figure()
    figure = new_figure(8.6, 5.2)
    grid = figure.subplots(2, len(VOLUMES), sharex=True, sharey=True)
    for (elongation, volume), frames in runs.items():
        axis = grid[(UNSCALED, SCALED).index(elongation), VOLUMES.index(volume)]
        draw(axis, _smooth(frames))
        axis.set_title(f"{TITLES[volume]}, {SHAPES[elongation]}")
    for axis in grid[-1]:
        axis.set_xlabel("frame")
    for axis in grid[:, 0]:
        axis.set_ylabel(label)
    _legend(figure, grid.flat)
    return figure


def _legend(figure: Figure, axes: Any) -> None:
    handles: dict[str, Any] = {}
    for axis in np.asarray(list(axes)):
        found, labels = axis.get_legend_handles_labels()
        handles.update(zip(labels, found, strict=True))
    figure.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=min(4, max(len(handles), 1)))
