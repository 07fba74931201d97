"""How much two boxes have in common: intersection over union, or over the smaller box.

All arithmetic is that of the float type of the boxes, in the order of torchvision's: the product of the edges of the
intersection, divided by the sum of both areas less that product. The result is 0 if there is nothing to divide by.

Why a search can be short, for a threshold t and boxes with I / U ≥ t: along every axis the intersection i and the hull
u of both intervals have i / u ≥ t, because U ≥ u · I / i. So edges differ by at most the factor t. If the lower ends of
the intervals are δ apart, then for the interval that begins first, whose length is e, i ≤ e − δ and u ≥ e, so that
δ ≤ (1 − t) · e; and for the other one, whose length is at least i, u ≥ i + δ, so that δ ≤ (1/t − 1) times its length.
`proxies` are boxes that overlap whenever the first of these holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque._core import check, memory
from choque._core import threads as thread_pool
from choque._core.emission import Keeper, Keepers, KernelKeeper
from choque._core.kernel import forceinline, kernel
from choque._core.pair_keys import PairFilter, key_first, key_second
from choque._core.types import Floats, Integer, Keys, Pairs
from choque.bounds import Boxes
from choque.broad.index import find
from choque.errors import InvalidInput

OVER = ("union", "smaller")
MARGIN = 1e-5  # relative room for rounding in every bound that a search relies on


class Sides(NamedTuple):
    """Lower and upper corners (n, d) of two sets of boxes."""

    a_lower: Any
    a_upper: Any
    b_lower: Any
    b_upper: Any


def check_threshold(value: Any, name: str = "iou") -> float:
    """Return a threshold from 0 to 1."""
    return check.number(value, name, 0, 1)


def check_over(value: Any) -> bool:
    """Return whether overlaps are divided by the smaller box instead of by the union."""
    return check.choice(value, "divisor of an overlap", OVER) == "smaller"


def check_finite(boxes: Boxes, name: str) -> Boxes:
    """Return ``boxes`` if they are finite, so that they have areas."""
    for side, corner in ((boxes.lower, "lower"), (boxes.upper, "upper")):
        check.finite(side, f"the {corner} corners of {name}")
    return boxes


def longest_edge(lower: Floats, upper: Floats) -> float:
    """Return the longest edge of finite boxes; refuse them if sums of areas would be infinite in their float type."""
    longest, is_fair = _measure(lower, upper)
    if not is_fair:
        raise InvalidInput(f"Twice the edge or area of a box is more than {lower.dtype} holds; scale the boxes down.")
    return longest


@kernel
def _measure(lower: Floats, upper: Floats) -> tuple[float, bool]:
    """Return the longest edge, and whether their float type holds twice each edge and area."""
    longest, total = lower.dtype.type(0), lower.dtype.type(0)
    for i in range(lower.shape[0]):
        area = lower.dtype.type(1)
        for axis in range(lower.shape[1]):
            edge = upper[i, axis] - lower[i, axis]
            longest = max(longest, edge)
            area *= edge
        total = max(total, area)
    return float(longest), bool(longest + longest < np.inf and total + total < np.inf)


def proxies(boxes: Boxes, threshold: float) -> Boxes:
    """Return boxes that overlap wherever two of ``boxes`` have an intersection over union of ``threshold`` or more.

    Each begins at the lower corner of its box and is 1 − t times as long.
    """
    lower = boxes.lower.astype(np.float64)
    edge = boxes.upper.astype(np.float64) - lower
    return Boxes.unchecked(lower, lower + edge * largest_offset(threshold))


def largest_offset(threshold: float) -> float:
    """Return how far another box can begin after a box that it is alike, in edges of the box, room included."""
    return min(1.0, (1.0 - threshold) * (1 + MARGIN) + MARGIN)


@forceinline
def likeness(a_lower: Any, a_upper: Any, i: Integer, b_lower: Any, b_upper: Any, j: Integer, over_smaller: bool) -> Any:
    """Return intersection over union, or over the smaller box, of box ``i`` of a and box ``j`` of b."""
    one, zero = a_lower.dtype.type(1), a_lower.dtype.type(0)
    inner, first, second = one, one, one
    for axis in range(a_lower.shape[1]):
        low, high = max(a_lower[i, axis], b_lower[j, axis]), min(a_upper[i, axis], b_upper[j, axis])
        inner *= max(zero, high - low)
        first *= a_upper[i, axis] - a_lower[i, axis]
        second *= b_upper[j, axis] - b_lower[j, axis]
    whole = min(first, second) if over_smaller else first + second - inner
    return inner / whole if whole > zero else zero


@kernel
def _keep_alike(keys: Keys, sides: Sides, threshold: float, over_smaller: bool) -> int:
    """Keep the pairs whose overlap reaches a threshold, in order; return how many there are."""
    kept = 0
    for k in range(keys.size):
        key = keys[k]
        i, j = key_first(key), key_second(key)
        found = likeness(sides.a_lower, sides.a_upper, i, sides.b_lower, sides.b_upper, j, over_smaller)
        keys[kept] = key
        kept += found >= threshold
    return kept


@kernel
def fill_likeness(first: int, last: int, pairs: Pairs, sides: Sides, over_smaller: bool, values: NDArray[Any]) -> None:
    """Write the overlap of each pair."""
    for k in range(first, last):
        i, j = np.int64(pairs[k, 0]), np.int64(pairs[k, 1])
        values[k] = likeness(sides.a_lower, sides.a_upper, i, sides.b_lower, sides.b_upper, j, over_smaller)


# Searches by any broad-phase method


@dataclass(frozen=True)
class AlikeSearch:
    """What to search for pairs of boxes by how much they have in common, and how to decide."""

    near: tuple[Boxes, Boxes]  # boxes that overlap wherever those of the two sets are alike
    sides: Sides
    threshold: float
    is_over_smaller: bool

    @classmethod
    def make(cls, a: Boxes, b: Boxes, iou: Any, is_over_smaller: bool, names: Sequence[str] = "ab") -> AlikeSearch:
        """Check both sets and the threshold, and shrink the boxes as far as the threshold allows."""
        threshold = check_threshold(iou)
        checked = [check_finite(boxes, name) for boxes, name in zip((a, b), names, strict=True)]
        sides = Sides(*check.widest(*(side for boxes in checked for side in (boxes.lower, boxes.upper))))
        for lower, upper in (sides[:2], sides[2:]):
            longest_edge(lower, upper)
        near = (a, b)
        # A pair with something in common overlaps in either topology, and so do its shrunken boxes.
        if threshold > 0 and not is_over_smaller:
            near = (proxies(a, threshold), proxies(b, threshold))
        return cls(near, sides, threshold, is_over_smaller)

    def keeper_after(self, allowed: Keeper | None) -> Keeper:
        """Return what keeps pairs that are allowed and alike."""
        alike = KernelKeeper(_keep_alike, self.sides, self.threshold, self.is_over_smaller)
        return Keepers(allowed, alike if self.threshold > 0 else None)

    def overlaps(self, pairs: Pairs, threads: int | None) -> Any:
        """Return how much each pair has in common, (m,)."""
        values = memory.empty(len(pairs), self.sides.a_lower.dtype)
        count = thread_pool.resolve_count(threads, len(pairs) // 4)
        filled = (pairs, self.sides, self.is_over_smaller, values)
        thread_pool.over_ranges(fill_likeness, len(pairs), count, *filled)
        return values


@dataclass(frozen=True)
class _AlikeFilter(PairFilter):
    """Keeps what groups, masks and flags allow and a further keeper keeps."""

    keeper: Keeper

    def keep_allowed(self, keys: Keys) -> int:
        """Move the pairs that stay to the front of ``keys``, in order, and return how many there are."""
        return self.keeper.keep_allowed(keys[: super().keep_allowed(keys)])


def pairs_alike(
    boxes: Boxes, iou: float, over: str, method: str, closed: bool, threads: int | None, options: Mapping[str, Any]
) -> tuple[Pairs, Any]:
    """Return the pairs of one set whose overlap reaches ``iou``, sorted (m, 2) int32, and their overlaps (m,).

    See `join` for the rule and `choque.pairs` for the other arguments.
    """
    search = AlikeSearch.make(boxes, boxes, iou, check_over(over), ("boxes", "boxes"))
    index, shared = find(method).with_options(options)
    of_set = (shared.pop(name, None) for name in ("groups", "masks", "static"))
    allowed = PairFilter.make(len(boxes), *of_set) or PairFilter.open_to_all(len(boxes))
    is_closed = check.boolean(closed, "closed") or search.threshold > 0
    pair_filter = _AlikeFilter(allowed.groups, allowed.masks, allowed.static, search.keeper_after(None))
    found = index.over_bounds(search.near[0], closed=is_closed, threads=threads, allowed=pair_filter).pairs()
    return found, search.overlaps(found, threads)
