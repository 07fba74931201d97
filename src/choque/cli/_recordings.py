"""What the verbs that read recordings share: what is left of one that was cut off is used, and then named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from choque.record.frames import FrameFile

RecordingPath = Annotated[
    Path,
    typer.Argument(metavar="RECORDING", help="A recording, a scene.dat, or a folder with one.", show_default=False),
]


@contextmanager
def opened(path: Path) -> Iterator[FrameFile]:
    """Open whatever can be played; one whose end is missing serves as far as it goes, and is complained of at the end.

    A verb then ends with exit code 2, like after any file that is not as it should be, its work done on the frames that
    are there. Where there is not one, it ends before anything is done.
    """
    from choque.errors import UnreadableFile
    from choque.record import Recording
    from choque.record import open as open_frames

    frames = open_frames(path)
    truncated = frames.truncated if isinstance(frames, Recording) else ""
    if truncated and not frames.frame_count:
        raise UnreadableFile(truncated)
    yield frames
    if truncated:
        raise UnreadableFile(truncated)


@contextmanager
def as_far_as_it_goes(things: Sequence[str]) -> Iterator[None]:
    """The same around a verb that takes many things, of which one may be a recording."""
    from choque.record.recording import SUFFIX

    with ExitStack() as stack:
        for path in map(Path, things):
            inside = (found for depth in ("", "*/") for found in path.glob(f"{depth}*{SUFFIX}"))
            if path.suffix.lower() == SUFFIX or any(inside):
                stack.enter_context(opened(path))
        yield
