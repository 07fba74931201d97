"""What every routine reads of a pair of bodies, and how it writes a contact. Always in float64."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import kernel
from choque._core.types import Floats, Index
from choque._core.vector import Vector, along, store


@kernel
def offset(position: Floats, origin: Index, target: Index) -> Vector:
    """From one body to another."""
    return (
        np.float64(position[target, 0]) - np.float64(position[origin, 0]),
        np.float64(position[target, 1]) - np.float64(position[origin, 1]),
        np.float64(position[target, 2]) - np.float64(position[origin, 2]),
    )


@kernel
def axis_of(rotation: Floats, row: Index, axis: Index) -> Vector:
    """One of the local axes of a body, in the world."""
    return np.float64(rotation[row, 0, axis]), np.float64(rotation[row, 1, axis]), np.float64(rotation[row, 2, axis])


@kernel
def to_world(rotation: Floats, row: Index, local: Vector) -> Vector:
    """A direction in the frame of a body, in the world."""
    x, y, z = local
    return (
        rotation[row, 0, 0] * x + rotation[row, 0, 1] * y + rotation[row, 0, 2] * z,
        rotation[row, 1, 0] * x + rotation[row, 1, 1] * y + rotation[row, 1, 2] * z,
        rotation[row, 2, 0] * x + rotation[row, 2, 1] * y + rotation[row, 2, 2] * z,
    )


@kernel
def held(number: float, limit: float) -> float:
    """The number, but at least −``limit`` and at most ``limit``."""
    return min(max(number, -limit), limit)


@kernel
def write_contact(
    position: Floats,
    body: Index,
    from_body: Vector,
    direction: Vector,
    surface: float,
    overlap: float,
    pair: Index,
    hit: NDArray[np.uint8],
    point: Floats,
    normal: Floats,
    depth: Floats,
) -> None:
    """Write a contact in the direction of its normal from the place ``from_body`` on the axis of the first body.

    The body ends ``surface`` away from there, and the point lies half the overlap before that.
    """
    place = (
        np.float64(position[body, 0]) + from_body[0],
        np.float64(position[body, 1]) + from_body[1],
        np.float64(position[body, 2]) + from_body[2],
    )
    hit[pair] = 1
    store(point, pair, along(place, direction, surface - 0.5 * overlap))
    store(normal, pair, direction)
    depth[pair] = overlap
