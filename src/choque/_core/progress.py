"""How long work says how far it is: one line that changes, in a terminal, in a notebook, or on a page.

Calls that can take seconds have a parameter ``progress``: a function of the number of steps done, the number of steps
and a few words (`choque._core.types.Progress`), or True for a line on stderr, which a notebook shows below its cell.
Kernels announce in the same way that they are compiled. In a terminal a line is removed when its work ends; where
stderr is a file, it is written again every `SILENCE` seconds.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from threading import RLock
from time import perf_counter
from typing import Any, ClassVar

from choque._core.types import Progress

SILENCE = 10.0  # seconds between two lines in a file
REDRAW = 0.1  # seconds between two changes of a line that is looked at
BAR = 20  # width of a bar [characters]


def count_words(number: int, total: int, seconds: float) -> str:
    """Return how far work is, and for how long it goes on: "3 of 9, about 12 s"; the number if there is no total."""
    return f"{number:,} of {total:,}, about {max(seconds, 1):.0f} s" if number <= total else f"{number:,}"


class Line:
    """A line about work that is under way; a `Progress`. Of several lines the last one is seen."""

    lines: ClassVar[list[Line]] = []  # those of work that is under way: a kernel may be compiled amid longer work
    # functions that get the text, the last one alone, instead of stderr
    listeners: ClassVar[list[Callable[[str], None]]] = []
    _lock, _width, _cell, _in_cell = RLock(), 0, None, None

    def __init__(self, title: str = "", *, at_once: bool = False) -> None:
        self._title, self._text, self._begin = f"{title} " if title else "", "", perf_counter()
        self._written = -SILENCE if at_once else self._begin

    def __call__(self, done: int, total: int, about: str) -> None:
        """Show a bar with the number of steps and the expected time, or the number alone if ``total`` is 0.

        The line is removed after the last step.
        """
        if done >= total > 0:
            self.remove()
            return
        bar = f"[{'#' * (BAR * done // total):-<{BAR}}] " if total else ""
        left = (perf_counter() - self._begin) * (total / done - 1) if done else 0
        count = count_words(done, total, left) if done else f"0 of {total:,}"
        self.show(f"{self._title}{bar}{count}  {about}".rstrip())

    def show(self, text: str) -> None:
        """Change the text."""
        with self._lock:
            self._text = text
            is_new = self not in self.lines
            if is_new:
                self.lines.append(self)
            is_seen = bool(self.listeners) or _notebook() is not None or _is_terminal()
            since = perf_counter() - self._written
            if self is self.lines[-1] and since >= (0 if is_seen and is_new else REDRAW if is_seen else SILENCE):
                self._written = perf_counter()
                self._draw(text)

    def remove(self) -> None:
        """Remove the line; an earlier one whose work goes on is seen again at its next step, lest both flicker."""
        with self._lock:
            if self in self.lines:
                self.lines.remove(self)
                if self.listeners or (_is_terminal() and not self.lines):
                    self._draw(self.lines[-1]._text if self.lines else "")

    @classmethod
    def _draw(cls, text: str) -> None:
        notebook, named = _notebook(), f"choque: {text}"
        if cls.listeners:
            cls.listeners[-1](text)
        elif notebook is not None:
            cls._draw_in_cell(notebook, {"text/plain": named})
        elif _is_terminal():
            shown = named[: shutil.get_terminal_size().columns - 1] if text else ""
            _write(f"\r{shown:<{cls._width}}" + "\r" * (not text))
            cls._width = len(shown)
        else:
            _write(f"{named}\n")

    @classmethod
    def _draw_in_cell(cls, notebook: Any, content: dict[str, str]) -> None:
        display = import_module("IPython.display").display
        if cls._cell != notebook.execution_count or cls._in_cell is None:
            cls._cell, cls._in_cell = notebook.execution_count, display(content, raw=True, display_id=True)
        else:
            cls._in_cell.update(content, raw=True)


@contextmanager
def shown(title: str = "") -> Iterator[Line]:
    """Show a line during the block, from its start if it has a title."""
    line = Line(title)
    if title:
        line.show(title)
    try:
        yield line
    finally:
        line.remove()


@contextmanager
def reporting(progress: Progress | bool | None) -> Iterator[Progress]:
    """Yield the function to call after each step of long work, from what was given as ``progress``."""
    if progress is True:
        with shown() as line:
            yield line
    else:
        yield progress or (lambda *_: None)


@contextmanager
def sent_to(listener: Callable[[str], None]) -> Iterator[None]:
    """Give lines to a function during the block, and the empty text when a line ends."""
    Line.listeners.append(listener)
    try:
        yield
    finally:
        Line.listeners.remove(listener)


def _notebook() -> Any:
    """Return the IPython of a notebook; None elsewhere, also in IPython's own terminal."""
    ipython = sys.modules.get("IPython")
    found = None if ipython is None else ipython.get_ipython()
    return found if hasattr(found, "kernel") else None


def _is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def _write(text: str) -> None:
    with suppress(AttributeError, OSError, ValueError):  # there is no stderr, or it is closed
        sys.stderr.write(text)
        sys.stderr.flush()
