"""The triangles of a mesh in a wide tree: what kernels search.

Faces are ordered by halving space (`spatial_order`) and lie sixteen to a block (`choque._core.tree`). Boxes are held in
float32, relative to the middle of the mesh and rounded outward, so that a part that lies far from the origin loses
nothing. A patch of a surface is thin, and a box around it is not: each box has a slab beside it, the patch's mean
normal and its extent along it, which separates surfaces that lie side by side.
"""

from __future__ import annotations

from itertools import pairwise
from math import frexp
from typing import Any, NamedTuple

import numpy as np

from choque._core import memory, threads
from choque._core.kernel import forceinline, helper, kernel
from choque._core.tree import WIDTH, make_tree
from choque._core.types import F32, F64, I32, I64, U32, Integer
from choque._core.vector import Vector
from choque.meshes.triangles import Triangle

BINS = 64  # parts of an interval whose contents are counted at once


class Surface(NamedTuple):
    """A mesh and its tree, as kernels take it."""

    vertices: F64  # (n, 3) float64
    corners: I32  # (m, 3) int32: the vertices of the triangle at each place of the tree
    rows: U32  # (m,) uint32: the face at each place
    lanes: F32  # (blocks · 96,) float32: the bounds of `choque._core.tree.Tree`, relative to ``middle``
    slabs: F32  # (blocks · 80,) float32: sixteen lanes each of a unit normal (3) and of the least and greatest n · x
    level_first: I64  # (levels + 1,) int64: the first block of each level
    middle: F64  # (3,) float64: the middle of the box around the mesh
    # (12,) float64: the bounds around all lanes, five zeros for no slab, and twice the greatest magnitude of these
    root: F64

    @property
    def nbytes(self) -> int:
        """The bytes of the tree, without the vertices."""
        return sum(part.nbytes for part in (self.corners, self.rows, self.lanes, self.slabs, self.level_first))


def make_surface(vertices: F64, faces: I32, thread_count: int, rows: U32 | None = None) -> Surface:
    """Order the faces, unless in the order ``rows``, and build their tree. O(n log n) time; 64 bytes a triangle."""
    middle = 0.5 * vertices.min(axis=0) + 0.5 * vertices.max(axis=0) if len(vertices) else np.zeros(3)
    records: F32 = memory.empty((len(faces), 6), np.float32)
    threads.over_ranges(_fill_records, len(faces), thread_count, vertices, faces, middle, records)
    tree = make_tree(records, spatial_order(records, thread_count) if rows is None else rows, thread_count)
    corners = np.empty((len(faces), 3), np.int32)
    threads.over_ranges(_reorder, len(faces), thread_count, faces, tree.rows, corners)
    lanes = np.ascontiguousarray(tree.lanes, np.float32).reshape(-1)
    slabs = np.zeros(len(lanes) // 96 * 80, np.float32)
    for level in range(len(tree.level_first) - 1):
        first, width = tree.level_first[level], WIDTH**level
        count = -(-len(faces) // width)  # lanes in use
        share = thread_count if len(faces) > threads.STREAM_SERIAL_BELOW else 1
        threads.over_shares(_fill_slabs, count, share, first, width, (vertices, corners, middle), slabs)
    root = np.zeros(12)
    if len(faces):
        highest = lanes[-6 * WIDTH :].reshape(2, 3, WIDTH)  # NaN where not in use
        root[:3], root[3:6] = np.fmin.reduce(highest[0], axis=1), np.fmax.reduce(highest[1], axis=1)
        root[11] = 2 * np.abs(root).max()
    return Surface(vertices, corners, tree.rows, lanes, slabs, tree.level_first, middle, root)


def moderation(one: Surface, two: Surface, others: F64) -> float:
    """Return the power of two, mostly 1, that brings all coordinates to where float32 holds their squares."""
    size = _greatest(one.root[11:], two.root[11:], one.middle, two.middle, others)
    if 2.0**-50 < size < 2.0**56:
        return 1.0
    size = _greatest(one.vertices, two.vertices, others)
    return 2.0 ** (50 - frexp(size)[1]) if size else 1.0


def _greatest(*parts: F64) -> float:
    return max(max(map(abs, x.ravel().tolist()), default=0.0) if x.size < 64 else float(np.abs(x).max()) for x in parts)


def resized(surface: Surface, factor: float, thread_count: int) -> Surface:
    """Return the surface times ``factor``, with its triangles at the same places of the tree."""
    if factor == 1.0:
        return surface
    faces = surface.corners[np.argsort(surface.rows)]
    return make_surface(surface.vertices * factor, faces, thread_count, surface.rows)


@kernel
def _fill_records(first: int, last: int, vertices: Any, faces: Any, middle: Any, records: Any) -> None:
    for face in range(first, last):
        a, b, c = faces[face, 0], faces[face, 1], faces[face, 2]
        for axis in range(3):
            x, y, z = vertices[a, axis], vertices[b, axis], vertices[c, axis]
            # One subtraction for all boxes is monotone: what overlaps before it overlaps after it.
            records[face, axis] = float_below(min(x, y, z) - middle[axis])
            records[face, axis + 3] = float_above(max(x, y, z) - middle[axis])


@kernel
def _reorder(first: int, last: int, faces: Any, rows: Any, corners: Any) -> None:
    for place in range(first, last):
        for k in range(3):
            corners[place, k] = faces[rows[place], k]


@kernel
def _fill_slabs(start: int, stop: int, first: int, width: int, mesh: Any, slabs: F32) -> None:
    """Write the slabs of some lanes of a level, each around ``width`` triangles."""
    vertices, corners, middle = mesh
    for lane in range(start, stop):
        begin, end = lane * width, min((lane + 1) * width, corners.shape[0])
        x, y, z = 0.0, 0.0, 0.0
        for place in range(begin, end):
            a, b, c = corners[place, 0], corners[place, 1], corners[place, 2]
            u0, v0 = vertices[b, 0] - vertices[a, 0], vertices[c, 0] - vertices[a, 0]
            u1, v1 = vertices[b, 1] - vertices[a, 1], vertices[c, 1] - vertices[a, 1]
            u2, v2 = vertices[b, 2] - vertices[a, 2], vertices[c, 2] - vertices[a, 2]
            x, y, z = x + (u1 * v2 - u2 * v1), y + (u2 * v0 - u0 * v2), z + (u0 * v1 - u1 * v0)
        size = np.sqrt(x * x + y * y + z * z)
        if not 0.0 < size < np.inf:
            continue  # without a normal: the slab of all points
        # The rounded normal is the normal; what it is multiplied with is not rounded yet.
        nx, ny, nz = np.float32(x / size), np.float32(y / size), np.float32(z / size)
        low, high, reach = np.inf, -np.inf, 0.0
        for place in range(begin, end):
            for k in range(3):
                row = corners[place, k]
                x, y, z = vertices[row, 0] - middle[0], vertices[row, 1] - middle[1], vertices[row, 2] - middle[2]
                level = nx * x + ny * y + nz * z
                low, high = min(low, level), max(high, level)
                reach = max(reach, abs(x) + abs(y) + abs(z))
        at = (first + lane // WIDTH) * 80 + lane % WIDTH
        slabs[at], slabs[at + 16], slabs[at + 32] = nx, ny, nz
        slabs[at + 48] = float_below(low - 1e-14 * reach)
        slabs[at + 64] = float_above(high + 1e-14 * reach)


@helper
def float_below(value: float) -> Any:
    """Return a float32 that is not greater than ``value``."""
    return np.float32(value - abs(value) * 1.2e-7 - 1e-44)


@helper
def float_above(value: float) -> Any:
    """Return a float32 that is not less than ``value``."""
    return np.float32(value + abs(value) * 1.2e-7 + 1e-44)


@forceinline
def vertex(surface: Surface, place: Integer, corner: Integer) -> Vector:
    """Return a corner of the triangle at a place of the tree."""
    row = surface.corners[place, corner]
    return surface.vertices[row, 0], surface.vertices[row, 1], surface.vertices[row, 2]


@forceinline
def triangle_at(surface: Surface, place: Integer) -> Triangle:
    """Return the corners of the triangle at a place of the tree."""
    return vertex(surface, place, 0), vertex(surface, place, 1), vertex(surface, place, 2)


@helper
def box_around(triangle: Triangle, middle: F64) -> tuple[Any, Any, Any, Any, Any, Any]:
    """Return the bounds of a triangle as those of lanes: relative to ``middle``, in float32, rounded outward."""
    a, b, c = triangle
    return (
        float_below(min(a[0], b[0], c[0]) - middle[0]),
        float_below(min(a[1], b[1], c[1]) - middle[1]),
        float_below(min(a[2], b[2], c[2]) - middle[2]),
        float_above(max(a[0], b[0], c[0]) - middle[0]),
        float_above(max(a[1], b[1], c[1]) - middle[1]),
        float_above(max(a[2], b[2], c[2]) - middle[2]),
    )


# The order of faces


class Items(NamedTuple):
    """Centres of boxes: (n, 4) float32, the row of the box being the fourth; as words; and as much memory again."""

    centres: F32
    words: U32
    spare: U32


def spatial_order(records: F32, thread_count: int) -> U32:
    """Return the rows of ``records`` (n, 6) in an order whose blocks of 16, 256 … are compact.

    Space is halved again and again: each range of the order is divided where a block of the tree ends, across the
    longest side of the box around its centres, down to single blocks. Blocks of a Z-curve with as many triangles have
    jumps in them, which cost a walk through two trees seven times as many blocks. The division is a selection by
    histograms, without comparisons: O(n log n) time for any input, since floats have few exponents; 32 bytes a box for
    a while.
    """
    centres: F32 = memory.empty((len(records), 4), np.float32)
    items = Items(centres, centres.view(np.uint32), memory.empty((len(records), 4), np.uint32))
    threads.over_ranges(_fill_centres, len(records), thread_count, records, items)
    parts = [(0, len(records))]
    if thread_count > 1 and len(records) >= threads.STREAM_SERIAL_BELOW:
        while len(parts) < thread_count:
            _arrange_all(parts, items, True)
            parts = [part for first, last in parts for part in pairwise((first, _middle(first, last), last))]
    _arrange_all(parts, items, False)
    return np.ascontiguousarray(items.words[:, 3])


def _arrange_all(parts: list[tuple[int, int]], items: Items, once: bool) -> None:
    threads.run(lambda part: _arrange(*parts[part], once, items), len(parts))


@helper
def _middle(first: Integer, last: Integer) -> Integer:
    """Return where a range is divided: at the end of a block of the highest level of which it has several."""
    size: Integer = WIDTH
    while size * WIDTH < last - first:
        size *= WIDTH
    return first + (last - first + size - 1) // size // 2 * size


@kernel
def _fill_centres(first: int, last: int, records: F32, items: Items) -> None:
    for row in range(first, last):
        for axis in range(3):
            items.centres[row, axis] = records[row, axis] + records[row, axis + 3]
        items.words[row, 3] = row


@kernel
def _arrange(first: int, last: int, once: bool, items: Items) -> None:
    """Divide a range down to single blocks, or once."""
    stack = np.empty((64, 2), np.int64)
    counts = np.empty(BINS, np.int64)
    stack[0, 0], stack[0, 1] = first, last
    depth: Integer = 1
    while depth > 0:
        depth -= 1
        begin, end = stack[depth, 0], stack[depth, 1]
        if end - begin <= WIDTH:
            continue
        middle = _middle(begin, end)
        _divide(begin, middle, end, items, counts)
        if once:
            return
        stack[depth, 0], stack[depth, 1] = begin, middle
        stack[depth + 1, 0], stack[depth + 1, 1] = middle, end
        depth += 2


@helper
def _divide(first: Integer, middle: Integer, last: Integer, items: Items, counts: I64) -> None:
    """Move the items of a range that come first along its longest side before ``middle``."""
    axis, low, high = _longest_side(first, last, items.centres)
    while first < middle < last:
        scale = np.float32(BINS) / (high - low)
        if not scale < np.float32(np.inf):
            return  # all at one place
        for k in range(BINS):
            counts[k] = 0
        for row in range(first, last):
            counts[_bin(items.centres[row, axis], low, scale)] += 1
        chosen, below = 0, first
        while below + counts[chosen] <= middle:
            below += counts[chosen]
            chosen += 1
        above = below + counts[chosen]
        _part(first, last, axis, (low, scale), (chosen, below, above), items)
        first, last = below, above
        low = high = items.centres[first, axis]
        for row in range(first + 1, last):
            low, high = min(low, items.centres[row, axis]), max(high, items.centres[row, axis])


@helper
def _longest_side(first: Integer, last: Integer, centres: Any) -> tuple[Integer, Any, Any]:
    """Return the axis along which the centres of a range extend farthest, and from where to where."""
    x0, y0, z0 = centres[first, 0], centres[first, 1], centres[first, 2]
    x1, y1, z1 = x0, y0, z0
    for row in range(first + 1, last):
        x, y, z = centres[row, 0], centres[row, 1], centres[row, 2]
        x0, y0, z0 = min(x0, x), min(y0, y), min(z0, z)
        x1, y1, z1 = max(x1, x), max(y1, y), max(z1, z)
    if x1 - x0 >= y1 - y0 and x1 - x0 >= z1 - z0:
        return 0, x0, x1
    return (1, y0, y1) if y1 - y0 >= z1 - z0 else (2, z0, z1)


@helper
def _bin(value: Any, low: Any, scale: Any) -> Integer:
    return min(np.int64((value - low) * scale), BINS - 1)


@helper
def _part(
    first: Integer, last: Integer, axis: Integer, scale: tuple[Any, Any], bins: tuple[Any, Any, Any], items: Items
) -> None:
    """Sort a range into what lies in bins below the chosen one, in it, and above it."""
    chosen, low_end, high_end = bins
    before, inside, after = first, low_end, high_end
    for row in range(first, last):
        found = _bin(items.centres[row, axis], scale[0], scale[1])
        place = before if found < chosen else (inside if found == chosen else after)
        before += np.int64(found < chosen)
        inside += np.int64(found == chosen)
        after += np.int64(found > chosen)
        for k in range(4):
            items.spare[place, k] = items.words[row, k]
    for row in range(first, last):
        for k in range(4):
            items.words[row, k] = items.spare[row, k]
