"""Suppression and merging of boxes with scores, in time and memory that follow the boxes and not their pairs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core import check, memory
from choque._core.kernel import forceinline, kernel
from choque._core.tables import box_corners, column
from choque._core.types import Floats, Integer
from choque.bounds import Boxes
from choque.boxes.likeness import MARGIN, check_finite, check_over, check_threshold
from choque.errors import InvalidInput

CLASSES = 64
"""Classes of sizes, by the longest edge; the last one also holds all that is smaller."""

MIN_FACTOR, MAX_FACTOR = 1.2, 4.0
"""Limits of the ratio between neighbouring classes."""

MIN_CELL = 1 / 64
"""Cells are at least this share of the longest edge of their class wide, however high the threshold is."""

FARTHEST = 2.0**40
"""Cell numbers are clipped to this; boxes that lie farther out share a cell, and are found all the same."""


def suppress(
    boxes: ArrayLike | Boxes,
    scores: ArrayLike | str,
    *,
    iou: float = 0.5,
    groups: ArrayLike | str | None = None,
    over: str = "union",
) -> NDArray[np.int64]:
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

    Returns
    -------
    (k,) int64
        Rows of the boxes kept, by descending score.

    Notes
    -----
    Kept boxes are held in cells by size and place, and a box is compared only with those that can overlap it by as much
    as the threshold; see `choque.boxes.likeness`. O(n) memory; O(n) time beside sorting the scores, if few kept boxes
    share a place. Arithmetic is that of the float type of the boxes.

    Examples
    --------
    >>> import choque
    >>> choque.boxes.suppress([[0, 0, 9, 9], [1, 0, 10, 9], [20, 0, 29, 9]], [0.8, 0.9, 0.7]).tolist()
    [1, 2]
    """
    found, order = _select(boxes, scores, iou, groups, over, is_merging=False)
    kept: NDArray[np.int64] = order[found == np.arange(len(found))]
    return kept


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

    kept: NDArray[np.int64]
    owner: NDArray[np.int64]
    boxes: NDArray[Any]
    _order: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.kept)

    def __repr__(self) -> str:
        return f"<Merged: {len(self.owner):,} boxes in {len(self):,} clusters>"

    def lists(self) -> dict[int, list[int]]:
        """Return for the row of each kept box the rows that were merged into it, by descending score."""
        found: dict[int, list[int]] = {row: [] for row in self.kept.tolist()}
        kept = self.kept.tolist()
        for row, place in zip(self._order.tolist(), self.owner[self._order].tolist(), strict=True):
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

    As `suppress`, but what a kept box covers is merged into it instead of dropped, from an overlap of ``iou`` on, not
    only above it: the rule of SAHI's ``greedy_nmm``. A box that several kept boxes cover goes to the best of them.

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
    found, order = _select(boxes, scores, iou, groups, over, is_merging=True)
    is_kept = found == np.arange(len(found))
    places = np.cumsum(is_kept) - 1
    owner = np.empty(len(found), np.int64)
    owner[order] = places[found]
    given = _check_boxes(boxes)
    lower, upper = given.lower[order[is_kept]], given.upper[order[is_kept]]
    np.minimum.at(lower, owner, given.lower)
    np.maximum.at(upper, owner, given.upper)
    return Merged(order[is_kept], owner, np.concatenate((lower, upper), axis=1), order)


def _check_boxes(boxes: Any) -> Boxes:
    if isinstance(boxes, Boxes):
        return boxes
    return Boxes(*box_corners(boxes, None, "boxes"))


class Setting(NamedTuple):
    """What is searched, the same for all boxes.

    Attributes
    ----------
    threshold
        From 0 to 1.
    over_smaller
        Whether overlaps are divided by the smaller box.
    is_merging
        Whether all kept boxes are compared, for the best of them, and the threshold itself counts.
    dimension
        2 or 3.
    largest
        The longest edge of all boxes.
    classes_per_octave
        How many classes of sizes there are for a factor of two.
    """

    threshold: float
    over_smaller: bool
    is_merging: bool
    dimension: int
    largest: float
    classes_per_octave: float


class Kept(NamedTuple):
    """Kept boxes, in lists: one for each cell, by a hash of its numbers, and one for each class of sizes.

    Attributes
    ----------
    head, after
        (cells,) and (n,) int32: the first box of each list and the one after each box, -1 for none.
    class_head, class_after
        (classes,) and (n,) int32: the same for classes.
    class_count
        (classes,) int64: kept boxes.
    size, per_cell
        (classes,) float64: the longest edge that a class holds, and cells for each unit of length.
    """

    head: NDArray[np.int32]
    after: NDArray[np.int32]
    class_head: NDArray[np.int32]
    class_after: NDArray[np.int32]
    class_count: NDArray[np.int64]
    size: NDArray[np.float64]
    per_cell: NDArray[np.float64]


class Ranked(NamedTuple):
    """Boxes by descending score: corners (n, 6), with 0 and 1 as the third axis of 2D boxes, areas and groups (n,)."""

    corners: Floats
    area: Floats
    group: NDArray[np.int64]


def _select(
    boxes: Any, scores: ArrayLike | str, iou: float, groups: ArrayLike | str | None, over: str, *, is_merging: bool
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return for each box, by descending score, the place of the box that it goes to, and the order of the rows."""
    if isinstance(scores, str):
        scores = column(boxes, scores, "boxes")
    if isinstance(groups, str):
        groups = column(boxes, groups, "boxes")
    given = check_finite(_check_boxes(boxes), "boxes")
    threshold, is_over_smaller = check_threshold(iou), check_over(over)
    order = _descending(_check_scores(scores, len(given)))
    corners: Floats = memory.empty((len(given), 6), given.dtype)
    corners[:, 2], corners[:, 5] = 0, 1
    corners[:, : given.dimension] = given.lower[order]
    corners[:, 3 : 3 + given.dimension] = given.upper[order]
    area: Floats = memory.empty(len(given), given.dtype)
    largest = float(_measure(corners, area, given.dimension))
    if not math.isfinite(largest) or not np.isfinite(area).all():
        raise InvalidInput(
            f"A box has an area that {given.dtype} cannot hold; scale the boxes, or convert them to float64."
        )
    factor = 2.0 if is_over_smaller or threshold == 0 else min(max(1 / threshold, MIN_FACTOR), MAX_FACTOR)
    ranked = Ranked(corners, area, _check_groups(groups, len(given))[order])
    setting = Setting(threshold, is_over_smaller, is_merging, given.dimension, largest, 1 / math.log2(factor))
    found: NDArray[np.int32] = memory.empty(len(given), np.int32)
    _run(ranked, setting, _empty_lists(len(given), largest, factor, setting), found)
    return found, order


def _empty_lists(count: int, largest: float, factor: float, setting: Setting) -> Kept:
    size = largest * factor ** -np.arange(float(CLASSES)) * (1 + MARGIN)
    t = setting.threshold
    reach = 1.0 if setting.over_smaller or t == 0 else min(1.0, 1 / t - 1)
    # A box looks for lower corners within its reach on both sides: two cells an axis at most.
    cell = np.maximum(size * max(2 * reach, MIN_CELL), np.finfo(np.float64).tiny)
    return Kept(
        np.full(1 << max(4, count.bit_length()), -1, np.int32),
        memory.empty(count, np.int32),
        np.full(CLASSES, -1, np.int32),
        memory.empty(count, np.int32),
        np.zeros(CLASSES, np.int64),
        size,
        np.minimum(1 / cell, np.finfo(np.float64).max),
    )


def _check_scores(scores: ArrayLike, count: int) -> Floats:
    given = check.floats(scores, "scores")
    if given.shape != (count,):
        if given.size == 0 and count == 0:
            return given.reshape(0)
        raise InvalidInput(f"scores has the shape {given.shape}; it must be ({count},), one score for each box.")
    bad = np.isnan(given)
    if bad.any():
        raise InvalidInput(f"Row {int(np.argmax(bad))} of scores is nan; every box needs a score to be ranked by.")
    return given


def _check_groups(groups: ArrayLike | None, count: int) -> NDArray[np.int64]:
    if groups is None:
        return np.zeros(count, np.int64)
    if isinstance(groups, np.ndarray | list | tuple):
        texts = np.asarray(groups)
        if texts.dtype.kind in "OUST":
            groups = np.unique(texts.astype(np.str_), return_inverse=True)[1]
    given = check.integers(groups, "groups")
    if given.shape != (count,):
        raise InvalidInput(f"groups has the shape {given.shape}; it must be ({count},), one number for each box.")
    return given.astype(np.int64)


def _descending(scores: Floats) -> NDArray[np.int64]:
    """Return the rows by descending score; of equal ones, the first row first."""
    narrow = scores.astype(np.float32)
    if scores.dtype == np.float64 and not np.array_equal(narrow, scores):
        return np.argsort(-scores, kind="stable")
    # A float sorts as its bits do, once the bits of negative ones are turned; the row in the low half breaks ties.
    bits = (np.float32(0) - narrow).view(np.uint32)
    bits ^= np.where(bits >> 31, np.uint32(0xFFFFFFFF), np.uint32(1 << 31))
    keys = bits.astype(np.uint64) << np.uint64(32) | np.arange(len(scores), dtype=np.uint64)
    keys.sort()
    return (keys & np.uint64(0xFFFFFFFF)).astype(np.int64)


# Kernels


@kernel
def _measure(corners: Floats, area: Floats, dimension: int) -> float:
    """Write the area of each box and return the longest edge."""
    longest = corners.dtype.type(0)
    for i in range(corners.shape[0]):
        x, y, z = corners[i, 3] - corners[i, 0], corners[i, 4] - corners[i, 1], corners[i, 5] - corners[i, 2]
        area[i] = x * y * z
        longest = max(longest, x, y, z if dimension == 3 else x)
    return float(longest)


@forceinline
def _class_of(edge: float, setting: Any) -> Any:
    """Return the class of an edge: monotone in it."""
    if edge >= setting.largest:
        return np.int64(0)
    if not edge > 0.0:
        return np.int64(CLASSES - 1)
    return np.int64(min(np.log2(setting.largest / edge) * setting.classes_per_octave, CLASSES - 1.0))


@forceinline
def _cell(value: float, per_cell: float) -> Any:
    return np.int64(np.floor(max(-FARTHEST, min(FARTHEST, value * per_cell))))


@forceinline
def _hash(x: Integer, y: Integer, z: Integer, number: Integer, group: Integer, mask: Integer) -> Any:
    """Return the list of a cell, its class and its group; factors of 21 bits and numbers of 20 never overflow."""
    low = np.int64(0xFFFFF)
    found = (x & low) * 1_640_531 + (y & low) * 1_299_721 + (z & low) * 2_038_073
    found = found ^ ((number * 1_103_515) + (group & low) * 1_015_567)
    return (found ^ (found >> 17)) & mask


@forceinline
def _covers(ranked: Any, other: Integer, own: Integer, setting: Any) -> Any:
    """Return whether the kept box at ``other`` covers the box at ``own``."""
    corners, area = ranked.corners, ranked.area
    zero = corners.dtype.type(0)
    x = max(zero, min(corners[other, 3], corners[own, 3]) - max(corners[other, 0], corners[own, 0]))
    y = max(zero, min(corners[other, 4], corners[own, 4]) - max(corners[other, 1], corners[own, 1]))
    z = max(zero, min(corners[other, 5], corners[own, 5]) - max(corners[other, 2], corners[own, 2]))
    inner = x * y * z
    whole = min(area[other], area[own]) if setting.over_smaller else area[other] + area[own] - inner
    value = inner / whole
    is_alike = value >= setting.threshold if setting.is_merging else value > setting.threshold
    return is_alike and ranked.group[other] == ranked.group[own]


@forceinline
def _search_list(ranked: Any, own: Integer, start: Integer, after: Any, setting: Any, best: Integer) -> Integer:
    """Return the best box of a list that covers ``own``, or ``best``; without merging the first will do."""
    other = np.int64(start)
    while other >= 0:
        if other < best and _covers(ranked, other, own, setting):
            best = other
            if not setting.is_merging:
                return best
        other = np.int64(after[other])
    return best


@forceinline
def _find_cover(ranked: Any, own: Integer, setting: Any, kept: Any, lowest: Any, highest: Any) -> Integer:
    """Return the best kept box that covers the box at ``own``, or ``own``.

    ``lowest`` and ``highest`` (3,) are scratch for the cells to look at.
    """
    corners, t = ranked.corners, setting.threshold
    has_reach = t > 0.0 and not setting.over_smaller
    edge = 0.0
    for axis in range(setting.dimension):
        edge = max(edge, np.float64(corners[own, axis + 3]) - np.float64(corners[own, axis]))
    first, last = np.int64(0), np.int64(CLASSES - 1)
    if has_reach:
        first = _class_of(edge / t * (1.0 + MARGIN), setting)
        last = _class_of(edge * t * (1.0 - MARGIN), setting)
    best = np.int64(own)
    mask = np.int64(kept.head.size - 1)
    for number in range(first, last + 1):
        if kept.class_count[number] == 0:
            continue
        cells = 1.0
        for axis in range(setting.dimension):
            low, high = np.float64(corners[own, axis]), np.float64(corners[own, axis + 3])
            before, after = kept.size[number], high - low
            if has_reach:
                reach = (high - low) * ((1.0 / t - 1.0) * (1.0 + MARGIN) + MARGIN)
                before, after = min(before, reach), min(after, reach)
            room = 1e-15 * (abs(low) + abs(high))
            lowest[axis] = _cell(low - before - room, kept.per_cell[number])
            highest[axis] = _cell(low + after + room, kept.per_cell[number])
            cells *= np.float64(highest[axis] - lowest[axis] + 1)
        if cells > kept.class_count[number]:
            best = _search_list(ranked, own, kept.class_head[number], kept.class_after, setting, best)
        else:
            for z in range(lowest[2], highest[2] + 1):
                for y in range(lowest[1], highest[1] + 1):
                    for x in range(lowest[0], highest[0] + 1):
                        place = _hash(x, y, z, number, ranked.group[own], mask)
                        best = _search_list(ranked, own, kept.head[place], kept.after, setting, best)
                        if best < own and not setting.is_merging:
                            return best
        if best < own and not setting.is_merging:
            return best
    return best


@forceinline
def _insert(ranked: Any, own: Integer, setting: Any, kept: Any) -> None:
    """Add the box at ``own`` to the kept ones."""
    corners = ranked.corners
    edge = 0.0
    for axis in range(setting.dimension):
        edge = max(edge, np.float64(corners[own, axis + 3]) - np.float64(corners[own, axis]))
    number = _class_of(edge, setting)
    per_cell = kept.per_cell[number]
    x, y = _cell(np.float64(corners[own, 0]), per_cell), _cell(np.float64(corners[own, 1]), per_cell)
    z = _cell(np.float64(corners[own, 2]), per_cell) if setting.dimension == 3 else np.int64(0)
    place = _hash(x, y, z, number, ranked.group[own], np.int64(kept.head.size - 1))
    kept.after[own] = kept.head[place]
    kept.head[place] = own
    kept.class_after[own] = kept.class_head[number]
    kept.class_head[number] = own
    kept.class_count[number] += 1


@kernel
def _run(ranked: Ranked, setting: Setting, kept: Kept, found: NDArray[np.int32]) -> None:
    """Write for each box the place of the box that it goes to: its own if it is kept."""
    lowest, highest = np.zeros(3, np.int64), np.zeros(3, np.int64)
    for own in range(found.size):
        found[own] = own
        if not ranked.area[own] > 0:
            continue  # a flat box covers nothing and is covered by nothing
        best = _find_cover(ranked, own, setting, kept, lowest, highest)
        found[own] = best
        if best == own:
            _insert(ranked, own, setting, kept)
