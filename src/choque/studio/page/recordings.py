"""The entry of the studio for recordings: those in ./output, any other by its path, a scene.dat of Fingsics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from choque.errors import InvalidInput
from choque.record import open as open_frames
from choque.record.recording import SUFFIX
from choque.studio.page.entries import Entry
from choque.studio.page.recording import RecordingView
from choque.theses.fingsics.scene_dat import NAME

FOLDER = Path("output")
"""The default folder of runs."""

MAX_LISTED = 200


def _recordings() -> dict[str, str]:
    """List the recordings in `FOLDER`, the newest first; links that lead out of it are left out."""
    if not FOLDER.is_dir():
        return {}
    root = FOLDER.resolve()
    found = {path for path in FOLDER.iterdir() if path.resolve().is_relative_to(root) and _claims(str(path))}
    newest = sorted(found, key=lambda path: path.stat().st_mtime, reverse=True)
    return {str(path): f"Recorded in {path}." for path in newest[:MAX_LISTED]}


def _open_recording(things: Sequence[str], parameters: Mapping[str, Any]) -> RecordingView:
    if len(things) != 1 or parameters:
        raise InvalidInput(f"{', '.join(things)} was given; give one recording, without parameters.")
    return RecordingView(open_frames(things[0]))


def _claims(word: str) -> bool:
    """Return whether this is a recording, or a folder with one."""
    path = Path(word)
    if path.is_dir():
        return any(path.glob(f"*{SUFFIX}")) or (path / NAME).is_file()
    return path.suffix.lower() in (SUFFIX, ".dat")


RECORDINGS = Entry(
    title="Recordings",
    about="Recorded runs in the folder ./output.",
    things=_recordings,
    open=_open_recording,
    suffixes=(SUFFIX, ".dat"),
    claims=_claims,
)
