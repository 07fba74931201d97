"""Scenes from files, by suffix."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias, TypeVar

from choque.errors import UnreadableFile
from choque.files.source import lower_suffix, read_head
from choque.scene.model import BoxScene

Loader: TypeAlias = Callable[[Path], BoxScene]
Registered = TypeVar("Registered", bound=Loader)

_loaders: dict[str, Loader] = {}


def loader(*suffixes: str) -> Callable[[Registered], Registered]:
    """Register a function from a path to a scene for files that end in one of ``suffixes``."""

    def register(function: Registered) -> Registered:
        _loaders.update(dict.fromkeys(suffixes, function))
        return function

    return register


def load(path: str | os.PathLike[str]) -> BoxScene:
    """Open the scene in a file: a baked one is memory-mapped, any other file of boxes is one frame."""
    # Here and not above: the formats import this module to register themselves.
    import choque.scene.formats  # noqa: F401

    path = Path(path)
    suffix = lower_suffix(path)
    if suffix not in _loaders:
        read_head(path)
        known = ", ".join(sorted(_loaders))
        raise UnreadableFile(f"The file {path} ends in {suffix!r}; scenes are read from {known}.")
    return _loaders[suffix](path)
