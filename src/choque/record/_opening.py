"""Opening whatever can be played, by what it is."""

from __future__ import annotations

import os
from pathlib import Path

from choque.errors import UnreadableFile
from choque.record._blocks import MARK
from choque.record._recording import SUFFIX, Recording
from choque.theses.fingsics.scene_dat import NAME, SceneDat


def open_frames(path: str | os.PathLike[str]) -> Recording | SceneDat:
    """Open a recording of Choque's or a ``scene.dat`` of the original, or the one in a folder; Choque's goes first.

    In a folder of runs it is the latest.
    """
    path = _latest_run(Path(path))
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


def _latest_run(path: Path) -> Path:
    """The folder in ``path`` that was recorded last, if ``path`` is a folder without a recording of its own."""
    if not path.is_dir() or _is_run(path):
        return path
    runs = [folder for folder in path.iterdir() if folder.is_dir() and _is_run(folder)]
    return max(runs, key=lambda folder: (folder.stat().st_mtime_ns, folder.name), default=path)


def _is_run(folder: Path) -> bool:
    return any(folder.glob(f"*{SUFFIX}")) or (folder / NAME).is_file()
