"""How fast GJK and EPA answer, and how that compares with other libraries called pair by pair.

    python benchmarks/narrow.py                  # a million pairs for ours, a twentieth for the others
    python benchmarks/narrow.py --pairs 100000

Candidates take turns and each shows its best turn, in nanoseconds a pair. Poses are the same for all: 24-vertex
hulls at random, the second centre uniform in the ball in which their spheres meet, so that seven in ten collide.
Ours include turning the vertices. Peers that are not installed are left out.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from collections.abc import Callable

import numpy as np

from choque._core.kernel import kernel
from choque.narrow import Hulls, collide, epa, gjk
from choque.narrow.convex.cores import climb, scan
from choque.narrow.solids import icosphere
from choque.theses.kdop.trials import random_rotations

TURNS = 5


class Poses:
    """Pairs of one solid."""

    def __init__(self, count: int, seed: int = 0) -> None:
        random = np.random.default_rng(seed)
        self.hulls = Hulls.solids("rhombicuboctahedron")
        direction = random.normal(size=(count, 3))
        reach = 2 * self.hulls.radius[0] * random.random((count, 1)) ** (1 / 3)
        self.place = reach * direction / np.linalg.norm(direction, axis=1, keepdims=True)
        self.turns = random_rotations(random, 2 * count).reshape(2, count, 3, 3)

    def bodies(self, count: int) -> tuple[object, object]:
        one = self.hulls.at(np.zeros((count, 3)), self.turns[0, :count])
        return one, self.hulls.at(self.place[:count], self.turns[1, :count])


def fcl_candidates(poses: Poses, count: int) -> dict[str, Callable[[], int]]:
    import fcl

    vertices = poses.hulls.points
    polygons = np.column_stack([np.full(len(poses.hulls.triangles), 3), poses.hulls.triangles]).reshape(-1)
    solid = fcl.Convex(vertices, len(poses.hulls.triangles), polygons)
    objects = [
        [
            fcl.CollisionObject(solid, fcl.Transform(turn, place))
            for turn, place in zip(poses.turns[side, :count], places, strict=True)
        ]
        for side, places in enumerate((np.zeros((count, 3)), poses.place[:count]))
    ]

    def verdicts() -> int:
        found = 0
        for one, other in zip(*objects, strict=True):
            found += fcl.collide(one, other, fcl.CollisionRequest(), fcl.CollisionResult()) > 0
        return found

    def distances() -> int:
        found = 0
        for one, other in zip(*objects, strict=True):
            found += fcl.distance(one, other, fcl.DistanceRequest(), fcl.DistanceResult()) <= 0
        return found

    return {"python-fcl collide": verdicts, "python-fcl distance": distances}


def coal_candidates(poses: Poses, count: int) -> dict[str, Callable[[], int]]:
    import coal

    points = coal.StdVec_Vec3s()
    for vertex in poses.hulls.points:
        points.append(vertex)
    solid = coal.Convex.convexHull(points, False, "")
    frames = [
        [coal.Transform3s(turn, place) for turn, place in zip(poses.turns[side, :count], places, strict=True)]
        for side, places in enumerate((np.zeros((count, 3)), poses.place[:count]))
    ]

    def verdicts() -> int:
        request, result, found = coal.CollisionRequest(), coal.CollisionResult(), 0
        for one, other in zip(*frames, strict=True):
            result.clear()
            found += coal.collide(solid, one, solid, other, request, result) > 0
        return found

    def distances() -> int:
        request, result, found = coal.DistanceRequest(), coal.DistanceResult(), 0
        for one, other in zip(*frames, strict=True):
            result.clear()
            found += coal.distance(solid, one, solid, other, request, result) <= 0
        return found

    return {"coal collide": verdicts, "coal distance": distances}


@kernel
def many_scans(points: np.ndarray, directions: np.ndarray) -> int:
    total = 0
    for row in range(len(directions)):
        total += scan(points, 0, len(points), (directions[row, 0], directions[row, 1], directions[row, 2]))
    return total


@kernel
def many_climbs(points: np.ndarray, graph: np.ndarray, directions: np.ndarray) -> int:
    total, last = 0, 0
    for row in range(len(directions)):
        last = climb(points, 0, 0, graph, (directions[row, 0], directions[row, 1], directions[row, 2]), last)
        total += last
    return total


def measure(candidates: dict[str, tuple[int, Callable[[], int]]]) -> list[tuple[str, float, int]]:
    """Nanoseconds a pair of each, by its best turn, and what it found."""
    best = dict.fromkeys(candidates, np.inf)
    answer = {}
    for turn in range(TURNS + 1):
        for name, (count, ask) in candidates.items():
            began = time.perf_counter()
            answer[name] = ask()
            if turn:
                best[name] = min(best[name], (time.perf_counter() - began) / count)
    return [(name, 1e9 * best[name], answer[name]) for name in candidates]


def queries(pairs: int) -> None:
    poses = Poses(pairs)
    candidates: dict[str, tuple[int, Callable[[], int]]] = {}
    bodies = poses.bodies(pairs)
    for threads in (1, 2):
        for name, ask in (("verdict", collide), ("distance", gjk), ("depth", epa)):

            def run(ask: Callable[..., object] = ask, threads: int = threads) -> int:
                found = ask(*bodies, threads=threads)
                return int(np.count_nonzero(getattr(found, "collide", found) if ask is not epa else found.depth >= 0))

            candidates[f"choque {name}, {threads} thread{'s' * (threads > 1)}"] = pairs, run
    few = max(pairs // 20, 1)
    for module, make in (("fcl", fcl_candidates), ("coal", coal_candidates)):
        if importlib.util.find_spec(module):
            candidates |= {name: (few, ask) for name, ask in make(poses, few).items()}
    print(f"{'24-vertex hulls':34} {'ns a pair':>10} {'million/s':>10}  meeting")
    for name, nanoseconds, found in measure(candidates):
        share = found / candidates[name][0]
        print(f"{name:34} {nanoseconds:10.0f} {1e3 / nanoseconds:10.2f}  {share:.4f}")


def supports() -> None:
    """Where climbing along edges beats looking at every vertex: towards nearly the same direction, and towards any."""
    random = np.random.default_rng(0)
    near = np.cumsum(random.normal(size=(20_000, 3)) * 0.02, axis=0) + [1, 0, 0]
    far = random.normal(size=(20_000, 3))
    print(f"\n{'support, ns a call':18} {'scan':>8} {'climb, near':>12} {'climb, any':>12}")
    solids = [("24 vertices", Hulls.solids("rhombicuboctahedron"))]
    solids += [(f"{len(icosphere(splits).points)} vertices", _hull(splits)) for splits in (1, 2, 3)]
    for name, hulls in solids:
        points, graph = hulls.points, hulls.graph
        rows = measure(
            {
                "scan": (len(far), lambda points=points: many_scans(points, far)),
                "near": (len(near), lambda points=points, graph=graph: many_climbs(points, graph, near)),
                "any": (len(far), lambda points=points, graph=graph: many_climbs(points, graph, far)),
            }
        )
        print(f"{name:18} {rows[0][1]:8.0f} {rows[1][1]:12.0f} {rows[2][1]:12.0f}")


def _hull(splits: int) -> Hulls:
    return Hulls.from_points(icosphere(splits).points)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    arguments = parser.parse_args()
    queries(arguments.pairs)
    supports()


if __name__ == "__main__":
    main()
