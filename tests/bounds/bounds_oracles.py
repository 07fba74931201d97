"""Slow and exact answers, in fractions and whole numbers, that share no code with the package."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque.bounds import Bounds, Boxes, KDops, OrientedBoxes, Spheres, directions

Exact = list[Fraction]


def exact(values: Any) -> Exact:
    return [Fraction(float(value)) for value in values]


def exact_dot(a: Exact, b: Exact) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def exact_move(point: Any, rotation: Any, translation: Any) -> Exact:
    start = exact(point)
    return [exact_dot(exact(row), start) + Fraction(float(t)) for row, t in zip(rotation, translation, strict=True)]


def contains(bounds: Bounds, row: int, point: Exact) -> bool:
    """Whether a volume, exactly as its numbers say, contains an exact point."""
    if isinstance(bounds, Boxes):
        return _between(bounds.lower[row], point, bounds.upper[row])
    if isinstance(bounds, KDops):
        along = [exact_dot(exact(direction), point) for direction in directions(bounds.k)]
        return _between(bounds.lower[row], along, bounds.upper[row])
    if isinstance(bounds, Spheres):
        offset = [p - c for p, c in zip(point, exact(bounds.center[row]), strict=True)]
        return exact_dot(offset, offset) <= Fraction(float(bounds.radius[row])) ** 2
    assert isinstance(bounds, OrientedBoxes)
    offset = [p - c for p, c in zip(point, exact(bounds.center[row]), strict=True)]
    # offset = Σ y a, solved for y by Cramer's rule
    frame = [exact(axis) for axis in bounds.axes[row]]
    whole = _determinant(frame)
    for edge, half in enumerate(exact(bounds.half[row])):
        replaced = [offset if other == edge else axis for other, axis in enumerate(frame)]
        if abs(_determinant(replaced)) > half * abs(whole):
            return False
    return True


def _between(lower: Any, values: Exact, upper: Any) -> bool:
    return all(float(a) <= v <= float(b) for a, v, b in zip(lower, values, upper, strict=True))


def _determinant(rows: list[Exact]) -> Fraction:
    if len(rows) == 2:
        return rows[0][0] * rows[1][1] - rows[0][1] * rows[1][0]
    return exact_dot(rows[0], _cross(rows[1], rows[2]))


def _cross(a: Any, b: Any) -> Any:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def oriented_gap(first: OrientedBoxes, second: OrientedBoxes, row: int) -> float:
    """How far one row of both sets is apart; it is at most 0 exactly when the two boxes share a point.

    The difference of two boxes is a zonotope. Coordinate axes are added to its edges, as if short beyond
    measure, so that it is never flat; pairs of edges then span its faces, and one of their normals
    separates it if anything does.
    """
    edges = [
        _whole(Fraction(float(half)) * component for component in exact(axis))
        for boxes in (first, second)
        for half, axis in zip(boxes.half[row], boxes.axes[row], strict=True)
    ]
    offset = _whole(b - a for a, b in zip(exact(first.center[row]), exact(second.center[row]), strict=True))
    size = first.dimension
    spanning = edges + [[int(i == j) for j in range(size)] for i in range(size)]
    if size == 2:
        normals = [[-y, x] for x, y in spanning]
    else:
        normals = [_cross(a, b) for a, b in combinations(spanning, 2)]
    return max(_gap_along(normal, offset, edges) for normal in normals if any(normal))


def _gap_along(normal: list[int], offset: list[int], edges: list[list[int]]) -> float:
    gap = abs(_whole_dot(normal, offset)) - sum(abs(_whole_dot(normal, edge)) for edge in edges)
    largest = max(map(abs, normal))
    length = sqrt(sum(float(Fraction(component, largest)) ** 2 for component in normal))
    return float(Fraction(gap, largest * SCALE)) / length


SCALE = 2**400
"""Makes whole numbers of all lengths in the tests."""


def _whole(values: Iterable[Fraction]) -> list[int]:
    scaled = [value * SCALE for value in values]
    assert all(value.denominator == 1 for value in scaled)
    return [int(value) for value in scaled]


def _whole_dot(a: list[int], b: list[int]) -> int:
    return sum(x * y for x, y in zip(a, b, strict=True))


def random_axes(generator: np.random.Generator, count: int, dimension: int) -> NDArray[np.float64]:
    """Orthonormal frames (n, d, d) from the QR decomposition of normal numbers."""
    return np.ascontiguousarray(np.linalg.qr(generator.normal(size=(count, dimension, dimension))).Q)
