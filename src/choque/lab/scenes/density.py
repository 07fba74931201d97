"""How large a world must be for a wanted crowd: the expected number of overlaps, in closed form.

Two boxes with edges e and f whose centres are uniform in a cube of edge L overlap on one axis with
probability s/L − s²/(4·L²), where s = e + f. The second term is the border's: away from it the probability
is s/L.
"""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
from numpy.typing import NDArray

Edges = NDArray[np.float64]


def world_edge_for_overlaps(edges: Edges, overlaps: float) -> float:
    """Size a cube so that boxes of ``edges`` (n, d) each meet ``overlaps`` others, away from its border."""
    box_count, dimension = edges.shape
    return float((box_count * touching_volume(edges) / overlaps) ** (1 / dimension)) if box_count else 1.0


def world_edge_for_density(edges: Edges, density: float) -> float:
    """Size a cube so that the volumes of all boxes of ``edges`` (n, d) add up to ``density`` of its own."""
    box_count, dimension = edges.shape
    return float((edges.prod(axis=1).sum() / density) ** (1 / dimension)) if box_count else 1.0


def touching_volume(edges: Edges) -> float:
    """Average over all pairs of boxes the volume of the centres at which the second touches the first.

    That is E[Π over axes (e + f)], expanded into products of means over single boxes: 2^d terms, not n².
    """
    axes = np.arange(edges.shape[1])
    total = 0.0
    for chosen in product((False, True), repeat=len(axes)):
        own = axes[np.array(chosen)]
        other = axes[~np.array(chosen)]
        total += float(edges[:, own].prod(axis=1).mean() * edges[:, other].prod(axis=1).mean())
    return total


def world_edge_for_cubes(sizes: NDArray[np.float64], dimension: int, pair_count: float) -> float:
    """Size a world in which cubes of ``sizes`` (n,) make ``pair_count`` pairs on average, border included.

    The world is never smaller than the largest cube.
    """
    polynomial = pair_polynomial(sizes, dimension)
    smallest = largest = float(sizes.max())
    while expected_pairs(polynomial, largest) > pair_count:
        smallest, largest = largest, 2 * largest
    while largest - smallest > 1e-9 * largest:
        middle = (smallest + largest) / 2
        if expected_pairs(polynomial, middle) > pair_count:
            smallest = middle
        else:
            largest = middle
    return largest


def pair_polynomial(sizes: NDArray[np.float64], dimension: int) -> list[float]:
    """Find the coefficients by which `expected_pairs` counts the pairs of cubes of ``sizes`` (n,).

    The probability of a pair, (s/L − s²/(4·L²))^d, is a polynomial in s = e + f, and the sum of a power of s
    over all pairs of different cubes follows from the sums of powers of single sizes.
    """
    sums = [float(len(sizes))]
    powers = np.ones_like(sizes)
    for _ in range(2 * dimension):
        powers *= sizes
        sums.append(float(powers.sum()))
    coefficients = []
    for borders in range(dimension + 1):
        power = dimension + borders
        ordered = sum(comb(power, k) * sums[k] * sums[power - k] for k in range(power + 1))
        of_pairs = (ordered - 2.0**power * sums[power]) / 2
        coefficients.append(comb(dimension, borders) * (-0.25) ** borders * of_pairs)
    return coefficients


def expected_pairs(polynomial: list[float], world_edge: float) -> float:
    """Evaluate a `pair_polynomial` for a world that is no smaller than any of its cubes."""
    dimension = len(polynomial) - 1
    return sum(value / world_edge ** (dimension + k) for k, value in enumerate(polynomial))
