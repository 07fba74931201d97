"""Scenes for measuring: boxes at rest or in motion, made by name and seed, baked to disk and read back."""

from __future__ import annotations

from choque.scene.formats.boxes import bake
from choque.scene.loading import load, loader
from choque.scene.model import BoxScene, Motion
from choque.scene.registry import describe, generate, generator, names, parameters
from choque.scene.request import Request

__all__ = [
    "BoxScene",
    "Motion",
    "Request",
    "bake",
    "describe",
    "generate",
    "generator",
    "load",
    "loader",
    "names",
    "parameters",
]
