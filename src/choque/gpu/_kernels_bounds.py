"""Kernels: vertices to the world, and the volumes around them. Apart, because Warp reads annotations on import."""
# mypy: ignore-errors

from typing import Any

import warp as wp

from choque.gpu._overloads import overload

wp.set_module_options({"enable_backward": False, "fuse_fp": False})


@wp.kernel
def turn_quaternions(quaternion: wp.array2d(dtype=Any), rotation: wp.array2d(dtype=Any)):
    """Unit quaternions (x, y, z, w) to rotation matrices, (n, 9) by rows."""
    body = wp.tid()
    x = quaternion[body, 0]
    y = quaternion[body, 1]
    z = quaternion[body, 2]
    w = quaternion[body, 3]
    s = type(x)(2.0) / (x * x + y * y + z * z + w * w)
    one = type(x)(1.0)
    rotation[body, 0] = one - s * (y * y + z * z)
    rotation[body, 1] = s * (x * y - w * z)
    rotation[body, 2] = s * (x * z + w * y)
    rotation[body, 3] = s * (x * y + w * z)
    rotation[body, 4] = one - s * (x * x + z * z)
    rotation[body, 5] = s * (y * z - w * x)
    rotation[body, 6] = s * (x * z - w * y)
    rotation[body, 7] = s * (y * z + w * x)
    rotation[body, 8] = one - s * (x * x + y * y)


@wp.kernel
def place_vertices(
    point: wp.array2d(dtype=Any),
    vertex_point: wp.array(dtype=wp.int32),
    vertex_body: wp.array(dtype=wp.int32),
    position: wp.array2d(dtype=Any),
    rotation: wp.array2d(dtype=Any),
    scale: wp.array2d(dtype=Any),
    world: wp.array2d(dtype=Any),
):
    """One item a vertex of a body: rotation (scale · point) + position."""
    vertex = wp.tid()
    body = vertex_body[vertex]
    row = vertex_point[vertex]
    x = scale[body, 0] * point[row, 0]
    y = scale[body, 1] * point[row, 1]
    z = scale[body, 2] * point[row, 2]
    for axis in range(3):
        turned = rotation[body, 3 * axis] * x + rotation[body, 3 * axis + 1] * y + rotation[body, 3 * axis + 2] * z
        world[vertex, axis] = turned + position[body, axis]


@wp.func
def slack_of(world: wp.array2d(dtype=Any), position: wp.array2d(dtype=Any), body: int, vertex: int, slack: Any):
    """How much the projection of a vertex may have lost, in the units of ``slack``."""
    size = wp.abs(world[vertex, 0]) + wp.abs(world[vertex, 1]) + wp.abs(world[vertex, 2])
    place = wp.abs(position[body, 0]) + wp.abs(position[body, 1]) + wp.abs(position[body, 2])
    return slack * (size + place)


@wp.func
def build_slab(
    world: wp.array2d(dtype=Any),
    starts: wp.array(dtype=wp.int32),
    position: wp.array2d(dtype=Any),
    direction: wp.array2d(dtype=Any),
    slack: wp.array(dtype=Any),
    slabs: wp.array2d(dtype=Any),
    body: int,
    slab: int,
):
    """Write the extent of the vertices of a body along one direction, rounded outward."""
    half = direction.shape[0]
    low = slack[1]
    high = -slack[1]
    lost = slack[0] - slack[0]
    for vertex in range(starts[body], starts[body + 1]):
        along = (
            direction[slab, 0] * world[vertex, 0]
            + direction[slab, 1] * world[vertex, 1]
            + direction[slab, 2] * world[vertex, 2]
        )
        low = wp.min(low, along)
        high = wp.max(high, along)
        lost = wp.max(lost, slack_of(world, position, body, vertex, slack[0]))
    slabs[body, slab] = low - lost
    slabs[body, half + slab] = high + lost


@wp.kernel
def build_kdops(
    world: wp.array2d(dtype=Any),
    starts: wp.array(dtype=wp.int32),
    position: wp.array2d(dtype=Any),
    direction: wp.array2d(dtype=Any),
    slack: wp.array(dtype=Any),
    slabs: wp.array2d(dtype=Any),
):
    """One item a body: its extents along every direction."""
    body = wp.tid()
    for slab in range(direction.shape[0]):
        build_slab(world, starts, position, direction, slack, slabs, body, slab)


@wp.kernel
def build_kdops_by_axis(
    world: wp.array2d(dtype=Any),
    starts: wp.array(dtype=wp.int32),
    position: wp.array2d(dtype=Any),
    direction: wp.array2d(dtype=Any),
    slack: wp.array(dtype=Any),
    slabs: wp.array2d(dtype=Any),
):
    """One item a body and direction: the same numbers as `build_kdops`, k/2 times as many items."""
    body, slab = wp.tid()
    build_slab(world, starts, position, direction, slack, slabs, body, slab)


@wp.kernel
def build_radii(
    world: wp.array2d(dtype=Any),
    starts: wp.array(dtype=wp.int32),
    position: wp.array2d(dtype=Any),
    slack: wp.array(dtype=Any),
    radius: wp.array(dtype=Any),
):
    """One item a body: how far its farthest vertex is from its position, rounded outward."""
    body = wp.tid()
    farthest = slack[0] - slack[0]
    for vertex in range(starts[body], starts[body + 1]):
        x = world[vertex, 0] - position[body, 0]
        y = world[vertex, 1] - position[body, 1]
        z = world[vertex, 2] - position[body, 2]
        distance = wp.sqrt(x * x + y * y + z * z)
        farthest = wp.max(farthest, distance + slack_of(world, position, body, vertex, slack[0]))
    radius[body] = farthest


@wp.kernel
def build_spheres(position: wp.array2d(dtype=Any), radius: wp.array(dtype=Any), spheres: wp.array2d(dtype=Any)):
    """One item a body: its position and its radius, which was measured before."""
    body = wp.tid()
    for axis in range(3):
        spheres[body, axis] = position[body, axis]
    spheres[body, 3] = radius[body]


overload(
    (wp.float32, wp.float64),
    turn_quaternions,
    place_vertices,
    build_kdops,
    build_kdops_by_axis,
    build_radii,
    build_spheres,
)
