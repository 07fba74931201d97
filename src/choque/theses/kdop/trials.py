"""What the k-DOP study measures beside the six runs: landing, convergence, fields of many bodies, and sorts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core import check
from choque._core.threads import resolve_count
from choque.broad.sweep_order import order_of
from choque.errors import InvalidInput
from choque.lab.stopwatch import Stopwatch
from choque.lab.trial import CutOff, Trial
from choque.lab.verdict import Verdict
from choque.narrow.convex.cores import cores_of_hulls
from choque.narrow.convex.cores import joined as joined_cores
from choque.narrow.convex.probe import CONTACT, DEPTH, VERDICT, probe_pairs
from choque.narrow.hulls import Hulls
from choque.theses.kdop.tower import Tower
from choque.world import World
from choque.world.detection import Detected

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
        runs, collisions, float(sums[0] / runs), int(maxima[0]), float(sums[1] / max(collisions, 1)), int(maxima[1])
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


SOLID = "rhombicuboctahedron"
HALF_EXTENT = 2.0
OVERLAPS = 3.0
"""Boxes that the box of a body overlaps, on average: the crowding of the studies of boxes."""
MAX_PAIRS = 12_000_000
"""Maximum number of candidates that fit into a few gigabytes beside the bodies."""
SAMPLE = 20_000
"""Bodies whose boxes determine the size of the cube."""
BLOCK = 50_000
"""Pairs of a convergence trial that are made at once."""


def stretched(elongation: float) -> NDArray[np.float64]:
    """Return the (3,) scale of a body that is ``elongation`` times longer than wide."""
    return np.array([HALF_EXTENT, HALF_EXTENT * elongation, HALF_EXTENT])


class LandingTrial(Trial):
    """The topmost body of a tower, alone, until it lands."""

    name = "fall"

    def __init__(self, tower: Tower) -> None:
        self.tower = tower
        self.landed = 0

    def run(self, watch: Stopwatch) -> None:
        """Simulate the fall."""
        world = self.tower.world(threads=1)
        world.remove(np.arange(1, self.tower.n))
        latest = 2 * self.tower.landing_frame()
        watch.skip()
        while not world.step(self.tower.dt).contacts:
            if world.frame > latest:
                raise InvalidInput(f"The body has not come to the ground after {world.frame} frames.")
        # A step looks before it moves: what it finds was so after the step before.
        self.landed = world.frame - 1
        watch.lap("fall")

    def check(self) -> Verdict:
        """Compare with the closed form, to within the frame in which it touches without overlap."""
        expected = self.tower.landing_frame()
        fits = abs(self.landed - expected) <= 1
        return Verdict("exact") if fits else Verdict("wrong", f"frame {self.landed}, {expected} by the closed form")

    def facts(self) -> Mapping[str, int | float | str]:
        """Return the frame in which it lands."""
        return {"landed": self.landed}


class ConvergenceTrial(Trial):
    """GJK, and EPA where it collides, on ``n`` random pairs; without a limit on iterations.

    Both bodies are turned at random, and the second lies anywhere within two radii of the first.
    """

    name = "gjk-epa"

    def __init__(self, n: int, elongation: float, seed: int) -> None:
        self.n, self.elongation, self.seed = n, elongation, seed
        self._hulls = Hulls.solids(SOLID)
        self._iterations = np.zeros((2, 512), np.int64)
        self._hits = 0

    def run(self, watch: Stopwatch) -> None:
        """Run GJK and EPA on all pairs, block by block."""
        self._hits = 0
        self._iterations[:] = 0
        random = np.random.default_rng((self.n, self.seed))
        scale = stretched(self.elongation)
        reach = 2 * float(np.linalg.norm(self._hulls.points * scale, axis=1).max())
        for first in range(0, self.n, BLOCK):
            count = min(BLOCK, self.n - first)
            offset = random.normal(size=(count, 3))
            offset *= (reach * np.cbrt(random.random(count)) / np.linalg.norm(offset, axis=1))[:, None]
            one = self._hulls.at(np.zeros((count, 3)), random_rotations(random, count), scale)
            other = self._hulls.at(offset, random_rotations(random, count), scale)
            cores = joined_cores(cores_of_hulls(one, 1), cores_of_hulls(other, 1))
            rows = np.stack((np.arange(count), np.arange(count) + count), axis=1).astype(np.int32)
            watch.skip()
            found = probe_pairs(cores, rows, CONTACT)
            watch.lap("gjk_epa")
            self._hits += int(found.meets.sum())
            self._iterations[0] += np.bincount(found.iterations[:, 0], minlength=512)
            self._iterations[1] += np.bincount(found.iterations[:, 1], minlength=512)
            watch.skip()

    def counters(self) -> Mapping[str, int | float]:
        """Return the maximum and the mean number of iterations; of EPA over colliding pairs."""
        steps = np.arange(512)
        gjk, epa = self._iterations.copy()
        epa[0] = 0
        return {
            "runs": self.n,
            "contacts": self._hits,
            "gjk_most": int(steps[gjk > 0].max(initial=0)),
            "gjk_mean": float(gjk @ steps / max(gjk.sum(), 1)),
            "epa_most": int(steps[epa > 0].max(initial=0)),
            "epa_mean": float(epa @ steps / max(epa.sum(), 1)),
        }

    def check(self) -> Verdict:
        """Check that every pair was finished."""
        finished = int(self._iterations[0].sum())
        return Verdict("exact") if finished == self.n else Verdict("wrong", f"{finished} of {self.n} pairs")


class FieldTrial(Trial):
    """``n`` bodies in a cube, as crowded as in the studies of boxes: bounds, broad phase and contacts, once.

    The volumes change the candidates, never the contacts, which are compared with those behind another broad phase.
    """

    def __init__(self, volume: str, n: int, elongation: float, seed: int) -> None:
        self.name = volume
        random = np.random.default_rng((n, round(elongation * 1000), seed))
        self._world = World("brute", bounds="box", response="impulse", threads=1)
        hulls, scale, rotation = Hulls.solids(SOLID), stretched(elongation), random_rotations(random, n)
        edges = 2 * np.abs(rotation[:SAMPLE] @ (hulls.points * scale).T).max(axis=2)
        met = float((edges + edges[random.permutation(len(edges))]).prod(axis=1).mean())
        self._room = n * met / OVERLAPS
        self._radius = float(np.linalg.norm(hulls.points * scale, axis=1).max())
        self._world.add_hulls(hulls, random.random((n, 3)) * np.cbrt(self._room), scale, rotation=rotation)
        self._found: Detected | None = None

    def run(self, watch: Stopwatch) -> None:
        """Find all contacts."""
        detection = self._world.shadow("sap-kdop", bounds=self.name)
        watch.skip()
        self._found = detection.find(self._world.bodies)
        watch.divide(
            dict(zip(("bounds", "broad", "narrow"), self._found.seconds, strict=True)), sum(self._found.seconds)
        )

    def release(self) -> None:
        """Free the candidates and contacts before the next run."""
        assert self._found is not None
        self._pairs, self._contacts = len(self._found.pairs), self._found.contacts.pairs
        self._found = None

    def warm_up(self, patience: float) -> None:
        """Raise `CutOff` if the pairs would not fit; then run once, to compile and to measure."""
        n = len(self._world)
        if self.name == "sphere":
            expected = n * n / 2 * 4 / 3 * np.pi * (2 * self._radius) ** 3 / self._room
            if expected > MAX_PAIRS:
                raise CutOff(f"would keep about {expected:,.0f} pairs at once; {MAX_PAIRS:,} are allowed")
        begin = self.clock()
        super().warm_up(patience)
        self.release()
        if self.clock() - begin > patience:
            raise CutOff(f"took {self.clock() - begin:.2g} s; {patience:g} s are allowed")

    def check(self) -> Verdict:
        """Compare the contacts with those of another broad phase."""
        expected = self._world.shadow("bvh", bounds="box").find(self._world.bodies).contacts.pairs
        if np.array_equal(self._contacts, expected):
            return Verdict("exact")
        return Verdict("wrong", f"{len(self._contacts):,} contacts, {len(expected):,} behind boxes")

    def counters(self) -> Mapping[str, int | float]:
        """Return the candidates, the contacts and the false positives."""
        hits = len(self._contacts)
        return {"pairs": self._pairs, "contacts": hits, "false_positives": self._pairs - hits}

    def facts(self) -> Mapping[str, int | float | str]:
        """Return the density, a coordinate of the map of volumes."""
        return {"density": OVERLAPS}


class SortTrial(Trial):
    """One sort of ``n`` keys: on Warp's CPU device, which tests the kernels, or by code of the processor.

    No timing of a card is made here. Keys are whole ten-thousandths within the range of the decimal sort, no two alike.
    """

    def __init__(self, sort: str, n: int, seed: int) -> None:
        self.name = sort
        random = np.random.default_rng((n, seed))
        drawn = np.unique(random.integers(-(10**8), 10**8, 2 * n + 16))
        self._keys = random.permutation(drawn)[:n] / 1e4
        self._sort = SORTS[sort]
        self._order: NDArray[np.integer] = np.empty(0, np.int64)

    def run(self, watch: Stopwatch) -> None:
        """Sort once; for a device, with the transfers of keys and order."""
        self._order = self._sort(self._keys)
        watch.lap("sort")

    def check(self) -> Verdict:
        """Compare with the order of NumPy."""
        right = np.array_equal(self._order, np.argsort(self._keys, kind="stable"))
        return Verdict("exact") if right else Verdict("wrong", "the order is another one")


def _on_device(name: str) -> Callable[[NDArray[np.float64]], NDArray[np.integer]]:
    def sort(keys: NDArray[np.float64]) -> NDArray[np.integer]:
        from choque.theses.kdop import sorts

        found: NDArray[np.integer] = getattr(sorts, f"{name}_order")(keys, "warp-cpu")
        return found

    return sort


DEVICE_SORTS = ("decimal", "library", "bitonic")
SORTS: dict[str, Callable[[NDArray[np.float64]], NDArray[np.integer]]] = {
    **{name: _on_device(name) for name in DEVICE_SORTS},
    "radix-cpu": lambda keys: np.asarray(order_of(keys, 1)),
    "numpy": lambda keys: np.argsort(keys, kind="stable"),
}
"""The three of a device, the one that ``sap-kdop`` uses on the CPU (by vectors where NumPy has them), and NumPy's."""
