"""Merging of boxes with scores: clusters of boxes that show the same thing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core.types import F64, I64
from choque.bounds import Boxes
from choque.boxes._suppress import check_ranked, descending
from choque.boxes.likeness import check_over, check_threshold
from choque.boxes.select import make_setting, select_owners


@dataclass(frozen=True)
class Merged:
    """Boxes after merging.

    Attributes
    ----------
    kept
        (k,) int64: rows of the best box of each cluster, by descending score.
    owner
        (n,) int64: the row in ``kept`` of the cluster that each box went to.
    boxes
        (k, 4) or (k, 6): the box around each cluster.
    """

    kept: I64
    owner: I64
    boxes: NDArray[Any]
    _score: F64

    def __len__(self) -> int:
        return len(self.kept)

    def __repr__(self) -> str:
        return f"<Merged: {len(self.owner):,} boxes in {len(self):,} clusters>"

    def lists(self) -> dict[int, list[int]]:
        """Return for the row of each kept box the rows that were merged into it, by descending score."""
        kept = self.kept.tolist()
        found: dict[int, list[int]] = {row: [] for row in kept}
        order = descending(np.arange(len(self.owner)), self._score)
        for row, place in zip(order.tolist(), self.owner[order].tolist(), strict=True):
            if row != kept[place]:
                found[kept[place]].append(row)
        return found


def merge(
    boxes: ArrayLike | Boxes,
    scores: ArrayLike | str,
    *,
    iou: float = 0.5,
    groups: ArrayLike | str | None = None,
    over: str = "union",
) -> Merged:
    """Return clusters of boxes that show the same thing: greedy non-maximum merging.

    As `suppress`, but boxes that a kept box covers are merged into it, not dropped, and an overlap of exactly ``iou``
    is enough: the rule of SAHI's ``greedy_nmm``. A box that several kept boxes cover goes to the best of them.

    Parameters
    ----------
    boxes, scores, iou, groups, over
        As in `suppress`.

    Examples
    --------
    >>> import choque
    >>> merged = choque.boxes.merge([[0, 0, 9, 9], [1, 0, 10, 9], [20, 0, 29, 9]], [0.8, 0.9, 0.7])
    >>> merged.lists(), merged.boxes[0].tolist()
    ({1: [0], 2: []}, [0.0, 0.0, 10.0, 9.0])
    """
    given, ranks = check_ranked(boxes, scores, groups)
    setting = make_setting(given, check_threshold(iou), check_over(over), is_merging=True)
    is_kept, best = select_owners(given, ranks, setting)
    kept = descending(np.flatnonzero(is_kept), ranks.score)
    place = np.empty(len(given), np.int64)
    place[kept] = np.arange(len(kept))
    owner = place[best]
    lower, upper = given.lower[kept], given.upper[kept]
    np.minimum.at(lower, owner, given.lower)
    np.maximum.at(upper, owner, given.upper)
    return Merged(kept, owner, np.concatenate((lower, upper), axis=1), ranks.score)
