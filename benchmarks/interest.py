"""Measure the figures that areas of interest promise.

    python benchmarks/interest.py                     # all of them: about a minute
    python benchmarks/interest.py --scale 0.01        # a hundred times smaller, to see that it runs

Beside the wall time stands the time of the processors, summed over threads: on a busy machine only that is steady,
and half of it is what two free threads would take at best. Candidates take turns.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import choque
import choque.theses.interest.arena
from choque.bounds import Boxes
from choque.broad import create
from choque.interest import Areas, Skinned


@dataclass(frozen=True)
class Timing:
    """Milliseconds, the median of all turns and the best."""

    wall: float
    best: float
    processors: float

    def __str__(self) -> str:
        return f"{self.wall:9.2f} ms wall (best {self.best:.2f}), {self.processors:9.2f} ms of processors"


def timings(*tasks: Callable[[], object], turns: int, before: Callable[[], object] = lambda: None) -> list[Timing]:
    """Each task once unmeasured, then all in rotation; ``before`` runs before each turn, unmeasured."""
    samples: list[list[tuple[float, float]]] = [[] for _ in tasks]
    for task in tasks:
        task()
    for turn in range(turns):
        before()
        for task, taken in list(zip(tasks, samples, strict=True))[:: 1 if turn % 2 else -1]:
            wall, processors = time.perf_counter(), time.process_time()
            task()
            taken.append((1e3 * (time.perf_counter() - wall), 1e3 * (time.process_time() - processors)))
    return [
        Timing(statistics.median(w for w, _ in taken), min(w for w, _ in taken), statistics.median(p for _, p in taken))
        for taken in samples
    ]


def say(what: str, timing: Timing, note: str = "") -> None:
    print(f"{what:58s} {timing}  {note}")


def users(scale: float) -> None:
    """100,000 owners with about 10 members each, all moving at any speed; at least 20 updates a second."""
    count = max(int(100_000 * scale), 1_000)
    random = np.random.default_rng(0)
    radius = (10 / (count * 4 / 3 * np.pi)) ** (1 / 3)
    heading = random.normal(size=(count, 3))
    heading /= np.linalg.norm(heading, axis=1)[:, None]
    for step in (0.001, 0.01, 0.03, 0.1, 0.5, None):
        position = random.random((count, 3))
        areas = Areas(position, radius=radius, threads=2)
        changed = 0

        def move(position: np.ndarray = position, step: float | None = step) -> None:
            nonlocal heading
            if step is None:
                position[:] = random.random((count, 3))
                return
            position += step * radius * heading
            heading = np.where((position < 0) | (position > 1), -heading, heading)  # reflected at the walls

        def update(areas: Areas = areas, position: np.ndarray = position) -> None:
            nonlocal changed
            areas.update(position)
            changed = len(areas.entered) + len(areas.left)

        move()
        update()
        searched = areas.counters.events
        (timing,) = timings(update, turns=36 if step is not None and step < 0.1 else 16, before=move)
        note = (
            f"{areas.counters.events - searched} searches, {changed} changes, {len(areas.pairs()) / count:.1f} members"
        )
        motion = "all jump anywhere" if step is None else f"a step of {step} radii"
        say(f"update {count:,} owners, {motion} (< 50 ms)", timing, note)
    areas = Areas(random.random((count, 3)), radius=radius, threads=2)
    say(f"adapt {count:,} owners to 32 members", timings(lambda: areas.adapt(32), turns=2)[0])


def extents(scale: float) -> None:
    """A million extents matched in less than 0.5 s: a million areas with as many bodies, then half of them areas."""
    count = max(int(1_000_000 * scale), 1_000)
    random = np.random.default_rng(1)
    position = random.random((count, 3))
    size = (3 / (count * 4 / 3 * np.pi)) ** (1 / 3)
    half = np.ma.masked_array(np.full(count, size), mask=np.arange(count) % 2 == 0)
    for shape in ("sphere", "box"):
        every, some = timings(
            lambda shape=shape: Areas(position, radius=size, shape=shape, threads=2),
            lambda shape=shape: Areas(position, radius=half, body_radius=size / 4, shape=shape, threads=2),
            turns=3,
        )
        say(f"match {count:,} {shape} areas with as many bodies (< 500 ms)", every)
        say(f"match {count // 2:,} {shape} areas with {count:,} bodies (< 500 ms)", some)


def thousand() -> None:
    """n = 1000: no slower than a sweep of three axes, frame by frame; the dense arena in less than 5 ms a step."""
    for start in ("dense", "sparse"):
        for radius in (None, 0.0525):
            sizes = {} if radius is None else {"smallest": radius, "largest": radius}
            scene = choque.scene.generate("arena", 1_000, start=start, frames=501, **sizes)
            boxes = [Boxes(*scene.frame(frame)) for frame in range(1, 501, 10)]
            candidates = [choque.broad.create("sap-direct", boxes[0]), create("interest", boxes[0])]
            candidates += [create("interest", boxes[0], k=k) for k in (2, 3)]
            turn = [0] * len(candidates)
            pair_counts: list[list[int]] = [[] for _ in candidates]

            def step(which: int) -> None:
                turn[which] += 1  # noqa: B023
                candidates[which].update(boxes[turn[which] % len(boxes)])  # noqa: B023
                pair_counts[which].append(len(candidates[which].pairs()))  # noqa: B023

            tasks = [lambda which=which: step(which) for which in range(len(candidates))]
            measured = timings(*tasks, turns=4 * len(boxes))
            names = ("sap-direct", "interest (< 5 ms)", "interest k=2", "interest k=3")
            for name, timing, counted in zip(names, measured, pair_counts, strict=True):
                radii = "radii 0.04 to 0.40" if radius is None else "radii 0.21"
                ratio = timing.processors / measured[0].processors
                note = f"{statistics.mean(counted):,.0f} pairs a step, {ratio:.2f} of sap-direct"
                say(f"n = 1000, {start}, {radii}: {name}", timing, note)


def insurance(scale: float) -> None:
    """One run for several frames against a run for each."""
    count = max(int(20_000 * scale), 500)
    scene = choque.scene.generate(
        "arena", count, start="sparse", frames=60, smallest=0.002, largest=0.01, speed=0.0005, dense_steps=20_000
    )
    boxes = [Boxes(*scene.frame(frame)) for frame in range(60)]
    speed = 0.0005 * 3**0.5

    def every() -> None:
        broad = choque.broad.create("auto", boxes[0])
        for frame in boxes[1:]:
            broad.update(frame)
            broad.pairs()

    def seldom(frames: int) -> None:
        kept = Skinned(boxes[0], displacement=speed, frames=frames)
        for frame in boxes[1:]:
            kept.update(frame)
            kept.pairs()

    choices = (2, 4, 8, 16)
    first, *others = timings(every, *(lambda k=k: seldom(k) for k in choices), turns=3)
    say(f"{count:,} boxes, 60 frames, a run for each frame", first)
    for frames, timing in zip(choices, others, strict=True):
        say(f"{count:,} boxes, 60 frames, a run for {frames} frames", timing, f"ratio {timing.wall / first.wall:.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0)
    chosen = parser.parse_args()
    users(chosen.scale)
    extents(chosen.scale)
    thousand()
    insurance(chosen.scale)
