"""The studio in the output of a cell, with a browser that reaches it directly, by a proxy below a prefix, or not."""

from __future__ import annotations

import asyncio
import queue
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("viser", reason="viser, of the extra 'view', is not installed")

from view_browser import SIZE, until

import choque
from choque.studio.page.studio import Studio, show
from choque.studio.page.world import WorldView

if TYPE_CHECKING:
    from view_browser import Chromium

PREFIX = "/user/ana/"
NOTEBOOK = f'<!doctype html><script id="jupyter-config-data">{{"baseUrl": "{PREFIX}"}}</script>'


@contextmanager
def notebook_server(output: str, *, proxies: bool) -> Iterator[int]:
    """A server of a notebook with one output, with the proxy of jupyter-server-proxy or without; gives its port.

    The proxy passes every header on, ``Host`` and ``Origin`` included, as the real one does.
    """
    page = (NOTEBOOK + output).encode()

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        finally:
            writer.close()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError), closing(writer):
            head = await reader.readuntil(b"\r\n\r\n")
            proxied = re.match(rf"GET {PREFIX}proxy/(\d+)(\S*)".encode(), head)
            if proxied and proxies:
                there, to_studio = await asyncio.open_connection("127.0.0.1", int(proxied[1]))
                head = head.replace(proxied[0], b"GET " + proxied[2])
                if b"upgrade: websocket" not in head.lower():  # so that there is one request on each connection
                    head = re.sub(rb"(?i)connection: keep-alive", b"Connection: close", head)
                to_studio.write(head)
                await asyncio.gather(pass_on(reader, to_studio), pass_on(there, writer))
                return
            content = page if head.startswith(f"GET {PREFIX}lab".encode()) else b""
            status = "200 OK" if content else "404 Not Found"
            kind = "Connection: close\r\nContent-Type: text/html; charset=utf-8"
            writer.write(f"HTTP/1.1 {status}\r\n{kind}\r\nContent-Length: {len(content)}\r\n\r\n".encode() + content)
            await writer.drain()

    started: queue.SimpleQueue[tuple[int, Callable[[], object]]] = queue.SimpleQueue()

    async def serve() -> None:
        stop, loop = asyncio.Event(), asyncio.get_running_loop()
        async with await asyncio.start_server(handle, "127.0.0.1", 0) as server:
            started.put((server.sockets[0].getsockname()[1], lambda: loop.call_soon_threadsafe(stop.set)))
            await stop.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    port, stop = started.get(timeout=300)
    try:
        yield port
    finally:
        stop()
        thread.join()


@pytest.fixture(scope="module")
def studio() -> Iterator[Studio]:
    with show(choque.scene.read("cradle"), browser=False, wait=False) as made:
        made.ask(lambda: None)
        yield made


@pytest.mark.parametrize("host", ["127.0.0.1", "hub.localhost"], ids=["on this machine", "by the proxy"])
def test_the_studio_is_live_in_a_notebook(studio: Studio, chromium: Chromium, host: str) -> None:
    view = studio.view
    assert isinstance(view, WorldView)
    with notebook_server(studio._repr_html_(), proxies=True) as port:
        tab = chromium.browser.new_page(viewport=SIZE)
        try:
            tab.goto(f"http://{host}:{port}{PREFIX}lab")
            place = f"http://127.0.0.1:{studio.port}" if host == "127.0.0.1" else f"{host}:{port}{PREFIX}proxy"
            until(lambda: place in (tab.locator("iframe").get_attribute("src") or ""), "the live page")
            assert tab.locator("p").count() == 0
            before = view.run.frame
            tab.frame_locator("iframe").get_by_role("button", name="Play").dispatch_event("click")
            until(lambda: view.run.frame > before, "the run to go on")
            studio.ask(view.pause)
        finally:
            tab.close()


def test_a_notebook_that_cannot_reach_the_studio_shows_a_copy_and_says_what_to_install(
    studio: Studio, chromium: Chromium
) -> None:
    with notebook_server(studio._repr_html_(), proxies=False) as port:
        tab = chromium.browser.new_page(viewport=SIZE)
        try:
            tab.goto(f"http://hub.localhost:{port}{PREFIX}lab")
            until(lambda: "pip install jupyter-server-proxy" in tab.locator("p").inner_text(), "the sentence")
            tab.frame_locator("iframe").locator("canvas").first.wait_for()
            assert tab.locator("iframe").get_attribute("src") is None
        finally:
            tab.close()
