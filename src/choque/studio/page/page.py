"""What a view builds its page with: panels, controls and keys whose actions run in the studio's thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from choque.studio.viewpoint import page_viewpoint

if TYPE_CHECKING:
    from choque.studio.page.server import Studio
    from choque.studio.page.view import View

PANEL_WIDTH, SIDE_WIDTH = 340.0, 330.0

KEY_WORDS = {
    "space": "Space",
    "arrowleft": "←",
    "arrowright": "→",
    "arrowup": "↑",
    "arrowdown": "↓",
    "home": "Home",
    "end": "End",
    "escape": "Esc",
    "pageup": "Page up",
    "pagedown": "Page down",
}
"""How keys are written on the page; letters are themselves."""

CAMERA_KEYS = (
    ("Drag", "turn the camera; right button: shift it; wheel: nearer and farther"),
    ("W A S D", "go forward, left, back, right"),
    ("Q E", "go down, up"),
    ("Click", "on a body: tell about it"),
)
"""What the mouse and viser's own keys do in every view with a scene."""


class Html:
    """A part of a panel in HTML, in the type and with the margins of the rest; ``content`` can be set."""

    def __init__(self, gui: Any, content: str) -> None:
        self._content = content
        self._handle = gui.add_html(self._framed())

    @property
    def content(self) -> str:
        """What is shown."""
        return self._content

    @content.setter
    def content(self, content: str) -> None:
        if content != self._content:
            self._content = content
            self._handle.content = self._framed()

    def _framed(self) -> str:
        return f'<div style="font-size:0.85em;line-height:1.55;padding:0.2em 0.9em">{self._content}</div>'


class Page:
    """An empty page for one view.

    The main panel on the right has tabs, made by `tab`; a second panel on the left is there once `side_tab` was called.
    Controls go into the tab or folder whose ``with`` block they are made in.

    Attributes
    ----------
    scene, gui
        Those of viser, for all that has no method here.
    """

    def __init__(self, studio: Studio, title: str) -> None:
        self.studio = studio
        self.server: Any = studio.server
        self.scene: Any = studio.server.scene
        self.gui: Any = studio.server.gui
        self._keys: list[tuple[str, str]] = []
        self._side: Any = None
        self.gui.set_panel_label(title)
        self.gui.main_panel.dock_right()
        self.gui.main_panel.set_width(PANEL_WIDTH)
        self._tabs = self.gui.add_tab_group()

    # Where things go

    @contextmanager
    def tab(self, label: str) -> Iterator[Any]:
        """A tab of the main panel."""
        with self._tabs.add_tab(label) as made:
            yield made

    @contextmanager
    def side_tab(self, label: str) -> Iterator[Any]:
        """A tab of the second panel, on the left."""
        if self._side is None:
            self._side = self.gui.add_panel()
            self._side.dock_left()
            self._side.set_width(SIDE_WIDTH)
        with self._side.add_tab(label) as made:
            yield made

    @contextmanager
    def folder(self, label: str, *, is_open: bool = True) -> Iterator[Any]:
        """A part of a tab that can be folded away."""
        with self.gui.add_folder(label, expand_by_default=is_open) as made:
            yield made

    # Controls

    def button(self, label: str, action: Callable[[], object], *, hint: str | None = None, **look: Any) -> Any:
        """A button."""
        made = self.gui.add_button(label, hint=hint, **look)
        made.on_click(lambda _: self.do(action))
        return made

    def buttons(self, label: str, options: Sequence[str], action: Callable[[str], object], **look: Any) -> Any:
        """Several small buttons in a row; the action is told which."""
        made = self.gui.add_button_group(label, tuple(options), **look)
        made.on_click(lambda event: self._hand(action, event.target.value))
        return made

    def checkbox(self, label: str, value: bool, action: Callable[[bool], object], *, hint: str | None = None) -> Any:
        """Something to switch on and off."""
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
        """One of several words."""
        return self._input(self.gui.add_dropdown(label, tuple(options), initial_value=value, hint=hint), action)

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
        """A number in a range."""
        made = self.gui.add_slider(label, lowest, highest, step, value, hint=hint, **look)
        return self._input(made, action)

    def number(
        self, label: str, value: float, action: Callable[[float], object], *, hint: str | None = None, **limits: Any
    ) -> Any:
        """Any number."""
        return self._input(self.gui.add_number(label, value, hint=hint, **limits), action)

    def word(self, label: str, value: str, action: Callable[[str], object], *, hint: str | None = None) -> Any:
        """Any text, on one line."""
        return self._input(self.gui.add_text(label, value, hint=hint), action)

    def text(self, markdown: str = "") -> Any:
        """Sentences, as Markdown; ``content`` can be set."""
        return self.gui.add_markdown(markdown)

    def html(self, content: str = "") -> Html:
        """HTML; ``content`` can be set."""
        return Html(self.gui, content)

    def picture_button(self) -> Any:
        """A button that saves a picture of the view, seen from where the camera of the tab is that it is pressed in."""
        made = self.gui.add_button("Save a picture", hint="A PNG, seen as here, as 'choque picture' draws it.")
        made.on_click(lambda event: self.do(lambda: self._send_picture(event.client)))
        return made

    def _send_picture(self, client: Any) -> None:
        view = self.studio.view
        if view is not None and client is not None:
            image = view.picture(*page_viewpoint(client))
            client.send_file_download(view.picture_name, image, save_immediately=True)

    # Keys

    def key(
        self,
        keys: str | Sequence[str],
        label: str,
        action: Callable[[], object],
        *,
        before: Callable[[], object] | None = None,
    ) -> None:
        """Let one or more ``keys`` (viser's names: "P", "space", "arrowleft") do something, and list it on the page.

        What must not wait for the studio's thread is done ``before``, in a thread of viser's.
        """
        names = [keys] if isinstance(keys, str) else list(keys)

        def pressed(_: Any) -> None:
            if before is not None:
                before()
            self.do(action)

        for name in names:
            self.gui.add_command(label, hotkey=name).on_trigger(pressed)
        self._keys.append((" or ".join(KEY_WORDS.get(name, name) for name in names), label))

    # What happens

    def do(self, action: Callable[[], object]) -> None:
        """Have an action done in the studio's thread."""
        self.studio.do(action)

    def tell(self, title: str, sentence: str, color: str = "blue") -> None:
        """Show a sentence on the page for some seconds."""
        self.studio.tell(title, sentence, color)

    def go(self, view: View) -> None:
        """Open another view in the place of this one."""
        self.studio.open(view)

    def home(self) -> None:
        """Open the chooser."""
        self.studio.open(None)

    def finish(self) -> None:
        """Add the list of keys, once the view has made its own."""
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
                + "</table>Keys work while no field is being written in: click beside it first."
            )

    def _input(self, made: Any, action: Callable[[Any], object]) -> Any:
        made.on_update(lambda event: self._updated(event, action))
        return made

    def _updated(self, event: Any, action: Callable[[Any], object]) -> None:
        if event.client is not None:  # set by the view itself: it knows
            self._hand(action, event.target.value)

    def _hand(self, action: Callable[[Any], object], value: Any) -> None:
        self.do(lambda: action(value))
