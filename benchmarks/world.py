"""Measure the figures that worlds of bodies promise.

    python benchmarks/world.py                        # all of them: some minutes, and 3 GB on the disk for a while
    python benchmarks/world.py --frames 60            # 60 frames of the recorded run instead of 600, extrapolated
    python benchmarks/world.py --scale 0.01           # a hundred times fewer bodies, to see that it runs

All on one thread, on the mixed box: spheres and capsules that fly about in a closed box. Beside the wall time stands
the time of the processors: on a busy machine only that is steady. Choque and Bullet make their steps in turn.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import choque
from choque.lab import engines
from choque.record import Recorder

WARM_UP = 30
"""Steps before measuring: kernels are loaded, and bodies have begun to collide."""


@dataclass(frozen=True)
class Timing:
    """Seconds, the medians of all turns."""

    wall: float
    processors: float


@dataclass(frozen=True)
class Line:
    """A row of the table."""

    what: str
    promised: str
    wall: str
    processors: str
    is_kept: bool | None


def timings(*tasks: Callable[[], object], turns: int) -> list[Timing]:
    """All tasks in rotation; one that is a step makes the next one in each turn."""
    samples: list[list[tuple[float, float]]] = [[] for _ in tasks]
    for _ in range(turns):
        for task, taken in zip(tasks, samples, strict=True):
            wall, processors = time.perf_counter(), time.process_time()
            task()
            taken.append((time.perf_counter() - wall, time.process_time() - processors))
    return [Timing(*(statistics.median(column) for column in zip(*taken, strict=True))) for taken in samples]


def stepped(scene: choque.scene.BodyScene, method: str = "auto") -> Callable[[], object]:
    """What makes one step after another in a world on one thread that is warmed up."""
    world = scene.world(broad=method, threads=1)
    for _ in range(WARM_UP):
        world.step(scene.dt)
    return lambda: world.step(scene.dt)


def step_of(count: int, limit: float, turns: int) -> Line:
    """One step by the default method."""
    (timing,) = timings(stepped(choque.scene.bodies("mixed-box", count)), turns=turns)
    scale, unit = (1e3, "ms") if limit >= 1e-3 else (1e6, "µs")
    return Line(
        f"a step of {count:,} bodies",
        f"under {limit * scale:g} {unit}",
        f"{timing.wall * scale:.3g} {unit}",
        f"{timing.processors * scale:.3g} {unit}",
        timing.processors < limit,
    )


def against_bullet(count: int, turns: int) -> list[Line]:
    """Bullet and three methods, step by step in turn."""
    name = f"{count:,} bodies, Bullet over"
    if "bullet" not in engines.installed():
        return [Line(name, "at least 2x", "pybullet is", "not installed", None)]
    scene = choque.scene.bodies("mixed-box", count)
    methods = ("auto", "sap-incremental", "sap-obb")
    with engines.get("bullet")(scene) as bullet:
        for _ in range(WARM_UP):
            bullet.step()
        other, *own = timings(bullet.step, *(stepped(scene, method) for method in methods), turns=turns)
    lines = [
        Line(
            f"a step of {count:,} bodies, Bullet", "", _milliseconds(other.wall), _milliseconds(other.processors), None
        )
    ]
    for method, timing in zip(methods, own, strict=True):
        ratios = (other.wall / timing.wall, other.processors / timing.processors)
        lines.append(
            Line(
                f"{name} {method}",
                "at least 2x" if method == "auto" else "",
                f"{ratios[0]:.2f}x ({_milliseconds(timing.wall)})",
                f"{ratios[1]:.2f}x ({_milliseconds(timing.processors)})",
                ratios[1] >= 2 if method == "auto" else None,
            )
        )
    return lines


def recorded(count: int, frames: int, whole: int = 600) -> Line:
    """Simulated and recorded; fewer frames are extrapolated."""
    scene = choque.scene.bodies("mixed-box", count)
    stepped(choque.scene.bodies("mixed-box", 100))
    world = scene.world(threads=1)
    with tempfile.TemporaryDirectory(prefix="choque-") as folder:
        path = Path(folder) / "run.choque"
        wall, processors = time.perf_counter(), time.process_time()
        with Recorder(path, world, dt=scene.dt, scene=scene.name, seed=scene.seed) as recorder:
            for _ in range(frames - 1):
                world.step(scene.dt)
                recorder.record()
        scale = whole / frames
        wall, processors = (time.perf_counter() - wall) * scale, (time.process_time() - processors) * scale
        size = path.stat().st_size * scale
    how = f"extrapolated from {frames}, " if frames != whole else ""
    return Line(
        f"{count:,} bodies x {whole} frames, recorded ({how}{size / 1e9:.2f} GB)",
        "under 240 s",
        f"{wall:.0f} s",
        f"{processors:.0f} s",
        wall < 240,
    )


def show(lines: Sequence[Line], is_whole: bool) -> None:
    """Print the table; steps are judged by the processors, and nothing is where bodies were left out."""
    print(f"{'':74s} {'promised':>14s} {'wall':>22s} {'processors':>22s}")
    for line in lines:
        verdict = "" if line.is_kept is None or not is_whole else "kept" if line.is_kept else "NOT KEPT"
        print(f"{line.what:74s} {line.promised:>14s} {line.wall:>22s} {line.processors:>22s}  {verdict}")


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.2f} ms"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", type=int, default=600, help="frames of the recorded run")
    parser.add_argument("--turns", type=int, default=200, help="steps that are measured")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the bodies")
    chosen = parser.parse_args()

    def scaled(count: int) -> int:
        return max(10, int(count * chosen.scale))

    show(
        [
            step_of(10, 200e-6, 5 * chosen.turns),
            step_of(scaled(10_000), 10e-3, chosen.turns),
            *against_bullet(scaled(3_162), chosen.turns),
            recorded(scaled(100_000), max(2, chosen.frames)),
        ],
        is_whole=chosen.scale == 1.0,
    )
