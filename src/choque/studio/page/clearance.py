"""The view of a part in a scan, such as an implant in bone: dragged and turned, in the colours of its clearance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core import check
from choque.errors import InvalidInput
from choque.lab import phantoms
from choque.meshes import Mesh, clearance, collide, penetration
from choque.studio.page.page import Page
from choque.studio.page.surfaces import IN_SCAN, MAX_FACES, MeshesView, turn_of
from choque.studio.palette import GLOW, QUIET, Rgb, clearance_colors
from choque.studio.png import png_bytes
from choque.studio.viewpoint import Viewpoint
from choque.studio.volumes.look import COLORS
from choque.studio.volumes.source import open_source
from choque.studio.volumes.stage import VolumeStage
from choque.volumes import Volume

BANDS = 10
"""Colours for clearances from 0 to the reach of the colours; one more for what is inside, one for what is farther."""

INSIDE: Rgb = (160, 0, 60)
FAR: Rgb = (int(QUIET[4, 0]), int(QUIET[4, 1]), int(QUIET[4, 2]))


class ClearanceView(MeshesView):
    """A solid that stays where it is, and a part that is moved, its faces coloured by the clearance of their vertices.

    Clearances up to ``reach`` are exact for the voxels or triangles of the solid, and signs always are; farther ones
    are not searched for. A face has the colour of its nearest corner.

    Parameters
    ----------
    solid, part
        The mesh that stays, such as ``choque.Mesh(volume)``, and the mesh that is moved.
    names
        What the two are called.
    shown
        What is drawn in place of a solid that has too many faces.
    """

    picture_name = "choque-clearance.png"

    def __init__(
        self, solid: Mesh, part: Mesh, *, names: Sequence[str] = ("scan", "part"), shown: Mesh | None = None
    ) -> None:
        super().__init__([shown or solid, part], names=names, title=f"{names[1]} in {names[0]}"[:80])
        self.solid, self.part = solid, part
        lower, upper = part.bounds
        self.reach = float(f"{0.05 * float((upper - lower).max()) or 1.0:.1g}")
        """Clearance from which on all colours are the same [units]."""
        self.opacity = 0.25
        self.gaps = np.full(len(part.vertices), np.inf)
        """(n,) clearance of each vertex of the part; infinite beyond the reach, negative inside."""
        self.is_hit = False
        """Whether the surfaces meet, or the part lies inside the solid."""

    # Commands

    def search(self) -> None:
        """Measure the clearance of the part where it is."""
        self.gaps = clearance(self.solid, self.part, pose=self.poses[1], bound=self.reach)
        self.is_hit = bool(collide(self.solid, self.part, self.poses[1])[0])

    def set_reach(self, reach: float) -> None:
        """Set the clearance from which on all colours are the same."""
        self.reach = check.positive(reach, "reach")
        self._is_new = True

    def set_opacity(self, opacity: float) -> None:
        """Set how much the solid hides."""
        self.opacity = opacity
        self._nodes[0].opacity = opacity if opacity < 1.0 else None

    def push_free(self) -> None:
        """Move the part by a short way out of the solid; nothing happens if it is free."""
        with self.page.working(self._status, "Looking for a way out"):
            found = penetration(self.solid, self.part, self.poses[1])
        pose = self.poses[1].copy()
        pose[:3, 3] += found.depth[0] * found.direction[0]
        self.move(pose)
        self._add_handles()

    # Drawing

    def bands(self) -> list[tuple[Rgb, NDArray[np.int32]]]:
        """Return the colours, from inside to far, each with the faces (m, 3) of the part that have it."""
        level = np.nan_to_num(np.floor(self.gaps * (BANDS / self.reach)), posinf=BANDS, neginf=-1)
        of_vertex = (np.clip(level, -1, BANDS) + 1).astype(np.int8)
        of_face = of_vertex[self.part.faces].min(axis=1)
        order = np.argsort(of_face, kind="stable")
        borders = np.searchsorted(of_face[order], np.arange(BANDS + 3))
        steps = clearance_colors((np.arange(BANDS) + 0.5) / BANDS)
        colors = [INSIDE, *((int(r), int(g), int(b)) for r, g, b in steps), FAR]
        faces = self.part.faces[order]
        return [(color, faces[borders[k] : borders[k + 1]]) for k, color in enumerate(colors)]

    def _build_controls(self, page: Page) -> None:
        self._status = page.html()
        self._scale = page.html(self._legend())
        page.number("Colours up to", self.reach, self.set_reach, lowest=1e-9, hint="Clearances up to this are exact.")
        page.slider("Opacity of the scan", 0.05, 1.0, 0.05, self.opacity, self.set_opacity)
        page.button("Push it free", self.push_free, is_main=True, hint="A short move after which nothing collides.")
        page.button("Back to the start", self.move_back, hint="Home")

    def _add_nodes(self) -> None:
        first = self._add_mesh("/part/0", self.meshes[0].vertices, self.meshes[0].faces, COLORS[0])
        first.opacity = self.opacity
        self._nodes = [first, self.page.scene.add_frame("/part/1", show_axes=False)]
        self._bands = [
            self._add_mesh(f"/part/1/{number}", self.part.vertices, self.part.faces[:1], color)
            for number, (color, _) in enumerate(self.bands())
        ]
        self._drawn = [np.empty((0, 3), np.int32) for _ in self._bands]

    def _draw(self) -> None:
        pose = self.poses[1]
        with self.page.server.atomic():
            self._nodes[1].position, self._nodes[1].wxyz = pose[:3, 3], turn_of(pose)
            for number, (_, faces) in enumerate(self.bands()):
                if not np.array_equal(faces, self._drawn[number]):
                    self._bands[number].visible = len(faces) > 0
                    if len(faces):
                        self._bands[number].faces = faces.astype(np.uint32)
                    self._drawn[number] = faces
        self._status.content, self._scale.content = self._text(), self._legend()

    def _text(self) -> str:
        inside, least = int((self.gaps < 0).sum()), float(self.gaps.min())
        depth = f"{-least:.4g}" if np.isfinite(least) else f"more than {self.reach:.4g}"
        gap = f"{least:.4g}" if np.isfinite(least) else f"more than {self.reach:.4g}"
        answer, color = ("Collides", f"rgb{GLOW}") if self.is_hit else ("Free", "inherit")
        number = f"deepest vertex: {depth} inside" if inside else f"least clearance of a vertex: {gap}"
        solid, part = (escape(name) for name in self.names)
        return (
            f"<b>{part}</b>, {len(self.part.vertices):,} vertices, in <b>{solid}</b><br>"
            f"<b style='color:{color}'>{answer}</b>; {number}<br>{inside:,} vertices are inside<br>"
            f"<span style='opacity:0.7'>found in {self._seconds * 1e3:.0f} ms</span>"
        )

    def _legend(self) -> str:
        """Return the colours with the clearances between which they lie, as HTML."""
        boxes = "".join(f"<i style='flex:1;height:0.9em;background:rgb{color}'></i>" for color, _ in self.bands())
        words = "inside", f"{self.reach / 2:.3g}", f"more than {self.reach:.3g}"
        marks = "".join(f"<span>{word}</span>" for word in words)
        row = "<div style='display:flex;justify-content:space-between'>"
        return f"{row}{boxes}</div>{row}{marks}</div>"

    def picture(self, viewpoint: Viewpoint | None, size: tuple[int, int]) -> bytes:
        """Draw the solid, and the part in its colours, as a PNG."""
        if self._is_new:
            self._is_new = False
            self.find()
        wanted, pose = viewpoint or self._viewpoint(size), self.poses[1]
        placed = self.part.vertices @ pose[:3, :3].T + pose[:3, 3]
        with VolumeStage(wanted.position, wanted.target, size=size) as stage:
            for color, faces in self.bands():
                stage.add_mesh(placed, faces, color)
            stage.add_mesh(self.meshes[0].vertices, self.meshes[0].faces, COLORS[0], opacity=self.opacity)
            return png_bytes(stage.picture())


def clearance_view(volume: Volume, part: Mesh, names: Sequence[str] = ("scan", "part")) -> ClearanceView:
    """Return the view of a part in a volume; one with too many faces to draw is drawn with larger voxels."""
    if volume.is_empty:
        raise InvalidInput(f"{names[0]} has no full voxel, so that nothing has a clearance; give another threshold.")
    solid = shown = Mesh(volume)
    while len(shown) + len(part) > MAX_FACES:
        volume = volume.resampled(spacing=2.0 * np.array(volume.spacing), conservative=True)
        shown = Mesh(volume)
    return ClearanceView(solid, part, names=names, shown=shown)


def open_clearance(things: Sequence[str], parameters: Mapping[str, Any]) -> ClearanceView:
    """Open the example, or a scan, volume or phantom and the file of a mesh; ``threshold`` chooses voxels of a scan."""
    if list(things) == [IN_SCAN]:
        return clearance_view(*_example(), ("bored vertebra", "screw"))
    given = dict(parameters)
    threshold = given.pop("threshold", None)
    if given or len(things) != 2:
        raise InvalidInput(
            f"{', '.join(map(str, given)) or len(things)} was given; give a scan and a mesh, and a threshold if needed."
        )
    source, part = open_source(things[0]), Mesh.read(things[1])
    if threshold is not None and source.kind != "scan":
        raise InvalidInput(f"A threshold is given, but {source.name} is a {source.kind}; leave it out.")
    above = source.first_threshold() if threshold is None else check.number(threshold, "threshold")
    volume = source.volume(like=None, voxels_per_unit=None, above=above, fill=False)
    return clearance_view(volume, part, (source.name, Path(things[1]).name))


def _example() -> tuple[Volume, Mesh]:
    """Return a vertebra with a hole beside its canal, and a screw in the hole."""
    bone = phantoms.make("vertebra", 96)
    entry, aim = np.array([67.0, 80.0, 48.0]), np.array([-0.16, -0.98, 0.0])
    aim /= np.linalg.norm(aim)
    centers = np.moveaxis(np.indices(bone.voxels().shape), 0, -1) + 0.5 + bone.bounds[0]
    along = np.clip((centers - entry) @ aim, 0.0, 56.0)
    far = np.linalg.norm(centers - entry - along[..., np.newaxis] * aim, axis=-1)
    side = np.cross(aim, [0.0, 0.0, 1.0])
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = np.stack((side, np.cross(-aim, side), -aim), axis=1), entry
    return Volume.from_voxels(bone.voxels() & (far > 5.0), origin=bone.bounds[0]), screw().moved(pose)


def screw(around: int = 64, along: int = 400) -> Mesh:
    """Return a closed screw along −z with its head at the origin: ``along`` rings between two ends."""
    share = np.linspace(0.0, 1.0, along)[:, np.newaxis]
    angle = 2.0 * np.pi * np.arange(around) / around
    thread = np.where(share < 0.06, 1.9, 1.0 + 0.22 * np.cos(angle - 32.0 * np.pi * share))
    reach = 3.2 * thread * np.minimum(1.0, (1.02 - share) / 0.12) ** 0.6
    rings = np.stack((reach * np.cos(angle), reach * np.sin(angle), -52.0 * share + 0.0 * angle), axis=-1)
    points = np.concatenate((rings.reshape(-1, 3), [[0.0, 0.0, 0.0], [0.0, 0.0, -52.0]]))
    i, j = np.meshgrid(np.arange(along - 1), np.arange(around), indexing="ij")
    steps = ((0, 0), (1, 0), (1, 1), (0, 1))
    quads = np.stack([((i + a) * around + (j + b) % around).ravel() for a, b in steps], axis=1)
    first, last = quads[:around, [0, 3]], quads[-around:, [2, 1]]
    top, bottom = (np.column_stack((side, np.full(around, len(points) - k))) for side, k in ((first, 2), (last, 1)))
    return Mesh(points, np.concatenate((quads[:, [0, 1, 2]], quads[:, [0, 2, 3]], top, bottom)))
