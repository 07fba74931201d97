"""Other representations of voxel objects to compare with: a dense mask, rows of runs, and an octree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import kernel

Mask = NDArray[np.bool_]
"""(nx, ny, nz) voxels."""
Shift = tuple[int, int, int]
"""Translation of the second object [voxels]."""


class DenseMask:
    """One byte for each voxel; a collision is the AND of the parts that lie over each other."""

    def __init__(self, mask: NDArray[np.bool_]) -> None:
        self.mask = mask

    @property
    def byte_count(self) -> int:
        """Size of the mask [bytes]."""
        return self.mask.nbytes

    def collides(self, other: DenseMask, shift: Shift) -> bool:
        """Return whether a voxel is full in both when the other is moved by ``shift``."""
        one, two = self._common(other, shift)
        return bool((one & two).any())

    def _common(self, other: DenseMask, shift: Shift) -> tuple[Mask, Mask]:
        """Return the parts of both that lie over each other."""
        own, others = [], []
        for size, other_size, step in zip(self.mask.shape, other.mask.shape, shift, strict=True):
            low = max(0, step)
            high = max(low, min(size, other_size + step))
            own.append(slice(low, high))
            others.append(slice(low - step, high - step))
        return self.mask[tuple(own)], other.mask[tuple(others)]


class EarlyMask(DenseMask):
    """The same bytes, compared plane by plane from the middle outward until one has a shared voxel."""

    def collides(self, other: DenseMask, shift: Shift) -> bool:
        """Return whether a voxel is full in both when the other is moved by ``shift``."""
        one, two = self._common(other, shift)
        middle = len(one) // 2
        return any(
            bool((one[plane] & two[plane]).any())
            for plane in sorted(range(len(one)), key=lambda plane: abs(plane - middle))
        )


class RunRows:
    """The runs of full voxels of every row along z: run-length coding with an index."""

    def __init__(self, mask: NDArray[np.bool_]) -> None:
        self.shape = mask.shape
        ends, counts = [], [np.zeros(1, np.int64)]
        for section in mask:
            edges = np.diff(np.pad(section, ((0, 0), (1, 1))).view(np.int8), axis=1)
            row, at = np.nonzero(edges)
            ends.append(at.astype(np.int32))
            counts.append(np.bincount(row, minlength=mask.shape[1]))
        self.ends = np.concatenate([np.empty(0, np.int32), *ends])
        self.starts = np.cumsum(np.concatenate(counts)).astype(np.int32)

    @property
    def byte_count(self) -> int:
        """Size of the runs and their index [bytes]."""
        return self.ends.nbytes + self.starts.nbytes

    def collides(self, other: RunRows, shift: Shift) -> bool:
        """Return whether a voxel is full in both when the other is moved by ``shift``."""
        sizes = np.array((*self.shape, *other.shape), np.int64)
        return bool(_rows_collide(self.starts, self.ends, other.starts, other.ends, sizes, *shift))


class Octree:
    """Cubes that are halved along every axis until they are full or empty.

    A node is a row of eight children, by the bits of x, y, z: the row of a child, or a mark for a full or an empty one.
    The edge of the root is a power of two.
    """

    def __init__(self, mask: NDArray[np.bool_]) -> None:
        depth = max(1, int(np.ceil(np.log2(max(*mask.shape, 2)))))
        self.edge = 1 << depth
        cells = np.zeros((self.edge,) * 3, np.bool_)
        cells[tuple(slice(size) for size in mask.shape)] = mask
        some: list[NDArray[np.bool_]] = [cells]
        every: list[NDArray[np.bool_]] = [cells]
        for _ in range(depth):
            some.append(_halved(some[-1], np.logical_or))
            every.append(_halved(every[-1], np.logical_and))
        rows, mixed, total = [], np.zeros((1, 3), np.int64), 1
        for level in range(depth - 1, -1, -1):
            corners = (2 * mixed[:, None] + _CORNERS).reshape(-1, 3)
            at = tuple(corners.T)
            children = np.where(every[level][at], _FULL, _EMPTY)
            split = some[level][at] & ~every[level][at]
            children[split] = total + np.arange(split.sum())
            total += int(split.sum())
            rows.append(children.reshape(-1, 8))
            mixed = corners[split]
        self.nodes = np.concatenate(rows).astype(np.int32)

    @property
    def byte_count(self) -> int:
        """Size of the nodes [bytes]."""
        return self.nodes.nbytes

    def collides(self, other: Octree, shift: Shift) -> bool:
        """Return whether a voxel is full in both when the other is moved by ``shift``."""
        return bool(_trees_collide(self.nodes, self.edge, other.nodes, other.edge, *shift))


_FULL, _EMPTY = -1, -2
_CORNERS = np.array([[child & 1, child >> 1 & 1, child >> 2] for child in range(8)], np.int64)


def _halved(cells: NDArray[np.bool_], both: np.ufunc) -> NDArray[np.bool_]:
    """Combine cubes of eight cells into one cell each."""
    for axis in range(3):
        even, odd = (cells[(slice(None),) * axis + (slice(start, None, 2),)] for start in (0, 1))
        cells = both(even, odd)
    return cells


@kernel
def _trees_collide(
    nodes: NDArray[np.int32],
    edge: int,
    other_nodes: NDArray[np.int32],
    other_edge: int,
    shift_x: int,
    shift_y: int,
    shift_z: int,
) -> bool:
    """Descend into both, the larger cube first, where cubes overlap; an entry is the row, corner and edge of a node."""
    stack = np.empty((1024, 10), np.int64)
    for axis in range(10):
        stack[0, axis] = 0
    stack[0, 4], stack[0, 9] = edge, other_edge
    stack[0, 6], stack[0, 7], stack[0, 8] = shift_x, shift_y, shift_z
    top = 1
    while top > 0:
        top -= 1
        first, second = stack[top, 0], stack[top, 5]
        size, other_size = stack[top, 4], stack[top, 9]
        apart = False
        for axis in range(1, 4):
            low, other_low = stack[top, axis], stack[top, axis + 5]
            apart = apart or low >= other_low + other_size or other_low >= low + size
        if apart:
            continue
        if first == _FULL and second == _FULL:
            return True
        split_first = second == _FULL or (first != _FULL and size >= other_size)
        own = 0 if split_first else 5
        row, half = stack[top, own], stack[top, own + 4] // 2
        x, y, z = stack[top, own + 1], stack[top, own + 2], stack[top, own + 3]
        rest = 5 - own
        kept_row, kept_x, kept_y = stack[top, rest], stack[top, rest + 1], stack[top, rest + 2]
        kept_z, kept_size = stack[top, rest + 3], stack[top, rest + 4]
        for child in range(8):
            following = nodes[row, child] if split_first else other_nodes[row, child]
            if following == _EMPTY:
                continue
            stack[top, own], stack[top, own + 4] = following, half
            stack[top, own + 1] = x + half * (child & 1)
            stack[top, own + 2] = y + half * (child >> 1 & 1)
            stack[top, own + 3] = z + half * (child >> 2)
            stack[top, rest], stack[top, rest + 1], stack[top, rest + 2] = kept_row, kept_x, kept_y
            stack[top, rest + 3], stack[top, rest + 4] = kept_z, kept_size
            top += 1
    return False


@kernel
def _rows_collide(
    starts: NDArray[np.int32],
    ends: NDArray[np.int32],
    other_starts: NDArray[np.int32],
    other_ends: NDArray[np.int32],
    sizes: NDArray[np.int64],
    shift_x: int,
    shift_y: int,
    shift_z: int,
) -> bool:
    for x in range(max(0, shift_x), min(sizes[0], sizes[3] + shift_x)):
        for y in range(max(0, shift_y), min(sizes[1], sizes[4] + shift_y)):
            row, other_row = x * sizes[1] + y, (x - shift_x) * sizes[4] + y - shift_y
            at, last = starts[row], starts[row + 1]
            other, other_last = other_starts[other_row], other_starts[other_row + 1]
            while at < last and other < other_last:
                if ends[at + 1] <= other_ends[other] + shift_z:
                    at += 2
                elif other_ends[other + 1] + shift_z <= ends[at]:
                    other += 2
                else:
                    return True
    return False
