"""Compare joins and suppression with shapely, geoindex-rs, torchvision, lsnms and SAHI, those that are installed.

    python benchmarks/joins.py                                   # joins of 100k and 1M boxes, 20k and 100k detections
    python benchmarks/joins.py --boxes 10000 --detections 5000   # small, to see that it runs

Candidates take turns in one process; a row has the median and the ratio to the first candidate, on the wall and of
processor time, which tells more on a machine that is busy. Times include building what is searched. All must find the
same number of pairs, or keep the same boxes. A candidate that needed more than --limit seconds is left out of larger
cases of the same kind.
"""

from __future__ import annotations

import argparse
import importlib
import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import choque

Candidate = Callable[[Any], Any]


def layers(count: int, dimension: int) -> tuple[Any, Any]:
    """Two sets of boxes (n, 2 d), about two partners each."""
    random = np.random.default_rng(count)
    side = (count / 2) ** (1 / dimension) * 2

    def one() -> Any:
        lower = random.uniform(0, side, (count, dimension))
        return np.concatenate((lower, lower + random.uniform(0.6, 1.4, lower.shape)), axis=1)

    return one(), one()


def detections(count: int) -> tuple[Any, Any]:
    """Boxes (n, 4) float32 around count / 8 objects, and scores: what a detector says of a large image."""
    random = np.random.default_rng(count)
    center, size = random.uniform(0, 18 * count**0.5, (count // 8, 2)), random.uniform(20, 120, (count // 8, 2))
    shown = random.integers(0, count // 8, count)
    middle = center[shown] + random.normal(0, 6, (count, 2))
    half = size[shown] * random.normal(1, 0.08, (count, 2)).clip(0.5, 1.5) / 2
    return np.concatenate((middle - half, middle + half), axis=1).astype(np.float32), random.uniform(
        0, 1, count
    ).astype(np.float32)


def join_candidates(dimension: int) -> dict[str, Candidate]:
    found: dict[str, Candidate] = {"choque": lambda sets: choque.join(*sets)}
    makers = {"shapely": _shapely, "geoindex-rs": _geoindex} if dimension == 2 else {}
    return found | _installed(makers)


def resting_candidates() -> dict[str, Candidate]:
    """A resting set is built once; the moving one asks in every round."""
    built: dict[int, Any] = {}

    def choque_kept(sets: Any) -> Any:
        moving, resting = sets
        if id(resting) not in built:
            built[id(resting)] = choque.broad.create("grid", choque.bounds.Boxes(resting[:, :3], resting[:, 3:]))
        return built[id(resting)].query(choque.bounds.Boxes(moving[:, :3], moving[:, 3:]))

    def rtree_kept() -> Candidate:
        library = importlib.import_module("rtree.index")

        def search(sets: Any) -> Any:
            moving, resting = sets
            if -id(resting) not in built:
                built[-id(resting)] = library.Index(
                    (np.arange(len(resting)), resting[:, :3], resting[:, 3:]), properties=library.Property(dimension=3)
                )
            ids, counts = built[-id(resting)].intersection_v(moving[:, :3].copy(), moving[:, 3:].copy())
            return np.stack((np.repeat(np.arange(len(moving)), counts.astype(np.int64)), ids.astype(np.int64)), axis=1)

        return search

    return {"choque": choque_kept} | _installed({"rtree": rtree_kept})


def suppress_candidates() -> dict[str, Candidate]:
    found: dict[str, Candidate] = {"choque": lambda given: choque.boxes.suppress(*given, iou=0.5)}
    makers = {"torchvision": _torchvision, "lsnms": _lsnms}
    makers |= {f"sahi {backend}": partial(_sahi, backend) for backend in ("numpy", "numba")}
    return found | _installed(makers)


def _installed(makers: dict[str, Callable[[], Candidate]]) -> dict[str, Candidate]:
    found = {}
    for name, maker in makers.items():
        try:
            found[name] = maker()
        except (ImportError, RuntimeError) as problem:
            print(f"{name} does not load: {problem}")
    return found


def _shapely() -> Candidate:
    shapely = importlib.import_module("shapely")

    def search(sets: Any) -> Any:
        a, b = (shapely.box(*boxes.T) for boxes in sets)
        begin = _clocks()
        found = shapely.STRtree(b).query(a)
        search.seconds = _clocks() - begin  # type: ignore[attr-defined]
        return found.T

    return search


def _geoindex() -> Candidate:
    library = importlib.import_module("geoindex_rs.rtree")

    def build(boxes: Any) -> Any:
        builder = library.RTreeBuilder(len(boxes))
        builder.add(*(np.ascontiguousarray(column) for column in boxes.T))
        return builder.finish()

    def search(sets: Any) -> Any:
        left, right = library.tree_join(build(sets[0]), build(sets[1])).columns
        return np.stack((np.asarray(left), np.asarray(right)), axis=1)

    return search


def _torchvision() -> Candidate:
    torch = importlib.import_module("torch")
    operations = importlib.import_module("torchvision.ops")
    return lambda given: operations.nms(torch.from_numpy(given[0]), torch.from_numpy(given[1]), 0.5).numpy()


def _lsnms() -> Candidate:
    library = importlib.import_module("lsnms")
    return lambda given: library.nms(given[0].astype(np.float64), given[1].astype(np.float64), iou_threshold=0.5)


def _sahi(backend: str) -> Candidate:
    combine = importlib.import_module("sahi.postprocess.combine")
    choose = importlib.import_module("sahi.postprocess.backends").set_postprocess_backend

    def search(given: Any) -> Any:
        choose(backend)
        return combine.nms(np.column_stack((*given, np.zeros(len(given[1]), np.float32))), "IOU", 0.5)

    return search


def _clocks() -> Any:
    """The wall and the processor time of this process [s], (2,)."""
    return np.array([time.perf_counter(), time.process_time()])


def compare(name: str, given: Any, found: dict[str, Candidate], options: Any) -> list[str]:
    """Print a row for each candidate, and return those that took longer than the limit."""
    times: dict[str, list[Any]] = {each: [] for each in found}
    answers = {}
    for turn in range(options.rounds):
        for each in list(found)[:: 1 if turn % 2 == 0 else -1]:
            begin = _clocks()
            answer = found[each](given)
            seconds = _clocks() - begin
            times[each].append(getattr(found[each], "seconds", seconds))  # without making shapely's geometries
            answers[each] = (len(answer), int(np.asarray(answer, np.int64).sum()))
    medians = {each: np.median(taken, axis=0) for each, taken in times.items()}
    best = medians[next(iter(found))]
    for each, (count, total) in answers.items():
        is_same = (count, total) == next(iter(answers.values()))
        wall, processor = medians[each] * 1e3
        ratios = medians[each] / best
        print(
            f"{name:34} {each:12} {wall:>9.1f} ms {ratios[0]:>7.2f} {processor:>9.1f} ms {ratios[1]:>7.2f} "
            f"{count:>10,} {'same' if is_same else 'OTHER'}",
            flush=True,
        )
    return [each for each, median in medians.items() if median[0] > options.limit and each != "choque"]


def run(cases: list[tuple[str, Any]], found: dict[str, Candidate], options: Any, small: Any) -> None:
    for each in found.values():  # compile and load
        each(small)
    for name, given in cases:
        for slow in compare(name, given, found, options):
            del found[slow]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--boxes", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--detections", type=int, nargs="+", default=[20_000, 100_000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=10.0, help="seconds")
    options = parser.parse_args()
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    sizes = sorted(options.boxes)
    flat = [(f"join {count:,} x {count:,} in 2D", layers(count, 2)) for count in sizes]
    run(flat, join_candidates(2), options, layers(60_000, 2))
    count = min(sizes[-1], 100_000)
    rest = [(f"{count:,} moving, {count:,} resting, 3D", layers(count, 3))]
    run(rest, resting_candidates(), options, layers(60_000, 3))
    scored = [(f"suppress {count:,}", detections(count)) for count in sorted(options.detections)]
    run(scored, suppress_candidates(), options, detections(800))


if __name__ == "__main__":
    main()
