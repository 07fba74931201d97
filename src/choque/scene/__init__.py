"""Scenes: boxes for measuring and bodies for running, by name and seed or from files, and to files again."""

from __future__ import annotations

from choque.scene.body_columns import BodyColumns
from choque.scene.body_registry import bodies, body_generator, body_names, body_parameters
from choque.scene.body_scene import BodyScene, Camera
from choque.scene.catalogue import describe
from choque.scene.finding import find_bodies
from choque.scene.formats.boxes import bake
from choque.scene.loading import built_in_names, load, load_bodies, load_boxes, loader
from choque.scene.model import BoxScene, Motion
from choque.scene.registry import generate, generator, names, parameters
from choque.scene.request import BodyRequest, Request
from choque.scene.saving import save

__all__ = [
    "BodyColumns",
    "BodyRequest",
    "BodyScene",
    "BoxScene",
    "Camera",
    "Motion",
    "Request",
    "bake",
    "bodies",
    "body_generator",
    "body_names",
    "body_parameters",
    "built_in_names",
    "describe",
    "find_bodies",
    "generate",
    "generator",
    "load",
    "load_bodies",
    "load_boxes",
    "loader",
    "names",
    "parameters",
    "save",
]
