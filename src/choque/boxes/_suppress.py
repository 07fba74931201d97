"""Suppression and merging of boxes with scores, in time and memory that follow the boxes and not their pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core import check
from choque._core.answers import as_answer
from choque._core.arrow_stream import opened
from choque._core.tables import box_corners, column
from choque._core.threads import resolve_count
from choque._core.types import F64, I64
from choque.bounds import Boxes
from choque.boxes.likeness import check_finite, check_over, check_threshold
from choque.boxes.select import Ranks, make_setting, select, select_owners
from choque.errors import InvalidInput


def suppress(
    boxes: ArrayLike | Boxes,
    scores: ArrayLike | str,
    *,
    iou: float = 0.5,
    groups: ArrayLike | str | None = None,
    over: str = "union",
    threads: int | None = None,
    like: Any = None,
) -> Any:
    """Return the boxes that no better box covers: non-maximum suppression.

    The best box is kept and those that overlap it by more than ``iou`` are dropped, then the best of what is left, and
    so on. The result is that of torchvision's ``nms``, index for index; with ``groups`` that of its ``batched_nms``,
    which leaves the order of equal scores open.

    Parameters
    ----------
    boxes
        (n, 4) as x1, y1, x2, y2 or (n, 6) as x1, y1, z1, x2, y2, z2; a table, as in `choque.pairs`; or a
        `choque.bounds.Boxes`.
    scores
        (n,), or the name of a column of a table; of equal scores the first is the better one.
    iou
        Boxes with an overlap of more than this with a kept box are dropped; from 0 to 1.
    groups
        (n,) whole numbers or texts, such as classes, or the name of a column: only boxes of one group suppress each
        other.
    over
        What the intersection is divided by: ``"union"``, or ``"smaller"`` for the smaller of both boxes.
    threads
        The number of threads; None for all. The answer is the same for any number.
    like
        A tensor: the answer becomes a tensor of its library, such as torch, in ordinary memory and without a copy. Or
        a table: it becomes one with the column row.

    Returns
    -------
    (k,) int64
        Rows of the boxes kept, by descending score.

    Notes
    -----
    A box is compared only with those of about its size and place, eight at a time; `choque.boxes.select` says how. O(n)
    memory; O(n) time beside sorting the scores of kept boxes, if few of them share a place. Arithmetic is that of the
    float type of the boxes.

    Examples
    --------
    >>> import choque
    >>> choque.boxes.suppress([[0, 0, 9, 9], [1, 0, 10, 9], [20, 0, 29, 9]], [0.8, 0.9, 0.7]).tolist()
    [1, 2]
    """
    given, ranks = _check_ranked(boxes, scores, groups)
    setting = make_setting(given, check_threshold(iou), check_over(over), is_merging=False)
    is_kept = select(given, ranks, setting, resolve_count(threads, len(given)))
    return as_answer(like, row=_descending(np.flatnonzero(is_kept), ranks.score))


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
        order = _descending(np.arange(len(self.owner)), self._score)
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
    given, ranks = _check_ranked(boxes, scores, groups)
    setting = make_setting(given, check_threshold(iou), check_over(over), is_merging=True)
    is_kept, best = select_owners(given, ranks, setting)
    kept = _descending(np.flatnonzero(is_kept), ranks.score)
    place = np.empty(len(given), np.int64)
    place[kept] = np.arange(len(kept))
    owner = place[best]
    lower, upper = given.lower[kept], given.upper[kept]
    np.minimum.at(lower, owner, given.lower)
    np.maximum.at(upper, owner, given.upper)
    return Merged(kept, owner, np.concatenate((lower, upper), axis=1), ranks.score)


def _check_ranked(boxes: Any, scores: ArrayLike | str, groups: ArrayLike | str | None) -> tuple[Boxes, Ranks]:
    """Return boxes with their scores and groups, for `suppress` and `merge`."""
    boxes = opened(boxes)
    if isinstance(scores, str):
        scores = column(boxes, scores, "boxes")
    if isinstance(groups, str):
        groups = column(boxes, groups, "boxes")
    given = boxes if isinstance(boxes, Boxes) else Boxes(*box_corners(boxes, None, "boxes"))
    given = check_finite(given, "boxes")
    return given, Ranks(_check_scores(scores, len(given)), _check_groups(groups, len(given)))


def _check_scores(scores: ArrayLike, count: int) -> F64:
    given = check.floats(scores, "scores").astype(np.float64, copy=False)
    if given.shape != (count,):
        if given.size == 0 and count == 0:
            return given.reshape(0)
        raise InvalidInput(f"scores has the shape {given.shape}; it must be ({count},), one score for each box.")
    check.numbers(given, "scores")
    return given


def _check_groups(groups: ArrayLike | None, count: int) -> I64:
    if groups is None:
        return np.zeros(count, np.int64)
    given = check.array(groups, "groups", "whole numbers or texts")
    if given.dtype.kind in "OUST":
        given = np.unique(given.astype(np.str_), return_inverse=True)[1]
    given = check.integers(given, "groups")
    if given.shape != (count,):
        raise InvalidInput(f"groups has the shape {given.shape}; it must be ({count},), one number for each box.")
    return given.astype(np.int64)


def _descending(rows: I64, scores: F64) -> I64:
    """Return ``rows``, which ascend, by descending score; of equal ones, the first row first."""
    wide = scores[rows]
    with np.errstate(over="ignore"):
        narrow = wide.astype(np.float32)
    if not np.array_equal(narrow, wide):
        return rows[np.argsort(-wide, kind="stable")]
    # A float sorts as its bits do, once the bits of negative ones are turned; the place in the low half breaks ties.
    bits = (np.float32(0) - narrow).view(np.uint32)
    bits ^= np.where(bits >> 31, np.uint32(0xFFFFFFFF), np.uint32(1 << 31))
    keys = bits.astype(np.uint64) << np.uint64(32) | np.arange(len(rows), dtype=np.uint64)
    keys.sort()
    return rows[(keys & np.uint64(0xFFFFFFFF)).astype(np.int64)]
