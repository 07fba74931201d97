"""Bodies whose shapes stay on the device: a frame sends their poses and returns pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core.types import Floats, Keys, Rows
from choque.bounds import directions
from choque.broad.devices import Device, Solids
from choque.errors import InvalidInput
from choque.gpu.session import Session, Traffic
from choque.gpu.sweep import sweep_device_slabs


class DeviceBodies:
    """Hulls and solids on a device, and the pairs of bodies whose k-DOPs overlap.

    Parameters
    ----------
    device
        A result of `choque.gpu.resolve`.
    k
        6, 14, 18 or 26.
    slack
        Margin of a bound, relative to its position and extent.

    Notes
    -----
    Guarantees: slabs, pairs and their order equal those of the CPU bit for bit, as every number is computed by the same
    operations in double precision. A frame sends 48 bytes a body in float32 and 96 in float64, and returns 8 bytes a
    pair and three numbers; ``traffic`` counts them.
    """

    def __init__(self, device: Device, k: int, slack: float) -> None:
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
        """Send the points (p, 3) of all hulls, and (h + 1,) where those of each hull start."""
        if len(points) >= 1 << 31:
            raise InvalidInput(
                f"The hulls have {len(points):,} points in all; the limit of a device is 2³¹ − 1. Use the device 'cpu'."
            )
        self._hulls = self._session.upload(points), self._session.upload(starts.astype(np.int32))

    def send_solids(self, solids: Solids) -> None:
        """Send the shapes of the bodies."""
        self._count = len(solids.form)
        self._solids = self._session.upload(solids.form), self._session.upload(solids.size)

    def slabs(self, position: Floats, rotation: Floats) -> Any:
        """Return the slabs (n, k) of the bodies in these poses on the device, lower ends first."""
        from choque.gpu import kernels_bodies as kernels

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
        """Return the pairs of bodies in these poses whose slabs overlap, packed and sorted, and the number of tests.

        ``slab`` is the swept direction, which affects the number of tests and not the pairs.
        """
        return sweep_device_slabs(self._session, self.slabs(position, rotation), slab)

    def slabs_here(self, position: Floats, rotation: Floats) -> Floats:
        """Return the slabs on the host."""
        slabs: Floats = self._session.download(self.slabs(position, rotation))
        return slabs
