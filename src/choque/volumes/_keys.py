"""Lattice points as single integers: 21 bits a coordinate, so that sorting keys sorts vertices.

A key holds the coordinates in the order of the model that it belongs to: the first in the highest bits, the last in the
lowest. Keys of a plane or a line use the lower 42 or 21 bits only, so that projecting along the first axis is one mask.
"""

from __future__ import annotations

from itertools import permutations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from choque.errors import InvalidInput, UnknownName

VertexKeys: TypeAlias = NDArray[np.int64]
"""(n,) sorted packed lattice points."""

Points: TypeAlias = NDArray[np.int64]
"""(n, d) lattice points, columns x, y, z."""

BITS = 21
LIMIT = 1 << BITS
LINE_MASK = LIMIT - 1
PLANE_MASK = (1 << 2 * BITS) - 1

AXES = "xyz"
ORDERS = {count: ["".join(order) for order in permutations(AXES[:count])] for count in (1, 2, 3)}
"""The orders in which vertices can be sorted, by dimension: six in three dimensions."""


def check_order(order: str, dimension: int) -> str:
    """The order in small letters, refused unless it names every axis once."""
    lowered = order.lower()
    if lowered not in ORDERS[dimension]:
        raise UnknownName(f"vertex order in {dimension}D", order, ORDERS[dimension])
    return lowered


def pack(points: NDArray[np.integer], order: str) -> VertexKeys:
    """One key for each row of ``points`` (n, d), columns x, y, z; not sorted."""
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
    """The lattice points (n, d) of keys, columns x, y, z."""
    points = np.empty((len(keys), len(order)), np.int64)
    for level, axis in enumerate(reversed(order)):
        points[:, AXES.index(axis)] = (keys >> BITS * level) & LINE_MASK
    return points


def reorder(keys: VertexKeys, order: str, target: str) -> VertexKeys:
    """The same vertices sorted in another order: O(n log n), the identity for free."""
    if order == target:
        return keys
    moved = pack(unpack(keys, order), target)
    moved.sort()
    return moved


def packed_shift(shift: tuple[int, ...], order: str) -> int:
    """What to add to a key to move its point by a non-negative ``shift``."""
    packed = 0
    for axis in order:
        packed = (packed << BITS) + shift[AXES.index(axis)]
    return packed


def odd_ones_out(keys: VertexKeys) -> VertexKeys:
    """Sort keys and keep those that occur an odd number of times: the XOR of all of them."""
    keys = np.sort(keys)
    starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1]))) if len(keys) else np.empty(0, np.int64)
    odd = np.diff(np.append(starts, len(keys))) & 1 == 1
    return np.asarray(keys[starts[odd]])
