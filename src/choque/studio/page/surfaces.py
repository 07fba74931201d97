"""The view of triangle meshes: one of them can be dragged and turned; faces that meet others are orange."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import choque
from choque.errors import InvalidInput
from choque.files.meshes import READERS
from choque.meshes import Mesh, Scene
from choque.studio.page.entries import Entry
from choque.studio.page.page import Page
from choque.studio.page.scene import CameraPlacement, Lens, light_evenly, reset_lens
from choque.studio.page.view import View
from choque.studio.palette import GLOW, QUIET, SPARK, Colors
from choque.studio.png import png_bytes
from choque.studio.stage.quaternions import matrix_of, quaternions
from choque.studio.viewpoint import Viewpoint
from choque.studio.volumes.look import DIRECTION
from choque.studio.volumes.shapes import box_edges
from choque.studio.volumes.stage import VolumeStage, distance_to_see

MAX_FACES = 2_000_000
"""Maximum number of faces that are shown."""

MAX_CROSSED = 200_000
"""Maximum number of pairs of faces whose common segments are drawn."""

LIFTED = 1e-3
"""Faces that meet others are drawn this share of the size of all parts above their own surface."""

Matrix = NDArray[np.float64]
"""(4, 4) a rigid pose."""


class Meeting(NamedTuple):
    """Where two parts meet, or one meets itself."""

    pair_count: int
    """How many pairs of faces meet."""
    faces: tuple[NDArray[np.integer[Any]], NDArray[np.integer[Any]]]
    """The faces of each part that meet the other."""
    curve: NDArray[np.float64]
    """(k, 2, 3) the segments that they share, in the world."""

    @classmethod
    def of(cls, one: Mesh, two: Mesh, poses: tuple[Matrix, Matrix]) -> Meeting:
        """Find where two parts in these poses meet."""
        found = choque.meshes.intersections(one, two, pose=np.linalg.inv(poses[0]) @ poses[1])
        crossed = found.segments[:MAX_CROSSED]
        crossed = crossed[np.isfinite(crossed).all(axis=(1, 2))]
        curve = crossed @ poses[0][:3, :3].T + poses[0][:3, 3]
        return cls(len(found), (np.unique(found.pairs[:, 0]), np.unique(found.pairs[:, 1])), curve)


class MeshesView(View):
    """Triangle meshes, where they are; the faces of one that meet itself, or of several that meet each other, glow.

    Parameters
    ----------
    meshes
        At least one.
    names
        What the parts are called.
    """

    picture_name = "choque-meshes.png"

    def __init__(
        self, meshes: Sequence[Mesh], *, names: Sequence[str] | None = None, title: str = "Triangle meshes"
    ) -> None:
        faces = sum(map(len, meshes))
        if not meshes or not all(map(len, meshes)):
            raise InvalidInput("A mesh without faces was given to show; give meshes with at least one face.")
        if faces > MAX_FACES:
            raise InvalidInput(f"{faces:,} faces were given to show; the page draws at most {MAX_FACES:,}.")
        self.meshes, self.title = list(meshes), title
        self.names = list(names or (f"part {number}" for number in range(len(meshes))))
        self.poses = [np.eye(4) for _ in meshes]
        self.moved = len(meshes) - 1
        """The part that the handles move."""
        self.meetings: dict[tuple[int, int], Meeting] = {}
        """Where parts meet, by their numbers; a part meets itself where it is self-intersecting."""
        self._seconds = 0.0
        self._is_new, self._is_warm = True, False

    # Open, tick

    def open(self, page: Page) -> None:
        """Build the page."""
        self.page = page
        page.scene.set_up_direction("+z")
        light_evenly(page.scene)
        self._cameras = CameraPlacement(page.server)
        with page.tab("Meshes"):
            self._build_controls(page)
            page.button("Look at all", self._look, hint="F")
            page.picture_button()
            page.button("Back to the chooser", page.home)
        page.key("F", "Look at all", self._look)
        if len(self.meshes) > 1:
            page.key("home", "Back to the start", self.move_back)
        self._hits: list[Any] = []
        self._handles: Any = None
        self._add_nodes()
        self._add_handles()
        self._look()

    def _build_controls(self, page: Page) -> None:
        """Add what this view says, and what only it can do."""
        self._status = page.html()
        if len(self.meshes) > 1:
            page.choice("Drag", self.names, self.names[self.moved], self.choose, hint="Which part has the handles.")
            page.button("Back to the start", self.move_back, hint="Home")

    def _add_nodes(self) -> None:
        """Draw the parts."""
        self._nodes = [
            self._add_mesh(f"/part/{number}", mesh.vertices, mesh.faces, self._color(number))
            for number, mesh in enumerate(self.meshes)
        ]

    def tick(self) -> float | None:
        """Find what meets, if a part has moved, and draw it."""
        if self._is_new:
            self._is_new = False
            with self.page.working(self._status, "Looking for faces that meet"):
                self.find()
            self._draw()
        return None

    def camera_moved(self, client: Any) -> None:
        """Keep everything visible in a page that was resized."""
        self._cameras.moved(client)

    def close(self) -> None:
        """Give the cameras their own lens again."""
        self.page.scene.set_up_direction("+y")
        reset_lens(self.page.server)

    def be_still(self) -> None:
        """Hide the handles."""
        if self._handles is not None:
            self._handles.visible = False

    # Commands

    def choose(self, name: str) -> None:
        """Let another part be dragged."""
        self.moved = self.names.index(name)
        self._add_handles()

    def move(self, pose: Matrix) -> None:
        """Give the dragged part another pose."""
        self.poses[self.moved] = pose
        self.meetings = {pair: found for pair, found in self.meetings.items() if self.moved not in pair}
        self._is_new = True

    def move_back(self) -> None:
        """Move all parts back to where they were."""
        self.poses = [np.eye(4) for _ in self.meshes]
        self.meetings = {}
        self._is_new = True
        self._add_handles()

    def find(self) -> None:
        """Find what meets, and how long that takes; the first time twice, as a first search loads kernels."""
        if not self._is_warm:
            self._is_warm, known = True, dict(self.meetings)
            self.search()
            self.meetings = known
        began = time.perf_counter()
        self.search()
        self._seconds = time.perf_counter() - began

    def search(self) -> None:
        """Find all faces that meet and are not known yet."""
        if len(self.meshes) == 1:
            pairs = self.meshes[0].self_intersections(closed=False)
            alone = Meeting(len(pairs), (np.unique(pairs), np.unique(pairs)), np.empty((0, 2, 3)))
            self.meetings = {(0, 0): alone} if len(pairs) else {}
        else:
            for one, two in self._near():
                if (one, two) not in self.meetings:
                    found = Meeting.of(self.meshes[one], self.meshes[two], (self.poses[one], self.poses[two]))
                    self.meetings[one, two] = found

    def _near(self) -> list[tuple[int, int]]:
        """Return the pairs of parts whose boxes overlap."""
        corners = [self._corners(number) for number in range(len(self.meshes))]
        lower, upper = (np.array([get(each, axis=0) for each in corners]) for get in (np.min, np.max))
        return [(int(one), int(two)) for one, two in choque.pairs(lower, upper)]

    # Drawing

    def hit_faces(self, number: int) -> NDArray[np.int64]:
        """Return the faces of a part that meet others."""
        found = [
            met.faces[side]
            for pair, met in self.meetings.items()
            for side in (0, 1)
            if pair[side] == number and met.pair_count
        ]
        return np.unique(np.concatenate(found)) if found else np.empty(0, np.int64)

    def _draw(self) -> None:
        with self.page.server.atomic():
            for handle in self._hits:
                handle.remove()
            self._hits = []
            for number, node in enumerate(self._nodes):
                pose = self.poses[number]
                node.position, node.wxyz = pose[:3, 3], turn_of(pose)
                corners = self._hit_corners(number)
                if len(corners):
                    faces = np.arange(3 * len(corners)).reshape(-1, 3)
                    self._hits.append(self._add_mesh(f"/hit/{number}", corners.reshape(-1, 3), faces, GLOW))
            curve = self._curve()
            if len(curve):
                lines = self.page.scene.add_line_segments(
                    "/curve", curve.astype(np.float32), SPARK, thickness=3.0, thickness_units="screen"
                )
                self._hits.append(lines)
        self._status.content = self._text()

    def _hit_corners(self, number: int) -> NDArray[np.float64]:
        """Return the corners (m, 3, 3) of the faces of a part that meet others, a little above its surface."""
        mesh, pose = self.meshes[number], self.poses[number]
        corners = mesh.vertices[mesh.faces[self.hit_faces(number)]] @ pose[:3, :3].T + pose[:3, 3]
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        length = np.linalg.norm(normal, axis=1, keepdims=True)
        normal = np.divide(normal, length, out=np.zeros_like(normal), where=length > 0.0)
        lifted: NDArray[np.float64] = corners + (LIFTED * self._size() * normal)[:, np.newaxis]
        return lifted

    def _curve(self) -> NDArray[np.float64]:
        found = [met.curve for met in self.meetings.values() if len(met.curve)]
        return np.concatenate(found) if found else np.empty((0, 2, 3))

    def _text(self) -> str:
        faces = sum(map(len, self.meshes))
        met = {pair: found for pair, found in self.meetings.items() if found.pair_count}
        count = sum(found.pair_count for found in met.values())
        if len(self.meshes) == 1:
            answer = f"{count:,} pairs of its faces meet" if count else "no face meets another one"
        elif met:
            parts = f"{len(met):,} pair{'' if len(met) == 1 else 's'} of parts"
            answer = f"{parts} meet, in {count:,} pairs of faces"
        else:
            answer = "no surfaces meet"
        color = f"rgb{GLOW}" if count else "inherit"
        return (
            f"<b>{len(self.meshes):,} mesh{'' if len(self.meshes) == 1 else 'es'}</b>, {faces:,} faces<br>"
            f"<b style='color:{color}'>{answer[0].upper()}{answer[1:]}</b><br>"
            f"<span style='opacity:0.7'>found in {self._seconds * 1e3:.1f} ms</span>"
        )

    def picture(self, viewpoint: Viewpoint | None, size: tuple[int, int]) -> bytes:
        """Draw the parts, and the faces that meet, as a PNG."""
        if self._is_new:
            self._is_new = False
            self.find()
        wanted = viewpoint or self._viewpoint(size)
        with VolumeStage(wanted.position, wanted.target, size=size) as stage:
            for number, mesh in enumerate(self.meshes):
                pose = self.poses[number]
                stage.add_mesh(mesh.vertices @ pose[:3, :3].T + pose[:3, 3], mesh.faces, self._color(number))
                corners = self._hit_corners(number)
                stage.add_mesh(corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3), GLOW)
            if len(curve := self._curve()):
                stage.add_segments(curve, SPARK)
            return png_bytes(stage.picture())

    # Internals

    def _color(self, number: int) -> tuple[int, int, int]:
        color: Colors = QUIET[(number + len(self.meshes)) % len(QUIET)]
        return int(color[0]), int(color[1]), int(color[2])

    def _corners(self, number: int) -> NDArray[np.float64]:
        """Return points (8, 3) around a part in its pose."""
        ends = box_edges(*self.meshes[number].bounds).reshape(-1, 3)
        pose = self.poses[number]
        found: NDArray[np.float64] = ends @ pose[:3, :3].T + pose[:3, 3]
        return found

    def _bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        corners = np.concatenate([self._corners(number) for number in range(len(self.meshes))])
        return corners.min(axis=0), corners.max(axis=0)

    def _size(self) -> float:
        lower, upper = self._bounds()
        return float((upper - lower).max()) or 1.0

    def _viewpoint(self, size: tuple[int, int]) -> Viewpoint:
        lower, upper = self._bounds()
        middle = (lower + upper) / 2.0
        corners = box_edges(lower - middle, upper - middle).reshape(-1, 3)
        return Viewpoint(middle + max(distance_to_see(corners, DIRECTION, size), 1e-9) * DIRECTION, middle)

    def _look(self) -> None:
        reach = self._size()
        target = self._viewpoint((1000, 1000)).target
        self._cameras.look_from(
            lambda aspect: self._viewpoint((round(1000 * aspect), 1000)).position,
            target,
            Lens(near=1e-3 * reach, far=1e2 * reach, up=(0.0, 0.0, 1.0)),
        )

    def _add_mesh(
        self, path: str, vertices: NDArray[np.floating], faces: NDArray[np.integer], color: tuple[int, int, int]
    ) -> Any:
        return self.page.scene.add_mesh_simple(
            path,
            np.asarray(vertices, np.float32),
            np.asarray(faces, np.uint32),
            color=color,
            flat_shading=True,
            side="double",
            cast_shadow=False,
            receive_shadow=False,
        )

    def _add_handles(self) -> None:
        if len(self.meshes) < 2:
            return
        if self._handles is not None:
            self._handles.remove()
        number, pose = self.moved, self.poses[self.moved]
        lower, upper = self.meshes[number].bounds
        self._middle = (lower + upper) / 2.0
        self._handles = self.page.scene.add_transform_controls(
            "/handles",
            scale=0.7 * float((upper - lower).max()),
            depth_test=False,
            translation_limits=((-1e9, 1e9),) * 3,
            position=pose[:3, :3] @ self._middle + pose[:3, 3],
            wxyz=turn_of(pose),
        )
        self._handles.on_update(self._dragged)

    def _dragged(self, event: Any) -> None:
        """Move the part with its handles; called in a thread of viser."""
        position, turn = np.array(event.target.position, np.float64), np.array(event.target.wxyz, np.float64)
        if event.client is not None and np.isfinite(position).all() and np.isfinite(turn).all():
            self.page.studio.request(lambda: self.move(_pose(position, turn, self._middle)), "drag")


def _pose(position: NDArray[np.float64], turn: NDArray[np.float64], middle: NDArray[np.float64]) -> Matrix:
    """Return the pose in which handles at the middle of a part have this position and rotation."""
    pose = np.eye(4)
    pose[:3, :3] = matrix_of(turn / np.linalg.norm(turn))
    pose[:3, 3] = position - pose[:3, :3] @ middle
    return pose


def turn_of(pose: Matrix) -> NDArray[np.float64]:
    """Return the rotation of a pose as a quaternion w, x, y, z."""
    turn: NDArray[np.float64] = quaternions(pose[np.newaxis, :3, :3].astype(np.float32))[0].astype(np.float64)
    return turn


def view_of_meshes(*things: Any) -> MeshesView | None:
    """Return the view of meshes, or of one scene of them; None for all else."""
    if len(things) == 1 and isinstance(things[0], Scene):
        return MeshesView([things[0][number] for number in range(len(things[0]))])
    if things and all(isinstance(thing, Mesh) for thing in things):
        return MeshesView(things)
    return None


def ring(radius: float = 1.0, thickness: float = 0.3, around: int = 96, across: int = 32) -> Mesh:
    """Return a torus about the z axis."""
    u, v = np.meshgrid(2 * np.pi * np.arange(around) / around, 2 * np.pi * np.arange(across) / across, indexing="ij")
    reach = radius + thickness * np.cos(v)
    points = np.stack((reach * np.cos(u), reach * np.sin(u), thickness * np.sin(v)), axis=-1).reshape(-1, 3)
    i, j = np.meshgrid(np.arange(around), np.arange(across), indexing="ij")
    steps = ((0, 0), (1, 0), (1, 1), (0, 1))
    quads = np.stack([(((i + a) % around) * across + (j + b) % across).ravel() for a, b in steps], axis=1)
    return Mesh(points, np.concatenate((quads[:, [0, 1, 2]], quads[:, [0, 2, 3]])))


def _open(things: Sequence[str], parameters: Mapping[str, Any]) -> MeshesView:
    if things[0] == IN_SCAN or (len(things) == 2 and not things[0].lower().endswith(tuple(READERS))):
        from choque.studio.page.clearance import open_clearance

        return open_clearance(things, parameters)
    if parameters:
        raise InvalidInput(f"Meshes have no parameters; {', '.join(parameters)} was given.")
    if list(things) == [NAME]:
        upright = np.eye(4)
        upright[:3, :3], upright[:3, 3] = [[1, 0, 0], [0, 0, -1], [0, 1, 0]], (0.55, 0.0, 0.1)
        return MeshesView([ring(), ring().moved(upright)], names=["lying ring", "standing ring"], title="Two rings")
    names = [Path(thing).name for thing in things]
    return MeshesView([Mesh.read(thing) for thing in things], names=_distinct(names), title=", ".join(names)[:80])


def _distinct(names: Sequence[str]) -> list[str]:
    """Return names that differ, by a number after those that occur before."""
    return [
        f"{name} ({names[:place].count(name) + 1})" if name in names[:place] else name
        for place, name in enumerate(names)
    ]


NAME, IN_SCAN = "two-rings", "screw-in-vertebra"

MESHES = Entry(
    title="Triangle meshes",
    about="Drag a mesh through others, faces that meet are orange; or through a scan, in the colours of its clearance.",
    things=lambda: {
        NAME: "Two rings that pass through each other: drag one.",
        IN_SCAN: "A screw in a bored vertebra: drag it, and see its clearance in colours.",
    },
    open=_open,
    suffixes=tuple(sorted(READERS)),
    study=True,
)
