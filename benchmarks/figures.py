"""Measure the figures that have targets, and print which are reached.

    python benchmarks/figures.py                      # all of them: about half an hour
    python benchmarks/figures.py --only one-shot      # some of them
    python benchmarks/figures.py --scale 0.01         # a hundred times smaller, to see that it runs

Candidates take turns in one process and the figures are ratios of medians, so they hold on a busy machine
where plain times do not. Peers that are not installed are left out. A whole run at full scale writes
results/<machine>.csv beside this file.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import choque
from choque._core import memory as working_memory
from choque._core.types import Floats
from choque.lab import machine, peers
from choque.lab.bench import Frame, measure, rows_of
from choque.lab.candidate import Candidate, Facade, Method, State
from choque.lab.csv_rows import write_dataclasses
from choque.lab.table import Row, duration
from choque.lab.verdict import RANKED

RESULTS = Path(__file__).parent / "results"
REFERENCE_PAIRS = {10_000: 11_811, 100_000: 1_144_045}


@dataclass(frozen=True)
class Figure:
    """One promise and what was measured."""

    figure: str
    work: str
    target: str
    measured: str
    value: float | None
    is_reached: bool | None
    """None if it could not be measured here."""
    note: str = ""


@dataclass(frozen=True)
class Plan:
    """How large and how often."""

    scale: float
    rounds: int
    budget: float

    def count(self, full: int) -> int:
        return max(int(full * self.scale), 100)

    def rows(self, candidates: list[Candidate], scene: str, frames: list[Frame]) -> list[Row]:
        return rows_of(measure(candidates, frames, rounds=self.rounds, budget=self.budget), scene, frames)


def frames_of(scene: str, count: int, frames: int = 1, dimension: int = 3, **parameters: Any) -> list[Frame]:
    baked = choque.scene.generate(scene, count, seed=0, dimension=dimension, frames=frames, **parameters)
    return [baked.frame(index) for index in range(frames)]


def installed_peers(threads: int | None, *, dimension: int = 3, keeping: bool = False) -> list[Candidate]:
    found = [peers.get(name, threads) for name in peers.installed()]
    return [peer for peer in found if dimension in peer.dimensions and (peer.keeps_structure or not keeping)]


def against_peers(name: str, work: str, rows: list[Row], target: float) -> Figure:
    """How many times slower the fastest peer is than the first row, which is ours."""
    ours, others = rows[0], [row for row in rows[1:] if row.verdict in RANKED and row.total is not None]
    wanted = f"at least {target:g}x"
    if ours.verdict != "exact" or ours.total is None:
        return Figure(name, work, wanted, ours.verdict, None, False, ours.note)
    if not others:
        return Figure(name, work, wanted, duration(ours.total), None, None, "no peer is installed")
    order = sorted(others, key=lambda row: row.total or 0.0)
    ratio = (order[0].total or 0.0) / ours.total
    near = ", ".join(f"{row.candidate} {duration(row.total)}" for row in order[:4])
    left_out = [f"{row.candidate} {row.verdict}" for row in rows[1:] if row not in others]
    note = "; ".join([f"ours {duration(ours.total)}; {near}", *left_out])
    return Figure(name, work, wanted, f"{ratio:.2f}x", ratio, ratio >= target, note)


def one_shot(plan: Plan) -> Iterator[Figure]:
    for full, target in ((10_000, 8), (100_000, 12), (1_000_000, 15)):
        count = plan.count(full)
        candidates: list[Candidate] = [Facade(), *installed_peers(None)]
        rows = plan.rows(candidates, "uniform", frames_of("uniform", count))
        yield against_peers("one-shot", f"{count:,} boxes, all threads", rows, target)


def plane(plan: Plan) -> Iterator[Figure]:
    count = plan.count(1_000_000)
    candidates: list[Candidate] = [Facade(), *installed_peers(None, dimension=2)]
    rows = plan.rows(candidates, "uniform", frames_of("uniform", count, dimension=2))
    yield against_peers("plane", f"{count:,} boxes in 2D, all threads", rows, 12)


def crowds(plan: Plan) -> Iterator[Figure]:
    """Milliseconds of one thread: the ratio to evenly spread boxes is that of `mixed_sizes`."""
    count = plan.count(1_000_000)
    for scene, target in (("mixed", 0.150), ("clustered", 0.175)):
        row = plan.rows([Facade(1)], scene, frames_of(scene, count))[0]
        is_reached = row.total is not None and row.total <= target
        work, wanted = f"{count:,} boxes, {scene}, 1 thread", f"at most {duration(target)}"
        yield Figure("crowds", work, wanted, duration(row.total or 0.0), row.total, is_reached, row.note)


def double(plan: Plan) -> Iterator[Figure]:
    count = plan.count(1_000_000)
    (narrow,) = frames_of("uniform", count)
    wide = narrow[0].astype(np.float64), narrow[1].astype(np.float64)
    contenders = [Elsewhere("float32", narrow), Elsewhere("float64", wide)]
    both = measure(contenders, [narrow], rounds=plan.rounds, budget=plan.budget)
    times = [statistics.median(sample.total for sample in each.samples) for each in both]
    ratio, note = times[1] / times[0], f"{duration(times[0])}, {duration(times[1])}"
    work = f"{count:,} boxes, float64 against float32, 1 thread"
    yield Figure("double", work, "at most 1.6x", f"{ratio:.2f}x", ratio, ratio <= 1.6, note)


def two_threads(plan: Plan) -> Iterator[Figure]:
    count = plan.count(1_000_000)
    one, two = plan.rows([Facade(1), Facade(2)], "uniform", frames_of("uniform", count))
    yield ratio_figure("threads", f"{count:,} boxes, 2 threads against 1", one, two, "at least", 1.8)


class Elsewhere(Facade):
    """The façade on boxes of its own, so that two scenes can take turns."""

    def __init__(self, name: str, frame: Frame) -> None:
        super().__init__(threads=1)
        self.name = name
        self.frame = frame

    def create(self, lower: Floats, upper: Floats) -> State:  # noqa: ARG002
        # While warming up on a part of the boxes, take as large a part of one's own.
        step = max(round(len(self.frame[0]) / len(lower)), 1)
        return self.frame[0][::step].copy(), self.frame[1][::step].copy()


def mixed_sizes(plan: Plan) -> Iterator[Figure]:
    count = plan.count(1_000_000)
    (equal,), (mixed,) = frames_of("uniform", count), frames_of("mixed", count)
    one, other = measure(
        [Elsewhere("equal", equal), Elsewhere("mixed", mixed)], [equal], rounds=plan.rounds, budget=plan.budget
    )
    times = [statistics.median(sample.total for sample in each.samples) for each in (one, other) if each.samples]
    if len(times) < 2:
        yield Figure("mixed", f"{count:,} boxes 1:1000", "at most 3x", "failed", None, False, one.note or other.note)
        return
    ratio = times[1] / times[0]
    found = [0 if each.answer is None else len(each.answer) for each in (one, other)]
    note = f"equal {duration(times[0])}, {found[0]:,} pairs; mixed {duration(times[1])}, {found[1]:,} pairs"
    yield Figure("mixed", f"{count:,} boxes 1:1000", "at most 3x", f"{ratio:.2f}x", ratio, ratio <= 3, note)


def moving(plan: Plan) -> Iterator[Figure]:
    count = plan.count(100_000)
    candidates: list[Candidate] = [Method("auto", 1), *installed_peers(1, keeping=True)]
    rows = plan.rows(candidates, "moving", frames_of("moving", count, frames=6))
    yield against_peers("moving", f"{count:,} boxes, all move 1 %, update + pairs", rows, 15)


def resting(plan: Plan) -> Iterator[Figure]:
    """A frame of few movers against `choque.pairs`, the fastest way to start over."""
    count, frame_count = plan.count(1_000_000), 41
    baked = choque.scene.generate("one-moves", count, seed=0, dimension=3, frames=frame_count, moving=100)
    lower, upper = baked.frame(0)
    ids = baked.moved(1)
    parts = [tuple(corners[ids] for corners in baked.frame(index)) for index in range(1, frame_count)]
    last = baked.frame(frame_count - 1)
    for name in ("auto", "bvh"):
        broad = choque.broad.create(name, choque.bounds.Boxes(lower, upper), threads=1)
        broad.pairs()
        frames, rebuilds = [], []
        for number, (low, high) in enumerate(parts):
            begin = time.perf_counter()
            broad.move(ids, choque.bounds.Boxes(low, high))
            changed = len(broad.began) + len(broad.ended)
            frames.append(time.perf_counter() - begin)
            if number % 8 == 7:  # seldom, as frames follow each other in a running scene
                begin = time.perf_counter()
                choque.pairs(lower, upper, threads=1)
                rebuilds.append(time.perf_counter() - begin)
        is_right = np.array_equal(broad.pairs(), choque.pairs(*last))
        frame, rebuild = statistics.median(frames), statistics.median(rebuilds)
        note = f"a frame {duration(frame)}, a rebuild {duration(rebuild)}, {changed} changes in the last"
        verdict = f"1/{rebuild / frame:.0f}" if is_right else "wrong pairs"
        reached = bool(is_right and rebuild / frame > 500)
        yield Figure(
            "resting",
            f"{count:,} at rest, {len(ids)} move, {name}",
            "under 1/500",
            verdict,
            rebuild / frame,
            reached,
            note,
        )


def reference(plan: Plan) -> Iterator[Figure]:
    names = [name for name in choque.broad.names() if name != "all"]
    for count, expected in REFERENCE_PAIRS.items():
        if count > 100_000 * max(plan.scale, 0.1):
            continue
        measured = measure(
            [Method(name) for name in names], frames_of("reference", count), rounds=1, budget=plan.budget
        )
        found = {each.candidate.name: -1 if each.answer is None else len(each.answer) for each in measured}
        right = [name for name in names if found[name] == expected]
        others = [
            f"{each.candidate.name}: {each.note or found[each.candidate.name]}"
            for each in measured
            if each.candidate.name not in right
        ]
        yield Figure(
            "reference",
            f"{count:,} boxes",
            f"{expected:,} pairs",
            f"{len(right)} of {len(names)} methods",
            len(right),
            len(right) == len(names),
            "; ".join(others),
        )


def small(plan: Plan) -> Iterator[Figure]:
    for count, limit in ((100, 40e-6), (1_000, 80e-6)):
        ((lower, upper),) = frames_of("uniform", count)
        choque.pairs(lower, upper)
        batches = []
        for _ in range(max(plan.rounds, 5) * 4):
            begin = time.perf_counter()
            for _ in range(100):
                choque.pairs(lower, upper)
            batches.append((time.perf_counter() - begin) / 100)
        value = statistics.median(batches)
        yield Figure(
            "small",
            f"{count:,} boxes, one call",
            f"under {duration(limit)}",
            duration(value),
            value,
            value < limit,
            f"best {duration(min(batches))}",
        )


def memory(plan: Plan) -> Iterator[Figure]:
    count = plan.count(1_000_000)
    ((lower, upper),) = frames_of("uniform", count)
    choque.pairs(lower, upper)
    working_memory.drop_unused(time.monotonic())  # what is kept for later calls counts too
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    found = choque.pairs(lower, upper)
    peak = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    value = (peak - found.nbytes) / count
    broad = choque.broad.create("auto", choque.bounds.Boxes(lower, upper))
    broad.pairs()
    counted = broad.counters.peak_bytes / count
    note = f"traced, beside the output; the method's own counter says {counted:.0f}"
    yield Figure("memory", f"{count:,} boxes", "at most 80 bytes a box", f"{value:.0f} bytes", value, value <= 80, note)
    yield resident(plan.count(10_000_000))


def resident(count: int) -> Figure:
    """The largest scene in a process of its own, so that nothing else is in its memory."""
    script = (
        "import choque; from choque.lab.machine import peak_resident_bytes as peak\n"
        f"boxes = choque.scene.generate('uniform', {count}).frame(0)\n"
        "before = peak(); found = choque.pairs(*boxes); print(before, peak(), len(found))"
    )
    before, after, found = (int(word) for word in output_of(script).split())
    note = f"{before / 2**30:.2f} GiB before the call, scene included; {found:,} pairs"
    return Figure(
        "memory",
        f"{count:,} boxes, whole process",
        "24 GiB",
        f"{after / 2**30:.2f} GiB",
        after,
        after < 24 * 2**30,
        note,
    )


def start(plan: Plan) -> Iterator[Figure]:
    timed = "import time; begin = time.perf_counter(); import choque; print(time.perf_counter() - begin)"
    help_page = "import sys; sys.argv = ['choque', '--help']; from choque.cli import main; main()"
    repetitions = range(max(plan.rounds, 5))
    value = statistics.median(float(output_of(timed)) for _ in repetitions)
    yield Figure("start", "import choque", "under 0.3 s", duration(value), value, value < 0.3)
    value = statistics.median(seconds_of(help_page) for _ in repetitions)
    bare = statistics.median(seconds_of("pass") for _ in repetitions)
    yield Figure(
        "start",
        "choque --help, whole process",
        "under 0.3 s",
        duration(value),
        value,
        value < 0.3,
        f"Python alone {duration(bare)}",
    )


def first_call(plan: Plan) -> Iterator[Figure]:
    for name in choque.broad.names() if plan.scale == 1 else ["brute"]:
        script = (
            "import time, choque, choque.broad, choque._core.kernel\n"
            "boxes = choque.scene.generate('uniform', 5000).frame(0)\n"
            "times = [time.perf_counter()]\n"
            "for _ in range(2):\n"
            f"    choque.broad.create({name!r}, choque.bounds.Boxes(*boxes)).pairs()\n"
            "    times.append(time.perf_counter())\n"
            "print(times[1] - times[0] - (times[2] - times[1]))"
        )
        with tempfile.TemporaryDirectory() as empty:
            value = float(output_of(script, {"NUMBA_CACHE_DIR": empty}))
        yield Figure("first-call", f"{name}, nothing cached", "under 4 s", duration(value), value, value < 4)


def ratio_figure(name: str, work: str, slow: Row, fast: Row, word: str, target: float) -> Figure:
    wanted = f"{word} {target:g}x"
    if slow.total is None or fast.total is None or fast.verdict != "exact":
        return Figure(name, work, wanted, fast.verdict, None, False, fast.note)
    ratio = slow.total / fast.total
    return Figure(
        name, work, wanted, f"{ratio:.2f}x", ratio, ratio >= target, f"{duration(slow.total)}, {duration(fast.total)}"
    )


def output_of(script: str, variables: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script], env=os.environ | (variables or {}), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "the process failed")
    return done.stdout.strip()


def seconds_of(script: str) -> float:
    begin = time.perf_counter()
    output_of(script)
    return time.perf_counter() - begin


FIGURES: dict[str, Callable[[Plan], Iterator[Figure]]] = {
    "one-shot": one_shot,
    "plane": plane,
    "crowds": crowds,
    "double": double,
    "threads": two_threads,
    "mixed": mixed_sizes,
    "moving": moving,
    "resting": resting,
    "reference": reference,
    "small": small,
    "memory": memory,
    "start": start,
    "first-call": first_call,
}


def run(names: list[str], plan: Plan) -> list[Figure]:
    """Measure one figure after another; one that breaks is reported and the others go on."""
    found: list[Figure] = []
    for name in names:
        print(f"measuring {name} …", file=sys.stderr, flush=True)
        try:
            for figure in FIGURES[name](plan):
                found.append(figure)
                print(f"  {figure.work}: {figure.measured}", file=sys.stderr, flush=True)
        except Exception as problem:
            found.append(Figure(name, "", "", "failed", None, False, f"{type(problem).__name__}: {problem}"))
    return found


def show(figures: list[Figure]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table("figure", "work", "to reach", "measured", "verdict", "note", box=box.SIMPLE_HEAD)
    words = {True: "[green]reached[/]", False: "[red]missed[/]", None: "[yellow]not measured[/]"}
    for each in figures:
        table.add_row(each.figure, each.work, each.target, each.measured, words[each.is_reached], each.note)
    Console(width=None if sys.stdout.isatty() else 200).print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the figures that the project promises.")
    parser.add_argument(
        "--only", nargs="+", choices=list(FIGURES), default=list(FIGURES), metavar="FIGURE", help=", ".join(FIGURES)
    )
    parser.add_argument("--scale", type=float, default=1.0, help="multiply every count of boxes (default: 1)")
    parser.add_argument("--rounds", type=int, default=7, help="turns of each candidate (default: 7)")
    parser.add_argument("--budget", type=float, default=60.0, help="seconds for each candidate (default: 60)")
    parser.add_argument(
        "--output", type=Path, help="CSV file to write (default for a whole run: results/<machine>.csv)"
    )
    chosen = parser.parse_args()
    figures = run(chosen.only, Plan(chosen.scale, chosen.rounds, chosen.budget))
    show(figures)
    is_whole = chosen.scale == 1 and set(chosen.only) == set(FIGURES)
    path = chosen.output or (RESULTS / f"{machine.label()}.csv" if is_whole else None)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        distributions = dict.fromkeys(peers.get(name).distribution for name in peers.installed())
        write_dataclasses(path, figures, machine.describe(distributions))
        print(f"written to {path.name}", file=sys.stderr)


if __name__ == "__main__":
    main()
