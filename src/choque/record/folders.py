"""Folders for what a run writes: named after the scene and the moment, and never used twice."""

from __future__ import annotations

import os
import re
from datetime import datetime
from itertools import count
from pathlib import Path

from choque.errors import InvalidInput


def new_folder(parent: str | os.PathLike[str], scene: str, moment: datetime | None = None) -> Path:
    """Make the folder ``<scene>--<date>--<time>`` in ``parent``, which is made too if it is missing.

    A second run in the same second gets ``--2`` behind it, a third ``--3``: no run ever writes into the folder of
    another, not even when both start at the same time.
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
        reason = (getattr(problem, "strerror", None) or str(problem)).lower()
        raise InvalidInput(f"No folder can be made in {parent}: {reason}. Give another with --output.") from problem
    raise AssertionError("count never ends")


def plain_name(scene: str) -> str:
    """The name of a scene as a part of a file name: letters, digits, dots, dashes and underscores."""
    return re.sub(r"[^\w.-]+", "-", scene).strip(".-") or "scene"
