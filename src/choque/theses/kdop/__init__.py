"""Sweep and prune with k-DOPs on a GPU: the pipeline, the tower and the study; `BodyPoints` bounds bodies of points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from choque._core.lazy import exporting

if TYPE_CHECKING:
    from choque.theses.kdop.body_points import BodyPoints

__all__ = ["BodyPoints"]

__getattr__, __dir__ = exporting(__name__, __all__, {".body_points": "BodyPoints"})
