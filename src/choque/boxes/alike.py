"""Pairs of boxes by how much they have in common, found by any broad-phase method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from choque._core import check, memory
from choque._core import threads as thread_pool
from choque._core.emission import Keeper
from choque._core.filter import PairFilter
from choque._core.types import Keys, Pairs
from choque.bounds import Boxes
from choque.boxes.likeness import (
    LikenessFilter,
    Sides,
    check_finite,
    check_over,
    check_threshold,
    fill_likeness,
    proxies,
    widest_sides,
)
from choque.broad.index import BoxTable, find


@dataclass(frozen=True)
class AlikeSearch:
    """What to search for pairs of boxes by how much they have in common, and how to decide.

    Attributes
    ----------
    near
        Boxes that overlap wherever those of the two sets are alike.
    """

    near: tuple[Boxes, Boxes]
    sides: Sides
    threshold: float
    is_over_smaller: bool

    @classmethod
    def make(cls, a: Boxes, b: Boxes, iou: Any, is_over_smaller: bool, *names: str) -> AlikeSearch:
        """Check both sets and the threshold, and shrink the boxes as far as the threshold allows."""
        threshold = check_threshold(iou)
        a_name, b_name = names * 2 if names else ("a", "b")
        sides = widest_sides(check_finite(a, a_name), check_finite(b, b_name))
        near = (a, b)
        # A pair with something in common overlaps in either topology, and so do its shrunken boxes.
        if threshold > 0 and not is_over_smaller:
            near = (proxies(a, threshold), proxies(b, threshold))
        return cls(near, sides, threshold, is_over_smaller)

    def keeper_after(self, allowed: Keeper | None) -> Keeper:
        """Return what keeps pairs that are allowed and alike."""
        alike = LikenessFilter(self.sides, self.threshold, self.is_over_smaller) if self.threshold > 0 else None
        return _Both(allowed, alike)

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


class _Both:
    """Keeps what two keepers keep, either of which may be None."""

    def __init__(self, first: Keeper | None, second: Keeper | None) -> None:
        self._keepers = [keeper for keeper in (first, second) if keeper is not None]

    def keep_allowed(self, keys: Keys) -> int:
        """Move the pairs that stay to the front of ``keys``, in order, and return how many there are."""
        count = keys.size
        for keeper in self._keepers:
            count = keeper.keep_allowed(keys[:count])
        return count


def pairs_alike(
    boxes: Boxes, iou: float, over: str, method: str, closed: bool, threads: int | None, options: Mapping[str, Any]
) -> tuple[Pairs, Any]:
    """Return the pairs of one set whose overlap reaches ``iou``, sorted (m, 2) int32, and their overlaps (m,).

    See `join` for the rule and `choque.pairs` for the other arguments.
    """
    search = AlikeSearch.make(boxes, boxes, iou, check_over(over), "boxes")
    index, shared = find(method).with_options(options)
    near, count = search.near[0], len(boxes)
    of_set = (shared.pop(name, None) for name in ("groups", "masks", "static"))
    allowed = PairFilter.make(count, *of_set) or PairFilter.open_to_all(count)
    is_closed = check.boolean(closed, "closed") or search.threshold > 0
    pair_filter = _AlikeFilter(allowed.groups, allowed.masks, allowed.static, search.keeper_after(None))
    kept = near if index.keeps_bounds else None
    table = BoxTable(np.empty((0, 6)), near.dimension, is_closed, threads, pair_filter, kept)
    table.records = index.pack(near, is_closed, table.thread_count(count))
    found = index.over(table).pairs()
    return found, search.overlaps(found, threads)
