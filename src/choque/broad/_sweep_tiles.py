"""A sweep of boxes that are already in order: in one line, or in tiles on the two other axes."""

from __future__ import annotations

import numpy as np

from choque._core.types import Floats
from choque.broad._sweep_cells import CellSweep
from choque.broad._sweep_frame import CellFrame, bulk_of, sample_of, typical_edges, within_budget
from choque.broad._sweep_listing import CELL_MOST, list_boxes
from choque.broad._sweep_order import Order
from choque.broad.sweep_line import Line

TILES_FROM = 5_000
"""From so many boxes on, tiles are faster than one line."""

TILE_EDGES = 3.5
"""The edge of a tile in typical edges of a box."""

BOXES_PER_TILE = 8
"""There is at most one tile for so many boxes."""


def sweep_of(boxes: Floats, rows: Order, tiles: bool | None, thread_count: int) -> Line | CellSweep:
    """A sweep along the first axis.

    Parameters
    ----------
    boxes
        (n, 6) in the order of their lower bounds on that axis.
    rows
        (n,) the row of each.
    tiles
        Whether to split the sweep into tiles; None for where that is faster. A scene without width has no tiles.
    thread_count
        How many threads to use.
    """
    if len(boxes) >= TILES_FROM if tiles is None else tiles:
        frame = _tiles_of(boxes)
        if frame.cell_count > 1:
            listing, is_apart = list_boxes(boxes, rows, frame, thread_count)
            if is_apart is None:
                return CellSweep(listing, None, None)
            apart = Line.of(boxes[is_apart], rows[is_apart])
            return CellSweep(listing, apart, Line.of(boxes[~is_apart], rows[~is_apart]))
    return Line.of(boxes, rows)


def _tiles_of(boxes: Floats) -> CellFrame:
    sample = sample_of(boxes)
    lowest, highest = bulk_of(sample)
    with np.errstate(all="ignore"):
        wanted = (highest - lowest) / (TILE_EDGES * typical_edges(sample))
    wanted[0] = 1.0
    budget = min(len(boxes) / BOXES_PER_TILE, CELL_MOST)
    return CellFrame.over(lowest, highest, within_budget(wanted, budget))
