"""What the machine offers beside Python: cards to compute on, and what pictures, films and the studio need."""

from __future__ import annotations

import os
import shutil
import sys
from ctypes.util import find_library
from typing import Any

from choque.errors import ChoqueError

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "firefox")


def surroundings() -> dict[str, dict[str, Any]]:
    """Each thing with whether it is there, and words on what it is or what its absence means."""
    return {"cards": _cards(), "off screen": _off_screen(), "ffmpeg": _ffmpeg(), "browser": _browser()}


def _thing(found: object, words: str) -> dict[str, Any]:
    return {"found": bool(found), "words": words}


def _cards() -> dict[str, Any]:
    from choque.gpu.devices import CUDA, device_names, load_warp

    try:
        load_warp()
    except ChoqueError:
        return _thing(False, "Warp is not installed; everything runs on the processor")
    cards = [name for name in device_names() if name.startswith(f"{CUDA}:")]
    if cards:
        return _thing(True, f"Warp with {', '.join(cards)}")
    return _thing(False, "Warp without a CUDA card; the processor serves in its place")


def _off_screen() -> dict[str, Any]:
    """What films and pictures of worlds are drawn with."""
    if sys.platform != "linux":
        return _thing(True, "the system's own OpenGL")
    named = {"EGL": find_library("EGL"), "OSMesa": find_library("OSMesa")}
    found = [name for name, path in named.items() if path]
    if os.environ.get("DISPLAY"):
        found.insert(0, f"the display {os.environ['DISPLAY']}")
    if found:
        return _thing(True, ", ".join(found))
    return _thing(False, "neither a display nor EGL or OSMesa; install libegl1 or libosmesa6 to draw worlds")


def _ffmpeg() -> dict[str, Any]:
    try:
        import imageio_ffmpeg

        return _thing(True, str(imageio_ffmpeg.get_ffmpeg_exe()))
    except (ImportError, RuntimeError):
        own = shutil.which("ffmpeg")
    return _thing(own, own or "not found; pip install 'choque[video]' brings one")


def _browser() -> dict[str, Any]:
    found = next((path for path in map(shutil.which, BROWSERS) if path), None)
    return _thing(found, found or "none found here; the studio can be watched from another machine with --host")
