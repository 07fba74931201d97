"""Warp kernels that only the k-DOP thesis needs: vertices, their bounds, and two sorts.

The decimal radix sort of the thesis is here step by step, and the bitonic network that it is compared with.
"""
# mypy: ignore-errors
# ruff: noqa: RUF046, UP018 (Warp tells a variable from a constant by these calls)

from typing import Any

import warp as wp

from choque.gpu.session import overload

wp.set_module_options({"enable_backward": False, "fuse_fp": False})


@wp.kernel
def turn_quaternions(quaternion: wp.array2d(dtype=Any), rotation: wp.array2d(dtype=Any)):
    """Convert unit quaternions (x, y, z, w) to rotation matrices, (n, 9) by rows; one item a body."""
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
    """Write rotation (scale · point) + position; one item a vertex of a body."""
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
    """Return the rounding error of the projection of a vertex, for a relative error ``slack``."""
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
    """Write the extents of a body along every direction; one item a body."""
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
    """Write the same numbers as `build_kdops`; one item a body and direction."""
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
    """Write the distance of the farthest vertex from the position, rounded outward; one item a body."""
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
    """Write the position and the known radius; one item a body."""
    body = wp.tid()
    for axis in range(3):
        spheres[body, axis] = position[body, axis]
    spheres[body, 3] = radius[body]


@wp.kernel
def project_spheres(
    spheres: wp.array2d(dtype=Any),
    direction: wp.array(dtype=Any),
    slack: wp.array(dtype=Any),
    intervals: wp.array2d(dtype=Any),
):
    """Write the interval centre · direction ∓ radius · length of each sphere, (n, 2), rounded outward.

    The length of the direction is its fourth number.
    """
    body = wp.tid()
    along = slack[0] - slack[0]
    size = slack[0] - slack[0]
    for axis in range(3):
        along += direction[axis] * spheres[body, axis]
        size += wp.abs(direction[axis] * spheres[body, axis])
    reach = spheres[body, 3] * direction[3]
    reach += slack[0] * (size + reach)
    intervals[body, 0] = along - reach
    intervals[body, 1] = along + reach


@wp.kernel
def gather_keys(intervals: wp.array2d(dtype=Any), order: wp.array(dtype=wp.int32), keys: wp.array(dtype=Any)):
    """Write the keys in ``order``."""
    place = wp.tid()
    keys[place] = intervals[order[place], 0]


@wp.kernel
def quantise(
    intervals: wp.array2d(dtype=Any),
    per_unit: wp.float64,
    most: wp.float64,
    fixed: wp.array2d(dtype=wp.int32),
    too_large: wp.array(dtype=wp.int32),
):
    """Convert to ten-thousandths, rounded down, so that no order is reversed.

    A millionth of one is added first: floats lie up to that beside the decimal numbers that are meant. ``too_large``
    gets the last row that is beyond ``most``.
    """
    body, side = wp.tid()
    scaled = wp.floor(wp.float64(intervals[body, side]) * per_unit + wp.float64(1e-6))
    if scaled > most or scaled < -most:
        wp.atomic_max(too_large, 0, body)
    else:
        fixed[body, side] = wp.int32(scaled)


@wp.func
def bin_of(key: wp.int32, weight: wp.int32):
    """Return the decimal digit of |key| with this ``weight``; with weight 0 the sign: 0 if negative, else 1."""
    if weight == 0:
        if key < 0:
            return 0
        return 1
    return int((wp.abs(key) / weight) % 10)


@wp.kernel
def count_bins(
    fixed: wp.array2d(dtype=wp.int32),
    order: wp.array(dtype=wp.int32),
    weight: wp.int32,
    chunk: int,
    table: wp.array2d(dtype=wp.int32),
):
    """Step COUNT: write the histogram of each chunk to a row of ``table``; one item a chunk."""
    item = wp.tid()
    for digit in range(table.shape[1]):
        table[item, digit] = 0
    for place in range(item * chunk, wp.min((item + 1) * chunk, order.shape[0])):
        digit = bin_of(fixed[order[place], 0], weight)
        table[item, digit] = table[item, digit] + 1


@wp.kernel
def scan_bins(source: wp.array2d(dtype=wp.int32), step: int, target: wp.array2d(dtype=wp.int32)):
    """Step SCAN: one doubling step of the prefix sums over the rows, for each digit."""
    item, digit = wp.tid()
    total = source[item, digit]
    if item >= step:
        total += source[item - step, digit]
    target[item, digit] = total


@wp.kernel
def reorder_digits(
    fixed: wp.array2d(dtype=wp.int32),
    order: wp.array(dtype=wp.int32),
    weight: wp.int32,
    chunk: int,
    totals: wp.array(dtype=wp.int32),
    table: wp.array2d(dtype=wp.int32),
    target: wp.array(dtype=wp.int32),
):
    """Step REORDER: move each chunk, last to first, to the places that the scanned counts give; stable.

    ``totals`` are the elements of each digit, the last row of the scanned table.
    """
    item = wp.tid()
    place = wp.min((item + 1) * chunk, order.shape[0]) - 1
    while place >= item * chunk:
        digit = bin_of(fixed[order[place], 0], weight)
        start = int(0)
        for lower in range(digit):
            start += totals[lower]
        rank = table[item, digit]
        table[item, digit] = rank - 1
        target[start + rank - 1] = order[place]
        place -= 1


@wp.kernel
def reorder_signs(
    fixed: wp.array2d(dtype=wp.int32),
    order: wp.array(dtype=wp.int32),
    chunk: int,
    totals: wp.array(dtype=wp.int32),
    table: wp.array2d(dtype=wp.int32),
    target: wp.array(dtype=wp.int32),
):
    """Sign pass: negative keys in reverse order, then the others in their order."""
    item = wp.tid()
    place = wp.min((item + 1) * chunk, order.shape[0]) - 1
    while place >= item * chunk:
        digit = bin_of(fixed[order[place], 0], wp.int32(0))
        rank = table[item, digit]
        table[item, digit] = rank - 1
        if digit == 1:
            target[totals[0] + rank - 1] = order[place]
        else:
            target[totals[0] - rank] = order[place]
        place -= 1


@wp.kernel
def exchange_pairs(keys: wp.array(dtype=Any), order: wp.array(dtype=wp.int32), run: int, distance: int):
    """Step of a bitonic network: exchange places that differ in bit ``distance``, ascending if ``run`` is clear."""
    place = wp.tid()
    partner = place ^ distance
    if partner > place:
        is_after = keys[place] > keys[partner] or (keys[place] == keys[partner] and order[place] > order[partner])
        if is_after == ((place & run) == 0):
            key = keys[place]
            keys[place] = keys[partner]
            keys[partner] = key
            row = order[place]
            order[place] = order[partner]
            order[partner] = row


@wp.kernel
def pad_keys(keys: wp.array(dtype=Any), order: wp.array(dtype=wp.int32), count: int, last: wp.array(dtype=Any)):
    """Fill the places from ``count`` on with keys that come after all others."""
    place = count + wp.tid()
    keys[place] = last[0]
    order[place] = place


overload(
    (wp.float32, wp.float64),
    turn_quaternions,
    place_vertices,
    build_kdops,
    build_kdops_by_axis,
    build_radii,
    build_spheres,
    project_spheres,
    gather_keys,
    quantise,
    exchange_pairs,
    pad_keys,
)
overload((wp.int32,), gather_keys)  # of fixed-point keys
