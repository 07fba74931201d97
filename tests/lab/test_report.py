"""The report in a real browser: it opens from disk, loads nothing from the network, and shows its figures."""

from __future__ import annotations

import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from choque.lab import Result

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)


@pytest.fixture(scope="module")
def seen(finished: Result) -> dict[str, Any]:
    """What a browser met when it opened the report of the planted study."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright, of the extra 'test', is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed (Debian: apt-get install chromium)")
    # In a thread of its own: a browser that other tests share keeps an event loop running in this one.
    with ThreadPoolExecutor(1) as aside:
        return aside.submit(_visited, playwright, (finished.folder / "report.html").as_uri()).result()


def _visited(playwright: Any, address: str) -> dict[str, Any]:
    met: dict[str, Any] = {"console": [], "requests": [], "errors": []}
    with playwright.sync_playwright() as session:
        browser = session.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        page.on("console", lambda message: met["console"].append(message.text))
        page.on("pageerror", lambda problem: met["errors"].append(str(problem)))
        page.on("request", lambda request: met["requests"].append(request.url))
        page.goto(address)
        met["pictures"] = page.evaluate(
            "[...document.images].map(each => [each.alt, each.complete, each.naturalWidth])"
        )
        met["width"] = page.evaluate("document.documentElement.scrollWidth")
        met["text"] = page.inner_text("body")
        browser.close()
    return met


def test_it_opens_without_errors_and_without_requests(seen: dict[str, Any], finished: Result) -> None:
    assert seen["console"] == []
    assert seen["errors"] == []
    others = [url for url in seen["requests"] if not url.startswith("data:")]
    assert others == [(finished.folder / "report.html").as_uri()]


def test_its_pictures_are_there(seen: dict[str, Any], finished: Result) -> None:
    assert [alt for alt, _, _ in seen["pictures"]] == [each.title for each in finished.study.figures]
    assert all(complete and width > 200 for _, complete, width in seen["pictures"])
    for figure in finished.study.figures:
        assert (finished.folder / "figures" / f"{figure.name}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (finished.folder / "figures" / f"{figure.name}.svg").read_text(encoding="utf-8")


def test_it_says_what_a_reader_needs(seen: dict[str, Any], finished: Result) -> None:
    text = " ".join(seen["text"].split())
    assert finished.study.title in text
    assert "slow takes three times as long as fast" in text
    assert "confirmed" in text
    assert "4 cells have no rank" in text
    assert str(finished.record["machine"]["processor"]) in text
    assert seen["width"] <= 1200


def test_the_page_holds_no_address_of_another_page(finished: Result) -> None:
    page = (finished.folder / "report.html").read_text(encoding="utf-8")
    outside = re.sub(r"data:image/svg\+xml;base64,[A-Za-z0-9+/=]+", "data:", page)
    assert not re.findall(r"""(?:src|href)=["'](?!#|data:)""", outside)
    assert "http" not in outside.replace("http-equiv", "")


def test_a_figure_is_the_same_text_for_the_same_samples(finished: Result) -> None:
    from choque.lab.style import figure_style, to_svg

    maker = finished.study.figures[0]
    with figure_style():
        figure = maker.draw(finished)
    assert to_svg(figure) == (finished.folder / "figures" / f"{maker.name}.svg").read_text(encoding="utf-8")
