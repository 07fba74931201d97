"""Queries about convex bodies, one pair or many: collision, distance, penetration depth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from choque._core import check
from choque._core.threads import block_supply, resolve_count, run
from choque._core.types import F64, Bools, Pairs
from choque.errors import InvalidInput
from choque.narrow.convex.cores import Cores, cores_of_hulls, cores_of_points, joined
from choque.narrow.convex.probe import DEPTH, DISTANCE, VERDICT, Probe, probe_pairs
from choque.narrow.hulls import Hulls, Posed
from choque.narrow.solids import LARGEST

BLOCK = 2_048
"""Number of pairs of posed hulls that are rotated and queried at a time, so that their vertices stay in the cache."""

Convex: TypeAlias = "Posed | ArrayLike"
"""A convex body, or many: `Hulls.at`, or the vertices of one (v, 3) or of n bodies (n, v, 3), in any order."""


class Query(NamedTuple):
    """Pairs of bodies, checked and packed."""

    cores: Cores
    rows: Pairs
    is_single: bool
    thread_count: int


@dataclass(frozen=True, eq=False)
class Closest:
    """The distance of convex bodies: numbers and (3,) points for one pair, arrays (n,) and (n, 3) for n pairs."""

    collide: Any  #: Whether they have a point in common, touching included.
    distance: Any  #: 0 if they collide.
    first: F64  #: The point of the first body nearest to the second; a common point if they collide.
    second: F64  #: The point of the second body nearest to the first.
    iterations: Any  #: Number of iterations of GJK.


@dataclass(frozen=True, eq=False)
class Penetration:
    """The overlap of convex bodies: numbers and (3,) vectors for one pair, arrays (n,) and (n, 3) for n pairs."""

    depth: Any
    """How far to move the second body along the normal until they only touch: 0 if they touch, minus their distance if
    they are apart."""
    normal: F64  #: Unit vectors from the first body toward the second.
    first: F64  #: The point of the first body that lies deepest in the second, or nearest to it.
    second: F64  #: The point of the second body that lies deepest in the first, or nearest to it.
    iterations: Any  #: Number of iterations of EPA; 0 if it was not needed.


def gjk(a: Convex, b: Convex, pairs: ArrayLike | None = None, *, threads: int | None = None) -> Closest:
    """Return whether convex bodies collide, their distance, and their nearest points.

    Exact up to rounding: a distance below 10⁻¹³ of the bodies' extent counts as touching, which is a collision at
    distance 0. Vertices of large hulls are found by climbing along edges. Lengths may be from 10⁻⁵⁰ to 10⁵⁰; larger
    coordinates are refused, smaller lengths may count as 0.

    Parameters
    ----------
    a, b
        Bodies as `Hulls.at` gives them, or vertices: (v, 3) for one body, (n, v, 3) for n. One against n is fine.
    pairs
        (k, 2) rows of ``a`` and of ``b``, to query some of all combinations; None for row by row.
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


def collide(a: Convex, b: Convex, pairs: ArrayLike | None = None, *, threads: int | None = None) -> Bools | bool:
    """Return whether convex bodies have a point in common, touching included; twice as fast as `gjk`."""
    found, is_single = ask(a, b, pairs, VERDICT, threads)
    return bool(found.meets[0]) if is_single else found.meets.astype(np.bool_)


def epa(a: Convex, b: Convex, pairs: ArrayLike | None = None, *, threads: int | None = None) -> Penetration:
    """Return the penetration depth of convex bodies, its direction, and the deepest points.

    Exact for polyhedra up to rounding, about 10⁻¹¹ of their extent: no shorter translation separates them. Arguments as
    for `gjk`.

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


# Checking and packing


def ask(a: Convex, b: Convex, pairs: ArrayLike | None, wanted: int, threads: int | None) -> tuple[Probe, bool]:
    """Return what is ``wanted`` about bodies, and whether it is about a single pair."""
    if pairs is None and isinstance(a, Posed) and isinstance(b, Posed) and max(len(a), len(b)) > BLOCK:
        return _ask_in_blocks(a, b, wanted, threads), False
    query = as_query(a, b, pairs, threads)
    return probe_pairs(query.cores, query.rows, wanted, query.thread_count), query.is_single


def _ask_in_blocks(a: Posed, b: Posed, wanted: int, threads: int | None) -> Probe:
    count = _row_count(len(a), len(b))
    found = Probe.empty(count)
    draw = block_supply(count, BLOCK)

    def share(part: int) -> None:  # noqa: ARG001
        while (block := draw()) is not None:
            first, last = block
            one, other = (bodies if len(bodies) == 1 else bodies.part(first, last) for bodies in (a, b))
            query = as_query(one, other, None, 1)
            probe_pairs(query.cores, query.rows, wanted, found=found.part(first, last))

    run(share, resolve_count(threads, count))
    return found


def as_query(a: Convex, b: Convex, pairs: ArrayLike | None, threads: int | None) -> Query:
    """Return the bodies and pairs that a call is about, or raise `InvalidInput`."""
    thread_count = resolve_count(threads, max(_count(a), _count(b)))
    if isinstance(a, Posed) and isinstance(b, Posed):
        is_single = pairs is None and a.is_single and b.is_single
        rows = _as_rows(pairs, len(a), len(b), a is b)
        cores = cores_of_hulls(a if a is b else _beside(a, b), thread_count, None if pairs is None else rows)
    else:
        one, one_single = _as_cores(a, "a", thread_count)
        other, other_single = _as_cores(b, "b", thread_count)
        is_single = pairs is None and one_single and other_single
        rows = _as_rows(pairs, len(one.spans), len(other.spans), a is b)
        cores = joined(one, other)
    return Query(cores, rows, is_single, thread_count if pairs is None else resolve_count(threads, len(rows)))


def _as_rows(pairs: ArrayLike | None, count: int, other_count: int, are_same: bool) -> Pairs:
    """Return (k, 2) rows of the bodies of both sets, one after the other, or of the one if they are the same."""
    if pairs is None:
        length = _row_count(count, other_count)
        rows = np.empty((length, 2), np.int32)
        rows[:, 0] = np.arange(length) if count > 1 else 0
        rows[:, 1] = np.arange(length) if other_count > 1 else 0
    else:
        rows = check.pairs(pairs, "pairs", count, other_count).copy()
    if not are_same:
        rows[:, 1] += count
    return rows


def _row_count(count: int, other_count: int) -> int:
    """Return the number of pairs, row by row, of two sets with these numbers of bodies."""
    if count != other_count and 1 not in (count, other_count):
        raise InvalidInput(
            f"a has {count} bodies and b has {other_count}; give as many of both, one of either, or pairs."
        )
    return max(count, other_count) if count and other_count else 0


def _beside(a: Posed, b: Posed) -> Posed:
    """Return the bodies of both, those of ``a`` first."""
    hulls, shift = (a.hulls, 0) if a.hulls is b.hulls else (Hulls.join(a.hulls, b.hulls), len(a.hulls))
    return Posed(
        hulls,
        np.concatenate([a.row, b.row + shift]),
        np.concatenate([a.position, b.position]),
        np.concatenate([a.rotation, b.rotation]),
        np.concatenate([a.scale, b.scale]),
    )


def _count(bodies: Convex) -> int:
    if isinstance(bodies, Posed):
        return len(bodies)
    shape = np.shape(bodies) if isinstance(bodies, np.ndarray) else ()
    return shape[0] if len(shape) == 3 else 1


def _as_cores(bodies: Convex, name: str, thread_count: int) -> tuple[Cores, bool]:
    if isinstance(bodies, Posed):
        return cores_of_hulls(bodies, thread_count), bodies.is_single
    try:
        points = np.array(bodies, np.float64, order="C")
    except (TypeError, ValueError) as problem:
        raise InvalidInput(f"{name} is neither Hulls.at(…) nor vertices (v, 3) or (n, v, 3): {problem}.") from None
    is_single = points.ndim == 2
    if is_single:
        points = points[None]
    if points.ndim != 3 or points.shape[2] != 3 or points.shape[1] == 0:
        raise InvalidInput(f"{name} has the shape {np.shape(bodies)}; vertices must be (v, 3) or (n, v, 3), v ≥ 1.")
    check.table(points, name, points.shape, -LARGEST, LARGEST)
    return cores_of_points(points, points[:, 0], np.ones(1, np.int64)), is_single
