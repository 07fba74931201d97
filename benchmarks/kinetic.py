"""The figures of the kinetic room: exchanges a second, the thesis at n = 1,000, bytes a body, collisions, label stacks.

Run ``python benchmarks/kinetic.py``. Best of several turns, one thread: machines are noisy, and what is claimed is what
the machine can do.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np

from choque.kinetic import Billiards, Sweep, scenes, simulation
from choque.kinetic.labels import label_contacts, synthetic_stack


def exchanges_a_second(n: int = 10_000, turns: int = 30) -> tuple[float, float]:
    """(exchanges a second, bytes a body) of n boxes in 2D, about three overlaps each."""
    random = np.random.default_rng(1)
    lower = random.random((n, 2)) * 100
    sweep = Sweep(lower, lower + random.random((n, 2)) * 170 / np.sqrt(n), random.normal(size=(n, 2)))
    sweep.advance_arrays(0.001)
    best = 0.0
    for _ in range(turns):
        before, begin = sweep.counters.exchanges, perf_counter()
        sweep.advance_arrays(sweep.time + 0.02)
        best = max(best, (sweep.counters.exchanges - before) / (perf_counter() - begin))
    return best, sweep.nbytes / n


def matrix(method: str, occupancy: float, turns: int = 5) -> float:
    """Seconds of a run of the thesis's scene at n = 1,000 and 1,000 frames a second."""
    model = scenes.make("aleatorio", n=1_000, occupancy=occupancy)
    return min(simulation(model, method).run().total for _ in range(turns))


def main() -> None:
    rate, size = exchanges_a_second()
    print(f"{rate / 1e6:.2f} million exchanges a second, {size:.0f} bytes a body (10,000 boxes in 2D)")
    for method in ("kinetic", "incremental", "incremental-recompute", "direct"):
        times = ", ".join(f"{matrix(method, share) * 1e3:.1f} ms at {share:.0%}" for share in (0.01, 0.10))
        print(f"n = 1,000, {method}: {times}")
    gas = Billiards(
        (np.indices((7, 7)).reshape(2, -1).T + 0.5) / 7,
        np.random.default_rng(0).normal(size=(49, 2)),
        0.05,
        lower=[0, 0],
        upper=[1, 1],
    )
    energy, begin = gas.energy(), perf_counter()
    gas.advance(1e9, most=200_000)
    rate = 200_000 / (perf_counter() - begin)
    print(f"{rate:,.0f} collisions a second of 49 disks; energy off by {abs(gas.energy() / energy - 1):.1e}")
    stack = synthetic_stack(frames=10, size=2048, objects=500)
    begin = perf_counter()
    label_contacts(stack)
    print(f"{(perf_counter() - begin) * 10:.1f} s for 100 label frames of 2048² with 500 objects, from 10 of them")


if __name__ == "__main__":
    main()
