"""A device in use: every upload, download and kernel launch goes through a session, which counts them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from choque.broad.devices import Device
from choque.errors import InvalidInput
from choque.gpu.devices import WarpDevice, load_warp, resolve


@dataclass
class Traffic:
    """Bytes between the host and the device, and kernels launched."""

    up: int = 0
    down: int = 0  # bytes sent to the device and back
    launches: Counter[str] = field(default_factory=Counter)  # number of launches of each kernel, by name

    def reset(self) -> None:
        """Set all counts to zero."""
        self.up = self.down = 0
        self.launches.clear()


class Session:
    """One device: its arrays, its kernels, and a count of what passes.

    Warp compiles a module of kernels when the first of them is launched on a device, keeps it in the process and on
    disk, and never compiles it again for that device. A ``device`` is ``"warp-cpu"``, ``"cuda"``, ``"cuda:N"``, or a
    result of `choque.gpu.resolve`.
    """

    def __init__(self, device: str | Device = "cuda") -> None:
        resolved = device if isinstance(device, Device) else resolve(device)
        if not isinstance(resolved, WarpDevice):
            note = resolved.note or ""
            raise InvalidInput(
                f"A session needs a Warp device; the request resolved to {resolved.name!r}. {note}".rstrip()
                + " Use 'warp-cpu', which exists wherever Warp is installed."
            )
        self.device = resolved
        self.warp = load_warp()
        self.traffic = Traffic()
        self._device = self.warp.get_device(resolved.warp_name)

    def __repr__(self) -> str:
        return f"<Session on {self.device.name}: {self.traffic.up:,} bytes up, {self.traffic.down:,} down>"

    def upload(self, array: NDArray[Any]) -> Any:
        """Copy an ``array`` to the device."""
        host = np.ascontiguousarray(array)
        self.traffic.up += host.nbytes
        return self.warp.array(host, dtype=self.warp.dtype_from_numpy(host.dtype), device=self._device)

    def download(self, array: Any) -> NDArray[Any]:
        """Copy an ``array`` of the device to the host."""
        host: NDArray[Any] = array.numpy()
        self.traffic.down += host.nbytes
        return host.copy() if self._device.is_cpu else host

    def download_last(self, array: Any) -> int:
        """Return the last integer of an ``array`` of the device."""
        return int(self.download(array[-1:])[0])

    def empty(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> Any:
        """Return an uninitialised array on the device."""
        number = self.warp.dtype_from_numpy(np.dtype(dtype))
        return self.warp.empty(shape, dtype=number, device=self._device)

    def zeros(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> Any:
        """Return an array of zeros on the device."""
        number = self.warp.dtype_from_numpy(np.dtype(dtype))
        return self.warp.zeros(shape, dtype=number, device=self._device)

    def launch(self, kernel: Any, size: int | tuple[int, ...], *arguments: Any) -> None:
        """Launch ``kernel`` with ``size`` work items."""
        if size == 0 or (isinstance(size, tuple) and 0 in size):
            return
        self.traffic.launches[kernel.key] += 1
        self.warp.launch(kernel, dim=size, inputs=list(arguments), device=self._device)

    def scan(self, counts: Any) -> Any:
        """Return the inclusive prefix sums of ``counts``."""
        sums = self.warp.empty_like(counts)
        self.traffic.launches["library_scan"] += 1
        self.warp.utils.array_scan(counts, sums, inclusive=True)
        return sums

    def sort(self, keys: Any, values: Any, count: int) -> None:
        """Sort the first ``count`` keys, and values with them, by Warp's radix sort; both arrays are twice as long."""
        self.traffic.launches["library_sort"] += 1
        self.warp.utils.radix_sort_pairs(keys, values, count)


def overload(numbers: tuple[Any, ...], *kernels: Any) -> None:
    """Instantiate generic ``kernels`` with each of ``numbers`` in place of ``Any``.

    Done before any launch, so that a module is compiled once and not again for each new type.
    """
    import warp

    def concrete(kind: Any, number: Any) -> Any:
        if isinstance(kind, warp.array):
            return warp.array(dtype=number, ndim=kind.ndim) if kind.dtype is Any else kind
        return number if kind is Any else kind

    for kernel in kernels:
        for number in numbers:
            warp.overload(kernel, [concrete(argument.type, number) for argument in kernel.adj.args])
