"""Parts of volumes that can be drawn, and their colours, for the page and for pictures."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from choque.errors import UnknownName

COLORS = ((214, 203, 176), (92, 158, 226))
"""Colours of the two volumes."""
BRINK_COLORS = ((240, 84, 84), (88, 200, 110), (96, 140, 255))
"""Colours of brinks along x, y and z, and of planes across them."""
REGION_COLOR, BOX_COLOR, EDGE_COLOR = (255, 84, 20), (255, 220, 110), (38, 44, 56)

TRANSLUCENT = 0.5
"""Opacity of the volumes while their intersection is drawn."""

DIRECTION = np.array([0.45, -0.8, 0.42]) / np.linalg.norm([0.45, -0.8, 0.42])
"""Direction of the first viewpoint: front, right and above."""

OPTIONS = {
    "triangles": ("Triangles", "object", "The triangles of the file; for a scan, those of its voxels."),
    "triangle mesh": ("Triangle edges", "object", "The edges of the triangles."),
    "box": ("Box", "object", "The box along the axes around it."),
    "cubes": ("Cubes", "voxels", "Every visible voxel as a cube."),
    "cube mesh": ("Cube edges", "voxels", "The edges of the cubes."),
    "surface": ("Surface", "model", "The surface that the extreme vertices bound."),
    "surface mesh": ("Surface edges", "model", "The edges of its triangles."),
    "brinks xyz": ("Brinks along z", "model", "Edges between the vertices in the order x, y, z."),
    "brinks yzx": ("Brinks along x", "model", "Edges between the vertices in the order y, z, x."),
    "brinks zxy": ("Brinks along y", "model", "Edges between the vertices in the order z, x, y."),
    "planes x": ("Planes across x", "model", "The regions that the vertices of each plane bound, across x bound."),
    "planes y": ("Planes across y", "model", "The regions that the vertices of each plane bound, across y bound."),
    "planes z": ("Planes across z", "model", "The regions that the vertices of each plane bound, across z bound."),
}
"""Parts that can be drawn of each volume: label, group, description."""

GROUPS = {"object": "Object", "voxels": "Voxels", "model": "Extreme vertices model"}


@dataclass
class VolumeLook:
    """The drawn parts: names of `OPTIONS` for each of the two, and whether the intersection is drawn."""

    shown: tuple[set[str], set[str]] = field(default_factory=lambda: ({"triangles"}, {"triangles"}))
    region: bool = True

    def __post_init__(self) -> None:
        for name in set().union(*self.shown):
            if name not in OPTIONS:
                raise UnknownName("part of a volume to draw", name, OPTIONS)
