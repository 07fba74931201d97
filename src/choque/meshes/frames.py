"""The frames of two meshes, one of them in a pose: boxes of one tree as queries to the other.

Boxes are relative to the middles of their meshes. Everything that rounding could lose is added to the queries, so that
a pair of triangles that meets is never left out: the corners of triangles in a pose are rounded too.
"""

from __future__ import annotations

from choque._core.kernel import forceinline, helper
from choque._core.types import F32, F64, Integer
from choque.meshes.lanes import LOOSE, MIDDLE, SIDES, SLAB
from choque.meshes.poses import RigidPoses, placed
from choque.meshes.surface import Surface, float_above, float_below, vertex
from choque.meshes.triangles import Triangle

ROUNDING = 1e-14  # more than the error of a few sums of products in float64, in terms of their magnitudes
PROJECTING = 1e-6  # more than the error of a projection in float32, in terms of the magnitudes of coordinates
FRAME = 14  # numbers that describe a frame: a matrix, a shift, what rounding may lose, and what projecting may lose


@helper
def fill_frames(one: Surface, two: Surface, poses: RigidPoses, row: Integer, frames: F64) -> None:
    """Write to ``frames`` (2, 14) how boxes of the second mesh appear in the first one, and the other way round.

    The inverse is that of the matrix as it is, which need not be orthonormal to the last digit.
    """
    rotation = poses.rotation
    volume = 0.0
    for i in range(3):
        j, m = (i + 1) % 3, (i + 2) % 3
        for k in range(3):
            n, p = (k + 1) % 3, (k + 2) % 3
            frames[0, 3 * i + k] = rotation[row, i, k]
            frames[1, 3 * k + i] = rotation[row, j, n] * rotation[row, m, p] - rotation[row, j, p] * rotation[row, m, n]
        volume += rotation[row, 0, i] * frames[1, 3 * i]
    size = 0.0
    for i in range(3):
        shift = poses.translation[row, i]
        reach = abs(shift) + abs(one.middle[i])
        for k in range(3):
            frames[1, 3 * i + k] /= volume
            shift += rotation[row, i, k] * two.middle[k]
            reach += abs(two.middle[k])
        frames[0, 9 + i] = shift - one.middle[i]
        size = max(size, reach)
    for i in range(3):
        shift = 0.0
        for k in range(3):
            shift -= frames[1, 3 * i + k] * frames[0, 9 + k]
        frames[1, 9 + i] = shift
    frames[0, 12] = frames[1, 12] = ROUNDING * (size + one.root[11] + two.root[11])
    frames[0, 13], frames[1, 13] = PROJECTING * one.root[11], PROJECTING * two.root[11]


@forceinline
def copy_box(surface: Surface, level: Integer, block: Integer, box: F64) -> None:
    """Write the bounds (6,) around a block and its slab (5,), which is none for the highest one."""
    lanes, level_first = surface.lanes, surface.level_first
    if level < level_first.size - 2:
        parent, lane = level_first[level + 1] + block // 16, block % 16
        for bound in range(6):
            box[bound] = lanes[96 * parent + 16 * bound + lane]
        for column in range(5):
            box[6 + column] = surface.slabs[80 * parent + 16 * column + lane]
    else:
        for column in range(11):
            box[column] = surface.root[column]


@forceinline
def fill_query(frames: F64, target: Integer, box: F64, query: F32) -> None:
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
def placed_triangle(surface: Surface, poses: RigidPoses, row: Integer, place: Integer) -> Triangle:
    """Return the triangle at a place of the tree, in pose ``row``."""
    return (
        placed(poses.rotation, poses.translation, row, vertex(surface, place, 0)),
        placed(poses.rotation, poses.translation, row, vertex(surface, place, 1)),
        placed(poses.rotation, poses.translation, row, vertex(surface, place, 2)),
    )
