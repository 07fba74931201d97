"""k-DOPs against boxes: 100,000 hulls of 4 × 12 × 4 in random orientation, about three overlapping boxes each.

Run with: python benchmarks/kdop.py [COUNT [THREADS]]

Contenders take turns in one process; the medians of their rounds are shown, and the least of them: on a machine that
others keep busy that is the one to look at. Times are those of the processor, all threads together. The narrow phase,
GJK and EPA, is the same for all of them, and so are the contacts that it finds.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

import choque
from choque.bounds import BodyPoints
from choque.narrow import CONVEX, NarrowPhase, Shapes, collide
from choque.narrow import Hulls as HullLibrary

ROUNDS = 5
OVERLAPS = 3.0
SCALE = np.array([2.0, 6.0, 2.0])


def rounded_cube() -> np.ndarray:
    """24 vertices: the permutations of (±0.179303, ±0.179303, ±1), extents 2."""
    short = 0.179303
    signs = itertools.product((-1, 1), repeat=3)
    return np.array(
        sorted({tuple(np.roll([a * short, b * short, c], shift)) for a, b, c in signs for shift in range(3)})
    )


class Hulls:
    """The bodies of the benchmark: poses in a cube whose side makes about three overlapping boxes a body."""

    def __init__(self, count: int, seed: int = 0) -> None:
        random = np.random.default_rng(seed)
        self.points = BodyPoints([rounded_cube()])
        self.groups = np.zeros(count, np.int64)
        self.rotation = np.linalg.qr(random.normal(size=(count, 3, 3)))[0].astype(np.float32)
        place = random.random((count, 3))
        edge = self.points.boxes(self.groups, np.zeros((count, 3), np.float32), self.rotation, SCALE)
        edges = (edge.upper - edge.lower).astype(np.float64)
        touching = (edges + edges[random.permutation(count)]).prod(axis=1).mean()
        side = (count * touching / OVERLAPS) ** (1 / 3)
        self.position = (place * side).astype(np.float32)

    def boxes(self, threads: int) -> Any:
        return self.points.boxes(self.groups, self.position, self.rotation, SCALE, threads=threads)

    def kdops(self, k: int, threads: int) -> Any:
        return self.points.kdops(self.groups, self.position, self.rotation, SCALE, k=k, threads=threads)


def narrow_of(hulls: Hulls, threads: int) -> dict[str, Callable[[Any], int]]:
    """Two narrow phases without any memory of a frame before: does it collide, and how deep."""
    count = len(hulls.groups)
    library = HullLibrary.from_points(rounded_cube())
    shapes = Shapes(
        kind=np.full(count, CONVEX, np.int8),
        position=hulls.position.astype(np.float64),
        rotation=hulls.rotation.astype(np.float64),
        size=np.tile(SCALE, (count, 1)),
        hull=np.zeros(count, np.int32),
        hulls=library,
    )

    bodies = library.at(shapes.position, shapes.rotation, shapes.size)

    def verdicts(pairs: Any) -> int:
        return int(np.count_nonzero(collide(bodies, bodies, pairs, threads=threads)))

    return {
        "verdicts by GJK": verdicts,
        "contacts by GJK and EPA": lambda pairs: len(NarrowPhase(threads=threads).find(shapes, pairs)),
    }


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    threads = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    hulls = Hulls(count)
    for name, narrow in narrow_of(hulls, threads).items():
        compare(hulls, threads, name, narrow)


def compare(hulls: Hulls, threads: int, name: str, narrow: Callable[[Any], int]) -> None:
    def contender(method: str, bounds: Callable[[], Any]) -> Callable[[], tuple[float, float, float, int, int]]:
        def run() -> tuple[float, float, float, int, int]:
            start = time.process_time()
            volumes = bounds()
            fitted = time.process_time()
            pairs = choque.broad.create(method, volumes, threads=threads).pairs()
            found = time.process_time()
            hits = narrow(pairs)
            return fitted - start, found - fitted, time.process_time() - found, len(pairs), hits

        return run

    contenders = {
        "sap-direct, boxes": contender("sap-direct", lambda: hulls.boxes(threads)),
        "auto, boxes": contender("auto", lambda: hulls.boxes(threads)),
        "sap-kdop, 6-DOPs": contender("sap-kdop", lambda: hulls.kdops(6, threads)),
        "sap-kdop, 14-DOPs": contender("sap-kdop", lambda: hulls.kdops(14, threads)),
        "sap-kdop, 18-DOPs": contender("sap-kdop", lambda: hulls.kdops(18, threads)),
        "sap-kdop, 26-DOPs": contender("sap-kdop", lambda: hulls.kdops(26, threads)),
    }
    rounds: dict[str, list[tuple[float, float, float, int, int]]] = {label: [] for label in contenders}
    for turn in range(ROUNDS + 1):
        for label, run in contenders.items():
            result = run()
            if turn:  # the first turn compiles and warms up
                rounds[label].append(result)
    assert len({each[-1][4] for each in rounds.values()}) == 1, "all must find the same contacts"
    print(f"{len(hulls.groups):,} hulls of 4 × 12 × 4, {threads} threads, {name}; milliseconds")
    print(f"{'':<20} {'fit':>7} {'broad':>7} {'narrow':>7} {'b + n':>7} {'least':>7} {'pairs':>9} {'contacts':>9}")
    for label, each in rounds.items():
        fit, broad, exact = (1000 * median(column) for column in list(zip(*each, strict=True))[:3])
        both = 1000 * median(one[1] + one[2] for one in each)
        least = 1000 * min(one[1] + one[2] for one in each)
        print(
            f"{label:<20} {fit:7.1f} {broad:7.1f} {exact:7.1f} {both:7.1f} {least:7.1f} {each[0][3]:9,} {each[0][4]:9,}"
        )


if __name__ == "__main__":
    main()
