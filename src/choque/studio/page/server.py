"""The server of the page, and the one thread in which a view runs."""

from __future__ import annotations

import io
import queue
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from types import ModuleType
from typing import Any, Self

from choque.errors import ChoqueError, InvalidInput, require
from choque.studio.page.http import HOST, Gate, Link, answered_first, answering, as_ours, free_port
from choque.studio.page.links import LINK_PATH, Links, script
from choque.studio.page.page import Page
from choque.studio.page.view import View
from choque.studio.viewpoint import SIZE, Viewpoint

CLOSING_SECONDS = 10.0
"""How long stopping waits for the thread of the studio, which may be compiling [s]."""

MAX_WAITING = 1000
"""Maximum number of actions of tabs that wait; more are dropped, with a notification."""

MAX_VALUE_LENGTH = 1000
"""Maximum length of the value of a control, as text."""

Action = Callable[[], object]


class Studio:
    """A page in the browser, and the thread that runs its actions.

    Parameters
    ----------
    host
        The address to listen on.
    port
        The port to listen on, an error if it is in use; None for the first free one from 8080 on.

    Notes
    -----
    viser, which serves the page, calls back in its own threads; `do` passes actions to the thread of the studio, which
    sleeps until there is an action or the view is due for a tick. Tabs can be opened and closed at any time: the view
    does not depend on them, and a new tab gets the whole page.
    """

    def __init__(self, host: str = HOST, port: int | None = None) -> None:
        viser: Any = load_viser()
        chosen = free_port(host, port)
        self._actions: queue.SimpleQueue[Action] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._stopping = False
        self._is_served = True
        self._view: View | None = None
        self._is_open = False  # whether the view is built and can handle cameras
        self.visit = 0
        """Counts views that were left."""
        self._waiting: dict[object, Action] = {}
        self._waiting_lock = threading.Lock()
        self._waiting_count = 0
        self._gate = Gate(host)
        self._links = Links(self)
        self.opened: tuple[str, str] | None = None
        """The entry and the name of what was opened by an address of the page."""
        answer = answering(lambda size: self.picture(None, size), _thumbnail, script())
        with _quiet(), answered_first(answer, self._gate, Link(LINK_PATH, self._links.handle)):
            self.server = viser.ViserServer(host=host, port=chosen, verbose=False)
        _set_theme(self.server)
        _limit(self.server)
        self.server.on_client_connect(self._greet)
        self.host, self.port = host, int(self.server.get_port())

    @property
    def url(self) -> str:
        """The address of the page; with a token, unless the studio is reachable from this machine only."""
        shown = "127.0.0.1" if self.host in ("0.0.0.0", "::") else self.host
        shown = f"[{shown}]" if ":" in shown else shown
        return f"http://{shown}:{self.port}{self._gate.path}"

    @property
    def view(self) -> View | None:
        """The view that is shown."""
        return self._view

    def start(self, view: View | None = None) -> None:
        """Show ``view``, or the chooser, and run in the background."""
        self.open(view)
        self._thread = threading.Thread(target=self.run, name="choque-studio", daemon=True)
        self._thread.start()

    def open(self, view: View | None) -> None:
        """Replace the view; None for the chooser. Can be called from any thread."""
        self.do(lambda: self.show(view))

    def show_now(self, view: View) -> None:
        """Open ``view`` in the calling thread, for a studio that was not started; an error is raised."""
        self._view = view
        page = Page(self, view.title)
        view.open(page)
        page.finish()
        self._is_open = True

    def do(self, action: Action) -> None:
        """Queue ``action`` for the thread of the studio."""
        self._actions.put(action)

    def request(self, action: Action, key: object = None) -> None:
        """Queue an action of a tab.

        With a ``key`` only the latest action with this key waits, such as the latest value of a slider. At most
        `MAX_WAITING` actions wait; more are dropped.
        """
        with self._waiting_lock:
            if key is not None and key in self._waiting:
                self._waiting[key] = action
                return
            if self._waiting_count >= MAX_WAITING:
                return
            self._waiting_count += 1
            if self._waiting_count == MAX_WAITING:
                sentence = f"{MAX_WAITING:,} actions are waiting; others are ignored until they are done."
                self.do(lambda: self.notify("The studio is busy", sentence))
            if key is not None:
                self._waiting[key] = action
        self.do(lambda: self._do_requested(action, key))

    def _do_requested(self, action: Action, key: object) -> None:
        with self._waiting_lock:
            self._waiting_count -= 1
            latest = action if key is None else self._waiting.pop(key)
        latest()

    def ask(self, question: Callable[[], Any], timeout: float = 60.0) -> Any:
        """Return the result of ``question``, called in the thread of the studio; wait at most ``timeout`` seconds.

        Must not be called from that thread, which would wait for itself.
        """
        if self._stopping:
            raise InvalidInput("The studio is stopped; open another one.")
        answers: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()

        def answer() -> None:
            try:
                answers.put((question(), None))
            except BaseException as problem:
                answers.put((None, problem))

        self.do(answer)
        try:
            found, problem = answers.get(timeout=timeout)
        except queue.Empty:
            raise InvalidInput(
                f"The studio has not answered for {timeout:g} s; it may be compiling. Try again."
            ) from None
        if problem is not None:
            raise problem
        return found

    def picture(self, viewpoint: Viewpoint | None = None, size: tuple[int, int] = SIZE) -> bytes:
        """Draw the view as a PNG without a browser; can be called from any thread but that of the studio."""

        def draw() -> bytes:
            if self._view is None:
                raise InvalidInput("Nothing is shown yet.")
            return self._view.picture(viewpoint, size)

        image: bytes = self.ask(draw)
        return image

    def run(self) -> None:
        """Run actions and tick the view until `stop`; the calling thread becomes the thread of the studio."""
        wait: float | None = None
        while not self._stopping:
            deadline = None if wait is None else time.perf_counter() + wait
            try:
                action = self._actions.get(timeout=wait) if wait is None or wait > 0 else self._actions.get_nowait()
            except queue.Empty:
                wait = self._tick()
                continue
            self._try(action)
            # Other waiting actions go first: one tick then shows the result of all.
            if not self._actions.empty():
                wait = 0.0 if deadline is None else max(0.0, deadline - time.perf_counter())
                continue
            wait = self._tick()
        self._leave()

    def wait(self) -> None:
        """Return when the studio is stopped, or raise `KeyboardInterrupt`."""
        while self._thread is not None and self._thread.is_alive():
            self._thread.join(timeout=0.2)

    def stop(self) -> None:
        """Close the view and stop the server."""
        self._stopping = True
        self.do(lambda: None)
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout=CLOSING_SECONDS)
        else:
            self._leave()
        self._is_served = False
        self._links.clear()
        with _quiet():
            self.server.stop()

    def notify(self, title: str, sentence: str, color: str = "red") -> None:
        """Show a notification in every open tab."""
        for client in self.server.get_clients().values():
            client.add_notification(title, sentence, color=color, auto_close_seconds=8.0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<Studio at {self.url}>"

    def _repr_html_(self) -> str:
        """Return the page in a frame of a notebook; a copy of what is shown now where the browser cannot reach it."""
        from choque.studio.page.notebook import frame

        try:
            copy = self.snapshot()
        except InvalidInput as problem:
            copy = str(problem)
        return frame(copy, self.port, self._gate.token)

    def snapshot(self) -> str:
        """Return one self-contained page, as HTML, of what is shown now; not from the thread of the studio."""

        def draw() -> str:
            return as_ours(self.server.get_scene_serializer().as_html(dark_mode=True), "Choque")

        found: str = self.ask(draw)
        return found

    def _greet(self, client: Any) -> None:
        client.camera.on_update(lambda _: self._camera_moved(client))
        self._camera_moved(client)

    def _camera_moved(self, client: Any) -> None:
        view, visit = self._view, self.visit
        if view is None or not self._is_open:
            return
        try:
            view.camera_moved(client)
        except RuntimeError:  # viser does not move panels that are removed: the view may have been left meanwhile
            if visit == self.visit:
                raise

    def show(self, view: View | None) -> None:
        """Replace the view, in the thread of the studio."""
        self.opened = None
        if view is None:
            from choque.studio.page.chooser import Chooser

            view = Chooser()
        self._leave()
        page = Page(self, view.title)
        self._view = view
        try:
            with page.opening(view.title):
                view.open(page)
        except ChoqueError as problem:
            self.notify("This could not be opened", str(problem))
            self._leave()
            self.show(None)
            return
        page.finish()
        self._is_open = True
        for client in self.server.get_clients().values():  # what cameras reported meanwhile was not handled
            self._camera_moved(client)

    def _leave(self) -> None:
        """Close the view and clear the page, if the server still runs."""
        if self._view is None:
            return
        view, self._view, self._is_open = self._view, None, False
        self.visit += 1
        try:
            view.close()
        finally:
            if self._is_served:
                from choque.studio.page.backdrop import sky  # a view has loaded what it needs

                with self.server.atomic():
                    self.server.scene.remove_click_callback("all")
                    self.server.scene.reset()
                    self.server.scene.set_background_image(sky())  # not black until the next view has drawn something
                    self.server.gui.reset()

    def _tick(self) -> float | None:
        view = self._view
        if view is None:
            return None
        waits: list[float | None] = [None]

        def tick() -> None:
            waits[0] = view.tick()

        self._try(tick)
        return waits[0]

    def _try(self, action: Action) -> None:
        """Run an action of the page; show its error there and go on."""
        try:
            action()
        except ChoqueError as problem:
            self.notify("That is not possible", str(problem))
        except Exception as problem:
            if not self._is_served:
                return  # the server is stopped, so that the page is gone
            traceback.print_exc()
            self.notify("Error in the studio", f"{type(problem).__name__}: {problem}")


def _thumbnail(path: str) -> bytes:
    from choque.studio.page.thumbnails import (
        thumbnail,
    )  # loads what draws bodies, which the first page does not wait for

    return thumbnail(path)


def load_viser() -> ModuleType:
    """Import viser, or raise `MissingExtra` with how to install it."""
    return require("viser", extra="view", purpose="to show things in the browser")


@contextmanager
def _quiet() -> Iterator[None]:
    """Suppress the tables that viser prints to the terminal and, by other ways than stdout, to notebooks."""
    import rich

    kept, rich.print = rich.print, lambda *_, **__: None
    try:
        with redirect_stdout(io.StringIO()):
            yield
    finally:
        rich.print = kept


def _limit(server: Any) -> None:
    """Switch off what the studio does not use: viser's public addresses, uploads, and changes of anything but values.

    Public addresses go through a server on the internet; uploads let a client fill the memory; a message can set any
    attribute of a control, its callbacks included.
    """
    from viser import _messages

    sockets = server._websock_server
    for unused in (_messages.ShareUrlRequest, _messages.FileTransferStartUpload, _messages.FileTransferPart):
        sockets.unregister_handler(unused)
    handlers = sockets._incoming_handlers[_messages.GuiUpdateMessage]
    handlers[:] = [_values_only(handler) for handler in handlers]


def _values_only(handler: Any) -> Any:
    """Return a handler that ignores messages about anything but values of controls, and values of a wrong type."""

    async def handle(client: int, message: Any) -> None:
        if set(message.updates) == {"value"} and len(repr(message.updates["value"])) <= MAX_VALUE_LENGTH:
            with suppress(AssertionError, TypeError, ValueError, OverflowError):
                await handler(client, message)

    return handle


def _set_theme(server: Any) -> None:
    """Set the theme of the page; it has no external links."""
    server.gui.configure_theme(dark_mode=True, show_logo=False, show_share_button=False, brand_color=(64, 150, 255))
    server.scene.set_up_direction("+y")
    server.scene.world_axes.visible = False
