"""The trials of the EVM study: two voxel objects in many placements, in one representation.

The objects are random volumes with about a given number of vertices, hollow spheres, and phantoms.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from choque._core import check
from choque.errors import UnknownName
from choque.files.atomic import replacing
from choque.lab import phantoms
from choque.lab.stopwatch import Stopwatch
from choque.lab.trial import CutOff, Trial
from choque.lab.verdict import Verdict
from choque.theses.evm.baselines import DenseMask, Mask, Shift
from choque.theses.evm.holders import HOLDERS, Instance
from choque.theses.evm.objects import sphere_mesh
from choque.theses.evm.surface import covered_surface
from choque.volumes import ExtremeVertices, Volume

BLOCKS = ("blocks-overlap", "blocks-interlocked", "blocks-separated")
"""Random volumes: placed so that they collide, so that only their boxes overlap, or so that these are apart."""
SPHERES = ("spheres-x", "spheres-y", "spheres-z")
"""Two hollow spheres side by side along an axis, as Ottogalli (2014) voxelised them; n is voxels per unit."""
PHANTOMS = {
    "ball": ("ball", "ball"),
    "gyroid": ("gyroid", "gyroid"),
    "menger": ("menger", "menger"),
    "implant": ("vertebra", "screw"),
    "labyrinth": ("gyroid", "gyroid-channel"),
}
"""Phantoms of n³ voxels whose boxes share at least a quarter; the labyrinth is interlocked and never collides."""


SAMPLE_PLACEMENTS = 3
"""Placements from which the time of all is estimated."""

LONG = 1.0
"""A turn that takes longer [s] is not made before it is timed: its first placements have loaded every kernel."""

LARGE = 256
"""Edge of phantoms from which their masks, the right answers and the counts are kept for the other cells [voxels]."""

Shared = TypeVar("Shared", list[bool], dict[str, int])

CHECKED_VOXELS = 1 << 36
"""Voxels that a check compares: of large objects, it takes some placements spread over all."""


def make_instance(scene: str, n: int, seed: int, placements: int, scratch: Path | None = None) -> Instance:
    """Return the two objects of a scene and their placements, drawn from ``seed``.

    Large phantoms are kept in the folder ``scratch``, if there is one, with what is known about them.
    """
    random = np.random.default_rng([seed, n])
    if scene in BLOCKS:
        return _blocks(scene, n, random, placements)
    if scene in SPHERES:
        return _spheres(scene, n, placements)
    if scene not in PHANTOMS:
        raise UnknownName("scene of volumes", scene, (*BLOCKS, *SPHERES, *PHANTOMS))
    kept = scratch if n >= LARGE else None
    one, two = (_phantom(name, n, kept) for name in PHANTOMS[scene])
    if n > 512:
        placements = max(1, placements // 10)  # the dense AND of a gigabyte takes tenths of a second
    shared = None if kept is None else kept / f"{scene}-{n}-{seed}-{placements}"
    if scene == "labyrinth":
        return Instance(one, two, [(0, 0, 0)] * max(1, placements // 20), shared=shared)
    shifts = [_quarter_shared(one, two, random) for _ in range(placements)]
    return Instance(one, two, shifts, shared=shared)


def _phantom(name: str, n: int, kept: Path | None) -> Mask:
    """Return the mask of a phantom, read from its file in the folder ``kept`` if there is one."""
    path = None if kept is None else kept / f"{name}-{n}.bits"
    if path is not None and path.exists():
        bits = np.fromfile(path, np.uint8)
        return np.unpackbits(bits, count=n**3).view(np.bool_).reshape(n, n, n)
    mask: Mask = phantoms.PHANTOMS.find(name)(n)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as handle:
            handle.write(np.packbits(mask).tobytes())
    return mask


def _blocks(scene: str, n: int, random: np.random.Generator, placements: int) -> Instance:
    """Return two random volumes that have about n vertices together, split at random."""
    share = min(max(2 * int(random.integers(n // 8, 3 * n // 8 + 1)), 12), n - 12)
    one, two = (random_volume(count, random) for count in (share, n - share))
    dense, other = DenseMask(one), DenseMask(two)
    shifts: list[Shift] = []
    tries = 0
    while len(shifts) < placements:
        tries += 1
        if scene == "blocks-separated":
            beyond = one.shape[0] + int(random.integers(0, 8))
            shifts.append((beyond, int(random.integers(-4, 5)), int(random.integers(-4, 5))))
            continue
        low, high = [-size + 1 for size in two.shape], list(one.shape)
        x, y, z = random.integers(low, high).tolist()
        if dense.collides(other, (x, y, z)) == (scene == "blocks-overlap"):
            shifts.append((x, y, z))
        elif tries > 200 * placements:
            break  # dense objects have few placements of this kind
    return Instance(one, two, shifts or [(one.shape[0], 0, 0)])


def random_volume(vertex_count: int, random: np.random.Generator) -> Mask:
    """Return a block whose voxels are full with one probability from 0.1 to 0.8, as the thesis drew its volumes.

    Of the lattice points inside, (1 − (1 − 2p)⁸) / 2 are extreme on average, which gives the size; planes are then
    added until the volume has the wanted number of vertices, so that it has a few more.
    """
    probability = random.uniform(0.1, 0.8)
    share = (1 - (1 - 2 * probability) ** 8) / 2
    edge = max(2, round((vertex_count / share) ** (1 / 3)) - 1)
    mask = random.random((2 * edge + 40, edge, edge)) < probability
    mask[0, 0, 0] = True  # never empty
    length = 1
    while length < len(mask) and len(ExtremeVertices.from_mask(mask[:length])) < vertex_count:
        length += 1
    return mask[:length]


def _spheres(scene: str, n: int, placements: int) -> Instance:
    mesh = sphere_mesh()
    mask: Mask = Volume.from_mesh(mesh, voxels_per_unit=n, fill="surface").voxels()
    shift = [0, 0, 0]
    shift["xyz".index(scene[-1])] = 2 * n + 1
    return Instance(mask, mask, [(shift[0], shift[1], shift[2])] * max(1, placements // 50), mesh, float(n))


def _quarter_shared(one: Mask, two: Mask, random: np.random.Generator) -> Shift:
    """Return a placement at which the boxes share at least a quarter of the smaller one."""
    least = min(one.size, two.size) / 4
    while True:
        x, y, z = random.integers([-size + 1 for size in two.shape], one.shape).tolist()
        shared = [
            min(size, other + step) - max(0, step)
            for size, other, step in zip(one.shape, two.shape, (x, y, z), strict=True)
        ]
        if min(shared) > 0 and float(np.prod(shared)) >= least:
            return (x, y, z)


class VolumeTrial(Trial):
    """Make two objects (``create``), then test every placement (``query``); moving is not timed."""

    def __init__(self, name: str, instance: Instance) -> None:
        check.choice(name, "representation of voxels", HOLDERS)
        self.name = name
        self.instance = instance
        self.holder = HOLDERS[name](instance)
        self.answers: list[bool] = []
        self.seconds: list[float] = []
        self.bytes = 0

    def warm_up(self, patience: float) -> None:
        """Run a few placements, then all of them, unless that takes long."""
        few = self.instance.shifts[:SAMPLE_PLACEMENTS]
        watch = Stopwatch(self.clock)
        self._pass(watch, few)
        if watch.stop().total <= LONG:  # most of it may have been for kernels
            watch = Stopwatch(self.clock)
            self._pass(watch, few)
        laps = watch.stop().laps
        # Objects are made once in a turn; what is cached for later queries is made in the first.
        expected = sum(laps["create"]) + min(laps["query"]) * len(self.instance.shifts)
        if expected > patience:
            raise CutOff(f"would take about {expected:.2g} s a turn; {patience:g} s are allowed")
        if expected <= LONG:
            self._pass(Stopwatch(self.clock), self.instance.shifts)

    def run(self, watch: Stopwatch) -> None:
        """Run all placements once, and keep the times."""
        self._pass(watch, self.instance.shifts)
        self.seconds = list(watch.stop().laps["query"])
        watch.skip()

    def _pass(self, watch: Stopwatch, shifts: Sequence[Shift]) -> None:
        holder = self.holder
        one, two = holder.make(self.instance.one), holder.make(self.instance.two)
        watch.lap("create")
        self.answers = []
        for shift in shifts:
            left, right = holder.place(one, two, shift)
            watch.skip()
            self.answers.append(holder.collides(left, right))
            watch.lap("query")
        self.bytes = holder.byte_count(one) + holder.byte_count(two)
        watch.skip()

    def check(self) -> Verdict:
        """Compare with the AND of the masks in all placements; of large objects, in some of them."""
        stride = max(1, len(self.answers) * self.instance.one.size // CHECKED_VOXELS)
        wrong = missed = 0
        truths = self._once("truth", lambda: self._truths(self.instance.shifts[::stride]))
        for answer, truth in zip(self.answers[::stride], truths, strict=True):
            wrong += answer != truth
            missed += truth and not answer
        if not wrong:
            return Verdict("exact")
        if not self.holder.is_exact:
            return Verdict("other question", f"differs from the voxels in {wrong} placements")
        return Verdict("wrong", f"{wrong} placements wrong, {missed} of them missed")

    def _truths(self, shifts: Sequence[Shift]) -> list[bool]:
        one, two = DenseMask(self.instance.one), DenseMask(self.instance.two)
        known = {shift: one.collides(two, shift) for shift in dict.fromkeys(shifts)}
        return [known[shift] for shift in shifts]

    def _once(self, name: str, compute: Callable[[], Shared]) -> Shared:
        """Return what is the same for every representation, from its file if another cell has computed it."""
        folder = self.instance.shared
        path = None if folder is None else folder / f"{name}.json"
        if path is not None and path.exists():
            known: Shared = json.loads(path.read_text(encoding="utf-8"))
            return known
        found = compute()
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(path) as handle:
                handle.write(json.dumps(found).encode())
        return found

    def counters(self) -> Mapping[str, int | float]:
        """Return bytes, placements, and the number of collisions."""
        return {"bytes": self.bytes, "placements": len(self.instance.shifts), "collisions": sum(self.answers)}

    def facts(self) -> Mapping[str, int | float | str]:
        """Return vertices, planes and voxels of both, and percentiles of the time of a placement [s].

        For objects that came from a mesh also the times of voxelising it and of making the surface of its voxels [s],
        and the vertices and faces of that: the other columns of the third experiment of the thesis.
        """
        low, middle, high = np.percentile(self.seconds or [0.0], (5, 50, 95))
        return {
            **self._once("counts", self._counts),
            "query_5": float(low),
            "query_50": float(middle),
            "query_95": float(high),
            **self._surface_facts(),
        }

    def _counts(self) -> dict[str, int]:
        models = [ExtremeVertices.from_mask(mask) for mask in (self.instance.one, self.instance.two)]
        return {
            "vertices": sum(len(model) for model in models),
            "planes": sum(len(model.sections("xyz").slabs) for model in models),
            "voxels": int(self.instance.one.sum() + self.instance.two.sum()),
        }

    def _surface_facts(self) -> Mapping[str, int | float]:
        mesh = self.instance.mesh
        if mesh is None:
            return {}
        model = ExtremeVertices.from_mask(self.instance.one)
        begin = self.clock()
        Volume.from_mesh(mesh, voxels_per_unit=self.instance.voxels_per_unit, fill="surface")
        voxelised = self.clock()
        points, faces = covered_surface(model)
        return {
            "voxelise": voxelised - begin,
            "surface": self.clock() - voxelised,
            "surface_vertices": len(points),
            "surface_faces": len(faces),
        }
