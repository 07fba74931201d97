"""The scene of the volume view: viser nodes of two volumes and of their intersection."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque.studio.volumes import shapes as volume_shapes
from choque.studio.volumes.look import (
    BOX_COLOR,
    BRINK_COLORS,
    COLORS,
    EDGE_COLOR,
    OPTIONS,
    REGION_COLOR,
    TRANSLUCENT,
    VolumeLook,
)
from choque.studio.volumes.pair import VolumePair
from choque.volumes import Volume

Color = tuple[int, int, int]

SOLIDS = ("/triangles", "/cubes", "/surface")

_PATHS = ("/first", "/second")


class VolumeDrawing:
    """The drawn parts of a pair; nodes are made when first shown and kept until they change."""

    def __init__(self, scene: Any, pair: VolumePair, look: VolumeLook) -> None:
        self._scene = scene
        self._pair = pair
        self._look = look
        self._nodes: dict[str, Any] = {}

    def redraw(self, which: int) -> None:
        """Draw a volume again after its voxels have changed."""
        for name in OPTIONS:
            self._remove(f"{_PATHS[which]}/{name}")
        self.update(which)

    def update(self, which: int) -> None:
        """Add the parts of a volume that are shown and missing, and remove those that are hidden."""
        for name in OPTIONS:
            path = f"{_PATHS[which]}/{name}"
            if name not in self._look.shown[which]:
                self._remove(path)
            elif path not in self._nodes:
                self._keep(path, self._make(path, which, name))
        self._fade()
        self.follow()

    def follow(self) -> None:
        """Move the nodes of the second volume to its position."""
        for path, node in self._nodes.items():
            if path.startswith(_PATHS[1]):
                node.position = self._pair.shift

    def draw_region(self, region: Volume | None) -> None:
        """Draw the intersection, or nothing."""
        self._remove("/region")
        if region is not None and self._look.region:
            self._keep("/region", self._mesh("/region", region.surface(), REGION_COLOR, is_flat=True))
        self._fade()

    def _fade(self) -> None:
        """Make the volumes translucent while the intersection is drawn."""
        opacity = TRANSLUCENT if "/region" in self._nodes else None
        for path, node in self._nodes.items():
            if path.endswith(SOLIDS) and node.opacity != opacity:
                node.opacity = opacity

    def _make(self, path: str, which: int, name: str) -> Any:
        part, color = self._pair.parts[which], COLORS[which]
        volume, (kind, _, detail) = part.volume, name.partition(" ")
        if kind == "brinks":
            along = "xyz".index(detail[2])
            return self._lines(path, volume_shapes.brinks(volume, detail), BRINK_COLORS[along], 2.5)
        if kind == "planes":
            across = "xyz".index(detail)
            return self._mesh(path, volume_shapes.planes(volume, detail), BRINK_COLORS[across], opacity=0.3)
        makers = {
            "triangles": partial(self._mesh, path, part.mesh, color, is_flat=part.source.kind != "mesh"),
            "triangle mesh": partial(self._mesh, path, part.mesh, EDGE_COLOR, wireframe=True),
            "box": partial(self._lines, path, volume_shapes.box_edges(*part.bounds()), BOX_COLOR, 2.0),
            "cubes": partial(self._cubes, path, volume, color),
            "cube mesh": partial(self._cubes, path, volume, EDGE_COLOR, wireframe=True),
            "surface": partial(self._surface, path, volume, color),
            "surface mesh": partial(self._surface, path, volume, EDGE_COLOR, wireframe=True),
        }
        return makers[name]()

    def _surface(self, path: str, volume: Volume, color: Color, *, wireframe: bool = False) -> Any:
        return self._mesh(path, volume.surface(), color, wireframe=wireframe, is_flat=not wireframe)

    def _mesh(
        self,
        path: str,
        mesh: tuple[NDArray[Any], NDArray[Any]],
        color: Color,
        *,
        wireframe: bool = False,
        is_flat: bool = False,
        opacity: float | None = None,
    ) -> Any:
        vertices, faces = mesh
        if not len(faces):
            return None
        return self._scene.add_mesh_simple(
            path,
            np.asarray(vertices, np.float32),
            np.asarray(faces, np.uint32),
            color=color,
            wireframe=wireframe,
            flat_shading=is_flat,
            opacity=opacity,
            side="double",
            cast_shadow=False,
            receive_shadow=False,
        )

    def _lines(self, path: str, ends: volume_shapes.Segments, color: Color, pixels: float) -> Any:
        if not len(ends):
            return None
        return self._scene.add_line_segments(
            path, ends.astype(np.float32), color, thickness=pixels, thickness_units="screen"
        )

    def _cubes(self, path: str, volume: Volume, color: Color, *, wireframe: bool = False) -> Any:
        """Draw cubes for the voxels; above `MAX_CUBES`, the surface."""
        centres = volume_shapes.cube_centres(volume)
        if len(centres) > volume_shapes.MAX_CUBES:
            return self._surface(path, volume, color, wireframe=wireframe)
        if not len(centres):
            return None
        vertices, faces = volume_shapes.unit_cube(np.array(volume.spacing) * (1.0 if wireframe else 0.94))
        return self._scene.add_batched_meshes_simple(
            path,
            vertices.astype(np.float32),
            faces.astype(np.uint32),
            np.tile(np.array([1.0, 0.0, 0.0, 0.0], np.float32), (len(centres), 1)),
            centres.astype(np.float32),
            batched_colors=color,
            lod="off",
            wireframe=wireframe,
            flat_shading=not wireframe,
            cast_shadow=False,
            receive_shadow=False,
        )

    def _keep(self, path: str, node: Any) -> None:
        if node is not None:
            self._nodes[path] = node

    def _remove(self, path: str) -> None:
        node = self._nodes.pop(path, None)
        if node is not None:
            node.remove()
