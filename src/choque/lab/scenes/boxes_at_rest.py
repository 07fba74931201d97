"""Scenes of boxes at rest: ``uniform``, ``mixed``, ``aligned``, ``clustered`` and ``reference``."""

from __future__ import annotations

from math import ceil, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from choque._core import check
from choque.errors import InvalidInput
from choque.lab.scenes.density import (
    expected_pairs,
    pair_polynomial,
    touching_volume,
    world_edge_for_cubes,
    world_edge_for_overlaps,
)
from choque.lab.scenes.motion import Rest, Rows
from choque.scene.generators import Request

SPACING = 20.0
"""The edge of the cell that a cluster has for itself, in its standard deviations."""

MULTIPLIER, INCREMENT, SEED = 214_013, 2_531_011, 42
"""The generator of `reference`: state ← 214013·state + 2531011 modulo 2³², of which bits 16 to 30 are the value."""


def uniform(request: Request, *, overlaps: float = 3.0) -> Rest:
    """Boxes with edges of 0.5 to 1.5, even in a cube; each meets ``overlaps`` others, the border aside."""
    center, edge, _ = even_boxes(request, check.positive(overlaps, "overlaps"))
    return Rest(center, edge)


def even_boxes(request: Request, overlaps: float) -> tuple[Rows, Rows, float]:
    """Draw centres and edges, each (n, d), and the edge of the cube [0, edge]^d that the centres lie in."""
    random = request.random()
    edge = even_edges(request, random)
    world = world_edge_for_overlaps(edge, overlaps)
    return random.random(edge.shape) * world, edge, world


def even_edges(request: Request, random: np.random.Generator) -> Rows:
    """Draw edges, (n, d), evenly from 0.5 to 1.5."""
    return 0.5 + random.random((request.box_count, request.dimension))


def mixed(request: Request, *, ratio: float = 1000.0, overlaps: float = 3.0) -> Rest:
    """Cubes of log-uniform size from 1 to ``ratio``, in a world that gives as many pairs as ``uniform`` has.

    Almost all pairs involve a large box, and large boxes lose many overlaps at the border; so the world is
    sized with the border taken into account, for the pairs that `uniform` is expected to have with its own.
    """
    ratio = check.number(ratio, "ratio", 1.0, 1e6)
    overlaps = check.positive(overlaps, "overlaps")
    count, dimension = request.box_count, request.dimension
    random = request.random()
    size = ratio ** random.random(count)
    edge = np.repeat(size[:, np.newaxis], dimension, axis=1)
    if count < 2:
        return Rest(edge, edge)
    even = np.ones((count, dimension))
    even_world = max(1.0, world_edge_for_overlaps(even, overlaps))
    pair_count = expected_pairs(pair_polynomial(even[:, 0], dimension), even_world)
    world = world_edge_for_cubes(size, dimension, pair_count)
    return Rest(random.random((count, dimension)) * world, edge)


def aligned(request: Request, *, axis: int = 0, overlaps: float = 3.0) -> Rest:
    """Parallel rods that all overlap along ``axis``, while each truly meets about ``overlaps`` others.

    Centres spread twice as far along ``axis`` as along the others, so a sweep that chooses the axis of
    greatest variance chooses it; rods are twice as long as that, so there it can rule out none of the pairs.
    """
    if check.whole_number(axis, "axis", 0) >= request.dimension:
        raise InvalidInput(f"axis is {axis}; it must be from 0 to {request.dimension - 1}.")
    overlaps = check.positive(overlaps, "overlaps")
    random = request.random()
    edge = even_edges(request, random)
    world = world_edge_for_overlaps(np.delete(edge, axis, axis=1), overlaps)
    center = random.random(edge.shape) * world
    center[:, axis] *= 2
    edge[:, axis] = 4 * world
    return Rest(center, edge)


def clustered(request: Request, *, clusters: int = 10, overlaps: float = 3.0) -> Rest:
    """Boxes with edges of 0.5 to 1.5 in Gaussian ``clusters``; each meets about ``overlaps`` others.

    The difference of two points of one Gaussian has density 1/(2·σ·√π) at 0 on each axis, from which σ
    follows; it needs clusters that are large beside a box, so small scenes have fewer overlaps. Clusters keep
    ten σ between their middles, and so do not meet.
    """
    cluster_count = check.whole_number(clusters, "clusters", 1)
    overlaps = check.positive(overlaps, "overlaps")
    random = request.random()
    edge = even_edges(request, random)
    if not request.box_count:
        return Rest(edge, edge)
    members = request.box_count / cluster_count
    deviation = (members * touching_volume(edge) / overlaps) ** (1 / request.dimension) / (2 * sqrt(pi))
    middle = SPACING * deviation * _scattered_points(random, cluster_count, request.dimension)
    cluster = random.integers(cluster_count, size=request.box_count)
    return Rest(middle[cluster] + deviation * random.standard_normal(edge.shape), edge)


def _scattered_points(random: np.random.Generator, count: int, dimension: int) -> Rows:
    """Draw points, (count, dimension), in different cells of a unit lattice, at least half a cell apart."""
    side = ceil(count ** (1 / dimension))
    chosen = random.permutation(side**dimension)[:count]
    cell = np.stack(np.unravel_index(chosen, (side,) * dimension), axis=1)
    return cell + 0.25 + random.random((count, dimension)) / 2


def reference(request: Request) -> Rest:
    """Boxes with whole centres in a cube of 4096 and half extents of 0 to 127: the more, the denser.

    The benchmark of Terdiman, "Box pruning revisited" (2017): 11,811 pairs of 10,000 boxes, 1,144,045 of 100,000. Its
    boxes come from the 15-bit generator of an old C library, which starts from 42 + seed; seed 0 is the benchmark.
    """
    if request.dimension != 3:
        raise InvalidInput(f"dimension is {request.dimension}; the reference scene exists in 3D only.")
    values = congruential_values(SEED + request.seed, 6 * request.box_count).reshape(-1, 6)
    center = (values[:, :3] & 4095).astype(np.float64) - 2048
    half = (values[:, 3:] & 127).astype(np.float64)
    return Rest(center, 2 * half)


def congruential_values(seed: int, count: int) -> NDArray[np.uint32]:
    """Give the first ``count`` values, at once: state k is mᵏ·seed + c·(1 + m + … + mᵏ⁻¹) modulo 2³²."""
    # Arithmetic in uint32 wraps, which is the modulus.
    powers = np.cumprod(np.full(count, MULTIPLIER, dtype=np.uint32), dtype=np.uint32)
    series = np.cumsum(np.concatenate([np.ones(1, dtype=np.uint32), powers[:-1]])[:count], dtype=np.uint32)
    states = powers * np.uint32(seed % 2**32) + np.uint32(INCREMENT) * series
    return (states >> np.uint32(16)) & np.uint32(0x7FFF)
