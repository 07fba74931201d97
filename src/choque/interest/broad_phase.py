"""Area of interest partitioning: each body looks around itself for those that come near."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from choque._core.emission import Sink
from choque._core.kernel import kernel
from choque._core.morton import morton_order
from choque._core.pair_sets import Change
from choque._core.records import boxes_meet, pack_records
from choque._core.rounding import narrow_down, narrow_up
from choque._core.tree import Tree, make_tree
from choque._core.tree_pairs import mark_hits
from choque._core.types import Floats, Integer, Keys, Pairs
from choque.bounds import Bounds, Spheres
from choque.broad import find
from choque.broad.index import BoxTable, Index
from choque.broad.structure import Structure, blocks_of
from choque.errors import InvalidInput, UnknownName
from choque.interest._body_index import find_leaves
from choque.interest._crowd_sweep import CrowdSweep
from choque.theses.interest.repeated_pairs import distinct_by_scan, emit_all, emit_keys

SHAPES = ("box", "sphere")

FEW_UP_TO = 5_000
"""Up to here cells are the fastest search of like bodies and a sweep of mixed ones; beyond, a method is chosen."""

CELLS_FROM = 1_200
"""Fewer bodies than this are swept, whatever their sizes: making cells takes longer than finding the pairs."""

ALIKE = 4.0
"""Bodies whose sizes differ by less than this factor share one grid."""


class Interest(Index):
    """Gives every moving body an area around it and pairs it with whatever touches that area.

    Parameters
    ----------
    k
        How many times larger than its body an area is, at least 1. Bodies i and j are a pair when the area of one
        touches the other: for spheres, when their distance is at most r_min + k · r_max.
    shape
        "box": areas are the boxes around the bodies, enlarged about their centres. "sphere": areas and bodies are
        spheres, those given, or as wide as the longest edge of the boxes given. None: spheres for
        `choque.bounds.Spheres`, boxes for everything else.
    static_areas
        True: static bodies have areas too.
    legacy
        True: every area is tested against every body and every pair found is searched in the list of those before
        it, as in the thesis that named the method. The same pairs, in quadratic time.

    Notes
    -----
    Guarantees: with k = 1 exact, by boxes or by the spheres given, both topologies; with a larger k it contains that,
    and the pairs of a smaller k are among those of a larger one. A body that is static has no area, so it is met only
    by the areas of moving ones. With k = 1 an area is its body, seeing is mutual, and the search is that of ``grid``,
    ``sap-direct`` or ``auto``. With a larger k areas are searched in a wide tree over the bodies, rebuilt at each
    change; a pair that both areas see is written once, by the body with the smaller row. O(n log n + m) time for bodies
    of any mixture of sizes, O(n) memory beside the answer. L. M. Fraga, master's dissertation, Instituto Militar de
    Engenharia, 2009.
    """

    name: ClassVar[str] = "interest"
    keeps_bounds: ClassVar[bool] = True

    k: float
    shape: str | None
    static_areas: bool
    legacy: bool
    _volumes: Floats

    def __init__(
        self,
        *,
        k: float = 1.0,
        shape: Literal["box", "sphere"] | None = None,
        static_areas: bool = False,
        legacy: bool = False,
    ) -> None:
        if isinstance(k, bool) or not isinstance(k, Real) or not (k >= 1 and math.isfinite(k)):
            raise InvalidInput(f"k is {k!r}; it must be a finite number of at least 1, or pairs would be missed.")
        if shape is not None and shape not in SHAPES:
            raise UnknownName("shape of an area", str(shape), SHAPES)
        for name, value in (("static_areas", static_areas), ("legacy", legacy)):
            if not isinstance(value, bool | np.bool_):
                raise InvalidInput(f"{name} is {value!r}; it must be True or False.")
        self.k = float(k)
        self.shape = shape
        self.static_areas = bool(static_areas)
        self.legacy = bool(legacy)

    def build(self) -> None:
        """Make the areas, and what searches them."""
        self._look()
        self._mutual: Index | None = None
        self._tree: Tree | None = None
        if self.legacy:
            return
        if self.k == 1:
            self._mutual = self._mutual_method().over(self._volume_table())
            self.counters.note_bytes(self._mutual.counters.peak_bytes)
        else:
            thread_count = self.thread_count()
            self._tree = make_tree(self._volumes, morton_order(self._volumes, thread_count), thread_count)
            self.note_bytes(self._tree.nbytes)

    def update(self, previous: Floats) -> Change | None:
        """Make the areas again; a method that finds bodies that touch follows them."""
        if self._mutual is None or self._mutual.name == "auto":
            return super().update(previous)
        self._look()
        self._mutual, _ = self._mutual.after(self._volume_table())
        return None

    def _volume_table(self) -> BoxTable:
        """Return the volumes of the bodies as the index inside sees them; filters are applied outside."""
        return BoxTable(self._volumes, self.table.dimension, self.table.closed, self.table.threads)

    def _look(self) -> None:
        """Compute the volumes and the areas of the present bodies."""
        shape = self.shape or ("sphere" if isinstance(self.table.bounds, Spheres) else "box")
        self._spheres = _spheres_of(self.table.bounds) if shape == "sphere" else None
        self._volumes = self.records
        if self._spheres is not None and not isinstance(self.table.bounds, Spheres):
            self._volumes = pack_records(self._spheres.boxes(), self.table.closed, self.thread_count())
        self._areas = _enlarged(self._volumes, self.k, self.table.closed)
        self._has_area = np.ones(len(self), np.bool_)
        if self.table.pair_filter is not None and not self.static_areas:
            self._has_area = ~self.table.pair_filter.static

    def _mutual_method(self) -> Index:
        """Return the index that finds bodies that touch each other."""
        if len(self) > FEW_UP_TO:
            return find("auto")()
        if len(self) < CELLS_FROM:
            return CrowdSweep()
        with np.errstate(invalid="ignore", over="ignore"):  # infinite boxes are like no others
            edges = (self._volumes[:, 3:] - self._volumes[:, :3]).max(axis=1, initial=0.0)
        return find("grid")() if edges.max(initial=0.0) <= ALIKE * edges.min(initial=np.inf) else CrowdSweep()

    def structure(self) -> Structure:
        """Return the tree over the bodies, or with k = 1 what the method that finds bodies that touch has built."""
        if self._tree is not None:
            return blocks_of(self.name, self._tree, self.table.dimension)
        return Structure(self.name) if self._mutual is None else self._mutual.structure()

    def emit(self, sink: Sink) -> None:
        """Write the pairs whose boxes see each other."""
        if self._mutual is not None:
            self._mutual.emit(sink)
        elif self._tree is not None:
            tree = self._tree
            arrays = (self._areas, self._volumes, self._has_area, tree.lanes, tree.rows, tree.level_first)
            sink.run(_emit_areas, len(self), *arrays)
        else:
            self._emit_legacy(sink)

    def pairs(self) -> Pairs:
        """Return the pairs of which one sees the other, by spheres where areas are spheres."""
        found = super().pairs()
        if self._spheres is None or not len(found):
            return found
        self.counters.tests += len(found)
        areas, bodies = Spheres(self._spheres.center, self._sphere_reach()), self._spheres
        sees = areas.overlap(found, bodies, closed=self.table.closed, threads=self.table.threads)
        seen = bodies.overlap(found, areas, closed=self.table.closed, threads=self.table.threads)
        return found[sees | seen]

    def _sphere_reach(self) -> Floats:
        """The radius of each area of spheres; a body without one reaches as far as itself."""
        assert self._spheres is not None
        reach: Floats = self._spheres.radius * np.where(self._has_area, self.k, 1.0)
        return reach

    def _emit_legacy(self, sink: Sink) -> None:
        centers: Floats = np.empty((0, 3))
        radius: Floats = np.empty(0)
        reach: Floats = np.empty(0)
        if self._spheres is not None:
            centers, radius, reach = self._spheres.center, self._spheres.radius, self._sphere_reach()
        raw = Sink(len(self), 1, None)
        raw.run(emit_all, len(self), self._areas, self._volumes, self._has_area, centers, radius, reach)
        keys = np.concatenate([np.empty(0, np.uint64), *raw.chunks])
        distinct = distinct_by_scan(keys)
        self.counters.duplicates += len(keys) - len(distinct)
        sink.tests += raw.tests
        sink.run(emit_keys, len(distinct), distinct)


def _enlarged(records: Floats, k: float, closed: bool) -> Floats:
    """The boxes of the areas: ``records`` enlarged ``k`` times about their centres; monotone in k when rounded too."""
    if k == 1:
        return records
    number = records.dtype.type
    lower, upper = records[:, :3], records[:, 3:]
    is_empty = lower > upper  # a half-open box of no size, which stays one
    with np.errstate(invalid="ignore", over="ignore"):
        if not closed:
            upper = np.nextafter(upper, number(np.inf))
        low, high = lower.astype(np.float64), upper.astype(np.float64)
        margin = np.fmax((0.5 * high - 0.5 * low) * (k - 1), 0.0)  # not a number where infinity is its own end
        lower, upper = narrow_down(low - margin, records.dtype), narrow_up(high + margin, records.dtype)
        if not closed:
            upper = np.nextafter(upper, number(-np.inf))
    around: Floats = np.concatenate((lower, upper), axis=1)
    return np.where(np.concatenate((is_empty, is_empty), axis=1), records, around)


def _spheres_of(bounds: Bounds | None) -> Spheres:
    """The spheres given, or those as wide as the longest edges of the boxes given, in float64."""
    assert bounds is not None
    if isinstance(bounds, Spheres):
        return Spheres(bounds.center.astype(np.float64), bounds.radius.astype(np.float64))
    boxes = bounds.boxes()
    lower, upper = boxes.lower.astype(np.float64), boxes.upper.astype(np.float64)
    with np.errstate(invalid="ignore"):  # an infinite box has no centre, which Spheres says
        center = 0.5 * lower + 0.5 * upper
        radius = (0.5 * upper - 0.5 * lower).max(axis=1, initial=0.0)
    return Spheres(center, radius)


@kernel
def _emit_areas(
    first: int,
    last: int,
    chunk: Keys,
    areas: Any,
    volumes: Any,
    has_area: NDArray[np.bool_],
    lanes: Any,
    rows: NDArray[np.uint32],
    level_first: NDArray[np.int64],
) -> tuple[int, int, int]:
    """Emission kernel; a unit is a place on the curve, whose body's area is compared with all volumes."""
    stack = np.empty(16 * level_first.size, np.int64)
    mask = np.empty(16, np.uint8)
    found = np.empty((rows.size + 15) // 16, np.int64)
    written: Integer = 0
    tests = 0
    for unit in range(first, last):
        i = np.int64(rows[unit])
        if not has_area[i]:
            continue
        found_count = find_leaves(areas[i], lanes, level_first, stack, mask, found)
        if written + 16 * found_count > chunk.size:
            return unit, written, tests
        tests += 16 * found_count
        x0, y0, z0, x1, y1, z1 = areas[i, 0], areas[i, 1], areas[i, 2], areas[i, 3], areas[i, 4], areas[i, 5]
        for k in range(found_count):
            block = found[k]
            mark_hits(lanes, block, x0, y0, z0, x1, y1, z1, mask)
            for lane in range(16):
                if mask[lane]:
                    j = np.int64(rows[block * 16 + lane])
                    key = (np.uint64(min(i, j)) << np.uint64(32)) | np.uint64(max(i, j))
                    chunk[written] = key
                    # What both see is written by the smaller row.
                    written += i < j or (i > j and not (has_area[j] and boxes_meet(areas, j, volumes, i)))
    return last, written, tests
