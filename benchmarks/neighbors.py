"""Compare neighbour lists with vesin, matscipy and ASE, those that are installed.

    python benchmarks/neighbors.py                              # diamond and water, 30k and 100k atoms, 4 to 8 Å
    python benchmarks/neighbors.py --atoms 1000000 --cutoffs 4 5
    python benchmarks/neighbors.py --atoms 2000 --rounds 1      # small, to see that it runs

Candidates take turns in one process; the table has medians and ratios to the first candidate, on the wall and of
processor time, which tells more on a machine that is busy. All must find the same number of pairs and the same sum of
distances. A candidate that needed more than --limit seconds on a case is left out of the cases of the same atoms with
longer cut-offs, and of those with more atoms of the same kind.
"""

from __future__ import annotations

import argparse
import importlib
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import choque

Answer = tuple[Any, Any, Any, Any]
Candidate = Callable[[Any, Any, float], Answer]


def diamond(count: int) -> tuple[Any, Any]:
    """Atoms of diamond [Å], shaken by 0.05 Å."""
    basis = np.array([[0, 0, 0], [2, 2, 0], [2, 0, 2], [0, 2, 2], [1, 1, 1], [3, 3, 1], [3, 1, 3], [1, 3, 3]]) / 4
    return lattice(count, basis, 3.567, 0.05)


def water(count: int) -> tuple[Any, Any]:
    """Molecules of water at 1 g/cm³ [Å], turned at random."""
    random = np.random.default_rng(1)
    centers, cell = lattice(max(count // 3, 1), np.zeros((1, 3)), 3.104, 0.4)
    turns = np.linalg.qr(random.normal(size=(len(centers), 3, 3)))[0]
    molecule = np.array([[0, 0, 0], [0.957, 0, 0], [-0.24, 0.927, 0]])
    return (centers[:, None] + molecule @ turns).reshape(-1, 3), cell


def lattice(count: int, basis: Any, edge: float, shake: float) -> tuple[Any, Any]:
    cells = round((count / len(basis)) ** (1 / 3))
    grid = np.stack(np.meshgrid(*[np.arange(cells)] * 3), axis=-1).reshape(-1, 1, 3)
    positions = (grid + basis).reshape(-1, 3) * edge
    return positions + np.random.default_rng(0).normal(0, shake, positions.shape), np.eye(3) * cells * edge


def candidates(threads: list[int]) -> dict[str, Candidate]:
    found: dict[str, Candidate] = {}
    for count in threads:
        found[f"choque, {count} thread{'s' * (count > 1)}"] = lambda positions, cell, cutoff, count=count: (
            choque.neighbors(positions, cutoff, cell=cell, quantities="ijSd", threads=count)
        )
    makers = {"vesin": _vesin, "matscipy": _matscipy, "ase": _ase}
    for name, maker in makers.items():
        try:
            found[name] = maker()
        except ImportError:
            print(f"{name} is not installed")
    return found


def _vesin() -> Candidate:
    vesin = importlib.import_module("vesin")
    return lambda positions, cell, cutoff: vesin.NeighborList(cutoff=cutoff, full_list=True).compute(
        points=positions, box=cell, periodic=True, quantities="ijSd"
    )


def _matscipy() -> Candidate:
    search = importlib.import_module("matscipy.neighbours").neighbour_list
    return lambda positions, cell, cutoff: search(
        "ijSd", positions=positions, cell=cell, pbc=np.ones(3, bool), cutoff=cutoff
    )


def _ase() -> Candidate:
    search = importlib.import_module("ase.neighborlist").primitive_neighbor_list
    return lambda positions, cell, cutoff: search("ijSd", (True, True, True), cell, positions, cutoff)


def compare(
    name: str, positions: Any, cell: Any, cutoff: float, found: dict[str, Candidate], options: Any
) -> list[str]:
    """Print a row for each candidate; return those that were too slow."""
    times: dict[str, list[Any]] = {each: [] for each in found}
    answers = {}
    for turn in range(options.rounds):
        for each in list(found)[:: 1 if turn % 2 == 0 else -1]:
            begin = np.array([time.perf_counter(), time.process_time()])
            answer = found[each](positions, cell, cutoff)
            times[each].append(np.array([time.perf_counter(), time.process_time()]) - begin)
            answers[each] = (len(answer[0]), float(np.sum(answer[3])))
            del answer
    if not answers:
        return []
    reference = next(iter(answers.values()))
    medians = {each: np.median(taken, axis=0) for each, taken in times.items()}
    best = medians[next(iter(found))]
    for each, (count, total) in answers.items():
        (wall, processor), ratios = medians[each] * 1e3, medians[each] / best
        is_right = count == reference[0] and np.isclose(total, reference[1], rtol=1e-9)
        print(
            f"{name:8} {len(positions):>9,} {cutoff:>4g} Å {count:>12,}  {each:18} {wall:>10.1f} ms {ratios[0]:>7.2f}"
            f" {processor:>10.1f} ms {ratios[1]:>7.2f}  {'same pairs' if is_right else 'OTHER PAIRS'}",
            flush=True,
        )
    return [each for each, median in medians.items() if median[0] > options.limit]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--atoms", type=int, nargs="+", default=[30_000, 100_000])
    parser.add_argument("--cutoffs", type=float, nargs="+", default=[4.0, 5.0, 8.0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, nargs="+", default=[2, 1])
    parser.add_argument("--limit", type=float, default=10.0, help="seconds")
    options = parser.parse_args()
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    found = candidates(options.threads)
    for each in found.values():  # compile and load
        each(*diamond(6000), 3.0)
    slow: dict[tuple[str, str], float] = {}  # the least work, atoms times cut-off cubed, that was too much
    for count in options.atoms:
        for name, make in (("diamond", diamond), ("water", water)):
            positions, cell = make(count)
            for cutoff in options.cutoffs:
                work = len(positions) * cutoff**3
                able = {each: one for each, one in found.items() if work < slow.get((name, each), np.inf)}
                for each in compare(name, positions, cell, cutoff, able, options):
                    slow[name, each] = work


if __name__ == "__main__":
    main()
