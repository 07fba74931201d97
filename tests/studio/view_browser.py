"""A real browser for tests of views: one tab of headless Chromium that shows one view after the other.

Pictures are drawn in software here, so that all tests share one browser, one studio and one small tab, and look at few
pictures.
"""

from __future__ import annotations

import asyncio
import io
import re
import shutil
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from choque.studio.page.studio import Studio, View

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)
SIZE = {"width": 1000, "height": 560}
SCENE = {"y": 170, "height": 380}
"""What is looked at of the scene between the panels: below notifications."""

PATIENCE = 300.0
"""Seconds: pictures are computed without a graphics card, beside all else that runs."""

LATE_UPDATE = "Tried to update non-existent component"
"""viser applies the updates of a batch after its removals: a panel that is brought up to date just before its view is
left is removed first, and then missed, on the console. Nothing is wrong with either."""


PASSIVE = "Unable to preventDefault inside passive event listener"
"""What viser says on the console when a body is dragged; the drag works."""


def in_own_loop(work: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine in a thread: the browser of other tests leaves a loop running in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


def until(condition: Callable[[], object], what: str) -> Any:
    """Wait for something to become true; gives what it is then."""
    deadline = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.03)
    return found


def until_seen(action: Callable[[], None], condition: Callable[[], object], what: str) -> None:
    """Repeat an action until it has its effect.

    A slow page can miss movements of the pointer, or mix typed digits with a number that it receives for the field.
    """

    def tried() -> bool:
        action()
        deadline = time.monotonic() + PATIENCE / 50
        while not condition() and time.monotonic() < deadline:
            time.sleep(0.03)
        return bool(condition())

    until(tried, what)


@contextmanager
def launched(*arguments: str) -> Iterator[Any]:
    """Headless Chromium that draws in software, or the reason why there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright, of the extra 'test', is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed (Debian: apt-get install chromium)")
    with playwright.sync_playwright() as session:
        yield Chromium(session, arguments or ("--enable-unsafe-swiftshader",))


class Chromium:
    """A browser, started when its first tab is opened; a second one, with other arguments, may run beside it."""

    def __init__(self, session: Any, arguments: tuple[str, ...]) -> None:
        self._session, self._arguments = session, arguments
        self.browser = self.launch(*arguments)

    def launch(self, *arguments: str) -> Any:
        """Another browser of the same session, with these arguments."""
        return self._session.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", *arguments])


class Watched:
    """A studio, a tab that shows it, and what the tab met."""

    def __init__(self, studio: Studio, chromium: Chromium) -> None:
        self.studio, self.chromium = studio, chromium
        self.complaints: list[str] = []
        self.page = self.new_tab()

    def new_tab(self, named: str = "") -> Any:
        """Open the studio in another tab, at an address with something after ``#``."""
        tabs = len(self.studio.server.get_clients())
        page = self.chromium.browser.new_page(viewport=SIZE)
        page.set_default_timeout(1000 * PATIENCE)
        page.on("console", lambda message: message.type == "error" and self._complain(message.text))
        page.on("pageerror", lambda problem: self._complain(str(problem)))
        page.on("request", lambda request: is_local(request.url) or self._complain(f"left for {request.url}"))
        page.goto(self.studio.url + named)
        until(lambda: len(self.studio.server.get_clients()) == tabs + 1, "the tab to connect")
        return page

    def show(self, view: View | None) -> Any:
        """Open a view and wait until the page has it."""
        self.studio.open(view)
        self.studio.ask(lambda: None)
        assert self.studio.view is not None
        self.page.get_by_text(self.studio.view.title).locator("visible=true").first.wait_for()
        return self.studio.view

    def tab(self, label: str) -> None:
        """Click on a tab of a panel."""
        self.page.get_by_role("tab", name=label, exact=True).click()

    def press(self, key: str) -> None:
        """Press a key while no field is being written in."""
        self.page.evaluate("document.activeElement.blur()")
        self.page.keyboard.press(key)

    def choose(self, label: str, option: str) -> None:
        """Take an option of a dropdown."""
        self.page.get_by_label(label, exact=True).first.click()
        self.page.get_by_role("option", name=option, exact=True).locator("visible=true").first.click()

    def write(self, label: str, number: float) -> None:
        """Write a number into the field of a slider, or of a field of its own."""
        name = self.page.locator("label:visible").filter(has_text=re.compile(f"^{re.escape(label)}$")).first
        field = name.locator("xpath=ancestor::div[2]").locator("input:visible").last
        field.fill(f"{number:g}")
        field.press("Enter")

    def drag(self, grip: np.ndarray, goal: np.ndarray, progress: Callable[[], object] = lambda: None) -> None:
        """Drag with the left button from one pixel of the page to another.

        The pointer waits a little after each movement, longer until ``progress`` returns something else than before.
        """
        self.page.mouse.move(*grip)
        self.page.wait_for_timeout(500)  # the page must see the pointer over a handle before it is pressed
        self.page.mouse.down()
        for share in np.linspace(0.1, 1.0, 8):
            before, waits = progress(), 0
            self.page.mouse.move(*(grip + share * (goal - grip)))
            while waits == 0 or (before is not None and progress() == before and waits < 10):
                self.page.wait_for_timeout(60)
                waits += 1
        self.page.mouse.up()

    def tick_box(self, label: str) -> None:
        """Click on the checkbox that is seen with this label."""
        self.page.get_by_label(label, exact=True).locator("visible=true").first.dispatch_event("click")

    def saved_picture(self) -> tuple[str, np.ndarray]:
        """Press the button that saves a picture: the name of the file, and its pixels."""
        with self.page.expect_download() as download:
            self.page.get_by_role("button", name="Save a picture").dispatch_event("click")
        return download.value.suggested_filename, pixels(download.value.path().read_bytes())

    def close_notifications(self) -> None:
        """Close what covers the scene: each file that was received is announced, and a fast machine saves several."""

        def close() -> bool:
            count: int = self.page.evaluate(
                "() => {"
                " const shown = document.querySelectorAll('.mantine-Notification-closeButton');"
                " shown.forEach(button => button.click());"
                " return shown.length; }"
            )
            return count == 0

        until(close, "the notifications to go")

    def pixel_of(self, point: np.ndarray, up: tuple[float, float, float]) -> np.ndarray:
        """Where a point of the scene is on the page."""
        (client,) = self.studio.server.get_clients().values()
        camera, box = client.camera, self.page.locator("canvas").first.bounding_box()
        ahead = camera.look_at - camera.position
        ahead = ahead / np.linalg.norm(ahead)
        right = np.cross(ahead, up)
        right = right / np.linalg.norm(right)
        away = point - camera.position
        scale = box["height"] / 2 / np.tan(camera.fov / 2) / (away @ ahead)
        middle = np.array([box["x"] + box["width"] / 2, box["y"] + box["height"] / 2])
        return middle + scale * np.array([away @ right, -(away @ np.cross(right, ahead))])

    def move_camera_again(self) -> None:
        """Move the camera of the tab by a thousandth of its distance, so that the tab reports where it is.

        An order to the tab and a report from it may cross on a busy machine, and the studio then takes the camera to be
        where it was before.
        """
        (client,) = self.studio.server.get_clients().values()
        target, place = np.array(client.camera.look_at), np.array(client.camera.position)
        client.camera.position = target + 1.001 * (place - target)
        client.camera.look_at = target

    def picture(self) -> np.ndarray:
        """What is seen between the panels: (height, width, 3)."""
        box = self.page.locator("canvas").first.bounding_box()
        clip = {"x": box["x"], "width": box["width"], **SCENE}
        return pixels(self.page.screenshot(clip=clip, timeout=1000 * PATIENCE))

    def differs(self, before: np.ndarray, count: int = 20) -> Callable[[], bool]:
        """Return a condition: the picture differs from an earlier one in some pixels."""
        return lambda: int((np.abs(self.picture() - before).max(axis=2) > 24).sum()) >= count

    def still(self) -> np.ndarray:
        """Return the picture once it no longer changes, some frames after an action."""
        pictures = [self.picture()]

        def is_still() -> bool:
            pictures.append(self.picture())
            return np.array_equal(*pictures[-2:])

        until(is_still, "a picture that stays")
        return pictures[-1]

    def _complain(self, words: str) -> None:
        if not words.startswith((LATE_UPDATE, PASSIVE)):
            self.complaints.append(words)


def pixels(data: bytes) -> np.ndarray:
    """The colours of an image file: (height, width, 3)."""
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"), np.int16)


def is_local(url: str) -> bool:
    """Return whether a request stays on this machine."""
    return re.match(r"(data:|blob:)|(http|ws)://127\.0\.0\.1[:/]", url) is not None
