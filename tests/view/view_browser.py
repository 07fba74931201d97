"""A real browser for tests of views: headless Chromium that tells of errors and of requests that leave the machine."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)
PATIENCE = 60.0
"""Seconds: the picture is computed without a graphics card, beside all else that runs."""


@contextmanager
def open_page(url: str) -> Iterator[Any]:
    """A page of a browser at ``url``; fails at the end if it complained or asked for anything elsewhere."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed (Debian: apt-get install chromium)")
    complaints: list[str] = []
    with playwright.sync_playwright() as session:
        browser = session.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--enable-unsafe-swiftshader"]
        )
        page = browser.new_page(viewport={"width": 1240, "height": 620})
        page.set_default_timeout(PATIENCE * 1000)
        page.on("console", lambda message: message.type == "error" and complaints.append(message.text))
        page.on("pageerror", lambda problem: complaints.append(str(problem)))
        page.on("request", lambda request: _is_local(request.url) or complaints.append(f"left for {request.url}"))
        page.goto(url)
        page.get_by_role("tab").first.wait_for()
        yield page
        browser.close()
    assert complaints == []


def eventually(question: Callable[[], Any], what: str) -> Any:
    """The answer once it is true."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = question()
        if found:
            return found
        time.sleep(0.05)
    pytest.fail(f"{what} did not happen in {PATIENCE:g} s")


def choose_tab(page: Any, name: str) -> None:
    """Click on a tab."""
    box = page.get_by_role("tab", name=name, exact=True).bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def tick_box(page: Any, label: str) -> None:
    """Click on the checkbox that is seen with this label."""
    page.get_by_label(label, exact=True).locator("visible=true").first.dispatch_event("click")


def scene_pixels(page: Any) -> np.ndarray:
    """What the scene looks like between the panels: (height, width, 3)."""
    import io

    from PIL import Image

    shot = page.screenshot(clip={"x": 345, "y": 160, "width": 500, "height": 440}, timeout=PATIENCE * 1000)
    return np.asarray(Image.open(io.BytesIO(shot)).convert("RGB")).astype(int)


def _is_local(url: str) -> bool:
    return url.startswith(("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:"))
