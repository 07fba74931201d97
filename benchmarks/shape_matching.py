"""512 convex bodies fall on a heap and are driven apart by shape matching: milliseconds a step, on one thread.

Run with: python benchmarks/shape_matching.py [--frames 7000] [--bounds 18-dop] [--preset reproduce] [--elongation 1]

The mean over all frames but the first, which compiles, by the clock on the wall and by the processor's: on a busy
machine use the second.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from choque.theses.kdop.tower import PRESETS, Tower

COUNT_INTERVAL = 100
"""Frames between two counts of colliding bodies, which cost extra: shape matching does not need them."""

WANTED = 12.0
"""Milliseconds a step over 7,000 frames of the default run."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--frames", type=int, default=7_000)
    parser.add_argument("--bodies", type=int, default=512)
    parser.add_argument("--bounds", default="18-dop")
    parser.add_argument("--preset", default="reproduce", choices=sorted(PRESETS))
    parser.add_argument("--elongation", type=float, default=1.0)
    chosen = parser.parse_args()
    warm_up()
    tower = Tower(chosen.bodies, preset=chosen.preset, elongation=chosen.elongation)
    world = tower.world(bounds=chosen.bounds, threads=1)
    world.step(tower.dt)
    stages: dict[str, float] = {}
    pairs, contacts, wall, processor = [], [], [], 0.0
    for frame in range(1, chosen.frames):
        began = time.process_time()
        report = world.step(tower.dt)
        processor += time.process_time() - began
        for stage, seconds in report.seconds.items():
            stages[stage] = stages.get(stage, 0.0) + seconds
        wall.append(report.total_seconds)
        pairs.append(report.pairs)
        if frame % COUNT_INTERVAL == 0:
            contacts.append(report.contacts)
    assert np.isfinite(world.bodies.position).all(), "a body has left the numbers"
    steps = len(wall)
    print(
        f"{chosen.bodies} bodies, {chosen.preset}, elongation {chosen.elongation:g}, {chosen.bounds}, {steps:,} steps\n"
        f"{1e3 * np.mean(wall):.2f} ms a step on the wall, median {1e3 * np.median(wall):.2f}; "
        f"{1e3 * processor / steps:.2f} ms of the processor; wanted: under {WANTED:g} ms for the default run\n"
        + ", ".join(f"{stage} {1e3 * seconds / steps:.2f}" for stage, seconds in stages.items())
        + f" ms\n{np.mean(pairs):,.0f} candidates a frame, {max(pairs):,} at most, {np.mean(contacts):,.0f} collide"
    )


def warm_up() -> None:
    """Run a low tower until its bodies touch, so that compiling is not measured."""
    low = Tower(8)
    world = low.world(threads=1)
    for _ in range(120):
        world.step(low.dt)


if __name__ == "__main__":
    main()
