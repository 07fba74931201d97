"""A picture of boxes and of their overlapping pairs.

Boxes in 3D are shown as a cut by a plane: two boxes that it cuts overlap if and only if their cuts do. If the plane
cuts too many boxes to be legible, a window shows some of them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from choque._core.types import Floats, Pairs, Rows
from choque.bounds import Boxes
from choque.errors import InvalidInput, require
from choque.files.atomic import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEGIBLE = 600
"""Maximum number of boxes that are legible in one picture."""

WINDOWED = 250
"""Approximate number of boxes in the window if there are more."""

INK, PAPER, LINE, ALONE = "#1d2433", "#ffffff", "#c2c9d6", "#f1f3f7"
COLLIDING = ("#ffe2a8", "#ffb56e", "#f07f5c", "#c9527d")
"""Fill colours of boxes that overlap one, two, three, and four or more others; darker also in grey."""


@dataclass(frozen=True)
class Cut:
    """The content of the picture: rectangles in a plane, and their overlapping pairs."""

    lower: Floats
    """(k, 2) corners of the rectangles, finite."""
    upper: Floats
    pairs: Pairs
    """(m, 2) rows of overlapping rectangles."""
    window: Floats
    """(2, 2): the lower and the upper corner of the visible part."""
    height: float | None
    """Position of the plane on the third axis; None in 2D."""

    @property
    def partners(self) -> Rows:
        """Number of others that each rectangle overlaps, (k,)."""
        return np.bincount(self.pairs.ravel(), minlength=len(self.lower))


def draw_scene(
    path: str | os.PathLike[str],
    lower: ArrayLike,
    upper: ArrayLike,
    pairs: ArrayLike,
    *,
    title: str = "Boxes and their colliding pairs",
    height: float | None = None,
) -> None:
    """Draw boxes and their pairs to a PNG file, which appears once it is complete.

    Parameters
    ----------
    path
        The ``.png`` file to write.
    lower, upper
        (n, 2) or (n, 3) corners, as in `choque.bounds.Boxes`.
    pairs
        (m, 2) rows of boxes that overlap.
    title
        The title of the picture.
    height
        In 3D, where the plane cuts the third axis; None for the middle.
    """
    if Path(path).suffix.lower() != ".png":
        raise InvalidInput(f"The picture {path} must end in .png.")
    if height is not None and not isfinite(height):
        raise InvalidInput(f"The height of the cut is {height!r}; it must be a finite number.")
    boxes = Boxes(lower, upper)
    rows = _rows_of(pairs, len(boxes))
    require("matplotlib", extra="lab", purpose="to draw pictures")
    cut = make_cut(boxes.lower, boxes.upper, rows, height)
    figure = _draw(cut, title, len(boxes), len(rows))
    with replacing(path) as handle:
        figure.savefig(handle, format="png", dpi=160)


def make_cut(lower: Floats, upper: Floats, pairs: Pairs, height: float | None = None) -> Cut:
    """Select the boxes that the plane and the window cut, and their pairs."""
    shown = np.ones(len(lower), np.bool_)
    if lower.shape[1] == 3:
        height = _middle(lower[:, 2], upper[:, 2]) if height is None else height
        shown &= (lower[:, 2] <= height) & (height <= upper[:, 2])
    else:
        height = None
    window = _window(lower[shown, :2], upper[shown, :2])
    shown &= (lower[:, :2] <= window[1]).all(axis=1) & (upper[:, :2] >= window[0]).all(axis=1)
    rows = np.cumsum(shown) - 1
    kept = pairs[shown[pairs[:, 0]] & shown[pairs[:, 1]]]
    # Infinite boxes, such as those of ground planes, are clipped well outside the picture.
    margin = window[1] - window[0]
    low, high = (np.clip(side[shown, :2], window[0] - margin, window[1] + margin) for side in (lower, upper))
    return Cut(low, high, rows[kept].astype(np.int32), window, height)


def _rows_of(pairs: ArrayLike, count: int) -> Pairs:
    """Return the pairs as an array (m, 2); each must be a row of one of ``count`` boxes."""
    table = np.asarray(pairs)
    if not table.size:
        return np.empty((0, 2), np.int32)
    if table.ndim != 2 or table.shape[1] != 2 or table.dtype.kind not in "iu":
        raise InvalidInput(f"pairs is {table.dtype} of shape {table.shape}; it must be integers of shape (m, 2).")
    if table.min() < 0 or table.max() >= count:
        wrong = table[((table < 0) | (table >= count)).any(axis=1)][0].tolist()
        raise InvalidInput(f"The pair {wrong} is out of range; rows go from 0 to {count - 1}.")
    return table.astype(np.int32)


def _middle(lower: Floats, upper: Floats) -> float:
    ends = np.concatenate((lower, upper))
    ends = ends[np.isfinite(ends)]
    return float(np.median(ends)) if len(ends) else 0.0


def _window(lower: Floats, upper: Floats) -> Floats:
    """Return the corners of the visible part: everything, or a window around the most central rectangle."""
    finite = np.isfinite(lower).all(axis=1) & np.isfinite(upper).all(axis=1)
    if not finite.any():
        return np.array([[-1.0, -1.0], [1.0, 1.0]])
    low, high = lower[finite].astype(np.float64), upper[finite].astype(np.float64)
    whole = np.stack((low.min(axis=0), high.max(axis=0)))
    if finite.sum() > LEGIBLE:
        centers = (low + high) / 2
        center = centers[np.abs(centers - np.median(centers, axis=0)).max(axis=1).argmin()]
        # The half side of a square that contains the wanted number of centers.
        radius = np.partition(np.abs(centers - center).max(axis=1), WINDOWED)[WINDOWED]
        whole = np.stack((np.maximum(center - radius, whole[0]), np.minimum(center + radius, whole[1])))
    padding = 0.02 * max(float((whole[1] - whole[0]).max()), 1e-6)
    return np.stack((whole[0] - padding, whole[1] + padding))


def _draw(cut: Cut, title: str, box_count: int, pair_count: int) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 8.6), facecolor=PAPER, layout="constrained")
    axes = figure.add_subplot()
    _draw_boxes(axes, cut)
    _draw_links(axes, cut)
    axes.set_xlim(*cut.window[:, 0])
    axes.set_ylim(*cut.window[:, 1])
    axes.set_aspect("equal")
    axes.set_xlabel("x", color=INK)
    axes.set_ylabel("y", color=INK, rotation=0)
    axes.tick_params(colors=INK, labelsize=8)
    for spine in axes.spines.values():
        spine.set_color(LINE)
    figure.suptitle(title, color=INK, fontsize=13, fontweight="bold")
    axes.set_title(_caption(cut, box_count, pair_count), color=INK, fontsize=9)
    _draw_legend(figure, cut)
    return figure


def _caption(cut: Cut, box_count: int, pair_count: int) -> str:
    caption = f"{box_count:,} boxes, {pair_count:,} pairs"
    if len(cut.lower) == box_count:
        return caption
    where = "In this window" if cut.height is None else f"Cut at z = {cut.height:.4g}"
    return f"{caption}. {where}: {len(cut.lower):,} boxes, {len(cut.pairs):,} pairs"


def _draw_boxes(axes: Axes, cut: Cut) -> None:
    from matplotlib.collections import PolyCollection

    order = np.argsort(-(cut.upper - cut.lower).prod(axis=1), kind="stable")  # small ones on top
    low, high = cut.lower[order], cut.upper[order]
    corners = [(low[:, 0], low[:, 1]), (high[:, 0], low[:, 1]), (high[:, 0], high[:, 1]), (low[:, 0], high[:, 1])]
    outlines = np.stack([np.stack(corner, axis=1) for corner in corners], axis=1)
    partners = np.minimum(cut.partners, len(COLLIDING))[order]
    axes.add_collection(
        PolyCollection(
            list(outlines),
            facecolor=np.array((ALONE, *COLLIDING))[partners].tolist(),
            edgecolor=np.where(partners == 0, LINE, INK).tolist(),
            linewidth=0.5,
            alpha=0.85,
        )
    )


def _draw_links(axes: Axes, cut: Cut) -> None:
    from matplotlib.collections import LineCollection
    from matplotlib.patheffects import withStroke

    if not len(cut.pairs):
        return
    center = (cut.lower + cut.upper) / 2
    width = _link_width(cut)
    halo = withStroke(linewidth=2.5 * width, foreground=PAPER, alpha=0.7)
    axes.add_collection(
        LineCollection(list(center[cut.pairs]), color=INK, linewidth=width, zorder=10, path_effects=[halo])
    )
    ends = center[np.unique(cut.pairs)]
    axes.scatter(ends[:, 0], ends[:, 1], s=5 * width**2, color=INK, zorder=11)


def _link_width(cut: Cut) -> float:
    """Return a line width [points], thinner for small boxes so that links do not hide them."""
    edge = float(np.median(cut.upper - cut.lower)) / float((cut.window[1] - cut.window[0]).max())
    return float(np.clip(60 * edge, 0.3, 1.1))


def _draw_legend(figure: Figure, cut: Cut) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    counts = np.bincount(np.minimum(cut.partners, len(COLLIDING)), minlength=len(COLLIDING) + 1)
    labels = ("overlaps none", "overlaps one", "overlaps two", "overlaps three", "overlaps four or more")
    entries: list[Patch | Line2D] = [
        Patch(
            facecolor=fill, edgecolor=LINE if label == labels[0] else INK, linewidth=0.5, label=f"{label} ({count:,})"
        )
        for fill, label, count in zip((ALONE, *COLLIDING), labels, counts.tolist(), strict=True)
    ]
    entries.append(
        Line2D([], [], color=INK, linewidth=1.1, marker="o", markersize=2.5, label=f"a pair ({len(cut.pairs):,})")
    )
    figure.legend(handles=entries, loc="outside lower center", ncols=3, frameon=False, fontsize=9, labelcolor=INK)
