"""Fingsics, a simulator of rigid bodies in single precision: its rules, formats, modes and study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from choque._core.lazy import exporting

if TYPE_CHECKING:
    from choque.theses.fingsics.engine import world

__all__ = ["world"]

__getattr__, __dir__ = exporting(__name__, __all__, {".engine": "world"})
