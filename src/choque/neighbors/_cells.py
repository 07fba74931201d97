"""Periodic cells: checks, completion of axes that do not repeat, and the images of points that a search needs."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from choque._core import check, memory
from choque._core.cells import extent_of
from choque._core.kernel import kernel
from choque._core.types import F64, I32, Bools
from choque.errors import InvalidInput

MAX_POINTS = 2**31 - 1  # maximum number of points and images of a search: they are numbered by int32

MAX_CELLS_AWAY = 2**20
"""Maximum distance of a point from its cell, in cells along an axis: further away, rounding would move points."""

MIN_VOLUME = 1e-12  # smallest volume of a cell, as a share of the product of its edge lengths


class Cells(NamedTuple):
    """Cells of k systems."""

    # (k, 3, 3) float64, a vector a row; axes that do not repeat have unit vectors orthogonal to all others
    vectors: F64
    inverse: F64  # (k, 3, 3): fractional coordinates are positions times this
    heights: F64  # (k, 3): the distances between opposite faces
    periodic: Bools  # (k, 3) bool

    def take(self, system: int) -> Cells:
        """Return the cell of one system."""
        part = slice(system, system + 1)
        return Cells(self.vectors[part], self.inverse[part], self.heights[part], self.periodic[part])


def check_cells(
    cell: ArrayLike | None,
    periodic: ArrayLike | None,
    dimension: int,
    count: int | None = None,
    *,
    left_handed: bool = False,
) -> Cells:
    """Return the cells of ``count`` systems, or of one if it is None; allow left-handed ones on request."""
    systems = 1 if count is None else count
    flags = np.zeros((systems, 3), np.bool_)
    flags[:, :dimension] = _flags(periodic, dimension, count, cell is not None)
    vectors = np.broadcast_to(np.eye(3), (systems, 3, 3)).copy()
    if cell is None:
        if flags.any():
            raise InvalidInput(
                f"periodic is {periodic!r} and no cell was given; give cell=, {dimension} vectors or {dimension} edge "
                "lengths, or leave periodic out."
            )
    else:
        given = _vectors(cell, dimension, count)
        if not left_handed:
            _refuse_left_handed(given, flags[:, :dimension])
        for system, axis in np.argwhere(flags[:, :dimension] & ~given.any(axis=2))[:1]:
            raise InvalidInput(
                f"Axis {axis} is periodic, and its vector{_of(system, count)} is zero; give it a length, or "
                "mark the axis False in periodic."
            )
        vectors[:, :dimension, :dimension] = given
        _complete(vectors, flags, count)
    inverse: F64 = np.linalg.inv(vectors).astype(np.float64, copy=False)
    return Cells(vectors, inverse, 1 / np.linalg.norm(inverse, axis=1), flags)


def _flags(periodic: ArrayLike | None, dimension: int, count: int | None, has_cell: bool) -> Bools:
    given = np.asarray(has_cell if periodic is None else periodic)
    shapes: tuple[tuple[int, ...], ...] = ((), (dimension,))
    if count is not None:
        shapes += ((count, dimension),)
    if given.dtype.kind != "b" or given.shape not in shapes:
        rows = "" if count is None else f", or ({count}, {dimension}) of them, a row a system"
        raise InvalidInput(
            f"periodic is {periodic!r}; it must be True, False, or {dimension} of them, one for each axis of the "
            f"cell{rows}."
        )
    return given


def _vectors(cell: ArrayLike, dimension: int, count: int | None) -> F64:
    """Return (k, d, d) vectors."""
    given = check.floats(cell, "cell").astype(np.float64, copy=False)
    if count is None and given.shape == ():
        given = np.full(dimension, float(given))
    if count is None and given.shape == (dimension,):
        given = np.diag(given)
    square = (dimension, dimension)
    if given.shape != square and (count is None or given.shape != (count, *square)):
        other = (
            f"({dimension},) edge lengths" if count is None else f"({count}, {dimension}, {dimension}), one a system"
        )
        raise InvalidInput(f"cell has shape {given.shape}; it must be {square}, a vector a row, or {other}.")
    if not np.isfinite(given).all():
        raise InvalidInput(f"cell is {given.tolist()}; all of its numbers must be finite.")
    return np.broadcast_to(given, (1 if count is None else count, *square))


def _refuse_left_handed(vectors: F64, periodic: Bools) -> None:
    lengths = np.linalg.norm(vectors, axis=2, keepdims=True)
    volume = np.linalg.det(vectors / np.where(lengths > 0, lengths, 1.0))
    for system in np.flatnonzero((volume < -MIN_VOLUME) & periodic.any(axis=1))[:1]:
        raise InvalidInput(
            f"The vectors of the cell, {vectors[system].tolist()}, are left-handed: their volume is negative; "
            "exchange two of them, and the same two entries of periodic, or negate one."
        )


def _complete(vectors: F64, periodic: Bools, count: int | None) -> None:
    """Replace the vectors of axes that do not repeat by unit vectors orthogonal to all others, in place.

    Only the repeating vectors enter the rule. With such a completion the heights are the largest possible ones.
    """
    codes = periodic @ np.array([1, 2, 4])
    for code in set(codes.tolist()):
        flags = np.array([bool(code & bit) for bit in (1, 2, 4)])
        systems = np.flatnonzero(codes == code)
        repeated = vectors[systems][:, flags]
        unit = repeated / np.linalg.norm(repeated, axis=2, keepdims=True)
        if flags.all():
            volume, free = np.abs(np.linalg.det(unit)), None
        else:  # the singular vectors without a singular value are orthogonal to all periodic ones
            _, spread, basis = np.linalg.svd(unit) if flags.any() else (None, np.ones((1, 1)), np.eye(3)[None])
            volume, free = spread.prod(axis=1), basis[:, int(flags.sum()) :]
        for bad in np.flatnonzero(volume <= MIN_VOLUME)[:1]:
            raise InvalidInput(
                f"The periodic vectors of the cell{_of(int(systems[bad]), count)}, {repeated[bad].tolist()}, lie "
                "in a plane or on a line; a periodic cell needs a volume. Mark axes that do not repeat in periodic."
            )
        if free is not None:
            whole = np.empty((len(systems), 3, 3))
            whole[:, flags], whole[:, ~flags] = repeated, free
            vectors[systems] = whole


def _of(system: int, count: int | None) -> str:
    return "" if count is None else f" of system {system}"


class Images(NamedTuple):
    """Points wrapped into a cell, and the images around it that can be near a wrapped point."""

    source: I32  # (m,) int32: the row of the point of each; the points themselves come first
    place: F64  # (m, 3) float64: where it is
    shift: I32  # (m, 3) int32: place = position + shift · vectors


def points_in(position: F64, cell: Cells) -> Images:
    """Return ``position`` (n, 3), wrapped into the cell."""
    source = np.arange(len(position), dtype=np.int32)
    if not cell.periodic.any():
        return Images(source, position, np.zeros((len(position), 3), np.int32))
    images = Images(source, np.empty_like(position), wrapped(position, cell)[1])
    _place_images(position, cell.vectors[0], images)
    return images


def images_of(position: F64, cell: Cells, reach: float, targets: F64 | None = None) -> Images:
    """Return ``position`` (n, 3), wrapped, and all images within ``reach`` of ``targets``, by default of itself.

    Exact for any cell: a point within ``reach`` of another has fractional coordinates within ``reach`` / height of
    its own. O(n + images) time and memory.
    """
    count = len(position)
    if not cell.periodic.any() or count == 0 or (targets is not None and len(targets) == 0):
        return points_in(position, cell)
    fraction, own_shift = wrapped(position, cell)
    near = fraction if targets is None else wrapped(targets, cell)[0]
    largest = max(np.abs(extent_of(position)).max(), 0.0 if targets is None else np.abs(extent_of(targets)).max())
    margin = margins(reach, cell, largest)[0]
    extent, near_extent = extent_of(fraction), extent_of(near)
    low, high = near_extent[0] - margin, near_extent[1] + margin
    periodic = cell.periodic[0]
    first = np.where(periodic, np.ceil(low - extent[1]), 0)
    last = np.where(periodic, np.floor(high - extent[0]), 0)
    check_image_count((last - first + 1)[None], count, reach)
    span = np.stack((first, last)).astype(np.int64)
    borders = np.where(periodic, np.stack((low, high)), np.array([[-np.inf], [np.inf]]))
    size = count + int(_count_images(fraction, span, borders))
    images = Images(
        memory.empty(size, np.int32), memory.empty((size, 3), np.float64), memory.empty((size, 3), np.int32)
    )
    _list_images(fraction, own_shift, span, borders, images.source, images.shift)
    _place_images(position, cell.vectors[0], images)
    return images


def margins(reach: float, cells: Cells, largest: float) -> F64:
    """Return the maximum difference of fractional coordinates of neighbours, (k, 3), rounding included.

    ``largest`` is the largest absolute coordinate of a point.
    """
    rounded = reach * (1 + 1e-9) + 16 * np.finfo(np.float64).eps * largest
    return np.where(cells.periodic, rounded / cells.heights + 1e-9, 0.0)


def check_image_count(cells_reached: F64, count: int, reach: float) -> None:
    """Refuse a search of ``count`` points that reaches more images than can be numbered."""
    total = float(cells_reached.prod(axis=1).max(initial=0)) * count
    if total > MAX_POINTS:
        raise InvalidInput(
            f"The cut-off {reach:g} reaches {cells_reached.max():,.0f} cells along one axis, which makes "
            f"{total:,.0f} images of {count:,} points; at most {MAX_POINTS:,} can be searched. "
            "Use a smaller cut-off or a larger cell."
        )


def wrapped(position: F64, cell: Cells) -> tuple[F64, I32]:
    """Return fractional coordinates, in [0, 1] on periodic axes, and the whole cells that were added to get there."""
    fraction, whole = memory.empty(position.shape, np.float64), memory.empty(position.shape, np.float64)
    wrap_points(np.zeros(1, np.int64), np.array([len(position)]), position, cell, fraction, whole)
    check_cells_away(whole, position)
    return fraction, whole.astype(np.int32)


def check_cells_away(whole: F64, position: F64) -> None:
    """Refuse points that are too many cells (n, 3) away from their own."""
    if len(whole) and np.abs(extent_of(whole)).max() > MAX_CELLS_AWAY:
        row = int(np.argmax(np.abs(whole).max(axis=1)))
        raise InvalidInput(
            f"Point {row} at {position[row].tolist()} is {np.abs(whole[row]).max():,.0f} cells away from the origin; "
            f"at most {MAX_CELLS_AWAY:,} are allowed. Wrap positions into the cell first."
        )


@kernel
def wrap_points(first: Any, last: Any, position: Any, cells: Cells, fraction: Any, whole: Any) -> None:
    """Write the fractional coordinates of the points of systems, and the whole cells added to get into the cell."""
    for system in range(first.size):
        for i in range(first[system], last[system]):
            for axis in range(3):
                value = 0.0
                for k in range(3):
                    value += position[i, k] * cells.inverse[system, k, axis]
                added = -math.floor(value) if cells.periodic[system, axis] else 0.0
                fraction[i, axis], whole[i, axis] = value + added, added


@kernel
def _count_images(fraction: Any, span: Any, borders: Any) -> int:
    """Count images other than the points themselves that lie between the borders."""
    count = 0
    for i in range(fraction.shape[0]):
        inside = 1
        is_inside = True
        for axis in range(3):
            own = 0
            for move in range(span[0, axis], span[1, axis] + 1):
                value = fraction[i, axis] + move
                own += (value >= borders[0, axis]) & (value <= borders[1, axis])
            inside *= own
            is_inside &= (fraction[i, axis] >= borders[0, axis]) & (fraction[i, axis] <= borders[1, axis])
        count += inside - is_inside
    return count


@kernel
def _list_images(fraction: Any, own: Any, span: Any, borders: Any, source: Any, shift: Any) -> None:
    """Write the points, whose shifts are ``own``, and after them the images that `_count_images` counts."""
    at = fraction.shape[0]
    for i in range(fraction.shape[0]):
        source[i] = i
        for axis in range(3):
            shift[i, axis] = own[i, axis]
        for a in range(span[0, 0], span[1, 0] + 1):
            if not borders[0, 0] <= fraction[i, 0] + a <= borders[1, 0]:
                continue
            for b in range(span[0, 1], span[1, 1] + 1):
                if not borders[0, 1] <= fraction[i, 1] + b <= borders[1, 1]:
                    continue
                for c in range(span[0, 2], span[1, 2] + 1):
                    if not borders[0, 2] <= fraction[i, 2] + c <= borders[1, 2] or (a == 0 and b == 0 and c == 0):
                        continue
                    source[at] = i
                    shift[at, 0], shift[at, 1], shift[at, 2] = own[i, 0] + a, own[i, 1] + b, own[i, 2] + c
                    at += 1


@kernel
def _place_images(position: Any, vectors: Any, images: Images) -> None:
    """Write where the images are."""
    for k in range(images.source.size):
        i, a, b, c = images.source[k], images.shift[k, 0], images.shift[k, 1], images.shift[k, 2]
        for axis in range(3):
            moved = a * vectors[0, axis] + b * vectors[1, axis] + c * vectors[2, axis]
            images.place[k, axis] = position[i, axis] + moved
