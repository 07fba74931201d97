"""How the engine's bodies yield to being turned: inertia about the axes of the world, inverted, in single precision.

Moments are worked out in double precision and rounded once, a capsule's as those of a cylinder of its volume; the
tensor and its inverse are single throughout.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from choque._core.kernel import kernel
from choque._core.types import Integer, Pairs
from choque.narrow.shapes import CAPSULE, SPHERE
from choque.theses.fingsics.vectors import ONE, Vector, axis

TWO_FIFTHS, ONE_HALF, TWELFTH = np.float64(2.0 / 5.0), np.float64(0.5), np.float64(1.0 / 12.0)
TWO, THREE = np.float64(2.0), np.float64(3.0)
TWO_THIRDS = np.float32(2.0 / 3.0)


@kernel
def invert_inertia(
    pairs: Pairs, kind: Any, size: Any, mass: Any, inertia: Any, rotation: Any, static: Any, yielding: Any
) -> None:
    """Write (R·I·Rᵀ)⁻¹ of both bodies of each pair to ``yielding`` (m, 2, 3, 3); statics are left at what is there."""
    tensor = np.empty((3, 3), np.float32)
    for row in range(pairs.shape[0]):
        for side in range(2):
            body = np.int64(pairs[row, side])
            if static[body]:
                continue
            moments = _moments(kind, size, mass, inertia, body)
            if kind[body] == SPHERE:
                for k in range(3):
                    yielding[row, side, k, k] = ONE / moments[k]
                continue
            x, y, z = axis(rotation, body, 0), axis(rotation, body, 1), axis(rotation, body, 2)
            for i in range(3):
                for j in range(3):
                    tensor[i, j] = x[i] * moments[0] * x[j] + y[i] * moments[1] * y[j] + z[i] * moments[2] * z[j]
            _invert(tensor, yielding[row, side])


@kernel
def _moments(kind: Any, size: Any, mass: Any, inertia: Any, body: Integer) -> Vector:
    """The principal moments of a body; those of kinds that the engine lacks are the world's."""
    radius, weight = np.float32(size[body, 0]), np.float64(mass[body])
    if kind[body] == SPHERE:
        moment = np.float32(TWO_FIFTHS * weight * radius * radius)
        return moment, moment, moment
    if kind[body] == CAPSULE:
        whole = np.float32(size[body, 1]) + np.float32((radius * TWO) * TWO_THIRDS)
        across = np.float32(TWELFTH * weight * (THREE * radius * radius + whole * whole))
        return across, across, np.float32(ONE_HALF * weight * radius * radius)
    return np.float32(inertia[body, 0]), np.float32(inertia[body, 1]), np.float32(inertia[body, 2])


@kernel
def _invert(matrix: Any, inverse: Any) -> None:
    """The inverse of a 3 by 3 matrix, by its cofactors."""
    a, b, c = matrix[0, 0], matrix[0, 1], matrix[0, 2]
    d, e, f = matrix[1, 0], matrix[1, 1], matrix[1, 2]
    g, h, k = matrix[2, 0], matrix[2, 1], matrix[2, 2]
    scale = ONE / (a * (e * k - h * f) - b * (d * k - f * g) + c * (d * h - e * g))
    inverse[0, 0], inverse[0, 1], inverse[0, 2] = e * k - h * f, c * h - b * k, b * f - c * e
    inverse[1, 0], inverse[1, 1], inverse[1, 2] = f * g - d * k, a * k - c * g, d * c - a * f
    inverse[2, 0], inverse[2, 1], inverse[2, 2] = d * h - g * e, g * b - a * h, a * e - d * b
    for i in range(3):
        for j in range(3):
            inverse[i, j] *= scale
