"""Scenes of boxes for measuring and of bodies for simulating: by name and seed, or from files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from choque._core.lazy import exporting

if TYPE_CHECKING:
    from choque.scene.body_scenes.columns import BodyColumns
    from choque.scene.body_scenes.scene import BodyScene, Camera, bodies, body_generator
    from choque.scene.box_scenes.scene import BoxScene, generate, generator
    from choque.scene.files import describe, find_bodies, names, parameters, read, write
    from choque.scene.generators import BodyRequest, Request

__all__ = [
    "BodyColumns",
    "BodyRequest",
    "BodyScene",
    "BoxScene",
    "Camera",
    "Request",
    "bodies",
    "body_generator",
    "describe",
    "find_bodies",
    "generate",
    "generator",
    "names",
    "parameters",
    "read",
    "write",
]

_HOMES = {
    "BodyColumns": "choque.scene.body_scenes.columns",
    "BodyRequest": "choque.scene.generators",
    "BodyScene": "choque.scene.body_scenes.scene",
    "BoxScene": "choque.scene.box_scenes.scene",
    "Camera": "choque.scene.body_scenes.scene",
    "Request": "choque.scene.generators",
    "bodies": "choque.scene.body_scenes.scene",
    "body_generator": "choque.scene.body_scenes.scene",
    "describe": "choque.scene.files",
    "find_bodies": "choque.scene.files",
    "generate": "choque.scene.box_scenes.scene",
    "generator": "choque.scene.box_scenes.scene",
    "names": "choque.scene.files",
    "parameters": "choque.scene.files",
    "read": "choque.scene.files",
    "write": "choque.scene.files",
}

__getattr__ = exporting(__name__, _HOMES)
