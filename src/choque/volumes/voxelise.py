"""Triangle meshes to voxels: a thin surface, a solid, or every voxel that a triangle touches.

Internally in lattice units: voxel (i, j, k) spans i to i + 1 along x, and so on.
"""

from __future__ import annotations

import os
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from choque._core import check
from choque._core.kernel import helper, kernel
from choque._core.parts import parts_of
from choque._core.types import F64, I32, I64, U8, Bools
from choque.errors import InvalidInput
from choque.files.meshes import MeshArrays, check_mesh, number_rows, read_mesh, welded
from choque.volumes._lattice import MAX_DISTANCE, Lattice, check_cells
from choque.volumes._model import ExtremeVertices

FILLS = ("solid", "surface")


def as_mesh(mesh: str | os.PathLike[str] | MeshArrays | tuple[ArrayLike, ArrayLike]) -> MeshArrays:
    """Return a mesh from the path of a file, or from vertices (n, 3) and faces (m, 3)."""
    if isinstance(mesh, (str, os.PathLike)):
        return read_mesh(mesh)
    try:
        vertices, faces = mesh
    except (TypeError, ValueError) as problem:
        raise InvalidInput(
            f"The mesh is of type {type(mesh).__name__}; give the path of a file, or vertices (n, 3) and faces (m, 3)."
        ) from problem
    return check_mesh(vertices, faces, InvalidInput, "The mesh")


def voxelise_mesh(
    mesh: str | os.PathLike[str] | MeshArrays | tuple[ArrayLike, ArrayLike],
    lattice: Lattice,
    *,
    fill: str = "solid",
    conservative: bool = False,
) -> ExtremeVertices:
    """Return the voxels of a mesh on a lattice; see `choque.volumes.Volume.from_mesh`.

    Triangles without area are skipped, except that a surface keeps their corners and edges. Needs one byte for every
    voxel of the box around the mesh.
    """
    check.choice(fill, "way to fill a mesh", FILLS)
    given = as_mesh(mesh)
    if fill == "solid":
        check_closed(given)
    if len(given.faces) == 0:
        raise InvalidInput(
            "The mesh has no triangles, so there is nothing to voxelise; give a mesh with at least one triangle."
        )
    with np.errstate(over="ignore"):
        corners = lattice.to_lattice(given.vertices)[given.faces]
    reach = float(np.abs(corners).max())
    if reach >= MAX_DISTANCE:
        raise InvalidInput(
            f"The mesh reaches {reach:.3g} voxels from the origin of the lattice, where floats no longer distinguish "
            "voxels; use larger voxels, or move the mesh."
        )
    # A margin of one cell on each side: a triangle on a cell's side touches the cell beyond it as well.
    first = np.floor(corners.min(axis=(0, 1))).astype(np.int64) - 1
    shape = np.floor(corners.max(axis=(0, 1))).astype(np.int64) + 2 - first
    check_cells(shape.tolist(), "The box around the mesh")
    mask = np.zeros(tuple(shape.tolist()), np.uint8)
    corners -= first
    if fill == "solid":
        solid_cells(given, corners, mask)
    elif not conservative:
        surface_cells(np.floor(corners).astype(np.int64), mask)
    if conservative:
        conservative_cells(corners, mask)
    if not mask.any():
        raise InvalidInput(
            f"The mesh leaves no voxel: it is thinner than the voxels of {lattice.spacing} and no centre of one lies "
            "inside. Use smaller voxels, or conservative=True for every voxel that the mesh touches."
        )
    return ExtremeVertices.from_mask(mask.view(np.bool_), offset=tuple(first.tolist()))


def check_closed(mesh: MeshArrays) -> None:
    """Raise `InvalidInput` for a mesh with holes: every edge must belong to an even number of triangles."""
    faces, vertex_count = welded(*mesh)
    _, counts = np.unique(_edges(faces[_are_whole(faces)], vertex_count), return_counts=True)
    open_count = int((counts % 2).sum())
    if open_count:
        raise InvalidInput(
            f"The mesh has holes: {open_count} edges belong to an odd number of triangles, so it has no inside "
            "to fill. Repair it, or use fill='surface'."
        )


def _are_whole(faces: I64) -> Bools:
    """Return which triangles have three different corners."""
    return np.asarray((faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0]))


def _edges(faces: I64, vertex_count: int) -> I64:
    """Return a number for each edge of each triangle (3 m), the same for both directions."""
    start, stop = faces.ravel(), np.roll(faces, -1, axis=1).ravel()
    return np.asarray(np.minimum(start, stop) * np.int64(vertex_count) + np.maximum(start, stop))


# The cells of triangles, set in a mask of bytes that holds them all
Corners = F64  # (m, 3, 3): for each triangle its corners, columns x, y, z


@kernel
def surface_cells(corners: I64, mask: U8) -> None:
    """Set a layer of cells one cell thick: corners, which are cells already, edges by steps, the inside by columns.

    The scan conversion of Kaufman and Shimony (1986), along the largest component of the normal, so that no column of
    the inside is left out. Thin, and not conservative.
    """
    for triangle in range(corners.shape[0]):
        a, b, c = corners[triangle, 0], corners[triangle, 1], corners[triangle, 2]
        for edge in range(3):
            start, stop = corners[triangle, edge], corners[triangle, (edge + 1) % 3]
            steps = max(abs(stop[0] - start[0]), abs(stop[1] - start[1]), abs(stop[2] - start[2]), 1)
            for step in range(steps + 1):
                x = start[0] + (2 * (stop[0] - start[0]) * step + steps) // (2 * steps)
                y = start[1] + (2 * (stop[1] - start[1]) * step + steps) // (2 * steps)
                z = start[2] + (2 * (stop[2] - start[2]) * step + steps) // (2 * steps)
                mask[x, y, z] = 1
        facing, largest = 0, 0
        for axis in range(3):
            u, v = (axis + 1) % 3, (axis + 2) % 3
            area = abs((b[u] - a[u]) * (c[v] - a[v]) - (b[v] - a[v]) * (c[u] - a[u]))
            if area > largest:
                facing, largest = axis, area
        if largest == 0:
            continue
        u, v = (facing + 1) % 3, (facing + 2) % 3
        area = (b[u] - a[u]) * (c[v] - a[v]) - (b[v] - a[v]) * (c[u] - a[u])
        sign = 1 if area > 0 else -1
        cell = np.zeros(3, np.int64)
        for row in range(min(a[u], b[u], c[u]), max(a[u], b[u], c[u]) + 1):
            for column in range(min(a[v], b[v], c[v]), max(a[v], b[v], c[v]) + 1):
                to_a = sign * ((c[u] - b[u]) * (column - b[v]) - (c[v] - b[v]) * (row - b[u]))
                to_b = sign * ((a[u] - c[u]) * (column - c[v]) - (a[v] - c[v]) * (row - c[u]))
                to_c = sign * ((b[u] - a[u]) * (column - a[v]) - (b[v] - a[v]) * (row - a[u]))
                if to_a >= 0 and to_b >= 0 and to_c >= 0:
                    height = to_a * a[facing] + to_b * b[facing] + to_c * c[facing]
                    cell[u], cell[v] = row, column
                    cell[facing] = (2 * height + largest) // (2 * largest)
                    mask[cell[0], cell[1], cell[2]] = 1


@kernel
def _side(start: F64, stop: F64, x: float, y: float) -> int:
    """Return the side of an edge, seen along z, on which a point lies: 1 or -1, never 0.

    The ends are always taken in the same order, so that two triangles at one edge agree. A point on the line counts as
    moved by an infinitesimal along x, and by a smaller one along y.
    """
    if start[0] > stop[0] or (start[0] == stop[0] and start[1] > stop[1]):
        return -_side_sorted(stop, start, x, y)
    return _side_sorted(start, stop, x, y)


@helper
def _side_sorted(start: F64, stop: F64, x: float, y: float) -> int:
    value = (stop[0] - start[0]) * (y - start[1]) - (stop[1] - start[1]) * (x - start[0])
    if value != 0.0:
        return 1 if value > 0.0 else -1
    if stop[1] != start[1]:
        return -1 if stop[1] > start[1] else 1
    return 1


def solid_cells(mesh: MeshArrays, corners: Corners, mask: U8) -> None:
    """Set the cells whose centres are inside a closed mesh, by the winding number of each of its shells.

    A shell is what hangs together by shared vertices. A point is inside a shell if its winding number is not 0 or, for
    a shell whose triangles are not oriented alike, if it is inside by parity. A cell is set if the number of shells
    around it, minus the number of cavities, is not 0: where shells overlap the mesh is solid. A cavity is a shell
    oriented inward that lies nowhere outside all other shells.
    """
    shells = _Shells.of(mesh)
    keep = shells.kept
    cells, crossed = _crossings(corners[keep], shells.of_face[keep], mask.shape)
    order = np.argsort(cells, kind="stable")
    cells, crossed = cells[order], crossed[order]
    signs = shells.signs.copy()
    if (signs < 0).any():
        outside = np.zeros(len(signs), np.bool_)
        _fill(cells, crossed, signs, shells.is_oriented, mask, outside)
        signs[outside] = 1
    _fill(cells, crossed, signs, shells.is_oriented, mask, np.zeros(len(signs), np.bool_))


class _Shells(NamedTuple):
    """Parts of a mesh that share no vertex, and how each is oriented."""

    of_face: I32  # (m,) the shell of each triangle
    # (m,) false for triangles without area, and for the second side of shells whose every triangle has two sides
    kept: Bools
    signs: I32  # 1 for shells oriented outward, -1 for those oriented inward, relative to the whole mesh
    is_oriented: Bools  # whether the triangles of a shell run along each edge as often forward as backward

    @classmethod
    def of(cls, mesh: MeshArrays) -> _Shells:
        """Find the shells of a mesh; vertices at the same place are one."""
        faces, vertex_count = welded(*mesh)
        roots, numbers = np.unique(parts_of(faces, vertex_count)[faces[:, 0]], return_inverse=True)
        of_face, count = numbers.astype(np.int32), len(roots)
        kept = _are_whole(faces)
        kept &= ~_second_sides(faces, of_face, kept, count)
        corners = (mesh.vertices - mesh.vertices.mean(axis=0))[mesh.faces]
        six = np.where(kept, np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])), 0.0)
        signs = np.where(np.bincount(of_face, six, count) < 0, -1, 1)
        is_oriented = _are_oriented(faces[kept], of_face[kept], count, vertex_count)
        signs = np.where(is_oriented, signs * (-1 if six.sum() < 0 else 1), 1)
        return cls(of_face, kept, signs.astype(np.int32), is_oriented)


def _second_sides(faces: I64, of_face: I32, kept: Bools, count: int) -> Bools:
    """Return the second of each two triangles of opposite orientation, in shells that consist of such pairs."""
    lowest = np.argmin(faces, axis=1)
    turned = np.take_along_axis(faces, (lowest[:, None] + np.arange(3)) % 3, axis=1)
    is_forward = turned[:, 1] < turned[:, 2]
    _, same = number_rows(np.sort(faces, axis=1))
    balance = np.bincount(same, np.where(is_forward, 1, -1) * kept)
    is_single = np.zeros(count, np.bool_)
    is_single[of_face[(balance[same] != 0) & kept]] = True
    two_sided = ~is_single[of_face] & kept
    second = np.zeros(len(faces), np.bool_)
    rows = np.flatnonzero(two_sided)
    if len(rows):
        first = np.unique(same[rows], return_index=True)[1]
        second[rows] = True
        second[rows[first]] = False
    return second


def _are_oriented(faces: I64, of_face: I32, count: int, vertex_count: int) -> Bools:
    _, edge = np.unique(_edges(faces, vertex_count), return_inverse=True)
    is_forward = faces < np.roll(faces, -1, axis=1)
    balance = np.bincount(edge.reshape(-1), np.where(is_forward.ravel(), 1, -1))
    is_oriented = np.ones(count, np.bool_)
    is_oriented[np.repeat(of_face, 3)[balance[edge.reshape(-1)] != 0]] = False
    return is_oriented


@kernel
def _crossings(corners: Corners, of_face: I32, shape: tuple[int, int, int]) -> tuple[I64, I32]:
    """Return where triangles cross the lines along z through centres: the first cell above, by its place in the mask.

    The second array holds the shell, counted from 1; negative for triangles that look down.
    """
    cells, crossed = np.empty(64, np.int64), np.empty(64, np.int32)
    count = 0
    for triangle in range(corners.shape[0]):
        a, b, c = corners[triangle, 0], corners[triangle, 1], corners[triangle, 2]
        area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        if area == 0.0:
            continue  # parallel to z: no centre lies above it
        first = int(np.floor(min(a[0], b[0], c[0]) - 0.5))
        last = int(np.ceil(max(a[0], b[0], c[0])))
        low = int(np.floor(min(a[1], b[1], c[1]) - 0.5))
        high = int(np.ceil(max(a[1], b[1], c[1])))
        lowest, highest = min(a[2], b[2], c[2]), max(a[2], b[2], c[2])
        for row in range(max(first, 0), min(last + 1, shape[0])):
            for column in range(max(low, 0), min(high + 1, shape[1])):
                x, y = row + 0.5, column + 0.5
                side = _side(a, b, x, y)
                if _side(b, c, x, y) != side or _side(c, a, x, y) != side:
                    continue
                along = ((x - a[0]) * (c[1] - a[1]) - (y - a[1]) * (c[0] - a[0])) / area
                across = ((b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0])) / area
                height = a[2] + along * (b[2] - a[2]) + across * (c[2] - a[2])
                height = min(max(height, lowest), highest)
                if count == cells.shape[0]:
                    more_cells, more_crossed = np.empty(2 * count, np.int64), np.empty(2 * count, np.int32)
                    for at in range(count):
                        more_cells[at], more_crossed[at] = cells[at], crossed[at]
                    cells, crossed = more_cells, more_crossed
                cells[count] = (row * shape[1] + column) * shape[2] + int(np.floor(height + 0.5))
                crossed[count] = side * (of_face[triangle] + 1)
                count += 1
    return cells[:count], crossed[:count]


@kernel
def _fill(cells: I64, crossed: I32, signs: I32, is_oriented: Bools, mask: U8, outside: Bools) -> None:
    """Set the cells inside, from sorted crossings; mark ``outside`` the cavities that lie outside all other shells."""
    height = mask.shape[2]
    windings = np.zeros(signs.shape[0], np.int64)
    around, cavities, line = 0, 0, -1
    for at in range(cells.shape[0]):
        if cells[at] // height != line:
            if at > 0:
                for back in range(at - 1, -1, -1):
                    if cells[back] // height != line:
                        break
                    windings[abs(crossed[back]) - 1] = 0
            around, cavities, line = 0, 0, cells[at] // height
        shell = abs(crossed[at]) - 1
        before = abs(windings[shell])
        windings[shell] += 1 if crossed[at] > 0 else -1
        if not is_oriented[shell]:
            windings[shell] &= 1
        change = abs(windings[shell]) - before
        if signs[shell] > 0:
            around += change
        else:
            cavities += change
        if at + 1 == cells.shape[0] or cells[at + 1] == cells[at] or cells[at + 1] // height != line:
            continue
        if around != cavities:
            row, column = line // mask.shape[1], line % mask.shape[1]
            for cell in range(cells[at] % height, cells[at + 1] % height):
                mask[row, column, cell] = 1
        if around == 0 and cavities > 0:
            for back in range(at, -1, -1):
                if cells[back] // height != line:
                    break
                if windings[abs(crossed[back]) - 1] != 0:
                    outside[abs(crossed[back]) - 1] = True


@kernel
def conservative_cells(corners: Corners, mask: U8) -> None:
    """Set every cell that a triangle touches, sides and corners included, by separating axes of triangle and box.

    After Akenine-Möller (2001). The thirteen axes are tested with a margin above the rounding error: a cell that misses
    the triangle by 10⁻⁹ of a cell may be set, and none is left out.
    """
    margin = 1e-9
    axis = np.empty(3)
    for triangle in range(corners.shape[0]):
        a, b, c = corners[triangle, 0], corners[triangle, 1], corners[triangle, 2]
        first, last = np.empty(3, np.int64), np.empty(3, np.int64)
        scale = 1.0
        for at in range(3):
            low, high = min(a[at], b[at], c[at]), max(a[at], b[at], c[at])
            scale = max(scale, abs(low), abs(high))
            first[at] = max(0, int(np.ceil(low - margin)) - 1)
            last[at] = min(mask.shape[at] - 1, int(np.floor(high + margin)))
        # Nine cross products of edges and axes, then the normal; the range of the triangle is the same for all cells.
        tests = np.empty((10, 5))
        for number in range(10):
            if number < 9:
                edge, unit = number // 3, number % 3
                start, stop = corners[triangle, edge], corners[triangle, (edge + 1) % 3]
                u, v = (unit + 1) % 3, (unit + 2) % 3
                axis[unit], axis[u], axis[v] = 0.0, -(stop[v] - start[v]), stop[u] - start[u]
            else:
                for at in range(3):
                    u, v = (at + 1) % 3, (at + 2) % 3
                    axis[at] = (b[u] - a[u]) * (c[v] - a[v]) - (b[v] - a[v]) * (c[u] - a[u])
            size = abs(axis[0]) + abs(axis[1]) + abs(axis[2])
            for at in range(3):
                tests[number, at] = axis[at] / size if size > 0.0 else 0.0
            one = tests[number, 0] * a[0] + tests[number, 1] * a[1] + tests[number, 2] * a[2]
            two = tests[number, 0] * b[0] + tests[number, 1] * b[1] + tests[number, 2] * b[2]
            three = tests[number, 0] * c[0] + tests[number, 1] * c[1] + tests[number, 2] * c[2]
            radius = 0.5 * (abs(tests[number, 0]) + abs(tests[number, 1]) + abs(tests[number, 2])) + margin
            radius += 1e-14 * scale
            tests[number, 3] = min(one, two, three) - radius
            tests[number, 4] = max(one, two, three) + radius
        for row in range(first[0], last[0] + 1):
            for column in range(first[1], last[1] + 1):
                for cell in range(first[2], last[2] + 1):
                    apart = False
                    for number in range(10):
                        centre = (
                            tests[number, 0] * (row + 0.5)
                            + tests[number, 1] * (column + 0.5)
                            + tests[number, 2] * (cell + 0.5)
                        )
                        if centre < tests[number, 3] or centre > tests[number, 4]:
                            apart = True
                            break
                    if not apart:
                        mask[row, column, cell] = 1
