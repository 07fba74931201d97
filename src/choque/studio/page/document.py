"""One self-contained page of what the studio shows, to be opened without a server."""

from __future__ import annotations

import os
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

from choque._core import check
from choque._core.progress import reporting
from choque._core.types import Progress
from choque.errors import InvalidInput
from choque.files.atomic import beside, check_output
from choque.studio.page.entries import view_of
from choque.studio.page.http import as_ours
from choque.studio.page.recording import RecordingView
from choque.studio.page.server import Studio, load_viser
from choque.studio.page.view import View
from choque.studio.page.world import WorldView
from choque.studio.run import Run
from choque.world import World

SECONDS = 5.0
"""Default length of what a page plays [s]."""

MAX_SECONDS = 600.0
"""Maximum length of what a page plays [s]: every frame is part of the file."""

RATE = 30
"""Frames per second of what a page plays."""


def page(
    *things: Any,
    path: str | os.PathLike[str] | None = None,
    seconds: float = SECONDS,
    progress: Progress | bool | None = None,
) -> Path:
    """Write one self-contained HTML page that shows something in 3D, and return its path.

    The page needs no server, no network and no Python: it can be sent by mail. A world, a run, a scene of bodies or a
    recording plays in a loop; everything else is shown in its present state. The viewer takes a megabyte of the
    file, and each body about 30 bytes for each frame. The colours and cameras are those of `choque.show`.

    Parameters
    ----------
    things
        What `choque.show` shows: one thing, or two volumes. A world or a run is copied, not changed.
    path
        The file to write, which must end in ``.html``; None to take the last of ``things``. It is written beside and
        renamed.
    seconds
        Length of the animation [s], at most 600. A recording may be shorter.
    progress
        A function, called with the number of frames done, their total and the title; or True for a line.

    Examples
    --------
    >>> choque.page(world, "world.html", seconds=3)      # doctest: +SKIP
    """
    if path is None:
        *things, path = things or ("",)  # type: ignore[assignment]
    if not isinstance(path, str | os.PathLike):
        raise InvalidInput(f"The last argument is a {type(path).__name__}; it must be the path of a file .html.")
    target = Path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        raise InvalidInput(f"The page {target} must end in .html.")
    check.number(seconds, "seconds", maximum=MAX_SECONDS, above=0)
    check_output(target)
    load_viser()
    view = view_of(*(deepcopy(thing) if isinstance(thing, World | Run) else thing for thing in things))
    with Studio() as studio, reporting(progress) as report:
        studio.show_now(view)
        view.tick()  # what a view computes and draws when it is due
        view.be_still()
        recorder = studio.server.get_scene_serializer()
        total = round(seconds * RATE)
        for done, _ in enumerate(_frames(view, total)):
            recorder.insert_sleep(1 / RATE)
            report(done + 1, total, view.title)
        text = as_ours(recorder.as_html(dark_mode=True), view.title)
    with beside(target) as written:
        written.write_text(text, "utf-8")
    return target


def _frames(view: View, count: int) -> Iterator[None]:
    """Show up to ``count`` frames of a view, one after another; a view that does not move has none."""
    if isinstance(view, WorldView):
        period = 1 / RATE
        for number in range(1, count + 1):
            while view.run.world.time + 0.5 * view.run.dt < number * period and not view.run.finished:
                view.run.step()
            view.present()
            yield
    elif isinstance(view, RecordingView):
        replay = view.replay
        for number in range(1, count + 1):
            index = round(number / RATE * replay.frames.frames_per_second)
            if index > replay.last_frame:
                return
            replay.seek_to(index)
            view.present()
            yield
