"""Figures of solids of voxels."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from choque.lab import phantoms
from choque.theses.evm.sweep import SweepCounters, sweep_collides
from choque.volumes import ExtremeVertices
from choque.volumes.collision import search

from .canvas import BLACK, BLUE, GREY, OCHRE, PALE, RED, TEAL, boxes, drawn, panels, plain

SHADES = (BLUE, OCHRE, TEAL)


def flat_object() -> Any:
    """A mask (x, y) with a hole and two corners where cells touch."""
    mask = np.zeros((12, 9), bool)
    mask[1:7, 1:8] = True
    mask[3:5, 3:6] = False
    mask[7:10, 3:5] = True
    mask[10, 5:8] = True
    return mask


def draw_cells(axes: Any, mask: Any, at: tuple[int, int] = (0, 0), **look: Any) -> None:
    """The full cells of a mask."""
    corner = np.argwhere(mask) + at
    boxes(axes, corner, corner + 1, **{"edgecolor": "white", "linewidth": 0.4, **look})


@drawn()
def extreme_vertices() -> Figure:
    """Cells, the corners at which an odd number of them meets, and the sections between planes."""
    mask = flat_object()
    model = ExtremeVertices.from_mask(mask)
    figure, (cells, sections, solids) = panels(9.8, 3.2, 3)
    draw_cells(cells, mask, facecolor=PALE)
    padded = np.pad(mask, 1).astype(int)
    around = padded[:-1, :-1] + padded[1:, :-1] + padded[:-1, 1:] + padded[1:, 1:]
    cells.plot(*np.argwhere((around > 0) & (around < 4)).T, ".", color=GREY, markersize=3)
    cells.plot(*model.points.T, "o", color=RED, markersize=5)
    plain(cells, f"{mask.sum()} cells, {len(model.points)} extreme vertices")
    for number, (first, last, section) in enumerate(model.slices()):
        ends = section.points.ravel()
        for low, high in zip(ends[::2], ends[1::2], strict=True):
            boxes(
                sections, [np.array([first, low])], [np.array([last, high])], facecolor=SHADES[number % 3], alpha=0.45
            )
    for plane, _ in model.planes():
        sections.axvline(plane, color=BLACK, linewidth=0.6, linestyle=":")
    sections.plot(*model.points.T, "o", color=RED, markersize=4)
    plain(sections, f"{len(list(model.slices()))} sections, constant between planes")
    names = ("ball", "vertebra", "screw", "menger", "gyroid")
    shares = []
    for name in names:
        volume = phantoms.make(name, 81)
        shares.append(100 * len(volume.model.points) / volume.voxel_count)
    solids.barh(names, shares, color=BLUE)
    solids.set(title="vertices, in % of the voxels (81³)")
    solids.grid(axis="y", visible=False)
    return figure


@drawn()
def volume_collision() -> Figure:
    """Two flat objects: the sections that both have in common, and the first overlap that ends the search."""
    one = flat_object()
    other = np.zeros((9, 8), bool)
    other[0:5, 2:4] = True
    other[2:9, 4:7] = True
    figure, axes = panels(9, 3.6, 2)
    for panel, shift in zip(axes, ((8, -2), (7, 2)), strict=True):
        first, second = (ExtremeVertices.from_mask(mask[:, :, None]) for mask in (one, other))
        found = search(first, second, (*shift, 0), axis="x")
        counters = SweepCounters()
        flat, moved = ExtremeVertices.from_mask(one), ExtremeVertices.from_mask(other).moved(shift)
        assert sweep_collides(flat, moved, counters=counters) == (found.overlap is not None)
        draw_cells(panel, one, facecolor=BLUE, alpha=0.35)
        draw_cells(panel, other, shift, facecolor=OCHRE, alpha=0.45)
        low = max(first.bounds[0][0], second.bounds[0][0] + shift[0])
        high = min(first.bounds[1][0], second.bounds[1][0] + shift[0])
        panel.axvspan(low, high, color=TEAL, alpha=0.12, linewidth=0)
        walls = {plane for plane, _ in first.planes()} | {plane + shift[0] for plane, _ in second.planes()}
        for wall in sorted(walls):
            panel.axvline(wall, color=BLACK, linewidth=0.5, linestyle=":")
        verdict = "no overlap"
        if found.overlap is not None:
            box = np.array(found.overlap)[:, :2]
            boxes(panel, box[:1], box[1:], facecolor=RED, edgecolor=BLACK, alpha=0.9)
            verdict = "the first overlap ends the search"
        plain(panel, f"{verdict}; brinks read: {counters.brinks}")
        panel.set(xlim=(-0.5, 18), ylim=(-2.5, 10))
    return figure
