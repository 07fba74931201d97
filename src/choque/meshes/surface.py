"""The triangles of a mesh in a wide tree: what kernels search.

Faces are ordered by halving space (`choque.meshes.order`) and lie sixteen to a block (`choque._core.tree`). Boxes are
held in float32, relative to the middle of the mesh and rounded outward, so that a part that lies far from the origin
loses nothing. A patch of a surface is thin, and a box around it is not: each box has a slab beside it, the patch's mean
normal and its extent along it, which separates surfaces that lie side by side.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from choque._core import memory, threads
from choque._core.kernel import forceinline, helper, kernel
from choque._core.tree import make_tree
from choque._core.types import F32, F64, I32, I64, U32, Integer
from choque._core.vector import Vector
from choque.meshes.order import spatial_order
from choque.meshes.triangles import Triangle

WIDTH = 16  # triangles in a block


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
        parts = threads.ranges(count, thread_count if len(faces) > threads.STREAM_SERIAL_BELOW else 1)
        work = partial(_fill_level, parts, first, width, (vertices, corners, middle), slabs)
        threads.run(work, len(parts))
    root = np.zeros(12)
    if len(faces):
        highest = lanes[-6 * WIDTH :].reshape(2, 3, WIDTH)  # NaN where not in use
        root[:3], root[3:6] = np.fmin.reduce(highest[0], axis=1), np.fmax.reduce(highest[1], axis=1)
        root[11] = 2 * np.abs(root).max()
    return Surface(vertices, corners, tree.rows, lanes, slabs, tree.level_first, middle, root)


def _fill_level(parts: list[tuple[int, int]], first: int, width: int, mesh: Any, slabs: F32, part: int) -> None:
    _fill_slabs(*parts[part], first, width, mesh, slabs)


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
