"""The kernels of the Warp peers, in a module of their own because Warp reads annotations when kernels are defined."""
# mypy: ignore-errors

import warp as wp

wp.set_module_options({"enable_backward": False})


@wp.kernel
def hash_grid_pairs(
    grid: wp.uint64,
    centre: wp.array(dtype=wp.vec3),
    lower: wp.array(dtype=wp.vec3),
    upper: wp.array(dtype=wp.vec3),
    cell: float,
    count: wp.array(dtype=int),
    buffer: wp.array(dtype=wp.vec2i),
):
    """Test each box, in the grid's own order, against the boxes whose centres lie within reach."""
    first = wp.hash_grid_point_id(grid, wp.tid())
    low = lower[first]
    high = upper[first]
    reach = 0.5 * (cell + wp.max(high - low) * 1.00001)
    for second in wp.hash_grid_query(grid, centre[first], reach):
        if second > first:
            other_low = lower[second]
            other_high = upper[second]
            if (
                low[0] <= other_high[0]
                and low[1] <= other_high[1]
                and low[2] <= other_high[2]
                and other_low[0] <= high[0]
                and other_low[1] <= high[1]
                and other_low[2] <= high[2]
            ):
                place = wp.atomic_add(count, 0, 1)
                if place < buffer.shape[0]:
                    buffer[place] = wp.vec2i(first, second)


@wp.kernel
def bvh_pairs(
    bvh: wp.uint64,
    lower: wp.array(dtype=wp.vec3),
    upper: wp.array(dtype=wp.vec3),
    count: wp.array(dtype=int),
    buffer: wp.array(dtype=wp.vec2i),
):
    """Query the tree for the boxes that overlap each box."""
    first = wp.tid()
    query = wp.bvh_query_aabb(bvh, lower[first], upper[first])
    second = int(0)  # noqa: RUF046, UP018 (Warp tells a variable from a constant by this call)
    while wp.bvh_query_next(query, second):
        if second > first:
            place = wp.atomic_add(count, 0, 1)
            if place < buffer.shape[0]:
                buffer[place] = wp.vec2i(first, second)
