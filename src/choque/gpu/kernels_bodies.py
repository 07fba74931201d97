"""The Warp kernel that bounds bodies from their poses. Imported on use, because importing Warp takes seconds."""
# mypy: ignore-errors

from typing import Any

import warp as wp

from choque.gpu.session import overload

wp.set_module_options({"enable_backward": False, "fuse_fp": False})


@wp.kernel
def bound_bodies(
    form: wp.array(dtype=wp.int32),
    size: wp.array2d(dtype=wp.float64),
    points: wp.array2d(dtype=wp.float64),
    starts: wp.array(dtype=wp.int32),
    position: wp.array2d(dtype=Any),
    rotation: wp.array2d(dtype=Any),
    direction: wp.array2d(dtype=wp.float64),
    limits: wp.array(dtype=wp.float64),
    slabs: wp.array2d(dtype=Any),
):
    """Write the extent of a body along one direction; one item a body and direction.

    The operations are those of `choque.narrow.extents.bound_slabs`, in double precision and without fused
    multiply-adds, so that the slabs equal those of the CPU bit for bit. ``form`` and ``size`` are described by
    `choque.broad.devices.DeviceShapes`; ``limits`` holds the slack and infinity.
    """
    body, slab = wp.tid()
    x = direction[slab, 0]
    y = direction[slab, 1]
    z = direction[slab, 2]
    place_x = x * wp.float64(position[body, 0])
    place_y = y * wp.float64(position[body, 1])
    place_z = z * wp.float64(position[body, 2])
    middle = place_x + place_y + place_z
    far = wp.abs(place_x) + wp.abs(place_y) + wp.abs(place_z)
    low = -limits[1]
    high = limits[1]
    along_x = x * wp.float64(rotation[body, 0]) + y * wp.float64(rotation[body, 3]) + z * wp.float64(rotation[body, 6])
    along_y = x * wp.float64(rotation[body, 1]) + y * wp.float64(rotation[body, 4]) + z * wp.float64(rotation[body, 7])
    along_z = x * wp.float64(rotation[body, 2]) + y * wp.float64(rotation[body, 5]) + z * wp.float64(rotation[body, 8])
    hull = form[body]
    if hull >= 0:
        u = size[body, 0] * along_x
        v = size[body, 1] * along_y
        w = size[body, 2] * along_z
        low = limits[1]
        high = -limits[1]
        for point in range(starts[hull], starts[hull + 1]):
            along = u * points[point, 0] + v * points[point, 1] + w * points[point, 2]
            low = wp.min(low, along)
            high = wp.max(high, along)
        far += high - low
    elif hull == -1:
        high = size[body, 0] * wp.sqrt(x * x + y * y + z * z)
        high = high + size[body, 1] * wp.abs(along_x)
        high = high + size[body, 2] * wp.abs(along_z)
        low = -high
        far += high
    else:
        up_x = wp.float64(rotation[body, 1])
        up_y = wp.float64(rotation[body, 4])
        up_z = wp.float64(rotation[body, 7])
        if y * up_z == z * up_y and z * up_x == x * up_z and x * up_y == y * up_x:
            if along_y > limits[0] - limits[0]:
                high = limits[0] - limits[0]
            else:
                low = limits[0] - limits[0]
    slabs[body, slab] = type(position[body, 0])(middle + low - limits[0] * far)
    slabs[body, direction.shape[0] + slab] = type(position[body, 0])(middle + high + limits[0] * far)


overload((wp.float32, wp.float64), bound_bodies)
