"""Vertices as sorted integer keys: packing, sorting, merging, and the test whether they bound a solid.

A key holds the coordinates of a lattice point, 21 bits each, in the order of its model: the first axis in the highest
bits, the last in the lowest. Sorting keys sorts vertices. Keys of a plane or a line use only the lower 42 or 21 bits,
so that a projection along the first axis is one mask.
"""

from __future__ import annotations

from itertools import permutations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from choque._core import check
from choque._core.kernel import helper, kernel
from choque._core.types import I64
from choque.errors import InvalidInput

VertexKeys: TypeAlias = I64  # (n,) sorted packed lattice points
Points: TypeAlias = I64  # (n, d) lattice points, columns x, y, z
BITS = 21
LIMIT = 1 << BITS
LINE_MASK = LIMIT - 1
PLANE_MASK = (1 << 2 * BITS) - 1
AXES = "xyz"
ORDERS = {count: ["".join(order) for order in permutations(AXES[:count])] for count in (1, 2, 3)}
"""Orders in which vertices can be sorted, by dimension: six in three dimensions."""


def check_order(order: str, dimension: int) -> str:
    """Return the order in lower case; it must name every axis once."""
    return check.choice(order.lower(), f"vertex order in {dimension}D", ORDERS[dimension])


def pack(points: NDArray[np.integer], order: str) -> VertexKeys:
    """Return one key for each row of ``points`` (n, d), columns x, y, z; not sorted."""
    if points.size and (points.min() < 0 or points.max() >= LIMIT):
        raise InvalidInput(
            f"A lattice coordinate is {int(points.min())} to {int(points.max())}; an object may span at most "
            f"{LIMIT - 1:,} voxels along each axis. Use a coarser resolution."
        )
    keys = np.zeros(len(points), np.int64)
    for axis in order:
        keys <<= BITS
        keys |= points[:, AXES.index(axis)]
    return keys


def unpack(keys: VertexKeys, order: str) -> Points:
    """Return the lattice points (n, d) of keys, columns x, y, z."""
    points = np.empty((len(keys), len(order)), np.int64)
    for level, axis in enumerate(reversed(order)):
        points[:, AXES.index(axis)] = (keys >> BITS * level) & LINE_MASK
    return points


def reorder(keys: VertexKeys, order: str, target: str) -> VertexKeys:
    """Return the same vertices sorted in another order. O(n log n); the same order costs nothing."""
    if order == target:
        return keys
    moved = pack(unpack(keys, order), target)
    moved.sort()
    return moved


def packed_shift(shift: tuple[int, ...], order: str) -> int:
    """Return the number that, added to a key, moves its point by a non-negative ``shift``."""
    packed = 0
    for axis in order:
        packed = (packed << BITS) + shift[AXES.index(axis)]
    return packed


def odd_ones_out(keys: VertexKeys) -> VertexKeys:
    """Sort keys and keep those that occur an odd number of times: the XOR of all of them."""
    found, counts = np.unique(keys, return_counts=True)
    return np.asarray(found[counts & 1 == 1])


# Merging


@kernel
def merge_xor(
    left: VertexKeys, left_count: int, right: VertexKeys, first: int, last: int, mask: int, result: VertexKeys
) -> int:
    """Write the keys that are in exactly one of ``left[:left_count]`` and ``right[first:last] & mask``.

    Both lists are sorted without repetitions, and so is the result. O(n + m), without a branch on the data. ``result``
    must have space for n + m keys and must not be one of the inputs.
    """
    row, other, count = 0, first, 0
    while row < left_count and other < last:
        one = left[row]
        two = right[other] & mask
        result[count] = one if one < two else two
        count += one != two
        row += one <= two
        other += two <= one
    while row < left_count:
        result[count] = left[row]
        count += 1
        row += 1
    while other < last:
        result[count] = right[other] & mask
        count += 1
        other += 1
    return count


@helper
def group_end(keys: VertexKeys, first: int, last: int, bits: int, value: int) -> int:
    """Return the end of the group of keys from ``first`` on whose upper part, without ``bits`` bits, is ``value``."""
    while first < last and keys[first] >> bits == value:
        first += 1
    return first


def xor_keys(left: VertexKeys, right: VertexKeys) -> VertexKeys:
    """Return the symmetric difference of two sorted lists of keys, which is the regularised XOR of the two solids.

    EVM(P ⊗ Q) = EVM(P) ⊗ EVM(Q) (Aguilera, Orthogonal Polyhedra: Study and Application, 1998). Linear time.
    """
    result = np.empty(len(left) + len(right), np.int64)
    count = merge_xor(left, len(left), right, 0, len(right), -1, result)
    return result[:count].copy() if count < len(result) // 2 else result[:count]


# Validity


def check_vertices(keys: VertexKeys, order: str) -> None:
    """Raise `InvalidInput` unless every line along every axis holds an even number of the vertices.

    The condition is also sufficient: all prefix sums modulo two end at 0, so the points bound a finite set of voxels.
    """
    repeated = np.flatnonzero(keys[1:] == keys[:-1])
    if len(repeated):
        point = unpack(keys[repeated[:1]], order)[0].tolist()
        raise InvalidInput(f"The vertex {point} is given twice; each extreme vertex belongs in the list once.")
    for axis in AXES[: len(order)]:
        along = reorder(keys, order, order.replace(axis, "") + axis)
        lines = along >> BITS
        wrong = _odd_line(lines)
        if wrong is not None:
            point = unpack(along[wrong : wrong + 1], order.replace(axis, "") + axis)[0].tolist()
            raise InvalidInput(
                f"These {len(keys)} vertices bound no solid: the line along {axis} through {point} holds an odd number "
                "of them. Give all extreme vertices, or build the volume from voxels."
            )


def _odd_line(lines: VertexKeys) -> int | None:
    """Return the position of a vertex on a line with an odd count, or None."""
    even = len(lines) // 2 * 2
    wrong = np.flatnonzero(lines[:even:2] != lines[1:even:2])
    if len(wrong):
        return int(2 * wrong[0])
    return len(lines) - 1 if len(lines) > even else None
