"""The studio: one page in the browser that shows worlds, recordings, motion and volumes.

How to add a view:

- A **view** is a subclass of `View` (`view.py`): ``open(page)`` builds panels, keys and scene once, ``tick()`` does
  what is due and returns the seconds until its next call (None: after the next action), ``close()`` releases what the
  view holds. A view reads its input in ``__init__``, so that bad input is refused before there is a page; slow work
  (compiling, building worlds) belongs in ``open``.
- A view runs in one thread, that of the `Studio` (`server.py`): buttons and keys of the page only queue actions. So a
  view needs no locks, an idle studio sleeps, and a run goes on without any open tab.
- The `Page` (`page.py`) is what a view builds with: ``page.tab``, ``page.side_tab``, ``page.folder``,
  ``page.button``, ``page.buttons``, ``page.checkbox``, ``page.choice``, ``page.slider``, ``page.number``,
  ``page.word``, ``page.text``, ``page.html``, ``page.key``, and viser's ``page.scene`` and ``page.gui`` for everything
  else. Actions run in the thread of the studio; one that raises a `ChoqueError` shows its message on the page. Keys
  are listed on the page automatically. ``page.go(view)`` opens another view, ``page.home()`` the chooser.
- An **entry** (`entries.py`) is what the chooser lists and the command line finds: a name, a title, what it opens
  (names with descriptions, file suffixes, parameters with defaults), and the function that makes the view. A new kind
  of view is one line in the registry ``ENTRIES``, or an entry point of the group ``choque.studio`` in any package.

`open_studio(view, host, port)` starts a studio in the background; `show(thing)` does so for objects in memory, also in
a notebook. Up is +y everywhere.
"""

from __future__ import annotations

import sys
import webbrowser
from contextlib import suppress
from typing import Any

from choque.studio.page.entries import ENTRIES, Entry, find_view
from choque.studio.page.http import HOST, PORT
from choque.studio.page.page import Page
from choque.studio.page.server import Studio
from choque.studio.page.view import View

__all__ = ["ENTRIES", "HOST", "PORT", "Entry", "Page", "Studio", "View", "find_view", "open_studio", "show"]


def open_studio(view: View | None = None, host: str = HOST, port: int | None = None) -> Studio:
    """Start a studio in the background.

    Parameters
    ----------
    view
        The first view; None for the chooser.
    host
        The address to listen on; the default is reachable from this machine only.
    port
        The port to listen on, which must be free; None for the first free one from 8080 on.
    """
    studio = Studio(host, port)
    studio.start(view)
    return studio


def show(
    *things: Any, host: str = HOST, port: int | None = None, browser: bool | None = None, wait: bool | None = None
) -> Studio:
    """Show something in the browser: worlds, recordings, boxes, areas, neighbours, meshes, one or two volumes.

    Parameters
    ----------
    things
        One thing, two volumes, a volume and a mesh, or meshes: a world, a run, a scene of bodies, a recording,
        `interest.Areas`, `Neighbors`, a `Mesh`, a `meshes.Scene`. A single volume comes with a small ball to touch it
        with. Boxes can be any `choque.bounds`, a broad phase or a `kinetic.Sweep`: they are shown as they are now. A
        world is not copied: running it on the page changes it. Areas and neighbours are followed: change them by
        `Studio.ask`.
    host, port
        As in `open_studio`.
    browser
        Whether to open a browser; None to do so except in a notebook, which shows the page itself.
    wait
        Whether to return only when Ctrl+C is pressed; None to wait in a script, which would end at once otherwise.

    The address is printed if a browser is opened, and if the call waits.

    Examples
    --------
    >>> studio = choque.show(world)      # doctest: +SKIP
    >>> studio.stop()                    # doctest: +SKIP
    """
    from choque.studio.page.entries import view_of

    studio = open_studio(view_of(*things), host, port)
    opens = browser if browser is not None else not _is_notebook()
    waits = wait if wait is not None else not _is_interactive()
    if opens or waits:
        sys.stdout.write(f"The studio is at {studio.url}\n")
    if opens:
        webbrowser.open(studio.url)
    if waits:
        sys.stdout.write("Ctrl+C stops it.\n")
        sys.stdout.flush()
        with suppress(KeyboardInterrupt):
            studio.wait()
        studio.stop()
    return studio


def _is_notebook() -> bool:
    """Return whether a notebook shows the results of this process."""
    shell = sys.modules.get("IPython")
    running = None if shell is None else shell.get_ipython()
    return running is not None and hasattr(running, "kernel")


def _is_interactive() -> bool:
    """Return whether a prompt follows: in a notebook, a REPL, or with ``python -i``."""
    shell = sys.modules.get("IPython")
    return hasattr(sys, "ps1") or bool(sys.flags.interactive) or (shell is not None and shell.get_ipython() is not None)
