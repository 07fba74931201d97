"""The meshes that bodies are drawn with, of unit size: placed, rotated and scaled for every body.

They are plain arrays; films are drawn with them, and the page sends them to the browser.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

TILE_THICKNESS = 0.004
"""Thickness of a drawn tile as a share of its mean side: too thin to hide what lies on it, thick enough for an edge."""

NOSE, TAIL, FINS, FLAME = (205, 38, 38), (110, 114, 122), (45, 84, 190), (255, 140, 26)
"""The colours of the parts of a rocket that do not have the colour of the body."""

Color = tuple[int, int, int]


class DrawnMesh(NamedTuple):
    """Points (v, 3), triangles (t, 3) counter-clockwise from outside, and unit normals (v, 3), None for sharp edges."""

    points: NDArray[np.float32]
    triangles: NDArray[np.uint32]
    normals: NDArray[np.float32] | None = None

    @property
    def is_sharp(self) -> bool:
        """Whether each triangle is flat and edges are visible."""
        return self.normals is None


def ball(definition: int) -> DrawnMesh:
    """Make a sphere of radius 1 with ``definition`` latitudes and twice as many longitudes."""
    outline = _half_circle(np.linspace(-np.pi / 2, np.pi / 2, definition + 1))
    return revolved(outline, 2 * definition, outline)


def cap(definition: int) -> DrawnMesh:
    """Make the half of a sphere of radius 1 above z = 0."""
    outline = _half_circle(np.linspace(0.0, np.pi / 2, max(definition // 2, 2) + 1))
    return revolved(outline, 2 * definition, outline)


def tube(definition: int) -> DrawnMesh:
    """Make the side of a cylinder of radius 1 from z = −1/2 to 1/2."""
    return revolved(np.array([[1.0, -0.5], [1.0, 0.5]]), 2 * definition)


def capsule(ratio: float, definition: int) -> DrawnMesh:
    """Make a capsule of radius 1 along z whose cylinder has the length ``ratio``."""
    half = max(definition // 2, 2) if definition > 2 else 1
    shift = np.array([0.0, ratio / 2])
    top = _half_circle(np.linspace(0.0, np.pi / 2, half + 1))
    bottom = _half_circle(np.linspace(-np.pi / 2, 0.0, half + 1))
    return revolved(np.concatenate((bottom - shift, top + shift)), 2 * definition, np.concatenate((bottom, top)))


def cube() -> DrawnMesh:
    """Make a cube of edge 1 around the origin."""
    corners = np.array([[(corner >> axis & 1) - 0.5 for axis in range(3)] for corner in range(8)], np.float32)
    quads = ((0, 4, 6, 2), (1, 3, 7, 5), (0, 1, 5, 4), (2, 6, 7, 3), (0, 2, 3, 1), (4, 5, 7, 6))
    return DrawnMesh(corners, _halved(quads))


def square() -> DrawnMesh:
    """Make a square of edge 1 at y = 0 that faces up."""
    corners = np.array([[-0.5, 0, -0.5], [-0.5, 0, 0.5], [0.5, 0, 0.5], [0.5, 0, -0.5]], np.float32)
    return DrawnMesh(corners, np.array([[0, 1, 2], [0, 2, 3]], np.uint32))


def rocket(definition: int) -> list[tuple[DrawnMesh, Color | None]]:
    """Make the parts of a rocket of radius 1 from z = 1 to −1, where its nose is, with their colours.

    A scene makes it stand upright by 90 degrees about x, which turns its nose up. The colour None is that of the body.
    """
    outline = _half_circle(np.linspace(-0.30 * np.pi, np.pi / 2, 2 * definition + 1)) * (0.86, 1.0)
    split = int(np.searchsorted(outline[:, 1], 0.55))
    tail = np.array([[0.0, -0.88], [0.46, -0.88], [0.50, -0.84], outline[0]])
    flame = np.array([[0.0, -1.35], [0.18, -1.22], [0.32, -1.04], [0.36, -0.90], [0.0, -0.88]])
    around = 2 * definition
    parts = (
        (revolved(outline[: split + 1], around), None),
        (revolved(outline[split:], around), NOSE),
        (revolved(tail, around), TAIL),
        (_fins(), FINS),
        (revolved(flame, around), FLAME),
    )
    return [(_upside_down(mesh), color) for mesh, color in parts]


def revolved(profile: NDArray[np.float64], around: int, normals: NDArray[np.float64] | None = None) -> DrawnMesh:
    """Revolve a ``profile`` of (radius, z), from bottom to top, about the z axis in ``around`` steps.

    ``normals`` are those of the profile; None for the perpendiculars of the mean direction at each point.
    """
    angle = 2 * np.pi * np.arange(around) / around
    points = _around(profile, angle)
    row, column = np.meshgrid(np.arange(len(profile) - 1), np.arange(around), indexing="ij")
    after = (column + 1) % around
    a, b = row * around + column, row * around + after
    c, d = b + around, a + around
    triangles = np.concatenate((np.stack((a, b, c), -1).reshape(-1, 3), np.stack((a, c, d), -1).reshape(-1, 3)))
    corners = points[triangles].astype(np.float64)
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    across = _perpendicular(profile) if normals is None else normals
    return DrawnMesh(points, triangles[area > 1e-12].astype(np.uint32), _around(across, angle))


def _half_circle(latitude: NDArray[np.float64]) -> NDArray[np.float64]:
    """Points (radius, z) on a half circle."""
    return np.column_stack((np.maximum(np.cos(latitude), 0.0), np.sin(latitude)))


def _around(pairs: NDArray[np.float64], angle: NDArray[np.float64]) -> NDArray[np.float32]:
    """Rotate each (radius, z) to every angle: (pairs · angles, 3)."""
    height = np.broadcast_to(pairs[:, 1:], (len(pairs), len(angle)))
    rotated = np.stack((pairs[:, :1] * np.cos(angle), pairs[:, :1] * np.sin(angle), height), axis=-1)
    return rotated.reshape(-1, 3).astype(np.float32)


def _perpendicular(profile: NDArray[np.float64]) -> NDArray[np.float64]:
    along = np.gradient(profile, axis=0)
    across = np.column_stack((along[:, 1], -along[:, 0]))
    across[np.isclose(profile[:, 0], 0.0), 0] = 0.0  # at the poles straight up or down
    across /= np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-12)
    return across


def _fins() -> DrawnMesh:
    """Four fins around the tail."""
    outline = np.array([[0.45, -0.35], [1.0, -0.80], [1.0, -1.05], [0.45, -0.86]])
    quads = ((3, 2, 1, 0), (4, 5, 6, 7), *((k, (k + 1) % 4, 4 + (k + 1) % 4, 4 + k) for k in range(4)))
    points: list[NDArray[np.float64]] = []
    for quarter in range(4):
        side = np.array([np.cos(quarter * np.pi / 2), np.sin(quarter * np.pi / 2)])
        across = 0.05 * np.array([-side[1], side[0], 0.0])
        face = np.column_stack((outline[:, :1] * side, outline[:, 1]))
        points += [face - across, face + across]
    triangles = np.concatenate([_halved(quads) + 8 * quarter for quarter in range(4)])
    return DrawnMesh(np.concatenate(points).astype(np.float32), triangles.astype(np.uint32))


def _halved(quads: tuple[tuple[int, ...], ...]) -> NDArray[np.uint32]:
    """Two triangles for each quad."""
    return np.array([half for a, b, c, d in quads for half in ((a, b, c), (a, c, d))], np.uint32)


def _upside_down(mesh: DrawnMesh) -> DrawnMesh:
    """Rotate by 180 degrees about x."""
    over = np.array([1, -1, -1], np.float32)
    return mesh._replace(points=mesh.points * over, normals=None if mesh.normals is None else mesh.normals * over)
