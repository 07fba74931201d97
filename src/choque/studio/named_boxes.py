"""Scenes of boxes by a word: a file, or a generator with or without the number of boxes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from choque.errors import InvalidInput
from choque.scene import box_scene
from choque.scene.box_scene import BoxScene
from choque.scene.files import read_boxes


def find_boxes(word: str | os.PathLike[str], *, frame: int = 0, **parameters: Any) -> BoxScene:
    """Return the scene of boxes that ``word`` names, a file or a generator with or without ``:n``, with a ``frame``.

    ``parameters`` are those of a generator; not accepted for files.
    """
    word = os.fspath(word)
    name, colon, number = word.partition(":")
    if name in box_scene.GENERATORS and not Path(word).exists():
        if colon and not number.isdecimal():
            raise InvalidInput(f"The scene is {word!r}; write the number of boxes as in uniform:1000.")
        count = int(number) if colon else box_scene.GENERATORS.usual_count(name)
        given = {"n": count, "frames": frame + 1, **parameters}
        return box_scene.generate(name, given.pop("n"), **given)
    if parameters:
        raise InvalidInput(f"{', '.join(parameters)} was given with {word!r}, which is not a generator of boxes.")
    return read_boxes(word)
