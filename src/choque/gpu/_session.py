"""A device at work: arrays go up and down through here and every kernel is launched from here, so all is counted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from choque.errors import InvalidInput
from choque.gpu.devices import Served, load_warp, resolve


@dataclass
class Traffic:
    """What has crossed between the host and the device, and what ran there.

    Attributes
    ----------
    up, down
        Bytes sent to the device and brought back.
    launches
        How often each kernel was launched, by name.
    """

    up: int = 0
    down: int = 0
    launches: Counter[str] = field(default_factory=Counter)

    def reset(self) -> None:
        """Set all counts to zero."""
        self.up = self.down = 0
        self.launches.clear()


class Session:
    """One device, and what goes to it and comes from it.

    Warp compiles a module of kernels when the first of them is launched on a device, keeps it in the process and on
    disk, and never compiles it again for that device.

    Parameters
    ----------
    device
        ``"warp-cpu"``, ``"cuda"``, ``"cuda:N"``, or what `choque.gpu.resolve` gave.
    """

    def __init__(self, device: str | Served = "cuda") -> None:
        served = device if isinstance(device, Served) else resolve(device)
        if not served.uses_warp:
            raise InvalidInput(
                f"A session needs a device of Warp and {served.name!r} serves. {served.note or ''}".rstrip()
                + " Take 'warp-cpu', which is there wherever Warp is."
            )
        self.served = served
        self.warp = load_warp()
        self.traffic = Traffic()
        self._device = self.warp.get_device(served.warp_name)

    def __repr__(self) -> str:
        return f"<Session on {self.served.name}: {self.traffic.up:,} bytes up, {self.traffic.down:,} down>"

    def upload(self, array: NDArray[Any]) -> Any:
        """The ``array`` on the device."""
        host = np.ascontiguousarray(array)
        self.traffic.up += host.nbytes
        return self.warp.array(host, dtype=self.warp.dtype_from_numpy(host.dtype), device=self._device)

    def download(self, array: Any) -> NDArray[Any]:
        """A device's ``array`` on the host."""
        host: NDArray[Any] = array.numpy()
        self.traffic.down += host.nbytes
        return host.copy() if self._device.is_cpu else host

    def download_last(self, array: Any) -> int:
        """The last whole number of a device's ``array``."""
        return int(self.download(array[-1:])[0])

    def empty(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> Any:
        """An array on the device, not cleared."""
        number = self.warp.dtype_from_numpy(np.dtype(dtype))
        return self.warp.empty(shape, dtype=number, device=self._device)

    def zeros(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> Any:
        """An array of zeros on the device."""
        number = self.warp.dtype_from_numpy(np.dtype(dtype))
        return self.warp.zeros(shape, dtype=number, device=self._device)

    def launch(self, kernel: Any, size: int | tuple[int, ...], *arguments: Any) -> None:
        """Run ``kernel`` once for each of ``size`` items."""
        if size == 0 or (isinstance(size, tuple) and 0 in size):
            return
        self.traffic.launches[kernel.key] += 1
        self.warp.launch(kernel, dim=size, inputs=list(arguments), device=self._device)

    def scan(self, counts: Any) -> Any:
        """The sums of ``counts`` up to and including each."""
        sums = self.warp.empty_like(counts)
        self.traffic.launches["library_scan"] += 1
        self.warp.utils.array_scan(counts, sums, inclusive=True)
        return sums

    def sort(self, keys: Any, values: Any, count: int) -> None:
        """Sort the first ``count`` keys, and values with them, by the library; both arrays have twice the room."""
        self.traffic.launches["library_sort"] += 1
        self.warp.utils.radix_sort_pairs(keys, values, count)
