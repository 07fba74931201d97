"""Panels, controls and keys of a page; their actions run in the thread of the studio."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from html import escape
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

from choque._core.progress import sent_to
from choque.errors import ChoqueError, InvalidInput, UnknownName
from choque.studio.viewpoint import page_viewpoint

if TYPE_CHECKING:
    from choque.studio.page.server import Studio
    from choque.studio.page.view import View

PANEL_WIDTH, SIDE_WIDTH = 340.0, 330.0

NARROW = 260.0
"""In a page that leaves the scene less than this, such as that of a notebook, the second panel is folded [pixels]."""

MIN_BOTTOM, MAX_BOTTOM, BOTTOM_MARGIN = 240.0, 900.0, 14.0

TELLING_SECONDS = 0.5
"""How often the page says that something takes long [s]."""

QUICK_SECONDS = 0.3
"""A view that opens in less than this is opened without a word [s]."""

PLAIN = (66, 74, 88)
"""Colour of buttons that are not pressed first."""

MAX_QUOTED = 60
"""Maximum length of a refused word in a message."""

KEY_WORDS = {
    "space": "Space",
    "arrowleft": "←",
    "arrowright": "→",
    "arrowup": "↑",
    "arrowdown": "↓",
    "home": "Home",
    "end": "End",
    "escape": "Esc",
    "delete": "Delete",
    "pageup": "Page up",
    "pagedown": "Page down",
}
"""Names of keys on the page; letters are not changed."""

CAMERA_KEYS = (
    ("Drag", "Rotate the camera, beside the bodies; right button: pan; wheel: zoom"),
    ("W A S D", "Move forward, left, back, right"),
    ("Q E", "Move down, up"),
    ("Click", "Select a body and show its state"),
)
"""The mouse and the keys of viser, in every view with a scene."""


class Html:
    """HTML in a panel, with the font and margins of the other controls; ``content`` can be set."""

    def __init__(self, gui: Any, content: str) -> None:
        self._content = content
        self._handle = gui.add_html(self._framed())

    @property
    def content(self) -> str:
        """The HTML that is shown."""
        return self._content

    @content.setter
    def content(self, content: str) -> None:
        if content != self._content:
            self._content = content
            self._handle.content = self._framed()

    def remove(self) -> None:
        """Remove it from its panel."""
        self._handle.remove()

    def _framed(self) -> str:
        return f'<div style="font-size:0.85em;line-height:1.55;padding:0.2em 0.9em">{self._content}</div>'


class Page:
    """The page of one view, empty at first.

    `tab` adds a tab to the main panel on the right; `side_tab` adds one to a second panel on the left. Controls are
    placed in the tab or folder whose ``with`` block they are made in.

    Attributes
    ----------
    scene, gui
        Of viser, for everything that has no method here.
    """

    def __init__(self, studio: Studio, title: str) -> None:
        self.studio, self._visit = studio, studio.visit
        self.server: Any = studio.server
        self.scene: Any = studio.server.scene
        self.gui: Any = studio.server.gui
        self._keys: list[tuple[str, str]] = []
        self._side: Any = None
        self._is_folded = False
        self._bottom: Any = None
        self._bottom_width = MIN_BOTTOM
        self.gui.set_panel_label(title)
        self.gui.main_panel.dock_right()
        self.gui.main_panel.set_width(PANEL_WIDTH)
        self._tabs = self.gui.add_tab_group()

    @contextmanager
    def opening(self, title: str) -> Iterator[None]:
        """Say in the main panel, if it takes long, that the view is being opened, and how far compiling is."""
        label = self.html()
        with self.working(label, f"Opening {escape(title)}", after=QUICK_SECONDS):
            yield
        label.remove()

    # Tabs and folders

    @contextmanager
    def tab(self, label: str) -> Iterator[Any]:
        """Add a tab to the main panel."""
        with self._tabs.add_tab(label) as made:
            yield made

    @contextmanager
    def side_tab(self, label: str, *, is_open: bool = True) -> Iterator[Any]:
        """Add a tab to the second panel, on the left, which the first tab may leave folded: a click opens it."""
        if self._side is None:
            self._side = self.gui.add_panel()
            self._side.dock_left()
            self._side.set_width(SIDE_WIDTH)
            if not is_open:
                self._is_folded = True
                self._side.minimize()
        with self._side.add_tab(label) as made:
            yield made

    @contextmanager
    def bottom_panel(self, label: str) -> Iterator[Any]:
        """Add a panel that floats at the bottom of the scene; see `fit_panels`."""
        self._bottom = self.gui.add_panel()
        self._bottom.float(x=BOTTOM_MARGIN, y=-BOTTOM_MARGIN, width=self._bottom_width)
        with self._bottom.add_tab(label) as made:
            yield made

    def fit_panels(self, width: float) -> None:
        """Make the panel at the bottom as wide as the scene of a tab allows [pixels]; fold the second one once."""
        if self._side is not None and width < NARROW and not self._is_folded:
            self._is_folded = True
            self._side.minimize()
        wanted = min(max(width - 2 * BOTTOM_MARGIN, MIN_BOTTOM), MAX_BOTTOM)
        if self._bottom is not None and abs(wanted - self._bottom_width) > 1.0:
            self._bottom_width = wanted
            self._bottom.set_width(wanted)

    @contextmanager
    def folder(self, label: str, *, is_open: bool = True) -> Iterator[Any]:
        """Add a collapsible part to a tab."""
        with self.gui.add_folder(label, expand_by_default=is_open) as made:
            yield made

    # Controls

    def button(
        self, label: str, action: Callable[[], object], *, hint: str | None = None, is_main: bool = False, **look: Any
    ) -> Any:
        """Add a button; those that matter most are in the colour of the page."""
        made = self.gui.add_button(label, hint=hint, color=None if is_main else PLAIN, **look)
        made.on_click(lambda _: self._request(action))
        return made

    def buttons(self, label: str, options: Sequence[str], action: Callable[[str], object], **look: Any) -> Any:
        """Add a row of small buttons; the action gets the label of the one pressed."""
        made = self.gui.add_button_group(label, tuple(options), **look)
        made.on_click(lambda event: self._hand(action, one_of(options, event.target.value)))
        return made

    def checkbox(self, label: str, value: bool, action: Callable[[bool], object], *, hint: str | None = None) -> Any:
        """Add a checkbox."""
        return self._input(self.gui.add_checkbox(label, value, hint=hint), action)

    def choice(
        self,
        label: str,
        options: Sequence[str],
        value: str | None,
        action: Callable[[str], object],
        *,
        hint: str | None = None,
    ) -> Any:
        """Add a choice of one of several words; others are refused before the action is called."""
        made = self.gui.add_dropdown(label, tuple(options), initial_value=value, hint=hint)
        return self._input(made, lambda word: action(one_of(options, word)))

    def slider(
        self,
        label: str,
        lowest: float,
        highest: float,
        step: float,
        value: float,
        action: Callable[[float], object],
        *,
        hint: str | None = None,
        **look: Any,
    ) -> Any:
        """Add a slider for a number in a range, which may change; others are refused before the action is called."""
        made = self.gui.add_slider(label, lowest, highest, step, value, hint=hint, **look)
        return self._input(made, lambda number: action(within(label, number, made.min, made.max)))

    def number(
        self,
        label: str,
        value: float,
        action: Callable[[float], object],
        *,
        hint: str | None = None,
        lowest: float | None = None,
        highest: float | None = None,
        **look: Any,
    ) -> Any:
        """Add a field for a number; others than finite ones from ``lowest`` to ``highest`` are refused."""
        made = self.gui.add_number(label, value, hint=hint, min=lowest, max=highest, **look)
        return self._input(made, lambda number: action(within(label, number, lowest, highest)))

    def word(self, label: str, value: str, action: Callable[[str], object], *, hint: str | None = None) -> Any:
        """Add a field for one line of text."""
        return self._input(self.gui.add_text(label, value, hint=hint), action)

    def text(self, markdown: str = "") -> Any:
        """Add text in Markdown, in which pages run HTML: words of files and users belong in `html`, escaped."""
        return self.gui.add_markdown(markdown)

    def html(self, content: str = "") -> Html:
        """Add HTML; ``content`` can be set."""
        return Html(self.gui, content)

    def picture_button(self) -> Any:
        """Add a button that saves a picture of the view from the camera of the tab it is pressed in."""
        made = self.gui.add_button(
            "Save a picture", color=PLAIN, hint="A PNG from this viewpoint, drawn as by 'choque picture'."
        )
        made.on_click(
            lambda event: self._request(lambda: self._send_picture(event.client), ("picture", event.client_id))
        )
        return made

    def _send_picture(self, client: Any) -> None:
        view = self.studio.view
        if view is not None and client is not None:
            image = view.picture(*page_viewpoint(client))
            client.send_file_download(view.picture_name, image, save_immediately=True)

    @contextmanager
    def working(self, label: Html, what: str, *, after: float = 0.0) -> Iterator[None]:
        """Say in a panel, at once or after some seconds, that something takes long, and how far it is."""
        began, done, line = time.perf_counter(), threading.Event(), [""]

        def tell() -> None:
            if done.wait(after):
                return
            while True:
                label.content = f"<b>{what}</b> {time.perf_counter() - began:.0f} s {escape(line[0])} …"
                self.server.flush()
                if done.wait(TELLING_SECONDS):
                    return

        telling = threading.Thread(target=tell, name="choque-progress", daemon=True)
        telling.start()
        try:
            with sent_to(lambda text: line.__setitem__(0, text)):
                yield
        finally:
            done.set()
            telling.join()

    # Keys

    def key(
        self,
        keys: str | Sequence[str],
        label: str,
        action: Callable[[], object],
        *,
        before: Callable[[], object] | None = None,
    ) -> None:
        """Bind one or more ``keys`` (names of viser: "P", "space", "arrowleft") to an action, and list it on the page.

        ``before`` runs at once, in a thread of viser, for what cannot wait for the thread of the studio.
        """
        names = [keys] if isinstance(keys, str) else list(keys)

        def pressed(_: Any) -> None:
            if before is not None:
                before()
            self._request(action)

        for name in names:
            self.gui.add_command(label, hotkey=name).on_trigger(pressed)
        self._keys.append((" or ".join(KEY_WORDS.get(name, name) for name in names), label))

    # Actions

    def _request(self, action: Callable[[], object], key: object = None) -> None:
        """Queue what a control was used for, unless its view is left before."""
        self.studio.request(lambda: action() if self.studio.visit == self._visit else None, key)

    def do(self, action: Callable[[], object]) -> None:
        """Run an action in the thread of the studio."""
        self.studio.do(action)

    def notify(self, title: str, sentence: str, color: str = "blue") -> None:
        """Show a notification on the page for some seconds."""
        self.studio.notify(title, sentence, color)

    def go(self, view: View) -> None:
        """Replace this view by another."""
        self.studio.open(view)

    def home(self) -> None:
        """Open the chooser."""
        from choque.studio.page.chooser import Chooser

        self.studio.open(Chooser())

    def finish(self) -> None:
        """Add the list of keys, after the view has bound its own."""
        if not self._keys:
            return
        with self.tab("Keys"):
            rows = [*self._keys, *CAMERA_KEYS]
            self.html(
                '<table style="width:100%;border-spacing:0 0.35em">'
                + "".join(
                    f'<tr><td style="white-space:nowrap;padding-right:0.8em;vertical-align:top">'
                    f"<b>{keys}</b></td><td>{label}</td></tr>"
                    for keys, label in rows
                )
                + "</table>Keys work while no field has the focus: click outside it first."
            )

    def _input(self, made: Any, action: Callable[[Any], object]) -> Any:
        """Call ``action`` with the latest value of a control; if it is refused, the control shows the one before."""
        accepted = [made.value]

        def take() -> None:
            value = made.value
            try:
                action(value)
            except ChoqueError:
                if made.value == value:
                    made.value = accepted[0]
                raise
            accepted[0] = value

        def updated(event: Any) -> None:
            if event.client is not None:
                self._request(take, take)
            else:  # set by the view itself
                accepted[0] = event.target.value

        made.on_update(updated)
        return made

    def _hand(self, action: Callable[[Any], object], value: Any) -> None:
        self._request(lambda: action(value))


def one_of(options: Sequence[str], word: str) -> str:
    """Return ``word`` if it is one of the ``options`` of a control."""
    if word not in options:
        raise UnknownName("choice", word[:MAX_QUOTED], list(options))
    return word


def within(label: str, number: float, lowest: float | None, highest: float | None) -> float:
    """Return ``number`` if it is finite and in the range of a control."""
    low, high = -inf if lowest is None else lowest, inf if highest is None else highest
    if not (isfinite(number) and low <= number <= high):
        raise InvalidInput(f"{label} is {number:g}; it must be a number from {low:g} to {high:g}.")
    return number
