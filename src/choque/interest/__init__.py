"""Areas of interest: which bodies are near which, what entered and left, and larger areas that save searches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from choque._core.lazy import exporting

if TYPE_CHECKING:
    from choque.interest._areas import Areas
    from choque.interest._skin import Skinned

__all__ = ["Areas", "Skinned"]
__getattr__, __dir__ = exporting(__name__, __all__, {"._areas": "Areas", "._skin": "Skinned"})
