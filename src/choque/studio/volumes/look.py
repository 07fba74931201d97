"""What can be drawn of two volumes, and in which colours: shared by the page and by pictures."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from choque.errors import UnknownName

COLORS = ((214, 203, 176), (92, 158, 226))
"""Of the two volumes."""
BRINK_COLORS = ((240, 84, 84), (88, 200, 110), (96, 140, 255))
"""Of brinks along x, y and z, and of planes across them."""
REGION_COLOR, BOX_COLOR, EDGE_COLOR = (255, 60, 60), (255, 220, 110), (104, 114, 134)

DIRECTION = np.array([0.45, -0.8, 0.42]) / np.linalg.norm([0.45, -0.8, 0.42])
"""From where things are looked at first: the front, the right and above."""

OPTIONS = {
    "triangles": ("Triangles", "object", "The triangles of the file; of a scan, those of its voxels."),
    "triangle mesh": ("Triangle edges", "object", "The edges of the triangles."),
    "box": ("Box", "object", "The box along the axes around it."),
    "cubes": ("Cubes", "voxels", "Every voxel that can be seen, as a cube."),
    "cube mesh": ("Cube edges", "voxels", "The edges of the cubes."),
    "surface": ("Surface", "model", "The surface that the extreme vertices bound."),
    "surface mesh": ("Surface edges", "model", "The edges of its triangles."),
    "brinks xyz": ("Brinks along z", "model", "Edges between the vertices in the order x, y, z."),
    "brinks yzx": ("Brinks along x", "model", "Edges between the vertices in the order y, z, x."),
    "brinks zxy": ("Brinks along y", "model", "Edges between the vertices in the order z, x, y."),
    "planes x": ("Planes across x", "model", "What the vertices of each plane across x bound."),
    "planes y": ("Planes across y", "model", "What the vertices of each plane across y bound."),
    "planes z": ("Planes across z", "model", "What the vertices of each plane across z bound."),
}
"""What can be drawn of each volume: its label, the group that it is in, and what it is."""

GROUPS = {"object": "Object", "voxels": "Voxels", "model": "Extreme vertices model"}


@dataclass
class VolumeLook:
    """What is drawn: names of `OPTIONS` for each of the two, and whether what they share is."""

    shown: tuple[set[str], set[str]] = field(default_factory=lambda: ({"triangles"}, {"triangles"}))
    region: bool = True

    def __post_init__(self) -> None:
        for name in set().union(*self.shown):
            if name not in OPTIONS:
                raise UnknownName("thing to draw of a volume", name, OPTIONS)
