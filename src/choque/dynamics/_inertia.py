"""How bodies resist being turned: principal moments in the body's own frame."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from choque._core.types import Floats


def sphere_inertia(mass: Floats, radius: Floats) -> NDArray[np.float64]:
    """The moments (n, 3) of solid spheres: 2/5 m r²."""
    return np.repeat((0.4 * mass * radius**2)[:, np.newaxis], 3, axis=1)


def capsule_inertia(mass: Floats, radius: Floats, length: Floats) -> NDArray[np.float64]:
    """The moments (n, 3) of capsules along local z, as those of a solid cylinder.

    The cylinder has the radius of the capsule and its volume, so it is ``length`` + 4 r / 3 long.
    """
    whole = length + 4 * radius / 3
    across = mass * (3 * radius**2 + whole**2) / 12
    return np.stack((across, across, mass * radius**2 / 2), axis=1)
