"""Which kernels there are, and which of them are compiled already."""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
from pathlib import Path
from typing import Any

from choque._core.freshness import sources_of

ROOMS = ("bounds", "broad", "narrow", "dynamics", "world", "record", "kinetic", "volumes", "interest")
"""The rooms that users reach kernels through."""


def census() -> dict[str, Any]:
    """Where compiled kernels are kept, whether new ones can be, and how many of each room's are there.

    There is no folder where compiling is switched off.
    """
    rooms: dict[str, dict[str, int]] = {}
    folder: Path | None = None
    for room in ROOMS:
        kernels = _kernels_of(room)
        rooms[room] = {"compiled": sum(map(_is_on_disk, kernels)), "kernels": len(kernels)}
        folder = folder or next((Path(each.stats.cache_path) for each in kernels), None)
    if folder is None:
        return {"folder": None, "writable": False, "rooms": {}}
    nearest = next(place for place in (folder, *folder.parents) if place.exists())
    return {"folder": str(folder), "writable": os.access(nearest, os.W_OK), "rooms": rooms}


def _kernels_of(room: str) -> list[Any]:
    """What Numba compiles on its own; what is pasted into other kernels is compiled with them."""
    package = importlib.import_module(f"choque.{room}")
    found = []
    for info in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        for value in vars(importlib.import_module(info.name)).values():
            function = getattr(value, "py_func", None)
            is_own = function is not None and function.__module__ == info.name
            if is_own and value.targetoptions.get("inline") != "always":
                found.append(value)
    return found


def _is_on_disk(kernel: Any) -> bool:
    """Whether Numba has an index of compiled versions of it that is no older than its sources."""
    function, version = kernel.py_func, f"{sys.version_info.major}{sys.version_info.minor}"
    source = Path(function.__code__.co_filename)
    name = f"{source.stem}.{function.__qualname__}-{function.__code__.co_firstlineno}.py{version}{sys.abiflags}.nbi"
    index = Path(kernel.stats.cache_path) / name
    newest = max(Path(each).stat().st_mtime for each in sources_of(function))
    return index.is_file() and index.stat().st_mtime >= newest
