"""Pairs of voxel objects to be asked about: blocks with a given number of vertices, spheres, and phantoms."""

from __future__ import annotations

import numpy as np

from choque.errors import UnknownName
from choque.theses.evm.baselines import DenseMask
from choque.theses.evm.holder import Instance, Mask, Shift
from choque.volumes import Volume, phantoms

BLOCKS = ("blocks-overlap", "blocks-interlocked", "blocks-separated")
"""Random blocks: placed so that they collide; so that only their boxes do; so that not even these do."""
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


def make_instance(scene: str, n: int, seed: int, placements: int) -> Instance:
    """The two objects of a scene and their placements, decided by ``seed``."""
    random = np.random.default_rng([seed, n])
    if scene in BLOCKS:
        return _blocks(scene, n, random, placements)
    if scene in SPHERES:
        return _spheres(scene, n, placements)
    if scene not in PHANTOMS:
        raise UnknownName("scene of volumes", scene, (*BLOCKS, *SPHERES, *PHANTOMS))
    one, two = (phantoms.PHANTOMS[name](n) for name in PHANTOMS[scene])
    if n > 512:
        placements = max(1, placements // 10)  # a look at every voxel of a gigabyte takes tenths of a second
    if scene == "labyrinth":
        return Instance(one, two, [(0, 0, 0)] * max(1, placements // 20))
    return Instance(one, two, [_quarter_shared(one, two, random) for _ in range(placements)])


def _blocks(scene: str, n: int, random: np.random.Generator, placements: int) -> Instance:
    """Two objects with n vertices together, split at random."""
    share = min(max(2 * int(random.integers(n // 8, 3 * n // 8 + 1)), 12), n - 12)
    one, two = (
        phantoms.even_count_block(count, int(random.integers(1 << 30))).voxels() for count in (share, n - share)
    )
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
            break  # dense objects have few placements of this kind: take what there is
    return Instance(one, two, shifts or [(one.shape[0], 0, 0)])


def _spheres(scene: str, n: int, placements: int) -> Instance:
    mesh = phantoms.sphere_mesh()
    mask: Mask = Volume.from_mesh(mesh, voxels_per_unit=n, fill="surface").voxels()
    shift = [0, 0, 0]
    shift["xyz".index(scene[-1])] = 2 * n + 1
    return Instance(mask, mask, [(shift[0], shift[1], shift[2])] * max(1, placements // 50), mesh, float(n))


def _quarter_shared(one: Mask, two: Mask, random: np.random.Generator) -> Shift:
    """A placement at which the boxes share at least a quarter of the smaller one."""
    least = min(one.size, two.size) / 4
    while True:
        x, y, z = random.integers([-size + 1 for size in two.shape], one.shape).tolist()
        shared = [
            min(size, other + step) - max(0, step)
            for size, other, step in zip(one.shape, two.shape, (x, y, z), strict=True)
        ]
        if min(shared) > 0 and float(np.prod(shared)) >= least:
            return (x, y, z)
