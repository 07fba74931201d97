"""Output folders of runs, named after the scene and the time, and never used twice."""

from __future__ import annotations

import os
import re
from datetime import datetime
from itertools import count
from pathlib import Path

from choque.errors import InvalidInput


def run_folder(given: Path | None, parent: Path, scene: str) -> Path:
    """Return the folder of a run: the ``given`` one if it is new or empty, else a new one in it, or in ``parent``."""
    if given is None:
        return new_folder(parent, scene)
    try:
        given.mkdir(parents=True, exist_ok=True)
        used = any(given.iterdir())
    except (OSError, ValueError) as problem:
        raise _refusal(given, problem) from problem
    return new_folder(given, scene) if used else given


def new_folder(parent: str | os.PathLike[str], scene: str, moment: datetime | None = None) -> Path:
    """Make the folder ``<scene>--<date>--<time>`` in ``parent``, which is created if it is missing.

    A second run in the same second gets the suffix ``--2``, a third ``--3``: no run writes into the folder of another,
    even if both start at the same time.
    """
    stamp = (moment or datetime.now()).strftime("%Y-%m-%d--%H-%M-%S")
    base = f"{plain_name(scene)}--{stamp}"
    try:
        Path(parent).mkdir(parents=True, exist_ok=True)
        for number in count(1):
            folder = Path(parent) / (base if number == 1 else f"{base}--{number}")
            try:
                folder.mkdir()
            except FileExistsError:
                continue
            return folder
    except (OSError, ValueError) as problem:
        raise _refusal(parent, problem) from problem
    raise AssertionError("count never ends")


def _refusal(place: str | os.PathLike[str], problem: Exception) -> InvalidInput:
    reason = (getattr(problem, "strerror", None) or str(problem)).lower()
    return InvalidInput(f"No folder can be made in {place}: {reason}. Give another with --output.")


def plain_name(scene: str) -> str:
    """Return the name of a scene with letters, digits, dots, dashes and underscores only."""
    return re.sub(r"[^\w.-]+", "-", scene).strip(".-") or "scene"
