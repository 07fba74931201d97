"""The studio without a browser: its thread, its address, its errors."""

from __future__ import annotations

import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("viser", reason="viser, of the extra 'view', is not installed")

from choque import cli
from choque.errors import InvalidInput, MissingExtra, UnknownName
from choque.studio.page import server as studio_server
from choque.studio.page.chooser import Chooser
from choque.studio.page.studio import ENTRIES, Page, Studio, View, find_view, open_studio, show
from choque.studio.page.world import WorldView
from choque.world import World


class Counting(View):
    """Counts what happens to it."""

    title = "Counting"

    def __init__(self, wait: float | None = None, problem: Exception | None = None) -> None:
        self.wait, self.problem = wait, problem
        self.ticks, self.threads, self.is_open = 0, set[int](), False

    def open(self, page: Page) -> None:
        self.page = page
        page.key("Z", "Nothing", lambda: None)
        if self.problem is not None:
            raise self.problem
        self.is_open = True

    def tick(self) -> float | None:
        self.ticks += 1
        self.threads.add(threading.get_ident())
        return self.wait

    def close(self) -> None:
        self.is_open = False


@pytest.fixture
def studio() -> Iterator[Studio]:
    with open_studio(Counting()) as made:
        made.ask(lambda: None)
        yield made


def test_an_idle_view_is_not_ticked(studio: Studio) -> None:
    before = studio.view.ticks  # type: ignore[union-attr]
    time.sleep(0.3)
    assert studio.view.ticks == before  # type: ignore[union-attr]


def test_a_view_runs_in_one_thread(studio: Studio) -> None:
    made = Counting(0.01)
    studio.open(made)
    identity = studio.ask(threading.get_ident)
    deadline = time.monotonic() + 300
    while made.ticks < 5 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert made.ticks >= 5
    assert made.threads == {identity}
    assert identity != threading.get_ident()


def test_another_view_closes_the_one_before(studio: Studio) -> None:
    first, second = studio.view, Counting()
    studio.open(second)
    studio.ask(lambda: None)
    assert isinstance(first, Counting)
    assert not first.is_open
    assert studio.view is second
    assert second.is_open


def test_errors_in_actions_are_shown_and_the_studio_goes_on(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    report: list[str] = []
    monkeypatch.setattr(studio, "notify", lambda *words: report.append(words[1]))

    def fail() -> None:
        raise InvalidInput("No such thing.")

    studio.do(fail)
    assert studio.ask(lambda: 7) == 7
    assert report == ["No such thing."]


class Left(Counting):
    """Left by the studio while it handles a camera."""

    def __init__(self, studio: Studio, is_left: bool) -> None:
        super().__init__()
        self.studio, self.is_left = studio, is_left

    def open(self, page: Page) -> None:
        super().open(page)
        with page.bottom_panel("Timeline"):
            pass

    def camera_moved(self, client: Any) -> None:
        if self.is_left:
            self.studio.ask(lambda: self.studio.show(Counting()))
        else:
            self.page._bottom.remove()
        self.page.fit_panels(client.camera.image_width)


@pytest.mark.parametrize("is_left", [True, False])
def test_a_tab_that_connects_while_the_view_is_replaced_meets_no_error(studio: Studio, is_left: bool) -> None:
    studio.open(Left(studio, is_left))
    studio.ask(lambda: None)
    tab = SimpleNamespace(camera=SimpleNamespace(on_update=lambda _: None, image_width=700))
    with nullcontext() if is_left else pytest.raises(RuntimeError, match="removed"):
        studio._greet(tab)


def test_a_studio_that_does_not_answer_is_reported() -> None:
    with open_studio(Counting()) as made:
        made.ask(lambda: None)
        release = threading.Event()
        made.do(release.wait)
        with pytest.raises(InvalidInput, match=r"has not answered for 0\.05 s"):
            made.ask(lambda: None, timeout=0.05)
        release.set()
        assert made.ask(lambda: 7) == 7
    with pytest.raises(InvalidInput, match="stopped; open another"):
        made.ask(lambda: None)


def test_a_studio_that_is_stopped_while_it_is_busy_leaves_the_page_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """An action that takes longer than the server waits must not use it afterwards."""
    monkeypatch.setattr(studio_server, "CLOSING_SECONDS", 0.05)
    view, release = Counting(), threading.Event()
    made = open_studio(view)
    made.ask(lambda: None)
    made.do(release.wait)
    made.stop()
    thread = made._thread
    assert thread is not None
    assert thread.is_alive()
    monkeypatch.setattr(made.server.scene, "reset", lambda: pytest.fail("The page is gone."))
    release.set()
    thread.join(timeout=300)
    assert not thread.is_alive()
    assert not view.is_open


def test_a_view_that_cannot_be_opened_leads_to_the_chooser(studio: Studio) -> None:
    studio.open(Counting(problem=InvalidInput("It is broken.")))
    studio.ask(lambda: None)
    assert isinstance(studio.view, Chooser)


def test_it_is_reachable_from_this_machine_only(studio: Studio) -> None:
    assert studio.url.startswith("http://127.0.0.1:")
    with socket.create_connection(("127.0.0.1", studio.port), timeout=5):
        pass
    others = [info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)]
    for address in {str(other) for other in others if not str(other).startswith("127.")}:
        with pytest.raises(OSError), socket.create_connection((address, studio.port), timeout=5):
            pass


def test_a_public_address_cannot_be_requested(studio: Studio) -> None:
    from viser import _messages

    assert _messages.ShareUrlRequest not in studio.server._websock_server._incoming_handlers


def test_a_port_in_use_is_refused_and_none_finds_another(studio: Studio) -> None:
    with pytest.raises(InvalidInput, match=rf"cannot listen on 127.0.0.1:{studio.port}: address already in use"):
        Studio(port=studio.port)
    with open_studio(Counting()) as other:
        assert other.port != studio.port


@pytest.mark.parametrize("port", [0, -1, 70_000, True, "80"])
def test_invalid_ports_are_refused(port: Any) -> None:
    with pytest.raises(InvalidInput, match="from 1 to 65535"):
        Studio(port=port)


def test_an_unknown_host_is_refused() -> None:
    with pytest.raises(InvalidInput, match="host is 5; it must be an address as text"):
        Studio(5)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match=r"cannot listen on 192\.0\.2\.1"):
        Studio("192.0.2.1", 8080)


def test_without_viser_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(MissingExtra, match=r"choque\[view\]"):
        Studio()


def test_show_takes_what_is_in_memory_and_a_notebook_frames_the_page() -> None:
    world = World()
    world.add_spheres([[0, 0, 0]])
    with show(world, browser=False, wait=False) as studio:
        studio.ask(lambda: None)
        assert isinstance(studio.view, WorldView)
        assert studio.view.run.world is world
        assert f"127.0.0.1:{studio.port}/" in studio._repr_html_()
    with pytest.raises(InvalidInput, match="type list was given"):
        show([])


def test_show_opens_a_browser_prints_the_address_and_waits_in_a_script(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: list[str] = []

    def stop_soon(self: Studio) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr(Studio, "wait", stop_soon)
    world = World()
    world.add_spheres([[0, 0, 0]])
    studio = show(world)
    assert opened == [studio.url]
    assert f"The studio is at {studio.url}" in capsys.readouterr().out
    with pytest.raises(InvalidInput, match="stopped"):
        studio.ask(lambda: None)
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    with show(world, browser=False) as studio:
        assert studio.ask(lambda: 7) == 7
    assert capsys.readouterr().out == ""
    assert show(world, browser=False, wait=True).url in capsys.readouterr().out
    assert len(opened) == 1


def test_every_entry_can_be_listed_and_its_first_thing_has_parameters() -> None:
    for name in ENTRIES:
        found = ENTRIES.find(name)
        things = found.things()
        assert found.title
        assert found.about.endswith(".")
        assert all(sentence for sentence in things.values())
        if found.parameters is not None:
            for thing in things:
                assert all(isinstance(value, bool | int | float | str) for value in found.parameters(thing).values())


@pytest.mark.parametrize(
    ("word", "problem"), [("bowlin", UnknownName), ("nothing.xml", InvalidInput), ("x.choque", InvalidInput)]
)
def test_missing_files_are_refused_before_there_is_a_page(word: str, problem: type[Exception]) -> None:
    with pytest.raises(problem):
        find_view([word])


def test_scenes_are_found_by_name_with_or_without_a_suffix() -> None:
    for word in ("bowling", "bowling.xml", "mixed-box:50"):
        view = find_view([word])
        assert isinstance(view, WorldView)
        assert view.title in word


def test_the_command_reports_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that is not a scene, a port in use: exit code 2 and one line."""
    broken = tmp_path / "broken.xml"
    broken.write_text("<config><unclosed></config>", encoding="utf-8")
    strange = tmp_path / "strange.xyz"
    strange.write_text("?", encoding="utf-8")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        for arguments in (
            [str(broken)],
            [str(strange)],
            ["gas:many"],
            ["--study", "nothing", "x"],
            ["--port", port, "--no-browser"],
            ["one-of-each", "--option", "speed=3"],
        ):
            assert cli.main(["view", *arguments]) == 2
            line = capsys.readouterr().err
            assert line.startswith("choque: "), line
            assert line.count("\n") == 1, line
