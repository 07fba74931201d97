"""Areas of interest: which bodies are near which, what entered and left, and larger areas that save searches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from choque._core.lazy import exporting

if TYPE_CHECKING:
    from choque.interest._areas import Areas
    from choque.interest._skin import Skinned, skin

__all__ = ["Areas", "Skinned", "skin"]

_HOMES = {"Areas": "_areas", "Skinned": "_skin", "skin": "_skin"}

__getattr__ = exporting(__name__, {name: f"{__name__}.{home}" for name, home in _HOMES.items()})
