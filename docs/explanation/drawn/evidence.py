"""Figures of what makes results believable: hashes, recordings, intervals."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import choque
from choque.lab import statistics

from .canvas import BLACK, BLUE, GREY, OCHRE, PALE, RED, drawn, panels


@drawn()
def recordings() -> Figure:
    """Two runs that differ by one rounding step of one coordinate, and what a frame costs to record."""
    scene = choque.scene.read("mixed-box-100")
    worlds = [scene.world(threads=1), scene.world(threads=2), scene.world(threads=1)]
    moved = worlds[2].bodies
    row = int(np.flatnonzero(~moved.static)[0])
    moved.position[row, 0] += 1e-12
    apart, same, differ = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.choque"
        with choque.record.Recorder(path, worlds[0], dt=scene.dt) as recorder:
            for _ in range(300):
                for world in worlds:
                    world.step(scene.dt)
                recorder.record()
                apart.append(np.abs(worlds[0].bodies.position - worlds[2].bodies.position).max())
                same.append(worlds[0].hash() == worlds[1].hash())
                differ.append(worlds[0].hash() != worlds[2].hash())
        packed = path.stat().st_size
    bodies, frames = len(moved), 301
    figure, (chart, bars) = panels(9, 3.4, 2, width_ratios=(1.6, 1))
    chart.semilogy(np.arange(1, 301), np.maximum(apart, 1e-17), color=RED)
    first = int(np.argmax(differ)) + 1
    chart.axvline(first, color=BLACK, linewidth=0.8)
    note = f"hash differs from frame {first} on;\nwith 2 threads: equal in {sum(same)} of 300"
    chart.text(295, 1e-12, note, ha="right", va="bottom")
    chart.set(xlabel="frame", ylabel="farthest body apart", title="one coordinate of one body changed by 10⁻¹²")
    sizes = {"float64": 96, "float32": 48, "recorded": packed / (bodies * frames)}
    bars.barh(list(sizes), list(sizes.values()), color=(PALE, PALE, BLUE), edgecolor=GREY)
    bars.set(title="bytes for a pose of 12 numbers")
    for place, value in enumerate(sizes.values()):
        bars.text(value + 1, place, f"{value:.0f}", va="center")
    bars.grid(axis="y", visible=False)
    return figure


@drawn()
def lab_statistics() -> Figure:
    """How often intervals hold the true median: the plain bootstrap, and that of the laboratory."""
    random = np.random.default_rng(1)
    sizes, repeats = (5, 7, 9, 15, 25), 1_500
    plain_share, ours = [], []
    for size in sizes:
        holds: Any = np.zeros(2)
        for _ in range(repeats):
            samples = random.lognormal(0, 0.3, size)
            medians = np.median(samples[random.integers(0, size, (2_000, size))], axis=1)
            low, high = np.quantile(medians, (0.025, 0.975))
            found = statistics.median_interval(samples)
            holds += low <= 1 <= high, found.lower <= 1 <= found.upper
        plain_share.append(100 * holds[0] / repeats)
        ours.append(100 * holds[1] / repeats)
    figure, (coverage, ratios) = panels(9, 3.4, 2)
    coverage.axhline(95, color=BLACK, linewidth=0.8)
    coverage.plot(sizes, plain_share, "s--", color=OCHRE, label="plain percentile bootstrap")
    coverage.plot(sizes, ours, "o-", color=BLUE, label="this laboratory")
    coverage.set(
        xlabel="samples", ylabel="% that hold the true median", title="intervals that promise 95 %", ylim=(80, 100)
    )
    coverage.set(xticks=sizes, yticks=range(80, 101, 5))
    coverage.legend(loc="lower right")
    difficulty = 10 ** random.uniform(0, 2, 6)
    slow = {k: 1.3 * difficulty[k] * random.lognormal(0, 0.06, 7) for k in range(6)}
    fast = {k: difficulty[k] * random.lognormal(0, 0.06, 7) for k in range(6)}
    paired = statistics.paired_ratio(slow, fast)
    for k in range(6):
        ratios.plot([k] * 7, slow[k], ".", color=RED, label=None if k else "one method")
        ratios.plot([k + 0.15] * 7, fast[k], ".", color=BLUE, label=None if k else "the other")
    ratios.set(yscale="log", xlabel="scene", ylabel="seconds")
    ratios.legend(loc="center left")
    ratios.set_title(f"ratio {paired.value:.2f}, {paired.lower:.2f} to {paired.upper:.2f}; made with 1.3")
    return figure
