"""Bodies whose solids stay on the device: a frame sends their poses and brings back pairs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque._core.types import Floats, Keys, Rows
from choque.bounds import directions
from choque.errors import InvalidInput
from choque.gpu._session import Session, Traffic
from choque.gpu._sweep import sweep_device_slabs
from choque.gpu.devices import Served

SOLID, HALF_SPACE = -1, -2
"""What `Solids.form` says of a body that carries no hull."""


class Solids(NamedTuple):
    """What n bodies are, whatever their poses.

    Attributes
    ----------
    form
        (n,) int32: the hull that a body carries; `SOLID` for a rectangle with a radius around it, such as spheres,
        capsules and tiles are; `HALF_SPACE` for all that is below its own x-z-plane.
    size
        (n, 3) float64: the scale of a hull along its axes; of a rectangle its radius and half its edges along its own
        x and z.
    """

    form: NDArray[np.int32]
    size: NDArray[np.float64]


class DeviceBodies:
    """Hulls and solids that stay on a device, and the pairs of bodies whose k-DOPs meet there.

    Parameters
    ----------
    device
        What `choque.gpu.resolve` gave.
    k
        6, 14, 18 or 26.
    slack
        By what share of its place and extent a bound is wider than computed.

    Notes
    -----
    Guarantees: slabs, pairs and their order are those of the processor, bit for bit, as every number is computed by the
    same operations in double precision. A frame sends 48 bytes a body in float32 and 96 in float64, and brings back 8
    bytes a pair and three numbers; ``traffic`` counts all of it.
    """

    def __init__(self, device: Served, k: int, slack: float) -> None:
        self._session = Session(device)
        self._direction = self._session.upload(directions(k).astype(np.float64))
        self._limits = self._session.upload(np.array([slack, np.inf]))
        self.send_hulls(np.empty((0, 3)), np.zeros(1, np.int64))
        self.send_solids(Solids(np.empty(0, np.int32), np.empty((0, 3))))

    @property
    def traffic(self) -> Traffic:
        """Bytes up and down, and launches by kernel."""
        return self._session.traffic

    def send_hulls(self, points: NDArray[np.float64], starts: Rows) -> None:
        """Put the points (p, 3) of all hulls on the device, and (h + 1,) where those of each start."""
        if len(points) >= 1 << 31:
            raise InvalidInput(f"The hulls have {len(points):,} points in all; a device counts to 2³¹ − 1.")
        self._hulls = self._session.upload(points), self._session.upload(starts.astype(np.int32))

    def send_solids(self, solids: Solids) -> None:
        """Put on the device what the bodies are."""
        self._count = len(solids.form)
        self._solids = self._session.upload(solids.form), self._session.upload(solids.size)

    def slabs(self, position: Floats, rotation: Floats) -> Any:
        """(n, k) on the device: the lower ends of the bodies in these poses, (n, 3) and (n, 3, 3), then the upper."""
        from choque.gpu import _kernels_bodies as kernels

        half = self._direction.shape[0]
        slabs = self._session.empty((self._count, 2 * half), position.dtype)
        self._session.launch(
            kernels.bound_bodies,
            (self._count, half),
            *self._solids,
            *self._hulls,
            self._session.upload(position),
            self._session.upload(rotation.reshape(self._count, 9)),
            self._direction,
            self._limits,
            slabs,
        )
        return slabs

    def pairs(self, position: Floats, rotation: Floats, slab: int) -> tuple[Keys, int]:
        """The pairs of bodies in these poses whose slabs all meet, packed and sorted, and the number of tests.

        ``slab`` is the direction that is swept, which changes the tests and not the pairs.
        """
        return sweep_device_slabs(self._session, self.slabs(position, rotation), slab, "library")

    def slabs_here(self, position: Floats, rotation: Floats) -> Floats:
        """The slabs, brought back to look at."""
        slabs: Floats = self._session.download(self.slabs(position, rotation))
        return slabs
