"""The method that runs on a requested device."""

from __future__ import annotations

from typing import Any

from choque.errors import InvalidInput
from choque.gpu.devices import resolve


def on_device(device: str, method: str, options: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the method and the options for a ``device``; `InvalidInput` if the method does not run there."""
    served = resolve(device)
    if not served.uses_warp:
        return method, options
    if method not in ("auto", "sap-kdop"):
        raise InvalidInput(
            f"The method {method!r} has no kernels for the device {device!r}; "
            "take 'sap-kdop' or 'auto', or leave the device out."
        )
    return "sap-kdop", {**options, "device": served.name}
