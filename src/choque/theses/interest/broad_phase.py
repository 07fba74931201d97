"""Area of interest partitioning: each moving body is paired with the bodies that touch the area around it."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core import check
from choque._core.emission import Sink
from choque._core.kernel import kernel
from choque._core.lanes import block_hits, lowest_bit
from choque._core.morton import morton_order
from choque._core.overlap import boxes_meet
from choque._core.pair_keys import ordered_key
from choque._core.pair_sets import Change
from choque._core.records import pack_records
from choque._core.rounding import narrow_down, narrow_up
from choque._core.tree import WIDTH, Tree, block_of, entry_of, level_of, make_tree, push_bits
from choque._core.types import Floats, Integer, Keys, Pairs
from choque.bounds import Bounds, Spheres
from choque.broad import find
from choque.broad.index import BoxTable, Index
from choque.broad.sap_direct import SapDirect
from choque.broad.structure import Structure, blocks_of
from choque.errors import InvalidInput

SHAPES = ("box", "sphere")

MAX_FEW = 5_000
"""Up to this many bodies, cells are the fastest search for bodies of similar size and a sweep for others; beyond,
``auto`` chooses."""

CELLS_FROM = 1_200
"""Fewer bodies than this are swept, for all sizes: making cells takes longer than finding the pairs."""

MAX_SIZE_RATIO = 4.0
"""Bodies whose sizes differ by less than this factor are searched in a grid."""


class Interest(Index):
    """Gives every moving body an area around it and pairs it with the bodies that touch that area.

    Parameters
    ----------
    k
        The size of an area as a multiple of that of its body, at least 1. Bodies i and j are a pair if the area of one
        touches the other: for spheres, if their distance is at most r_min + k · r_max.
    shape
        "box": areas are the boxes around the bodies, enlarged about their centers. "sphere": areas and bodies are
        spheres: those given, or as wide as the longest edge of each box. None: spheres for
        `choque.bounds.Spheres`, boxes for everything else.
    static_areas
        True: static bodies have areas too.

    Notes
    -----
    Guarantees: with k = 1 exact, by boxes or by the spheres given, both topologies; with a larger k a superset of that,
    and the pairs of a smaller k are a subset of those of a larger one. A static body has no area, so only the areas of
    moving bodies meet it. With k = 1 an area is its body, and the search is that of ``grid``, ``sap-direct`` or
    ``auto``. With a larger k areas are searched in a wide tree over the bodies, rebuilt at each change; a pair that
    both areas contain is written once, by the smaller row. O(n log n + m) time for any mixture of sizes, O(n) memory
    beside the answer.

    L. M. Fraga, master's dissertation, Instituto Militar de Engenharia, 2009.
    """

    name: ClassVar[str] = "interest"
    keeps_bounds: ClassVar[bool] = True

    volumes: Floats
    """(n, 6) the records of the bodies, by boxes or by the boxes around spheres."""
    areas: Floats
    """(n, 6) the records of the areas."""
    has_area: NDArray[np.bool_]
    """(n,) False for static bodies, unless ``static_areas``."""
    spheres: Spheres | None
    """The bodies as spheres, in float64; None if areas are boxes."""

    def __init__(
        self, *, k: float = 1.0, shape: Literal["box", "sphere"] | None = None, static_areas: bool = False
    ) -> None:
        self.k = check.number(k, "k", 1)
        self.shape = None if shape is None else check.choice(shape, "shape of an area", SHAPES)
        self.static_areas = check.boolean(static_areas, "static_areas")
        self._mutual: Index | None = None
        self._tree: Tree | None = None

    def build(self) -> None:
        """Make the areas, and the structure to search them."""
        self.make_areas()
        self._mutual = self._tree = None
        if self.k == 1:
            self._mutual = self._mutual_method().over(self._volume_table())
            self._mutual.note_bytes()
            self.counters.note_bytes(self._mutual.counters.peak_bytes)
        else:
            thread_count = self.thread_count()
            self._tree = make_tree(self.volumes, morton_order(self.volumes, thread_count), thread_count)
            self.note_bytes(self._tree.nbytes)

    def update(self, previous: Floats) -> Change | None:
        """Make the areas again; with k = 1 the method inside follows the motion."""
        if self._mutual is None or self._mutual.name == "auto":
            return super().update(previous)
        self.make_areas()
        self._mutual, _ = self._mutual.after(self._volume_table())
        return None

    def _volume_table(self) -> BoxTable:
        """Return the bodies as the method inside sees them; filters are applied outside."""
        return BoxTable(self.volumes, self.table.dimension, self.table.closed, self.table.threads)

    def make_areas(self) -> None:
        """Compute the volumes and the areas of the present bodies."""
        shape = self.shape or ("sphere" if isinstance(self.table.bounds, Spheres) else "box")
        self.spheres = _spheres_of(self.table.bounds) if shape == "sphere" else None
        self.volumes = self.records
        if self.spheres is not None and not isinstance(self.table.bounds, Spheres):
            self.volumes = pack_records(self.spheres.boxes(), self.table.closed, self.thread_count())
        self.areas = _enlarged(self.volumes, self.k, self.table.closed)
        self.has_area = np.ones(len(self), np.bool_)
        if self.table.pair_filter is not None and not self.static_areas:
            self.has_area = ~self.table.pair_filter.static

    def _mutual_method(self) -> Index:
        """Return the index that finds bodies that touch each other."""
        if len(self) > MAX_FEW:
            return find("auto")()
        if len(self) < CELLS_FROM:
            return SapDirect()
        with np.errstate(invalid="ignore", over="ignore"):  # infinite boxes have no size
            edges = (self.volumes[:, 3:] - self.volumes[:, :3]).max(axis=1, initial=0.0)
        return find("grid")() if edges.max(initial=0.0) <= MAX_SIZE_RATIO * edges.min(initial=np.inf) else SapDirect()

    def structure(self) -> Structure:
        """Return the tree over the bodies, or with k = 1 the structure of the method inside."""
        if self._tree is not None:
            return blocks_of(self.name, self._tree, self.table.dimension)
        return Structure(self.name) if self._mutual is None else self._mutual.structure()

    def emit(self, sink: Sink) -> None:
        """Write the pairs by the boxes of areas and bodies."""
        if self._mutual is not None:
            self._mutual.emit(sink)
        elif self._tree is not None:
            tree = TreeArrays(self._tree.lanes, self._tree.rows, self._tree.level_first)
            sink.run(_emit_areas, len(self), self.areas, self.volumes, self.has_area, tree)

    def pairs(self) -> Pairs:
        """Return the pairs in which the area of one touches the other, by spheres if areas are spheres."""
        found = super().pairs()
        if self.spheres is None or not len(found):
            return found
        self.counters.tests += len(found)
        areas, bodies = Spheres(self.spheres.center, self.sphere_reach()), self.spheres
        sees = areas.overlap(found, bodies, closed=self.table.closed, threads=self.table.threads)
        seen = bodies.overlap(found, areas, closed=self.table.closed, threads=self.table.threads)
        return found[sees | seen]

    def sphere_reach(self) -> Floats:
        """Return the radius (n,) of each area if areas are spheres; that of the body if it has no area."""
        assert self.spheres is not None
        reach: Floats = self.spheres.radius * np.where(self.has_area, self.k, 1.0)
        return reach


def _enlarged(records: Floats, k: float, closed: bool) -> Floats:
    """Return ``records`` enlarged ``k`` times about their centers; monotone in k, also when rounded."""
    if k == 1:
        return records
    number = records.dtype.type
    lower, upper = records[:, :3], records[:, 3:]
    is_empty = lower > upper  # a half-open box of size zero, which stays empty
    with np.errstate(invalid="ignore", over="ignore"):
        if not closed:
            upper = np.nextafter(upper, number(np.inf))
        low, high = lower.astype(np.float64), upper.astype(np.float64)
        margin = np.fmax((0.5 * high - 0.5 * low) * (k - 1), 0.0)  # NaN if both ends are infinite
        lower, upper = narrow_down(low - margin, records.dtype), narrow_up(high + margin, records.dtype)
        if not closed:
            upper = np.nextafter(upper, number(-np.inf))
    around: Floats = np.concatenate((lower, upper), axis=1)
    return np.where(np.concatenate((is_empty, is_empty), axis=1), records, around)


def _spheres_of(bounds: Bounds | None) -> Spheres:
    """Return the spheres given, or spheres as wide as the longest edge of each box, in float64."""
    assert bounds is not None
    if isinstance(bounds, Spheres):
        return Spheres(bounds.center.astype(np.float64), bounds.radius.astype(np.float64))
    boxes = bounds.boxes()
    lower, upper = boxes.lower.astype(np.float64), boxes.upper.astype(np.float64)
    with np.errstate(invalid="ignore"):  # an infinite box has no center: Spheres refuses it
        center = 0.5 * lower + 0.5 * upper
        radius = (0.5 * upper - 0.5 * lower).max(axis=1, initial=0.0)
    return Spheres(center, radius)


class TreeArrays(NamedTuple):
    """A `choque._core.tree.Tree`, as kernels take it."""

    lanes: Any
    rows: NDArray[np.uint32]
    level_first: NDArray[np.int64]


@kernel
def _emit_areas(
    first: int, last: int, chunk: Keys, areas: Any, volumes: Any, has_area: NDArray[np.bool_], tree: TreeArrays
) -> tuple[int, int, int]:
    """Emission kernel; a unit is a place on the curve, whose area is tested against the volumes."""
    lanes, rows, level_first = tree
    stack = np.empty(WIDTH * level_first.size, np.int64)
    written: Integer = 0
    tests: Integer = 0
    for unit in range(first, last):
        i = np.int64(rows[unit])
        if not has_area[i]:
            continue
        begin, tested = written, np.int64(0)
        x0, y0, z0, x1, y1, z1 = areas[i, 0], areas[i, 1], areas[i, 2], areas[i, 3], areas[i, 4], areas[i, 5]
        stack[0] = entry_of(level_first.size - 2, 0)
        depth: Integer = 1
        while depth > 0:
            depth -= 1
            level, block = level_of(stack[depth]), block_of(stack[depth])
            hits = block_hits(lanes, level_first[level] + block, x0, y0, z0, x1, y1, z1)
            if level > 0:
                depth = push_bits(stack, depth, level, block, hits)
                continue
            if written + WIDTH > chunk.size:
                return unit, begin, tests
            tested += WIDTH
            while hits != 0:
                j = np.int64(rows[block * WIDTH + lowest_bit(hits)])
                hits &= hits - 1
                chunk[written] = ordered_key(i, j)
                # A pair that both areas contain is written by the smaller row.
                written += i < j or (i > j and not (has_area[j] and boxes_meet(areas, j, volumes, i)))
        tests += tested
    return last, written, tests


def skin(radius: ArrayLike, displacement: float, frames: int) -> float:
    """Return the factor k with which areas of k times the radius serve several frames with no pair missed.

    In ``frames - 1`` steps two bodies come closer by twice that many displacements; the area of the larger of the two
    must grow by as much, so the smallest bodies decide. Neighbour lists call that distance the skin (Verlet, 1967).

    Parameters
    ----------
    radius
        The radius of every body, (n,) or one number: half the shortest edge, for boxes.
    displacement
        The largest distance that any body moves in one frame.
    frames
        The number of frames that one search must serve, its own included.

    Returns
    -------
    float
        The smallest k such that two bodies which touch in any of these frames are a pair of ``interest`` with this k
        in the first frame.

    Examples
    --------
    >>> round(skin(radius=0.5, displacement=0.01, frames=6), 6)
    1.2
    """
    sizes = np.atleast_1d(check.floats(radius, "radius")).astype(np.float64)
    if sizes.ndim != 1 or not sizes.size:
        raise InvalidInput(f"radius has the shape {sizes.shape}; it must be one number or (n,) of at least one.")
    check.not_negative(sizes, "radius")
    travel = 2.0 * check.number(displacement, "displacement", 0) * (check.whole_number(frames, "frames", 1) - 1)
    if travel == 0:
        return 1.0
    if not sizes.min() > 0:
        row = int(np.argmin(sizes))
        raise InvalidInput(f"Row {row} of radius is 0; no factor makes it larger. Use choque.interest.Skinned.")
    # A little more than the quotient, so that k times a radius is never rounded below it.
    factor = 1.0 + travel / float(sizes.min()) * (1 + 2.0**-40) + 2.0**-48
    if not math.isfinite(factor):
        raise InvalidInput(
            f"radius goes down to {sizes.min():g}, too small for a displacement of {displacement:g}. "
            "Use choque.interest.Skinned."
        )
    return factor
