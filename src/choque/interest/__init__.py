"""Areas of interest: who is near whom, directed, and what entered and left; larger areas that spare searches."""

from __future__ import annotations

from choque.interest._areas import Areas
from choque.interest._density import density
from choque.interest._skin import Skinned, skin
from choque.interest.broad_phase import Interest

__all__ = ["Areas", "Interest", "Skinned", "density", "skin"]
