"""Direct sweep-and-prune as the thesis wrote it: the pairs of each axis as a set, then the sets merged.

The reference for reading, not for speed. `choque.broad`'s ``sap-direct`` is the fast one. Here every variant that the
text mentions can be chosen: how end points are sorted, and how the sets of two axes are merged.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from numpy.typing import ArrayLike

from choque.bounds import Boxes
from choque.errors import UnknownName

Pair: TypeAlias = tuple[int, int]
EndPoint: TypeAlias = tuple[Any, int, int]
"""(value, 1 for an upper end, body): sorted, lower ends come before upper ends at one place, so touching counts."""


def axis_pairs(ends: Iterable[EndPoint]) -> set[Pair]:
    """The pairs of bodies whose intervals meet, from their end points in ascending order."""
    found: set[Pair] = set()
    unfinished: set[int] = set()
    for _, is_upper, body in ends:
        if not is_upper:
            unfinished.add(body)
        else:
            unfinished.remove(body)
            found.update((min(body, other), max(body, other)) for other in unfinished)
    return found


def insertion_sorted(ends: Iterable[EndPoint]) -> list[EndPoint]:
    """Insertion sort: linear where the list is nearly in order."""
    result: list[EndPoint] = []
    for end in ends:
        result.append(end)
        place = len(result) - 1
        while place > 0 and end < result[place - 1]:
            result[place] = result[place - 1]
            place -= 1
        result[place] = end
    return result


def sentinel_sorted(ends: Iterable[EndPoint]) -> list[EndPoint]:
    """Insertion sort behind an end point below all others, which spares the test for the start of the list."""
    result: list[EndPoint] = [(float("-inf"), -1, -1)]
    for end in ends:
        result.append(end)
        place = len(result) - 1
        while end < result[place - 1]:
            result[place] = result[place - 1]
            place -= 1
        result[place] = end
    return result[1:]


def merged_lists(sets: Sequence[set[Pair]]) -> list[Pair]:
    """Pairs of the smallest set that a scan finds in every other one, list by list."""
    smallest, *others = sorted(map(list, sets), key=len)
    return sorted(pair for pair in smallest if all(pair in other for other in others))


def merged_ordered(sets: Sequence[set[Pair]]) -> list[Pair]:
    """Pairs of the smallest set that bisection finds in every other one."""
    smallest, *others = sorted(map(sorted, sets), key=len)
    return [pair for pair in smallest if all(_is_in(pair, other) for other in others)]


def merged_hashed(sets: Sequence[set[Pair]]) -> list[Pair]:
    """Pairs of all sets, by hashing."""
    return sorted(set.intersection(*sets))


def _is_in(pair: Pair, ordered: list[Pair]) -> bool:
    place = bisect_left(ordered, pair)
    return place < len(ordered) and ordered[place] == pair


SORTS: dict[str, Callable[[Iterable[EndPoint]], list[EndPoint]]] = {
    "library": sorted,
    "insertion": insertion_sorted,
    "sentinel": sentinel_sorted,
}
MERGES: dict[str, Callable[[Sequence[set[Pair]]], list[Pair]]] = {
    "list": merged_lists,
    "ordered": merged_ordered,
    "hash": merged_hashed,
}


class ThesisDirect:
    """The overlapping pairs of closed boxes, found from scratch at each frame on lists that are kept.

    Guarantees: exact. O(n log n + k) a frame, or O(n + s + k) by insertion after s exchanges; k is the pairs of all
    axes, up to n².
    """

    def __init__(self, sort: str = "insertion", merge: str = "hash") -> None:
        if sort not in SORTS:
            raise UnknownName("sort", str(sort), SORTS)
        if merge not in MERGES:
            raise UnknownName("merge", str(merge), MERGES)
        self._sort, self._merge = SORTS[sort], MERGES[merge]
        self._orders: list[list[tuple[int, int]]] = []

    def pairs(self, lower: ArrayLike, upper: ArrayLike) -> list[Pair]:
        """The pairs at this frame, sorted."""
        boxes = Boxes(lower, upper)
        corners = boxes.lower.T.tolist(), boxes.upper.T.tolist()
        if not self._orders:
            self._orders = [
                [(side, row) for row in range(len(boxes)) for side in (0, 1)] for _ in range(boxes.dimension)
            ]
        sets = []
        for axis, order in enumerate(self._orders):
            ends = self._sort((corners[side][axis][row], side, row) for side, row in order)
            self._orders[axis] = [(side, row) for _, side, row in ends]
            sets.append(axis_pairs(ends))
        return self._merge(sets)
