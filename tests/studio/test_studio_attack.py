"""The studio under attack: foreign pages and hosts, tokens, floods, nonsense in controls, dropped connections."""

from __future__ import annotations

import asyncio
import http.client
import socket
import struct
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("viser", reason="viser, of the extra 'view', is not installed")

import viser
from view_browser import in_own_loop
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

import choque
from choque.studio.motion.view import MotionView
from choque.studio.page import server as studio_server
from choque.studio.page.chooser import MAX_COUNT, Chooser
from choque.studio.page.clearance import clearance_view
from choque.studio.page.entries import view_of
from choque.studio.page.http import Gate, is_loopback
from choque.studio.page.page import Html
from choque.studio.page.recording import RecordingView
from choque.studio.page.studio import Studio, open_studio
from choque.studio.page.view import View
from choque.studio.page.world import WorldView
from choque.studio.volumes.pair import VolumePair
from choque.studio.volumes.source import VolumeSource
from choque.studio.volumes.view import VolumeView
from choque.theses.kinetic import scenes
from choque.world import World


@pytest.fixture(scope="module")
def studio() -> Iterator[Studio]:
    with open_studio() as made:
        made.ask(lambda: None)
        yield made


def status(studio: Studio, path: str = "/", **headers: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", studio.port, timeout=300)
    connection.putrequest("GET", path, skip_host=True)
    for name, value in {"Host": f"127.0.0.1:{studio.port}", **headers}.items():
        connection.putheader(name.replace("_", "-"), value)
    connection.endheaders()
    found = connection.getresponse()
    found.read()
    connection.close()
    return found.status


def websocket_status(studio: Studio, origin: str | None, path: str = "", name: str | None = None) -> int:
    """The status of a refused websocket, or 101."""

    async def knock() -> int:
        protocol: Any = f"viser-v{viser.__version__}"
        address = f"ws://{name or f'127.0.0.1:{studio.port}'}/{path}"
        try:
            async with connect(
                address,
                origin=origin,
                subprotocols=[protocol],
                host="127.0.0.1",
                port=studio.port,
                max_size=None,  # type: ignore[arg-type]
            ) as made:
                await made.recv()
                return 101
        except InvalidStatus as problem:
            return problem.response.status_code

    return in_own_loop(knock())


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1:{port}", 200),
        ("localhost:{port}", 200),
        ("LOCALHOST", 200),
        ("[::1]:{port}", 200),
        ("localhost:9999", 200),  # a tunnel from another port
        ("evil.example:{port}", 403),
        ("127.0.0.1.evil.example", 403),
        ("localhost@evil.example", 403),
        ("evil.example@localhost", 403),
        ("192.0.2.1:{port}", 403),
        ("", 403),
        ("[", 403),
    ],
)
def test_a_foreign_host_is_refused(studio: Studio, host: str, expected: int) -> None:
    assert status(studio, Host=host.format(port=studio.port)) == expected


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        (None, 101),
        ("http://127.0.0.1:{port}", 101),
        ("http://evil.example", 403),
        ("http://localhost:{port}", 403),  # another origin than the host that was requested
        ("http://127.0.0.1:1", 403),
        ("http://127.0.0.1:{port}.evil.example", 403),
        ("null", 403),
    ],
)
def test_a_page_of_another_origin_cannot_connect(studio: Studio, origin: str | None, expected: int) -> None:
    given = None if origin is None else origin.format(port=studio.port)
    assert websocket_status(studio, given) == expected


def test_a_page_of_another_site_cannot_have_pictures_drawn(studio: Studio) -> None:
    assert status(studio, "/picture.png", Sec_Fetch_Site="cross-site", Sec_Fetch_Dest="image") == 403
    assert status(studio, "/", Sec_Fetch_Site="cross-site", Sec_Fetch_Dest="iframe") == 200


def test_only_notebooks_of_this_machine_can_frame_the_page(studio: Studio) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", studio.port, timeout=300)
    connection.request("GET", "/")
    found = connection.getresponse()
    found.read()
    connection.close()
    assert "frame-ancestors 'self' http://localhost:*" in found.headers["Content-Security-Policy"]


def test_any_but_a_loopback_address_needs_a_token() -> None:
    with open_studio(host="0.0.0.0") as studio:
        studio.ask(lambda: None)
        token = studio.url.rstrip("/").rpartition("/")[2]
        assert len(token) >= 20
        assert status(studio) == status(studio, "/guess/") == status(studio, "/picture.png") == 403
        assert status(studio, f"/{token}/") == 200
        assert status(studio, f"/?{token}/") == status(studio, f"/guess/{token}/") == 403
        assert status(studio, f"/{token}") == 302
        assert websocket_status(studio, None) == 403
        assert websocket_status(studio, None, token) == 101
        assert websocket_status(studio, "http://evil.example", token) == 403


def test_who_knows_the_token_may_come_by_the_name_of_a_proxy(studio: Studio) -> None:
    token = studio._gate.token
    assert status(studio, f"/{token}/", Host="hub.example") == 200
    assert status(studio, "/guess/", Host="hub.example") == 403
    assert websocket_status(studio, "https://hub.example", token, "hub.example") == 101
    assert websocket_status(studio, "https://evil.example", token, "hub.example") == 403


def test_pages_of_any_origin_learn_only_whether_they_know_the_token(studio: Studio) -> None:
    foreign = {"Origin": "http://evil.example", "Sec_Fetch_Site": "cross-site", "Sec_Fetch_Dest": "empty"}
    assert status(studio, f"/{studio._gate.token}/here", **foreign) == 200
    assert status(studio, f"/{studio._gate.token}/picture.png", **foreign) == 403
    assert status(studio, "/guess/here", **foreign) == status(studio, "/here", **foreign) == 403


def test_tokens_differ_and_loopback_needs_none() -> None:
    assert Gate("192.0.2.7").token != Gate("192.0.2.7").token
    assert Gate("127.0.0.1").path == Gate("::1").path == Gate("localhost").path == "/"
    assert is_loopback("127.8.8.8")
    assert not is_loopback("localhost.evil.example")


class Tab:
    """Sets controls as a tab does, by viser's own handler of messages."""

    def __init__(self, studio: Studio) -> None:
        self.studio = studio
        self.server: Any = studio.server
        self.calls: list[Future[Any]] = []

    def send(self, control: Any, **updates: Any) -> None:
        from viser import _messages

        message = _messages.GuiUpdateMessage(control._impl.uuid, updates)
        sockets = self.server._websock_server
        loop = sockets._background_event_loop
        asyncio.run_coroutine_threadsafe(sockets._handle_incoming_message(self.client_id, message), loop).result(300)

    @property
    def client_id(self) -> int:
        return next(iter(self.server.get_clients()))

    def settle(self) -> None:
        """Wait for what viser calls in threads of its own, and then for what that asks of the studio."""
        wait(self.calls)
        self.studio.ask(lambda: None)


@pytest.fixture
def tab(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> Tab:
    made = Tab(studio)

    class Client:
        client_id = 0

    monkeypatch.setattr(Tab, "client_id", 0)
    monkeypatch.setattr(studio.server.gui, "_resolve_client", lambda _: Client())
    executor = studio.server.gui._thread_executor
    submit = executor.submit

    def noted(*arguments: Any) -> Future[Any]:
        call = submit(*arguments)
        made.calls.append(call)
        return call

    monkeypatch.setattr(executor, "submit", noted)
    return made


def test_a_tab_cannot_name_a_file(studio: Studio, tab: Tab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(studio, "notify", lambda _, sentence, *__: said.append(sentence))
    secret = tmp_path / "secret.csv"
    secret.write_text("x_lower,y_lower,x_upper,y_upper\n1,alice,2,2\n")
    studio.open(None)
    tab.settle()
    assert isinstance(studio.view, Chooser)
    form = studio.view.forms["scene"]
    before = form.thing
    tab.send(form.choice, value=str(secret))
    tab.settle()
    assert form.thing == form.choice.value == before
    assert "alice" not in "".join(said)
    assert "There is no choice called" in said[0]


def test_a_tab_cannot_have_any_number_of_bodies_made(studio: Studio, tab: Tab) -> None:
    studio.open(None)
    tab.settle()
    assert isinstance(studio.view, Chooser)
    form = studio.view.forms["generator"]
    field = next(child for child in form._fields._children.values() if child.label == "bodies")
    for value in (10_000_000, -1e400, float("nan")):
        tab.send(field, value=value)
        tab.settle()
        assert form.values["n"] <= MAX_COUNT
        assert field.value == form.values["n"]


def test_a_refused_word_leaves_the_view_running(studio: Studio, tab: Tab) -> None:
    world = World()
    world.add_spheres(position=[[0, 0, 0], [0.5, 0, 0]])
    view = WorldView(world)
    studio.open(view)
    tab.settle()
    for value in ("no such colouring", "x" * 100_000, "scene\x00"):
        tab.send(view.color_choice, value=value)
        tab.settle()
    assert view.coloring == view.color_choice.value == "collisions"
    tab.send(view.color_choice, update_cb="gone")
    tab.send(view.color_choice, removed=True)
    tab.send(view.color_choice, value="contact")
    tab.settle()
    assert view.coloring == "contact"


def test_a_flood_of_values_waits_as_one_action(studio: Studio, tab: Tab) -> None:
    world = World()
    world.add_spheres(position=[[0, 0, 0]])
    view = WorldView(world)
    studio.open(view)
    tab.settle()
    release = threading.Event()
    studio.do(release.wait)  # or the studio does some of them meanwhile, and takes as many more
    try:
        for number in range(3000):
            tab.send(view._pick_number, value=number % 7)
        for _ in range(3 * studio_server.MAX_WAITING):
            studio.request(view.step)
        assert studio._actions.qsize() <= studio_server.MAX_WAITING + 10
    finally:
        release.set()
    studio.ask(lambda: None, timeout=300.0)
    assert studio_server.MAX_WAITING - 10 <= world.frame <= studio_server.MAX_WAITING


def test_tabs_that_stall_or_flood_do_not_stop_others(studio: Studio) -> None:
    """One tab never reads, one sends nonsense as fast as it can, 20 others get every picture of a run that plays."""
    world = World("brute")
    world.add_spheres(position=[[3.0 * k, 0, 0] for k in range(300)], velocity=(0, 1, 0))
    view = WorldView(world)
    studio.open(view)
    studio.ask(lambda: None)
    protocol: Any = f"viser-v{viser.__version__}"
    address = f"ws://127.0.0.1:{studio.port}"

    async def watch(counts: list[int], number: int) -> None:
        async with connect(address, subprotocols=[protocol], max_size=None, open_timeout=None) as tab:
            while True:
                await tab.recv()
                counts[number] += 1

    async def stall() -> None:
        made = await connect(address, subprotocols=[protocol], max_size=None, max_queue=1)
        made.transport.pause_reading()
        try:
            await asyncio.sleep(600)
        finally:
            made.transport.abort()
            await asyncio.sleep(0.1)  # until the socket is closed

    async def flood() -> None:
        while True:
            with suppress(Exception):
                async with connect(address, subprotocols=[protocol], max_size=None) as tab:
                    while True:
                        await tab.send(b"nonsense")
                        await asyncio.sleep(0)  # the others of this loop have their turn too
            await asyncio.sleep(0.05)

    async def all_at_once() -> list[int]:
        counts = [0] * 20
        tasks = [asyncio.create_task(work) for work in (stall(), *(watch(counts, k) for k in range(20)))]
        deadline = time.monotonic() + 300
        while not all(counts) and time.monotonic() < deadline:
            await asyncio.sleep(0.05)
        tasks.append(asyncio.create_task(flood()))
        studio.do(view.play)
        before = list(counts)
        while min(now - then for now, then in zip(counts, before, strict=True)) < 10 and time.monotonic() < deadline:
            await asyncio.sleep(0.05)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return [now - then for now, then in zip(counts, before, strict=True)]

    received = in_own_loop(all_at_once())
    studio.ask(view.pause)
    assert min(received) >= 10
    assert world.frame >= 10
    studio.open(None)


def test_a_dropped_connection_is_no_traceback(studio: Studio, capfd: pytest.CaptureFixture[str]) -> None:
    for words in (b"", b"GET / HT", b"\x16\x03\x01nonsense\r\n\r\n", b"POST / HTTP/1.1\r\n\r\n"):
        for _ in range(5):
            with socket.create_connection(("127.0.0.1", studio.port)) as dropped:
                dropped.sendall(words)
                # with a linger time of 0, closing sends a reset
                dropped.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    async def leave_early(message: bytes | str) -> None:
        protocol: Any = f"viser-v{viser.__version__}"
        made = await connect(f"ws://127.0.0.1:{studio.port}", subprotocols=[protocol], max_size=None)
        await made.send(message)
        await asyncio.sleep(0.1)
        made.transport.abort()

    for message in (b"\x00", b"not a message", "text", b"\x81\xa4type\xa7Nothing", b"x" * (2 << 20)):
        in_own_loop(leave_early(message))
    time.sleep(0.5)
    assert status(studio) == 200
    said = capfd.readouterr()
    assert "Traceback" not in said.out + said.err


NASTY = "<iframe srcdoc='<script>steer()</script>'></iframe>"


def nasty_recording(folder: Path) -> View:
    """A recording; its verdict, given by the test, holds words of its header."""
    world = World("brute")
    world.add_spheres([[0, 1, 0]])
    with choque.record.Recorder(folder / "a.choque", world) as recorder:
        recorder(world, world.step())
    view = view_of(folder / "a.choque")
    assert isinstance(view, RecordingView)
    return view


@pytest.mark.parametrize("kind", ["recording", "volumes", "motion", "clearance"])
def test_words_of_files_are_shown_as_words(studio: Studio, kind: str, tmp_path: Path) -> None:
    said: list[str] = []
    if kind == "recording":
        view = nasty_recording(tmp_path)
    elif kind == "volumes":
        ball = choque.Volume.read("ball:8")
        view = VolumeView(VolumePair(*(VolumeSource(NASTY, model=ball) for _ in range(2))))
    elif kind == "motion":
        view = MotionView(replace(scenes.make("three-objects"), name=NASTY))
    else:
        part = choque.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
        view = clearance_view(choque.Volume.read("ball:8"), part, (NASTY, NASTY))
    gui = studio.server.gui
    with pytest.MonkeyPatch.context() as patch:
        for name in ("add_html", "add_markdown"):
            add = getattr(gui, name)
            patch.setattr(gui, name, lambda content, *given, add=add: said.append(content) or add(content, *given))
        studio.open(view)
        for _ in range(2):  # the second time after a tick
            studio.ask(lambda: None)
    if isinstance(view, RecordingView):
        studio.ask(lambda: view._show_verdict(f"It was recorded with {NASTY}."))
        said.append(view._verdict_text.content)
    else:
        said.extend(panel.content for panel in vars(view).values() if isinstance(panel, Html))
    studio.open(None)
    assert any("srcdoc" in each for each in said)
    assert not any("<iframe" in each or "<script" in each for each in said)
