"""Bodies that carry points, such as the vertices of meshes or hulls, and the volumes around them in any pose."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core import check
from choque._core import threads as thread_pool
from choque._core.rounding import narrow_up
from choque._core.types import Floats, Rows
from choque.bounds._body_points_kernels import STORING, farthest_points, fit_vertices, place_boxes
from choque.bounds._boxes import Boxes
from choque.bounds._directions import directions
from choque.bounds._kdops import KDops
from choque.bounds._oriented import OrientedBoxes
from choque.bounds._spheres import Spheres
from choque.bounds._support_map import RESOLUTION, SupportMap, turn_map
from choque.errors import InvalidInput, UnknownName

_SOURCES = ("vertices", "map")


class BodyPoints:
    """Groups of points in body coordinates, held once, and bounds of any number of bodies that carry them.

    A point v of a body stands in the world at ``rotation @ (scale * v) + position``.

    Parameters
    ----------
    points
        Finite numbers (p, 3), or (groups, p, 3) without ``starts``.
    starts
        (groups + 1,) where each group starts, and the number of points at the end.

    Notes
    -----
    Every volume contains every point of its body, whatever was rounded on the way: what a float may have lost, some
    2⁻⁴⁶ of the size, is added outward. Volumes have the float type of ``position`` and ``rotation``, the wider where
    they differ. The arguments of all methods:

    groups
        (n,) the group of points that each body carries.
    position
        (n, 3) where the origin of body coordinates is.
    rotation
        (n, 3, 3), of any matrices.
    scale
        A number, (3,) for all bodies, or (n, 3); no zeros, negative numbers are reflections.
    """

    def __init__(self, points: ArrayLike, starts: ArrayLike | None = None) -> None:
        flat, rows = check.groups(points, starts)
        if flat.shape[1] != 3:
            raise InvalidInput(f"points has the shape {flat.shape}; bodies that carry points live in 3D: give (p, 3).")
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
        """The k-DOPs around the bodies, for any k that `directions` offers in space.

        Parameters
        ----------
        groups, position, rotation, scale
            As the class says.
        k
            6, 14, 18 or 26.
        source
            ``"vertices"``: the smallest k-DOPs, from all points: O(points · k) a body. ``"map"``: from a `SupportMap`
            of each group, made once, which is turned instead: O(k) a body however many points it carries, and larger
            than the smallest by about 1/``resolution`` of the size at most.
        resolution
            Cells along the edge of a map's cube: a power of two.
        threads
            How many threads to use; None for all.
        """
        if source not in _SOURCES:
            raise UnknownName("source of k-DOPs", str(source), _SOURCES)
        along = directions(k)
        if along.shape[1] != 3:
            raise InvalidInput(f"k is {k!r}; bodies that carry points live in 3D: take 6, 14, 18 or 26.")
        bodies = self._bodies(groups, position, rotation, scale)
        count, dtype = len(bodies[0]), bodies[1].dtype
        lower, upper = np.empty((count, len(along)), dtype), np.empty((count, len(along)), dtype)
        thread_count = thread_pool.resolve_count(threads, count)
        shares = thread_pool.ranges(count, thread_count)
        if source == "vertices":
            common: tuple[Any, ...] = (self.points, self.starts, along.astype(np.float64))
            kernel: Any = fit_vertices
        else:
            support = self.support_map(resolution)
            common = (support.values, support.sizes, along.astype(np.float64))
            kernel = turn_map
        thread_pool.run(lambda part: kernel(*shares[part], *common, *bodies, STORING[dtype], lower, upper), len(shares))
        return KDops(k, lower, upper)

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
        """The axis-aligned boxes around the bodies: those of their 6-DOPs, bit for bit."""
        slabs = self.kdops(
            groups, position, rotation, scale, k=6, source=source, resolution=resolution, threads=threads
        )
        return Boxes.unchecked(slabs.lower, slabs.upper)

    def spheres(self, groups: ArrayLike, position: ArrayLike, rotation: ArrayLike, scale: ArrayLike = 1.0) -> Spheres:
        """Spheres around the bodies' positions, which reach the farthest point: a rotation changes nothing."""
        bodies = self._bodies(groups, position, rotation, scale)
        radius = np.empty(len(bodies[0]))
        farthest_points(self.points, self.starts, *bodies, radius)
        return Spheres(bodies[1], narrow_up(radius, bodies[1].dtype))

    def oriented(
        self, groups: ArrayLike, position: ArrayLike, rotation: ArrayLike, scale: ArrayLike = 1.0
    ) -> OrientedBoxes:
        """The boxes along body axes around each group, turned with the bodies; each ``rotation`` is orthonormal."""
        bodies = self._bodies(groups, position, rotation, scale)
        local = Boxes.fit(self.points, self.starts)
        shape, dtype = bodies[1].shape, bodies[1].dtype
        center, axes, half = np.empty(shape, dtype), np.empty((*shape, 3), dtype), np.empty(shape)
        place_boxes(local.lower, local.upper, *bodies, center, half, axes)
        return OrientedBoxes(center, narrow_up(half, dtype), axes)

    def support_map(self, resolution: int = RESOLUTION) -> SupportMap:
        """The support map of every group, made when first asked for."""
        if resolution not in self._maps:
            self._maps[resolution] = SupportMap.of(self.points, self.starts, resolution)
        return self._maps[resolution]

    def _bodies(
        self, groups: ArrayLike, position: ArrayLike, rotation: ArrayLike, scale: ArrayLike
    ) -> tuple[Rows, Floats, Floats, NDArray[np.float64]]:
        """The poses as kernels take them."""
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
        where, turn = check.widest(where, turn)  # a rotation that is narrowed would turn points out of their volume
        return carried, where, turn, stretch
