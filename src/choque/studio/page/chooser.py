"""The first page: everything that the studio can show."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np

from choque.errors import ChoqueError
from choque.record import BodyTable, Poses
from choque.scene import BodyScene
from choque.studio.page.backdrop import Backdrop
from choque.studio.page.bodies import BodiesLayer
from choque.studio.page.cameras import Cameras
from choque.studio.page.entries import ENTRIES, Entry
from choque.studio.page.page import Page, one_of
from choque.studio.page.thumbnails import gallery
from choque.studio.page.view import View
from choque.studio.palette import quiet

OPENED = 3
"""How many folders are open at first."""

FIRST = "demolition"
"""The scene that is selected at first."""

MAX_COUNT = 200_000
"""Maximum of counts, such as the number of bodies, in the fields of the chooser."""


class Chooser(View):
    """Lists what can be shown, with descriptions and parameters, and shows the start of the selected scene."""

    title = "Choque: the studio"

    def open(self, page: Page) -> None:
        """Add a folder for each entry."""
        self.page = page
        self.forms: dict[str, Form] = {}
        self._layer = BodiesLayer(page.scene)
        self._wanted: BodyScene | None = None
        self._backdrop = Backdrop(page.scene)
        with page.tab("Scenes"):
            page.text("Click a picture, or **drop a file** on the page: boxes, atoms, meshes, scans, recordings.")
            page.html(gallery())
        with page.tab("Open"):
            page.text("Choose what to show. The page can be open in several tabs: all show the same.")
            for number, name in enumerate(ENTRIES):
                found = ENTRIES.find(name)
                things = found.things()
                with page.folder(found.title, is_open=number < OPENED):
                    page.text(f"*{found.about}*")
                    if things:
                        self.forms[name] = Form(self, found, things)
                    else:
                        page.text("None yet.")

    def preview(self, scene: BodyScene) -> None:
        """Show the start of a scene at the next tick."""
        self._wanted = scene

    def tick(self) -> float | None:
        """Show the requested scene; its world is made here."""
        scene, self._wanted = self._wanted, None
        if scene is not None:
            bodies = scene.world(broad="brute").bodies
            cast, poses = (
                BodyTable.of(bodies),
                Poses(bodies.position.astype(np.float32), bodies.rotation.astype(np.float32)),
            )
            self._layer.show(cast, poses, quiet(cast.color, cast.static))
            if self._layer.around is not None:
                self._backdrop.fit(self._layer.around)
                self._backdrop.show(cast, poses)
            Cameras(self.page.server, scene.camera, cast, poses)
        return None


class Form:
    """One entry: a choice, its description, its parameters, and a button that opens it."""

    def __init__(self, chooser: Chooser, kind: Entry, things: Mapping[str, str]) -> None:
        self._chooser, self._page, self._kind, self._things = chooser, chooser.page, kind, things
        self.thing = FIRST if FIRST in things else next(iter(things))
        self.values: dict[str, Any] = {}
        self.choice = self._page.choice("Which", list(things), self.thing, self.choose)
        self._about = self._page.html()
        self._fields = self._page.gui.add_folder(None, visible=kind.parameters is not None)
        self.button = self._page.button("Open", self.open, is_main=True)
        self.choose(self.thing)

    def choose(self, thing: str) -> None:
        """Select another thing of the entry: one of those listed, so that a tab cannot name a file of its own."""
        self.thing = one_of(list(self._things), thing)
        self._about.content = escape(self._things[thing])
        self._add_fields()
        if self._kind.preview is not None:
            self._chooser.preview(self._kind.preview(thing))

    def open(self) -> None:
        """Open the view of the selected thing."""
        try:
            view = self._kind.open([self.thing], self.values)
        except ChoqueError as problem:
            self._page.notify("This cannot be opened", str(problem), "red")
            return
        self._page.go(view)

    def _add_fields(self) -> None:
        """Add a field for each parameter of the selected thing."""
        for child in tuple(self._fields._children.values()):
            child.remove()
        self.values = {}
        if self._kind.parameters is None:
            return
        self.values = dict(self._kind.parameters(self.thing))
        with self._fields:
            for name, default in self.values.items():
                self._add_field(name, default)

    def _add_field(self, name: str, default: Any) -> None:
        label = "bodies" if name == "n" else name.replace("_", " ")

        def take(value: Any) -> None:
            self.values[name] = type(default)(value)

        if isinstance(default, bool):
            self._page.checkbox(label, default, take)
        elif isinstance(default, int | float):
            is_count = isinstance(default, int) and name != "seed"
            self._page.number(
                label,
                default,
                take,
                step=1 if isinstance(default, int) else None,
                highest=MAX_COUNT if is_count else None,
                hint=f"At most {MAX_COUNT:,}; 'choque view NAME:N' takes more." if name == "n" else None,
            )
        else:
            self._page.word(label, str(default), take)
