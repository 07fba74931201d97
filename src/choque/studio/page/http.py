"""Addresses, ports and the HTTP responses of the studio: who may connect, its page, and a picture of the view.

A web page of another site must not read or control the studio, though the browser that shows it can reach this machine:
requests with a foreign ``Host`` or ``Origin`` are refused, and a client that connects by any but a loopback address
needs the token, the first part of the path (`Gate`). All addresses in the page are relative, so that it works below a
proxy too, such as that of a notebook server.

viser needs WebGL: without it its page stays empty. The page of the studio adds a notice for such browsers that says
what to do, with a picture of the view that the studio draws itself. Where the browser draws in software, viser's notice
about it would cover a fifth of the scene until it is closed: here it is one line that goes away by itself.
"""

from __future__ import annotations

import asyncio
import gzip
import hmac
import logging
import re
import secrets
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from html import escape
from http import HTTPStatus
from ipaddress import ip_address
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from choque._core import check
from choque.errors import ChoqueError, InvalidInput

HOST = "127.0.0.1"
"""The default address, reachable from this machine only."""

PORT = 8080
"""The first port that is tried."""

PORTS_TRIED = 100

PICTURE_PATH = "picture.png"

THUMBNAILS_PATH = "thumbnails/"

HERE_PATH = "here"
"""Answered to pages of any origin that know the token: how a notebook finds out whether it reaches the studio."""

PICTURE_SIZE = (960, 540)

KEPT_SECONDS = 600
"""How long a browser keeps thumbnails [s]."""

PATIENCE = 120.0
"""Maximum time to draw a picture before the connection is closed [s]."""

MAX_CONNECTIONS = 64
"""Maximum number of open tabs."""

MAX_MESSAGE_BYTES = 1 << 20
"""Maximum size of a message from a tab [bytes]: controls and cameras send a few hundred."""

FRAMED_BY = "frame-ancestors 'self' http://localhost:* http://127.0.0.1:* https://localhost:* vscode-webview:"
"""Pages that may show the studio in a frame: notebooks of this machine."""

Answer = Callable[[str, bool], Awaitable[Any]]
"""Takes a path and whether the browser accepts gzip; returns a response, or None."""


class Link(NamedTuple):
    """A path, and what handles the sockets that are opened at it."""

    path: str
    handle: Callable[[Any], Awaitable[None]]


def is_loopback(host: str) -> bool:
    """Return whether an address is reachable from this machine only."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


class Gate:
    """Decides which requests the studio answers.

    Parameters
    ----------
    host
        The address that the studio listens on. Other than a loopback address, it needs the `token`, which is the first
        part of every path: ``/TOKEN/picture.png``. No cookie carries it, so that a request of a foreign page lacks it.

    Notes
    -----
    Browsers send the name that the user sees as ``Host`` and the page that makes a request as ``Origin``. A foreign
    page has a foreign origin. A name whose owner makes it resolve to this machine (DNS rebinding) is a foreign host,
    and so is that of a proxy: the token tells them apart.
    """

    def __init__(self, host: str) -> None:
        self._is_private = is_loopback(host.lower())
        self.token = secrets.token_urlsafe(16)
        self.path = "/" if self._is_private else f"/{self.token}/"
        """Where the page is, for requests to the address of the studio itself."""

    def enter(self, path: str) -> tuple[bool, str]:
        """Return whether a path begins with the token, and what is left of it, without a query."""
        first, _, rest = path.partition("?")[0].removeprefix("/").partition("/")
        if hmac.compare_digest(first.encode(), self.token.encode()):
            return True, rest
        return False, path.partition("?")[0].removeprefix("/")

    def refusal(self, headers: Any, is_known: bool) -> str | None:
        """Return why a request is refused, or None if it is not; ``is_known`` if it has the token."""
        host, origins = _only(headers, "Host"), headers.get_all("Origin")
        name = None if host is None else _name_of(f"//{host}")
        if not is_known and not self._is_private:
            return "The address lacks the token of the studio; open the whole address that it prints."
        if name is None or not (is_known or is_loopback(name)):
            return (
                f"The studio was requested as {host!r}, which is not its address. Open the address that it prints, or "
                "start it with --host NAME."
            )
        if origins and origins != [f"http://{host}"] and origins != [f"https://{host}"]:
            return f"A page of {origins[0]!r} cannot use the studio; open http://{host} itself."
        if headers.get("Sec-Fetch-Site") == "cross-site" and headers.get("Sec-Fetch-Dest") not in (
            "document",
            "iframe",
        ):
            return "A page of another site cannot use the studio; open its address itself."
        return None


def _only(headers: Any, name: str) -> str | None:
    """Return a header that is there once."""
    found = headers.get_all(name)
    return str(found[0]) if len(found) == 1 else None


def _name_of(address: str) -> str | None:
    try:
        found = urlsplit(address)
        return None if "@" in found.netloc else found.hostname  # no browser sends the name of a user
    except ValueError:
        return None


class _Dropped(logging.Filter):
    """Drops log records of connections that ended early or sent something else than HTTP."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a record is kept."""
        from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidMessage

        if "connection rejected" in record.getMessage():
            return False
        problem = record.exc_info[1] if record.exc_info else None
        # AssertionError: a picture was drawn for a connection that was closed meanwhile.
        expected = (ConnectionClosed, InvalidHandshake, InvalidMessage, OSError, EOFError, TimeoutError, AssertionError)
        return not isinstance(problem, expected)


ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 64 64'%3E"
    "%3Ccircle cx='23' cy='32' r='19' fill='%233f6ea8'/%3E%3Ccircle cx='41' cy='32' r='19' fill='%238ea4ba'/%3E"
    "%3Cpath d='M32 15.3a19 19 0 0 1 0 33.4a19 19 0 0 1 0-33.4z' fill='%23ff7018'/%3E%3C/svg%3E"
)
"""The mark of the studio: two balls, and what they share."""

QUIET = """<style>
#webgl-software-rendering .mantine-Notification-description { display: none }
#webgl-software-rendering { animation: choque-gone 1s 5s forwards; padding-block: 0.2em }
#webgl-software-rendering .mantine-Notification-title { font-size: 0.8em; margin: 0 }
@keyframes choque-gone { to { opacity: 0; visibility: hidden } }
</style>"""
"""What makes the notice of viser about drawing in software one line that goes away by itself."""

NOTICE = """<style>#webgl-unavailable { display: none }</style><script>
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
def answered_first(answer: Answer, gate: Gate, link: Link) -> Iterator[None]:
    """Give websocket servers that start in this block ``gate``, and ``answer`` as the first handler of requests.

    ``link`` handles the sockets at its path, in the place of viser.
    """
    from websockets.asyncio import server as sockets

    serve: Any = sockets.serve
    logger = logging.getLogger("choque.studio.connections")
    if not logger.filters:
        logger.addFilter(_Dropped())

    def serve_more(handle: Any, *given: Any, process_request: Any = None, **options: Any) -> Any:
        open_tabs: set[Any] = set()

        async def handle_few(connection: Any) -> None:
            open_tabs.add(connection)
            try:
                if connection.request.path == link.path:
                    await link.handle(connection)
                else:
                    await handle(connection)
            except (AssertionError, TypeError, ValueError, LookupError):
                # A message that viser cannot read, which its own page does not send.
                await connection.close(1003, "This message could not be read.")
            finally:
                open_tabs.discard(connection)

        async def process(connection: Any, request: Any) -> Any:
            lacks_slash = request.path.endswith(gate.token)
            is_known, request.path = gate.enter(request.path)
            if is_known and request.path == HERE_PATH:
                return text_response(HTTPStatus.OK, "choque", {"Access-Control-Allow-Origin": "*"})
            refused = gate.refusal(request.headers, is_known)
            if refused is not None:
                return text_response(HTTPStatus.FORBIDDEN, refused)
            if request.headers.get("Upgrade", "").lower() == "websocket":
                if len(open_tabs) >= MAX_CONNECTIONS:
                    return text_response(
                        HTTPStatus.SERVICE_UNAVAILABLE, f"{MAX_CONNECTIONS} tabs are open; close one of them first."
                    )
                return None
            if lacks_slash:  # without it, addresses in the page would be relative to the folder above
                return text_response(HTTPStatus.FOUND, "The page is below.", {"Location": f"{gate.token}/"})
            found = await answer(request.path, "gzip" in request.headers.get("Accept-Encoding", ""))
            if found is None:
                return None if process_request is None else process_request(connection, request)
            return found

        limits = {"open_timeout": PATIENCE, "max_size": MAX_MESSAGE_BYTES, "logger": logger}
        return serve(handle_few, *given, process_request=process, **{**options, **limits})

    sockets.serve = serve_more  # type: ignore[assignment, misc]
    try:
        yield
    finally:
        sockets.serve = serve  # type: ignore[misc]


def answering(draw: Callable[[tuple[int, int]], bytes], thumbnail: Callable[[str], bytes], script: str) -> Answer:
    """Return a handler of the page and its pictures; ``draw`` makes a PNG of a size, or raises a `ChoqueError`.

    One picture is drawn at a time; requests that arrive meanwhile get the same one. ``thumbnail`` makes the
    PNG or WebP of a path below `THUMBNAILS_PATH`; ``script`` is added to the page.
    """
    drawing: list[asyncio.Future[bytes]] = []

    async def shared_picture() -> bytes:
        if not drawing or drawing[0].done():
            drawing[:] = [asyncio.get_running_loop().run_in_executor(None, draw, PICTURE_SIZE)]
        return await asyncio.shield(drawing[0])

    async def answer(path: str, unpacks: bool) -> Any:
        if path in ("", "index.html"):
            content = _page(unpacks, script)
            return _response(HTTPStatus.OK, "text/html; charset=utf-8", content, "gzip" if unpacks else "identity")
        is_small = path.startswith(THUMBNAILS_PATH)
        if path != PICTURE_PATH and not is_small:
            return None
        try:
            if is_small:
                image = await asyncio.get_running_loop().run_in_executor(None, thumbnail, path)
            else:
                image = await shared_picture()
        except ChoqueError as problem:
            return text_response(HTTPStatus.NOT_FOUND, str(problem))
        found = _response(HTTPStatus.OK, "image/webp" if image.startswith(b"RIFF") else "image/png", image)
        if is_small:  # the same whenever the chooser is opened
            del found.headers["Cache-Control"]
            found.headers["Cache-Control"] = f"private, max-age={KEPT_SECONDS}"
        return found

    return answer


@lru_cache(maxsize=2)
def _page(packed: bool, script: str) -> bytes:
    """Return the page of viser under our name, with the notice and a script before its own."""
    import viser

    source = (Path(viser.__file__).parent / "client" / "build" / "index.html").read_text(encoding="utf-8")
    content = as_ours(source, "Choque", NOTICE + script).encode()
    return gzip.compress(content, 6) if packed else content


def as_ours(source: str, title: str, head: str = "") -> str:
    """Return a page of viser with a title, our icon and a quiet notice, and ``head`` before its own scripts."""
    named = re.sub(r'href="data:image/svg\+xml[^"]*"', lambda _: f'href="{ICON}"', source, count=1)
    before, tag, rest = named.replace("<title>Viser</title>", f"<title>{escape(title)}</title>").partition("<head>")
    return before + tag + QUIET + head + rest


def text_response(status: HTTPStatus, sentence: str, headers: dict[str, str] | None = None) -> Any:
    """Return a response of one sentence."""
    found = _response(status, "text/plain; charset=utf-8", sentence.encode())
    found.headers.update(headers or {})
    return found


def _response(status: HTTPStatus, kind: str, content: bytes, encoding: str = "identity") -> Any:
    from websockets.datastructures import Headers
    from websockets.http11 import Response

    headers = Headers(
        {
            "Content-Type": kind,
            "Content-Length": str(len(content)),
            "Content-Encoding": encoding,
            "Cache-Control": "no-store",
            "Content-Security-Policy": FRAMED_BY,
            "Cross-Origin-Resource-Policy": "same-origin",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
        }
    )
    return Response(int(status), status.phrase, headers, content)


def free_port(host: str, port: int | None) -> int:
    """Return ``port`` if it is free on ``host``; for None, the first free one from `PORT` on."""
    if not isinstance(host, str):
        raise InvalidInput(f"The host is {host!r}; it must be an address as text, such as '127.0.0.1'.")
    if port is not None:
        check.whole_number(port, "port", 1, 65535)
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
