"""k-DOPs against boxes: 100,000 hulls of 4 × 12 × 4 in random orientation, about three overlapping boxes each.

    python benchmarks/kdop.py                    # 100,000 hulls on two threads
    python benchmarks/kdop.py 20000 1            # 20,000 hulls on one thread
    python benchmarks/kdop.py 100000 1 12        # 12 turns, for a busy machine

Candidates take turns in one process. Shown are the medians of their turns, the range of broad plus narrow phase, and
how many times as fast as `sap-direct` with boxes each is, turn by turn and by the least turns: on a busy
machine, look at the least and at the ratios. Times are those of the processor, all threads together, and in
brackets those on the wall. The narrow phase, GJK and EPA, is the same for all of them, and so are the contacts that it
finds; its stages follow, on one thread. Figures and what they mean: kdop.md.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any, NamedTuple

import numpy as np

import choque
from choque.narrow import Hulls as HullLibrary
from choque.narrow import NarrowPhase, Shapes, collide
from choque.narrow.convex.cores import cores_of_shapes
from choque.narrow.convex.probe import CONTACT, DEPTH, VERDICT, probe_pairs
from choque.narrow.shapes import CONVEX
from choque.theses.kdop import BodyPoints

TURNS = 5
OVERLAPS = 3.0
SCALE = np.array([2.0, 6.0, 2.0])
REFERENCE = "sap-direct, boxes"


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


def shapes_of(hulls: Hulls) -> Shapes:
    count = len(hulls.groups)
    return Shapes(
        kind=np.full(count, CONVEX, np.int8),
        position=hulls.position.astype(np.float64),
        rotation=hulls.rotation.astype(np.float64),
        size=np.tile(SCALE, (count, 1)),
        hull=np.zeros(count, np.int32),
        hulls=HullLibrary.from_points(rounded_cube()),
    )


def narrow_of(hulls: Hulls, threads: int) -> dict[str, Callable[[Any], int]]:
    """Two narrow phases without any memory of a frame before: does it collide, and how deep."""
    shapes = shapes_of(hulls)
    bodies = shapes.hulls.at(shapes.position, shapes.rotation, shapes.size)

    def verdicts(pairs: Any) -> int:
        return int(np.count_nonzero(collide(bodies, bodies, pairs, threads=threads)))

    return {
        "verdicts by GJK": verdicts,
        "contacts by GJK and EPA": lambda pairs: len(NarrowPhase(threads=threads).find(shapes, pairs)),
    }


class Turn(NamedTuple):
    """One candidate's turn: seconds of the processor, then on the wall, then what was found."""

    fit: float
    broad: float
    narrow: float
    wall: float
    pairs: int
    contacts: int

    @property
    def both(self) -> float:
        return self.broad + self.narrow


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    threads = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    turn_count = int(sys.argv[3]) if len(sys.argv) > 3 else TURNS
    hulls = Hulls(count)
    for name, narrow in narrow_of(hulls, threads).items():
        compare(hulls, threads, turn_count, name, narrow)
    stages(hulls, turn_count)


def compare(hulls: Hulls, threads: int, turn_count: int, name: str, narrow: Callable[[Any], int]) -> None:
    def candidate(method: str, bounds: Callable[[], Any]) -> Callable[[], Turn]:
        def run() -> Turn:
            start = time.process_time()
            volumes = bounds()
            fitted, on_wall = time.process_time(), time.perf_counter()
            pairs = choque.broad.create(method, volumes, threads=threads).pairs()
            found = time.process_time()
            hits = narrow(pairs)
            ended = time.process_time(), time.perf_counter()
            return Turn(fitted - start, found - fitted, ended[0] - found, ended[1] - on_wall, len(pairs), hits)

        return run

    candidates = {
        REFERENCE: candidate("sap-direct", lambda: hulls.boxes(threads)),
        "auto, boxes": candidate("auto", lambda: hulls.boxes(threads)),
        **{f"sap-kdop, {k}-DOPs": candidate("sap-kdop", partial(hulls.kdops, k, threads)) for k in (6, 14, 18, 26)},
    }
    turns: dict[str, list[Turn]] = {label: [] for label in candidates}
    for turn in range(turn_count + 1):
        for label, run in candidates.items():
            result = run()
            if turn:  # the first turn compiles and warms up
                turns[label].append(result)
    assert len({each[-1].contacts for each in turns.values()}) == 1, "all must find the same contacts"
    print(f"{len(hulls.groups):,} hulls of 4 × 12 × 4, {threads} threads, {name}; milliseconds, {turn_count} turns")
    print(
        f"{'':<18} {'fit':>5} {'broad':>6} {'narrow':>6} {'b + n':>6} {'range':>11} {'[wall, range]':>16} {'pairs':>8} "
        f"{'contacts':>8}  times as fast as sap-direct"
    )
    for label, each in turns.items():
        fit, broad, exact = (1000 * median(column) for column in list(zip(*each, strict=True))[:3])
        wall = sorted(1000 * turn.wall for turn in each)
        both = sorted(1000 * turn.both for turn in each)
        ratios = sorted(other.both / one.both for one, other in zip(each, turns[REFERENCE], strict=True))
        least = 1000 * min(turn.both for turn in turns[REFERENCE]) / both[0]
        print(
            f"{label:<18} {fit:5.0f} {broad:6.0f} {exact:6.0f} {median(both):6.0f} {both[0]:5.0f}-{both[-1]:<5.0f} "
            f"{f'[{median(wall):.0f}, {wall[0]:.0f}-{wall[-1]:.0f}]':>16} {each[0].pairs:8,} {each[0].contacts:8,}  "
            f"{median(ratios):.2f} ({ratios[0]:.2f}-{ratios[-1]:.2f}), of the least {least:.2f}"
        )


def stages(hulls: Hulls, turn_count: int) -> None:
    """Where the narrow phase spends its time, for the candidates of boxes and of k-DOPs: the least of some turns."""
    shapes = shapes_of(hulls)
    print(f"{'stages, milliseconds':<22} {'place':>6} {'GJK apart':>10} {'GJK meeting':>12} {'EPA':>6} {'patch':>6}")
    for label, method, bounds in (
        (REFERENCE, "sap-direct", hulls.boxes(1)),
        *((f"sap-kdop, {k}-DOPs", "sap-kdop", hulls.kdops(k, 1)) for k in (18, 26)),
    ):
        pairs = choque.broad.create(method, bounds, threads=1).held_pairs()
        cores, rows = cores_of_shapes(shapes, pairs, 1)
        meets = probe_pairs(cores, rows, VERDICT).meets.astype(bool)
        apart, meeting = np.ascontiguousarray(rows[~meets]), np.ascontiguousarray(rows[meets])
        placing, apart_time, verdict, depth, contact = least_times(
            2 * turn_count,
            partial(cores_of_shapes, shapes, pairs, 1),
            partial(probe_pairs, cores, apart, VERDICT),
            *(partial(probe_pairs, cores, meeting, wanted) for wanted in (VERDICT, DEPTH, CONTACT)),
        )
        print(
            f"{label:<22} {placing:6.0f} {apart_time:10.0f} {verdict:12.0f} {depth - verdict:6.0f} "
            f"{max(contact - depth, 0):6.0f}"
        )


def least_times(turn_count: int, *tasks: Callable[[], Any]) -> list[float]:
    """Milliseconds of the processor that each task takes at least, in turns."""
    times: list[list[float]] = [[] for _ in tasks]
    for _ in range(turn_count):
        for row, task in zip(times, tasks, strict=True):
            start = time.thread_time()
            task()
            row.append(1000 * (time.thread_time() - start))
    return [min(row) for row in times]


if __name__ == "__main__":
    main()
