"""Figures of kinetic structures and of areas of interest."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Circle

import choque

from .canvas import BLACK, BLUE, GREEN, GREY, OCHRE, RED, VIOLET, drawn, panels, plain


def five_boxes() -> tuple[Any, Any, Any]:
    """Boxes that move along x: lower and upper corners, velocities."""
    lower = np.array([[0.0, 0], [2, 2.2], [5, 0.9], [7, 3.3], [9, 1]])
    upper = lower + [[1.2, 1], [1, 0.8], [1.4, 1.6], [0.8, 1], [1.2, 1]]
    return lower, upper, np.array([[1.0, 0.4], [0.35, -0.3], [-0.2, 0.1], [-0.9, -0.6], [-0.6, 0]])


@drawn()
def kinetic_sweep() -> Figure:
    """Space and time: what is planned at the start, and what comes to pass."""
    lower, upper, velocity = five_boxes()
    sweep = choque.kinetic.Sweep(lower, upper, velocity)
    planned = {each.slot: each.time for each in sweep.certificates() if each.axis == 0}
    order = sweep.order[0].tolist()
    end = 8.0
    events = []
    while sweep.next_time <= end:
        sweep.advance(end, stop="instant")
        events += [(meeting.time, meeting.after) for meeting in sweep.meetings if meeting.axis == 0]
    sides, times = (lower[:, 0], upper[:, 0]), np.array([0.0, end])

    def place(number: int, time: float) -> float:
        return float(sides[number % 2][number // 2] + velocity[number // 2, 0] * time)

    figure, (chart,) = panels(8, 4.2)
    for row, colour in enumerate((BLUE, OCHRE, GREEN, RED, VIOLET)):
        low, high = ([place(2 * row + side, time) for time in times] for side in (0, 1))
        chart.fill_between(times, low, high, color=colour, alpha=0.15, linewidth=0)
        chart.plot(times, low, times, high, color=colour, linewidth=1)
    chart.plot(
        [t for t, _ in events], [place(after[0], t) for t, after in events], "o", color=BLACK, label="came to pass"
    )
    known = [(time, place(order[slot], time)) for slot, time in planned.items() if time <= end]
    chart.plot(*np.array(known).T, "o", markersize=10, fillstyle="none", color=RED, label="known at time 0")
    chart.set(xlabel="time", ylabel="x", xlim=times)
    chart.set_title(f"{len(events)} events on x; only those of present neighbours are in the queue")
    chart.legend(loc="upper center", ncols=2)
    return figure


@drawn()
def event_queue() -> Figure:
    """The heap of certificates of a small sweep at its start."""
    lower, upper, velocity = five_boxes()
    sweep = choque.kinetic.Sweep(lower[:4], upper[:4], velocity[:4])
    due, numbers = sweep.heap()
    count = int(np.isfinite(due).sum())
    figure, (tree,) = panels(8, 3.6)
    shown = 15
    spots = {}
    for k in range(shown):
        level = (k + 1).bit_length() - 1
        width = 2**level
        spots[k] = ((k + 1 - width + 0.5) / width * 16, -level)
        if k:
            parent = spots[(k - 1) // 2]
            tree.plot((parent[0], spots[k][0]), (parent[1], spots[k][1]), color=GREY, linewidth=0.8, zorder=0)
    ends = 2 * len(sweep)
    for k, (x, y) in spots.items():
        time, number = float(due[k]), int(numbers[k])
        fails = np.isfinite(time)
        axis, slot = divmod(number, ends)
        face = RED if k == 0 else OCHRE if fails else "white"
        tree.text(
            x, y, f"{time:.2f}\n{'xy'[axis]}, slot {slot}" if fails else f"never\n{'xy'[axis]}, slot {slot}",
            ha="center", va="center", fontsize=7.5, color="white" if k == 0 else BLACK,
            bbox={"boxstyle": "round", "facecolor": face, "edgecolor": GREY},
        )  # fmt: skip
    tree.set(xlim=(-0.3, 16.3), ylim=(-3.5, 0.5))
    tree.set_title(f"the queue of four boxes: {count} of {len(due)} certificates will fail, the next one on top")
    tree.axis("off")
    return figure


@drawn()
def areas_of_interest() -> Figure:
    """An area, the slack of its list, and who is listed, inside, or new."""
    random = np.random.default_rng(5)
    place = random.uniform(-9, 9, (260, 2))
    areas: Any = choque.interest.Areas(place, radius=3.0)
    heading = random.normal(0, 0.03, place.shape)
    heading[0] = 0
    place[0] = 0
    while len(areas.entered) == 0 or 0 not in areas.entered[:, 0] or areas.slack == 0:
        place = place + heading
        areas.update(place)
    listed = areas.listed(0)
    inside = areas.members(0)
    entered = areas.entered[areas.entered[:, 0] == 0, 1]
    figure, (ground, chart) = panels(8.8, 4.0, 2)
    ground.scatter(*place.T, s=8, color="#cccccc", linewidths=0)
    ground.scatter(*place[listed].T, s=14, color=OCHRE, linewidths=0, label=f"{len(listed)} in the list")
    ground.scatter(*place[inside].T, s=14, color=BLUE, linewidths=0, label=f"{len(inside)} members")
    ground.scatter(*place[entered].T, s=60, facecolors="none", edgecolors=RED, label=f"{len(entered)} entered just now")
    ground.add_patch(Circle(place[0], 3.0, fill=False, edgecolor=BLUE))
    ground.add_patch(Circle(place[0], 3.0 + areas.slack, fill=False, edgecolor=OCHRE, linestyle="--"))
    plain(ground, f"an area, and the slack of {areas.slack:.2f} around it")
    ground.set(xlim=(-6.5, 6.5), ylim=(-6.5, 6.5))
    ground.legend(
        loc="upper left", bbox_to_anchor=(0, 0.02), ncols=3, fontsize=7.5, handletextpad=0.1, columnspacing=0.8
    )
    reach = np.linspace(0, 8, 60)
    counts = [
        len(choque.interest.Areas(place, radius=[value, *[None] * (len(place) - 1)]).members(0)) for value in reach
    ]
    chart.step(reach, counts, color=BLUE)
    areas.adapt(target=12)
    chart.plot(areas.radius[0], 12, "o", color=RED)
    chart.axhline(12, color=RED, linewidth=0.8)
    chart.set(xlabel="radius", ylabel="members", title=f"adapted to hold 12: a radius of {areas.radius[0]:.2f}")
    return figure


@drawn()
def skin() -> Figure:
    """Candidates and searches, frame by frame."""
    scene = choque.scene.generate("arena", 600, start="sparse", frames=60, largest=0.03, speed=0.002)
    frames = [choque.bounds.Boxes(*scene.frame(index)) for index in range(scene.frame_count)]
    step = 0.002 * 3**0.5
    figure, axes = panels(8.8, 3.4, 2)
    for panel, served in zip(axes, (5, 20), strict=True):
        kept: Any = choque.interest.Skinned(frames[0], displacement=step, frames=served)
        candidates, touching, searches = [], [], []
        before = 0
        for index, frame in enumerate(frames):
            if index:
                kept.update(frame)
            touching.append(len(kept.pairs()))
            candidates.append(len(kept.broad.pairs()))
            if kept.run_count > before:
                searches.append(index)
                before = kept.run_count
        panel.step(range(60), candidates, where="mid", color=OCHRE, label="candidates that are tested")
        panel.plot(touching, color=RED, label="pairs that touch")
        panel.plot(searches, np.array(candidates)[searches], "v", color=BLACK, label="a search")
        panel.set(title=f"one search for {served} frames: {kept.run_count} in 60", xlabel="frame")
        panel.set_ylim(0, 1.3 * max(candidates))
    axes[0].set_ylabel("pairs")
    axes[0].legend(loc="lower left")
    return figure
