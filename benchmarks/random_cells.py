"""Count the neighbours that a search misses or invents in random cells, against an oracle over all images.

    python benchmarks/random_cells.py                 # 100,000 cells: tilted, thin, of mixed periodicity
    python benchmarks/random_cells.py --cells 1000    # a short run

Half of the systems are searched pair by pair as they are small; the others are searched by cells, as large ones are.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

import choque
from choque.neighbors import _find

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "neighbors"))
from neighbor_oracle import oracle


def random_case(random: np.random.Generator) -> dict[str, Any]:
    """Return points, a cut-off, a cell and its periodic axes."""
    edges = random.uniform(0.3, 4, 3)
    cell = np.diag(edges) + np.tril(random.uniform(-1.5, 1.5, (3, 3)) * edges, -1) * (random.random() < 0.7)
    if random.random() < 0.3:
        cell = cell @ np.linalg.qr(random.normal(size=(3, 3)))[0]
    if random.random() < 0.2:
        cell[random.integers(3)] *= 0.15  # thinner than most cut-offs
    count = int(random.integers(1, 12))
    places = random.uniform(-1.5, 2.5, (count, 3)) if random.random() < 0.3 else random.random((count, 3))
    places[random.random((count, 3)) < 0.1] = 0.0
    return {
        "positions": places @ cell,
        "cutoff": float(random.uniform(0.1, 1.2)),
        "cell": cell,
        "periodic": tuple((random.random(3) < 0.75).tolist()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    random = np.random.default_rng(options.seed)
    small = _find.MAX_SMALL
    missed = invented = total = 0
    for number in range(options.cells):
        case = random_case(random)
        _find.MAX_SMALL = small if number % 2 else -1
        i, j, shift = choque.neighbors(**case, quantities="ijS", threads=1)
        found = set(zip(i.tolist(), j.tolist(), *shift.T.tolist(), strict=True))
        wanted = oracle(case["positions"], case["cutoff"], case["cell"], case["periodic"])
        missed, invented, total = missed + len(wanted - found), invented + len(found - wanted), total + len(wanted)
        if found != wanted:
            print(f"cell {number} of seed {options.seed} differs", flush=True)
    print(f"{options.cells:,} cells, {total:,} neighbours: {missed} missed, {invented} invented")


if __name__ == "__main__":
    main()
