"""The generators of bodies that come with Choque, one family a file; importing them registers them."""

from __future__ import annotations

from choque.scene.body_generators import (
    armies,
    balls,
    bulldozer,
    capsule_box,
    logs,
    matrix,
    mixed_box,
    pile,
    pins,
    ramp,
    waves,
)

__all__ = [
    "armies",
    "balls",
    "bulldozer",
    "capsule_box",
    "logs",
    "matrix",
    "mixed_box",
    "pile",
    "pins",
    "ramp",
    "waves",
]
