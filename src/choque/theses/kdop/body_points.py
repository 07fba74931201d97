"""Bodies that carry points, such as the vertices of meshes or hulls, and their bounds in any pose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core import check
from choque._core import threads as thread_pool
from choque._core.kernel import inline, kernel
from choque._core.rounding import SMALLEST, add_up, length_up, multiply_up, narrow_up
from choque._core.types import Floats, Integer, Rows
from choque.bounds import Boxes, KDops, OrientedBoxes, Spheres, directions
from choque.errors import InvalidInput, UnknownName

PLACING = 2.0**-46
"""More than the error of scaling, turning, projecting and shifting a point, relative to its size and position."""

STORING = {np.dtype(np.float32): 2.0**-23, np.dtype(np.float64): 0.0}
"""More than the relative error of storing a float64 in each type."""

TINY = 2.0**-149
"""The smallest positive float32: more than the error of storing a number next to zero."""

RESOLUTION = 16
"""Default number of cells along the edge of a map's cube: 14 kB a group; k-DOPs about 0.3 % wider than the smallest."""

MAX_RESOLUTION = 256


class Slabs(NamedTuple):
    """The ends of intervals along m directions, each (n, m)."""

    lower: Any
    upper: Any


class PosedGroups(NamedTuple):
    """The bodies to bound.

    Attributes
    ----------
    groups
        (n,) the group of points that each body carries.
    position, rotation
        (n, 3) and (n, 3, 3).
    scale
        (n, 3) float64.
    """

    groups: Any
    position: Any
    rotation: Any
    scale: Any


@inline
def _along_axes(turn: Any, scale: Any, x: float, y: float, z: float) -> Any:
    """Return S Rᵀ d for d = (x, y, z): its dot product with a point of a body is the reach of that point along d."""
    u = scale[0] * (x * turn[0, 0] + y * turn[1, 0] + z * turn[2, 0])
    v = scale[1] * (x * turn[0, 1] + y * turn[1, 1] + z * turn[2, 1])
    w = scale[2] * (x * turn[0, 2] + y * turn[1, 2] + z * turn[2, 2])
    return u, v, w


@inline
def _store_slab(slabs: Slabs, body: Integer, slab: Integer, low: float, high: float, storing: float) -> None:
    """Write an interval, widened by the relative error ``storing`` of the float type of the arrays."""
    slabs.lower[body, slab] = low - storing * abs(low) - TINY
    slabs.upper[body, slab] = high + storing * abs(high) + TINY


@kernel
def fit_vertices(
    first: int,
    last: int,
    points: tuple[NDArray[np.float64], Rows],
    directions: NDArray[np.float64],
    poses: PosedGroups,
    storing: float,
    slabs: Slabs,
) -> None:
    """Write the extents of bodies first … last − 1 along ``directions`` (k/2, 3), rounded outward.

    ``points`` are (p, 3), and (groups + 1,) where each group starts.
    """
    vertices, starts = points
    groups, position, rotation, scale = poses.groups, poses.position, poses.rotation, poses.scale
    largest = 0
    for group in range(len(starts) - 1):
        largest = max(largest, starts[group + 1] - starts[group])
    turned = np.empty((largest, 3))
    for body in range(first, last):
        turn = rotation[body]
        a, b, c = turn[0, 0] * scale[body, 0], turn[0, 1] * scale[body, 1], turn[0, 2] * scale[body, 2]
        d, e, f = turn[1, 0] * scale[body, 0], turn[1, 1] * scale[body, 1], turn[1, 2] * scale[body, 2]
        g, h, i = turn[2, 0] * scale[body, 0], turn[2, 1] * scale[body, 1], turn[2, 2] * scale[body, 2]
        carried = vertices[starts[groups[body]] : starts[groups[body] + 1]]
        size = 0.0
        for point in range(len(carried)):
            u, v, w = carried[point, 0], carried[point, 1], carried[point, 2]
            x, y, z = a * u + b * v + c * w, d * u + e * v + f * w, g * u + h * v + i * w
            turned[point, 0], turned[point, 1], turned[point, 2] = x, y, z
            size = max(size, abs(u) + abs(v) + abs(w))
        stretch = abs(a) + abs(b) + abs(c) + abs(d) + abs(e) + abs(f) + abs(g) + abs(h) + abs(i)
        x, y, z = np.float64(position[body, 0]), np.float64(position[body, 1]), np.float64(position[body, 2])
        slack = PLACING * (size * stretch + abs(x) + abs(y) + abs(z)) + SMALLEST
        for slab in range(len(directions)):
            p, q, r = directions[slab, 0], directions[slab, 1], directions[slab, 2]
            low, high = np.inf, -np.inf
            for point in range(len(carried)):
                reach = p * turned[point, 0] + q * turned[point, 1] + r * turned[point, 2]
                low = reach if reach < low else low  # unlike min, a choice is one instruction
                high = reach if reach > high else high
            middle = p * x + q * y + r * z
            _store_slab(slabs, body, slab, middle + low - slack, middle + high + slack, storing)


@kernel
def farthest_points(points: NDArray[np.float64], starts: Rows, poses: PosedGroups, radius: NDArray[np.float64]) -> None:
    """Write the distance of the farthest point of each body from its position, rounded up."""
    groups, rotation, scale = poses.groups, poses.rotation, poses.scale
    offset = np.empty(3)
    columns = np.empty(3)
    for body in range(len(radius)):
        for axis in range(3):
            columns[axis] = 0.0
            for other in range(3):
                columns[axis] += abs(rotation[body, axis, other] * scale[body, other])
        farthest = 0.0
        size = 0.0
        for point in range(starts[groups[body]], starts[groups[body] + 1]):
            for axis in range(3):
                offset[axis] = 0.0
                for other in range(3):
                    offset[axis] += rotation[body, axis, other] * (scale[body, other] * points[point, other])
                size = max(size, abs(points[point, axis]))
            farthest = max(farthest, length_up(offset))
        radius[body] = add_up(farthest, PLACING * size * (columns[0] + columns[1] + columns[2]) + SMALLEST)


@kernel
def place_boxes(local: Slabs, poses: PosedGroups, center: Floats, half: NDArray[np.float64], axes: Floats) -> None:
    """Write the ``local`` box of each body's group, scaled along body axes, turned and shifted; rounded outward."""
    groups, position, rotation, scale = poses.groups, poses.position, poses.rotation, poses.scale
    middle = np.empty(3)
    for body in range(len(half)):
        size = longest = 0.0
        for axis in range(3):
            low = local.lower[groups[body], axis] * scale[body, axis]
            high = local.upper[groups[body], axis] * scale[body, axis]
            middle[axis] = 0.5 * low + 0.5 * high
            half[body, axis] = abs(0.5 * high - 0.5 * low)
            longest = max(longest, half[body, axis])
            size += abs(low) + abs(high)
        lost = 0.0
        for axis in range(3):
            exact = np.float64(position[body, axis])
            size += abs(exact)
            for other in range(3):
                axes[body, other, axis] = rotation[body, axis, other]
                exact += rotation[body, axis, other] * middle[other]
            center[body, axis] = exact
            lost += abs(exact - np.float64(center[body, axis]))
        for axis in range(3):
            # Axes are orthonormal within a tolerance only: add the error twice.
            half[body, axis] = add_up(half[body, axis], multiply_up(2.0, lost + PLACING * size + SMALLEST))


@dataclass(frozen=True)
class SupportMap:
    """The reach of groups of points along the directions to the lattice points of a cube's surface.

    Attributes
    ----------
    values
        (groups, 6, r + 1, r + 1): the faces +x, −x, +y, −y, +z, −z; on each, the two axes that follow cyclically.
    sizes
        (groups,) the maximum of ``|x| + |y| + |z|`` of a point, which scales the rounding error.

    Notes
    -----
    The reach h(u) of points along u, the maximum of u·v, is convex and grows in proportion to u. A direction, scaled
    to the cube's surface, is a convex combination (the bilinear weights) of the four corners of the cell that it meets,
    so the same combination of their reaches is never less than its own: a bound from the map *contains* the points.
    Where one point is the farthest for all four corners, which is nearly everywhere, the bound is exact.
    """

    values: NDArray[np.float64]
    sizes: NDArray[np.float64]

    @classmethod
    def of(cls, points: NDArray[np.float64], starts: Rows, resolution: int = RESOLUTION) -> SupportMap:
        """Return the maps of groups of ``points`` (p, 3). O(points · r²) time, 48 (r + 1)² bytes a group."""
        if check.whole_number(resolution, "resolution", 2, MAX_RESOLUTION).bit_count() != 1:
            raise InvalidInput(
                f"resolution is {resolution}; it must be a power of two, whose lattice is exact in floating point."
            )
        steps = np.linspace(-1.0, 1.0, resolution + 1)
        corners = np.empty((6, resolution + 1, resolution + 1, 3))
        for axis in range(3):
            for side in range(2):
                face = corners[2 * axis + side]
                face[..., axis] = 1.0 - 2.0 * side
                face[..., (axis + 1) % 3] = steps[:, None]
                face[..., (axis + 2) % 3] = steps[None, :]
        values = np.empty((len(starts) - 1, *corners.shape[:3]))
        sizes = np.maximum.reduceat(np.abs(points).sum(axis=1), starts[:-1])
        for group in range(len(values)):
            carried = points[starts[group] : starts[group + 1]]
            values[group] = (corners @ carried.T).max(axis=-1)
        return cls(values, sizes)


@kernel
def turn_map(
    first: int,
    last: int,
    maps: tuple[NDArray[np.float64], NDArray[np.float64]],
    directions: NDArray[np.float64],
    poses: PosedGroups,
    storing: float,
    slabs: Slabs,
) -> None:
    """Write slabs around bodies first … last − 1: the reach of R S P along d is the reach of P along S Rᵀ d.

    ``maps`` are the values and the sizes of a `SupportMap`.
    """
    values, sizes = maps
    groups, position, rotation, scale = poses.groups, poses.position, poses.rotation, poses.scale
    for body in range(first, last):
        turn, table = rotation[body], values[groups[body]]
        size = 0.0
        for axis in range(3):
            for other in range(3):
                size += abs(turn[axis, other] * scale[body, other])
        size *= sizes[groups[body]]
        x, y, z = np.float64(position[body, 0]), np.float64(position[body, 1]), np.float64(position[body, 2])
        slack = PLACING * (size + abs(x) + abs(y) + abs(z)) + SMALLEST
        for slab in range(slabs.lower.shape[1]):
            p, q, r = directions[slab, 0], directions[slab, 1], directions[slab, 2]
            u, v, w = _along_axes(turn, scale[body], p, q, r)
            middle = p * x + q * y + r * z
            behind, ahead = _reaches(table, u, v, w)
            _store_slab(slabs, body, slab, middle - behind - slack, middle + ahead + slack, storing)


@kernel
def _reaches(table: NDArray[np.float64], u: float, v: float, w: float) -> tuple[float, float]:
    """Return upper bounds of the reach of one ``table`` along (−u, −v, −w) and along (u, v, w)."""
    axis, major, second, third = 0, u, v, w
    if abs(v) > abs(major):
        axis, major, second, third = 1, v, w, u
    if abs(w) > abs(major):
        axis, major, second, third = 2, w, u, v
    length = abs(major)
    if length == 0:
        return 0.0, 0.0
    cells = table.shape[1] - 1
    side = 0 if major > 0 else 1
    along = (second / length + 1.0) * 0.5 * cells
    across = (third / length + 1.0) * 0.5 * cells
    behind = length * _interpolated(table[2 * axis + 1 - side], cells - along, cells - across, cells)
    ahead = length * _interpolated(table[2 * axis + side], along, across, cells)
    return behind, ahead


@kernel
def _interpolated(face: NDArray[np.float64], along: float, across: float, cells: Integer) -> float:
    """Return the bilinear mean of the four corners of the cell at (along, across)."""
    i = min(max(np.int64(along), 0), cells - 1)
    j = min(max(np.int64(across), 0), cells - 1)
    s, t = along - i, across - j
    near = face[i, j] + (face[i, j + 1] - face[i, j]) * t
    far = face[i + 1, j] + (face[i + 1, j + 1] - face[i + 1, j]) * t
    mean: float = near + (far - near) * s
    return mean


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

    def _poses(self, groups: ArrayLike, position: ArrayLike, rotation: ArrayLike, scale: ArrayLike) -> PosedGroups:
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
        return PosedGroups(carried, where, turn, stretch)
