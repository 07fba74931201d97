"""The bounds of the Fingsics engine in single precision: boxes, and oriented boxes with its tile half-lengths."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import kernel
from choque._core.types import Integer
from choque.errors import InvalidInput
from choque.narrow.pair import read_pose
from choque.narrow.shapes import CAPSULE, KIND_NAMES, SPHERE, TILE
from choque.theses.fingsics.sphere_contacts import capsule_end, capsule_of, corner, tile_of
from choque.theses.fingsics.vectors import HALF, NEAR_ZERO, ONE, Vector, dot, minus, vector
from choque.world.bodies import Bodies
from choque.world.bounds import BodyBoxes

THICKNESS = np.float32(NEAR_ZERO)
"""Half the height of a tile's oriented box."""


def body_boxes(bodies: Bodies, threads: int) -> BodyBoxes:  # noqa: ARG001
    """Return the box and the oriented box of each body, float32, nothing rounded outward. O(n), one thread.

    The half-lengths of a tile's oriented box are the whole sides of the tile, as in the engine.
    """
    strange = np.flatnonzero(bodies.kind > TILE)
    if len(strange):
        row = int(strange[0])
        raise InvalidInput(
            f"The body {bodies.ids[row]} is a {KIND_NAMES[bodies.kind[row]]}; the Fingsics engine has spheres, "
            "capsules and tiles. Leave it out, or choose other bounds."
        )
    shape = (len(bodies), 3)
    lower, upper, half = (np.empty(shape, np.float32) for _ in range(3))
    _fill_boxes(bodies.kind, bodies.position, bodies.rotation, bodies.size, lower, upper)
    _fill_half_lengths(bodies.kind, bodies.size, half)
    _check_finite(bodies, lower, upper)
    axes = bodies.rotation.transpose(0, 2, 1).astype(np.float32, order="C")
    return BodyBoxes.unchecked(bodies.position.astype(np.float32), half, axes, lower, upper)


def _check_finite(bodies: Bodies, lower: NDArray[np.float32], upper: NDArray[np.float32]) -> None:
    finite = (np.isfinite(lower) & np.isfinite(upper)).all(axis=1)
    if not finite.all():
        row = int(np.argmin(finite))
        raise InvalidInput(
            f"The body {bodies.ids[row]} is at {bodies.position[row].tolist()} and turned by "
            f"{bodies.rotation[row].tolist()}; a step needs finite numbers. Lower its speed or the length of the step."
        )


@kernel
def _fill_boxes(
    kind: Any, position: Any, rotation: Any, size: Any, lower: NDArray[np.float32], upper: NDArray[np.float32]
) -> None:
    for row in range(kind.shape[0]):
        if kind[row] == SPHERE:
            center, radius = vector(position, row), np.float32(size[row, 0])
            for k in range(3):
                lower[row, k], upper[row, k] = center[k] - radius, center[k] + radius
        elif kind[row] == CAPSULE:
            capsule = capsule_of(read_pose(position, rotation, size, row, 0.0))
            first, second, radius = capsule_end(capsule, ONE), capsule_end(capsule, -ONE), capsule[2]
            for k in range(3):
                lower[row, k], upper[row, k] = min(first[k], second[k]) - radius, max(first[k], second[k]) + radius
        else:
            tile = tile_of(read_pose(position, rotation, size, row, 0.0))
            a, b = corner(tile, ONE, ONE), corner(tile, -ONE, ONE)
            c, d = corner(tile, ONE, -ONE), corner(tile, -ONE, -ONE)
            for k in range(3):
                lower[row, k] = min(a[k], b[k], c[k], d[k])
                upper[row, k] = max(a[k], b[k], c[k], d[k])


@kernel
def _fill_half_lengths(kind: Any, size: Any, half: NDArray[np.float32]) -> None:
    for row in range(kind.shape[0]):
        if kind[row] == SPHERE:
            half[row, 0] = half[row, 1] = half[row, 2] = size[row, 0]
        elif kind[row] == CAPSULE:
            half[row, 0] = half[row, 1] = size[row, 0]
            half[row, 2] = np.float32(size[row, 1]) * HALF + np.float32(size[row, 0])
        else:
            half[row, 0], half[row, 1], half[row, 2] = size[row, 0], THICKNESS, size[row, 1]


@kernel
def _edge(axes: Any, row: Integer, which: Integer) -> Vector:
    """Return the direction of edge ``which`` of an oriented box."""
    return axes[row, which, 0], axes[row, which, 1], axes[row, which, 2]


@kernel
def oriented_boxes_meet(
    center: NDArray[np.float32],
    half: NDArray[np.float32],
    axes: NDArray[np.float32],
    i: Integer,
    j: Integer,
    turn: NDArray[np.float32],
) -> bool:
    """Return whether none of 15 directions separates two oriented boxes, touching included.

    No epsilon, so boxes that touch, or whose edges are nearly parallel, may go either way, and differently for j and
    i. ``turn`` (3, 3) is working memory. After S. Gottschalk, M. C. Lin and D. Manocha, "OBBTree", 1996.
    """
    between = minus(vector(center, j), vector(center, i))
    offset = (dot(between, _edge(axes, i, 0)), dot(between, _edge(axes, i, 1)), dot(between, _edge(axes, i, 2)))
    a, b = vector(half, i), vector(half, j)
    for m in range(3):
        for n in range(3):
            turn[m, n] = dot(_edge(axes, i, m), _edge(axes, j, n))
    for m in range(3):
        reach = b[0] * abs(turn[m, 0]) + b[1] * abs(turn[m, 1]) + b[2] * abs(turn[m, 2])
        if abs(offset[m]) > a[m] + reach:
            return False
    for n in range(3):
        reach = a[0] * abs(turn[0, n]) + a[1] * abs(turn[1, n]) + a[2] * abs(turn[2, n])
        if abs(offset[0] * turn[0, n] + offset[1] * turn[1, n] + offset[2] * turn[2, n]) > reach + b[n]:
            return False
    for m in range(3):
        m1, m2 = (m + 1) % 3, (m + 2) % 3
        for n in range(3):
            n1, n2 = (n + 1) % 3, (n + 2) % 3
            reach = a[m1] * abs(turn[m2, n]) + a[m2] * abs(turn[m1, n])
            other_reach = b[n1] * abs(turn[m, n2]) + b[n2] * abs(turn[m, n1])
            if abs(offset[m2] * turn[m1, n] - offset[m1] * turn[m2, n]) > reach + other_reach:
                return False
    return True
