"""What a broad phase has built over the bodies, as lines: blocks, cells and leaves, and the axis of a sweep.

The structure is built anew from the boxes of the frame shown, by the method itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque import broad
from choque.bounds import Boxes
from choque.studio.page.wires import NO_SEGMENTS, Segments, box_wires

LEVEL_COLORS = np.array(
    [(255, 176, 59), (120, 220, 130), (90, 180, 255), (220, 130, 255), (255, 110, 110), (240, 240, 120)], np.uint8
)
"""Of the levels of a tree or a stack of grids, the finest first; they repeat."""

CELLS_MOST = 6_000
"""No more cells or blocks than this are drawn, the coarsest first."""

NO_CORNERS, NO_LEVELS = np.empty((0, 3)), np.empty(0, np.int64)

INTERVALS_MOST = 2_000
HEIGHT_SHARE = 0.3
"""How much of the height of the scene the intervals on a sweep axis may take."""


class Parts(NamedTuple):
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


def structure_of(method: str, boxes: Boxes) -> Parts:
    """What ``method`` builds over finite ``boxes``."""
    if not len(boxes):
        return _limited(NO_CORNERS, NO_CORNERS, NO_LEVELS, "There are no bodies.")
    made = broad.create(method, boxes).structure()
    via = "" if made.method == method else f"{method} works with {made.method}. "
    lower, upper, parts = made.lower, made.upper, f"{len(made):,}"
    if made.kind == "blocks":
        note = f"{len(boxes):,} boxes, sixteen to a block: {int(made.level.max()) + 1} levels."
    elif made.kind == "cells":
        grids = int(made.level.max(initial=0)) + 1
        stack = "one grid" if grids == 1 else f"{grids} grids, one for each class of sizes"
        note = f"{parts} cells of {stack}, those that hold a box or its lower corner."
    elif made.kind == "leaves":
        # What a leaf lists shows more than its walls, the outer ones of which are nowhere.
        lower = np.minimum.reduceat(boxes.lower[made.members].astype(np.float64), made.starts[:-1])
        upper = np.maximum.reduceat(boxes.upper[made.members].astype(np.float64), made.starts[:-1])
        note = f"Around the bodies of each of {parts} leaves."
    else:
        note = f"{made.method} builds no cells and no tree: look at its sweep axis, if it has one."
    return _limited(lower, upper, made.level, f"{via}{note}")


def sweep_axis_of(method: str, boxes: Boxes, around: Boxes | None = None) -> tuple[Segments, str]:
    """The axis that a sweep sorts ``boxes`` along, with the interval of each above it; none for other methods.

    It is drawn at the lower front edge of all that is in ``around``, None for all boxes.
    """
    made = broad.create(method, boxes).structure() if len(boxes) else None
    if made is None or made.axis is None or made.order is None:
        return NO_SEGMENTS, f"{method} does not sweep along one axis."
    axis, shown = made.axis, made.order[:INTERVALS_MOST]
    seen = boxes if around is None else around
    lower, upper = seen.lower.min(axis=0).astype(np.float64), seen.upper.max(axis=0).astype(np.float64)
    up, across = ((1, 2), (0, 2), (1, 0))[axis]
    base = lower.copy()
    base[across] = upper[across]
    lanes = _lanes(boxes.lower[shown, axis], boxes.upper[shown, axis])
    height = HEIGHT_SHARE * (upper - lower)[up] / max(int(lanes.max()) + 1, 12)
    ends = np.broadcast_to(base, (len(shown) + 1, 2, 3)).copy()
    ends[0, :, axis] = lower[axis], upper[axis]
    ends[1:, 0, axis], ends[1:, 1, axis] = boxes.lower[shown, axis], boxes.upper[shown, axis]
    ends[1:, :, up] += ((lanes + 1) * height)[:, None]
    via = "" if made.method == method else f"{method} works with {made.method}, which"
    return ends.astype(np.float32), f"{via or method} sorts along {'xyz'[axis]}, where the bodies are spread most."


def _limited(lower: NDArray[np.float64], upper: NDArray[np.float64], level: NDArray[np.int64], note: str) -> Parts:
    if len(lower) <= CELLS_MOST:
        return Parts(lower, upper, level, note)
    kept = np.sort(np.argsort(-level, kind="stable")[:CELLS_MOST])
    return Parts(lower[kept], upper[kept], level[kept], f"{note} {CELLS_MOST:,} of {len(lower):,} are drawn.")


def _lanes(lower: NDArray[np.floating], upper: NDArray[np.floating]) -> NDArray[np.int64]:
    """A lane for each interval, in the order of their starts, so that none covers another of its lane; 24 at most."""
    ends = np.full(24, -np.inf)
    lanes = np.zeros(len(lower), np.int64)
    for row, (start, end) in enumerate(zip(lower.tolist(), upper.tolist(), strict=True)):
        free = np.flatnonzero(ends < start)
        lane = int(free[0]) if len(free) else int(np.argmin(ends))
        lanes[row], ends[lane] = lane, end
    return lanes
