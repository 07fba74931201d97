"""Bodies that carry points, such as the vertices of meshes or hulls, and their bounds in any pose."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core import check
from choque._core import threads as thread_pool
from choque._core.rounding import narrow_up
from choque.bounds._bounds import Boxes, Slabs
from choque.bounds._kdops import KDops, directions
from choque.bounds._oriented import OrientedBoxes
from choque.bounds._spheres import Spheres
from choque.bounds._support_map import (
    RESOLUTION,
    STORING,
    Poses,
    SupportMap,
    farthest_points,
    fit_vertices,
    place_boxes,
    turn_map,
)
from choque.errors import InvalidInput, UnknownName

_SOURCES = ("vertices", "map")


class BodyPoints:
    """Groups of points in body coordinates, and bounds of any number of bodies that carry them.

    A point v of a body is in the world at ``rotation @ (scale * v) + position``.

    Parameters
    ----------
    points
        Finite numbers (p, 3), or (groups, p, 3) without ``starts``.
    starts
        (groups + 1,) where each group starts, and the number of points at the end.

    Notes
    -----
    Every volume contains every point of its body: the rounding error, about 2⁻⁴⁶ of the size, is added outward.
    Volumes have the float type of ``position`` and ``rotation``, the wider one if they differ. The arguments of all
    methods:

    groups
        (n,) the group of points that each body carries.
    position
        (n, 3) the origin of body coordinates.
    rotation
        (n, 3, 3), any matrices.
    scale
        A number, (3,) for all bodies, or (n, 3); no zeros, negative numbers are reflections.
    """

    def __init__(self, points: ArrayLike, starts: ArrayLike | None = None) -> None:
        flat, rows = check.groups(points, starts)
        if flat.shape[1] != 3:
            raise InvalidInput(f"points has the shape {flat.shape}; bodies that carry points are in 3D: give (p, 3).")
        self.points: NDArray[np.float64] = flat.astype(np.float64)
        self.starts = rows
        self._maps: dict[int, SupportMap] = {}

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __repr__(self) -> str:
        return f"<BodyPoints: {len(self.points)} points in {len(self)} groups>"

    def kdops(
        self,
        groups: ArrayLike,
        position: ArrayLike,
        rotation: ArrayLike,
        scale: ArrayLike = 1.0,
        *,
        k: int = 18,
        source: str = "vertices",
        resolution: int = RESOLUTION,
        threads: int | None = None,
    ) -> KDops:
        """Return the k-DOPs around the bodies, for any k that `directions` offers in space.

        Parameters
        ----------
        groups, position, rotation, scale
            See the class.
        k
            6, 14, 18 or 26.
        source
            ``"vertices"``: the smallest k-DOPs, from all points: O(points · k) a body. ``"map"``: from a `SupportMap`
            of each group, made once: O(k) a body for any number of points, and wider than the smallest by at most about
            1/``resolution`` of the size.
        resolution
            Cells along the edge of a map's cube: a power of two.
        threads
            Number of threads; None for all.
        """
        if source not in _SOURCES:
            raise UnknownName("source of k-DOPs", str(source), _SOURCES)
        along = directions(k)
        if along.shape[1] != 3:
            raise InvalidInput(f"k is {k!r}; bodies that carry points are in 3D: choose 6, 14, 18 or 26.")
        poses = self._poses(groups, position, rotation, scale)
        count, dtype = len(poses.groups), poses.position.dtype
        slabs = Slabs(np.empty((count, len(along)), dtype), np.empty((count, len(along)), dtype))
        if source == "vertices":
            kernel: Any = fit_vertices
            carried: Any = (self.points, self.starts)
        else:
            support = self.support_map(resolution)
            kernel, carried = turn_map, (support.values, support.sizes)
        thread_count = thread_pool.resolve_count(threads, count)
        shares = thread_pool.ranges(count, thread_count)
        arguments = (carried, along.astype(np.float64), poses, STORING[dtype], slabs)
        thread_pool.run(lambda part: kernel(*shares[part], *arguments), len(shares))
        return KDops(k, slabs.lower, slabs.upper)

    def boxes(
        self,
        groups: ArrayLike,
        position: ArrayLike,
        rotation: ArrayLike,
        scale: ArrayLike = 1.0,
        *,
        source: str = "vertices",
        resolution: int = RESOLUTION,
        threads: int | None = None,
    ) -> Boxes:
        """Return the axis-aligned boxes around the bodies: those of their 6-DOPs, bit for bit."""
        slabs = self.kdops(
            groups, position, rotation, scale, k=6, source=source, resolution=resolution, threads=threads
        )
        return Boxes.unchecked(slabs.lower, slabs.upper)

    def spheres(self, groups: ArrayLike, position: ArrayLike, rotation: ArrayLike, scale: ArrayLike = 1.0) -> Spheres:
        """Return spheres centred at the bodies' positions that reach the farthest point: rotations change nothing."""
        poses = self._poses(groups, position, rotation, scale)
        radius = np.empty(len(poses.groups))
        farthest_points(self.points, self.starts, poses, radius)
        return Spheres(poses.position, narrow_up(radius, poses.position.dtype))

    def oriented(
        self, groups: ArrayLike, position: ArrayLike, rotation: ArrayLike, scale: ArrayLike = 1.0
    ) -> OrientedBoxes:
        """Return the boxes along body axes around each group, turned with the bodies by orthonormal rotations."""
        poses = self._poses(groups, position, rotation, scale)
        local = Boxes.fit(self.points, self.starts)
        shape, dtype = poses.position.shape, poses.position.dtype
        center, axes, half = np.empty(shape, dtype), np.empty((*shape, 3), dtype), np.empty(shape)
        place_boxes(Slabs(local.lower, local.upper), poses, center, half, axes)
        return OrientedBoxes(center, narrow_up(half, dtype), axes)

    def support_map(self, resolution: int = RESOLUTION) -> SupportMap:
        """Return the support map of every group, made on first use."""
        if resolution not in self._maps:
            self._maps[resolution] = SupportMap.of(self.points, self.starts, resolution)
        return self._maps[resolution]

    def _poses(self, groups: ArrayLike, position: ArrayLike, rotation: ArrayLike, scale: ArrayLike) -> Poses:
        """Return the checked poses as kernels take them."""
        carried = check.rows(groups, "groups", len(self))
        count = len(carried)
        where, turn = check.floats(position, "position"), check.floats(rotation, "rotation")
        for array, name, shape in ((where, "position", (count, 3)), (turn, "rotation", (count, 3, 3))):
            if array.shape != shape:
                raise InvalidInput(f"{name} has the shape {array.shape}; for {count} bodies it must be {shape}.")
        stretch = check.floats(scale, "scale").astype(np.float64, copy=False)
        if stretch.shape not in ((), (3,), (count, 3)):
            raise InvalidInput(
                f"scale has the shape {stretch.shape}; it must be one number, (3,) for all, or ({count}, 3)."
            )
        if not (np.isfinite(stretch).all() and stretch.all()):
            bad = stretch[~np.isfinite(stretch) | (stretch == 0)].flat[0]
            raise InvalidInput(f"scale holds {bad!s}; a body is scaled by finite numbers other than zero.")
        if stretch.shape != (count, 3):
            stretch = np.broadcast_to(stretch, (count, 3)).copy()
        where, turn = check.widest(where, turn)  # a narrowed rotation would turn points out of their volume
        return Poses(carried, where, turn, stretch)
