"""The frames of two meshes, one of them in a pose: boxes of one tree as queries to the other.

Boxes are relative to the middles of their meshes. Everything that rounding could lose is added to the queries, so that
a pair of triangles that meets is never left out: the corners of triangles in a pose are rounded too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import forceinline, helper
from choque._core.types import Integer
from choque.meshes.lanes import LOOSE, MIDDLE, SIDES, SLAB
from choque.meshes.poses import Poses, placed
from choque.meshes.surface import Surface, float_above, float_below, vertex
from choque.meshes.triangles import Triangle

ROUNDING = 1e-14
"""More than the error of a few sums of products in float64, in terms of their magnitudes."""
PROJECTING = 1e-6
"""More than the error of a projection in float32, in terms of the magnitudes of coordinates."""


class Motions(NamedTuple):
    """Poses of the second mesh with their inverses, for kernels: (k, 3, 3), (k, 3) and (k, 3, 3)."""

    rotation: NDArray[np.float64]
    translation: NDArray[np.float64]
    inverse: NDArray[np.float64]


def make_motions(poses: Poses) -> Motions:
    """Add the inverses of the rotations as they are: they need not be orthonormal to the last digit."""
    inverse = np.linalg.inv(poses.rotation) if len(poses) else poses.rotation
    return Motions(poses.rotation, poses.translation, np.ascontiguousarray(inverse))


FRAME = 14
"""Numbers that describe a frame: a matrix, a shift, what rounding may lose, and what projecting may lose."""


@helper
def fill_frames(one: Surface, two: Surface, motions: Motions, row: Integer, frames: NDArray[np.float64]) -> None:
    """Write to ``frames`` (2, 14) how boxes of the second mesh appear in the first one, and the other way round."""
    rotation, inverse = motions.rotation, motions.inverse
    size = 0.0
    for i in range(3):
        shift = motions.translation[row, i]
        reach = abs(shift) + abs(one.middle[i])
        for k in range(3):
            frames[0, 3 * i + k], frames[1, 3 * i + k] = rotation[row, i, k], inverse[row, i, k]
            shift += rotation[row, i, k] * two.middle[k]
            reach += abs(two.middle[k])
        frames[0, 9 + i] = shift - one.middle[i]
        size = max(size, reach)
    for i in range(3):
        shift = 0.0
        for k in range(3):
            shift -= inverse[row, i, k] * frames[0, 9 + k]
        frames[1, 9 + i] = shift
    own, other = _radius(one), _radius(two)
    frames[0, 12] = frames[1, 12] = ROUNDING * (size + own + other)
    frames[0, 13], frames[1, 13] = PROJECTING * own, PROJECTING * other


@helper
def _radius(surface: Surface) -> float:
    """Return the greatest magnitude of a coordinate in the tree."""
    start = 96 * (surface.level_first[surface.level_first.size - 1] - 1)
    radius = 0.0
    for k in range(96):
        value = abs(float(surface.lanes[start + k]))
        radius = value if value > radius else radius  # never for NaN
    return 2.0 * radius


@forceinline
def copy_box(surface: Surface, level: Integer, block: Integer, box: NDArray[np.float64]) -> None:
    """Write the bounds (6,) around a block and its slab (5,); for the highest one those around its lanes, and none."""
    lanes, level_first = surface.lanes, surface.level_first
    if level < level_first.size - 2:
        parent, lane = level_first[level + 1] + block // 16, block % 16
        for bound in range(6):
            box[bound] = lanes[96 * parent + 16 * bound + lane]
        for column in range(5):
            box[6 + column] = surface.slabs[80 * parent + 16 * column + lane]
        return
    for column in range(5):
        box[6 + column] = 0.0
    start = 96 * (level_first[level_first.size - 1] - 1)
    for axis in range(3):
        low, high = lanes[start + 16 * axis], lanes[start + 16 * (axis + 3)]
        for lane in range(1, 16):
            lower, upper = lanes[start + 16 * axis + lane], lanes[start + 16 * (axis + 3) + lane]
            low = lower if lower < low else low  # never for NaN
            high = upper if upper > high else high
        box[axis], box[axis + 3] = low, high


@forceinline
def fill_query(
    frames: NDArray[np.float64], target: Integer, box: NDArray[np.float64], query: NDArray[np.float32]
) -> None:
    """Write the query for a box of one mesh to the tree of mesh ``target`` (0 or 1); see `choque.meshes.lanes`."""
    own = 1 - target
    slack, looseness = frames[target, 12], frames[target, 13]
    low, high = box[9], box[10]
    size = 0.0  # of what is rounded to float32 in the extent along a normal
    for i in range(3):
        middle, half, normal = frames[target, 9 + i], slack, 0.0
        for k in range(3):
            share, side = frames[target, 3 * i + k], 0.5 * (box[k + 3] - box[k])
            middle += share * (0.5 * (box[k] + box[k + 3]))
            half += abs(share) * side
            normal += frames[own, 3 * k + i] * box[6 + k]
            query[SIDES + 3 * k + i] = share * side
            size += abs(share * side)
        query[i], query[i + 3], query[MIDDLE + i] = float_below(middle - half), float_above(middle + half), middle
        for k in range(3):
            query[6 + 5 * i + k] = frames[own, 3 * i + k]
        query[9 + 5 * i] = float_below(box[i] - frames[own, 9 + i] - slack - looseness)
        query[10 + 5 * i] = float_above(box[i + 3] - frames[own, 9 + i] + slack + looseness)
        query[SLAB + i] = normal
        size += abs(middle)
        low, high = low - box[6 + i] * frames[own, 9 + i], high - box[6 + i] * frames[own, 9 + i]
    query[SLAB + 3] = float_below(low - slack - looseness)
    query[SLAB + 4] = float_above(high + slack + looseness)
    query[LOOSE] = float_above(2.0 * looseness + slack + PROJECTING * (size + abs(low) + abs(high)))


@forceinline
def placed_triangle(surface: Surface, motions: Motions, row: Integer, place: Integer) -> Triangle:
    """Return the triangle at a place of the tree, in pose ``row``."""
    return (
        placed(motions.rotation, motions.translation, row, vertex(surface, place, 0)),
        placed(motions.rotation, motions.translation, row, vertex(surface, place, 1)),
        placed(motions.rotation, motions.translation, row, vertex(surface, place, 2)),
    )
