"""The scenes that come with Choque, one family a file; importing them registers them."""

from __future__ import annotations

from choque.scene.generators import aligned, arena, brownian, clustered, free_fall, mixed, moving, reference, uniform

__all__ = ["aligned", "arena", "brownian", "clustered", "free_fall", "mixed", "moving", "reference", "uniform"]
