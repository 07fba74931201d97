"""Boxes with scores, such as those of detectors: suppression and merging of those that show the same thing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from choque._core.lazy import exporting

if TYPE_CHECKING:
    from choque.boxes._suppress import Merged, merge, suppress

__all__ = ["Merged", "merge", "suppress"]

__getattr__ = exporting("choque.boxes", dict.fromkeys(__all__, "choque.boxes._suppress"))


def __dir__() -> list[str]:
    return list(__all__)
