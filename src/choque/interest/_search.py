"""Which bodies lie near which area: searched in cells, or in a tree where cells would be crowded."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from choque import memory, threads
from choque._types import Keys
from choque.broad import Sink
from choque.interest._bodies import Bodies
from choque.interest._body_grid import BodyGrid, emit_from_cells, make_body_grid
from choque.interest._body_tree import emit_from_tree, make_body_tree
from choque.interest._touch import pack_bodies

WASTE_MOST = 12.0
"""Cells that take more tests than this for a member found, a few granted to every area, are given up for a tree."""

GRANTED = 16
SAMPLES = 256

Looking: TypeAlias = tuple[NDArray[np.uint32], NDArray[np.float64], float, bool]
"""The places of the bodies that have areas, the reach (n,) of all, the slack, and whether areas are boxes."""


def emit_near(sink: Sink, bodies: Bodies, slack: float, is_box: bool) -> None:
    """Write (owner, other) for every body that touches an area with ``slack`` around it, owner by owner.

    The owners come in an order in which neighbours are near in space, so that they find the same bodies in the cache.
    """
    has_area = bodies.reach >= 0
    if not has_area.any():
        return
    records = body_records(bodies, sink.thread_count)
    grid = make_body_grid(bodies.spheres, records, sink.thread_count)
    looking = _places(has_area, grid.rows), bodies.reach, slack, is_box
    if not _is_crowded(grid, looking):
        sink.run(emit_from_cells, len(looking[0]), *looking, *grid.search_arrays())
        return
    tree = make_body_tree(bodies.spheres, records, sink.thread_count)
    looking = _places(has_area, tree.tree.rows), bodies.reach, slack, is_box
    sink.run(emit_from_tree, len(looking[0]), *looking, *tree.search_arrays())


def body_records(bodies: Bodies, thread_count: int) -> NDArray[np.float64]:
    """The boxes (n, 6) around the bodies."""
    records = memory.empty((len(bodies), 6), np.float64)
    threads.over_ranges(pack_bodies, len(bodies), thread_count, bodies.spheres, records)
    return records


def _places(has_area: NDArray[np.bool_], order: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The places in an ``order`` of rows whose bodies have areas."""
    if has_area.all():
        return np.arange(len(has_area), dtype=np.uint32)
    return np.flatnonzero(has_area[order]).astype(np.uint32)


def _is_crowded(grid: BodyGrid, looking: Looking) -> bool:
    """Whether a few owners, spread over the order, meet many more bodies in their cells than in their areas."""
    places, reach, slack, is_box = looking
    sample = places[:: max(1, len(places) // SAMPLES)].copy()
    chunk: Keys = np.empty(1 << 16, np.uint64)
    unit = found = tests = 0
    while unit < len(sample):
        arrays = (sample, reach, slack, is_box, *grid.search_arrays())
        following, count, tested = emit_from_cells(unit, len(sample), chunk, *arrays)
        found, tests = found + count, tests + tested
        if following == unit:
            chunk = np.empty(2 * len(chunk), np.uint64)
        unit = following
    return tests > WASTE_MOST * (found + GRANTED * len(sample))
