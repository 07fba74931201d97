"""The scenes that come with Choque, one family a file; importing them registers them."""

from __future__ import annotations

from choque.scene.generators import aligned, brownian, clustered, free_fall, mixed, moving, reference, uniform
from choque.theses.interest import arena

__all__ = ["aligned", "arena", "brownian", "clustered", "free_fall", "mixed", "moving", "reference", "uniform"]
