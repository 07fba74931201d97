"""Wireframes as line segments (m, 2, 3): boxes, oriented boxes, spheres and k-DOPs."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Segments: TypeAlias = NDArray[np.float32]
"""(m, 2, 3): the two ends of each segment."""

NO_SEGMENTS: Segments = np.empty((0, 2, 3), np.float32)

CIRCLE = 24
"""Number of segments of a circle."""

EDGES = np.array([(a, a | 1 << axis) for axis in range(3) for a in range(8) if not a >> axis & 1])
"""(12, 2) the edges of a box; bits 0, 1, 2 of a corner's number are its x, y, z side."""

_SIGNS = np.array([[(corner >> axis & 1) * 2 - 1 for axis in range(3)] for corner in range(8)], np.float64)

PARALLEL = 1e-9
ON_EDGE = 1e-9
"""Tolerance, as a share of the size, by which an edge may lie beyond a face."""


def box_wires(lower: NDArray[np.floating], upper: NDArray[np.floating]) -> Segments:
    """Return the edges of boxes with corners (n, 3)."""
    middle, half = (lower.astype(np.float64) + upper) / 2, (upper.astype(np.float64) - lower) / 2
    return _edges(middle[:, None] + half[:, None] * _SIGNS)


def oriented_wires(center: NDArray[np.floating], half: NDArray[np.floating], axes: NDArray[np.floating]) -> Segments:
    """Return the edges of boxes: ``center`` (n, 3), ``half`` sides (n, 3) along the rows of ``axes`` (n, 3, 3)."""
    return _edges(center[:, None] + np.einsum("nka,nai->nki", half[:, None] * _SIGNS, axes))


def sphere_wires(center: NDArray[np.floating], radius: NDArray[np.floating]) -> Segments:
    """Return three great circles of each sphere."""
    angle = 2 * np.pi * np.arange(CIRCLE + 1) / CIRCLE
    round_, flat = np.column_stack((np.cos(angle), np.sin(angle))), np.zeros(CIRCLE + 1)
    circles = np.stack([np.insert(round_, axis, flat, axis=1) for axis in range(3)])
    lines = np.stack((circles[:, :-1], circles[:, 1:]), axis=2).reshape(-1, 2, 3)
    found: NDArray[np.float64] = center[:, None, None] + radius[:, None, None, None] * lines
    return found.reshape(-1, 2, 3).astype(np.float32)


def slab_wires(lower: NDArray[np.floating], upper: NDArray[np.floating], along: NDArray[np.integer]) -> Segments:
    """Return the edges of k-DOPs: ``lower`` and ``upper`` (n, k/2) bounds along the directions ``along`` (k/2, 3).

    The intersection line of two faces is clipped by the other slabs: O(n k³).
    """
    normal = along.astype(np.float64)
    first, second = np.triu_indices(len(normal), 1)
    crossing = np.cross(normal[first], normal[second])
    gram = np.einsum("pi,pi->p", crossing, crossing)
    sides = [(a, b) for a in (0, 1) for b in (0, 1)]
    bound = np.stack((lower, upper)).astype(np.float64)
    size = (bound[1] - bound[0]).max(axis=1)
    found = []
    for side_a, side_b in sides:
        at_a, at_b = bound[side_a][:, first], bound[side_b][:, second]
        # The point of the line that is nearest to the origin.
        point = at_a[..., None] * np.cross(normal[second], crossing) + at_b[..., None] * np.cross(
            crossing, normal[first]
        )
        point /= gram[:, None]
        start, end = _clipped(point, crossing, normal, bound, ON_EDGE * size)
        keep = end - start > 1e-6 * size[:, None] / np.sqrt(gram)
        rows, lines = np.nonzero(keep)
        base, step = point[rows, lines], crossing[lines]
        found.append(np.stack((base + start[rows, lines, None] * step, base + end[rows, lines, None] * step), axis=1))
    return np.concatenate(found).astype(np.float32) if found else NO_SEGMENTS


def _clipped(
    point: NDArray[np.float64],
    crossing: NDArray[np.float64],
    normal: NDArray[np.float64],
    bound: NDArray[np.float64],
    slack: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Clip the lines ``point + t crossing`` by the slabs; return the ranges of t, (n, lines)."""
    start, end = np.full(point.shape[:2], -np.inf), np.full(point.shape[:2], np.inf)
    for slab, direction in enumerate(normal):
        rate, at = crossing @ direction, point @ direction
        low, high = bound[0][:, slab, None] - slack[:, None] - at, bound[1][:, slab, None] + slack[:, None] - at
        moving = np.abs(rate) > PARALLEL
        with np.errstate(divide="ignore", invalid="ignore"):
            one, other = low / rate, high / rate
        start = np.where(moving, np.maximum(start, np.minimum(one, other)), start)
        end = np.where(moving, np.minimum(end, np.maximum(one, other)), end)
        outside = ~moving & ((low > 0) | (high < 0))
        end = np.where(outside, -np.inf, end)
    return start, end


def _edges(corners: NDArray[np.float64]) -> Segments:
    return corners[:, EDGES].reshape(-1, 2, 3).astype(np.float32)
