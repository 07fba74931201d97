"""What a broad phase has built over the bodies: blocks of a tree, cells of a grid, leaves of a partition, a sweep axis.

The structure is built anew from the boxes of the frame shown, by the method itself, and read from it here.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque import broad
from choque.bounds import Boxes
from choque.broad._bvh_tree import Tree
from choque.broad._sweep_order import widest_axis
from choque.view.studio_wires import NO_SEGMENTS, Segments, box_wires

LEVEL_COLORS = np.array(
    [(255, 176, 59), (120, 220, 130), (90, 180, 255), (220, 130, 255), (255, 110, 110), (240, 240, 120)], np.uint8
)
"""Of the levels of a tree or a stack of grids, the finest first; they repeat."""

CELLS_MOST = 6_000
"""No more cells or blocks than this are drawn, the coarsest first."""

INTERVALS_MOST = 2_000
HEIGHT_SHARE = 0.3
"""How much of the height of the scene the intervals on a sweep axis may take."""


class Structure(NamedTuple):
    """Boxes (k, 3) with a level each, and a sentence about them."""

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    level: NDArray[np.int64]
    note: str

    def wires(self) -> tuple[Segments, NDArray[np.uint8]]:
        """Their edges, and the colour of each end."""
        color = LEVEL_COLORS[self.level % len(LEVEL_COLORS)]
        ends: NDArray[np.uint8] = np.repeat(color, 24, axis=0).reshape(-1, 2, 3)
        return box_wires(self.lower, self.upper), ends


def structure_of(method: str, boxes: Boxes) -> Structure:
    """What ``method`` builds over finite ``boxes``."""
    if not len(boxes):
        return _nothing("There are no bodies.")
    made: Any = broad.create(method, boxes)
    via = ""
    while inner := getattr(made, "_mutual", None) or getattr(made, "_engine", None):
        via += f"{made.name} works with {inner.name}. "
        made = inner
    if hasattr(made, "_hierarchy"):
        return _blocks(made._hierarchy, via)
    if getattr(made, "_tree", None) is not None and isinstance(made._tree, Tree):
        return _blocks(made._tree, via)
    if getattr(made, "_buckets", None) is not None:
        return _leaves(made, boxes, via)
    if hasattr(made, "_starts") and hasattr(made, "_shape"):
        return _cells(made, via)
    return _nothing(f"{via}{made.name} builds no cells and no tree: look at its sweep axis, if it has one.")


def sweep_axis_of(method: str, boxes: Boxes, around: Boxes | None = None) -> tuple[Segments, str]:
    """The axis that a sweep sorts ``boxes`` along, with the interval of each above it; none for other methods.

    It is drawn at the lower front edge of all that is in ``around``, None for all boxes.
    """
    if not len(boxes) or not (method.startswith("sap-") or method in ("multi-sap", "auto")):
        return NO_SEGMENTS, f"{method} does not sweep."
    axis = widest_axis(np.ascontiguousarray(np.concatenate((boxes.lower, boxes.upper), axis=1)))
    seen = boxes if around is None else around
    lower, upper = seen.lower.min(axis=0).astype(np.float64), seen.upper.max(axis=0).astype(np.float64)
    up, across = ((1, 2), (0, 2), (1, 0))[axis]
    base = lower.copy()
    base[across] = upper[across]
    shown = np.argsort(boxes.lower[:, axis], kind="stable")[:INTERVALS_MOST]
    lanes = _lanes(boxes.lower[shown, axis], boxes.upper[shown, axis])
    height = HEIGHT_SHARE * (upper - lower)[up] / max(int(lanes.max()) + 1, 12)
    ends = np.broadcast_to(base, (len(shown) + 1, 2, 3)).copy()
    ends[0, :, axis] = lower[axis], upper[axis]
    ends[1:, 0, axis], ends[1:, 1, axis] = boxes.lower[shown, axis], boxes.upper[shown, axis]
    ends[1:, :, up] += ((lanes + 1) * height)[:, None]
    return ends.astype(np.float32), f"{method} sorts along {'xyz'[axis]}, where the bodies are spread most."


def _blocks(tree: Tree, via: str) -> Structure:
    """The boxes around the blocks of a wide tree, root last."""
    lower, upper, level = [], [], []
    for number in range(1, len(tree.level_first) - 1):
        lanes = tree.lanes[tree.level_first[number] : tree.level_first[number + 1]].astype(np.float64)
        corners = lanes.transpose(0, 2, 1).reshape(-1, 6)
        corners = corners[np.isfinite(corners).all(axis=1)]
        lower.append(corners[:, :3])
        upper.append(corners[:, 3:])
        level.append(np.full(len(corners), number - 1))
    found = _limited(np.concatenate(lower), np.concatenate(upper), np.concatenate(level))
    return found._replace(note=f"{via}{len(tree.rows):,} boxes, sixteen to a block: {len(level)} levels. {found.note}")


def _cells(grid: Any, via: str) -> Structure:
    """The cells of a stack of grids that hold the lower corner of a box."""
    lower, upper, level = [], [], []
    boxes, starts, frame, shape = grid._boxes, grid._starts, grid._frame, grid._shape
    bounds = [int(starts[int(row[3])]) for row in shape] + [int(grid._giant_first)]
    for number, (first, last) in enumerate(pairwise(bounds)):
        origin, per_unit, counts = frame[number, :3], frame[number, 3:6], shape[number, :3]
        corner = boxes[first:last, :3].astype(np.float64)
        cell = np.clip(np.floor((corner - origin) * per_unit), 0, counts - 1)
        cell = np.unique(cell, axis=0)
        edge = np.divide(1.0, per_unit, out=np.full(3, np.nan), where=per_unit > 0)
        extent = boxes[first:last, 3:].max(axis=0) if last > first else np.zeros(3)
        edge = np.where(np.isfinite(edge), edge, extent - origin)
        lower.append(origin + cell * edge)
        upper.append(origin + (cell + 1) * edge)
        level.append(np.full(len(cell), len(shape) - 1 - number))
    found = _limited(np.concatenate(lower), np.concatenate(upper), np.concatenate(level))
    grids = "one grid" if len(shape) == 1 else f"{len(shape)} grids, one for each class of sizes"
    return found._replace(note=f"{via}{grids}; cells that hold the lower corner of a box. {found.note}")


def _leaves(tree: Any, boxes: Boxes, via: str) -> Structure:
    """The boxes around the bodies of each leaf."""
    members, starts = tree._buckets.members, np.asarray(tree._buckets.starts)
    rows = np.asarray(members, np.int64)
    first = starts[:-1].astype(np.int64)
    filled = np.diff(starts.astype(np.int64)) > 0
    lower = np.minimum.reduceat(boxes.lower[rows].astype(np.float64), first[filled])
    upper = np.maximum.reduceat(boxes.upper[rows].astype(np.float64), first[filled])
    found = _limited(lower, upper, np.zeros(len(lower), np.int64))
    return found._replace(note=f"{via}Around the bodies of each of {len(lower):,} leaves. {found.note}")


def _limited(lower: NDArray[np.float64], upper: NDArray[np.float64], level: NDArray[np.int64]) -> Structure:
    if len(lower) <= CELLS_MOST:
        return Structure(lower, upper, level, "")
    kept = np.sort(np.argsort(-level, kind="stable")[:CELLS_MOST])
    return Structure(lower[kept], upper[kept], level[kept], f"{CELLS_MOST:,} of {len(lower):,} are drawn.")


def _nothing(note: str) -> Structure:
    return Structure(np.empty((0, 3)), np.empty((0, 3)), np.empty(0, np.int64), note)


def _lanes(lower: NDArray[np.floating], upper: NDArray[np.floating]) -> NDArray[np.int64]:
    """A lane for each interval, in the order of their starts, so that none covers another of its lane; 24 at most."""
    ends = np.full(24, -np.inf)
    lanes = np.zeros(len(lower), np.int64)
    for row, (start, end) in enumerate(zip(lower.tolist(), upper.tolist(), strict=True)):
        free = np.flatnonzero(ends < start)
        lane = int(free[0]) if len(free) else int(np.argmin(ends))
        lanes[row], ends[lane] = lane, end
    return lanes
