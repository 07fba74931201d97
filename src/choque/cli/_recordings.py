"""Opening recordings for verbs: one that is cut off is used as far as it goes, and then reported."""

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
    """Open a recording; raise an error at the end of the block if its end is missing.

    A verb then ends with exit code 2, after its work on the frames that are there; without any frame, it ends at once.
    """
    from choque.errors import UnreadableFile
    from choque.record import Recording
    from choque.record import open as open_frames

    frames = open_frames(path)
    remark = frames.remark if isinstance(frames, Recording) else ""
    is_cut_off = bool(remark) and isinstance(frames, Recording) and not frames.complete
    if is_cut_off and not frames.frame_count:
        raise UnreadableFile(remark)
    yield frames
    if is_cut_off:
        raise UnreadableFile(remark)
    if remark:
        typer.echo(remark, err=True)


@contextmanager
def as_far_as_it_goes(things: Sequence[str]) -> Iterator[None]:
    """Do the same for a verb that takes several things, some of which may be recordings."""
    from choque.record.recording import SUFFIX

    with ExitStack() as stack:
        for path in map(Path, things):
            inside = (found for depth in ("", "*/") for found in path.glob(f"{depth}*{SUFFIX}"))
            if path.suffix.lower() == SUFFIX or any(inside):
                stack.enter_context(opened(path))
        yield
