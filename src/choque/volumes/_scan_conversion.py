"""The three ways to set the cells of a triangle, in lattice units; set in a mask of bytes that holds them all."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import kernel

Corners = NDArray[np.float64]
"""(m, 3, 3): for each triangle its corners, columns x, y, z."""


@kernel
def surface_cells(corners: NDArray[np.int64], mask: NDArray[np.uint8]) -> None:
    """A layer one cell thick: corners are cells already, edges by steps, the inside by one cell a column.

    The scan conversion of Kaufman and Shimony (1986): along the axis that the triangle faces most, so that no column of
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
        facing, most = 0, 0
        for axis in range(3):
            u, v = (axis + 1) % 3, (axis + 2) % 3
            area = abs((b[u] - a[u]) * (c[v] - a[v]) - (b[v] - a[v]) * (c[u] - a[u]))
            if area > most:
                facing, most = axis, area
        if most == 0:
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
                    cell[facing] = (2 * height + most) // (2 * most)
                    mask[cell[0], cell[1], cell[2]] = 1


@kernel
def _side(start: NDArray[np.float64], stop: NDArray[np.float64], x: float, y: float) -> int:
    """On which side of an edge, seen along z, the point lies: 1 or -1, never 0.

    The ends are always taken in the same order, so that two triangles at one edge agree; a point on the line counts as
    moved by an infinitesimal along x, and by a smaller one along y.
    """
    if start[0] > stop[0] or (start[0] == stop[0] and start[1] > stop[1]):
        return -_side_sorted(stop, start, x, y)
    return _side_sorted(start, stop, x, y)


@kernel
def _side_sorted(start: NDArray[np.float64], stop: NDArray[np.float64], x: float, y: float) -> int:
    value = (stop[0] - start[0]) * (y - start[1]) - (stop[1] - start[1]) * (x - start[0])
    if value != 0.0:
        return 1 if value > 0.0 else -1
    if stop[1] != start[1]:
        return -1 if stop[1] > start[1] else 1
    return 1


@kernel
def solid_cells(corners: Corners, mask: NDArray[np.uint8]) -> None:
    """The cells whose centres are inside a closed mesh: an odd number of triangles lies below them."""
    for triangle in range(corners.shape[0]):
        a, b, c = corners[triangle, 0], corners[triangle, 1], corners[triangle, 2]
        area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        if area == 0.0:
            continue  # seen edge-on: no centre lies over it
        first = int(np.floor(min(a[0], b[0], c[0]) - 0.5))
        last = int(np.ceil(max(a[0], b[0], c[0])))
        low = int(np.floor(min(a[1], b[1], c[1]) - 0.5))
        high = int(np.ceil(max(a[1], b[1], c[1])))
        lowest, highest = min(a[2], b[2], c[2]), max(a[2], b[2], c[2])
        for row in range(max(first, 0), min(last + 1, mask.shape[0])):
            for column in range(max(low, 0), min(high + 1, mask.shape[1])):
                x, y = row + 0.5, column + 0.5
                side = _side(a, b, x, y)
                if _side(b, c, x, y) != side or _side(c, a, x, y) != side:
                    continue
                along = ((x - a[0]) * (c[1] - a[1]) - (y - a[1]) * (c[0] - a[0])) / area
                across = ((b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0])) / area
                height = a[2] + along * (b[2] - a[2]) + across * (c[2] - a[2])
                height = min(max(height, lowest), highest)
                mask[row, column, int(np.floor(height + 0.5))] ^= 1
    for row in range(mask.shape[0]):
        for column in range(mask.shape[1]):
            inside = 0
            for cell in range(mask.shape[2]):
                inside ^= mask[row, column, cell]
                mask[row, column, cell] = inside


@kernel
def conservative_cells(corners: Corners, mask: NDArray[np.uint8]) -> None:
    """Every cell that a triangle touches, sides and corners included: separating axes of triangle and box.

    After Akenine-Möller (2001). The thirteen axes are tested with a margin above the rounding error, so a cell may be
    set that misses the triangle by 10⁻⁹ of a cell, and none is left out.
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
        # Nine cross products of edges and axes, then the normal: each range of the triangle once, for all cells.
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
