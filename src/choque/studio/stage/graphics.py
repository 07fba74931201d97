"""Drawing with VTK off screen: what it needs on this machine, a plotter, and meshes as VTK's data."""

from __future__ import annotations

import os
import sys
from numbers import Integral
from typing import Any

from choque.errors import InvalidInput, MissingExtra, require

SKY_TOP, SKY_BOTTOM = "#3a4763", "#0c0f17"

MIN_SIDE, MAX_SIDE = 16, 8192
"""Limits of the sides of a picture [pixels]."""


def check_size(size: tuple[int, int], smoothing: int = 1, definition: int | None = None) -> None:
    """Refuse pictures that are too small or too large, too coarse or too fine."""
    if not (isinstance(size, tuple | list) and len(size) == 2 and all(isinstance(side, Integral) for side in size)):
        raise InvalidInput(f"The picture size is {size!r}; give width and height in pixels, such as (1280, 720).")
    if min(size) < MIN_SIDE or max(size) > MAX_SIDE:
        raise InvalidInput(
            f"The picture size is {size[0]} × {size[1]}; each side must be {MIN_SIDE} to {MAX_SIDE} pixels."
        )
    if not 1 <= smoothing <= 4:
        raise InvalidInput(f"The smoothing is {smoothing}; it must be 1 to 4.")
    if definition is not None and not 3 <= definition <= 200:
        raise InvalidInput(f"The definition is {definition}; it must be 3 to 200.")


def load_pyvista() -> Any:
    """Import pyvista, or raise `MissingExtra` with how to install it."""
    return require("pyvista", extra="video", purpose="to draw worlds")


def make_plotter(side: int) -> Any:
    """Make a plotter of ``side`` × ``side`` pixels without a window."""
    require_graphics()
    pyvista = load_pyvista()
    from vtkmodules.vtkCommonCore import vtkLogger

    # VTK warns on stderr that there is no display before it takes EGL or OSMesa; that is expected.
    vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_OFF)
    plotter = pyvista.Plotter(off_screen=True, window_size=[side, side], lighting="none")
    plotter.set_background(SKY_BOTTOM, top=SKY_TOP)
    plotter.render_window.SetMultiSamples(0)
    return plotter


def add_line_layer(plotter: Any) -> Any:
    """Add a layer for lines to a plotter, with the same camera and the same depths as the bodies.

    VTK's shadow passes cannot draw lines: their shaders need a lit surface.
    """
    from vtkmodules.vtkRenderingCore import vtkRenderer

    layer = vtkRenderer()
    layer.SetLayer(1)
    layer.PreserveDepthBufferOn()
    layer.InteractiveOff()
    layer.SetActiveCamera(plotter.camera)
    plotter.render_window.SetNumberOfLayers(2)
    plotter.render_window.AddRenderer(layer)
    return layer


def require_graphics() -> None:
    """Raise `MissingExtra`, with what to install, if VTK is missing, or there is nothing to draw off screen with."""
    load_pyvista()
    if not sys.platform.startswith("linux") or os.environ.get("DISPLAY"):
        return
    import ctypes

    for library in ("libEGL.so.1", "libOSMesa.so.8", "libOSMesa.so.6"):
        try:
            ctypes.CDLL(library)
        except OSError:
            continue
        return
    raise MissingExtra(
        "There is no display, and neither EGL nor OSMesa to draw without one. Install one of them: apt-get install "
        "libegl1 libgl1-mesa-dri (or libosmesa6)."
    )
