"""What views of bodies have in common: bodies, colours, overlays, a selected body, cameras, pictures."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque.errors import InvalidInput
from choque.narrow import Contacts
from choque.narrow.rays import enter_solids
from choque.narrow.shapes import CAPSULE, KIND_NAMES, PLANE, SPHERE, TILE
from choque.record import BodyTable, Poses
from choque.scene import Camera
from choque.studio.glow import Glow, glow_of
from choque.studio.page.backdrop import MAX_SHADOWED, Backdrop
from choque.studio.page.bodies import COLORINGS, BodiesLayer
from choque.studio.page.cameras import Cameras
from choque.studio.page.findings import Findings
from choque.studio.page.overlays import LINE_WIDTH, OVERLAYS, SLAB_NAMES, Options, OverlaysLayer, area_members
from choque.studio.page.page import Page, one_of
from choque.studio.page.still import Lines, bodies_image
from choque.studio.page.view import View
from choque.studio.palette import ASLEEP, DIMMED, PICKED, blended, quiet
from choque.studio.png import png_bytes
from choque.studio.viewpoint import Viewpoint
from choque.world import Bodies

MAX_LISTED = 12
"""How many ids of other bodies are listed."""

Vector = NDArray[np.float64]


def body_on_ray(bodies: Bodies, origin: Vector, direction: Vector) -> int | None:
    """Return the row of the first drawn body that a ray hits, or None; ground planes cannot be selected."""
    rows = np.flatnonzero(bodies.drawn & (bodies.kind != PLANE))
    one_ray = np.column_stack((np.zeros_like(rows), rows)).astype(np.int32)
    start, way = (np.asarray(vector, np.float64)[np.newaxis] for vector in (origin, direction))
    distance = enter_solids(bodies.shapes(), one_ray, start, way, threads=1).distance
    distance[distance <= 0.0] = np.inf  # the camera is inside it
    first = int(distance.argmin()) if len(rows) else -1
    return int(rows[first]) if first >= 0 and np.isfinite(distance[first]) else None


def about_body(findings: Findings, options: Options, row: int) -> str:
    """Return the state of a body, its pairs and the members of its area, as HTML."""
    bodies = findings.bodies
    lines = [
        ("Kind", _kind(bodies, row)),
        ("Position", _vector(bodies.position[row])),
        ("Velocity", f"{_vector(bodies.velocity[row])} (speed {findings.speed[row]:.3f})"),
        ("Angular velocity", _vector(bodies.angular_velocity[row])),
        ("Mass", "infinite (static)" if bodies.static[row] else f"{bodies.mass[row]:.4g}"),
        ("Restitution", f"{bodies.restitution[row]:.3g}"),
        ("Candidates", _names(bodies, findings.partners(row))),
        ("Touches", _names(bodies, findings.touching(row))),
    ]
    if findings.is_bounded[row] and not bodies.static[row]:
        lines.append((f"In its area (×{options.area:g})", _names(bodies, area_members(findings, options, row))))
    cells = "".join(
        f'<tr><td style="padding-right:0.8em;vertical-align:top;opacity:0.7">{name}</td><td>{escape(value)}</td></tr>'
        for name, value in lines
    )
    return f"<b>Body {bodies.ids[row]}</b><table>{cells}</table>"


def _kind(bodies: Bodies, row: int) -> str:
    kind, size = int(bodies.kind[row]), bodies.size[row]
    if kind == SPHERE:
        return f"sphere, radius {size[0]:.3g}"
    if kind == CAPSULE:
        return f"{'rocket' if bodies.rocket[row] else 'capsule'}, radius {size[0]:.3g}, length {size[1]:.3g}"
    if kind == TILE:
        return f"tile, {size[0]:.3g} by {size[1]:.3g}"
    return KIND_NAMES[kind]


def _vector(values: NDArray[np.floating[Any]]) -> str:
    return ", ".join(f"{value:.3f}" for value in values.tolist())


def _names(bodies: Bodies, rows: NDArray[np.integer[Any]]) -> str:
    if not len(rows):
        return "none"
    named = ", ".join(str(identity) for identity in bodies.ids[rows[:MAX_LISTED]].tolist())
    more = f" and {len(rows) - MAX_LISTED:,} more" if len(rows) > MAX_LISTED else ""
    return f"{len(rows):,}: {named}{more}"


SEE_ALL = "show all"

GLOWING = "collisions"
"""The colouring in which what just collided glows."""

DIMMING = (GLOWING, "islands")
"""The colourings in which sleeping bodies are dark."""

FRAMES_A_SECOND = 30.0
"""Maximum number of pictures that are sent per second."""


class BodiesView(View):
    """A view of bodies.

    A subclass gives the bodies (`cast`), their poses (`poses`) and what is found among them (`look`), and calls
    `present` after changes.
    """

    page: Page

    has_timeline = False
    """Whether a timeline covers the bottom of the scene."""

    @abstractmethod
    def cast(self) -> BodyTable:
        """Return the bodies; the same object as long as they do not change."""

    @abstractmethod
    def poses(self) -> Poses:
        """Return the poses of the bodies."""

    @abstractmethod
    def look(self) -> Findings:
        """Return bounds, candidates and contacts of the current frame."""

    def set_up(self, page: Page, camera: Camera) -> None:
        """Prepare the scene, before controls are added."""
        lost = np.flatnonzero(~np.isfinite(self.poses().position).all(axis=1))
        if len(lost):
            raise InvalidInput(
                f"Body {self.cast().ids[lost[0]]} is at {_vector(self.poses().position[lost[0]])}; a picture needs "
                "finite positions, in single precision."
            )
        self.page = page
        self._camera = camera
        self.bodies_layer = BodiesLayer(page.scene)
        self.overlays = OverlaysLayer(page.scene)
        self.cameras = Cameras(page.server, camera, self.cast(), self.poses(), has_timeline=self.has_timeline)
        self.coloring = GLOWING
        self.picked: int | None = None
        """The id of the selected body."""
        self.is_following = False
        self.is_see_through = False
        self.is_stale = True
        """Whether something changed since the last picture."""
        self.backdrop = Backdrop(page.scene)
        self.backdrop.has_shadows = int(np.count_nonzero(self.cast().drawn)) <= MAX_SHADOWED
        self.glow: Glow | None = None
        self._sparks: Any = None
        self._lines: list[Any] = []
        self._glowing: BodyTable | None = None
        page.scene.on_click()(self._clicked)

    def camera_moved(self, client: Any) -> None:
        """Keep a centred camera centred, and a timeline as wide as the scene."""
        self.cameras.moved(client)
        if self.has_timeline:
            self.page.fit_panels(client.camera.image_width)

    def be_still(self) -> None:
        """Place the camera for a page without panels: no timeline covers the scene."""
        self.cameras = Cameras(self.page.server, self._camera, self.cast(), self.poses())

    # Drawing

    def present(self) -> None:
        """Draw the current frame: changes are sent to all tabs at once."""
        self.is_stale = False
        findings, cast = self.look(), self.cast()
        row = self._picked_row(findings)
        options = self.overlays.options
        options.picked, options.target, options.eye = row, self.cameras.looked_at(), self.cameras.eye()
        poses = self.poses()
        self._light_up(cast, poses)
        color = self._colors(findings)
        with self.page.server.atomic():
            self.bodies_layer.set_see_through(self.is_see_through or self.overlays.is_inside)
            before = self.bodies_layer.around
            self.bodies_layer.show(cast, poses, color)
            if self.bodies_layer.around is not None and before is None:
                self.backdrop.fit(self.bodies_layer.around)
            self.backdrop.show(cast, poses)
            self.overlays.show(findings)
            self._show_lines()
            self._show_sparks()
        if self.is_following and row is not None:
            self.cameras.follow(findings.bodies.position[row].astype(np.float64))

    def time(self) -> float:
        """Return the time of the current frame [s]; a view that does not move has none."""
        return 0.0

    def touched(self) -> Iterable[Contacts]:
        """Return the contacts, by rows, of the steps since the last picture."""
        return ()

    def _light_up(self, cast: BodyTable, poses: Poses) -> None:
        """Let bodies glow that collided since the last picture."""
        if self.glow is None or cast is not self._glowing:
            self.glow, self._glowing, self._quiet = glow_of(cast), cast, quiet(cast.color, cast.static)
        self.glow.advance(self.time(), poses.position)
        for contacts in self.touched():
            self.glow.touch(self.time(), contacts)

    def lines(self) -> list[Lines]:
        """Return lines that belong to what is shown, beside the overlays."""
        return []

    def _show_lines(self) -> None:
        shown = self.lines()
        for number in range(max(len(shown), len(self._lines))):
            handle = self._lines[number] if number < len(self._lines) else None
            each = shown[number] if number < len(shown) else None
            if handle is not None and each is not None and len(each.ends) and isinstance(each.color, tuple):
                handle.points = each.ends
                continue
            if handle is not None:
                handle.remove()
            made = None
            if each is not None and len(each.ends):
                made = self.page.scene.add_line_segments(
                    f"/lines/{number}", each.ends, each.color, thickness=LINE_WIDTH, thickness_units="screen"
                )
            self._lines[number : number + 1] = [made]
        del self._lines[len(shown) :]

    def sparks(self) -> list[Lines]:
        """Return the sparks where bodies have just collided."""
        found = self.glow.sparks() if self.glow is not None and self.coloring == GLOWING else None
        return [Lines(found.ends, found.colors)] if found is not None and len(found.ends) else []

    def _show_sparks(self) -> None:
        if self._sparks is not None:
            self._sparks.remove()
            self._sparks = None
        for ends, colors in self.sparks():
            self._sparks = self.page.scene.add_line_segments(
                "/sparks", ends, colors, thickness=2.0, thickness_units="screen"
            )

    def picture(self, viewpoint: Viewpoint | None, size: tuple[int, int]) -> bytes:
        """Draw what the page shows as a PNG: bodies in their colours, overlays, sparks; shadows and ground if on."""
        findings = self.look()
        drawings = self.overlays.drawings(findings)
        lines = [
            Lines(each.lines, OVERLAYS[name].color if each.colors is None else each.colors) for name, each in drawings
        ]
        return png_bytes(
            bodies_image(
                self.cast(),
                self.poses(),
                self._colors(findings),
                [*lines, *self.lines(), *self.sparks()],
                viewpoint=self._camera if viewpoint is None else viewpoint,
                size=size,
                is_see_through=self.is_see_through or self.overlays.is_inside,
                shadows=self.backdrop.has_shadows,
                ground=self.backdrop.has_ground,
            )
        )

    def update_notes(self) -> None:
        """Update the texts of the panels."""
        lines = [f"**{OVERLAYS[name].word}:** {note}" for name, note in self.overlays.notes.items() if note]
        self._overlay_notes.content = "\n\n".join(lines)
        self._body_text.content = self._about_picked()

    def coarse_html(self) -> str:
        """Return a line for the status if bodies are drawn coarsely."""
        note = self.bodies_layer.note
        return f"<br><span style='color:#ffb03b'>{note}</span>" if note else ""

    # Controls

    def add_show_tab(self) -> None:
        """Add the tab with colours, overlays and cameras."""
        page = self.page
        with page.tab("Show"):
            self.color_choice = page.choice("Colour by", list(COLORINGS), self.coloring, self.set_coloring)
            self._color_note = page.text(COLORINGS[self.coloring][1])
            self._see_through = page.checkbox(
                "See through (V)", False, self._set_see_through, hint="Candidates and contacts switch it on."
            )
            page.checkbox("Shadows", self.backdrop.has_shadows, self._set_shadows)
            page.checkbox("Ground", True, self.backdrop.set_ground)
            with page.folder("Overlays"):
                self._checks = {name: self._add_overlay(name) for name in OVERLAYS}
                page.html(legend())
                page.choice("k-DOP", SLAB_NAMES, self.overlays.options.slabs, self._set_slabs)
                page.slider("Area ×", 1.0, 20.0, 0.5, self.overlays.options.area, self._set_area)
                self._overlay_notes = page.text()
            with page.folder("Camera"):
                self._centred = page.checkbox("Centred", True, lambda _: self.toggle_camera())
                page.checkbox("Go where the bodies go", True, self._set_drifting, hint="Until it is moved by hand.")
                page.checkbox("Follow selected", False, self._set_following, hint="The camera moves with the body.")
                page.buttons("Camera", (SEE_ALL, "of the scene"), self._place_camera)
        page.key("V", "Transparent bodies, on and off", self.toggle_see_through)
        page.key("C", "Centred or free camera", self.toggle_camera)

    def add_body_tab(self) -> None:
        """Add the tab about the selected body."""
        page = self.page
        with page.tab("Body"):
            self._body_text = page.html(self._about_picked())
            self._pick_number = page.number("Select by id", 0, lambda value: self.pick(int(value)), lowest=0, step=1)
            page.button("Select none", lambda: self.pick(None))

    def set_coloring(self, name: str) -> None:
        """Choose what the colours show."""
        self.coloring = one_of(list(COLORINGS), name)
        self._color_note.content = COLORINGS[name][1]
        self.is_stale = True

    def toggle_overlay(self, name: str) -> None:
        """Switch an overlay on or off."""
        self.overlays.on ^= {name}
        self._checks[name].value = name in self.overlays.on
        self.is_stale = True

    def toggle_see_through(self) -> None:
        """Make bodies transparent, or opaque again."""
        self._set_see_through(not self.is_see_through)
        self._see_through.value = self.is_see_through

    def toggle_camera(self) -> None:
        """Switch between centred and free camera."""
        self.cameras.toggle()
        self._centred.value = self.cameras.is_centred

    def pick(self, identity: int | None) -> None:
        """Select the body with this id; None for none."""
        ids = self.cast().ids
        if identity is not None and not (ids == identity).any():
            allowed = f"give an id from {ids.min()} to {ids.max()}" if len(ids) else "there are no bodies"
            raise InvalidInput(f"There is no body {identity}; {allowed}.")
        self.picked = identity
        if identity is None:
            self.cameras.follow(None)
        else:
            self._pick_number.value = identity
        self.is_stale = True

    def _clicked(self, event: Any) -> None:
        origin, direction = np.array(event.ray_origin, np.float64), np.array(event.ray_direction, np.float64)
        self.page.studio.request(lambda: self._pick_on_ray(origin, direction), "click")

    def _pick_on_ray(self, origin: NDArray[np.float64], direction: NDArray[np.float64]) -> None:
        bodies = self.look().bodies
        row = body_on_ray(bodies, origin, direction)
        self.pick(None if row is None else int(bodies.ids[row]))

    def _colors(self, findings: Findings) -> NDArray[np.uint8]:
        """Return the colours (n, 3) of the bodies, with the selected one highlighted."""
        if self.coloring == GLOWING and self.glow is not None and self._glowing is self.cast():
            color = self.glow.colors(self._quiet)
        else:
            color = COLORINGS[self.coloring][0](findings)
        if self.coloring in DIMMING and findings.asleep.any():
            color = blended(color, ASLEEP, DIMMED * findings.asleep)
        if (row := self._picked_row(findings)) is not None:
            color = color.copy()
            color[row] = PICKED
        return color

    def _picked_row(self, findings: Findings) -> int | None:
        if self.picked is None:
            return None
        row = int(np.searchsorted(findings.bodies.ids, self.picked))
        return row if row < len(findings.bodies) and findings.bodies.ids[row] == self.picked else None

    def _about_picked(self) -> str:
        findings = self.look()
        row = self._picked_row(findings)
        if row is None:
            return "Click a body to see its state, its pairs and the members of its area."
        return about_body(findings, self.overlays.options, row)

    def _add_overlay(self, name: str) -> Any:
        overlay = OVERLAYS[name]
        self.page.key(overlay.key, f"{overlay.label}, on and off", lambda: self.toggle_overlay(name))
        return self.page.checkbox(
            f"{overlay.word} ({overlay.key})",
            False,
            lambda value: self.toggle_overlay(name) if value != (name in self.overlays.on) else None,
            hint=f"{overlay.label}; key {overlay.key}.",
        )

    def _set_see_through(self, value: bool) -> None:
        self.is_see_through = value
        self.is_stale = True

    def _set_shadows(self, value: bool) -> None:
        self.backdrop.set_shadows(value)
        self.is_stale = True

    def _set_slabs(self, name: str) -> None:
        self.overlays.options.slabs = one_of(SLAB_NAMES, name)
        self.is_stale = True

    def _set_area(self, factor: float) -> None:
        self.overlays.options.area = factor
        self.is_stale = True

    def _place_camera(self, word: str) -> None:
        if word == SEE_ALL:
            self.cameras.show_all()
        else:
            self.cameras.stand_as_wanted()

    def _set_drifting(self, value: bool) -> None:
        self.cameras.is_drifting = value

    def _set_following(self, value: bool) -> None:
        self.is_following = value
        if not value:
            self.cameras.follow(None)
        self.is_stale = True


def legend() -> str:
    """Return the colour of each overlay, as HTML."""
    swatches = (
        f'<span style="white-space:nowrap;margin-right:0.9em"><span style="color:rgb{overlay.color}">■</span> '
        f"{overlay.word.lower() if overlay.word != 'k-DOPs' else overlay.word}</span> "
        for overlay in OVERLAYS.values()
    )
    return "".join(swatches)
