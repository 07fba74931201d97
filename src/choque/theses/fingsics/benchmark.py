"""The mode BENCHMARK of the original: a scene several times over, undrawn and as fast as it goes, with its reports."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from choque._core import check
from choque._core.types import Progress
from choque.errors import InvalidInput
from choque.files.atomic import replacing
from choque.theses.fingsics.log import Log, log_row, write_log
from choque.theses.fingsics.totals import Totals
from choque.world import World
from choque.world.run import warm_up

AVERAGES, SUMMARY = "averages_per_frame.csv", "summary.txt"


@dataclass(frozen=True)
class BenchmarkResult:
    """What a benchmark gave: ``totals`` over all of its ``runs``, and the folder with its files."""

    folder: Path
    runs: int
    totals: Totals
    hash: int
    """Of the last state, which is the same in every run."""


def benchmark(
    make_world: Callable[[], World],
    folder: str | os.PathLike[str],
    *,
    steps: int,
    runs: int = 10,
    dt: float = 1 / 60,
    scene: str = "scene",
    progress: Progress | None = None,
) -> BenchmarkResult:
    """Make a world ``runs`` times and let each go ``steps`` steps, nothing drawn and nothing slept.

    What it needs is compiled before the first of them, so that no time has compiling in it.

    Writes ``run1.csv`` …, a row a step; ``averages_per_frame.csv``, the mean over the runs of every value of them,
    response included; and ``summary.txt``. Runs that do not end in the same state are an error: times of different
    work cannot be compared.
    """
    steps, runs = check.whole_number(steps, "steps", 1), check.whole_number(runs, "runs", 1)
    dt, folder = check.positive(dt, "dt"), Path(folder)
    totals, sums = Totals(), np.zeros((steps, 7))
    hashes: list[int] = []
    for number in range(1, runs + 1):
        world = make_world()
        if number == 1:
            warm_up(world, dt)
        with Log(folder / f"run{number}.csv") as log:
            for step in range(steps):
                report = world.step(dt)
                row = log_row(report)
                log.add(row)
                totals.add(report)
                sums[step] += row
                if progress is not None:
                    progress((number - 1) * steps + step + 1, runs * steps, scene)
        hashes.append(world.hash())
    if len(set(hashes)) > 1:
        odd = next(number for number, each in enumerate(hashes, start=1) if each != hashes[0])
        raise InvalidInput(f"Run {odd} of the scene {scene!r} ended in another state than run 1; it is not repeatable.")
    write_log(folder / AVERAGES, (sums / runs).tolist())
    with replacing(folder / SUMMARY) as handle:
        handle.write(summary(scene, world, totals, steps=steps, runs=runs, dt=dt).encode())
    return BenchmarkResult(folder, runs, totals, hashes[0])


def summary(scene: str, world: World, totals: Totals, *, steps: int, runs: int, dt: float) -> str:
    """Say what was run and what it took, with the time and number of tests of each pair of kinds and the cost model."""
    settings = world.settings
    lines = [
        f"Scene: {scene}",
        f"Bodies: {len(world)}",
        f"FPS: {1 / dt:g}",
        f"Broad phase: {settings.broad}",
        f"Narrow phase: {settings.narrow}",
        f"Response: {settings.response}",
        f"Runs: {runs}",
        f"Frames: {steps}",
        "",
        f"Mean BPCD time per frame (ms): {totals.milliseconds('bounds', 'broad'):.6f}",
        f"Mean NPCD time per frame (ms): {totals.milliseconds('narrow'):.6f}",
        f"Mean CR time per frame (ms): {totals.milliseconds('response'):.6f}",
        f"Mean total time per frame (ms): {totals.milliseconds():.6f}",
        f"NPCD tests per run: {totals.tests // runs}",
        f"Collisions per run: {totals.contacts // runs}",
        "",
        "Pairs of kinds: tests and collisions per run, time per run (ms), time per test (ns)",
    ]
    for kinds, total in sorted(totals.kinds.items()):
        each = 1e9 * total.seconds / total.tests if total.tests else 0.0
        milliseconds = 1e3 * total.seconds / runs
        lines.append(f"{kinds}: {total.tests // runs}, {total.contacts // runs}, {milliseconds:.6f}, {each:.1f}")
    lines += ["", "Cost model over all runs", *cost_lines(totals), ""]
    return "\n".join(lines)


def cost_lines(totals: Totals) -> list[str]:
    """The cost model T = C + bB + oO: its letters, both sides of the inequality, and the verdict."""
    cost = totals.cost
    unit = cost.letters()
    lines = [
        f"T = C + bB + oO (ms): {1e3 * cost.seconds:.6f}",
        f"C (ms): {1e3 * unit['C']:.6f}",
        f"b: {cost.bounding_tests}",
        f"B (ns): {1e9 * unit['B']:.3f}",
        f"o: {cost.exact_tests}",
        f"O (ns): {1e9 * unit['O']:.3f}",
    ]
    if cost.filter_pays is None:
        return [*lines, "Filter: none to judge"]
    sign, verdict = (">", "pays") if cost.filter_pays else ("<=", "does not pay")
    return [*lines, f"O/B {sign} o1/(o1-o2): {cost.ratio:.4f} {sign} {cost.threshold:.4f}", f"Filter: {verdict}"]
