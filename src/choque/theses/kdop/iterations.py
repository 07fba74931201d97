"""Iterations of GJK and EPA on random pairs of one solid, as the k-DOP thesis counts them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core import check
from choque._core.threads import resolve_count
from choque.narrow.convex.cores import cores_of_hulls
from choque.narrow.convex.probe import DEPTH, VERDICT, probe_pairs
from choque.narrow.hulls import Hulls

BATCH = 50_000
"""Pairs in one batch: about 60 MB."""


@dataclass(frozen=True)
class IterationStatistics:
    """Means and maxima over many runs. GJK stops at its verdict; EPA runs if the bodies overlap."""

    runs: int
    collisions: int
    gjk_mean: float
    gjk_max: int
    epa_mean: float
    epa_max: int


def iteration_statistics(
    runs: int = 10_000_000,
    *,
    solid: str = "rhombicuboctahedron",
    scale: ArrayLike = 2.0,
    seed: int = 0,
    threads: int | None = None,
) -> IterationStatistics:
    """Run GJK and EPA on random pairs and count their iterations, without a limit on either.

    Both bodies are ``solid`` at the ``scale``, a number or (3,), in uniformly random orientations; the second centre is
    uniform in the ball in which the bodies' spheres overlap. A pair counts one iteration for each support point of both
    bodies that GJK or EPA computes. The same ``seed`` gives the same numbers.
    """
    runs = check.whole_number(runs, "runs", 1)
    hulls = Hulls.solids(solid)
    radius = float(np.linalg.norm(hulls.at((0, 0, 0), scale=scale).scale[0] * hulls.points, axis=1).max())
    random = np.random.default_rng(seed)
    collisions = 0
    sums, maxima = np.zeros(2), np.zeros(2, np.int64)
    for start in range(0, runs, BATCH):
        count = min(BATCH, runs - start)
        direction = random.normal(size=(count, 3))
        distance = 2 * radius * random.random((count, 1)) ** (1 / 3)
        position = np.zeros((2 * count, 3))
        position[1::2] = distance * direction / np.linalg.norm(direction, axis=1, keepdims=True)
        cores = cores_of_hulls(hulls.at(position, random_rotations(random, 2 * count), scale))
        rows = np.arange(2 * count, dtype=np.int32).reshape(-1, 2)
        thread_count = resolve_count(threads, count)
        found = probe_pairs(cores, rows, VERDICT, thread_count)
        meeting = np.ascontiguousarray(rows[found.meets != 0])
        depths = probe_pairs(cores, meeting, DEPTH, thread_count)
        collisions += len(meeting)
        for place, iterations in enumerate((found.iterations[:, 0], depths.iterations[:, 1])):
            sums[place] += iterations.sum()
            maxima[place] = max(maxima[place], iterations.max(initial=0))
    return IterationStatistics(
        runs,
        collisions,
        float(sums[0] / runs),
        int(maxima[0]),
        float(sums[1] / max(collisions, 1)),
        int(maxima[1]),
    )


def random_rotations(random: np.random.Generator, count: int) -> NDArray[np.float64]:
    """Return uniformly random rotations (n, 3, 3), from normal quaternions."""
    quaternion = random.normal(size=(count, 4))
    w, x, y, z = (quaternion / np.linalg.norm(quaternion, axis=1, keepdims=True)).T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.ascontiguousarray(np.moveaxis(np.array(rows), 2, 0))
