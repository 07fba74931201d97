"""Addresses, ports and the HTTP responses of the studio: its page, and a picture of the view.

viser needs WebGL: without it its page stays empty. The page of the studio adds a notice for such browsers that says
what to do, with a picture of the view that the studio draws itself.
"""

from __future__ import annotations

import asyncio
import gzip
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from http import HTTPStatus
from pathlib import Path
from typing import Any

from choque.errors import ChoqueError, InvalidInput

HOST = "127.0.0.1"
"""The default address, reachable from this machine only."""

PORT = 8080
"""The first port that is tried."""

PORTS_TRIED = 100

PICTURE_PATH = "/picture.png"

PICTURE_SIZE = (960, 540)

PATIENCE = 120.0
"""Maximum time to draw a picture before the connection is closed [s]."""

Answer = Callable[[str, bool], Awaitable[Any]]
"""Takes a path and whether the browser accepts gzip; returns a response, or None."""

NOTICE = """<script>
addEventListener("DOMContentLoaded", () => {
  if (document.createElement("canvas").getContext("webgl2")) return;
  const notice = document.createElement("div");
  notice.id = "choque-without-webgl";
  notice.style = "position:fixed;inset:auto 0 0 0;max-height:80%;padding:1em 1.2em;overflow:auto;z-index:999;" +
    "background:#1d2433;color:#e8ecf3;font:15px/1.5 sans-serif;border-top:3px solid #4096ff";
  notice.innerHTML = `<b>The studio needs WebGL, which this browser does not have.</b> Switch on hardware
    acceleration in its settings, or open this address in another browser. Otherwise, here is
    <a href="PICTURE" style="color:#8cc0ff">a picture of the current view</a>; reload it for a new one.
    <code>choque picture</code> and <code>choque video</code> draw without a browser.
    <img src="PICTURE" alt="" onerror="this.remove()" style="display:block;max-width:100%;margin-top:0.8em">`;
  document.body.append(notice);
});
</script>""".replace("PICTURE", PICTURE_PATH)


@contextmanager
def answered_first(answer: Answer) -> Iterator[None]:
    """Give websocket servers that start in this block ``answer`` as the first handler of HTTP requests."""
    from websockets.asyncio import server as sockets

    serve: Any = sockets.serve

    def serve_more(*given: Any, process_request: Any = None, **options: Any) -> Any:
        async def process(connection: Any, request: Any) -> Any:
            if request.headers.get("Upgrade") != "websocket":
                path = request.path.partition("?")[0]
                found = await answer(path, "gzip" in request.headers.get("Accept-Encoding", ""))
                if found is not None:
                    return found
            return None if process_request is None else process_request(connection, request)

        return serve(*given, process_request=process, **{**options, "open_timeout": PATIENCE})

    sockets.serve = serve_more  # type: ignore[assignment, misc]
    try:
        yield
    finally:
        sockets.serve = serve  # type: ignore[misc]


def answering(draw: Callable[[tuple[int, int]], bytes]) -> Answer:
    """Return a handler of the page and its picture; ``draw`` makes a PNG of a size, or raises a `ChoqueError`."""

    async def answer(path: str, unpacks: bool) -> Any:
        if path in ("/", "/index.html"):
            content = _page(unpacks)
            return _response(HTTPStatus.OK, "text/html; charset=utf-8", content, "gzip" if unpacks else "identity")
        if path != PICTURE_PATH:
            return None
        try:
            image = await asyncio.get_running_loop().run_in_executor(None, draw, PICTURE_SIZE)
        except ChoqueError as problem:
            return _response(HTTPStatus.NOT_FOUND, "text/plain; charset=utf-8", str(problem).encode())
        return _response(HTTPStatus.OK, "image/png", image)

    return answer


@lru_cache(maxsize=2)
def _page(packed: bool) -> bytes:
    """Return the page of viser with the notice at the end of its head."""
    import viser

    source = (Path(viser.__file__).parent / "client" / "build" / "index.html").read_text(encoding="utf-8")
    head, end, rest = source.partition("</head>")
    content = (head + NOTICE + end + rest).encode()
    return gzip.compress(content, 6) if packed else content


def _response(status: HTTPStatus, kind: str, content: bytes, encoding: str = "identity") -> Any:
    from websockets.datastructures import Headers
    from websockets.http11 import Response

    headers = Headers(
        {
            "Content-Type": kind,
            "Content-Length": str(len(content)),
            "Content-Encoding": encoding,
            "Cache-Control": "no-store",
        }
    )
    return Response(int(status), status.phrase, headers, content)


def free_port(host: str, port: int | None) -> int:
    """Return ``port`` if it is free on ``host``; for None, the first free one from `PORT` on."""
    if not isinstance(host, str):
        raise InvalidInput(f"The host is {host!r}; it must be an address as text, such as '127.0.0.1'.")
    if port is not None:
        if isinstance(port, bool) or not isinstance(port, int) or not 0 < port < 65536:
            raise InvalidInput(f"The port is {port!r}; it must be a whole number from 1 to 65535.")
        problem = _binding_problem(host, port)
        if problem is None:
            return port
        raise InvalidInput(
            f"The studio cannot listen on {host}:{port}: {problem}. Give another port, or none for the first free one."
        )
    problem = None
    for candidate in range(PORT, PORT + PORTS_TRIED):
        problem = _binding_problem(host, candidate)
        if problem is None:
            return candidate
    raise InvalidInput(
        f"The studio cannot listen on {host}, ports {PORT} to {PORT + PORTS_TRIED - 1}: {problem}. Give another host "
        "or a port."
    )


def _binding_problem(host: str, port: int) -> str | None:
    """Return why the port cannot be used, or None if it can."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(address)
    except (OSError, UnicodeError, OverflowError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        return reason[:1].lower() + reason[1:]
    return None
