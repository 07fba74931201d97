"""Objects of the experiments of Ottogalli (2014): a sphere of triangles, and solids of a given number of vertices."""

from __future__ import annotations

import numpy as np

from choque.errors import InvalidInput
from choque.files.meshes import MeshArrays
from choque.volumes import Volume


def sphere_mesh(slices: int = 20, stacks: int = 19, radius: float = 1.0) -> MeshArrays:
    """Return a sphere with poles on y, with two triangles for every patch; half of those at the poles have no area.

    The default has the 362 vertices and 760 triangles, 40 of them without area, of Ottogalli's experiment (2014).
    """
    polar = np.pi * np.arange(1, stacks) / stacks
    around = 2 * np.pi * np.arange(slices) / slices
    rings = np.stack(
        (
            np.outer(np.sin(polar), np.cos(around)),
            np.repeat(np.cos(polar)[:, None], slices, axis=1),
            np.outer(np.sin(polar), np.sin(around)),
        ),
        axis=-1,
    ).reshape(-1, 3)
    vertices = radius * np.concatenate(([[0.0, 1.0, 0.0]], rings, [[0.0, -1.0, 0.0]]))
    rows = np.concatenate(
        (
            np.zeros((1, slices), np.int64),
            np.arange(1, 1 + len(rings)).reshape(-1, slices),
            np.full((1, slices), len(vertices) - 1),
        )
    )
    after = np.roll(rows, -1, axis=1)
    upper = np.stack((rows[:-1], after[:-1], rows[1:]), axis=-1)
    lower = np.stack((after[:-1], after[1:], rows[1:]), axis=-1)
    return MeshArrays(vertices, np.concatenate((upper, lower), axis=1).reshape(-1, 3))


def even_count_block(vertex_count: int, seed: int = 0) -> Volume:
    """Return a random object with exactly ``vertex_count`` extreme vertices: 8, or any even number from 12 on.

    Separate voxels have 8 each. Two that share an edge have 12, two that share a corner 14, and three in a row that
    share one of each 18: one of these pieces gives the remainder.
    """
    pieces = {0: (), 4: ((0, 0, 0), (1, 1, 0)), 6: ((0, 0, 0), (1, 1, 1)), 2: ((0, 0, 0), (1, 1, 0), (2, 2, 1))}
    taken = {0: 0, 4: 12, 6: 14, 2: 18}
    rest = vertex_count % 8
    if rest % 2 or vertex_count < max(8, taken[rest]):
        raise InvalidInput(f"vertex_count is {vertex_count}; it must be 8 or an even number from 12 on.")
    chosen: list[tuple[tuple[int, int, int], ...]] = [((0, 0, 0),)] * ((vertex_count - taken[rest]) // 8)
    return _scattered([*chosen, pieces[rest]], seed)


def _scattered(pieces: list[tuple[tuple[int, int, int], ...]], seed: int) -> Volume:
    """Return a volume of pieces of at most 3³ voxels in random cells of a grid, so that no piece touches another."""
    side = max(1, int(np.ceil((2 * len(pieces)) ** (1 / 3))))
    mask = np.zeros((4 * side,) * 3, np.bool_)
    places = np.random.default_rng(seed).permutation(side**3)[: len(pieces)]
    for place, piece in zip(places, pieces, strict=True):
        corner = 4 * np.array(np.unravel_index(place, (side,) * 3))
        for voxel in piece:
            mask[tuple(corner + voxel)] = True
    return Volume.from_voxels(mask)
