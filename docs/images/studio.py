"""Take the pictures of the studio in the documentation: ``python docs/images/studio.py [NAME…]``, in minutes.

Each is a page of the studio in a headless Chromium, which draws in software, after a few steps and actions.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import choque
from choque.errors import require
from choque.studio.page.entries import find_view
from choque.studio.page.studio import Studio, open_studio

SIZE = {"width": 1280, "height": 720}
PATIENCE = 6_000
"""How long a page takes to draw a view in software, at most [ms]."""
WAITING = 600.0
"""How long kernels may be compiled [s]."""


@dataclass(frozen=True)
class Shot:
    """A picture: what is opened, what is done to the view, and the tab and the keys that are pressed then."""

    name: str
    things: Sequence[str] = ()
    do: Callable[[Any], object] = lambda _: None
    tab: str | None = None
    keys: str = ""
    study: str | None = None


def steps(count: int, view: Any) -> None:
    """Make steps of a world."""
    for _ in range(count):
        view.step()


def compared(view: Any) -> None:
    """Make steps with a second method beside the first."""
    view.compare("sap-direct")
    steps(110, view)


def picked(view: Any) -> None:
    """Make steps, and select the body with the most candidates."""
    steps(90, view)
    view.pick(int(np.bincount(view.run.world.pairs().ravel()).argmax()))


def with_grid(view: Any) -> None:
    """Make steps with the grid."""
    view.switch(broad="grid")
    steps(40, view)


def inserted(view: Any) -> None:
    """Move the screw into the bone, where it misses its hole."""
    pose = np.eye(4)
    pose[:3, 3] = (0.6, 5.0, 0.9)
    view.move(pose)


def walked(view: Any) -> None:
    """Let a crowd walk for two seconds."""
    for _ in range(60):
        view.advance(1 / 30)


def models(view: Any) -> None:
    """Show the extreme vertices of two volumes."""
    for name, is_on in (("triangles", False), ("surface", True), ("brinks x", True)):
        view.show(0, name, is_on)
    for name, is_on in (("triangles", False), ("brinks z", True), ("planes x", True)):
        view.show(1, name, is_on)


SHOTS = (
    Shot("chooser"),
    Shot("world", ["rubble:400"], compared, tab="Methods"),
    Shot("hands", ["pyramid:55"], partial(steps, 30), keys="BFFFFFFFFFFFFFFFFFFFFFFFF"),
    Shot("k_dops", ["rubble:40"], partial(steps, 80), tab="Show", keys="K"),
    Shot("grid", ["mixed-box:100"], with_grid, tab="Show", keys="T"),
    Shot("body", ["mixed-box:300"], picked, tab="Body", keys="G"),
    Shot("crowd", ["crowd"], walked),
    Shot("neighbors", ["diamond"]),
    Shot("clearance", ["screw-in-vertebra"], inserted),
    Shot("recording", ["bowling.choque"], lambda view: view.seek(150)),
    Shot("motion", ["three-objects"], lambda view: view.seek(2 / 3), study="kinetic"),
    Shot("motion_many", ["random-shapes"], lambda view: view.seek(0.05), study="kinetic"),
    Shot("volumes", ["vertebra-and-screw"]),
    Shot("volumes_turned", ["vertebra-and-screw"], lambda view: view.turn_quarter("z")),
    Shot("volume_model", ["two-spheres"], models, tab="Second"),
)


@contextmanager
def opened(studio: Studio) -> Iterator[Any]:
    """A tab that shows a studio."""
    playwright: Any = require("playwright.sync_api", extra="test", purpose="to open a page")
    with playwright.sync_playwright() as session:
        browser = session.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("google-chrome"),
            args=["--no-sandbox", "--enable-unsafe-swiftshader"],
        )
        page = browser.new_page(viewport=SIZE)
        page.set_default_timeout(1_000 * WAITING)
        page.goto(studio.url)
        yield page
        browser.close()


def take(studio: Studio, page: Any, shot: Shot) -> None:
    """Take a picture."""
    view = find_view(list(shot.things), study=shot.study) if shot.things else None
    studio.open(view)
    studio.ask(lambda: None, timeout=WAITING)
    assert studio.view is not None
    page.get_by_text(studio.view.title).first.wait_for()
    studio.ask(lambda: shot.do(studio.view), timeout=WAITING)
    if shot.tab is not None:
        page.get_by_role("tab", name=shot.tab, exact=True).click()
    page.evaluate("document.activeElement.blur()")
    for key in shot.keys:
        page.keyboard.press(key)
    page.wait_for_timeout(PATIENCE)
    target = Path(__file__).parent / f"studio_{shot.name}.png"
    page.screenshot(path=target)
    print(target.name, flush=True)  # noqa: T201


def main() -> None:
    """Take the pictures that are named, or all."""
    with tempfile.TemporaryDirectory(prefix="choque-") as folder, open_studio() as studio, opened(studio) as page:
        scene = choque.scene.find_bodies("bowling")
        recorded = str(Path(folder) / "bowling.choque")
        with choque.record.Recorder(recorded, world := scene.world(), camera=scene.camera) as recorder:
            for _ in range(300):
                world.step(scene.dt)
                recorder.record()
        for shot in SHOTS:
            if not sys.argv[1:] or shot.name in sys.argv[1:]:
                things = [recorded if each == "bowling.choque" else each for each in shot.things]
                take(studio, page, Shot(**{**shot.__dict__, "things": things}))


if __name__ == "__main__":
    main()
