"""Scenes of boxes for measuring and of bodies for simulating: by name and seed, or from files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from choque._core.lazy import exporting

if TYPE_CHECKING:
    from choque.scene.body_scene import BodyScene, Camera, bodies, body_generator
    from choque.scene.box_scene import BoxScene, generate, generator
    from choque.scene.columns import BodyColumns
    from choque.scene.files import describe, find_bodies, names, parameters, read, write
    from choque.scene.generators import BodyRequest, Request

__all__ = ["BodyColumns", "BodyRequest", "BodyScene", "BoxScene", "Camera", "Request"]
__all__ += ["bodies", "body_generator", "describe", "find_bodies", "generate", "generator", "names", "parameters"]
__all__ += ["read", "write"]

_HOMES = {
    ".columns": "BodyColumns",
    ".body_scene": "BodyScene Camera bodies body_generator",
    ".box_scene": "BoxScene generate generator",
    ".files": "describe find_bodies names parameters read write",
    ".generators": "BodyRequest Request",
}
__getattr__, __dir__ = exporting(__name__, __all__, _HOMES)
