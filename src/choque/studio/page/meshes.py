"""The meshes of the page, each of unit size: corners (v, 3) and triangles (t, 3), counter-clockwise from outside."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque.studio.stage.meshes import FINS, FLAME, NOSE, TAIL


class Mesh(NamedTuple):
    """Corners and triangles; ``is_sharp`` if its edges are edges."""

    points: NDArray[np.float32]
    triangles: NDArray[np.uint32]
    is_sharp: bool = False


def ball(definition: int) -> Mesh:
    """A sphere of radius 1 with ``definition`` latitudes and twice as many longitudes."""
    latitude = np.linspace(-np.pi / 2, np.pi / 2, definition + 1)
    return turned(_profile(latitude), 2 * definition)


def capsule(ratio: float, definition: int) -> Mesh:
    """A capsule of radius 1 along z whose cylinder is ``ratio`` long."""
    half = max(definition // 2, 2) if definition > 2 else 1
    shift = np.array([0.0, ratio / 2])
    top = _profile(np.linspace(0.0, np.pi / 2, half + 1)) + shift
    bottom = _profile(np.linspace(-np.pi / 2, 0.0, half + 1)) - shift
    return turned(np.concatenate((bottom, top)), 2 * definition)


def cube() -> Mesh:
    """A cube of edge 1 around the origin."""
    corners = np.array([[(corner >> axis & 1) - 0.5 for axis in range(3)] for corner in range(8)], np.float32)
    quads = ((0, 4, 6, 2), (1, 3, 7, 5), (0, 1, 5, 4), (2, 6, 7, 3), (0, 2, 3, 1), (4, 5, 7, 6))
    triangles = [corner for a, b, c, d in quads for corner in ((a, b, c), (a, c, d))]
    return Mesh(corners, np.array(triangles, np.uint32), is_sharp=True)


def square() -> Mesh:
    """A square of edge 1 at y = 0, seen from above."""
    corners = np.array([[-0.5, 0, -0.5], [-0.5, 0, 0.5], [0.5, 0, 0.5], [0.5, 0, -0.5]], np.float32)
    return Mesh(corners, np.array([[0, 1, 2], [0, 2, 3]], np.uint32), is_sharp=True)


def rocket(definition: int) -> list[tuple[Mesh, tuple[int, int, int] | None]]:
    """The parts of a rocket of radius 1 from z = 1 to −1, where its nose is, with their colours; None: the body's."""
    outline = _profile(np.linspace(-0.30 * np.pi, np.pi / 2, 2 * definition + 1)) * (0.86, 1.0)
    split = int(np.searchsorted(outline[:, 1], 0.55))
    tail = np.array([[0.0, -0.88], [0.46, -0.88], [0.50, -0.84], outline[0]])
    flame = np.array([[0.0, -1.35], [0.18, -1.22], [0.32, -1.04], [0.36, -0.90], [0.0, -0.88]])
    around = 2 * definition
    parts = (
        (turned(outline[: split + 1], around), None),
        (turned(outline[split:], around), NOSE),
        (turned(tail, around), TAIL),
        (_fins(), FINS),
        (turned(flame, around), FLAME),
    )
    over = np.array([1, -1, -1], np.float32)  # half a turn about x: the nose to −z
    return [(mesh._replace(points=mesh.points * over), color) for mesh, color in parts]


def turned(profile: NDArray[np.float64], around: int) -> Mesh:
    """Turn a ``profile`` of (radius, z), from bottom to top, about the z axis."""
    angle = 2 * np.pi * np.arange(around) / around
    height = np.broadcast_to(profile[:, 1:], (len(profile), around))
    points = np.stack((profile[:, :1] * np.cos(angle), profile[:, :1] * np.sin(angle), height), axis=-1).reshape(-1, 3)
    row, column = np.meshgrid(np.arange(len(profile) - 1), np.arange(around), indexing="ij")
    after = (column + 1) % around
    a, b = row * around + column, row * around + after
    c, d = b + around, a + around
    triangles = np.concatenate((np.stack((a, b, c), -1).reshape(-1, 3), np.stack((a, c, d), -1).reshape(-1, 3)))
    corners = points[triangles]
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    return Mesh(points.astype(np.float32), triangles[area > 1e-12].astype(np.uint32))


def _profile(latitude: NDArray[np.float64]) -> NDArray[np.float64]:
    """Points (radius, z) on a half circle."""
    return np.column_stack((np.maximum(np.cos(latitude), 0.0), np.sin(latitude)))


def _fins() -> Mesh:
    """Four fins around the tail."""
    outline = np.array([[0.45, -0.35], [1.0, -0.80], [1.0, -1.05], [0.45, -0.86]])
    points: list[NDArray[np.float64]] = []
    triangles: list[tuple[int, int, int]] = []
    quads = [(3, 2, 1, 0), (4, 5, 6, 7), *((k, (k + 1) % 4, 4 + (k + 1) % 4, 4 + k) for k in range(4))]
    for quarter in range(4):
        side = np.array([np.cos(quarter * np.pi / 2), np.sin(quarter * np.pi / 2)])
        across = 0.05 * np.array([-side[1], side[0], 0.0])
        face = np.column_stack((outline[:, :1] * side, outline[:, 1]))
        start = 8 * quarter
        points += [face - across, face + across]
        for a, b, c, d in quads:
            triangles += [(start + a, start + b, start + c), (start + a, start + c, start + d)]
    return Mesh(np.concatenate(points).astype(np.float32), np.array(triangles, np.uint32), is_sharp=True)
