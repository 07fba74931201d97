"""Draw the figures of the how-to pages: overlapping boxes, kept and dropped detections, features of two layers.

``python docs/images/how_to.py`` writes them beside itself as ``how_to_*.svg``; they are the same on every run.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.collections import PatchCollection
from matplotlib.figure import Figure
from matplotlib.patches import Polygon, Rectangle

import choque
from choque.files.atomic import replacing
from choque.lab.style import COLOURS, figure_style, new_figure, to_svg

RED, BLUE, OCHRE = COLOURS[1:4]
GREY = "#999999"


def boxes() -> Figure:
    """Boxes that overlap another one, and a line for each pair."""
    random = np.random.default_rng(3)
    lower = random.uniform((0, 0), (30, 9), (150, 2))
    upper = lower + random.uniform(0.4, 1.6, (150, 2))
    pairs = choque.pairs(lower, upper)
    figure, (axes,) = _space(1)
    alone = np.isin(np.arange(len(lower)), pairs, invert=True)
    _rectangles(axes, lower[alone], upper[alone], GREY)
    _rectangles(axes, lower[~alone], upper[~alone], OCHRE)
    middle = (lower + upper) / 2
    axes.plot(*middle[pairs].T, color=BLUE, linewidth=1, marker="o", markersize=2)
    axes.set_title(f"choque.pairs: {len(pairs)} pairs of {len(lower)} boxes")
    return figure


def detections() -> Figure:
    """What a detector found, and what suppression keeps of it."""
    random = np.random.default_rng(5)
    things = np.array([[1, 1, 5, 4], [7, 0.5, 9.5, 4.5], [11, 1.5, 16, 3.5], [17.5, 0.8, 20, 4.2]])
    found = np.repeat(things, 7, axis=0) + random.normal(0, 0.3, (28, 4))
    scores = random.uniform(0.3, 1.0, len(found))
    kept = choque.boxes.suppress(found, scores, iou=0.5)
    figure, (before, after) = _space(2)
    _rectangles(before, found[:, :2], found[:, 2:], RED, fill=False)
    _rectangles(after, found[kept, :2], found[kept, 2:], BLUE, fill=False)
    before.set_title(f"{len(found)} detections")
    after.set_title(f"choque.boxes.suppress keeps {len(kept)}")
    return figure


def maps() -> Figure:
    """Buildings and parcels whose boxes overlap: the candidates of a spatial join."""
    random = np.random.default_rng(11)
    buildings, parcels = _polygons(random, 40, 0.6), _polygons(random, 14, 1.6)
    bounds = [np.stack((each.min(axis=1), each.max(axis=1))) for each in (buildings, parcels)]
    pairs = choque.join(*bounds[0], *bounds[1])
    figure, (axes,) = _space(1)
    axes.add_collection(PatchCollection([Polygon(each) for each in parcels], facecolor=GREY, alpha=0.35))
    axes.add_collection(PatchCollection([Polygon(each) for each in buildings], facecolor=GREY))
    axes.add_collection(PatchCollection([Polygon(each) for each in buildings[np.unique(pairs[:, 0])]], facecolor=OCHRE))
    ends = np.stack((buildings.mean(axis=1)[pairs[:, 0]], parcels.mean(axis=1)[pairs[:, 1]]))
    axes.plot(*np.moveaxis(ends, 2, 0), color=BLUE, linewidth=1)
    axes.autoscale_view()
    axes.set_title(f"choque.join: {len(pairs)} pairs of a building and a parcel may intersect")
    return figure


def _polygons(random: np.random.Generator, count: int, radius: float) -> Any:
    """Return hexagons (count, 6, 2), strewn over a strip."""
    angle = random.uniform(0, 1, (count, 1)) + np.arange(6) * np.pi / 3
    reach = radius * random.uniform(0.7, 1.3, (count, 6))
    center = random.uniform((0, 0), (28, 8), (count, 2))
    return center[:, None] + reach[..., None] * np.stack((np.cos(angle), np.sin(angle)), axis=-1)


def _space(count: int) -> tuple[Figure, list[Any]]:
    figure = new_figure(8, 3 if count == 1 else 1.5)
    panels = list(np.atleast_1d(figure.subplots(1, count)))
    for axes in panels:
        axes.set_aspect("equal")
        axes.axis("off")
    return figure, panels


def _rectangles(axes: Any, lower: Any, upper: Any, colour: str, *, fill: bool = True) -> None:
    patches = [Rectangle(tuple(low), *(high - low)) for low, high in zip(lower, upper, strict=True)]
    face = colour if fill else "none"
    axes.add_collection(PatchCollection(patches, facecolor=face, edgecolor=colour, alpha=0.7, linewidth=1.2))
    axes.autoscale_view()


FIGURES: tuple[Callable[[], Figure], ...] = (boxes, detections, maps)


def main() -> None:
    """Write every figure."""
    for draw in FIGURES:
        with figure_style():
            text = to_svg(draw())
        with replacing(Path(__file__).with_name(f"how_to_{draw.__name__}.svg")) as handle:
            handle.write(text.encode())


if __name__ == "__main__":
    main()
