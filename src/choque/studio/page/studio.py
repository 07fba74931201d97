"""The studio: one page in the browser on which everything that moves can be watched, touched and replayed.

How it is put together, for whoever adds a view:

- A **view** is a subclass of `View` (`studio_view.py`): ``open(page)`` builds panels, keys and scene once, ``tick()``
  does what is due and says in how many seconds it wants to be called again (None: not before somebody does something),
  ``close()`` gives back what it took. A view reads its input in ``__init__``, so that bad input is refused before there
  is a page; what takes long (compiling, building worlds) belongs into ``open``.
- All of a view runs in one thread, that of the `Studio` (`studio_server.py`): buttons and keys of the page only hand an
  action over to it. So a view needs no locks, an idle studio sleeps, and a run goes on whether anybody looks or not.
- The `Page` (`studio_page.py`) is what a view builds with: ``page.tab``, ``page.side_tab``, ``page.folder``,
  ``page.button``, ``page.buttons``, ``page.checkbox``, ``page.choice``, ``page.slider``, ``page.number``,
  ``page.word``, ``page.text``, ``page.html``, ``page.key``, and viser's own ``page.scene`` and ``page.gui`` for all
  else. Each of these calls its action in the studio's thread; an action that raises a `ChoqueError` shows its
  sentence on the page and changes nothing else. Keys are listed on the page by themselves. ``page.go(view)`` opens
  another view, ``page.home()`` the chooser.
- An **entry** (`studio_entries.py`) is what the chooser lists and the command line finds: a name, a title, what it
  opens (names with a sentence each, file suffixes, parameters with defaults), and the function that makes the view. The
  table ``ENTRIES`` names modules, which are imported when they are needed; a new kind of view is one line there.

`open_studio(view, host, port)` starts a studio in the background and shows the view; ``view=None`` the chooser.
`show(world)` does that for a world or a run, in a notebook too. Up is +y everywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from choque.studio.page.entries import ENTRIES, Entry, find_view
from choque.studio.page.http import HOST, PORT
from choque.studio.page.page import Page
from choque.studio.page.server import Studio
from choque.studio.page.view import View

if TYPE_CHECKING:
    from choque.world import Run, World

__all__ = ["ENTRIES", "HOST", "PORT", "Entry", "Page", "Studio", "View", "find_view", "open_studio", "show"]


def open_studio(view: View | None = None, host: str = HOST, port: int | None = None) -> Studio:
    """Start a studio that serves ``view``, or the chooser, and works in the background.

    Parameters
    ----------
    view
        What to show first; None for the chooser.
    host
        The address to listen on; the default is reached from this machine alone.
    port
        The port to listen on, which must be free; None for the first free one from 8080 on.
    """
    studio = Studio(host, port)
    studio.start(view)
    return studio


def show(world: World | Run | Any, *, host: str = HOST, port: int | None = None) -> Studio:
    """Show a world, a run of one, a scene of bodies or a recording in the browser; a notebook shows the page itself.

    The world is watched as it is, not copied: what the page plays has happened to it.

    >>> studio = choque.show(world)      # doctest: +SKIP
    >>> studio.stop()                    # doctest: +SKIP
    """
    from choque.studio.page.entries import view_of

    return open_studio(view_of(world), host, port)
