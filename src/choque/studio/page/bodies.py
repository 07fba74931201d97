"""The bodies on the page: colours, and instances of few meshes, of which only changes are sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque.narrow.shapes import CAPSULE, CONVEX, MESH, PLANE, SPHERE, TILE
from choque.record import BodyTable, Poses
from choque.studio import meshes
from choque.studio.meshes import TILE_THICKNESS, DrawnMesh
from choque.studio.page.findings import Findings
from choque.studio.palette import FREE, GLOW, ISLANDS, STATIC, Colors, quiet
from choque.studio.stage.quaternions import quaternions
from choque.studio.surroundings import Surroundings

_SCALE = np.array(
    [
        (48, 18, 59),
        (65, 110, 222),
        (28, 184, 222),
        (52, 220, 130),
        (170, 245, 66),
        (246, 190, 48),
        (240, 90, 25),
        (150, 12, 8),
    ],
    np.float64,
)
"""Colours from low to high values."""


def scene_colors(findings: Findings) -> Colors:
    """Return the colours of the scene, quiet enough that a glowing body is seen."""
    return quiet(findings.bodies.color, findings.bodies.static)


def file_colors(findings: Findings) -> Colors:
    """Return the colours as the scene gives them."""
    return findings.bodies.color


def speed_colors(findings: Findings) -> Colors:
    """Colour by speed; the scale ends at the 99th percentile."""
    moving = ~findings.bodies.static
    fastest = float(np.quantile(findings.speed[moving], 0.99)) if moving.any() else 0.0
    return _static_grey(findings, _scaled(findings.speed / max(fastest, 1e-12)))


def contact_colors(findings: Findings) -> Colors:
    """Colour by contact: orange for bodies that touch another, blue for those that do not."""
    shown = np.where(findings.is_touching[:, None], np.array(GLOW), np.array(FREE)).astype(np.uint8)
    return _static_grey(findings, shown)


def candidate_colors(findings: Findings) -> Colors:
    """Colour by the number of candidates; the scale ends at the maximum."""
    count = findings.candidate_count
    return _static_grey(findings, _scaled(count / max(int(count.max(initial=0)), 1)))


def island_colors(findings: Findings) -> Colors:
    """Colour by island: bodies that touch, directly or through others, have one colour; those alone are blue."""
    names, place, count = np.unique(findings.islands, return_inverse=True, return_counts=True)
    hues = ISLANDS[names % len(ISLANDS)]
    hues[count == 1] = FREE
    return _static_grey(findings, hues[place])


COLORINGS: dict[str, tuple[Callable[[Findings], Colors], str]] = {
    "collisions": (scene_colors, "Quiet colours; what just collided glows, and fades; what sleeps is dark."),
    "scene": (file_colors, "The colours of the scene, as they are."),
    "speed": (speed_colors, "Blue is slow, red is fast; static bodies are grey."),
    "contact": (contact_colors, "Orange bodies touch another one, blue ones do not; static bodies are grey."),
    "islands": (island_colors, "Bodies that touch, also through others, have one colour; those alone are blue."),
    "candidates": (candidate_colors, "Blue has few candidates, red has many; static bodies are grey."),
}
"""Each colouring by name, with its description."""


def _scaled(share: NDArray[np.floating]) -> Colors:
    place = np.clip(share, 0.0, 1.0) * (len(_SCALE) - 2) + 1  # the first colour is too dark for a dark page
    below = np.minimum(place.astype(np.int64), len(_SCALE) - 2)
    part = (place - below)[:, None]
    mixed: Colors = ((1 - part) * _SCALE[below] + part * _SCALE[below + 1]).astype(np.uint8)
    return mixed


def _static_grey(findings: Findings, colors: Colors) -> Colors:
    return np.where(findings.bodies.static[:, None], np.array(STATIC, np.uint8), colors)


DEFINITIONS = ((500, 16), (3_000, 10), (12_000, 7), (30_000, 5), (60_000, 3))
"""Latitudes of round bodies by the number of drawn bodies; `COARSE` for more."""

COARSE = 2

MAX_CAPSULE_MESHES = 12
"""Up to this many proportions, capsules are drawn exactly; more are grouped into classes of 10 %."""

BLOCK = 50_000
"""Maximum instances of a mesh that are sent as one block; viser builds a tree over more, for every picture."""

GROUND_SIDE = 400.0

LINEAR = np.rint(255.0 * (np.arange(256) / 255.0) ** 1.9).astype(np.uint8)
"""Colours of instances as pages want them, by light, unlike those of all else, which are as seen. The exponent makes
pages look like films, which have more light from the side of the camera."""

SEE_THROUGH = 0.45
"""The opacity of transparent bodies."""


@dataclass(frozen=True, eq=False)
class Part:
    """Instances of one mesh."""

    rows: NDArray[np.intp]
    """(m,) rows of the bodies that have it."""
    mesh: DrawnMesh
    scale: NDArray[np.float32]
    """(m, 3)."""
    tint: tuple[int, int, int] | None = None
    """Its colour if it differs from that of the body."""
    turns: bool = True
    """Whether rotation is visible; that of a sphere is not."""
    side: str = "double"
    """Which sides of its triangles are drawn: "front", "back" or "double"."""


class BodiesLayer:
    """Draws bodies, and updates them when they move or change colour.

    Moving and static bodies are separate instances, so that walls and floors are sent once; unchanged colours are not
    sent again. For each mesh, one float32 array of positions is sent, and one of quaternions if rotation is visible.
    """

    def __init__(self, scene: Any, name: str = "/bodies") -> None:
        self._scene, self._name = scene, name
        self._cast: BodyTable | None = None
        self._color: NDArray[np.uint8] | None = None
        self.parts: list[tuple[Part, Any]] = []
        """What is drawn: instances of meshes, and their handles of viser."""
        self._opacity: float | None = None
        self.around: Surroundings | None = None
        """What is around the bodies, as they were when they were first drawn."""
        self.definition = DEFINITIONS[0][1]
        """Number of latitudes of drawn spheres."""

    @property
    def note(self) -> str:
        """A sentence if bodies are drawn coarsely, otherwise empty."""
        if self._cast is None or self.definition >= DEFINITIONS[1][1]:
            return ""
        return (
            f"Because of their number, bodies are drawn coarsely ({self.definition} latitudes to a ball); their "
            "positions and sizes are exact."
        )

    def set_see_through(self, value: bool) -> None:
        """Make bodies transparent, or opaque again."""
        opacity = SEE_THROUGH if value else None
        if opacity != self._opacity:
            self._opacity = opacity
            for _, handle in self.parts:
                handle.opacity = opacity

    def show(self, cast: BodyTable, poses: Poses, color: NDArray[np.uint8]) -> None:
        """Draw bodies in their poses, in these colours (n, 3); a new table replaces the one before."""
        has_new_colors = self._color is None or not np.array_equal(color, self._color)
        if has_new_colors:
            self._color = color.copy()
        if cast is not self._cast:
            self._engage(cast, poses, color)
            return
        for part, handle in self.parts:
            handle.batched_positions = _places(part, poses)
            if part.turns:
                handle.batched_wxyzs = quaternions(poses.rotation[part.rows])
            if part.tint is None and has_new_colors:
                handle.batched_colors = LINEAR[color[part.rows]]

    def _engage(self, cast: BodyTable, poses: Poses, color: NDArray[np.uint8]) -> None:
        for _, handle in self.parts:
            handle.remove()
        self._cast, self.around = cast, Surroundings.of(cast, poses)
        self.definition = definition_for(int(np.count_nonzero(cast.drawn)))
        self.parts = [
            (part, self._add(f"{self._name}/{number}", part, poses, color))
            for number, part in enumerate(blocks_of(parts_of(cast, self.definition, self.around)))
        ]

    def _add(self, name: str, part: Part, poses: Poses, color: NDArray[np.uint8]) -> Any:
        upright = np.tile(np.array([1, 0, 0, 0], np.float32), (len(part.rows), 1))
        return self._scene.add_batched_meshes_simple(
            name,
            part.mesh.points,
            part.mesh.triangles,
            quaternions(poses.rotation[part.rows]) if part.turns else upright,
            _places(part, poses),
            batched_scales=part.scale,
            batched_colors=LINEAR[color[part.rows] if part.tint is None else np.array(part.tint)],
            flat_shading=part.mesh.is_sharp,
            side=part.side if part.mesh.is_sharp else "front",
            opacity=self._opacity,
            lod="off",
            cast_shadow=False,
            receive_shadow=False,
        )


def definition_for(count: int) -> int:
    """Return the number of latitudes of round bodies if ``count`` bodies are drawn."""
    return next((definition for maximum, definition in DEFINITIONS if count <= maximum), COARSE)


def blocks_of(parts: Iterable[Part]) -> Iterator[Part]:
    """Yield the same instances in blocks."""
    for part in parts:
        for first in range(0, len(part.rows), BLOCK):
            block = slice(first, first + BLOCK)
            yield replace(part, rows=part.rows[block], scale=part.scale[block])


def parts_of(cast: BodyTable, definition: int, around: Surroundings | None = None) -> Iterator[Part]:
    """Yield the parts of all drawn bodies, static and moving ones separately.

    With its surroundings, the ground is left out, which the backdrop draws, and walls are drawn on one side only.
    """
    facing = np.zeros(len(cast), np.int8) if around is None else around.facing
    shown = cast.drawn if around is None else cast.drawn & ~around.ground
    for at_rest in (True, False):
        drawn = shown & (cast.static == at_rest)
        yield from _round_parts(cast, drawn, definition)
        for side, turned in (("double", 0), ("front", 1), ("back", -1)):
            yield from _flat_parts(cast, drawn & (facing == turned), side)
        has_points = drawn & ((cast.kind == CONVEX) | (cast.kind == MESH))
        for hull in np.unique(cast.hull[has_points]).tolist():
            rows = np.flatnonzero(has_points & (cast.hull == hull))
            points, triangles = cast.hull_mesh(hull)
            yield Part(rows, DrawnMesh(points, triangles.astype(np.uint32)), cast.size[rows])


def _round_parts(cast: BodyTable, drawn: NDArray[np.bool_], definition: int) -> Iterator[Part]:
    size = cast.size
    rows = np.flatnonzero(drawn & (cast.kind == SPHERE))
    if len(rows):
        yield Part(rows, meshes.ball(definition), np.repeat(size[rows, :1], 3, axis=1), turns=False)
    rows = np.flatnonzero(drawn & (cast.kind == CAPSULE) & ~cast.rocket)
    ratio = size[rows, 1] / size[rows, 0]
    for proportion in np.unique(classes := _classes(ratio)):
        these = classes == proportion
        mean = float(ratio[these].mean())
        radius, half = size[rows[these], 0], size[rows[these], 1] / 2 + size[rows[these], 0]
        scale = np.column_stack((radius, radius, half / (mean / 2 + 1)))
        yield Part(rows[these], meshes.capsule(mean, definition), scale.astype(np.float32))
    rows = np.flatnonzero(drawn & (cast.kind == CAPSULE) & cast.rocket)
    if len(rows):
        radius, half = size[rows, 0], size[rows, 1] / 2 + size[rows, 0]
        scale = np.column_stack((radius, radius, half)).astype(np.float32)
        for mesh, tint in meshes.rocket(definition):
            yield Part(rows, mesh, scale, tint)


def _flat_parts(cast: BodyTable, drawn: NDArray[np.bool_], side: str) -> Iterator[Part]:
    rows = np.flatnonzero(drawn & (cast.kind == TILE))
    if len(rows):
        length, width = cast.size[rows, 0], cast.size[rows, 1]
        scale = np.column_stack((length, TILE_THICKNESS * (length + width) / 2, width)).astype(np.float32)
        # Of a wall only the face toward the bodies is drawn, which has no thickness.
        yield Part(rows, meshes.cube() if side == "double" else meshes.square(), scale, side=side)
    rows = np.flatnonzero(drawn & (cast.kind == PLANE))
    if len(rows):
        yield Part(rows, meshes.square(), np.full((len(rows), 3), GROUND_SIDE, np.float32))


def _classes(ratio: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return a class for each capsule: those of one class share a mesh."""
    if len(np.unique(ratio)) <= MAX_CAPSULE_MESHES:
        return ratio.astype(np.float64)
    steps: NDArray[np.float64] = np.rint(np.log(np.maximum(ratio, 0.05)) / np.log(1.1))
    return steps


def _places(part: Part, poses: Poses) -> NDArray[np.float32]:
    return np.ascontiguousarray(poses.position[part.rows], np.float32)
