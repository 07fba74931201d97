"""Pictures of moving polygons: stills, the space-time diagram of one axis, the events of a run, an animation."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque.errors import InvalidInput, require
from choque.files.atomic import beside, replacing
from choque.kinetic import Sweep
from choque.theses.kinetic import Model

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, PAPER, BOX, ALONE, COLLIDING, ARROW = "#1d2433", "#ffffff", "#9aa5b8", "#dfe5ee", "#f2a65a", "#c4442d"


class Palette(NamedTuple):
    """The colours of polygons: numbers and edges, boxes, those alone, those in pairs, velocities."""

    ink: str = INK
    box: str = BOX
    alone: str = ALONE
    colliding: str = COLLIDING
    arrow: str = ARROW


ON_PAPER = Palette()
LOWER, UPPER = "#1f5fa8", "#e09a2b"
AXIS_NAMES = "xyz"
MAX_PANELS = 12
MAX_OBJECTS = 120
"""Maximum number of objects in a legible space-time diagram."""

LABEL_SHARE, LABEL_WIDTH = 0.035, 17
"""Height of the label of a band as a share of the diagram, and its width [points]."""


def draw_still(path: str | os.PathLike[str], model: Model, time: float | None = None) -> None:
    """Draw the scene at ``time``: polygons, their boxes, velocities as red arrows, and overlapping pairs of boxes."""
    at = model.interval[0] if time is None else time
    figure, axes = _figure(6.4, 6.4)
    paint(axes, model, at, _sweep_at(model, at))
    _save(path, figure)


def draw_events(path: str | os.PathLike[str], model: Model) -> None:
    """Draw a panel for each event at which an overlap of two boxes begins or ends, at most twelve."""
    sweep = model.sweep()
    moments = list(dict.fromkeys(event.time for event in sweep.advance(model.interval[1])))[:MAX_PANELS]
    columns = min(max(len(moments), 1), 4)
    rows = max(-(-len(moments) // columns), 1)
    figure, axes = _figure(3.0 * columns, 3.0 * rows, rows, columns)
    panels = np.atleast_1d(axes).ravel()
    for panel in panels[len(moments) :]:
        panel.set_axis_off()
    for panel, moment in zip(panels, moments, strict=False):
        paint(panel, model, moment, _sweep_at(model, moment))
    _save(path, figure)


def draw_space_time(path: str | os.PathLike[str], model: Model, *, axis: int = 0) -> None:
    """Draw the end points of one axis over time: a band an object, a dot an event, a ring a multiple one."""
    if len(model) > MAX_OBJECTS:
        raise InvalidInput(f"The model has {len(model)} objects; a space-time diagram can show at most {MAX_OBJECTS}.")
    if axis not in (0, 1):
        raise InvalidInput(f"axis is {axis!r}; it must be 0 or 1.")
    figure, axes = _figure(8.0, 5.0)
    begin, end = model.interval
    lower, upper = model.boxes()
    for row in range(len(model)):
        drift = model.velocity[row, axis] * (end - begin)
        low, high = (corner[row, axis] + np.array([0.0, drift]) for corner in (lower, upper))
        axes.fill_between([begin, end], low, high, color=ALONE, alpha=0.35, linewidth=0)
        axes.plot([begin, end], low, color=LOWER, linewidth=1.0)
        axes.plot([begin, end], high, color=UPPER, linewidth=1.0)
    _number(axes, begin, (lower[:, axis] + upper[:, axis]) / 2)
    sweep, is_ringed = model.sweep(), False
    while sweep.next_time <= end:
        sweep.advance(end, stop="instant")
        for meeting in sweep.meetings:
            if meeting.axis != axis:
                continue
            body, side = divmod(meeting.after[0], 2)
            place = (upper if side else lower)[body, axis] + model.velocity[body, axis] * (meeting.time - begin)
            axes.plot(meeting.time, place, "o", color=ARROW, markersize=3.5, zorder=3)
            if meeting.is_multiple:
                is_ringed = True
                axes.plot(meeting.time, place, "o", color=ARROW, markersize=11, fillstyle="none", zorder=3)
    axes.set(xlabel="time", ylabel=f"{AXIS_NAMES[axis]} of the end points: blue lower, ochre upper", xlim=(begin, end))
    rings = "; a ring marks three or more at once" if is_ringed else ""
    axes.set_title(f"Every crossing is an event{rings}", loc="left")
    _save(path, figure)


def _number(axes: Axes, begin: float, places: NDArray[np.float64]) -> None:
    """Label each band at its start; labels that would overlap are placed side by side."""
    bottom, top = axes.get_ylim()
    above, column = -np.inf, 0
    for row in np.argsort(places, kind="stable").tolist():
        is_covered = places[row] - above < LABEL_SHARE * (top - bottom)
        column = column + 1 if is_covered else 0
        above = above if is_covered else places[row]
        offset = (5 + LABEL_WIDTH * column, -3)
        axes.annotate(str(row), (begin, places[row]), xytext=offset, textcoords="offset points", color=INK)


def animate(path: str | os.PathLike[str], model: Model, *, frame_count: int = 60, frames_per_second: int = 20) -> None:
    """Write an animation of the whole interval: .gif, or .mp4 by ffmpeg (extra ``video``, or a system package)."""
    animation = require("matplotlib.animation", extra="lab", purpose="to make animations")
    suffix = Path(path).suffix.lower()
    if suffix not in (".gif", ".mp4"):
        raise InvalidInput(f"The animation {path} must end in .gif or .mp4.")
    if suffix == ".mp4" and not animation.writers.is_available("ffmpeg"):
        films = require("imageio_ffmpeg", extra="video", purpose="to write an .mp4 (a .gif needs nothing)")
        matplotlib = require("matplotlib", extra="lab", purpose="to make animations")
        matplotlib.rcParams["animation.ffmpeg_path"] = films.get_ffmpeg_exe()
    if frame_count < 1 or frames_per_second < 1:
        raise InvalidInput(
            f"{frame_count} frames at {frames_per_second} per second were given; both must be at least 1."
        )
    figure, axes = _figure(5.0, 5.0)
    sweep = model.sweep()
    writer = (
        animation.PillowWriter(fps=frames_per_second)
        if suffix == ".gif"
        else animation.FFMpegWriter(fps=frames_per_second, extra_args=["-pix_fmt", "yuv420p"])
    )
    with beside(path) as partial, writer.saving(figure, str(partial), 100):
        for time in np.linspace(*model.interval, frame_count).tolist():
            sweep.advance(time)
            axes.clear()
            paint(axes, model, time, sweep)
            writer.grab_frame()


def _sweep_at(model: Model, time: float) -> Sweep:
    sweep = model.sweep()
    sweep.advance(time)
    return sweep


def _figure(width: float, height: float, rows: int = 1, columns: int = 1) -> tuple[Figure, Any]:
    require("matplotlib", extra="lab", purpose="to draw pictures")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), facecolor=PAPER, layout="constrained")
    return figure, figure.subplots(rows, columns)


def paint(axes: Axes, model: Model, time: float, sweep: Sweep, colors: Palette = ON_PAPER) -> None:
    """Draw the objects of ``model`` at ``time``, their boxes, and the pairs of ``sweep``, onto ``axes``."""
    from matplotlib.patches import Polygon as Patch
    from matplotlib.patches import Rectangle

    pairs = sweep.pairs()
    colliding = set(pairs.ravel().tolist())
    lower, upper = sweep.boxes()
    for row, polygon in enumerate(model.polygons_at(time)):
        fill = colors.colliding if row in colliding else colors.alone
        axes.add_patch(
            Rectangle(
                tuple(lower[row]),
                *(upper[row] - lower[row]),
                fill=False,
                edgecolor=colors.box,
                linewidth=0.7,
                linestyle=":",
            )
        )
        axes.add_patch(Patch(polygon, facecolor=fill, edgecolor=colors.ink, linewidth=0.8))
    centre = (lower + upper) / 2
    if len(model):
        axes.quiver(
            *centre.T, *model.velocity.T, color=colors.arrow, angles="xy", scale_units="xy", scale=1.0, width=0.005
        )
        if len(model) <= MAX_OBJECTS:
            for row, place in enumerate(centre):
                axes.annotate(str(row), tuple(place), ha="center", va="center", fontsize=7, color=colors.ink)
    for a, b in pairs.tolist():
        axes.plot(*np.stack((centre[a], centre[b])).T, color=colors.colliding, linewidth=1.2, zorder=0)
    (left, right), (bottom, top) = model.frame
    axes.set(xlim=(left, right), ylim=(bottom, top), aspect="equal", xticks=[], yticks=[])
    words = f"t = {time:.4g}, {len(pairs)} overlapping pair{'' if len(pairs) == 1 else 's'}"
    axes.set_title(words, loc="left", fontsize=9, color=colors.ink)


def _save(path: str | os.PathLike[str], figure: Figure) -> None:
    suffix = Path(path).suffix.lower().lstrip(".")
    if suffix not in ("png", "svg", "pdf"):
        raise InvalidInput(f"The picture {path} must end in .png, .svg or .pdf.")
    with replacing(path) as handle:
        figure.savefig(handle, format=suffix, dpi=150)
