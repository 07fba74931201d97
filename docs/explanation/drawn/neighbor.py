"""The figure of neighbour lists: the cells, the images and the runs that one point looks at."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Polygon

import choque
from choque.neighbors._cells import check_cells
from choque.neighbors._find import check_group
from choque.neighbors.search import FULL, Pass, count_pass, prepare

from .canvas import BLACK, BLUE, GREY, OCHRE, RED, TEAL, boxes, drawn, panels, plain

VECTORS = np.array([[10.0, 0.0], [3.0, 8.0]])


def prepared(positions: Any, cutoff: float, cell: Any) -> Pass:
    """The points and their images, sorted for a search."""
    group, dimension = check_group(positions, None, "positions", "radii")
    return prepare(group, group, check_cells(cell, None, dimension), cutoff, FULL, 1)


def draw_search(axes: Any, positions: Any, cutoff: float) -> None:
    """All that is sorted, and what one point looks at."""
    search = prepared(positions, cutoff, VECTORS)
    points, frame, shape = search.points, search.points.frame, search.points.shape
    place = np.stack((points.x[:-8], points.y[:-8]), axis=1) + frame[0, :2]
    own = int(search.rows[np.argmin(np.linalg.norm(place[search.rows] - (9.6, 1.9), axis=1))])
    reach = cutoff + search.rule.slack
    first, last = (
        np.clip(((place[own] + sign * reach - frame[0, :2]) * frame[1, :2]).astype(int), 0, shape[:2] - 1)
        for sign in (-1, 1)
    )
    edge = 1 / frame[1, :2]
    low = frame[0, :2] + first * edge
    high = frame[0, :2] + (last + 1) * edge
    boxes(axes, [low], [high], facecolor=OCHRE, alpha=0.25, edgecolor="none")
    for axis, draw in ((0, axes.vlines), (1, axes.hlines)):
        walls = frame[0, axis] + np.arange(shape[axis] + 1) * edge[axis]
        end = frame[0, 1 - axis] + shape[1 - axis] * edge[1 - axis]
        draw(walls, frame[0, 1 - axis], end, color=TEAL, linewidth=0.4, alpha=0.7)
    axes.add_patch(Polygon([[0, 0], VECTORS[0], VECTORS.sum(axis=0), VECTORS[1]], fill=False, linewidth=1.2))
    tested = np.zeros(len(place), bool)
    for row in range(first[1], last[1] + 1):
        line = row * shape[0]
        tested[points.starts[line + first[0]] : points.starts[line + last[0] + 1]] = True
    is_image = np.ones(len(place), bool)
    is_image[search.rows] = False
    near = tested & (np.linalg.norm(place - place[own], axis=1) < cutoff)
    near[own] = False
    for chosen, colour in ((~tested, GREY), (tested & ~near, BLUE), (near, RED)):
        axes.plot(*place[chosen & ~is_image].T, "o", color=colour, markersize=3.2)
        axes.plot(*place[chosen & is_image].T, "o", color=colour, markersize=3.2, fillstyle="none", markeredgewidth=0.8)
    axes.plot(*place[own], "o", color=BLACK, markersize=5)
    axes.add_patch(Circle(place[own], cutoff, fill=False, color=BLACK, linewidth=0.9))
    plain(axes, f"{tested.sum() - 1} candidates, {near.sum()} neighbours")


@drawn()
def neighbors() -> Figure:
    """A search in a tilted cell, and how few candidates need the exact rule."""
    random = np.random.default_rng(5)
    figure, (space, counts) = panels(9.2, 3.9, 2, width_ratios=(1.5, 1))
    draw_search(space, random.random((90, 2)) @ VECTORS, 2.0)

    size, cutoff, edge = 20_000, 5.0, 60.0
    positions = random.uniform(0, edge, (size, 3))
    search = prepared(positions, cutoff, [edge] * 3)
    listed = np.zeros(size, np.int64)
    candidates = count_pass(search, listed, 1)
    slack = search.rule.slack + cutoff * 0.5e-5  # squares are compared with a margin of 1e-5
    distance = choque.neighbors(positions, cutoff + slack, cell=[edge] * 3, quantities="d")
    open_count = int((distance > cutoff - slack).sum())
    rows = {
        "all pairs": size * (size - 1),
        "in the runs": candidates,
        "neighbours": int(listed.sum()),
        "left open by float32": open_count,
    }
    bars = counts.barh(list(rows), list(rows.values()), color=(GREY, BLUE, RED, OCHRE))
    counts.bar_label(bars, [f"{value:,}" for value in rows.values()], padding=3, fontsize=8)
    counts.set(xscale="log", xlim=(10, 3e10), title=f"{size:,} points, from both sides")
    counts.invert_yaxis()
    counts.grid(axis="y", visible=False)
    return figure
