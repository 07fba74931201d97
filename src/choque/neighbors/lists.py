"""Neighbours as arrays, a row for each: which are wanted, where those of each point start, and how one is written."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from choque._core import memory
from choque._core.kernel import forceinline
from choque._core.types import F64, I32, I64, Integer


class NearLists(NamedTuple):
    """Neighbours, a row for each, in the order of the points; arrays that are not wanted are empty."""

    i: I32
    j: I32
    shift: I32
    distance: F64
    vector: F64


def empty_lists(count: int, wanted: str) -> NearLists:
    """Return arrays for ``count`` neighbours; those whose letter is not ``wanted`` are empty."""
    size = {letter: count if letter in wanted else 0 for letter in "ijSdD"}
    return NearLists(
        memory.empty(size["i"], np.int32),
        memory.empty(size["j"], np.int32),
        memory.empty((size["S"], 3), np.int32),
        memory.empty(size["d"], np.float64),
        memory.empty((size["D"], 3), np.float64),
    )


def offsets_of(counts: I64) -> I64:
    """Return where the neighbours of each point start, (n + 1,)."""
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


@forceinline
def write(lists: Any, row: Integer, own: Any, other: Any, cells: Any, step: Any, square: Any) -> None:
    """Write one neighbour to the arrays that are wanted."""
    if lists.i.size:
        lists.i[row] = own
    if lists.j.size:
        lists.j[row] = other
    if lists.shift.size:
        lists.shift[row, 0], lists.shift[row, 1], lists.shift[row, 2] = cells
    if lists.distance.size:
        lists.distance[row] = math.sqrt(square)
    if lists.vector.size:
        lists.vector[row, 0], lists.vector[row, 1], lists.vector[row, 2] = step
