"""The volume view: two volumes, one dragged through the other, and their collision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from html import escape
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque.studio.page.page import Page
from choque.studio.page.scene import CameraPlacement, Lens, light_evenly, reset_lens
from choque.studio.page.view import View
from choque.studio.stage.quaternions import angle_and_axis, matrix_of, quaternions
from choque.studio.viewpoint import Viewpoint
from choque.studio.volumes import shapes as volume_shapes
from choque.studio.volumes.drawing import VolumeDrawing
from choque.studio.volumes.look import COLORS, DIRECTION, GROUPS, OPTIONS, VolumeLook
from choque.studio.volumes.pair import PairAnswer, VolumePair, VolumePart
from choque.studio.volumes.shapes import MAX_CUBES
from choque.studio.volumes.stage import distance_to_see

YES, NO, MAYBE = "#ff6b5e", "#6fcf97", "#f0b357"
_SIGNS = {"models collide": "●", "models apart": "○", "triangles collide": "▲", "triangles apart": "△"}
_COLORS = {"models collide": YES, "models apart": NO, "triangles collide": YES, "triangles apart": MAYBE}


MAX_NOTICES = 200
"""Number of notices that are kept."""


@dataclass(frozen=True)
class Notice:
    """One line of the events panel."""

    kind: Literal["models collide", "models apart", "triangles collide", "triangles apart"]
    shift: NDArray[np.float64]
    """Translation of the moved volume [world]."""
    text: str


@dataclass
class CollisionLog:
    """Notices in the order of time; one for each change of an answer."""

    notices: list[Notice] = field(default_factory=list)
    _models: bool = False
    _triangles: bool | None = None

    def observe(self, answer: PairAnswer, shift: NDArray[np.float64]) -> list[Notice]:
        """Record an answer and return the notices that it adds: of the voxels first, then of the triangles."""
        new = []
        if answer.voxels != self._models:
            new.append(
                Notice("models collide", shift.copy(), "the voxel models collide")
                if answer.voxels
                else Notice("models apart", shift.copy(), "the voxel models are apart")
            )
        if answer.voxels and answer.triangles != self._triangles:
            new.append(
                Notice("triangles collide", shift.copy(), "triangles meet")
                if answer.triangles
                else Notice("triangles apart", shift.copy(), "no triangles meet: " + without_triangles(answer))
            )
        self._models, self._triangles = answer.voxels, answer.triangles
        self.notices = [*self.notices, *new][-MAX_NOTICES:]
        return new


def answer_html(pair: VolumePair, answer: PairAnswer) -> str:
    """Return whether voxels and triangles collide, the size of the intersection, and the time of each test."""
    if not answer.voxels:
        lines = [_answer("Voxel models", "apart", NO), _answer("Triangles", "not tested: the voxels are apart", NO)]
    else:
        meet = f"{len(answer.triangle_pairs):,} pair{'' if len(answer.triangle_pairs) == 1 else 's'} of triangles meet"
        lines = [
            _answer("Voxel models", "collide", YES),
            _answer(
                "Triangles",
                meet if answer.triangles else f"none meet: {without_triangles(answer)}",
                MAYBE if answer.inside is None and not answer.triangles else YES,
            ),
        ]
    if answer.region is not None:
        lines.append(
            _answer(
                "Shared", f"{answer.region.voxel_count:,} voxels, a volume of {answer.region.volume:.4g}", "inherit"
            )
        )
    lines.append(_answer("Moved by", " ".join(f"{value:.4g}" for value in pair.shift), "inherit"))
    lines.append(_answer("Turned by", _rotation_text(pair), "inherit"))
    times = "".join(
        f'<tr><td style="opacity:0.7">{escape(_TESTS[name])}</td>'
        f'<td style="text-align:right;white-space:nowrap">{_duration(seconds)}</td></tr>'
        for name, seconds in answer.seconds.items()
    )
    return _block(
        f'<table style="width:100%;border-spacing:0 0.25em">{"".join(lines)}</table>'
        f'<p style="margin:0.8em 0 0.2em"><b>Time of each test</b></p>'
        f'<table style="width:100%;font-variant-numeric:tabular-nums">{times}</table>'
    )


def log_html(log: CollisionLog) -> str:
    """Return the notices, latest first."""
    if not log.notices:
        return _block('<span style="opacity:0.65">Nothing yet: drag one volume into the other.</span>')
    rows = [
        f'<p style="margin:0.25em 0"><span style="color:{_COLORS[notice.kind]}">{_SIGNS[notice.kind]}</span> '
        f'{escape(notice.text)} <span style="opacity:0.55">at '
        f"{' '.join(f'{value:.3g}' for value in notice.shift)}</span></p>"
        for notice in reversed(log.notices[-40:])
    ]
    return _block("".join(rows))


def part_html(part: VolumePart, color: tuple[int, int, int]) -> str:
    """Return the source of a volume, its voxels and vertices, and the time to make them."""
    volume = part.volume
    spacing = " × ".join(f"{edge:.4g}" for edge in volume.spacing)
    note = ""
    if volume.voxel_count > MAX_CUBES:
        words = f"Above {MAX_CUBES:,} visible cubes, the surface is drawn instead."
        note = f'<br><span style="color:{MAYBE}">{words}</span>'
    return _block(
        f'<span style="color:rgb{color}">■</span> <b>{escape(part.source.name)}</b>, a {part.source.kind}<br>'
        f"{volume.voxel_count:,} voxels of {spacing}<br>{len(volume.model):,} extreme vertices, "
        f"{len(part.mesh.faces):,} triangles<br>made in {_duration(part.seconds)}{note}"
    )


def _rotation_text(pair: VolumePair) -> str:
    """Return the angle, the axis, and the time to make the voxels of the turned volume."""
    part = pair.parts[1]
    if not part.is_turned:
        return "nothing"
    angle, axis = angle_and_axis(part.rotation)
    return f"{np.degrees(angle):.4g}° about {' '.join(f'{each:.2g}' for each in axis)}, in {_duration(part.seconds)}"


_TESTS = {"voxels": "Collision of voxels", "triangles": "Triangles that meet", "region": "Intersection"}


def without_triangles(answer: PairAnswer) -> str:
    """Return how voxels can collide though no triangles meet."""
    if answer.inside is None:
        return "both surfaces cross the same voxels; finer voxels may be apart"
    return ("the first lies inside the second", "the second lies inside the first")[answer.inside]


def _answer(question: str, answer: str, color: str) -> str:
    return (
        f'<tr><td style="opacity:0.7;vertical-align:top;padding-right:0.8em;white-space:nowrap">{escape(question)}</td>'
        f'<td style="color:{color}"><b>{escape(answer)}</b></td></tr>'
    )


def _duration(seconds: float) -> str:
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} µs"
    return f"{seconds * 1e3:.3g} ms" if seconds < 1.0 else f"{seconds:.2f} s"


def _block(content: str) -> str:
    return f'<div style="padding:0.2em 0.8em;font-size:0.88em;line-height:1.4">{content}</div>'


STEP_KEYS = {
    "L": ("a voxel along +x", (1, 0, 0)),
    "J": ("a voxel along −x", (-1, 0, 0)),
    "I": ("a voxel along +y", (0, 1, 0)),
    "K": ("a voxel along −y", (0, -1, 0)),
    "U": ("a voxel along +z", (0, 0, 1)),
    "O": ("a voxel along −z", (0, 0, -1)),
}
"""Keys that move the second volume; arrows turn the camera in viser."""

QUARTER_TURNS = {
    "x": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]),
    "y": np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]),
    "z": np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
}
"""Rotations by a quarter turn about each axis, exact if voxels are cubes."""


class VolumeView(View):
    """Two volumes, the second with handles to drag and turn it."""

    picture_name = "choque-volumes.png"

    def __init__(self, pair: VolumePair) -> None:
        self.pair = pair
        self.title = f"Volumes: {pair.parts[0].source.name} and {pair.parts[1].source.name}"
        self.log = CollisionLog()
        self.answer: PairAnswer | None = None
        self.look = VolumeLook()
        self._start = pair.shift
        self._wanted: NDArray[np.float64] | None = None
        self._wanted_turn: NDArray[np.float64] | None = None
        self._is_new = True
        self._is_held = False

    def open(self, page: Page) -> None:
        """Build the page."""
        self._page, self._stand = page, CameraPlacement(page.server)
        self.pair.query()  # fills the caches, so that the times on the page are those of later queries
        light_evenly(page.scene)
        self._drawing = VolumeDrawing(page.scene, self.pair, self.look)
        with page.tab("Volumes"):
            self._build_common(page)
        self._descriptions: list[Any] = []
        for which, part in enumerate(self.pair.parts):
            with page.tab(("First", "Second")[which]):
                self._build_part(page, which, part)
        with page.side_tab("Events"):
            self._answers = page.html()
            page.text("**Events**, latest first")
            self._events = page.html()
        self._build_keys(page)
        self._build_handles(page)
        self._look()
        self._is_new = True

    def camera_moved(self, client: Any) -> None:
        """Keep both volumes visible when a page changes its size."""
        self._stand.moved(client)

    def close(self) -> None:
        """Restore the page."""
        reset_lens(self._page.server)

    def _build_common(self, page: Page) -> None:
        first, second = self.pair.parts
        one, two = escape(first.source.name), escape(second.source.name)
        page.html(f"<b>{one}</b> is fixed; drag and turn <b>{two}</b> by its handles.")
        self._fineness = page.number(
            "Voxels per unit",
            self._per_unit(),
            self.set_voxels_per_unit,
            lowest=1e-6,
            hint="More is finer. Both volumes are voxelised again.",
        )
        if any(part.source.kind != "mesh" for part in self.pair.parts):
            page.button("Voxels of the file", self.keep_own_voxels, hint="The voxels of the scan or model.")
        self._region = page.checkbox(
            "Collision region", self.look.region, self.show_region, hint="The intersection of the voxels. R"
        )
        self._place = page.gui.add_vector3(
            "Place", tuple(self.pair.shift.tolist()), step=float(self.pair.spacing.min()), hint="Of the second volume."
        )
        self._place.on_update(self._placed)
        page.buttons(
            "Quarter turn", tuple(QUARTER_TURNS), self.turn_quarter, hint="Of the second volume, about an axis."
        )
        page.button("Back to the start", self.move_back, hint="Home")
        page.button(
            "Push it free",
            self.part_them,
            is_main=True,
            hint="The shortest push along one axis that ends the collision.",
        )
        page.button("Look at both", self._look, hint="F")
        page.picture_button()
        page.button("Back to the chooser", page.home)

    def _build_part(self, page: Page, which: int, part: VolumePart) -> None:
        self._descriptions.append(page.html())
        if part.source.is_grey and part.above is not None:
            lowest, highest = part.source.value_range()
            page.slider(
                "Threshold",
                lowest,
                highest,
                1.0 if highest - lowest >= 64 else (highest - lowest) / 256.0,
                min(max(part.above, lowest), highest),
                partial(self.set_threshold, which),
                hint="Voxels with larger grey values are full.",
            )
        for group, label in GROUPS.items():
            with page.folder(label):
                for name, (words, own_group, hint) in OPTIONS.items():
                    if own_group == group:
                        is_on = name in self.look.shown[which]
                        page.checkbox(words, is_on, partial(self.show, which, name), hint=hint)
                if group == "voxels":
                    hint = "Of meshes without holes: voxels inside as well."
                    box = page.checkbox("Fill interior", part.fill, partial(self.set_fill, which), hint=hint)
                    box.disabled = not part.source.can_fill

    def _build_keys(self, page: Page) -> None:
        for key, (words, step) in STEP_KEYS.items():
            page.key(key, f"move the second by {words}", partial(self.move_by, step))
        for axis in QUARTER_TURNS:
            page.key(axis.upper(), f"turn the second by a quarter about {axis}", partial(self.turn_quarter, axis))
        page.key("home", "back to the start", self.move_back)
        page.key("R", "collision region", lambda: self.show_region(not self.look.region))
        page.key("F", "look at both", self._look)

    def _build_handles(self, page: Page) -> None:
        lower, upper = self.pair.parts[1].source.bounds
        self._middle = self.pair.parts[1].middle
        self._handles = page.scene.add_transform_controls(
            "/handles",
            scale=0.7 * float((upper - lower).max()),
            depth_test=False,
            translation_limits=((-1e9, 1e9),) * 3,
            position=self._middle + self.pair.shift,
        )
        self._handles.on_update(self._dragged)

    # Commands; each runs in the thread of the studio

    def move_to(self, shift: ArrayLike) -> None:
        """Move the second volume to a position, relative to its file."""
        self._wanted = np.array(shift, np.float64)

    def move_by(self, voxels: Sequence[int]) -> None:
        """Move the second volume by whole voxels."""
        start = self.pair.shift if self._wanted is None else self._wanted
        self.move_to(start + np.array(voxels) * self.pair.spacing)

    def move_back(self) -> None:
        """Move and turn the second volume back to the start."""
        self.move_to(self._start)
        self.turn_to(np.eye(3))

    def turn_to(self, rotation: NDArray[np.float64]) -> None:
        """Turn the second volume to a rotation (3, 3), relative to its file."""
        self._wanted_turn = rotation

    def turn_quarter(self, axis: str) -> None:
        """Turn the second volume by a quarter about an axis of the world."""
        start = self.pair.rotation if self._wanted_turn is None else self._wanted_turn
        self.turn_to(QUARTER_TURNS[axis] @ start)

    def part_them(self) -> None:
        """Push the second volume out of the first, by the shortest push along one axis."""
        self.move_to(self.pair.shift + self.pair.parts[0].volume.separation(self.pair.moved()))

    def set_voxels_per_unit(self, voxels_per_unit: float) -> None:
        """Set the resolution; after an error the page shows the previous number."""
        self._is_new = True
        self.pair.set_voxels_per_unit(float(voxels_per_unit))

    def keep_own_voxels(self) -> None:
        """Use the voxels of the scan or model."""
        self.pair.set_voxels_per_unit(None)
        self._is_new = True

    def set_threshold(self, which: int, above: float) -> None:
        """Set the grey value above which voxels are full."""
        self.pair.set_threshold(which, above)
        self._is_new = True

    def set_fill(self, which: int, fill: bool) -> None:
        """Set whether a mesh is filled."""
        self.pair.set_fill(which, fill)
        self._is_new = True

    def show(self, which: int, name: str, on: bool) -> None:
        """Show or hide a part of a volume."""
        (self.look.shown[which].add if on else self.look.shown[which].discard)(name)
        self._drawing.update(which)

    def show_region(self, on: bool) -> None:
        """Show or hide the intersection."""
        self.look.region = self._region.value = on
        self._drawing.draw_region(None if self.answer is None else self.answer.region)

    def picture(self, viewpoint: Viewpoint | None, size: tuple[int, int]) -> bytes:
        """Return a PNG of the view."""
        from choque.studio.volumes.picture import volume_png

        return volume_png(self.pair, self.look, viewpoint=viewpoint, size=size)

    def tick(self) -> float | None:
        """Move the second volume to the latest position of the handles and test for collision."""
        if self._wanted is None and self._wanted_turn is None and not self._is_new:
            return None
        before = self.pair.shift
        if self._wanted is not None:
            wanted, self._wanted = self._wanted, None
            self.pair.move_to(wanted)
        is_turned = self._follow_turn()
        is_new, self._is_new = self._is_new, False
        has_changed = is_new or is_turned or self.answer is None or not np.array_equal(before, self.pair.shift)
        if has_changed:
            self.answer = self.pair.query()
            self.log.observe(self.answer, self.pair.shift)
        with self._page.server.atomic():
            if is_new:
                self._drawing.redraw(0)
            if is_new or is_turned:
                self._drawing.redraw(1)
            if has_changed and self.answer is not None:
                self._drawing.follow()
                self._drawing.draw_region(self.answer.region)
                self._show_answer(self.answer)
            if not self._is_held:
                self._handles.position = self._middle + self.pair.shift
                self._handles.wxyz = quaternions(self.pair.rotation[np.newaxis])[0]
        return None

    def be_still(self) -> None:
        """Hide the handles."""
        self._handles.visible = False

    def _follow_turn(self) -> bool:
        """Turn the second volume as requested; return whether its rotation changed."""
        wanted, self._wanted_turn = self._wanted_turn, None
        if wanted is None or np.allclose(wanted, self.pair.rotation, atol=1e-6):
            return False
        self.pair.turn_to(wanted)
        return True

    def _dragged(self, event: Any) -> None:
        """Handle a small move of the handles; viser calls it in its own thread."""
        place, phase = np.array(event.target.position, np.float64), event.phase
        turn = matrix_of(np.array(event.target.wxyz, np.float64))

        def follow() -> None:
            self._is_held = phase != "end"
            self._wanted, self._wanted_turn = place - self._middle, turn

        self._page.studio.request(follow, "handles")

    def _placed(self, event: Any) -> None:
        if event.client is not None:
            self._page.studio.request(partial(self.move_to, event.target.value), "place")

    def _show_answer(self, answer: PairAnswer) -> None:
        self._answers.content = answer_html(self.pair, answer)
        self._events.content = log_html(self.log)
        for which, (panel, part) in enumerate(zip(self._descriptions, self.pair.parts, strict=True)):
            panel.content = part_html(part, COLORS[which])
        self._place.value = tuple(self.pair.shift.tolist())
        self._fineness.value = self._per_unit()

    def _per_unit(self) -> float:
        return float(f"{1.0 / self.pair.spacing.max():.6g}")

    def _look(self) -> None:
        """Show both volumes and the handles from the front, the side and above."""
        lower, upper = self.pair.bounds()
        upper = np.maximum(upper, self._middle + self.pair.shift + self._handles.scale)
        middle, reach = (lower + upper) / 2.0, max(float(np.linalg.norm(upper - lower)) / 2.0, 1e-9)
        corners = volume_shapes.box_edges(lower - middle, upper - middle).reshape(-1, 3)

        def place(aspect: float) -> NDArray[np.float64]:
            far = distance_to_see(corners, DIRECTION, (round(1000 * max(aspect, 0.1)), 1000))
            return np.asarray(middle + max(far, 1e-9) * DIRECTION)

        lens = Lens(near=0.01 * reach, far=50.0 * reach, up=(0.0, 0.0, 1.0))
        self._stand.look_from(place, middle, lens)
