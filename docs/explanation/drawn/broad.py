"""Figures of the broad phases over boxes."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

import choque
from choque.scale.tiling import cut

from .canvas import BLACK, BLUE, GREEN, GREY, OCHRE, PALE, RED, TEAL, VIOLET, boxes, drawn, panels, plain, some_boxes


def as_set(pairs: Any) -> set[tuple[int, int]]:
    """Pairs as a set of tuples."""
    return set(map(tuple, pairs.tolist()))


@drawn()
def sap_direct() -> Figure:
    """Boxes with their numbers in the sweep, and which of all pairs were tested."""
    lower, upper = some_boxes(24, 5)
    broad: Any = choque.broad.create("sap-direct", choque.bounds.Boxes(lower, upper))
    pairs = as_set(broad.pairs())
    order, axis = broad.structure().order, broad.structure().axis
    figure, (space, line, table) = panels(9.6, 3.4, 3)
    boxes(space, lower, upper)
    meeting = sorted({row for pair in pairs for row in pair})
    boxes(space, lower[meeting], upper[meeting], facecolor=OCHRE, alpha=0.5)
    for place, row in enumerate(order):
        space.text(*(lower[row] + upper[row]) / 2, str(place), ha="center", va="center", fontsize=6)
    plain(space, "boxes, by their place in the order")
    for place, row in enumerate(order):
        line.plot((lower[row, axis], upper[row, axis]), (place, place), color=BLUE, linewidth=2)
    line.set(title=f"intervals on {'xy'[axis]}, sorted by start", xlabel="xy"[axis], ylabel="place", ylim=(24, -1))
    count = len(order)
    for i in range(count):
        for j in range(i + 1, count):
            tested = lower[order[j], axis] <= upper[order[i], axis]
            pair = (min(order[i], order[j]), max(order[i], order[j]))
            colour = RED if pair in pairs else BLUE if tested else PALE
            table.plot(j, i, "s", color=colour, markersize=3.6)
    table.set(title=f"{broad.counters.tests} of {count * (count - 1) // 2} tested, {len(pairs)} meet", ylim=(24, -1))
    table.set(xlabel="place", aspect="equal")
    table.grid(False)
    return figure


@drawn()
def sap_incremental() -> Figure:
    """The ranks of all end points on an axis before and after an update."""
    lower, upper = some_boxes(9, 2, side=8.0)
    random = np.random.default_rng(1)
    shift = random.normal(0, 0.55, lower.shape)
    broad: Any = choque.broad.create("sap-incremental", choque.bounds.Boxes(lower, upper), threads=1)
    before = broad.structure().ends[0]
    broad.update(choque.bounds.Boxes(lower + shift, upper + shift))
    after = broad.structure().ends[0]
    figure, (space, ranks) = panels(8.6, 4.0, 2, width_ratios=(1, 1.2))
    boxes(space, lower, upper)
    boxes(space, lower + shift, upper + shift, facecolor="none", edgecolor=BLUE, linewidth=1.2)
    for row in range(len(lower)):
        start, middle = ((lower + upper)[row] / 2), shift[row]
        space.annotate("", start + middle, start, arrowprops={"arrowstyle": "->", "color": BLUE, "linewidth": 0.8})
        space.text(*(lower[row] + 0.1), str(row), fontsize=7)
    plain(space, "before (grey) and after (blue)")
    place = {end: rank for rank, end in enumerate(after.tolist())}
    count = len(lower)
    inverted = 0
    for rank, end in enumerate(before.tolist()):
        moved = place[end] != rank
        colour = (BLUE if end < count else OCHRE) if moved else GREY
        ranks.plot((0, 1), (rank, place[end]), color=colour, linewidth=1.6 if moved else 0.8)
        name = f"{'low' if end < count else 'high'} {end % count}"
        ranks.text(-0.03, rank, name, ha="right", va="center", fontsize=6.5)
        ranks.text(1.03, place[end], name, ha="left", va="center", fontsize=6.5)
        inverted += sum(place[other] < place[end] for other in before[rank + 1 :].tolist())
    ranks.set(xlim=(-0.25, 1.25), title=f"order on x: each of the {inverted} crossings is one exchange")
    ranks.axis("off")
    return figure


@drawn()
def grid() -> Figure:
    """The two grids of a scene with two classes of sizes."""
    random = np.random.default_rng(4)
    start = random.uniform(0, 100, (90, 2))
    size = np.where(np.arange(90)[:, None] < 14, random.uniform(14, 22, (90, 2)), random.uniform(2, 3.5, (90, 2)))
    broad: Any = choque.broad.create("grid", choque.bounds.Boxes(start, start + size))
    found, made = len(broad.pairs()), broad.structure()
    figure, axes = panels(8.6, 4.2, broad.index.level_count)
    for panel, level in zip(axes, reversed(range(broad.index.level_count)), strict=True):
        cells = np.flatnonzero(made.level == level)
        members = np.concatenate([made.listed(cell) for cell in cells])
        low, high = made.lower[cells].min(axis=0), made.upper[cells].max(axis=0)
        edge = made.upper[cells[0]] - made.lower[cells[0]]
        for axis, draw in ((0, panel.axvline), (1, panel.axhline)):
            for wall in np.arange(low[axis], high[axis] + edge[axis] / 2, edge[axis]):
                draw(wall, color=TEAL, linewidth=0.5)
        boxes(panel, start, start + size, facecolor="none", edgecolor=PALE)
        boxes(panel, start[members], (start + size)[members], facecolor=OCHRE, alpha=0.6, edgecolor=BLACK)
        panel.plot(*start[members].T, ".", color=RED, markersize=4)
        panel.set(title=f"{len(members)} boxes, by their lower corners in {len(cells)} cells", aspect="equal")
        panel.set(xlim=(-3, 124), ylim=(-3, 124), xticks=[], yticks=[])
        panel.grid(False)
    figure.supxlabel(f"{broad.counters.tests} tests found {found} pairs; brute force takes {90 * 89 // 2}", fontsize=9)
    return figure


@drawn("png")
def bvh() -> Figure:
    """The order along the Z-curve, and the boxes of the tree's blocks."""
    random = np.random.default_rng(3)
    start = np.concatenate(
        (random.normal(3, 1.2, (120, 2)), random.normal((9, 7), 0.7, (90, 2)), random.uniform(0, 12, (46, 2)))
    )
    upper = start + random.uniform(0.15, 0.4, start.shape)
    broad: Any = choque.broad.create("bvh", choque.bounds.Boxes(start, upper))
    tree = broad.structure()
    figure, (order, blocks) = panels(8.6, 4.2, 2)
    rows = tree.order
    boxes(order, start, upper)
    middles = ((start + upper) / 2)[rows]
    order.plot(*middles.T, color=BLUE, linewidth=0.7)
    plain(order, "boxes in the order of a Z-curve")
    lowest = tree.level == 0
    boxes(blocks, start, upper)
    boxes(blocks, tree.lower[lowest], tree.upper[lowest], facecolor=OCHRE, alpha=0.15, edgecolor=OCHRE, linewidth=1)
    plain(blocks, f"{len(rows)} boxes in {lowest.sum()} blocks of sixteen")
    return figure


@drawn()
def auto() -> Figure:
    """What `choque.explain` says of scenes between few and many, alike and of all sizes, even and in clusters."""
    counts = np.unique(np.geomspace(60, 60_000, 13).astype(int))
    ratios = np.geomspace(1, 300, 11)
    colours = {"brute": GREY, "sap-direct": OCHRE, "grid": BLUE, "bvh": GREEN}
    figure, axes = panels(9, 3.8, 2, sharey=True)
    for panel, clustered in zip(axes, (False, True), strict=True):
        for count in counts:
            for ratio in ratios:
                random = np.random.default_rng(7)
                place = random.random((count, 3))
                if clustered:
                    place = random.random((20, 3))[random.integers(0, 20, count)] + 0.01 * random.normal(
                        size=(count, 3)
                    )
                size = ratio ** random.random((count, 1))
                size *= 0.8 * count ** (-1 / 3) / size.mean() * (0.08 if clustered else 1.0)
                method = choque.explain(place, place + size).method
                panel.plot(count, ratio, "s", color=colours[method], markersize=11)
        panel.set(xscale="log", yscale="log", xlabel="boxes", title="in 20 clusters" if clustered else "spread evenly")
        panel.grid(False)
    axes[0].set_ylabel("largest size : smallest")
    for name, colour in colours.items():
        axes[1].plot([], [], "s", color=colour, label=name, markersize=9)
    axes[1].legend(loc="upper left", bbox_to_anchor=(1, 1))
    return figure


@drawn()
def multi_sap() -> Figure:
    """The cells, and how often each box is listed."""
    lower, upper = some_boxes(120, 8, sizes=(0.25, 0.9))
    broad: Any = choque.broad.create("multi-sap", choque.bounds.Boxes(lower, upper), cells=4)
    found, made = len(broad.pairs()), broad.structure()
    times = np.bincount(made.members, minlength=len(lower))
    figure, (space, lists) = panels(8.6, 4.0, 2, width_ratios=(1, 1))
    for axis, draw in ((0, space.axvline), (1, space.axhline)):
        for wall in np.unique(made.lower[:, axis])[1:]:  # the outer cells have no walls outside
            draw(wall, color=TEAL, linewidth=0.8)
    for count, colour in ((1, PALE), (2, OCHRE), (4, RED)):
        chosen = times == count if count < 4 else times > 2
        boxes(space, lower[chosen], upper[chosen], facecolor=colour, alpha=0.7)
    plain(space, "grey: listed once, ochre: twice, red: more")
    lengths = np.diff(made.starts)
    lists.bar(range(len(lengths)), lengths, color=BLUE)
    lists.set(xlabel="cell", ylabel="boxes in its list", title=f"{len(made.members)} entries for {len(lower)} boxes")
    lists.text(
        0.02, 0.95, f"{found} pairs, met again {broad.counters.duplicates} times", transform=lists.transAxes, va="top"
    )
    lists.set_ylim(0, lengths.max() * 1.25)
    lists.yaxis.get_major_locator().set_params(integer=True)
    return figure


@drawn()
def tiles() -> Figure:
    """The tiles of a search larger than memory, and the pairs that one of them owns."""
    random = np.random.default_rng(4)
    lower = np.concatenate((random.normal(5, 2.4, (80, 2)), random.uniform(0, 10, (70, 2)))).clip(0, 9.5)
    upper = lower + random.uniform(0.3, 1.1, lower.shape)
    made = cut(np.concatenate([lower, upper], axis=1), 1.0, 28, 2)
    walls = made.regions()[:, :, :2]
    low, high = np.nan_to_num(walls[:, 0], nan=-0.5), np.nan_to_num(walls[:, 1], nan=10.9)
    touched = [(lower < high[tile]).all(axis=1) & (upper >= low[tile]).all(axis=1) for tile in range(len(low))]
    copies = np.sum(touched, axis=0)
    figure, (space, one) = panels(8.6, 4.3, 2)
    for count, colour in ((1, PALE), (2, OCHRE), (3, RED)):
        chosen = copies == count if count < 3 else copies > 2
        boxes(space, lower[chosen], upper[chosen], facecolor=colour, alpha=0.7)
    boxes(space, low, high, facecolor="none", edgecolor=TEAL, linewidth=1.4)
    plain(space, f"{len(low)} tiles; grey: written once, ochre: twice, red: more")
    pairs = choque.pairs(lower, upper)
    points = np.maximum(lower[pairs[:, 0]], lower[pairs[:, 1]])
    tile = 4
    seen = np.flatnonzero(touched[tile])
    boxes(one, lower[seen], upper[seen], facecolor="none", edgecolor=GREY)
    boxes(one, low[[tile]], high[[tile]], facecolor="none", edgecolor=TEAL, linewidth=1.4)
    found = np.isin(pairs, seen).all(axis=1)
    own = found & (points >= low[tile]).all(axis=1) & (points < high[tile]).all(axis=1)
    one.plot(*points[own].T, "o", color=BLUE, markersize=3.5)
    one.plot(*points[found & ~own].T, "x", color=RED, markersize=4.5)
    plain(one, f"one tile: {found.sum()} pairs found, {own.sum()} its own")
    return figure


@drawn("png")
def partitions() -> Figure:
    """The leaves of the three trees over the same boxes."""
    random = np.random.default_rng(11)
    lower = np.concatenate((random.normal(3, 0.9, (70, 2)), random.uniform(0, 10, (50, 2))))
    upper = lower + random.uniform(0.1, 0.45, lower.shape)
    figure, axes = panels(9.6, 3.5, 3)
    shades = (BLUE, OCHRE, GREEN, RED, VIOLET, TEAL, GREY, BLACK)
    for panel, (name, options) in zip(
        axes, (("octree", {}), ("kd-tree", {}), ("bsp", {"planes": "principal"})), strict=True
    ):
        tree: Any = choque.broad.create(name, choque.bounds.Boxes(lower, upper), leaf_size=8, **options)
        leaves = tree.structure()
        boxes(panel, lower, upper, facecolor="none", edgecolor=GREY)
        if tree.index.boxed:
            walls = (np.clip(corner, -1, 11) for corner in (leaves.lower, leaves.upper))
            boxes(panel, *walls, facecolor="none", edgecolor=TEAL, linewidth=0.9)
        else:
            for leaf in range(len(leaves)):
                members = leaves.listed(leaf)
                boxes(panel, lower[members], upper[members], facecolor=shades[leaf % 8], alpha=0.45, edgecolor=BLACK)
        plain(panel, f"{name}: {tree.index.leaf_count} leaves, {len(leaves.members)} listings")
        panel.set(xlim=(-1, 11), ylim=(-1, 11))
    return figure
