"""The parts that bodies are drawn of, and the direction of the light.

Bodies are instances: one mesh of unit size for each kind of part, and for every body a position, a rotation, a scale
and a colour. A capsule is a tube and two caps, so that any proportion is round.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque.narrow.shapes import CAPSULE, CONVEX, MESH, PLANE, SPHERE, TILE
from choque.record import BodyTable
from choque.studio import meshes
from choque.studio.meshes import TILE_THICKNESS, DrawnMesh

BOX_COLOR, ORIENTED_COLOR = (220, 0, 220), (220, 220, 0)
"""Colours of the wireframes of axis-aligned and of oriented boxes."""

AXES = ((1.0, 0.25, 0.25), (0.3, 0.9, 0.35), (0.35, 0.5, 1.0))
AXES_LENGTH = 100.0
LIGHT = np.array([0.55, 1.0, 0.4]) / np.linalg.norm([0.55, 1.0, 0.4])
"""Direction of the main light."""

GROUND_SIDE = 400.0

FINEST = 24
"""Latitudes of round bodies that are drawn as meshes."""


def edges_of(corners: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the edges (12 m, 2, 3) of boxes with these corners (m, 8, 3)."""
    ends = np.array([(a, a | 1 << axis) for axis in range(3) for a in range(8) if not a >> axis & 1])
    return corners[:, ends].reshape(-1, 2, 3)


def instances(cast: BodyTable, definition: int) -> Any:
    """Yield the parts of all drawn bodies: rows, mesh, scale (m, 3), colour (m, 3), offset along z, whether flipped."""
    size = cast.size

    def of(kind: int, also: Callable[[NDArray[np.intp]], NDArray[np.bool_]] | None = None) -> NDArray[np.intp]:
        rows = np.flatnonzero(cast.drawn & (cast.kind == kind))
        return rows if also is None else rows[also(rows)]

    rows = of(SPHERE)
    if len(rows):
        yield rows, meshes.ball(definition), np.repeat(size[rows, :1], 3, axis=1), cast.color[rows], None, False
    rows = of(CAPSULE, lambda rows: ~cast.rocket[rows])
    if len(rows):
        radius, length, color = size[rows, 0], size[rows, 1], cast.color[rows]
        round_scale = np.repeat(radius[:, np.newaxis], 3, axis=1)
        yield rows, meshes.tube(definition), np.column_stack((radius, radius, length)), color, None, False
        yield rows, meshes.cap(definition), round_scale, color, length / 2, False
        yield rows, meshes.cap(definition), round_scale, color, -length / 2, True
    rows = of(CAPSULE, lambda rows: cast.rocket[rows])
    if len(rows):
        half = size[rows, 1] / 2 + size[rows, 0]
        scale = np.column_stack((size[rows, 0], size[rows, 0], half))
        for mesh, tint in meshes.rocket(max(definition // 2, 4)):
            color = cast.color[rows] if tint is None else np.tile(np.array(tint, np.uint8), (len(rows), 1))
            yield rows, mesh, scale, color, None, False
    rows = of(TILE)
    if len(rows):
        thickness = TILE_THICKNESS * size[rows, :2].mean(axis=1)
        yield (
            rows,
            meshes.cube(),
            np.column_stack((size[rows, 0], thickness, size[rows, 1])),
            cast.color[rows],
            None,
            False,
        )
    rows = of(PLANE)
    if len(rows):
        yield rows, meshes.square(), np.full((len(rows), 3), GROUND_SIDE), cast.color[rows], None, False
    with_points = np.concatenate((of(CONVEX), of(MESH)))
    for hull in np.unique(cast.hull[with_points]).tolist():
        points, triangles = cast.hull_mesh(hull)
        rows = with_points[cast.hull[with_points] == hull]
        yield rows, DrawnMesh(points, triangles.astype(np.uint32)), size[rows], cast.color[rows], None, False
