"""The modes BENCHMARK and TEST of the Fingsics engine: timed runs with reports, and scenes with expected counts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from choque._core import check
from choque._core.types import Progress
from choque.errors import InvalidInput, UnreadableFile
from choque.files.atomic import replacing
from choque.lab.warm_up import warm_up
from choque.theses.fingsics.log import COUNTS, Log, log_row, read_log, write_log
from choque.theses.fingsics.totals import Totals
from choque.world import World

AVERAGES, SUMMARY = "averages_per_frame.csv", "summary.txt"


@dataclass(frozen=True)
class BenchmarkResult:
    """The result of a benchmark: ``totals`` over all ``runs``, and the folder of its files."""

    folder: Path
    runs: int
    totals: Totals
    hash: int
    """The hash of the last state, which is the same in every run."""


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
    """Make ``runs`` headless runs of ``steps`` steps at full speed.

    Kernels are compiled before the first run, so no time includes compilation. Writes ``run1.csv`` …, one row per step;
    ``averages_per_frame.csv``, the mean over the runs of every value; and ``summary.txt``. Runs that do not end in the
    same state are an error, since times of different work cannot be compared.
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
    """Return a summary: settings, times, tests and contacts of each pair of kinds, and the cost model."""
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
        f"Mean NPCD time per frame (ms): {totals.milliseconds('narrow', 'manifolds'):.6f}",
        f"Mean CR time per frame (ms): {totals.milliseconds('response', 'solver'):.6f}",
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
    """Return the cost model T = C + bB + oO: its letters, both sides of the inequality, and the verdict."""
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


FRAMES = 300
"""Frames in the mode TEST, after one step less."""

SCENE_FOLDERS = (".", "scenes")
EXPECTED_FOLDERS = (".", "expected", "expected-results", "testing/expected-results")
"""Subfolders that are searched for scenes and expected logs."""


@dataclass(frozen=True)
class Case:
    """A scene to test; ``expected`` is its expected log, or None."""

    name: str
    scene: Path
    expected: Path | None


@dataclass(frozen=True)
class CountComparison:
    """The comparison of the counts of a run with the expected ones.

    Attributes
    ----------
    first_difference
        The first row, counted from 1, in which tests or collisions differ; None if all are equal.
    reason
        What differs there.
    """

    rows: int
    tests: int
    collisions: int
    first_difference: int | None = None
    reason: str = ""

    @property
    def is_equal(self) -> bool:
        """Whether every row is equal."""
        return self.first_difference is None

    def __str__(self) -> str:
        if self.is_equal:
            return f"equal in all {self.rows} rows"
        return f"differs from row {self.first_difference} on: {self.reason}"


def find_cases(folder: str | os.PathLike[str]) -> list[Case]:
    """Return the scenes in ``folder`` or its subfolder ``scenes``, with their expected logs.

    A log has the name of its scene, with or without ``_test``, and is in ``expected``, ``expected-results`` or
    ``testing/expected-results``. If there are logs, scenes without one are left out.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise UnreadableFile(f"There is no folder {folder}; give one with scenes, such as that of the Fingsics engine.")
    scenes = [
        path
        for place in SCENE_FOLDERS
        for path in sorted((folder / place).glob("*"))
        if path.suffix.lower() in (".xml", ".toml") and path.is_file()
    ]
    if not scenes:
        raise UnreadableFile(f"The folder {folder} has no scenes (.xml or .toml), and none in a folder scenes.")
    cases = [Case(path.stem, path, _expected_of(folder, path.stem)) for path in scenes]
    return [case for case in cases if case.expected] or cases


def _expected_of(folder: Path, name: str) -> Path | None:
    candidates = (folder / place / f"{name}{end}.csv" for place in EXPECTED_FOLDERS for end in ("_test", ""))
    return next((path for path in candidates if path.is_file()), None)


def compare_logs(
    found: str | os.PathLike[str], expected: str | os.PathLike[str], columns: Iterable[str] = COUNTS
) -> CountComparison:
    """Compare two logs row by row in their ``columns`` of counts; times are ignored."""
    ours, theirs = read_log(found), read_log(expected)
    rows = min(len(ours["Collisions"]), len(theirs["Collisions"]))
    sums = (int(ours["NPCDTests"].sum()), int(ours["Collisions"].sum()))
    firsts = []
    for column in columns:
        differs: NDArray[np.intp] = np.flatnonzero(ours[column][:rows] != theirs[column][:rows])
        if len(differs):
            row = int(differs[0])
            firsts.append((row + 1, f"{column} is {ours[column][row]:g}, expected {theirs[column][row]:g}"))
    counts = (len(ours["Collisions"]), len(theirs["Collisions"]))
    if counts[0] != counts[1]:
        firsts.append((rows + 1, f"there are {counts[0]} rows, expected {counts[1]}"))
    if firsts:
        return CountComparison(rows, *sums, *min(firsts))
    return CountComparison(rows, *sums)
