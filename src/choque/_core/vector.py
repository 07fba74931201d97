"""Vectors of space as tuples of three numbers: inside a kernel they stay in registers."""

from __future__ import annotations

import math
from typing import TypeAlias

from choque._core.kernel import helper
from choque._core.types import Floats, Index

Vector: TypeAlias = tuple[float, float, float]


@helper
def point_of(points: Floats, row: Index) -> Vector:
    """Return row ``row`` of an array (n, 3)."""
    return points[row, 0], points[row, 1], points[row, 2]


@helper
def add(a: Vector, b: Vector) -> Vector:
    """Return ``a + b``."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@helper
def subtract(a: Vector, b: Vector) -> Vector:
    """Return ``a − b``."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@helper
def scaled(a: Vector, factor: float) -> Vector:
    """Return ``factor · a``."""
    return a[0] * factor, a[1] * factor, a[2] * factor


@helper
def along(a: Vector, direction: Vector, factor: float) -> Vector:
    """Return ``a + factor · direction``."""
    return a[0] + factor * direction[0], a[1] + factor * direction[1], a[2] + factor * direction[2]


@helper
def dot(a: Vector, b: Vector) -> float:
    """Return the dot product of ``a`` and ``b``."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@helper
def cross(a: Vector, b: Vector) -> Vector:
    """Return the cross product of ``a`` and ``b``."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@helper
def length(a: Vector) -> float:
    """Return the length of ``a``."""
    return math.sqrt(dot(a, a))


@helper
def unit(a: Vector) -> Vector:
    """Return ``a`` scaled to length 1; the first axis if its length is 0."""
    size = math.sqrt(dot(a, a))
    if not size > 0:
        return 1.0, 0.0, 0.0
    return a[0] / size, a[1] / size, a[2] / size


@helper
def store(target: Floats, row: Index, value: Vector) -> None:
    """Write a vector into row ``row`` of an array (n, 3)."""
    target[row, 0] = value[0]
    target[row, 1] = value[1]
    target[row, 2] = value[2]
