"""Opening whatever can be played, by what it is."""

from __future__ import annotations

import os
from pathlib import Path

from choque.errors import UnreadableFile
from choque.record._blocks import MARK
from choque.record._recording import SUFFIX, Recording
from choque.record.scene_dat import NAME, SceneDat


def open_frames(path: str | os.PathLike[str]) -> Recording | SceneDat:
    """Open a recording of Choque's or a ``scene.dat`` of the original, or the one in a folder; Choque's goes first."""
    path = Path(path)
    if path.is_dir():
        if any(path.glob(f"*{SUFFIX}")):
            return Recording(path)
        if (path / NAME).is_file():
            return SceneDat(path)
        raise UnreadableFile(f"The folder {path} has neither a recording (*{SUFFIX}) nor a {NAME}.")
    if path.suffix.lower() == ".dat" and not _starts_with_mark(path):
        return SceneDat(path)
    return Recording(path)


def _starts_with_mark(path: Path) -> bool:
    try:
        with path.open("rb") as handle:
            return handle.read(len(MARK)) == MARK
    except OSError:
        return False
