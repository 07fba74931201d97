"""A broad phase that is obviously right: plain arrays of the living bodies, and the oracle each time."""

from __future__ import annotations

from typing import Any

import numpy as np

from choque._core.types import I32, Bools, Floats, Pairs
from choque.bounds import Boxes
from choque.testing import oracle


class Mirror:
    """Takes the same calls as a broad phase and says what its answers must be."""

    def __init__(self, boxes: Boxes, *, closed: bool = True, **filters: Any) -> None:
        count = len(boxes)
        self.closed = closed
        self.ids: I32 = np.arange(count, dtype=np.int32)
        self.next_id = count
        self.lower, self.upper = boxes.lower.copy(), boxes.upper.copy()
        self.filters = _full(count, filters)

    def pairs(self) -> Pairs:
        """Return all pairs of ids now."""
        return self.ids[oracle.overlapping_pairs(self.lower, self.upper, closed=self.closed, **self.filters)]

    def allowed(self, pairs: Pairs) -> Bools:
        """Return which ``pairs`` of ids the filters admit."""
        rows = np.searchsorted(self.ids, pairs).astype(np.int32)
        return oracle.allowed(rows, len(self.ids), **self.filters)

    def query(self, boxes: Boxes) -> Pairs:
        """Return the ids that overlap each of ``boxes``."""
        found = oracle.overlapping_queries(self.lower, self.upper, boxes.lower, boxes.upper, closed=self.closed)
        found[:, 1] = self.ids[found[:, 1]]
        return found

    def update(self, boxes: Boxes) -> None:
        """Give all bodies new boxes."""
        self.lower, self.upper = boxes.lower.copy(), boxes.upper.copy()

    def move(self, ids: I32, boxes: Boxes) -> None:
        """Give some bodies new boxes."""
        rows = np.searchsorted(self.ids, ids)
        self.lower, self.upper = _wide(self.lower, boxes.lower), _wide(self.upper, boxes.upper)
        self.lower[rows], self.upper[rows] = boxes.lower, boxes.upper

    def add(self, boxes: Boxes, **filters: Any) -> I32:
        """Add bodies and return their ids."""
        new = np.arange(self.next_id, self.next_id + len(boxes), dtype=np.int32)
        self.next_id += len(boxes)
        self.ids = np.concatenate((self.ids, new))
        self.lower = np.concatenate((self.lower, boxes.lower))
        self.upper = np.concatenate((self.upper, boxes.upper))
        arriving = _full(len(boxes), filters)
        self.filters = {name: np.concatenate((self.filters[name], arriving[name])) for name in arriving}
        return new

    def remove(self, ids: I32) -> None:
        """Take bodies out."""
        stay = ~np.isin(self.ids, ids)
        self.ids, self.lower, self.upper = self.ids[stay], self.lower[stay], self.upper[stay]
        self.filters = {name: values[stay] for name, values in self.filters.items()}


def _full(count: int, filters: dict[str, Any]) -> dict[str, Any]:
    """Return the three filters of ``count`` bodies, those not given at their defaults."""
    defaults: dict[str, Any] = {"groups": 1, "masks": 0xFFFFFFFF, "static": False}
    return {name: np.broadcast_to(filters.get(name, default), (count,)).copy() for name, default in defaults.items()}


def _wide(old: Floats, new: Floats) -> Floats:
    return old.astype(np.promote_types(old.dtype, new.dtype))
