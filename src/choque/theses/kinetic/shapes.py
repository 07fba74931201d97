"""Polygons: shapes within the unit circle as (k, 2) vertices, scaled to an area, rotated and moved."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core import check
from choque.bounds import Boxes
from choque.errors import InvalidInput, UnknownName
from choque.narrow.polygons import as_polygon

Polygon = NDArray[np.float64]

MAX_VERTICES = 20
"""Maximum number of vertices of a random irregular polygon, as in the thesis."""


def regular(vertex_count: int) -> Polygon:
    """Return the regular polygon on the unit circle; its area is (m/2)·sin(2π/m)."""
    return _on_circle(np.ones(check.whole_number(vertex_count, "vertex_count", 3)))


def star(point_count: int, inner_radius: float = 0.5) -> Polygon:
    """Return a star of m points with its notches at ``inner_radius``; its area is m·r·sin(π/m)."""
    if check.positive(inner_radius, "inner_radius") > 1.0:
        raise InvalidInput(f"inner_radius is {inner_radius}; it must be at most 1, where the points are.")
    return _on_circle(np.tile([1.0, inner_radius], check.whole_number(point_count, "point_count", 2)))


def boomerang() -> Polygon:
    """Return two arms at a right angle."""
    return np.array([[0.0, 1.0], [-0.8, -0.6], [0.0, 0.1], [0.8, -0.6]])


def arrow_head() -> Polygon:
    """Return an arrow head that points to the right, with a notch behind."""
    return np.array([[1.0, 0.0], [-0.6, 0.8], [-0.2, 0.0], [-0.6, -0.8]])


def rectangle(width: float = 1.6, height: float = 1.2) -> Polygon:
    """Return a rectangle around the origin; the default one is inscribed in the unit circle."""
    x, y = check.positive(width, "width") / 2.0, check.positive(height, "height") / 2.0
    return np.array([[-x, -y], [x, -y], [x, y], [-x, y]])


def irregular(random: np.random.Generator, vertex_count: int) -> Polygon:
    """Return a random star-shaped polygon within the unit circle."""
    if not 3 <= vertex_count <= MAX_VERTICES:
        raise InvalidInput(f"{vertex_count} vertices are not allowed; give from 3 to {MAX_VERTICES}.")
    return _on_circle(random.uniform(0.5, 1.0, vertex_count))


SHAPES: dict[str, Callable[[], Polygon]] = {
    "triangle": lambda: regular(3),
    "square": lambda: regular(4),
    "pentagon": lambda: regular(5),
    "hexagon": lambda: regular(6),
    "star-4": lambda: star(4),
    "star-5": lambda: star(5),
    "star-6": lambda: star(6),
    "boomerang": boomerang,
    "arrow-head": arrow_head,
    "rectangle": rectangle,
}
"""The shapes by name."""


def shape(name: str, *, size: float | None = None, turned: float = 0.0, at: ArrayLike = (0.0, 0.0)) -> Polygon:
    """Return the shape ``name`` scaled to the area ``size``, rotated by ``turned`` [rad] and moved by ``at``."""
    if name not in SHAPES:
        raise UnknownName("shape", str(name), SHAPES)
    return placed(SHAPES[name](), size=size, turned=turned, at=at)


def placed(
    polygon: ArrayLike, *, size: float | None = None, turned: float = 0.0, at: ArrayLike = (0.0, 0.0)
) -> Polygon:
    """Return a polygon scaled about the origin to the area ``size``, rotated by ``turned`` [rad], moved by ``at``."""
    vertices = as_polygon(polygon)
    if size is not None:
        present = abs(area(vertices))
        if not present > 0.0:
            raise InvalidInput(f"A polygon of area {present} cannot be scaled to the area {size}; it has no inside.")
        vertices = vertices * math.sqrt(check.positive(size, "size") / present)
    angle = check.number(turned, "turned")
    cosine, sine = math.cos(angle), math.sin(angle)
    result: Polygon = vertices @ np.array([[cosine, sine], [-sine, cosine]]) + check.table(at, "at", (2,))
    return result


def area(polygon: ArrayLike) -> float:
    """Return the signed area, positive for counterclockwise vertices (shoelace formula)."""
    vertices = as_polygon(polygon)
    shifted = vertices - vertices[0]
    following = np.empty_like(shifted)
    following[:-1], following[-1] = shifted[1:], shifted[0]
    return float((shifted[:, 0] * following[:, 1] - shifted[:, 1] * following[:, 0]).sum() / 2.0)


def edge_lengths(polygon: ArrayLike) -> NDArray[np.float64]:
    """Return the length (m,) of each edge, the last one back to the first vertex."""
    vertices = as_polygon(polygon)
    lengths: NDArray[np.float64] = np.hypot(*(np.roll(vertices, -1, axis=0) - vertices).T)
    return lengths


def box_union(boxes: Boxes) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """Return (lower, upper), each (d,), of the smallest box that holds all ``boxes``; empty without boxes."""
    return boxes.lower.min(axis=0, initial=np.inf), boxes.upper.max(axis=0, initial=-np.inf)


def box_intersection(boxes: Boxes) -> tuple[NDArray[np.floating], NDArray[np.floating]] | None:
    """Return (lower, upper), each (d,), of what all closed ``boxes`` have in common; None if that is nothing."""
    lower, upper = boxes.lower.max(axis=0, initial=-np.inf), boxes.upper.min(axis=0, initial=np.inf)
    return (lower, upper) if (lower <= upper).all() else None


def _on_circle(radii: NDArray[np.float64]) -> Polygon:
    angle = 2.0 * math.pi * np.arange(len(radii)) / len(radii)
    vertices: Polygon = radii[:, None] * np.stack((np.cos(angle), np.sin(angle)), axis=1)
    return vertices
