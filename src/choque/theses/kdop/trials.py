"""What the k-DOP study measures beside the six runs: landing, convergence, fields of many bodies, and sorts."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from choque.broad._sweep_order import order_of
from choque.errors import InvalidInput
from choque.lab.stopwatch import Stopwatch
from choque.lab.trial import CutOff, Trial
from choque.lab.verdict import Verdict
from choque.narrow.convex.cores import cores_of_hulls
from choque.narrow.convex.cores import joined as joined_cores
from choque.narrow.convex.probe import CONTACT, probe_pairs
from choque.narrow.hulls import Hulls
from choque.theses.kdop.tower import Tower
from choque.world import World
from choque.world.detection import Detected

SOLID = "rhombicuboctahedron"
HALF_EXTENT = 2.0
OVERLAPS = 3.0
"""Boxes that the box of a body overlaps, on average: the crowding of the studies of boxes."""
MOST_PAIRS = 12_000_000
"""More candidates than these do not fit beside the bodies into a few gigabytes."""
SAMPLE = 20_000
"""Bodies whose boxes tell how large the cube has to be."""
BLOCK = 50_000
"""Pairs of a convergence trial that are made at once."""


def turns(random: np.random.Generator, count: int) -> NDArray[np.float64]:
    """(count, 3, 3) rotations, every one as likely as any other."""
    quaternion = random.normal(size=(count, 4))
    w, x, y, z = (quaternion / np.linalg.norm(quaternion, axis=1, keepdims=True)).T
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    return np.ascontiguousarray(np.stack([np.stack(row, axis=-1) for row in rows], axis=-2))


def stretched(elongation: float) -> NDArray[np.float64]:
    """(3,) the scale of a body that is so many times longer than wide."""
    return np.array([HALF_EXTENT, HALF_EXTENT * elongation, HALF_EXTENT])


class LandingTrial(Trial):
    """The topmost body of a tower, alone, until it comes to the ground."""

    name = "fall"

    def __init__(self, tower: Tower) -> None:
        self.tower = tower
        self.landed = 0

    def run(self, watch: Stopwatch) -> None:
        """Let it fall."""
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
        """The closed form, give or take the frame in which it touches without overlap."""
        expected = self.tower.landing_frame()
        fits = abs(self.landed - expected) <= 1
        return Verdict("exact") if fits else Verdict("wrong", f"frame {self.landed}, {expected} by the closed form")

    def facts(self) -> Mapping[str, int | float | str]:
        """The frame in which it lands."""
        return {"landed": self.landed}


class ConvergenceTrial(Trial):
    """GJK, and EPA where it collides, on ``n`` random pairs; neither has a limit that is ever reached.

    Both bodies are turned at random, and the second lies anywhere within two radii of the first.
    """

    name = "gjk-epa"

    def __init__(self, n: int, elongation: float, seed: int) -> None:
        self.n, self.elongation, self.seed = n, elongation, seed
        self._hulls = Hulls.solids(SOLID)
        self._iterations = np.zeros((2, 512), np.int64)
        self._hits = 0

    def run(self, watch: Stopwatch) -> None:
        """Ask about all pairs, block by block."""
        self._hits = 0
        self._iterations[:] = 0
        random = np.random.default_rng((self.n, self.seed))
        scale = stretched(self.elongation)
        reach = 2 * float(np.linalg.norm(self._hulls.points * scale, axis=1).max())
        for first in range(0, self.n, BLOCK):
            count = min(BLOCK, self.n - first)
            offset = random.normal(size=(count, 3))
            offset *= (reach * np.cbrt(random.random(count)) / np.linalg.norm(offset, axis=1))[:, None]
            one = self._hulls.at(np.zeros((count, 3)), turns(random, count), scale)
            other = self._hulls.at(offset, turns(random, count), scale)
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
        """The largest and the mean number of iterations; of EPA over those pairs that it was asked about."""
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
        """Every pair must have come to an end."""
        asked = int(self._iterations[0].sum())
        return Verdict("exact") if asked == self.n else Verdict("wrong", f"{asked} of {self.n} pairs")


class FieldTrial(Trial):
    """``n`` bodies in a cube, as crowded as in the studies of boxes: bounds, broad phase and contacts, once.

    The volumes change the candidates, never the contacts, which are compared with those behind another broad phase.
    """

    def __init__(self, volume: str, n: int, elongation: float, seed: int) -> None:
        self.name = volume
        random = np.random.default_rng((n, round(elongation * 1000), seed))
        self._world = World("brute", bounds="box", threads=1)
        hulls, scale, rotation = Hulls.solids(SOLID), stretched(elongation), turns(random, n)
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
        """Millions of candidates and contacts are not kept twice."""
        assert self._found is not None
        self._pairs, self._contacts = len(self._found.pairs), self._found.contacts.pairs
        self._found = None

    def warm_up(self, patience: float) -> None:
        """Refuse what would not fit; then once, to compile and to see how long it takes."""
        n = len(self._world)
        if self.name == "sphere":
            expected = n * n / 2 * 4 / 3 * np.pi * (2 * self._radius) ** 3 / self._room
            if expected > MOST_PAIRS:
                raise CutOff(f"would keep about {expected:,.0f} pairs at once; {MOST_PAIRS:,} are allowed")
        begin = self.clock()
        super().warm_up(patience)
        self.release()
        if self.clock() - begin > patience:
            raise CutOff(f"took {self.clock() - begin:.2g} s; {patience:g} s are allowed")

    def check(self) -> Verdict:
        """No contact may be missing, nor one be found that another broad phase does not lead to."""
        expected = self._world.shadow("bvh", bounds="box").find(self._world.bodies).contacts.pairs
        if np.array_equal(self._contacts, expected):
            return Verdict("exact")
        return Verdict("wrong", f"{len(self._contacts):,} contacts, {len(expected):,} behind boxes")

    def counters(self) -> Mapping[str, int | float]:
        """Candidates, contacts, and what is neither."""
        hits = len(self._contacts)
        return {"pairs": self._pairs, "contacts": hits, "false_positives": self._pairs - hits}

    def facts(self) -> Mapping[str, int | float | str]:
        """How crowded it is: what places a field on the map of volumes."""
        return {"density": OVERLAPS}


class SortTrial(Trial):
    """One sort of ``n`` keys: on Warp's CPU device, where only its work is proved, or by this machine's own code.

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
        """Sort once; on a device, keys go there and the order comes back."""
        self._order = self._sort(self._keys)
        watch.lap("sort")

    def check(self) -> Verdict:
        """The order of NumPy."""
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
"""The three of a device, the one that ``sap-kdop`` uses on the CPU, and NumPy's."""
