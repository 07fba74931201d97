"""Figures of tighter bounds and of the sweeps that use them."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

import choque
from choque._core.pair_keys import unpack_pairs
from choque._core.records import pack_records
from choque._core.sweep_axis import principal_direction
from choque.gpu.sweep import sweep_slabs
from choque.theses.fingsics.totals import Cost, cost_of
from choque.theses.kdop.sorts import library_order

from .canvas import BLACK, BLUE, GREEN, GREY, OCHRE, PALE, RED, TEAL, VIOLET, drawn, panels, plain


def region(axes: Any, volumes: Any, row: int, window: tuple[float, float, float, float], colour: str) -> None:
    """Fill where all slabs of a k-DOP in the plane overlap."""
    left, right, bottom, top = window
    place = np.stack(np.meshgrid(np.linspace(left, right, 500), np.linspace(bottom, top, 500)), axis=-1)
    reach = place @ choque.bounds.directions(volumes.k).T
    inside = ((reach >= volumes.lower[row]) & (reach <= volumes.upper[row])).all(axis=-1)
    axes.contourf(place[..., 0], place[..., 1], inside, levels=[0.5, 2], colors=[colour], alpha=0.25)
    axes.contour(place[..., 0], place[..., 1], inside, levels=[0.5], colors=[colour], linewidths=1)


def rods(count: int, seed: int, side: float, length: float = 1.6, width: float = 0.16) -> Any:
    """Thin rectangles in all directions: corners (n, 4, 2)."""
    random = np.random.default_rng(seed)
    angle = random.uniform(0, np.pi, count)
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]).transpose(2, 0, 1)
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * [length / 2, width / 2]
    return random.uniform(0, side, (count, 1, 2)) + corners @ turn


@drawn("png")
def kdops() -> Figure:
    """Two bodies that boxes cannot part and 8-DOPs can."""
    leaf = np.array([[0, 0], [1.1, 0.15], [2.6, 1.9], [2.9, 2.8], [2.0, 2.7], [0.3, 1.1]])
    pair = np.stack((leaf, leaf + [1.5, -1.1]))
    figure, axes = panels(8.8, 3.6, 2)
    for panel, k in zip(axes, (4, 8), strict=True):
        volumes = choque.bounds.KDops.fit(pair, k=k)
        meet = bool(volumes.overlap([[0, 1]])[0])
        for row, colour in enumerate((BLUE, OCHRE)):
            region(panel, volumes, row, (-1, 6, -2, 4), colour)
            panel.add_patch(Polygon(pair[row], facecolor=colour, alpha=0.75))
        name = "boxes, which are 4-DOPs" if k == 4 else "8-DOPs"
        plain(panel, f"{name}: {'overlap' if meet else 'apart'}")
        panel.set(xlim=(-0.5, 5), ylim=(-1.6, 3.2))
    return figure


@drawn()
def sap_kdop() -> Figure:
    """The principal axis of the centres, the direction it is snapped to, and how many tests each direction takes."""
    random = np.random.default_rng(6)
    along = random.normal(0, 4.5, 90)
    centre = np.stack((along, 0.85 * along), axis=1) + random.normal(0, 0.9, (90, 2))
    points = rods(90, 2, 0.0, 1.1, 0.3) + centre[:, None]
    volumes = choque.bounds.KDops.fit(points, k=8)
    broad: Any = choque.broad.create("sap-kdop", volumes)
    pairs = broad.pairs()
    principal: Any = principal_direction(pack_records(volumes.boxes(), True, 1), 2)
    figure, (space, chart) = panels(8.8, 3.8, 2)
    for body in points:
        space.add_patch(Polygon(body, facecolor=BLUE, alpha=0.6))
    for vector, colour, name in (
        (principal[:2], RED, "principal axis"),
        (np.array(broad.index.axis), GREEN, f"swept: {broad.index.axis}"),
    ):
        ray = vector / np.linalg.norm(vector) * 13
        space.plot((-ray[0], ray[0]), (-ray[1], ray[1]), color=colour, linewidth=1, label=name)
    space.legend(loc="upper left")
    plain(space)
    tests = []
    for slab in range(4):
        low, high = volumes.lower[:, slab], volumes.upper[:, slab]
        order = np.argsort(low)
        tests.append(sum(int((low[order[k + 1 :]] <= high[row]).sum()) for k, row in enumerate(order)))
    names = [str(tuple(direction)) for direction in choque.bounds.directions(8).tolist()]
    swept = names.index(str(tuple(broad.index.axis)))
    chart.bar(names, tests, color=[GREEN if k == swept else PALE for k in range(4)], edgecolor=GREY)
    chart.axhline(len(pairs), color=RED, label=f"{len(pairs)} pairs overlap")
    chart.legend(loc="upper left")
    chart.set_ylim(100, None)
    chart.set(title="intervals that meet, by the direction swept", yscale="log")
    chart.grid(axis="x", visible=False)
    return figure


@drawn()
def oriented_boxes() -> Figure:
    """Two turned boxes, the axis that separates them, and their shadows on it."""
    outline = np.array([[-1.6, -0.5], [1.6, -0.5], [1.6, 0.5], [-1.6, 0.5]])
    turns = [np.array([[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]]) for a in (-1.2, 0.6)]
    pair = np.stack((outline @ turns[0], outline @ turns[1] + [1.9, 1.35]))
    fitted = choque.bounds.OrientedBoxes.fit(pair)
    around = fitted.boxes()
    gaps = {}
    for axis in fitted.axes.reshape(-1, 2):
        (low, high), (other_low, other_high) = (
            ((body @ axis).min() for body in pair),
            ((body @ axis).max() for body in pair),
        )
        gaps[tuple(axis.tolist())] = max(high - other_low, low - other_high)
    best = np.array(max(gaps, key=gaps.__getitem__))
    figure, (left, right) = panels(8.8, 3.6, 2)
    across = np.array([-best[1], best[0]])
    base = across * ((pair @ across).max() + 0.5)
    ends = (pair @ best).min() - 0.5, (pair @ best).max() + 0.5
    right.plot(*np.array([base + value * best for value in ends]).T, color=BLACK, linewidth=0.8)
    for row, colour in enumerate((BLUE, OCHRE)):
        low, high = around.lower[row], around.upper[row]
        left.add_patch(Polygon([low, (high[0], low[1]), high, (low[0], high[1])], fill=False, edgecolor=colour))
        for panel in (left, right):
            panel.add_patch(Polygon(pair[row], facecolor=colour, alpha=0.6))
        reach = pair[row] @ best
        right.plot(
            *np.array([base + value * best for value in (reach.min(), reach.max())]).T,
            color=colour, linewidth=5, solid_capstyle="butt",
        )  # fmt: skip
        for corner in (pair[row][reach.argmin()], pair[row][reach.argmax()]):
            right.plot(*np.array([corner, base + corner @ best * best]).T, ":", color=colour, linewidth=0.8)
    plain(left, f"boxes along the axes: {'overlap' if around.overlap([[0, 1]])[0] else 'apart'}")
    verdict = "overlap" if fitted.overlap([[0, 1]])[0] else "apart"
    plain(right, f"oriented boxes: {verdict}, by a gap of {max(gaps.values()):.2f}")
    for panel in (left, right):
        panel.autoscale_view()
    return figure


@drawn()
def sap_obb() -> Figure:
    """Whether the filter pays, by what an exact test costs: the counts are those of a world of capsules."""
    random = np.random.default_rng(0)
    world = choque.World(broad="sap-obb", response="impulse", threads=1)
    turns = np.linalg.qr(random.normal(size=(220, 3, 3)))[0]
    turns *= np.linalg.det(turns)[:, None, None]
    world.add_capsules(
        random.uniform(0, 14, (220, 3)), radius=0.25, length=2.5, rotation=turns, velocity=random.normal(0, 2, (220, 3))
    )
    letters = sum((cost_of(world.step(1 / 60)) for _ in range(20)), Cost()).letters()
    tested, left = int(letters["b"]), int(letters["o"])
    figure, (bars, chart) = panels(8.8, 3.4, 2, width_ratios=(1, 1.5))
    contacts = len(world.contacts().pairs)
    pairs = choque.pairs(*(lambda box: (box.lower, box.upper))(world.bounds().boxes()))
    bars.bar(
        ("boxes", "oriented\nboxes", "contacts"),
        (len(pairs), len(world.pairs()), contacts),
        color=(PALE, OCHRE, RED),
        edgecolor=GREY,
    )
    bars.set(title="pairs that pass, in one frame")
    bars.grid(axis="x", visible=False)
    ratio = np.linspace(0, 8, 100)
    chart.plot(ratio, tested + left * ratio, color=OCHRE, label="with the filter: b B + o O")
    chart.plot(ratio, tested * ratio, color=BLACK, linestyle="--", label="without it: b O")
    threshold = tested / (tested - left)
    chart.axvline(threshold, color=RED, linewidth=0.8)
    chart.text(threshold + 0.1, tested * 6.5, f"b / (b − o) = {threshold:.2f}", color=RED)
    chart.set(xlabel="O / B: what an exact test costs, in oriented tests", ylabel="time, in oriented tests")
    chart.set(title=f"20 frames: b = {tested:,}, o = {left:,}", xlim=(0, 8), ylim=(0, None))
    chart.legend()
    return figure


@drawn()
def gpu_sweep() -> Figure:
    """Count, scan, fill: the numbers of a sweep of fourteen boxes by the kernels of a card, on Warp's processor."""
    random = np.random.default_rng(9)
    lower = random.uniform(0, 9, (14, 3)) * [1, 0.3, 0.3]
    upper = lower + random.uniform(0.8, 2.4, (14, 3))
    order = np.asarray(library_order(lower[:, 0], "warp-cpu")).astype(int)
    keys, tests = sweep_slabs(np.concatenate((lower, upper), axis=1), 0, "warp-cpu")
    pairs = unpack_pairs(keys)
    place = np.argsort(order)
    counts = np.bincount(place[pairs].min(axis=1), minlength=14)
    sums = np.concatenate(([0], np.cumsum(counts)))
    figure, (line, table) = panels(9.2, 3.8, 2, width_ratios=(1, 1.5))
    colours = (BLUE, OCHRE, GREEN, RED, VIOLET, TEAL, GREY)
    for k, row in enumerate(order):
        line.plot((lower[row, 0], upper[row, 0]), (k, k), color=colours[k % 7], linewidth=3)
    line.set(title="sorted intervals, one item each", xlabel="x", ylabel="place", ylim=(13.6, -0.6))
    for k in range(14):
        table.text(k, 2.2, str(counts[k]), ha="center", va="center", color=colours[k % 7], fontweight="bold")
        table.text(k, 1.2, str(sums[k]), ha="center", va="center")
        for written in range(sums[k], sums[k + 1]):
            at = written * 14 / max(sums[-1], 1)
            table.barh(0, 14 / sums[-1], left=at - 0.5, height=0.5, color=colours[k % 7], edgecolor="white")
    for height, name in ((2.2, "count"), (1.2, "scan"), (0, "fill")):
        table.text(-1, height, name, ha="right", va="center")
    table.set(
        xlim=(-3, 14), ylim=(-0.8, 2.9), title=f"{tests} tests, {sums[-1]} pairs, each written to a place of its own"
    )
    table.axis("off")
    return figure
