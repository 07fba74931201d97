"""Measure the kinetic package: exchanges a second, the thesis at n = 1,000, bytes a body, collisions, label stacks.

Run ``python benchmarks/kinetic.py``, with ``--whole`` for all 100 label frames (2 GB). Processor time of one thread,
methods in turns: the median, and the best, which is that of an idle machine. The figures of
one machine are in ``kinetic.md``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from time import process_time

import numpy as np

from choque.kinetic import Sweep
from choque.lab import machine
from choque.theses.kinetic import Billiards, Model, create_simulation, scenes
from choque.theses.kinetic.labels import label_contacts, synthetic_stack

METHODS = ("kinetic", "incremental", "incremental-recompute", "direct")


def taken(work: Callable[[], object]) -> float:
    """Seconds of the processor."""
    begin = process_time()
    work()
    return process_time() - begin


def crowd(n: int) -> Sweep:
    """``n`` boxes in 2D, about three overlaps each."""
    random = np.random.default_rng(1)
    lower = random.random((n, 2)) * 100
    sweep = Sweep(lower, lower + random.random((n, 2)) * 170 / np.sqrt(n), random.normal(size=(n, 2)))
    sweep.advance(0.001)
    return sweep


def exchange_rates(sweep: Sweep, turns: int = 40) -> list[float]:
    """Exchanges a second, turn by turn."""
    rates = []
    for _ in range(turns):
        before = sweep.counters.exchanges
        seconds = taken(lambda: sweep.advance(sweep.time + 0.02))
        rates.append((sweep.counters.exchanges - before) / seconds)
    return rates


def short_calls(calls: int = 5_000, turns: int = 15) -> list[float]:
    """Seconds of an `advance` in which nothing happens, turn by turn."""
    sweep = Sweep([[0, 0], [4, 0]], [[1, 1], [5, 1]], velocity=0.0)

    def call() -> None:
        for _ in range(calls):
            sweep.advance(sweep.time + 1e-3)

    return [taken(call) / calls for _ in range(turns)]


def matrix_runs(model: Model, turns: int = 7) -> dict[str, list[float]]:
    """Seconds of a run of the thesis's scene by each method, in turns; the first warms up."""
    times: dict[str, list[float]] = {method: [] for method in METHODS}
    for turn in range(turns + 1):
        for method in METHODS:
            seconds = taken(create_simulation(model, method).run)
            if turn:
                times[method].append(seconds)
    return times


def gas_of_disks() -> Billiards:
    """49 disks in a box."""
    centres = (np.indices((7, 7)).reshape(2, -1).T + 0.5) / 7
    velocity = np.random.default_rng(0).normal(size=(49, 2))
    return Billiards(centres, velocity, 0.05, lower=[0, 0], upper=[1, 1])


def row(figure: str, target: str, values: Sequence[float], scale: float, unit: str, best: Callable[..., float]) -> None:
    """Print a row of the table: the median and the best."""
    print(f"| {figure} | {target} | {np.median(values) * scale:.3g} {unit} | {best(values) * scale:.3g} {unit} |")


def main() -> None:
    described = machine.describe()
    print(", ".join(f"{name} {described[name]}" for name in ("processor", "cores", "python", "numpy", "numba")), "\n")
    print("| figure | target | median | best |\n| --- | --- | --- | --- |")
    sweep = crowd(10_000)
    row("exchanges a second, 10,000 boxes in 2D", "2 M", exchange_rates(sweep), 1e-6, "M", max)
    row("bytes a body, the same", "under 400", [sweep.byte_count / len(sweep)], 1.0, "bytes", min)
    row("bytes a body, 100,000 boxes in 2D", "under 400", [crowd(100_000).byte_count / 1e5], 1.0, "bytes", min)
    row("`advance` in which nothing happens", "", short_calls(), 1e6, "µs", min)
    for share in (0.01, 0.02, 0.05, 0.10):
        times = matrix_runs(scenes.make("random-shapes", n=1_000, occupancy=share))
        for method, target in zip(METHODS, ("50 ms", "", "", "500 ms"), strict=True):
            row(f"n = 1,000, occupancy {share:.0%}, {method}", target, times[method], 1e3, "ms", min)
    gas = gas_of_disks()
    gas.advance(1e9, limit=1_000)
    energy = gas.energy()
    rates = [100_000 / taken(lambda: gas.advance(1e9, limit=100_000)) for _ in range(10)]
    row("collisions a second, 49 disks", "", rates, 1e-3, "k", max)
    drift = abs(gas.energy() / energy - 1)
    row("their energy off after a million collisions", "1e-12", [drift], 1.0, "", min)
    frames = 100 if "--whole" in sys.argv else 10
    stack = synthetic_stack(frames=frames, size=2048, objects=500)
    row(
        f"{frames} label frames of 2048², 500 objects",
        "30 s for 100",
        [taken(lambda: label_contacts(stack))],
        1,
        "s",
        min,
    )


if __name__ == "__main__":
    main()
