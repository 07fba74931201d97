"""The meshes that bodies are drawn with, each of unit size, to be placed, turned and stretched for every body."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyvista

TILE_THICKNESS = 0.004
"""Of a tile, as a share of its mean side: thin enough not to swallow what lies on it, thick enough for an edge."""

NOSE, TAIL, FINS, FLAME = (205, 38, 38), (110, 114, 122), (45, 84, 190), (255, 140, 26)
"""The colours of a rocket beside that of its body."""


def ball(definition: int) -> pyvista.PolyData:
    """Make a sphere of radius 1 with ``definition`` latitudes and twice as many longitudes."""
    outline = _profile(np.linspace(-np.pi / 2, np.pi / 2, definition + 1))
    return _turned(outline, definition, outline)


def cap(definition: int) -> pyvista.PolyData:
    """Make the half of a sphere of radius 1 that lies above z = 0."""
    outline = _profile(np.linspace(0.0, np.pi / 2, max(definition // 2, 2) + 1))
    return _turned(outline, definition, outline)


def tube(definition: int) -> pyvista.PolyData:
    """Make the mantle of a cylinder of radius 1 from z = −1/2 to 1/2."""
    return _turned(np.array([[1.0, -0.5], [1.0, 0.5]]), definition)


def tile() -> pyvista.PolyData:
    """Make a slab of side 1 in x and z around y = 0, its height to be set by the scale."""
    import pyvista

    return _sharp(pyvista.Cube())


def ground(side: float) -> pyvista.PolyData:
    """Make a large square at y = 0."""
    import pyvista

    return pyvista.Plane(center=(0, 0, 0), direction=(0, 1, 0), i_size=side, j_size=side)


def solid(points: NDArray[np.float32], triangles: NDArray[np.int64]) -> pyvista.PolyData:
    """Make a mesh with sharp edges from corners (k, 3) and faces (t, 3)."""
    import pyvista

    faces = np.column_stack((np.full(len(triangles), 3), triangles)).ravel()
    return _sharp(pyvista.PolyData(points, faces))


def rocket(definition: int) -> list[tuple[pyvista.PolyData, tuple[int, int, int] | None]]:
    """Make the parts of a rocket within a cylinder of radius 1 from z = 1 to −1, where its nose is, with their colours.

    So a rocket that a scene stands upright, which is a turn of 90 degrees about x, has its nose up. None is the colour
    of the body itself.
    """
    angle = np.linspace(-0.30 * np.pi, np.pi / 2, 2 * definition + 1)
    outline = _profile(angle) * (0.86, 1.0)
    split = int(np.searchsorted(outline[:, 1], 0.55))
    tail = np.array([[0.0, -0.88], [0.46, -0.88], [0.50, -0.84], outline[0]])
    flame = np.array([[0.0, -1.35], [0.18, -1.22], [0.32, -1.04], [0.36, -0.90], [0.0, -0.88]])
    parts = [
        (_turned(outline[: split + 1], definition), None),
        (_turned(outline[split:], definition), NOSE),
        (_turned(tail, definition), TAIL),
        (_fins(), FINS),
        (_turned(flame, definition), FLAME),
    ]
    return [(part.rotate_x(180.0), color) for part, color in parts]


def _profile(latitude: NDArray[np.float64]) -> NDArray[np.float64]:
    """Points (radius, z) on a half circle."""
    return np.column_stack((np.maximum(np.cos(latitude), 0.0), np.sin(latitude)))


def _turned(
    profile: NDArray[np.float64], definition: int, across: NDArray[np.float64] | None = None
) -> pyvista.PolyData:
    """Turn a ``profile`` of (radius, z), from bottom to top, about the z axis: quads with smooth normals.

    ``across`` are the normals of the profile; None for those across the mean direction of its two sides at a point.
    """
    import pyvista

    around = 2 * definition
    angle = 2 * np.pi * np.arange(around) / around
    row, column = np.meshgrid(np.arange(len(profile) - 1), np.arange(around), indexing="ij")
    after = (column + 1) % around
    corners = (row * around + column, row * around + after, (row + 1) * around + after, (row + 1) * around + column)
    faces = np.stack((np.full_like(row, 4), *corners), axis=-1).ravel()
    mesh = pyvista.PolyData(_around(profile, angle), faces)
    mesh.point_data["Normals"] = _around(_across(profile) if across is None else across, angle)
    mesh.point_data.active_normals_name = "Normals"
    return mesh


def _around(pairs: NDArray[np.float64], angle: NDArray[np.float64]) -> NDArray[np.float32]:
    """Turn each (radius, z) to every angle: (pairs · angles, 3)."""
    height = np.broadcast_to(pairs[:, 1:], (len(pairs), len(angle)))
    turned = np.stack((pairs[:, :1] * np.cos(angle), pairs[:, :1] * np.sin(angle), height), axis=-1)
    return turned.reshape(-1, 3).astype(np.float32)


def _across(profile: NDArray[np.float64]) -> NDArray[np.float64]:
    along = np.gradient(profile, axis=0)
    across = np.column_stack((along[:, 1], -along[:, 0]))
    across[np.isclose(profile[:, 0], 0.0), 0] = 0.0  # at the poles straight up or down
    across /= np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-12)
    return across


def _fins() -> pyvista.PolyData:
    """Four fins around the tail."""
    import pyvista

    outline = np.array([[0.45, -0.35], [1.0, -0.80], [1.0, -1.05], [0.45, -0.86]])
    parts: list[Any] = []
    for quarter in range(4):
        side = np.array([np.cos(quarter * np.pi / 2), np.sin(quarter * np.pi / 2)])
        across = 0.05 * np.array([-side[1], side[0], 0.0])
        face = np.column_stack((outline[:, :1] * side, outline[:, 1]))
        points = np.concatenate((face - across, face + across)).astype(np.float32)
        faces = [4, 3, 2, 1, 0, 4, 4, 5, 6, 7]
        for corner in range(4):
            after = (corner + 1) % 4
            faces += [4, corner, after, 4 + after, 4 + corner]
        parts.append(pyvista.PolyData(points, faces))
    return _sharp(pyvista.merge(parts).extract_surface(algorithm=None))


def _sharp(mesh: Any) -> pyvista.PolyData:
    """Give a mesh normals that break at its edges."""
    return cast("pyvista.PolyData", mesh.compute_normals(split_vertices=True, feature_angle=35.0))
