"""How crowded a set of bodies is."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from choque.bounds import Spheres
from choque.errors import InvalidInput


def density(position: ArrayLike, radius: ArrayLike) -> float:
    """The mean distance of the bodies from their common centre, in which a body weighs as much as its radius.

    ``position`` is (n, 2) or (n, 3), ``radius`` (n,) or one for all, in the same unit, which is that of the answer.
    Lower means denser; to be compared within one scene only. Where no body has a size, all weigh the same.

    Examples
    --------
    >>> import choque
    >>> choque.interest.density([[0, 0], [4, 0]], [3, 1])
    2.0
    """
    bodies = Spheres(position, radius)
    if not len(bodies):
        raise InvalidInput("position holds no bodies; the density of nothing is not defined.")
    center = bodies.center.astype(np.float64)
    weight = bodies.radius.astype(np.float64)
    middle = np.average(center, axis=0, weights=weight if weight.any() else None)
    return float(np.sqrt(((center - middle) ** 2).sum(axis=1)).mean())
