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

Looking: TypeAlias = tuple[NDArray[np.uint32], NDArray[np.float64], NDArray[np.float64], float, bool]
"""Owners, their spheres (o, 4), their reach (o,), the slack, and whether areas are boxes."""


def emit_near(sink: Sink, bodies: Bodies, slack: float, is_box: bool) -> None:
    """Write (owner, other) for every body that touches an area with ``slack`` around it, owner by owner.

    The owners come in an order in which neighbours are near in space, so that they find the same bodies in the cache.
    """
    if not (bodies.reach >= 0).any():
        return
    records = body_records(bodies, sink.thread_count)
    grid = make_body_grid(bodies.spheres, records, sink.thread_count)
    looking = _looking(bodies, grid.rows, grid.placed, slack, is_box)
    if not _is_crowded(grid, looking):
        sink.run(emit_from_cells, len(looking[0]), *looking, *grid.search_arrays())
        return
    tree = make_body_tree(bodies.spheres, records, sink.thread_count)
    looking = _looking(bodies, tree.tree.rows, bodies.spheres[tree.tree.rows], slack, is_box)
    sink.run(emit_from_tree, len(looking[0]), *looking, *tree.search_arrays())


def body_records(bodies: Bodies, thread_count: int) -> NDArray[np.float64]:
    """The boxes (n, 6) around the bodies."""
    records = memory.empty((len(bodies), 6), np.float64)
    threads.over_ranges(pack_bodies, len(bodies), thread_count, bodies.spheres, records)
    return records


def _looking(
    bodies: Bodies, order: NDArray[np.uint32], placed: NDArray[np.float64], slack: float, is_box: bool
) -> Looking:
    """What both searches take first: the owners among ``placed``, the spheres in this ``order``, and how they look."""
    reach = bodies.reach[order]
    has_area = reach >= 0
    if has_area.all():
        return order, placed, reach, slack, is_box
    return order[has_area], placed[has_area], reach[has_area], slack, is_box


def _is_crowded(grid: BodyGrid, looking: Looking) -> bool:
    """Whether a few owners, spread over the order, meet many more bodies in their cells than in their areas."""
    owners, spheres, reach, slack, is_box = looking
    stride = max(1, len(owners) // SAMPLES)
    sample = owners[::stride].copy()
    arrays = (sample, spheres[::stride].copy(), reach[::stride].copy(), slack, is_box, *grid.search_arrays())
    chunk: Keys = np.empty(1 << 16, np.uint64)
    unit = found = tests = 0
    while unit < len(sample):
        following, count, tested = emit_from_cells(unit, len(sample), chunk, *arrays)
        found, tests = found + count, tests + tested
        if following == unit:
            chunk = np.empty(2 * len(chunk), np.uint64)
        unit = following
    return tests > WASTE_MOST * (found + GRANTED * len(sample))
