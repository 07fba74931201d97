"""``choque view``: what is served, printed and opened; tests/studio tests the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import pytest

from choque._core.progress import Line

if TYPE_CHECKING:
    from conftest import Command


class Served:
    """A studio that serves nothing, and is interrupted as soon as it runs."""

    made: list[Served]
    url = "http://127.0.0.1:8080"

    def __init__(self, host: str, port: int | None) -> None:
        self.address, self.shown, self.is_closed = (host, port), [], False
        Served.made.append(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.is_closed = True

    def open(self, view: Any) -> None:
        self.shown.append(view)

    def run(self) -> None:
        raise KeyboardInterrupt


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that were opened in a browser."""
    opened: list[str] = []
    Served.made = []
    monkeypatch.setattr("choque.studio.page.server.Studio", Served)
    monkeypatch.setattr("webbrowser.open", opened.append)
    return opened


def test_the_chooser_is_opened_in_a_browser(command: Command, pages: list[str]) -> None:
    said = command.succeeds("view")
    assert Served.url in said
    assert said.endswith("The studio has stopped.\n")
    assert pages == [Served.url]
    (studio,) = Served.made
    assert studio.address == ("127.0.0.1", None)
    assert studio.shown == [None]
    assert studio.is_closed


def test_other_hosts_are_allowed_only_on_request(command: Command, pages: list[str]) -> None:
    outcome = command("view", "--host", "0.0.0.0", "--port", "8123", "--no-browser")
    assert outcome.code == 0
    assert "Everyone with this address" in outcome.err
    assert pages == []
    assert Served.made[0].address == ("0.0.0.0", 8123)


def test_a_thing_is_found_with_its_study_and_options(
    command: Command, pages: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def find(things: list[str], *, study: str | None, parameters: dict[str, Any]) -> Any:
        return things, study, parameters

    told: list[str] = []
    monkeypatch.setattr(Line, "listeners", [told.append])
    monkeypatch.setattr("choque.studio.page.entries.find_view", find)
    command.succeeds("view", "gas:20", "--study", "bodies", "--option", "seed=3", "--no-browser")
    assert told == ["Opening gas:20 …", ""], "what is read may be large"
    assert Served.made[0].shown == [(["gas:20"], "bodies", {"seed": 3})]
