"""Pictures of the motion view, off screen: polygons, and beside them the sorted lists and the queue."""

from __future__ import annotations

import os
import textwrap
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from choque.errors import InvalidInput, require
from choque.files.atomic import replacing
from choque.studio.motion.panel import shown_rows
from choque.studio.motion.player import MotionPlayer
from choque.studio.motion.state import AXIS_NAMES, AxisList, MotionState
from choque.studio.motion.words import explain_next, short_effect
from choque.studio.picture.kinetic import Palette, paint
from choque.studio.png import png_bytes
from choque.studio.stage.graphics import check_size
from choque.studio.viewpoint import SIZE
from choque.theses.kinetic.trace import end_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, FAINT, PAPER, ARROW, LOWER, UPPER = "#e8ecf3", "#93a0b5", "#1d2433", "#f05842", "#7fb2ee", "#e8b860"
COLORS = Palette(INK, "#8b98af", "#7692be", "#e8943e", ARROW)
"""The colours of the page."""
WIDTH, LINE = 12.8, 0.23
"""Size of the figure, and distance of two lines of text [inches]."""
LEGIBLE = 1100
"""Pictures of fewer pixels across show the polygons and the next event alone: letters would be too small."""
NARROWEST = 112
"""Pixels that the figure needs for its width, so that letters have one at least."""
QUEUE_WRITTEN = 6
"""How many events of the queue."""


Window = tuple[tuple[float, float], tuple[float, float]]
"""From where to where a picture shows the plane, along x and along y."""


def draw_motion(path: str | os.PathLike[str], player: MotionPlayer, *, size: tuple[int, int] = SIZE) -> None:
    """Draw what the motion view shows now to a ``.png`` file; an interrupted write leaves no file."""
    if Path(path).suffix.lower() != ".png":
        raise InvalidInput(f"The picture {path} must end in .png.")
    data = motion_png(player, size=size)
    with replacing(path) as handle:
        handle.write(data)


def motion_png(player: MotionPlayer, *, size: tuple[int, int] = SIZE, window: Window | None = None) -> bytes:
    """Draw what the motion view shows now, as the bytes of a PNG file."""
    return png_bytes(motion_image(player, size=size, window=window))


def motion_image(
    player: MotionPlayer, *, size: tuple[int, int] = SIZE, window: Window | None = None
) -> NDArray[np.uint8]:
    """Draw what the motion view shows now: (height, width, 3) red, green and blue, the top row first.

    ``window`` is the part of the plane to show; None for the frame of the model.
    """
    check_size(size)
    require("matplotlib", extra="lab", purpose="to draw pictures")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    # Letters of less than a pixel cannot be drawn: a small picture is drawn larger, and its pixels are averaged.
    finer = ceil(NARROWEST / size[0])
    height = WIDTH * size[1] / size[0]
    figure = Figure(figsize=(WIDTH, height), dpi=(finer * size[0] + 0.01) / WIDTH, facecolor=PAPER)
    is_small = size[0] < LEGIBLE
    left = figure.add_axes((0.02, 0.16, 0.96, 0.75) if is_small else (0.02, 0.04, 0.46, 0.92))
    paint(left, player.model, player.time, player.sweep, COLORS)
    left.set_facecolor(PAPER)
    if window is not None:
        left.set(xlim=window[0], ylim=window[1])
    if is_small:
        letters = 8.5 * LEGIBLE / size[0]
        words = textwrap.wrap(f"Next: {explain_next(player.state())}", int(190 * 8.5 / letters))
        figure.text(0.02, 0.14, "\n".join(words[:2]), color=INK, fontsize=letters, va="top", ha="left")
    else:
        right = figure.add_axes((0.51, 0.02, 0.48, 0.94))
        right.set_axis_off()
        line_count = max(int(0.94 * height / LINE), 1)
        right.set(xlim=(0.0, 1.0), ylim=(line_count, 0.0))
        _write(right, player.state(), line_count)
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    drawn: NDArray[np.uint8] = np.asarray(canvas.buffer_rgba())[:, :, :3]
    if finer == 1:
        return drawn.copy()
    tiles = drawn[: finer * size[1], : finer * size[0]].reshape(size[1], finer, size[0], finer, 3)
    averaged: NDArray[np.uint8] = tiles.mean(axis=(1, 3)).astype(np.uint8)
    return averaged


def _write(axes: Axes, state: MotionState, line_count: int) -> None:
    """Write the next event, the queue and the lists, from line 0 on."""
    reason = textwrap.wrap(f"Next: {explain_next(state)}", 84)
    for number, words in enumerate(reason):
        _write_line(axes, number, [(words, 0.0, INK)])
    at_line = len(reason) + 1
    columns = (("queue of events", 0.0), ("axis", 0.22), ("ends", 0.3), ("then", 0.42))
    _write_line(axes, at_line, [(words, at, FAINT) for words, at in columns])
    for planned in state.queue[:QUEUE_WRITTEN]:
        at_line += 1
        color = ARROW if planned.time == state.queue[0].time else INK
        ends = f"{end_name(planned.left)} {end_name(planned.right)}"
        cells = (f"{planned.time:.4f}", AXIS_NAMES[planned.axis], ends, short_effect(planned))
        _write_line(axes, at_line, [(word, at, color) for word, (_, at) in zip(cells, columns, strict=True)])
    left = state.queue_length - len(state.queue[:QUEUE_WRITTEN])
    if left:
        at_line += 1
        _write_line(axes, at_line, [(f"and {left:,} more", 0.0, FAINT)])
    for line in state.lists:
        _write_list(axes, state, line, at_line + 2, line_count)


def _write_list(axes: Axes, state: MotionState, line: AxisList, at_line: int, line_count: int) -> None:
    places = 0.5 * line.axis + np.array([0.0, 0.14, 0.28])
    heads = (f"{AXIS_NAMES[line.axis]} list", "at", "fails")
    _write_line(axes, at_line, [(head, place, FAINT) for head, place in zip(heads, places, strict=True)])
    following = [planned.slot for planned in state.queue if planned.axis == line.axis]
    begin, end = shown_rows(len(line.ends), min(following, default=0))
    first_due = state.queue[0].time if state.queue else np.inf
    for number, slot in enumerate(range(begin, end), start=at_line + 1):
        if number >= line_count:
            break
        due = float(line.due[slot])
        words = (
            end_name(int(line.ends[slot])),
            f"{line.position[slot]:.3f}",
            f"{due:.3f}" if np.isfinite(due) else "never",
        )
        colors = (UPPER if line.ends[slot] & 1 else LOWER, INK, ARROW if due == first_due else FAINT)
        _write_line(axes, number, list(zip(words, places, colors, strict=True)))


def _write_line(axes: Axes, number: int, cells: list[tuple[str, float, str]]) -> None:
    for words, place, color in cells:
        axes.text(place, number, words, color=color, fontsize=8.5, va="top", ha="left")
