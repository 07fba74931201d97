"""The boxes around bodies as wireframes show them, by their eight corners."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque.narrow.shapes import CAPSULE, CONVEX, SPHERE, TILE
from choque.record import BodyTable, Poses

_SIGNS = np.array([[(corner >> axis & 1) * 2 - 1 for axis in range(3)] for corner in range(8)], np.float32)


def oriented_boxes(cast: BodyTable, poses: Poses, *, tiles: bool = False) -> NDArray[np.float32]:
    """The corners (m, 8, 3) of the oriented boxes of all drawn bodies, tiles aside unless asked for."""
    rows = _boxed(cast)
    rows = rows if tiles else rows[cast.kind[rows] != TILE]
    middle, half = _local_boxes(cast, rows)
    local = middle[:, np.newaxis] + half[:, np.newaxis] * _SIGNS
    turned = np.einsum("nij,nkj->nki", poses.rotation[rows], local)
    corners: NDArray[np.float32] = (turned + poses.position[rows, np.newaxis]).astype(np.float32)
    return corners


def axis_boxes(cast: BodyTable, poses: Poses) -> NDArray[np.float32]:
    """The corners (m, 8, 3) of the boxes along the axes of all drawn bodies.

    Those of round bodies are as tight as can be; those of convex bodies are around their oriented boxes.
    """
    rows = _boxed(cast)
    corners = oriented_boxes(cast, poses, tiles=True)
    lower, upper = corners.min(axis=1), corners.max(axis=1)
    kind, place = cast.kind[rows], poses.position[rows]
    round_rows = np.isin(kind, (SPHERE, CAPSULE))
    along = np.where((kind == CAPSULE)[:, np.newaxis], np.abs(poses.rotation[rows, :, 2]), 0.0)
    reach = along * cast.size[rows, 1:2] / 2 + cast.size[rows, :1]
    lower = np.where(round_rows[:, np.newaxis], place - reach, lower)
    upper = np.where(round_rows[:, np.newaxis], place + reach, upper)
    middle, half = (lower + upper) / 2, (upper - lower) / 2
    return (middle[:, np.newaxis] + half[:, np.newaxis] * _SIGNS).astype(np.float32)


def _boxed(cast: BodyTable) -> NDArray[np.intp]:
    return np.flatnonzero(cast.drawn & np.isin(cast.kind, (SPHERE, CAPSULE, TILE, CONVEX)))


def _local_boxes(cast: BodyTable, rows: NDArray[np.intp]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Middles and half sides (m, 3) of the boxes of bodies in their own frames."""
    kind, size = cast.kind[rows], cast.size[rows]
    middle, half = np.zeros((len(rows), 3), np.float32), np.repeat(size[:, :1], 3, axis=1)
    half[kind == CAPSULE, 2] += size[kind == CAPSULE, 1] / 2
    tile = kind == TILE
    half[tile] = np.column_stack((size[tile, 0] / 2, np.zeros(np.count_nonzero(tile)), size[tile, 1] / 2))
    for hull in np.unique(cast.hull[rows][kind == CONVEX]).tolist():
        points, _ = cast.hull_mesh(hull)
        these = (kind == CONVEX) & (cast.hull[rows] == hull)
        lower, upper = points.min(axis=0), points.max(axis=0)
        middle[these], half[these] = size[these] * (lower + upper) / 2, size[these] * (upper - lower) / 2
    return middle, half
