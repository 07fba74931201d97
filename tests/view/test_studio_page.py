"""The studio in a real browser: what is done on the page reaches the server, and what the server does is seen.

Pictures are drawn in software here, so all tests share one page and look at few of them.
"""

from __future__ import annotations

import io
import re
import shutil
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("viser", reason="viser, of the extra 'view', is not installed")

from choque import scene
from choque.record import Recorder, Recording
from choque.view.studio import Studio, View, open_studio
from choque.view.studio_chooser import Chooser
from choque.view.studio_overlays import OVERLAYS
from choque.view.studio_recording import RecordingView
from choque.view.studio_world import WorldView

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)

NUMBERS = count(1)
SIZE = {"width": 1000, "height": 560}
PATIENCE = 30.0
"""Seconds that something on the page may take on a busy machine."""


def until(condition: Callable[[], object], what: str) -> None:
    """Wait for something to become true."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.03)


class Watched:
    """A studio, a tab that shows it, and what the tab met."""

    def __init__(self, studio: Studio, browser: Any) -> None:
        self.studio, self.browser = studio, browser
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.page = self.new_tab()

    def new_tab(self) -> Any:
        tabs = len(self.studio.server.get_clients())
        page = self.browser.new_page(viewport=SIZE)
        page.on("console", lambda message: message.type == "error" and self.errors.append(message.text))
        page.on("pageerror", lambda problem: self.errors.append(str(problem)))
        page.on("request", lambda request: self.requests.append(request.url))
        page.goto(self.studio.url)
        until(lambda: len(self.studio.server.get_clients()) == tabs + 1, "the tab to connect")
        return page

    def show(self, view: View | None) -> Any:
        """Open a view and wait until the page has it."""
        self.studio.open(view)
        self.studio.ask(lambda: None)
        assert self.studio.view is not None
        self.page.get_by_text(self.studio.view.title).first.wait_for(timeout=1000 * PATIENCE)
        return self.studio.view

    def tab(self, label: str) -> None:
        self.page.get_by_role("tab", name=label, exact=True).click()

    def press(self, key: str) -> None:
        self.page.evaluate("document.activeElement.blur()")
        self.page.keyboard.press(key)

    def choose(self, label: str, option: str) -> None:
        """Take an option of a dropdown."""
        field = self.page.get_by_label(label, exact=True).first
        field.click()
        self.page.get_by_role("option", name=option, exact=True).locator("visible=true").first.click()

    def picture(self) -> np.ndarray:
        """What is seen between the panels."""
        from PIL import Image

        area = {"x": 335, "y": 170, "width": 320, "height": 380}
        return np.asarray(Image.open(io.BytesIO(self.page.screenshot(clip=area, timeout=1000 * PATIENCE))), np.int16)

    def differs(self, before: np.ndarray, pixels: int = 20) -> Callable[[], bool]:
        """A condition: what is seen differs from what was, in so many pixels."""
        return lambda: int((np.abs(self.picture() - before).max(axis=2) > 24).sum()) >= pixels


@pytest.fixture(scope="module")
def watched() -> Iterator[Watched]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright, of the extra 'test', is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed (Debian: apt-get install chromium)")
    arguments = ["--no-sandbox", "--enable-unsafe-swiftshader"]
    with open_studio() as studio, playwright.sync_playwright() as session:
        browser = session.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield Watched(studio, browser)
        browser.close()


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recorded") / "drop.choque"
    world = scene.load_bodies("one-of-each").world()
    with Recorder(path, world, scene="drop") as recorder:
        for _ in range(100):
            world.step()
            recorder.record()
    return path


def spheres() -> WorldView:
    """Three rows of spheres, two of which touch, and a capsule."""
    from choque.world import World

    world = World("bvh")
    place = np.array([[x, y, 0.0] for x in (-2.2, 0, 2.2) for y in (-2.2, 0, 2.2)])
    place[0, 0] += 0.5
    place[3, 0] -= 0.5
    world.add_spheres(place, 1.0, color=(90, 140, 220), velocity=(0, 0.4, 0))
    world.add_capsules([[0, 4.5, 0]], 0.6, 1.5)
    view = WorldView(world)
    view.title = f"Spheres, number {next(NUMBERS)}"  # so that a test sees that the page has changed
    return view


def test_choosing_a_scene_opens_it_paused(watched: Watched) -> None:
    """F-001-32: the chooser, its description, and the page of a world."""
    watched.choose("Which", "cradle")
    chooser = watched.studio.view
    assert isinstance(chooser, Chooser)
    until(lambda: chooser.forms["scene"].thing == "cradle", "the choice")
    watched.page.get_by_role("button", name="Open").first.click()
    until(lambda: isinstance(watched.studio.view, WorldView), "the world")
    view = watched.studio.view
    assert isinstance(view, WorldView)
    watched.studio.ask(lambda: None)
    assert view.title == "cradle"
    assert not view.run.playing


def test_playing_moves_pixels_and_pausing_holds_them(watched: Watched) -> None:
    """F-001-46: P and Space, and the button; what moves is seen to move."""
    view = watched.show(spheres())
    time.sleep(1.0)
    still = watched.picture()
    watched.press("p")
    until(lambda: view.run.frame > 20, "frames")
    until(watched.differs(still), "pixels that change")
    watched.press(" ")
    until(lambda: not view.run.playing, "the pause")
    frame = view.run.frame
    watched.page.get_by_role("button", name="Play").click()
    until(lambda: view.run.frame > frame, "more frames")
    watched.page.get_by_role("button", name="Pause").click()
    until(lambda: not view.run.playing, "the pause")
    watched.press("m")
    until(lambda: view.run.slow_motion, "slow motion")


def test_a_method_is_switched_on_the_page(watched: Watched) -> None:
    view = watched.show(spheres())
    watched.choose("Broad phase", "grid")
    until(lambda: view.run.world.settings.broad == "grid", "the other method")
    watched.choose("Compare with", "sap-direct")
    until(lambda: view.run._rival is not None, "the second method")
    watched.press("f")
    watched.page.get_by_text("The same pairs in every frame").wait_for(timeout=1000 * PATIENCE)


def test_every_overlay_has_a_key_and_is_seen(watched: Watched) -> None:
    """F-001-43, F-002-39, F-004-36: I, O and the others; on adds lines to the picture."""
    view = watched.show(spheres())
    time.sleep(1.0)
    for name, overlay in OVERLAYS.items():
        method = "sap-direct" if name == "sweep" else "bvh"
        watched.studio.ask(lambda method=method: view.switch(broad=method))  # type: ignore[misc]
        before = watched.picture()
        watched.press(overlay.key.lower())
        until(lambda name=name: view.overlays.line_counts.get(name, 0) > 0, f"the lines of {name}")  # type: ignore[misc]
        until(watched.differs(before), f"pixels of {name}")
        watched.press(overlay.key.lower())
        until(lambda name=name: name not in view.overlays.line_counts, f"the end of {name}")  # type: ignore[misc]


def test_red_turns_green_on_contact(watched: Watched) -> None:
    view = watched.show(spheres())
    watched.tab("Show")
    watched.choose("Colour by", "contact")
    until(lambda: view.coloring == "contact", "the colouring")

    def has_both() -> bool:
        red, green, _ = np.moveaxis(watched.picture(), 2, 0)[:3]
        return bool(((red > 2 * green) & (red > 100)).sum() > 200 and ((green > 1.4 * red) & (green > 100)).sum() > 200)

    until(has_both, "red and green bodies")


def test_a_click_picks_the_body_that_is_there(watched: Watched) -> None:
    view = watched.show(spheres())
    time.sleep(1.0)
    (client,) = watched.studio.server.get_clients().values()
    camera = client.camera
    body = 4
    canvas = watched.page.locator("canvas").first.bounding_box()
    ahead = camera.look_at - camera.position
    ahead /= np.linalg.norm(ahead)
    right = np.cross(ahead, [0, 1, 0])
    right /= np.linalg.norm(right)
    away = view.run.world.bodies.position[body] - camera.position
    scale = canvas["height"] / 2 / np.tan(camera.fov / 2) / (away @ ahead)
    x = canvas["x"] + canvas["width"] / 2 + scale * (away @ right)
    y = canvas["y"] + canvas["height"] / 2 - scale * (away @ np.cross(right, ahead))
    watched.page.mouse.click(x, y)
    until(lambda: view.picked == body, "the pick")
    watched.tab("Body")
    watched.page.get_by_text(f"Body {body}", exact=True).wait_for(timeout=1000 * PATIENCE)


def test_cameras_are_centred_or_free(watched: Watched) -> None:
    """F-001-42."""
    view = watched.show(spheres())
    assert view.cameras.is_centred
    watched.press("c")
    until(lambda: not view.cameras.is_centred, "a free camera")
    watched.press("c")
    until(lambda: view.cameras.is_centred, "a centred camera")


def test_keys_are_listed_on_the_page(watched: Watched) -> None:
    watched.show(spheres())
    watched.tab("Keys")
    for words in ("Play or pause", "Slow motion", "Centred or free camera", "Boxes along the axes"):
        watched.page.get_by_text(words).locator("visible=true").first.wait_for(timeout=1000 * PATIENCE)


def test_a_recording_is_scrubbed(watched: Watched, recorded: Path) -> None:
    """F-001-33, F-001-34: the slider, the keys of the original, and pixels that follow."""
    view = watched.show(RecordingView(Recording(recorded)))
    time.sleep(1.0)
    first = watched.picture()
    field = watched.page.locator("input[value='0']:visible").first
    field.fill("40")
    watched.page.keyboard.press("Enter")
    until(lambda: view.replay.frame == 40, "frame 40")
    until(watched.differs(first), "another picture")
    for key, frame in (
        ("ArrowRight", 100),
        ("ArrowLeft", 40),
        ("f", 41),
        ("b", 40),
        ("ArrowDown", 100),
        ("ArrowUp", 0),
    ):
        watched.press(key)
        until(lambda frame=frame: view.replay.frame == frame, f"frame {frame}")  # type: ignore[misc]


def test_two_tabs_show_the_same_and_closing_one_harms_nothing(watched: Watched) -> None:
    view = watched.show(spheres())
    other = watched.new_tab()
    other.get_by_role("button", name="Play").click()
    until(lambda: view.run.frame > 5, "frames")
    watched.page.get_by_role("button", name="Pause").wait_for(timeout=1000 * PATIENCE)
    other.close()
    frame = view.run.frame
    until(lambda: view.run.frame > frame + 5, "frames after the tab was closed")
    until(lambda: len(watched.studio.server.get_clients()) == 1, "the tab to be gone")
    watched.studio.ask(view.pause)


def test_no_errors_and_no_request_that_leaves_the_machine(watched: Watched) -> None:
    """The last of the module: what all that came before has met."""
    # viser applies the updates of a batch after its removals, and says so when a view that was just updated is left.
    assert [error for error in watched.errors if not error.startswith("Tried to update non-existent")] == []
    others = [url for url in watched.requests if not re.match(r"(data:|blob:)?(http|ws)://127\.0\.0\.1|data:", url)]
    assert others == []
