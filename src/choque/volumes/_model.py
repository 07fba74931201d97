"""The Extreme Vertices Model: an object on the integer lattice as its sorted extreme vertices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from choque._core import check
from choque._core.morton import morton_order
from choque._core.tree import Tree, make_tree
from choque._core.types import I64, Bools
from choque.errors import InvalidInput
from choque.volumes._bundles import bundled
from choque.volumes._lattice import MAX_DISTANCE, check_cells
from choque.volumes._sections import Sections, extruded, keys_from_boxes, keys_from_mask, open_sections, paint
from choque.volumes.boolean import combine_keys
from choque.volumes.keys import AXES, BITS, LIMIT, Points, VertexKeys, check_order

# isort: split
from choque.volumes.keys import check_vertices, pack, packed_shift, reorder, unpack, xor_keys

LatticePoint: TypeAlias = tuple[int, ...]


@dataclass
class Cache:
    """What an object has computed for later queries, relative to its offset; all its translations share it."""

    extent: tuple[LatticePoint, LatticePoint] | None = None  # lowest and highest vertex
    sections: dict[str, Sections] = field(default_factory=dict)  # sections, by order
    bundles: dict[str, Sections] = field(default_factory=dict)  # bundles of sections, by order
    tree: Tree | None = None  # tree over the disjoint boxes

    @property
    def byte_count(self) -> int:
        """Size of all arrays [bytes]."""
        flat = sum(kept.byte_count for kept in (*self.sections.values(), *self.bundles.values()))
        return flat + (0 if self.tree is None else self.tree.nbytes)


class ExtremeVertices:
    """An object on the integer lattice, of one, two or three dimensions, as its extreme vertices.

    A lattice point is extreme when an odd number of the cells around it is full. The extreme vertices determine the
    object, are usually a few percent of its voxels, and support booleans, sections and measures directly. Objects are
    immutable; results may share arrays with the object that they come from.

    Guarantees: exact integer arithmetic; any topology (cavities, edges and corners where cells touch); the same object
    in the same order always has the same vertices in the same sequence. Up to 2²¹ − 1 cells along each axis.

    Make one with `from_mask`, `from_points` or `from_boxes`. (Aguilera, Orthogonal Polyhedra: Study and Application,
    1998.)
    """

    def __init__(self, keys: VertexKeys, order: str, offset: LatticePoint, cache: Cache | None = None) -> None:
        self._keys = keys
        self.order = order
        self.offset = offset
        self._cache = Cache() if cache is None else cache

    # Constructors

    @classmethod
    def from_mask(cls, mask: ArrayLike, *, offset: LatticePoint | None = None) -> ExtremeVertices:
        """Return the object of the full cells of a mask with one to three axes x, y, z; cell 0 lies at ``offset``."""
        cells = np.asarray(mask)
        if not 1 <= cells.ndim <= 3:
            raise InvalidInput(f"The mask has {cells.ndim} axes; a mask has one, two or three: x, y, z.")
        if cells.dtype.kind not in "biu":
            raise InvalidInput(f"The mask has type {cells.dtype}; give true and false, for example values > threshold.")
        if max(cells.shape) >= LIMIT:
            raise InvalidInput(f"The mask has shape {cells.shape}; at most {LIMIT - 1:,} cells fit along an axis.")
        keys = keys_from_mask(cells != 0)
        return cls(keys, AXES[: cells.ndim], offset or (0,) * cells.ndim)

    @classmethod
    def from_points(cls, points: ArrayLike, *, order: str | None = None) -> ExtremeVertices:
        """Return the object whose extreme vertices are ``points`` (n, d), in any sequence; they must bound a solid."""
        lattice = _lattice_points(points, "points")
        offset = lattice.min(axis=0) if len(lattice) else np.zeros(lattice.shape[1], np.int64)
        order = check_order(order or AXES[: lattice.shape[1]], lattice.shape[1])
        keys = np.sort(pack(lattice - offset, order))
        check_vertices(keys, order)
        return cls(keys, order, _as_tuple(offset))

    @classmethod
    def from_boxes(cls, lower: ArrayLike, upper: ArrayLike, *, order: str | None = None) -> ExtremeVertices:
        """Return the union of disjoint boxes of whole cells; corners (n, d), columns x, y, z.

        Where boxes overlap, an even number of them cancels out: the result is their XOR.
        """
        low, high = (_lattice_points(corner, name) for corner, name in ((lower, "lower"), (upper, "upper")))
        if low.shape != high.shape:
            raise InvalidInput(f"lower has the shape {low.shape} and upper {high.shape}; they must be the same.")
        if (low > high).any():
            raise InvalidInput("A lower corner lies above its upper corner; give lower <= upper along every axis.")
        dimension = low.shape[1]
        order = check_order(order or AXES[:dimension], dimension)
        offset = low.min(axis=0) if len(low) else np.zeros(dimension, np.int64)
        return cls(keys_from_boxes(low - offset, high - offset, order), order, _as_tuple(offset))

    # Properties

    def __len__(self) -> int:
        return len(self._keys)

    def __repr__(self) -> str:
        return f"<ExtremeVertices: {len(self)} vertices in {self.dimension}D, order {self.order}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ExtremeVertices) or other.dimension != self.dimension:
            return NotImplemented
        if len(self) != len(other) or self.bounds != other.bounds:
            return self.is_empty and other.is_empty
        left, right, _ = self.together(other)
        return bool(np.array_equal(left, right))

    __hash__ = None  # type: ignore[assignment]

    @property
    def dimension(self) -> int:
        """1, 2 or 3."""
        return len(self.order)

    @property
    def is_empty(self) -> bool:
        """Whether no cell is full."""
        return len(self._keys) == 0

    @property
    def points(self) -> Points:
        """Extreme vertices (n, d), columns x, y, z, rows sorted in the order of the model."""
        return unpack(self._keys, self.order) + np.array(self.offset, np.int64)

    @property
    def byte_count(self) -> int:
        """Size of the vertices [bytes]; `cached_byte_count` has the rest."""
        return self._keys.nbytes

    @property
    def cached_byte_count(self) -> int:
        """Size of the sections, bundles and tree that are cached for later queries [bytes]."""
        return self._cache.byte_count

    @property
    def bounds(self) -> tuple[LatticePoint, LatticePoint]:
        """Lower and upper corner of the box around the object, lattice points; both the offset if it is empty."""
        lowest, highest = self.extent
        return (
            tuple(low + shift for low, shift in zip(lowest, self.offset, strict=True)),
            tuple(high + shift for high, shift in zip(highest, self.offset, strict=True)),
        )

    @property
    def extent(self) -> tuple[LatticePoint, LatticePoint]:
        """Lowest and highest vertex, relative to the offset; both 0 if there are none."""
        if self._cache.extent is None:
            points = unpack(self._keys, self.order) if len(self) else np.zeros((1, self.dimension), np.int64)
            self._cache.extent = (_as_tuple(points.min(axis=0)), _as_tuple(points.max(axis=0)))
        return self._cache.extent

    # Other forms of the same object

    def reordered(self, order: str) -> ExtremeVertices:
        """Return the same object with its vertices sorted in another order."""
        order = check_order(order, self.dimension)
        if order == self.order:
            return self
        return ExtremeVertices(reorder(self._keys, self.order, order), order, self.offset)

    def mask(self, lower: LatticePoint | None = None, upper: LatticePoint | None = None) -> Bools:
        """Return the cells between two lattice points (default: the box around it) as a mask with axes x, y, z."""
        start, stop = self.bounds
        lower = start if lower is None else _lattice_point(lower, "lower corner", self.dimension)
        upper = stop if upper is None else _lattice_point(upper, "upper corner", self.dimension)
        sizes = tuple(max(0, high - low) for low, high in zip(lower, upper, strict=True))
        check_cells(sizes, "The mask")
        flat = 3 - self.dimension
        window = np.zeros((1,) * flat + sizes, np.bool_)
        if window.size and not self.is_empty:
            # Most who ask for one window ask for more: the sections are kept for the next.
            is_whole = (lower, upper) == (start, stop) and not self.has_sections(self.order)
            sections = open_sections(extruded(self._keys, self.dimension)) if is_whole else self.sections()
            first = np.zeros(3, np.int64)
            columns = [AXES.index(letter) for letter in self.order]
            first[flat:] = [lower[column] - self.offset[column] for column in columns]
            paint(sections, first, window.transpose([*range(flat), *(column + flat for column in columns)]))
        return window.reshape(sizes)

    def sections(self, order: str | None = None) -> Sections:
        """Return the sections as runs, relative to `offset`, and cache them; flat objects are one cell thick."""
        order = order or self.order
        kept = self._cache.sections.get(order)
        if kept is None:
            kept = open_sections(extruded(reorder(self._keys, self.order, order), self.dimension))
            self._cache.sections[order] = kept
        return kept

    def has_sections(self, order: str) -> bool:
        """Return whether `sections` of an order are cached."""
        return order in self._cache.sections

    def bundles(self, order: str) -> Sections:
        """Return the sections of an order in bundles of two by two, and cache them."""
        kept = self._cache.bundles.get(order)
        if kept is None:
            kept = self._cache.bundles[order] = bundled(self.sections(order))
        return kept

    def boxes(self, order: str | None = None) -> tuple[Points, Points]:
        """Return disjoint boxes that fill the object, in the given order: corners (n, d), columns x, y, z."""
        order = check_order(order or self.order, self.dimension)
        columns = [order.index(axis) + 3 - self.dimension for axis in AXES[: self.dimension]]
        lower, upper = self.sections(order).boxes()
        offset = np.array(self.offset, np.int64)
        return lower[:, columns] + offset, upper[:, columns] + offset

    def tree(self) -> Tree:
        """Return a tree over `boxes`, relative to `offset`, and cache it."""
        if self._cache.tree is None:
            records = (np.concatenate(self.boxes(), axis=1) - np.tile(self.offset, 2)).astype(np.float64)
            self._cache.tree = make_tree(records, morton_order(records, 1), 1)
        return self._cache.tree

    # Planes, sections, faces

    def planes(self) -> Iterator[tuple[int, ExtremeVertices]]:
        """Yield the planes of vertices along the first axis of the order: the coordinate, and a flat object.

        The axes of the flat object are called x and y, in the order in which they follow in this one.
        """
        if self.dimension == 1:
            raise InvalidInput("An object of one dimension has no planes of vertices; use its points.")
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
        """Yield the sections along the first axis: the plane before, the plane after, the section between them.

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
        """Yield for each plane along the first axis: its coordinate, the faces that look up the axis, and down.

        With S the section before the plane and T the one after it, these are S − T (forward) and T − S (backward).
        """
        section: ExtremeVertices | None = None
        for coordinate, plane in self.planes():
            following = plane if section is None else section ^ plane
            before = ExtremeVertices(plane._keys[:0], plane.order, plane.offset) if section is None else section
            yield coordinate, before - following, following - before
            section = following

    # Booleans

    def combine(self, other: ExtremeVertices, operation: str) -> ExtremeVertices:
        """Return the regularised ``union``, ``intersection``, ``difference`` or ``xor``, in the order of this one."""
        if operation in ("intersection", "difference") and self._is_apart(other):
            return self if operation == "difference" else ExtremeVertices(self._keys[:0], self.order, self.offset)
        left, right, offset = self.together(other)
        return ExtremeVertices(combine_keys(left, right, self.dimension, operation), self.order, offset)

    def __and__(self, other: ExtremeVertices) -> ExtremeVertices:
        return self.combine(other, "intersection")

    def __or__(self, other: ExtremeVertices) -> ExtremeVertices:
        return self.combine(other, "union")

    def __sub__(self, other: ExtremeVertices) -> ExtremeVertices:
        return self.combine(other, "difference")

    def __xor__(self, other: ExtremeVertices) -> ExtremeVertices:
        left, right, offset = self.together(other)
        return ExtremeVertices(xor_keys(left, right), self.order, offset)

    def together(self, other: ExtremeVertices) -> tuple[VertexKeys, VertexKeys, LatticePoint]:
        """Return the keys of both, in the order of this object and relative to a common offset, and that offset."""
        if other.dimension != self.dimension:
            raise InvalidInput(
                f"One object has {self.dimension} dimensions and the other {other.dimension}; they must be alike."
            )
        right = reorder(other._keys, other.order, self.order)
        if self.offset == other.offset or other.is_empty:
            return self._keys, right, self.offset
        if self.is_empty:
            return self._keys, right, other.offset
        offset = tuple(map(min, self.offset, other.offset))
        return self._from_offset(self, self._keys, offset), self._from_offset(other, right, offset), offset

    def _is_apart(self, other: ExtremeVertices) -> bool:
        """Return whether the boxes around both are apart; keys cannot hold objects that are far apart."""
        if other.dimension != self.dimension or self.is_empty or other.is_empty:
            return False
        (lower, upper), (other_lower, other_upper) = self.bounds, other.bounds
        starts, stops = map(max, lower, other_lower), map(min, upper, other_upper)
        return any(start >= stop for start, stop in zip(starts, stops, strict=True))

    def _from_offset(self, model: ExtremeVertices, keys: VertexKeys, offset: LatticePoint) -> VertexKeys:
        shift = tuple(own - common for own, common in zip(model.offset, offset, strict=True))
        if max(high + step for high, step in zip(model.extent[1], shift, strict=True)) >= LIMIT:
            raise InvalidInput(
                f"The objects lie {max(shift):,} voxels apart; together they may span at most {LIMIT - 1:,}."
            )
        return keys + packed_shift(shift, self.order) if any(shift) else keys

    # Exact motions

    def moved(self, shift: LatticePoint) -> ExtremeVertices:
        """Return the object translated by whole cells; it shares all arrays and the cache with this one."""
        offset = tuple(own + step for own, step in zip(self.offset, shift, strict=True))
        if not -MAX_DISTANCE <= min(offset) <= max(offset) <= MAX_DISTANCE:
            raise InvalidInput(f"An object would start at voxel {offset}; a lattice reaches to ±2⁵³ along each axis.")
        return ExtremeVertices(self._keys, self.order, offset, self._cache)

    def with_axes(self, permutation: str, mirrored: str = "") -> ExtremeVertices:
        """Return the object with axes exchanged, then mirrored at 0.

        The new x, y, z are the old axes that ``permutation`` names; those in ``mirrored`` are negated.
        """
        columns = [AXES.index(axis) for axis in check_order(permutation, self.dimension)]
        points = self.points[:, columns]
        for axis in mirrored:
            points[:, AXES.index(axis)] *= -1
        return self._from_valid(points)

    def scaled(self, factors: int | LatticePoint) -> ExtremeVertices:
        """Return the object enlarged by whole positive factors along x, y, z, or by one factor along all."""
        each = check.whole_numbers(factors, "factors", self.dimension, 1)
        return self._from_valid(self.points * np.minimum(each, LIMIT))  # larger ones never fit

    def _from_valid(self, points: Points) -> ExtremeVertices:
        offset = points.min(axis=0) if len(points) else np.zeros(self.dimension, np.int64)
        return ExtremeVertices(np.sort(pack(points - offset, self.order)), self.order, _as_tuple(offset))


def _lattice_points(values: ArrayLike, name: str) -> Points:
    """Return whole numbers (n, d), of an integer or a float type, as int64."""
    given = check.finite(check.floats(values, name), name)
    if (given != np.rint(given)).any():
        raise InvalidInput(f"{name} holds fractions; lattice points are whole numbers.")
    lattice = np.clip(given, -(2.0**40), 2.0**40).astype(np.int64)  # what is so far away never fits
    if lattice.ndim != 2 or not 1 <= lattice.shape[1] <= 3:
        raise InvalidInput(f"{name} has the shape {lattice.shape}; give one row for each, with one to three columns.")
    return lattice


def _lattice_point(point: LatticePoint, name: str, dimension: int) -> LatticePoint:
    given = check.integers(point, f"The {name}")
    if given.shape != (dimension,):
        raise InvalidInput(f"The {name} is {point!r}; a lattice point is {dimension} whole numbers.")
    return _as_tuple(given.astype(np.int64))


def _as_tuple(point: I64) -> LatticePoint:
    return tuple(point.tolist())
