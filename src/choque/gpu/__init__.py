"""The sweep with k-DOPs as Warp kernels: on a card where there is one, on Warp's CPU device to prove them anywhere.

Nothing here imports Warp until a device is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from choque._core.lazy import exporting

if TYPE_CHECKING:
    from choque.gpu._ahead import compile_ahead
    from choque.gpu._session import Session, Traffic
    from choque.gpu._sorts import bitonic_order, decimal_order, library_order
    from choque.gpu._sweep import sweep_slabs, sweep_spheres
    from choque.gpu.devices import DeviceNote, Served, device_names, resolve

_MODULES = {
    "DeviceNote": "devices",
    "Served": "devices",
    "Session": "_session",
    "Traffic": "_session",
    "bitonic_order": "_sorts",
    "compile_ahead": "_ahead",
    "decimal_order": "_sorts",
    "device_names": "devices",
    "library_order": "_sorts",
    "resolve": "devices",
    "sweep_slabs": "_sweep",
    "sweep_spheres": "_sweep",
}

__all__ = [
    "DeviceNote",
    "Served",
    "Session",
    "Traffic",
    "bitonic_order",
    "compile_ahead",
    "decimal_order",
    "device_names",
    "library_order",
    "resolve",
    "sweep_slabs",
    "sweep_spheres",
]

__getattr__ = exporting("choque.gpu", {name: f"choque.gpu.{home}" for name, home in _MODULES.items()})
