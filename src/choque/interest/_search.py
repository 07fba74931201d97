"""Which bodies lie near which area: searched in cells, or in a tree where cells would be crowded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core import memory, threads
from choque._core.kernel import kernel
from choque._core.types import Keys, Pairs, Rows
from choque.broad import Sink
from choque.interest._bodies import Bodies
from choque.interest._body_grid import BodyGrid, make_body_grid
from choque.interest._body_tree import BodyTree, make_body_tree
from choque.interest._emission import emit_members
from choque.interest._together import STRETCH
from choque.interest._touch import pack_bodies

WASTE_MOST = 12.0
"""Cells that take more tests than this for a member found, a few granted to every area, are given up for a tree."""

GRANTED = 16

SAMPLES = 16
"""So many times as many neighbours are searched to see whether cells are crowded."""


@dataclass(frozen=True)
class Lookout:
    """The bodies that have areas, in the order of a search structure.

    Attributes
    ----------
    places
        (k,) uint32: the place of each in that order.
    owners
        (k,) uint32: its row.
    reach
        (k,) float64: the radius of its area. What a search reads and writes for each owner lies side by side: in the
        order of the rows it would be all over the memory.
    """

    places: NDArray[np.uint32]
    owners: NDArray[np.uint32]
    reach: NDArray[np.float64]

    @property
    def stretch_count(self) -> int:
        """How many units of work they are."""
        return -(-len(self.places) // STRETCH)


def search(bodies: Bodies, slack: float, is_box: bool, thread_count: int) -> tuple[Pairs, Rows, int]:
    """Find all bodies that touch an area with ``slack`` around it.

    Returns
    -------
    near
        (m, 2) int32, sorted: (owner, other) rows.
    starts
        (n + 1,) int64: where the others of each owner start.
    tests
        How many tests it took.
    """
    starts: Rows = np.zeros(len(bodies) + 1, np.int64)
    sink = Sink(8 * len(bodies), thread_count, None)
    if (bodies.reach >= 0).any():
        records = body_records(bodies, thread_count)
        grid = make_body_grid(bodies.spheres, records, thread_count)
        structure: BodyGrid | BodyTree = grid
        lookout = _lookout(bodies, grid.rows)
        if _is_crowded(grid, lookout, slack, is_box):
            structure = make_body_tree(bodies.spheres, records, thread_count)
            lookout = _lookout(bodies, structure.rows)
        sizes = np.empty(len(lookout.places), np.int64)
        arrays = (lookout.places, lookout.reach, slack, is_box, sizes, *structure.search_arrays())
        sink.run(emit_members, lookout.stretch_count, *arrays)
        starts[lookout.owners.astype(np.int64) + 1] = sizes
    np.cumsum(starts, out=starts)
    near: Pairs = memory.empty((int(starts[-1]), 2), np.int32)
    _place_all(sink.chunks, thread_count, starts, near)
    return near, starts, sink.tests


def body_records(bodies: Bodies, thread_count: int) -> NDArray[np.float64]:
    """The boxes (n, 6) around the bodies."""
    records = memory.empty((len(bodies), 6), np.float64)
    threads.over_ranges(pack_bodies, len(bodies), thread_count, bodies.spheres, records)
    return records


def _lookout(bodies: Bodies, order: NDArray[np.uint32]) -> Lookout:
    """Who has an area, in an ``order`` of all rows."""
    reach = bodies.reach[order]
    if reach.min() >= 0:
        return Lookout(np.arange(len(order), dtype=np.uint32), order, reach)
    places = np.flatnonzero(reach >= 0).astype(np.uint32)
    return Lookout(places, order[places], reach[places])


def _is_crowded(grid: BodyGrid, lookout: Lookout, slack: float, is_box: bool) -> bool:
    """Whether a few owners, spread over the order, meet many more bodies in their cells than in their areas."""
    count = len(lookout.places)
    heads = np.arange(SAMPLES) * max(0, count - SAMPLES) // SAMPLES
    chosen = np.unique(np.minimum(heads[:, None] + np.arange(SAMPLES), count - 1))
    sample = Lookout(lookout.places[chosen], lookout.owners[chosen], lookout.reach[chosen])
    sink = Sink(len(chosen), 1, None, keep=False)
    sizes = np.empty(len(chosen), np.int64)
    arrays = (sample.places, sample.reach, slack, is_box, sizes, *grid.search_arrays())
    sink.run(emit_members, sample.stretch_count, *arrays)
    return sink.tests > WASTE_MOST * (sink.pair_count + GRANTED * len(chosen))


def _place_all(chunks: list[Keys], thread_count: int, *arrays: Any) -> None:
    """Put the keys of all chunks in the order of the owners; they hold different ones, so no two threads meet."""
    draw = threads.block_supply(len(chunks), 1)

    def work(_: int) -> None:
        while (span := draw()) is not None:
            _place(chunks[span[0]], *arrays)

    threads.run(work, max(1, min(threads.streams(thread_count, sum(chunk.size for chunk in chunks)), len(chunks))))


@kernel
def _place(chunk: Keys, starts: Rows, near: Pairs) -> None:
    """Copy keys that come owner by owner, ascending within each, to where the owners' rows start."""
    k = 0
    while k < chunk.size:
        owner = np.int64(chunk[k] >> np.uint64(32))
        group = near[starts[owner] : starts[owner + 1]]
        keys = chunk[k : k + group.shape[0]]
        for place in range(keys.size):
            group[place, 0] = owner
            group[place, 1] = np.int32(keys[place] & np.uint64(0xFFFFFFFF))
        k += keys.size
