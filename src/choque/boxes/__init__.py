"""Boxes with scores, such as those of detectors: suppression and merging of those that show the same thing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from choque._core.lazy import exporting

if TYPE_CHECKING:
    from choque.boxes._suppress import Merged, merge, suppress

__all__ = ["Merged", "merge", "suppress"]
__getattr__, __dir__ = exporting(__name__, __all__, {"._suppress": "Merged merge suppress"})
