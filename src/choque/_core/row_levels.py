"""The cells of a grid, chosen from the sizes and places of the boxes: one level of cells for each class of sizes.

One pass over the boxes finds their extent and longest edges. If a sample says that all are of like sizes, one level
holds them. Otherwise a second pass looks at each class of sizes, fourfold each, and classes are joined to levels.

Cells are chosen so that `choque._core.rows` misses no pair in spite of rounding; it says why.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from choque._core import threads
from choque._core.kernel import forceinline, kernel
from choque._core.lanes import survey_lanes
from choque._core.records import Corners
from choque._core.types import F64, I64, Floats, Integer

CLASSES = 128  # classes of sizes, each fourfold, by which levels are chosen
MAX_LEVELS = 24  # the last level also holds all boxes that are smaller still
SAMPLE = 512
ALIKE = 0.98  # share of a sample whose sizes must lie within `ALIKE_RATIO` of the largest for a single level
ALIKE_RATIO = 8.0
WIDE = 2.5  # rows are this many longest edges wide and high: lanes make long runs cheap, and fewer rows are touched
MAX_CELLS = 16_000  # along x: a box notes two cell numbers of 14 bits
MAX_ROWS_ALONG = 4_096
BOXES_PER_ROW = 16  # at least this many on average, so that memory stays linear
MARGIN = 1.0001
MAX_APART = 8  # the largest boxes, if no more than this, are tested against all: in less time than a level takes


class Levels(NamedTuple):
    """The grids of all levels."""

    # (levels, 9): origin, cells per unit of length, and how far before a lower corner a partner may start
    frame: Floats
    # (levels, 5) int64: cells along x, y, z; the first row; where its cells begin among those of all rows
    shape: I64


class Classes(NamedTuple):
    """Which level a box belongs to, where there are several or giants: boxes far out, or few that are larger."""

    numbers: I64  # (classes,) int64: the level of each class of sizes, see `class_of`; −1 for giants
    limit: float  # boxes that reach so far out are giants; infinity if there are none


class Survey(NamedTuple):
    """Results of one pass over boxes."""

    # (11,): the number of boxes, their least and greatest lower corner, their longest edges, and a bound of all
    # coordinates
    extent: F64
    are_alike: bool  # whether nearly all are about as large as the largest, and none is a giant
    are_ordered: bool  # whether ``lower <= upper`` throughout


def survey(boxes: Corners, shares: list[tuple[int, int]]) -> Survey:
    """Look at all boxes, a thread for each of ``shares``."""
    lanes, extent = np.empty((len(shares), 72), boxes.lower.dtype), np.empty(11)
    wrong = threads.run(lambda k: _survey_share(*shares[k], boxes, lanes[k]), len(shares))
    extent[0] = boxes.box_count
    are_alike = _sum_up(lanes.reshape(-1), boxes, _limit(boxes), extent)
    return Survey(extent, are_alike, not any(wrong))


def choose_levels(boxes: Corners, found: Survey, shares: list[tuple[int, int]]) -> tuple[Levels, Classes | None]:
    """Choose the cells of boxes that were surveyed; None if one level holds all boxes.

    Kernels are compiled for each of the two cases, so that the usual one takes little time to compile.
    """
    if found.are_alike:
        return _levels_of([found.extent[:10]], found.extent[10], boxes), None
    limit = np.inf if found.extent[10] < _limit(boxes) else _limit(boxes)
    each = np.zeros((len(shares), CLASSES, 10))
    each[:, :, 1:4], each[:, :, 4:7] = np.inf, -np.inf
    threads.run(lambda k: _survey_classes(*shares[k], boxes, limit, each[k]), len(shares))
    if len(shares) > 1:
        each[0, :, :1], each[0, :, 1:4] = each[..., :1].sum(axis=0), each[..., 1:4].min(axis=0)
        each[0, :, 4:] = each[..., 4:].max(axis=0)
    return _join_classes(each[0], boxes, limit)


def _limit(boxes: Corners) -> float:
    """Return how far out a box may reach: beyond, differences and products may overflow."""
    return 1e18 if boxes.lower.itemsize == 4 else 1e150


def _join_classes(classes: F64, boxes: Corners, limit: float) -> tuple[Levels, Classes]:
    """Join classes of sizes to levels, the largest boxes first, and choose the cells of each.

    A row of ``classes`` holds the number of boxes, their least and greatest lower corner, and their longest edges.
    """
    numbers = np.full(len(classes), -1)
    levels: list[F64] = []
    places, total = classes[:, 0].nonzero()[0][::-1].tolist(), 0.0
    for place in places:
        own = classes[place]
        total += own[0]
        if total <= MAX_APART and place != places[-1]:
            continue
        if levels and (own[7:].max() * 4 > levels[-1][7:].max() or len(levels) == MAX_LEVELS):
            last = levels[-1]
            last[0] += own[0]
            last[1:4], last[4:] = np.minimum(last[1:4], own[1:4]), np.maximum(last[4:], own[4:])
        else:
            levels.append(own.copy())
        numbers[place] = len(levels) - 1
    levels = levels or [np.zeros(10)]  # for giants alone: a level without boxes
    greatest = max(float(np.abs(level[1:7]).max()) for level in levels)
    return _levels_of(levels, greatest, boxes), Classes(numbers, limit)


def _levels_of(levels: list[F64], greatest: float, boxes: Corners) -> Levels:
    """Choose the cells of each level, and number rows and cells through all levels."""
    frame, shape = np.empty((len(levels), 9), boxes.lower.dtype), np.empty((len(levels), 5), np.int64)
    row = start = 0
    for number, level in enumerate(levels):
        _choose_cells(level, greatest, frame[number], shape[number])
        cells, along_y, along_z = shape[number, :3].tolist()
        shape[number, 3], shape[number, 4] = row, start
        row, start = row + along_y * along_z, start + along_y * along_z * (cells + 1)
    return Levels(frame, shape)


@kernel
def _survey_share(first: int, last: int, boxes: Corners, out: Floats) -> int:
    """Survey the boxes ``first`` to ``last`` - 1, see `survey_lanes`; lane k belongs to column k modulo the step."""
    lower, upper, step = boxes.lower, boxes.upper, boxes.step
    start, stop = step * first, step * last
    blocks: Integer = (stop - start - 3) // 24  # upper corners in records begin and end three places later
    if blocks < 0:
        blocks = np.int64(0)
    wrong = survey_lanes(lower, upper, start, blocks, out)
    for j in range(start + blocks * 24, stop):
        lane = (j - start) % 24
        if lane % step < 3:
            low, edge = lower[j], upper[j] - lower[j]
            out[lane] = low if low < out[lane] else out[lane]
            out[24 + lane] = low if low > out[24 + lane] else out[24 + lane]
            out[48 + lane] = edge if edge > out[48 + lane] else out[48 + lane]
            wrong |= not low <= upper[j]
    return wrong


@kernel
def _sum_up(lanes: Floats, boxes: Corners, limit: float, extent: F64) -> bool:
    """Merge surveys of 72 lanes each into ``extent``, and return whether a sample has like sizes and no giants."""
    largest, bound = 0.0, 0.0
    for axis in range(3):
        low, high, edge = np.inf, -np.inf, 0.0
        for begin in range(axis, lanes.size, 72):
            for lane in range(begin, begin + 24, boxes.step):
                low = lanes[lane] if lanes[lane] < low else low
                high = lanes[24 + lane] if lanes[24 + lane] > high else high
                edge = lanes[48 + lane] if lanes[48 + lane] > edge else edge
        extent[1 + axis], extent[4 + axis], extent[7 + axis] = low, high, edge
        # An empty box, as a half-open one at infinity becomes, begins at +inf and ends at -inf.
        bound = -low if -low > bound else bound
        bound = high + edge if high + edge > bound else bound
        largest = edge if edge > largest else largest
    extent[10] = bound
    count = boxes.lower.size // boxes.step
    if count == 0 or not bound < limit:
        return False
    sampled, alike = 0, 0
    for at in range(0, boxes.lower.size, boxes.step * (count // SAMPLE + 1)):
        is_large = False
        for axis in range(at, at + 3):
            is_large |= (boxes.upper[axis] - boxes.lower[axis]) * ALIKE_RATIO >= largest
        sampled += 1
        alike += is_large
    return alike >= ALIKE * sampled


@kernel
def _choose_cells(level: F64, greatest: float, frame: Floats, shape: I64) -> None:
    """Fill the frame and the first three numbers of the shape of one level.

    ``level``: the number of boxes, their least and greatest corner, their longest edges; ``greatest``: the greatest
    coordinate of all levels.
    """
    # Rounding: a cell number is monotone, which is all that upper ends need; a reach is not, so it has room.
    step, tiny = 2.0**-22, 1e-37
    if frame.itemsize == 8:
        step, tiny = 2.0**-51, 1e-300
    count = np.int64(level[0])
    wide_y = WIDE * (level[8] * MARGIN + 2 * greatest * step) + tiny
    wide_z = WIDE * (level[9] * MARGIN + 2 * greatest * step) + tiny
    extent_y, extent_z = level[5] - level[2], level[6] - level[3]
    along_y = along_z = np.int64(0)
    while True:
        ratio_y, ratio_z = extent_y / wide_y, extent_z / wide_z
        if ratio_y < MAX_ROWS_ALONG and ratio_z < MAX_ROWS_ALONG:
            along_y, along_z = np.int64(ratio_y) + 1, np.int64(ratio_z) + 1
            if along_y * along_z <= count // BOXES_PER_ROW + 1:
                break
        wide_y *= 1.1
        wide_z *= 1.1
    cells = count // (along_y * along_z)
    if cells < 1:
        cells = np.int64(1)
    elif cells > MAX_CELLS:
        cells = np.int64(MAX_CELLS)
    wide_x = (level[4] - level[1]) / cells
    if wide_x < tiny:
        wide_x = tiny
    for axis in range(3):
        frame[axis] = level[1 + axis]
        frame[6 + axis] = (level[7 + axis] * MARGIN + greatest * step) * (1 + 2 * step)
    frame[3], frame[4], frame[5] = 1 / wide_x, 1 / wide_y, 1 / wide_z
    shape[0], shape[1], shape[2] = cells + 1, along_y, along_z
    for axis in range(3):
        high = frame.dtype.type(level[4 + axis])
        # The last cell in the float type of the boxes, in which rounding may lead to one more than there is room for.
        while np.int64((high - frame[axis]) * frame[3 + axis]) >= shape[axis]:
            frame[3 + axis] *= 0.99999
        shape[axis] = np.int64((high - frame[axis]) * frame[3 + axis]) + 1


@forceinline
def number_at(boxes: Any, i: Integer) -> Any:
    """Return where a box begins, in a form that is seen not to be negative: then no index is checked for it."""
    return np.int64(np.uint32(i)) * np.int64(np.uint8(boxes.step))


@forceinline
def class_of(edge: Any) -> Any:
    """Return the class of sizes of a box by its largest edge: half the exponent of a float32."""
    return np.int64(np.float32(edge).view(np.int32)) >> 24


@forceinline
def largest_edge(boxes: Any, i: Integer, limit: Any) -> Any:
    """Return the largest edge of a box, or -1 for a giant."""
    lower, upper, at = boxes.lower, boxes.upper, number_at(boxes, i)
    zero = lower.dtype.type(0)
    if limit < np.inf:
        for axis in range(at, at + 3):
            if not (lower[axis] > -limit and upper[axis] < limit and lower[axis] < limit and upper[axis] > -limit):
                return zero - lower.dtype.type(1)
    largest = zero
    for axis in range(at, at + 3):
        edge = upper[axis] - lower[axis]
        largest = edge if edge > largest else largest
    return largest


@kernel
def _survey_classes(first: int, last: int, boxes: Corners, limit: float, found: F64) -> None:
    """Add boxes to their classes: the number, the least and greatest lower corner, and the longest edges."""
    for i in range(first, last):
        edge = largest_edge(boxes, i, limit)
        if edge < 0:
            continue
        own = class_of(edge)
        found[own, 0] += 1
        for axis in range(3):
            low, high = np.float64(boxes.lower[i * boxes.step + axis]), np.float64(boxes.upper[i * boxes.step + axis])
            found[own, 1 + axis] = min(found[own, 1 + axis], low)
            found[own, 4 + axis] = max(found[own, 4 + axis], low)
            found[own, 7 + axis] = max(found[own, 7 + axis], high - low)
