"""Pictures of two volumes, off screen: the volume view without a browser."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque.errors import InvalidInput
from choque.files.atomic import replacing
from choque.scene import Camera
from choque.studio.png import png_bytes
from choque.studio.stage.camera import directions
from choque.studio.viewpoint import SIZE, Viewpoint
from choque.studio.volumes import shapes as volume_shapes
from choque.studio.volumes.look import (
    BOX_COLOR,
    BRINK_COLORS,
    COLORS,
    DIRECTION,
    EDGE_COLOR,
    REGION_COLOR,
    TRANSLUCENT,
    VolumeLook,
)
from choque.studio.volumes.pair import VolumePair, VolumePart
from choque.studio.volumes.stage import VolumeStage, distance_to_see


def draw_volumes(
    path: str | os.PathLike[str],
    pair: VolumePair,
    look: VolumeLook | None = None,
    *,
    viewpoint: Viewpoint | None = None,
    size: tuple[int, int] = SIZE,
) -> None:
    """Draw two volumes and their intersection to a ``.png`` file."""
    if Path(path).suffix.lower() != ".png":
        raise InvalidInput(f"The picture {path} must end in .png.")
    data = volume_png(pair, look, viewpoint=viewpoint, size=size)
    with replacing(path) as handle:
        handle.write(data)


def volume_png(
    pair: VolumePair,
    look: VolumeLook | None = None,
    *,
    viewpoint: Viewpoint | None = None,
    size: tuple[int, int] = SIZE,
) -> bytes:
    """Draw two volumes and their intersection as the bytes of a PNG file; by default both fill the picture."""
    return png_bytes(volume_image(pair, look, viewpoint=viewpoint, size=size))


def volume_image(
    pair: VolumePair,
    look: VolumeLook | None = None,
    *,
    viewpoint: Viewpoint | None = None,
    size: tuple[int, int] = SIZE,
) -> NDArray[np.uint8]:
    """Draw two volumes and their intersection: (height, width, 3) red, green and blue, top row first."""
    look = look or VolumeLook()
    viewpoint = viewpoint or default_viewpoint(pair, size)
    region = (pair.parts[0].volume & pair.moved()).surface() if look.region else None
    opacity = TRANSLUCENT if region is not None and len(region[1]) else 1.0
    with VolumeStage(viewpoint.position, viewpoint.target, size=size) as stage:
        for which, part in enumerate(pair.parts):
            _draw_part(stage, part, which, look.shown[which], pair.shift if which else np.zeros(3), opacity)
        if region is not None:
            stage.add_mesh(*region, REGION_COLOR)
        return stage.picture()


def pair_of(things: Sequence[str], parameters: Mapping[str, Any]) -> VolumePair:
    """Return the pair that ``things`` name; parameters are those of `find_pair`, and two of pictures.

    These are ``shift`` and ``turn`` of the second, an axis as long as the angle in degrees.
    """
    from choque.studio.volumes.entry import find_pair

    given = dict(parameters)
    shift, turn = (given.pop(name, None) for name in ("shift", "turn"))
    pair = find_pair(things, given)
    if turn is not None:
        pair.turn_to(_radians(turn))
    if shift is not None:
        pair.move_to(shift)
    return pair


def _radians(turn: Any) -> NDArray[np.float64]:
    try:
        vector = np.radians(np.asarray(turn, np.float64))
    except (TypeError, ValueError):
        vector = np.empty(0)
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise InvalidInput(f"The turn is {turn!r}; give an axis as long as the angle in degrees, as in turn=[0,0,30].")
    return vector


def default_viewpoint(pair: VolumePair, size: tuple[int, int]) -> Viewpoint:
    """Return the viewpoint from which both volumes fill a picture."""
    lower, upper = pair.bounds()
    middle = (lower + upper) / 2.0
    corners = volume_shapes.box_edges(lower - middle, upper - middle).reshape(-1, 3)
    return Viewpoint(middle + max(distance_to_see(corners, DIRECTION, size), 1e-9) * DIRECTION, middle)


def viewpoint_of(camera: Camera, pair: VolumePair) -> Viewpoint:
    """Return the viewpoint of a camera that looks at the middle of both: yaw 0 is the front, negative pitch above."""
    lower, upper = pair.bounds()
    middle = (lower + upper) / 2.0
    ahead, _, _ = directions(camera)
    return Viewpoint(middle - camera.radius * np.array([ahead[0], -ahead[2], ahead[1]]), middle)


def _draw_part(
    stage: VolumeStage, part: VolumePart, which: int, shown: set[str], shift: NDArray[np.float64], opacity: float
) -> None:
    volume, color = part.volume, COLORS[which]
    if "triangles" in shown:
        stage.add_mesh(part.mesh.vertices + shift, part.mesh.faces, color, opacity=opacity)
    if "triangle mesh" in shown:
        stage.add_mesh(part.mesh.vertices + shift, part.mesh.faces, EDGE_COLOR, wireframe=True)
    if shown & {"surface", "cubes"}:
        vertices, faces = volume.surface()
        stage.add_mesh(vertices + shift, faces, color, opacity=opacity)
    if shown & {"surface mesh", "cube mesh"}:
        vertices, faces = volume.surface()
        stage.add_mesh(vertices + shift, faces, EDGE_COLOR, wireframe=True)
    if "box" in shown:
        stage.add_segments(volume_shapes.box_edges(*part.bounds()) + shift, BOX_COLOR)
    for order in volume_shapes.ORDERS:
        if f"brinks {order}" in shown:
            stage.add_segments(volume_shapes.brinks(volume, order) + shift, BRINK_COLORS["xyz".index(order[2])])
        if f"planes {order[0]}" in shown:
            vertices, faces = volume_shapes.planes(volume, order[0])
            stage.add_mesh(vertices + shift, faces, BRINK_COLORS["xyz".index(order[0])], opacity=0.3)
