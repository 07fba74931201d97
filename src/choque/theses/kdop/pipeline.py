"""The frame of the k-DOP thesis on a device: meshes stay there, transforms go up, pairs come down."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core import check
from choque._core.pair_keys import unpack_pairs
from choque._core.sweep_axis import AXIS_PERIOD, nearest_direction, principal_direction
from choque._core.types import Floats, Keys, Pairs
from choque.bounds import KDops, Spheres, directions
from choque.broad.devices import Device
from choque.errors import InvalidInput, UnknownName
from choque.gpu.session import Session
from choque.gpu.sweep import Sort, library_sort, session_of, sweep_device_slabs, sweep_intervals
from choque.theses.kdop.body_points import BodyPoints
from choque.theses.kdop.sorts import find_sort

SLACK = {np.dtype(np.float32): 64 * 2.0**-24, np.dtype(np.float64): 64 * 2.0**-53}
"""More than the relative error of all that is computed for one bound."""

BOUNDS = ("box", "6-dop", "14-dop", "18-dop", "26-dop", "sphere")


class Pipeline:
    """One broad-phase frame on a device: vertices, bounds, projection, sort, sweep.

    Parameters
    ----------
    points, starts
        Groups of points in body coordinates, as `BodyPoints` takes them; sent to the device once.
    groups
        (n,) the group that each body carries; None for one body of each.
    scale
        A number, (3,) for all bodies, or (n, 3).
    bounds
        ``"box"``, ``"6-dop"``, ``"14-dop"``, ``"18-dop"``, ``"26-dop"`` or ``"sphere"``; may be set at any time.
    device
        ``"cuda"``, ``"cuda:N"``, or ``"warp-cpu"``.
    dtype
        ``"float32"`` or ``"float64"``.
    sort
        ``"library"``, ``"decimal"`` or ``"bitonic"``.
    axis_period
        Frames between two choices of the swept direction, by principal components of the positions.
    centred
        Whether about their mean, or about the origin.
    per_axis
        Whether one work item builds one slab, or all slabs of a body; the numbers are the same.

    Notes
    -----
    Guarantees: the pairs are those of the closed all-pairs test of the volumes that the device built, sorted; the
    volumes contain every vertex, as the rounding error is added. A frame sends 28 bytes a body in float32 with
    quaternions (48 with matrices) and returns 8 bytes a pair and a few numbers; ``traffic`` counts them. The radius of
    spheres is measured once and again only after `set_scale`.
    """

    def __init__(
        self,
        points: ArrayLike,
        starts: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        scale: ArrayLike = 1.0,
        *,
        bounds: str = "18-dop",
        device: str | Device = "cuda",
        dtype: str = "float32",
        sort: str = "library",
        axis_period: int = AXIS_PERIOD,
        centred: bool = True,
        per_axis: bool = False,
    ) -> None:
        carrier = BodyPoints(points, starts)
        carried = np.arange(len(carrier)) if groups is None else check.rows(groups, "groups", len(carrier))
        if dtype not in ("float32", "float64"):
            raise UnknownName("float type", str(dtype), ("float32", "float64"))
        self.bounds = bounds
        self.per_axis, self.centred = per_axis, centred
        self.sort = sort
        self.axis_period = check.whole_number(axis_period, "axis_period", 1)
        self.frame = 0
        self.tests = 0
        self._count = len(carried)
        self._number = np.dtype(dtype)
        self._axis: NDArray[np.float64] | None = None
        stretch = self._checked_scale(scale)
        self._session = Session(device)
        self._send_meshes(carrier, carried)
        self._send_scale(stretch)

    def __len__(self) -> int:
        return self._count

    @property
    def device(self) -> str:
        """Name of the device in use."""
        return self._session.device.name

    @property
    def traffic(self) -> Any:
        """Bytes up and down, and launches by kernel: a `Traffic`."""
        return self._session.traffic

    @property
    def bounds(self) -> str:
        """Kind of the volumes."""
        return self._bounds

    @bounds.setter
    def bounds(self, name: str) -> None:
        if name not in BOUNDS:
            raise UnknownName("kind of bounds on a device", str(name), BOUNDS)
        self._bounds = name

    @property
    def sort(self) -> str:
        """Name of the sort: ``"library"``, ``"decimal"`` or ``"bitonic"``."""
        return self._sort_name

    @sort.setter
    def sort(self, name: str) -> None:
        self._sort, self._sort_name = find_sort(name), name

    @property
    def k(self) -> int:
        """Number of half-spaces of the volumes; for spheres, of the 18-DOP whose directions they are swept along."""
        return {"box": 6, "sphere": 18}.get(self._bounds) or int(self._bounds.partition("-")[0])

    @property
    def axis(self) -> tuple[int, ...]:
        """Direction of the last sweep."""
        return tuple(directions(self.k)[self._slab()].tolist())

    def set_scale(self, scale: ArrayLike) -> None:
        """Set the scale of the bodies, as in the constructor."""
        self._send_scale(self._checked_scale(scale))

    def pairs(self, position: ArrayLike, rotation: ArrayLike) -> Pairs:
        """Return the pairs of bodies whose volumes overlap, (m, 2) int32, sorted, in one frame.

        Parameters
        ----------
        position
            (n, 3).
        rotation
            (n, 4) unit quaternions x, y, z, w, or (n, 3, 3) matrices.
        """
        self._place(position, rotation)
        if self._bounds == "sphere":
            direction = directions(self.k)[self._slab()]
            keys, self.tests = _sweep_device_spheres(self._session, self._spheres(), direction, True, self._sort)
        else:
            keys, self.tests = sweep_device_slabs(self._session, self._slabs(), self._slab(), sort=self._sort)
        self.frame += 1
        return unpack_pairs(keys)

    def volumes(self, position: ArrayLike, rotation: ArrayLike) -> KDops | Spheres:
        """Return the volumes that the device builds."""
        self._place(position, rotation)
        if self._bounds == "sphere":
            spheres = self._session.download(self._spheres())
            return Spheres(spheres[:, :3].copy(), spheres[:, 3].copy())
        slabs = self._session.download(self._slabs())
        half = slabs.shape[1] // 2
        return KDops(self.k, slabs[:, :half].copy(), slabs[:, half:].copy())

    def vertices(self, position: ArrayLike, rotation: ArrayLike) -> Floats:
        """Return all vertices in world coordinates, body after body: (vertices, 3)."""
        self._place(position, rotation)
        world: Floats = self._session.download(self._world)
        return world

    def _send_meshes(self, carrier: BodyPoints, carried: NDArray[np.int64]) -> None:
        """Send the points, and which of them each body carries."""
        sizes = np.diff(carrier.starts)[carried]
        starts = np.append(0, np.cumsum(sizes))
        if starts[-1] >= 1 << 31:
            raise InvalidInput(f"The bodies carry {starts[-1]:,} points in all; the limit of a device is 2³¹ − 1.")
        body = np.repeat(np.arange(self._count), sizes)
        point = np.arange(starts[-1]) - starts[body] + carrier.starts[carried][body]
        self._points = self._session.upload(carrier.points.astype(self._number))
        self._starts = self._session.upload(starts.astype(np.int32))
        self._vertex_body = self._session.upload(body.astype(np.int32))
        self._vertex_point = self._session.upload(point.astype(np.int32))
        self._world = self._session.empty((int(starts[-1]), 3), self._number)
        self._position: Any = None
        self._slack = self._session.upload(np.array([SLACK[self._number], np.inf], self._number))
        self._directions = {k: self._session.upload(directions(k).astype(self._number)) for k in (6, 14, 18, 26)}

    def _checked_scale(self, scale: ArrayLike) -> Floats:
        stretch = check.floats(scale, "scale")
        if stretch.shape not in ((), (3,), (self._count, 3)):
            raise InvalidInput(
                f"scale has the shape {stretch.shape}; it must be one number, (3,) for all, or ({self._count}, 3)."
            )
        if not (np.isfinite(stretch).all() and stretch.all()):
            raise InvalidInput("scale holds a zero or no finite number; a body is scaled by finite numbers, not zero.")
        return np.broadcast_to(stretch, (self._count, 3)).astype(self._number)

    def _send_scale(self, stretch: Floats) -> None:
        self._scale = self._session.upload(stretch)
        self._radius: Any = None

    def _place(self, position: ArrayLike, rotation: ArrayLike) -> None:
        """Send the transforms and turn the vertices."""
        from choque.theses.kdop import kernels

        where = check.floats(position, "position").astype(self._number, copy=False)
        turn = check.floats(rotation, "rotation").astype(self._number, copy=False)
        count = self._count
        if where.shape != (count, 3):
            raise InvalidInput(f"position has the shape {where.shape}; for {count} bodies it must be ({count}, 3).")
        if turn.shape not in ((count, 4), (count, 3, 3)):
            raise InvalidInput(
                f"rotation has the shape {turn.shape}; it must be ({count}, 4) quaternions or ({count}, 3, 3) matrices."
            )
        for array, name in ((where, "position"), (turn, "rotation")):
            if not np.isfinite(array).all():
                row = int(np.argwhere(~np.isfinite(array))[0][0])
                raise InvalidInput(f"Row {row} of {name} is {array[row].tolist()}; it must hold finite numbers.")
        if turn.ndim == 2 and not turn.any(axis=1).all():
            row = int(np.flatnonzero(~turn.any(axis=1))[0])
            raise InvalidInput(f"Row {row} of rotation is the quaternion 0, which turns nothing; give unit ones.")
        if self._axis is None or self.frame % self.axis_period == 0:
            found = principal_direction(np.concatenate((where, where), axis=1), 3, centred=self.centred)
            self._axis = found if found is not None else self._axis
        self._position = self._session.upload(where)
        matrices = self._session.upload(turn.reshape(count, 4 if turn.ndim == 2 else 9))
        if turn.shape == (count, 4):
            quaternions, matrices = matrices, self._session.empty((count, 9), self._number)
            self._session.launch(kernels.turn_quaternions, count, quaternions, matrices)
        self._session.launch(
            kernels.place_vertices,
            self._world.shape[0],
            self._points,
            self._vertex_point,
            self._vertex_body,
            self._position,
            matrices,
            self._scale,
            self._world,
        )

    def _slab(self) -> int:
        return 0 if self._axis is None else nearest_direction(self._axis, directions(self.k))

    def _slabs(self) -> Any:
        from choque.theses.kdop import kernels

        along = self._directions[self.k]
        slabs = self._session.empty((self._count, self.k), self._number)
        arguments = (self._world, self._starts, self._position, along, self._slack, slabs)
        if self.per_axis:
            self._session.launch(kernels.build_kdops_by_axis, (self._count, self.k // 2), *arguments)
        else:
            self._session.launch(kernels.build_kdops, self._count, *arguments)
        return slabs

    def _spheres(self) -> Any:
        from choque.theses.kdop import kernels

        if self._radius is None:
            self._radius = self._session.empty(self._count, self._number)
            arguments = (self._world, self._starts, self._position, self._slack, self._radius)
            self._session.launch(kernels.build_radii, self._count, *arguments)
        spheres = self._session.empty((self._count, 4), self._number)
        self._session.launch(kernels.build_spheres, self._count, self._position, self._radius, spheres)
        return spheres


def sweep_spheres(
    center: Floats,
    radius: Floats,
    direction: ArrayLike,
    device: str | Device | Session = "cuda",
    *,
    closed: bool = True,
    sort: Sort = library_sort,
) -> tuple[Keys, int]:
    """Sweep spheres along ``direction`` (3,): the pairs that overlap, packed and sorted, and the number of tests."""
    middle, size = check.floats(center, "center"), check.floats(radius, "radius")
    if middle.ndim != 2 or middle.shape[1] != 3 or size.shape != middle.shape[:1]:
        raise InvalidInput(
            f"center has the shape {middle.shape} and radius {size.shape}; they must be (n, 3) and (n,)."
        )
    along = check.floats(direction, "direction")
    if along.shape != (3,) or not np.isfinite(along).all() or not along.any():
        raise InvalidInput(f"direction is {direction!r}; it must be three finite numbers, not all 0.")
    session = session_of(device)
    spheres = np.concatenate((middle, size[:, None]), axis=1)
    return _sweep_device_spheres(session, session.upload(spheres), direction, closed, sort)


def _sweep_device_spheres(
    session: Session, spheres: Any, direction: ArrayLike, closed: bool, sort: Sort
) -> tuple[Keys, int]:
    """Do what `sweep_spheres` does, with spheres (n, 4) that are on the device."""
    from choque.theses.kdop import kernels

    number = np.dtype(session.warp.dtype_to_numpy(spheres.dtype))
    along = np.asarray(direction, np.float64)
    with_length = session.upload(np.append(along, np.linalg.norm(along)).astype(number))
    slack = session.upload(np.array([SLACK[number]], number))
    intervals = session.empty((spheres.shape[0], 2), number)
    session.launch(kernels.project_spheres, spheres.shape[0], spheres, with_length, slack, intervals)
    return sweep_intervals(session, intervals, spheres, int(closed), sort=sort)
