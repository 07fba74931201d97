"""The kernel of the Warp volumes, apart because Warp reads its annotations when it is imported."""
# mypy: ignore-errors

import warp as wp

wp.set_module_options({"enable_backward": False})


@wp.kernel
def look_up(grid: wp.uint64, voxels: wp.array2d(dtype=wp.int32), shift: wp.vec3i, hit: wp.array(dtype=wp.int32)):
    """Set ``hit`` if a voxel, moved by ``shift``, is full in the grid."""
    row = wp.tid()
    if hit[0] == 0:
        x = voxels[row, 0] + shift[0]
        y = voxels[row, 1] + shift[1]
        z = voxels[row, 2] + shift[2]
        if wp.volume_lookup_index(grid, x, y, z) >= 0:
            hit[0] = 1
