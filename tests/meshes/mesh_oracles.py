"""Triangles in rational numbers: what two of them share, by clipping, without any sign test of the library."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

Point = tuple[Fraction, ...]
Points = list[Point]


def rational(points: NDArray[np.float64]) -> Points:
    return [tuple(Fraction(float(x)) for x in point) for point in points]


def minus(a: Point, b: Point) -> Point:
    return tuple(x - y for x, y in zip(a, b, strict=True))


def cross(a: Point, b: Point) -> Point:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def dot(a: Point, b: Point) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def normal(triangle: Points) -> Point:
    return cross(minus(triangle[1], triangle[0]), minus(triangle[2], triangle[0]))


def clip(polygon: Points, origin: Point, direction: Point) -> Points:
    """The part of a convex polygon, segment or point on the side of ``direction``, the border included."""
    kept: Points = []
    for k, a in enumerate(polygon):
        b = polygon[(k + 1) % len(polygon)]
        first, second = dot(direction, minus(a, origin)), dot(direction, minus(b, origin))
        if first >= 0:
            kept.append(a)
        if first * second < 0:
            share = first / (first - second)
            kept.append(tuple(x + share * (y - x) for x, y in zip(a, b, strict=True)))
    return kept


def half_spaces(triangle: Points) -> list[tuple[Point, Point]]:
    """Half-spaces whose common part is the triangle, whatever its dimension."""
    n = normal(triangle)
    negative = lambda v: tuple(-x for x in v)  # noqa: E731
    if any(n):
        found = [(triangle[0], n), (triangle[0], negative(n))]
        for k in range(3):
            edge = minus(triangle[(k + 1) % 3], triangle[k])
            found.append((triangle[k], cross(n, edge)))
        return found
    a, b = max(combinations(triangle, 2), key=lambda pair: dot(minus(*pair), minus(*pair)))
    d = minus(b, a)
    axes = [tuple(Fraction(int(i == k)) for i in range(3)) for k in range(3)]
    across = axes if not any(d) else [cross(d, axis) for axis in axes]
    found = [(a, v) for each in across for v in (each, negative(each))]
    return [*found, (a, d), (b, negative(d))] if any(d) else found


def shared(one: NDArray[np.float64], two: NDArray[np.float64]) -> Points:
    """Corners of what two triangles share; none if they are apart. Repeated ones are left in."""
    part = rational(one)
    for origin, direction in half_spaces(rational(two)):
        part = clip(part, origin, direction) if part else part
    return part


def is_interior(point: Point, triangle: Points) -> bool:
    n = normal(triangle)
    return any(n) and all(
        dot(cross(n, minus(triangle[(k + 1) % 3], triangle[k])), minus(point, triangle[k])) > 0 for k in range(3)
    )


def kind(one: NDArray[np.float64], two: NDArray[np.float64]) -> str:
    """Apart, touching, crossing or coplanar.

    The middle of what two convex sets share lies in both interiors if any common point does.
    """
    part = shared(one, two)
    if not part:
        return "apart"
    middle = tuple(sum(column, Fraction(0)) / len(part) for column in zip(*part, strict=True))
    first, second = rational(one), rational(two)
    if not (is_interior(middle, first) and is_interior(middle, second)):
        return "touching"
    return "crossing" if any(cross(normal(first), normal(second))) else "coplanar"


def kind_beside_corners(one: NDArray[np.float64], two: NDArray[np.float64]) -> str:
    """The kind, or apart if all that the triangles share is the hull of the corners that they have in common."""
    found = kind(one, two)
    first, second = rational(one), rational(two)
    common = [point for point in first if point in second]
    if found != "touching" or not common:
        return found
    inside = half_spaces([*common, *[common[-1]] * (3 - len(common))])
    outside = any(dot(d, minus(p, o)) < 0 for p in shared(one, two) for o, d in inside)
    return "touching" if outside else "apart"


def least_distance(p: NDArray[np.float64], q: NDArray[np.float64]) -> float:
    """The least distance of triangles (m, 3, 3) and (n, 3, 3) that are apart: of corners, edges and faces."""
    p, q = p[:, None], q[None]
    least = np.inf
    for i in range(3):
        for k in range(3):
            a, b, c, d = p[..., i, :], p[..., i - 1, :], q[..., k, :], q[..., k - 1, :]
            least = min(least, _to_segment(a, c, d).min(), _to_segment(c, a, b).min(), _of_lines(a, b, c, d).min())
        least = min(least, _to_plane(p[..., i, :], q).min(), _to_plane(q[..., i, :], p).min())
    return float(least)


def _to_segment(point: Any, a: Any, b: Any) -> Any:
    along = b - a
    share = np.clip(((point - a) * along).sum(-1) / np.maximum((along * along).sum(-1), 1e-300), 0, 1)
    return np.linalg.norm(point - a - share[..., None] * along, axis=-1)


def _of_lines(a: Any, b: Any, c: Any, d: Any) -> Any:
    """Distance of two lines where it lies within both segments; infinite elsewhere."""
    u, v, w = np.broadcast_arrays(b - a, d - c, a - c)
    normal = np.cross(u, v)
    size = (normal * normal).sum(-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        s = -(np.cross(w, v) * normal).sum(-1) / size
        t = -(np.cross(w, u) * normal).sum(-1) / size
        gap = np.abs((w * normal).sum(-1)) / np.sqrt(size)
    return np.where((s >= 0) & (s <= 1) & (t >= 0) & (t <= 1), gap, np.inf)


def _to_plane(point: Any, triangle: Any) -> Any:
    """Distance from the plane of a triangle where the foot lies within it; infinite elsewhere."""
    a, b, c = (triangle[..., k, :] for k in range(3))
    normal = np.cross(b - a, c - a)
    size = np.linalg.norm(normal, axis=-1)
    inside = size > 0
    for start, end in ((a, b), (b, c), (c, a)):
        inside = inside & ((np.cross(end - start, point - start) * normal).sum(-1) >= 0)
    return np.where(inside, np.abs(((point - a) * normal).sum(-1)) / np.maximum(size, 1e-300), np.inf)


def kinds_of_whole_numbers(p: NDArray[np.int64], q: NDArray[np.int64]) -> NDArray[np.str_]:
    """How triangles (n, 3, 3) of small whole numbers meet, by separating axes in whole numbers.

    They are apart if an axis separates them, and their interiors are if one does so that touches both and does not
    contain both. The axes are the normals of all faces that the set of differences of two triangles may have, also of
    triangles that are segments or points.
    """
    count = len(p)
    edges, others = (each - np.roll(each, 1, axis=1) for each in (p, q))
    first, second = np.cross(edges[:, 0], edges[:, 1]), np.cross(others[:, 0], others[:, 1])
    between = p[:, 0] - q[:, 0]
    axes = [first, second, between]
    for e in (*edges.transpose(1, 0, 2), *others.transpose(1, 0, 2)):
        axes += [e, np.cross(first, e), np.cross(second, e), np.cross(e, np.cross(e, between))]
    for e in edges.transpose(1, 0, 2):
        for f in others.transpose(1, 0, 2):
            across = np.cross(e, f)
            axes += [across, np.cross(across, e), np.cross(across, f)]
    is_apart, is_touching = np.zeros(count, bool), np.zeros(count, bool)
    for axis in axes:
        own, other = ((each * axis[:, None]).sum(-1) for each in (p, q))
        below, above = other.min(1) - own.max(1), own.min(1) - other.max(1)
        is_apart |= (below > 0) | (above > 0)
        is_flat = (own.max(1) == own.min(1)) & (other.max(1) == other.min(1)) & (below == 0)
        is_touching |= ((below >= 0) | (above >= 0)) & ~is_flat
    has_interiors = first.any(1) & second.any(1)
    in_one_plane = ((q - p[:, :1]) * first[:, None]).sum(-1)
    kinds = np.where(in_one_plane.any(1), "crossing", "coplanar")
    return np.where(is_apart, "apart", np.where(is_touching | ~has_interiors, "touching", kinds))
