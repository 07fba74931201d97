"""The sweep with k-DOPs as Warp kernels: on a CUDA device, or on Warp's CPU device to test them anywhere.

Warp is imported when a device is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from choque._core.lazy import exporting

if TYPE_CHECKING:
    from choque.gpu.devices import DeviceNote, device_names, resolve

__all__ = ["DeviceNote", "device_names", "resolve"]
__getattr__, __dir__ = exporting(__name__, __all__, {".devices": "DeviceNote device_names resolve"})
