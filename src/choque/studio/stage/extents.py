"""How far bodies reach: their boxes, spheres around them, and a typical size."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque.narrow.shapes import CAPSULE, CONVEX, MESH, SPHERE, TILE
from choque.record import BodyTable, Poses

_SIGNS = np.array([[(corner >> axis & 1) * 2 - 1 for axis in range(3)] for corner in range(8)], np.float32)

MAX_VERTICES = 10_000
"""Meshes with more vertices are bounded by their boxes."""


def oriented_boxes(cast: BodyTable, poses: Poses, *, tiles: bool = False) -> NDArray[np.float32]:
    """Return the corners (m, 8, 3) of the oriented boxes of all drawn bodies; tiles only with ``tiles``."""
    rows = boxed_rows(cast)
    rows = rows if tiles else rows[cast.kind[rows] != TILE]
    middle, half = local_boxes(cast, rows)
    local = middle[:, np.newaxis] + half[:, np.newaxis] * _SIGNS
    turned = np.einsum("nij,nkj->nki", poses.rotation[rows], local)
    corners: NDArray[np.float32] = (turned + poses.position[rows, np.newaxis]).astype(np.float32)
    return corners


def axis_boxes(cast: BodyTable, poses: Poses) -> NDArray[np.float32]:
    """Return the corners (m, 8, 3) of the axis-aligned boxes of all drawn bodies.

    Boxes of spheres and capsules are tight; those of convex bodies bound their oriented boxes.
    """
    rows = boxed_rows(cast)
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


def boxed_rows(cast: BodyTable) -> NDArray[np.intp]:
    """Return the rows of the drawn bodies that have a box: all but half-spaces."""
    return np.flatnonzero(cast.drawn & np.isin(cast.kind, (SPHERE, CAPSULE, TILE, CONVEX, MESH)))


def local_boxes(cast: BodyTable, rows: NDArray[np.intp]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return centers and half sides (m, 3) of the boxes of bodies, in their own frames."""
    kind, size = cast.kind[rows], cast.size[rows]
    middle, half = np.zeros((len(rows), 3), np.float32), np.repeat(size[:, :1], 3, axis=1)
    half[kind == CAPSULE, 2] += size[kind == CAPSULE, 1] / 2
    tile = kind == TILE
    half[tile] = np.column_stack((size[tile, 0] / 2, np.zeros(np.count_nonzero(tile)), size[tile, 1] / 2))
    has_points = (kind == CONVEX) | (kind == MESH)
    for hull in np.unique(cast.hull[rows][has_points]).tolist():
        points, _ = cast.hull_mesh(hull)
        these = has_points & (cast.hull[rows] == hull)
        lower, upper = points.min(axis=0), points.max(axis=0)
        middle[these], half[these] = size[these] * (lower + upper) / 2, size[these] * (upper - lower) / 2
    return middle, half


def outline(cast: BodyTable, poses: Poses) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return centers (k, 3) and radii (k,) of spheres that contain all drawn bodies.

    Meshes are given by their vertices, unless these are many (`MAX_VERTICES`), and all others but spheres and capsules
    by the corners of their boxes, as spheres of radius 0.
    """
    rows = boxed_rows(cast)
    is_round = np.isin(cast.kind[rows], (SPHERE, CAPSULE))
    vertices = np.diff(cast.hull_first)[cast.hull[rows]] if len(cast.hull_first) > 1 else np.zeros(len(rows))
    is_mesh = (cast.kind[rows] == MESH) & (vertices <= MAX_VERTICES)
    corners, round_rows = oriented_boxes(cast, poses, tiles=True)[~is_round & ~is_mesh].reshape(-1, 3), rows[is_round]
    meshes = [
        (cast.hull_mesh(int(cast.hull[row]))[0] * cast.size[row]) @ poses.rotation[row].T + poses.position[row]
        for row in rows[is_mesh]
    ]
    sharp = np.concatenate((corners, *meshes))
    reach = cast.size[round_rows, 0].astype(np.float64) + cast.size[round_rows, 1] / 2
    points = np.concatenate((sharp, poses.position[round_rows])).astype(np.float64)
    return points, np.concatenate((np.zeros(len(sharp)), reach))


def typical_size(cast: BodyTable) -> float:
    """Return the median half length of the drawn bodies that move; 1 if there is none."""
    rows = boxed_rows(cast)
    _, half = local_boxes(cast, rows[~cast.static[rows]])
    return float(np.median(half.max(axis=1))) if len(half) else 1.0
