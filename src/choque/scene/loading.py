"""Scenes from files, by suffix, and those that come with the package, by name."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeAlias, TypeVar

from choque.errors import UnreadableFile
from choque.files.source import lower_suffix, read_head
from choque.scene.body_registry import body_names
from choque.scene.body_scene import BodyScene
from choque.scene.model import BoxScene

Scene: TypeAlias = BoxScene | BodyScene
Loader: TypeAlias = Callable[[Path], Scene]
Registered = TypeVar("Registered", bound=Loader)

BUILT_IN = Path(__file__).parent / "built_in"
BODY_SUFFIXES = (".toml", ".xml")
"""Of files that hold scenes of bodies."""

_loaders: dict[str, Loader] = {}


def loader(*suffixes: str) -> Callable[[Registered], Registered]:
    """Register a function from a path to a scene for files that end in one of ``suffixes``."""

    def register(function: Registered) -> Registered:
        _loaders.update(dict.fromkeys(suffixes, function))
        return function

    return register


def load(path: str | os.PathLike[str]) -> Scene:
    """Open the scene in a file, or the built-in one of that name.

    ``.xml`` and ``.toml`` hold bodies. All else holds boxes: a baked scene is memory-mapped, any other file of boxes is
    one frame. A word that is no file is the name of a built-in scene, as `built_in_names` lists them, with or without
    the suffix of its file.
    """
    # Here and not above: the formats import this module to register themselves.
    import choque.scene.formats  # noqa: F401

    path = _found(Path(path))
    suffix = lower_suffix(path)
    if suffix not in _loaders:
        read_head(path)
        known = ", ".join(sorted(_loaders))
        raise UnreadableFile(f"The file {path} ends in {suffix!r}; scenes are read from {known}.")
    return _loaders[suffix](path)


def load_bodies(path: str | os.PathLike[str]) -> BodyScene:
    """Open a scene as `load` does, refused unless it is one of bodies."""
    scene = load(path)
    if not isinstance(scene, BodyScene):
        raise UnreadableFile(f"The file {path} holds boxes, not bodies; scenes of bodies are .xml and .toml files.")
    return scene


def load_boxes(path: str | os.PathLike[str]) -> BoxScene:
    """Open a scene as `load` does, refused unless it is one of boxes."""
    scene = load(path)
    if not isinstance(scene, BoxScene):
        raise UnreadableFile(f"The file {path} holds bodies, not boxes; run it, or bake a scene of boxes.")
    return scene


def built_in_names() -> list[str]:
    """List the scenes of bodies that come with the package, sorted."""
    return sorted(path.stem for path in _built_in_files())


def _built_in_files() -> list[Path]:
    return [path for path in BUILT_IN.iterdir() if path.suffix in BODY_SUFFIXES]


def _found(path: Path) -> Path:
    """Turn a built-in name into its file; every other path stays as it is."""
    if len(path.parts) != 1 or _exists(path):
        return path
    files = {file.stem: file for file in _built_in_files()}
    name = path.stem if path.suffix in BODY_SUFFIXES else path.name
    if name in files:
        return files[name]
    if path.suffix:
        return path
    if path.name in body_names():
        raise UnreadableFile(
            f"There is no file {path}; {path.name!r} is a generator, so say how many: "
            f"choque.scene.bodies({path.name!r}, n)."
        )
    raise UnreadableFile(f"There is no file {path}, and no built-in scene of that name. {_hint(path.name, files)}")


def _hint(word: str, built_in: Iterable[str]) -> str:
    """What may have been meant by a word that is neither a file nor a name, or else all names."""
    name, colon, number = word.partition(":")
    generators = body_names()
    near = difflib.get_close_matches(name, generators if colon else [*built_in, *generators], n=1)
    if not near:
        listed, made = ", ".join(sorted(built_in)), ", ".join(generators)
        return f"Built in are {listed}; generators, as in mixed-box:1000, are {made}."
    meant = f"{near[0]}:{number or 1000}" if near[0] in generators else near[0]
    return f"Did you mean {meant!r}?"


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False
