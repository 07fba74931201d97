"""GJK and EPA for anyone: one pair of convex bodies, or many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque.narrow._convex_packing import Convex, ask
from choque.narrow.convex.probe import DEPTH, DISTANCE, VERDICT


@dataclass(frozen=True, eq=False)
class Closest:
    """How near convex bodies are. For one pair numbers and (3,) points, for n pairs arrays (n,) and (n, 3)."""

    collide: Any
    """Whether they have a point in common; touching counts."""
    distance: Any
    """0 where they collide."""
    first: NDArray[np.float64]
    """The point of the first body nearest to the second; a common point where they collide."""
    second: NDArray[np.float64]
    """The point of the second body nearest to the first."""
    iterations: Any
    """How many simplices GJK looked at."""


@dataclass(frozen=True, eq=False)
class Penetration:
    """How deep convex bodies overlap. For one pair numbers and (3,) vectors, for n pairs arrays (n,) and (n, 3)."""

    depth: Any
    """How far to move the second body along the normal until they only touch: 0 where they touch; where they do not,
    their distance, negative."""
    normal: NDArray[np.float64]
    """Unit vectors from the first body toward the second."""
    first: NDArray[np.float64]
    """The point of the first body that lies deepest in the second, or nearest to it."""
    second: NDArray[np.float64]
    """The point of the second body that lies deepest in the first, or nearest to it."""
    iterations: Any
    """How many faces EPA looked at; 0 where it was not needed."""


def gjk(a: Convex, b: Convex, pairs: ArrayLike | None = None, *, threads: int | None = None) -> Closest:
    """Whether convex bodies collide, how far apart they are, and where they are nearest.

    Exact up to roundings: a distance below 10⁻¹³ of the bodies' extent counts as touching, and touching is colliding at
    distance 0. Vertices are scanned, or climbed to along edges where hulls are large. Lengths go from 10⁻⁵⁰ to 10⁵⁰;
    larger coordinates are refused, smaller lengths may count as 0.

    Parameters
    ----------
    a, b
        Bodies as `Hulls.at` gives them, or vertices: (v, 3) for one body, (n, v, 3) for n. One against n is fine.
    pairs
        (k, 2) rows of ``a`` and of ``b``, to ask about some of all combinations; None for row by row.
    threads
        How many threads to use, None for all; the answer is the same for any number.

    Examples
    --------
    >>> cube = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    >>> gjk(cube, cube + [4, 0, 0]).distance
    3.0
    >>> gjk(cube, cube + [[[1, 0, 0]], [[1, 1, 2]]]).collide.tolist()
    [True, False]
    """
    found, is_single = ask(a, b, pairs, DISTANCE, threads)
    distance, meets = np.maximum(-found.depth, 0.0), found.meets.astype(np.bool_)
    if is_single:
        return Closest(bool(meets[0]), float(distance[0]), found.first[0], found.second[0], int(found.iterations[0, 0]))
    return Closest(meets, distance, found.first, found.second, found.iterations[:, 0])


def collide(
    a: Convex, b: Convex, pairs: ArrayLike | None = None, *, threads: int | None = None
) -> NDArray[np.bool_] | bool:
    """Whether convex bodies have a point in common, touching included: `gjk` without distances, twice as fast."""
    found, is_single = ask(a, b, pairs, VERDICT, threads)
    return bool(found.meets[0]) if is_single else found.meets.astype(np.bool_)


def epa(a: Convex, b: Convex, pairs: ArrayLike | None = None, *, threads: int | None = None) -> Penetration:
    """How deep convex bodies overlap, along which direction, and at which points.

    Exact for polyhedra up to roundings, about 10⁻¹¹ of their extent: no shorter move parts them. Arguments as for
    `gjk`.

    Examples
    --------
    >>> cube = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    >>> overlap = epa(cube, cube + [0.75, 0.25, 0])
    >>> overlap.depth, overlap.normal.tolist()
    (0.25, [1.0, 0.0, 0.0])
    """
    found, is_single = ask(a, b, pairs, DEPTH, threads)
    if is_single:
        return Penetration(
            float(found.depth[0]), found.normal[0], found.first[0], found.second[0], int(found.iterations[0, 1])
        )
    return Penetration(found.depth, found.normal, found.first, found.second, found.iterations[:, 1])
