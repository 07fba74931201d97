"""The Extreme Vertices Model: an object on the integer lattice as its sorted extreme vertices."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque.errors import InvalidInput, UnknownName
from choque.theses.evm.sweep import sweep_collides
from choque.theses.evm.trie import Trie
from choque.volumes._boolean import SweepCounters, combine_keys
from choque.volumes._box_tree import BoxTree, box_tree
from choque.volumes._bundles import bundled
from choque.volumes._keys import (
    AXES,
    BITS,
    LIMIT,
    Points,
    VertexKeys,
    check_order,
    pack,
    packed_shift,
    reorder,
    unpack,
)
from choque.volumes._lattice import FARTHEST, check_cells
from choque.volumes._merge import xor_keys
from choque.volumes._sections import Sections, keys_from_boxes, open_sections
from choque.volumes._validity import check_vertices
from choque.volumes._voxels import extruded, keys_from_mask, paint

LatticePoint: TypeAlias = tuple[int, ...]

LAYOUTS = ("sorted", "trie")


class ExtremeVertices:
    """An object on the integer lattice, of one, two or three dimensions, as its extreme vertices.

    A lattice point is extreme when an odd number of the cells around it is full. The set of them says everything about
    the object, is usually a few percent of its voxels, and is closed under all that follows. Objects are never changed;
    what a method returns may share arrays with what it was called on.

    Guarantees: exact integer arithmetic; any topology (cavities, edges and corners where cells touch); the same object
    in the same order always has the same vertices in the same sequence. Up to 2²¹ − 1 cells along each axis.

    Make one with `from_mask`, `from_points` or `from_boxes`. (Aguilera, Orthogonal Polyhedra: Study and Application,
    1998.)
    """

    def __init__(
        self,
        keys: VertexKeys,
        order: str,
        offset: LatticePoint,
        layout: str = "sorted",
        kept: dict[str, Any] | None = None,
    ) -> None:
        self._keys = keys
        self.order = order
        self.offset = offset
        self.layout = layout
        # Sections and tries are relative to the offset, so all translations of an object share them.
        self._kept: dict[str, Any] = {} if kept is None else kept

    # How one is made

    @classmethod
    def from_mask(
        cls, mask: ArrayLike, *, offset: LatticePoint | None = None, layout: str = "sorted"
    ) -> ExtremeVertices:
        """The object of the full cells of a mask with one to three axes x, y, z; cell 0 lies at ``offset``."""
        cells = np.asarray(mask)
        if not 1 <= cells.ndim <= 3:
            raise InvalidInput(f"The mask has {cells.ndim} axes; a mask has one, two or three: x, y, z.")
        if cells.dtype.kind not in "biu":
            raise InvalidInput(f"The mask has type {cells.dtype}; give true and false, for example values > threshold.")
        if max(cells.shape) >= LIMIT:
            raise InvalidInput(f"The mask has shape {cells.shape}; at most {LIMIT - 1:,} cells fit along an axis.")
        keys = keys_from_mask(cells != 0)
        return cls(keys, AXES[: cells.ndim], offset or (0,) * cells.ndim, check_layout(layout))

    @classmethod
    def from_points(cls, points: ArrayLike, *, order: str | None = None, layout: str = "sorted") -> ExtremeVertices:
        """The object whose extreme vertices are ``points`` (n, d), in any sequence; refused if they bound nothing."""
        given = np.asarray(points)
        if given.ndim != 2 or not 1 <= given.shape[1] <= 3:
            raise InvalidInput(
                f"The vertices have shape {given.shape}; give one row for each, with one to three columns."
            )
        if given.dtype.kind not in "iu":
            rounded = np.rint(given) if given.dtype.kind == "f" else given
            if given.dtype.kind != "f" or not np.array_equal(rounded, given):
                raise InvalidInput(f"The vertices have type {given.dtype}; lattice points are whole numbers.")
            given = rounded
        lattice = given.astype(np.int64)
        offset = lattice.min(axis=0) if len(lattice) else np.zeros(lattice.shape[1], np.int64)
        order = check_order(order or AXES[: lattice.shape[1]], lattice.shape[1])
        keys = np.sort(pack(lattice - offset, order))
        check_vertices(keys, order)
        return cls(keys, order, _as_tuple(offset), check_layout(layout))

    @classmethod
    def from_boxes(
        cls, lower: Points, upper: Points, *, order: str | None = None, layout: str = "sorted"
    ) -> ExtremeVertices:
        """The union of disjoint boxes of whole cells; corners (n, d), columns x, y, z."""
        dimension = lower.shape[1]
        order = check_order(order or AXES[:dimension], dimension)
        offset = lower.min(axis=0) if len(lower) else np.zeros(dimension, np.int64)
        return cls(
            keys_from_boxes(lower - offset, upper - offset, order), order, _as_tuple(offset), check_layout(layout)
        )

    def _alike(self, keys: VertexKeys, order: str, offset: LatticePoint) -> ExtremeVertices:
        return ExtremeVertices(keys, order, offset, self.layout)

    # What it is

    def __len__(self) -> int:
        return len(self._keys)

    def __repr__(self) -> str:
        return f"<ExtremeVertices: {len(self)} vertices in {self.dimension}D, order {self.order}, {self.layout}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ExtremeVertices) or other.dimension != self.dimension:
            return NotImplemented
        if len(self) != len(other):
            return False
        left, right, _ = self.together(other)
        return bool(np.array_equal(left, right))

    __hash__ = None  # type: ignore[assignment]

    @property
    def dimension(self) -> int:
        """1, 2 or 3."""
        return len(self.order)

    def is_empty(self) -> bool:
        """Whether there is nothing."""
        return len(self._keys) == 0

    @property
    def points(self) -> Points:
        """The extreme vertices (n, d), columns x, y, z, rows sorted by the order of the model."""
        return unpack(self._keys, self.order) + np.array(self.offset, np.int64)

    @property
    def byte_count(self) -> int:
        """What the vertices hold in their layout [bytes]; kept sections are in `kept_byte_count`."""
        return self._trie.byte_count if self.layout == "trie" else self._keys.nbytes

    @property
    def kept_byte_count(self) -> int:
        """What is kept beside the vertices to answer faster [bytes]."""
        return sum(value.byte_count for value in self._kept.values() if isinstance(value, Sections))

    @property
    def bounds(self) -> tuple[LatticePoint, LatticePoint]:
        """The lowest and highest lattice point of the box around it; both the offset when empty."""
        lowest, highest = self.extent
        return (
            tuple(low + shift for low, shift in zip(lowest, self.offset, strict=True)),
            tuple(high + shift for high, shift in zip(highest, self.offset, strict=True)),
        )

    @property
    def extent(self) -> tuple[LatticePoint, LatticePoint]:
        """The lowest and the highest vertex, without the offset: equal, at 0, where there are none."""
        if "extent" not in self._kept:
            if self.is_empty():
                self._kept["extent"] = ((0,) * self.dimension,) * 2
            else:
                points = unpack(self._keys, self.order)
                self._kept["extent"] = (_as_tuple(points.min(axis=0)), _as_tuple(points.max(axis=0)))
        extent: tuple[LatticePoint, LatticePoint] = self._kept["extent"]
        return extent

    # Other forms of the same object

    def reordered(self, order: str) -> ExtremeVertices:
        """The same object sorted in another of the orders."""
        order = check_order(order, self.dimension)
        if order == self.order:
            return self
        return self._alike(reorder(self._keys, self.order, order), order, self.offset)

    def mask(self, lower: LatticePoint | None = None, upper: LatticePoint | None = None) -> NDArray[np.bool_]:
        """The cells between two lattice points (default: the box around it) as a mask with axes x, y, z."""
        start, stop = self.bounds
        lower = start if lower is None else _lattice_point(lower, "lower corner", self.dimension)
        upper = stop if upper is None else _lattice_point(upper, "upper corner", self.dimension)
        shape = tuple(high - low for low, high in zip(start, stop, strict=True))
        whole = np.zeros((1,) * (3 - self.dimension) + shape, np.bool_)
        flat = tuple(axis + 3 - self.dimension for axis in (AXES.index(letter) for letter in self.order))
        if not self.is_empty():
            axes = tuple(range(3 - self.dimension)) + flat
            lowest = packed_shift(self.extent[0], self.order)
            paint(open_sections(extruded(self._keys - lowest, self.dimension)), whole.transpose(axes))
        if (lower, upper) == (start, stop):
            return whole.reshape(shape)
        sizes = tuple(max(0, high - low) for low, high in zip(lower, upper, strict=True))
        check_cells(sizes, "The mask")
        window = np.zeros(sizes, np.bool_)
        source, target = [], []
        for low, high, first, last in zip(lower, upper, start, stop, strict=True):
            begin, end = max(low, first), max(max(low, first), min(high, last))
            source.append(slice(begin - first, end - first))
            target.append(slice(begin - low, end - low))
        window[tuple(target)] = whole.reshape(shape)[tuple(source)]
        return window

    def sections(self, order: str | None = None) -> Sections:
        """The sections opened down to runs, relative to `offset`, and kept; flat objects get a thickness."""
        order = order or self.order
        if order not in self._kept:
            self._kept[order] = open_sections(extruded(reorder(self._keys, self.order, order), self.dimension))
        kept: Sections = self._kept[order]
        return kept

    def keeps_sections(self, order: str) -> bool:
        """Whether `sections` of an order are there already."""
        return order in self._kept

    def bundles(self, order: str) -> Sections:
        """The sections of an order in bundles of two by two, kept beside them."""
        name = f"bundles-{order}"
        if name not in self._kept:
            self._kept[name] = bundled(self.sections(order))
        kept: Sections = self._kept[name]
        return kept

    def boxes(self, order: str | None = None) -> tuple[Points, Points]:
        """Disjoint boxes that fill the object, in the given order: corners (n, d), columns x, y, z."""
        order = check_order(order or self.order, self.dimension)
        columns = [order.index(axis) + 3 - self.dimension for axis in AXES[: self.dimension]]
        lower, upper = self.sections(order).boxes()
        offset = np.array(self.offset, np.int64)
        return lower[:, columns] + offset, upper[:, columns] + offset

    def box_tree(self) -> BoxTree:
        """A tree over `boxes`, relative to `offset`, and kept."""
        if "tree" not in self._kept:
            lower, upper = self.boxes()
            self._kept["tree"] = box_tree(lower - self.offset, upper - self.offset)
        tree: BoxTree = self._kept["tree"]
        return tree

    @cached_property
    def _trie(self) -> Trie:
        if self.dimension != 3:
            raise InvalidInput(f"The trie layout is for solids; this object has {self.dimension} dimensions.")
        if "trie" not in self._kept:
            self._kept["trie"] = Trie.from_keys(self._keys)
        trie: Trie = self._kept["trie"]
        return trie

    # Planes, sections, faces

    def planes(self) -> Iterator[tuple[int, ExtremeVertices]]:
        """The planes of vertices along the first axis of the order: its coordinate, and the rest as a flat object.

        The flat object calls its axes x and y, in the order in which they follow here.
        """
        self._require_more_than_one_dimension()
        first = AXES.index(self.order[0])
        offset = tuple(self.offset[AXES.index(axis)] for axis in self.order[1:])
        level = BITS * (self.dimension - 1)
        coordinates = self._keys >> level
        starts = np.flatnonzero(np.diff(coordinates, prepend=-1))
        for start, stop in zip(starts, np.append(starts[1:], len(self)), strict=False):
            flat = self._keys[start:stop] & ((1 << level) - 1)
            yield (
                int(coordinates[start]) + self.offset[first],
                ExtremeVertices(flat, AXES[: self.dimension - 1], offset),
            )

    def slices(self) -> Iterator[tuple[int, int, ExtremeVertices]]:
        """Between which two planes along the first axis lies which section: the first and the last plane, the section.

        Each section is the one before it XOR the plane between them.
        """
        section: ExtremeVertices | None = None
        start = 0
        for coordinate, plane in self.planes():
            if section is not None:
                yield start, coordinate, section
            section = plane if section is None else section ^ plane
            start = coordinate

    def faces(self) -> Iterator[tuple[int, ExtremeVertices, ExtremeVertices]]:
        """At each plane along the first axis: its coordinate, the faces that look up the axis, those that look down.

        With S the section before the plane and T the one after it, these are S − T (forward) and T − S (backward).
        """
        section: ExtremeVertices | None = None
        for coordinate, plane in self.planes():
            following = plane if section is None else section ^ plane
            before = plane._alike(plane._keys[:0], plane.order, plane.offset) if section is None else section
            yield coordinate, before - following, following - before
            section = following

    # Booleans and collision

    def combine(
        self,
        other: ExtremeVertices,
        operation: str,
        *,
        improve: bool = True,
        counters: SweepCounters | None = None,
    ) -> ExtremeVertices:
        """The regularised ``union``, ``intersection``, ``difference`` or ``xor``; sorted as this object is."""
        left, right, offset = self.together(other)
        if self.layout == "trie" and self.dimension == 3:
            keys = Trie.from_keys(left).combine(Trie.from_keys(right), operation).keys()
        else:
            keys = combine_keys(left, right, self.dimension, operation, improve=improve, counters=counters)
        return self._alike(keys, self.order, offset)

    def __and__(self, other: ExtremeVertices) -> ExtremeVertices:
        return self.combine(other, "intersection")

    def __or__(self, other: ExtremeVertices) -> ExtremeVertices:
        return self.combine(other, "union")

    def __sub__(self, other: ExtremeVertices) -> ExtremeVertices:
        return self.combine(other, "difference")

    def __xor__(self, other: ExtremeVertices) -> ExtremeVertices:
        if self.layout == "trie":
            return self.combine(other, "xor")
        left, right, offset = self.together(other)
        return self._alike(xor_keys(left, right), self.order, offset)

    def collides(self, other: ExtremeVertices, *, improve: bool = True, counters: SweepCounters | None = None) -> bool:
        """Whether the interiors meet, by the sweep over the vertices alone: nothing is kept for a second question."""
        left, right, _ = self.together(other)
        if self.layout == "trie" and self.dimension == 3:
            if self.offset == other.offset and self.order == other.order:
                return self._trie.collides(other._trie)
            return Trie.from_keys(left).collides(Trie.from_keys(right))
        return sweep_collides(left, right, self.dimension, improve=improve, counters=counters)

    def together(self, other: ExtremeVertices) -> tuple[VertexKeys, VertexKeys, LatticePoint]:
        """Both lists of keys from a common offset, in the order of this object, and that offset."""
        if other.dimension != self.dimension:
            raise InvalidInput(
                f"One object has {self.dimension} dimensions and the other {other.dimension}; they must be alike."
            )
        right = reorder(other._keys, other.order, self.order)
        if self.offset == other.offset or other.is_empty():
            return self._keys, right, self.offset
        if self.is_empty():
            return self._keys, right, other.offset
        offset = tuple(map(min, self.offset, other.offset))
        return self._from_offset(self, self._keys, offset), self._from_offset(other, right, offset), offset

    def _from_offset(self, model: ExtremeVertices, keys: VertexKeys, offset: LatticePoint) -> VertexKeys:
        shift = tuple(own - common for own, common in zip(model.offset, offset, strict=True))
        if max(high + step for high, step in zip(model.extent[1], shift, strict=True)) >= LIMIT:
            raise InvalidInput(
                f"The objects lie {max(shift):,} voxels apart; together they may span at most {LIMIT - 1:,}."
            )
        return keys + packed_shift(shift, self.order) if any(shift) else keys

    # Exact motions

    def moved(self, shift: LatticePoint) -> ExtremeVertices:
        """Translated by whole cells: nothing is copied, everything kept is shared."""
        offset = tuple(own + step for own, step in zip(self.offset, shift, strict=True))
        if not -FARTHEST <= min(offset) <= max(offset) <= FARTHEST:
            raise InvalidInput(f"An object would start at voxel {offset}; a lattice reaches to ±2⁵³ along each axis.")
        return ExtremeVertices(self._keys, self.order, offset, self.layout, self._kept)

    def with_axes(self, permutation: str, mirrored: str = "") -> ExtremeVertices:
        """Axes exchanged, then mirrored at 0: new x, y, z are the named old axes; those in ``mirrored`` are negated."""
        columns = [AXES.index(axis) for axis in check_order(permutation, self.dimension)]
        points = self.points[:, columns]
        for axis in mirrored:
            points[:, AXES.index(axis)] *= -1
        return self._from_valid(points)

    def scaled(self, factors: int | LatticePoint) -> ExtremeVertices:
        """Enlarged by whole positive factors along x, y, z, or by one along all."""
        try:
            each = np.broadcast_to(np.asarray(factors, np.float64), (self.dimension,))
        except (TypeError, ValueError):
            each = np.zeros(self.dimension)
        if not ((each >= 1) & (each == np.rint(each))).all():
            raise InvalidInput(
                f"The factors are {factors!r}; a lattice is enlarged by whole numbers of at least 1, one for all axes "
                "or one for each."
            )
        return self._from_valid(self.points * np.minimum(each, LIMIT).astype(np.int64))  # more would fit nowhere

    def _from_valid(self, points: Points) -> ExtremeVertices:
        offset = points.min(axis=0) if len(points) else np.zeros(self.dimension, np.int64)
        return self._alike(np.sort(pack(points - offset, self.order)), self.order, _as_tuple(offset))

    def _require_more_than_one_dimension(self) -> None:
        if self.dimension == 1:
            raise InvalidInput("Intervals have no planes of vertices; they are ends of runs themselves.")


def check_layout(layout: str) -> str:
    """The layout, if there is one of that name."""
    if layout not in LAYOUTS:
        raise UnknownName("layout", str(layout), LAYOUTS)
    return layout


def _lattice_point(point: LatticePoint, name: str, dimension: int) -> LatticePoint:
    try:
        given = np.asarray(point)
    except ValueError:
        given = np.empty(0)
    if given.shape != (dimension,) or given.dtype.kind not in "iu":
        raise InvalidInput(f"The {name} is {point!r}; a lattice point is {dimension} whole numbers.")
    return _as_tuple(given)


def _as_tuple(point: NDArray[np.int64]) -> LatticePoint:
    return tuple(point.tolist())
