"""Scenes by name and from files: read and written by suffix, built in, or generated."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from choque._core import check
from choque._core.registry import Registry
from choque.errors import InvalidInput, UnknownName, UnreadableFile, suggestion
from choque.files.box_arrays import FrameStore
from choque.files.boxes import open_boxes, write_frames
from choque.files.boxes import read_boxes as read_box_arrays
from choque.files.source import check_suffix, lower_suffix
from choque.scene import body_scene, box_scene
from choque.scene.body_scene import BodyScene
from choque.scene.box_scene import BoxScene

Scene: TypeAlias = BoxScene | BodyScene
BUILT_IN = Path(__file__).parent / "built_in"
SORTS = ("boxes", "bodies", "built-in")  # the sorts of scenes that have a name


class SceneFormat(NamedTuple):
    """A file format of scenes: how it is read, and how it is written, if it can be."""

    read: Callable[[Path], Scene]
    write: Callable[[Path, BodyScene], None] | None = None
    holds: str = "boxes"  # ``"boxes"`` or ``"bodies"``


FORMATS: Registry[SceneFormat] = Registry(
    "scene format",
    {
        **dict.fromkeys(("aabbs", "npz"), "choque.scene.files:FRAMES"),
        **dict.fromkeys(("csv", "npy", "parquet"), "choque.scene.files:SINGLE_FRAME"),
        "toml": "choque.scene.formats.toml_writer:TOML",
    },
    group="choque.scene_formats",
)
"""The formats by suffix, without its dot; other packages add theirs by an entry point in ``choque.scene_formats``."""


def _read_frames(path: Path) -> BoxScene:
    """Return the scene in a file of many frames, memory-mapped."""
    return _box_scene(open_boxes(path))


def _read_single_frame(path: Path) -> BoxScene:
    """Return a file of boxes as a scene of one frame."""
    lower, upper = read_box_arrays(path)
    return _box_scene(FrameStore(path.stem, lower[np.newaxis], upper[np.newaxis]))


def _box_scene(store: FrameStore) -> BoxScene:
    return BoxScene(store.name, store.box_count, store.dimension, store.frame_count, store.dtype, motion=store)


FRAMES, SINGLE_FRAME = SceneFormat(_read_frames), SceneFormat(_read_single_frame)


def body_suffixes() -> tuple[str, ...]:
    """Return the suffixes of files that hold scenes of bodies, sorted."""
    return tuple(f".{name}" for name in FORMATS.names() if FORMATS.find(name).holds == "bodies")


def names(sort: str = "boxes") -> list[str]:
    """List the names of scenes: generators of ``"boxes"`` or of ``"bodies"``, or ``"built-in"`` scenes of bodies."""
    check.choice(sort, "sort of scenes", SORTS)
    if sort == "built-in":
        return sorted(path.stem for path in _built_in_files())
    return (box_scene.GENERATORS if sort == "boxes" else body_scene.GENERATORS).names()


def parameters(name: str) -> dict[str, object]:
    """Return the parameters of the generator ``name``, of boxes or of bodies, with their defaults."""
    generators = body_scene.GENERATORS if name in body_scene.GENERATORS else box_scene.GENERATORS
    return generators.parameters(name)


def describe(name: str) -> str:
    """Return a sentence that describes the scene ``name``, of any sort."""
    for generators in (box_scene.GENERATORS, body_scene.GENERATORS):
        if name in generators:
            return generators.summary(name)
    if name in names("built-in"):
        return find_bodies(name).summary
    raise UnknownName("scene", str(name), [name for sort in SORTS for name in names(sort)], "choque scenes")


def find_bodies(
    word: str | os.PathLike[str], *, n: int | None = None, seed: int | None = None, **parameters: object
) -> BodyScene:
    """Return the scene of bodies that ``word`` names: a file, a built-in scene, or a generator with or without ``:n``.

    Parameters
    ----------
    word
        Such as ``"pile.toml"``, ``"bowling"`` or ``"mixed-box:1000"``. A file of that name takes precedence.
    n, seed, parameters
        Those of a generator, as in `bodies`; not accepted for others. A number in the word takes precedence over ``n``.
    """
    word = os.fspath(word)
    name, colon, number = word.partition(":")
    if is_generator(word):
        if colon and not number.isdecimal():
            raise InvalidInput(f"The scene is {word!r}; write the number of bodies as in mixed-box:1000.")
        count = int(number) if colon else body_scene.GENERATORS.usual_count(name) if n is None else n
        return body_scene.bodies(name, count, seed=0 if seed is None else seed, **parameters)
    given = [key for key, value in {"n": n, "seed": seed, **parameters}.items() if value is not None]
    if given:
        raise InvalidInput(
            f"{', '.join(given)} was given with {word!r}, which is not a generator; these are "
            f"{', '.join(names('bodies'))}."
        )
    known = " and ".join(body_suffixes())
    suffix = lower_suffix(word)
    if suffix.removeprefix(".") not in FORMATS and Path(word).is_file():
        raise UnreadableFile(f"The file {word} ends in {suffix!r}; scenes of bodies are {known} files.")
    scene = read(word)
    if not isinstance(scene, BodyScene):
        raise UnreadableFile(f"The file {word} holds boxes, not bodies; scenes of bodies are {known} files.")
    return scene


def is_generator(word: str) -> bool:
    """Tell whether a word is the name of a generator of bodies, with or without ``:n``, and not of a file."""
    return str(word).partition(":")[0] in body_scene.GENERATORS and not _exists(Path(word))


def read(path: str | os.PathLike[str]) -> Scene:
    """Return the scene in a file, or the built-in scene of that name.

    ``.toml`` files hold bodies, and so do the ``.xml`` files of the Fingsics engine. Files of boxes are scenes of one
    frame, or of many, which are memory-mapped. A word that is not a file is the name of a built-in scene, with or
    without the suffix of its file, or a generator of bodies, with or without their number: ``"mixed-box:1000"``.
    """
    if is_generator(str(path)):
        return find_bodies(path)
    path = _found(Path(path))
    suffix = lower_suffix(path)
    check_suffix(path, suffix, [f".{name}" for name in FORMATS], "scenes")
    return FORMATS.find(suffix.removeprefix(".")).read(path)


def read_boxes(path: str | os.PathLike[str]) -> BoxScene:
    """Return the scene of boxes in a file."""
    scene = read(path)
    if not isinstance(scene, BoxScene):
        raise UnreadableFile(f"The file {path} holds bodies, not boxes; run it, or bake a scene of boxes.")
    return scene


def write(path: str | os.PathLike[str], scene: Scene) -> None:
    """Write ``scene`` to ``path``, atomically: bodies to ``.toml`` or ``.xml``, boxes to ``.aabbs`` or ``.npz``.

    TOML keeps everything about bodies; the XML of the Fingsics engine has no place for boxes, grounds and settings.
    Frames of boxes are streamed: memory is that of a few frames. ``.aabbs`` is Broadmark's format, in float32.
    """
    if isinstance(scene, BoxScene):
        write_frames(path, scene.frames(), frame_count=scene.frame_count, name=scene.name)
        return
    if not isinstance(scene, BodyScene):
        raise InvalidInput(f"The scene is of type {type(scene).__name__}; give the path first, and then the scene.")
    suffix = lower_suffix(path)
    form = FORMATS.find(suffix.removeprefix(".")) if suffix.removeprefix(".") in FORMATS else None
    if form is None or form.write is None:
        raise UnknownName("format for bodies", suffix, body_suffixes())
    form.write(Path(path), scene)


def _built_in_files() -> list[Path]:
    suffixes = body_suffixes()
    return [path for path in BUILT_IN.iterdir() if path.suffix in suffixes]


def _found(path: Path) -> Path:
    """Return the file of a built-in name; other paths are returned unchanged."""
    if len(path.parts) != 1 or _exists(path):
        return path
    files = {file.stem: file for file in _built_in_files()}
    name = path.stem if path.suffix in body_suffixes() else path.name
    if name in files:
        return files[name]
    if path.suffix:
        return path
    raise UnreadableFile(f"There is no file {path}, and no scene of bodies of that name. {_hint(path.name, files)}")


def _hint(word: str, built_in: Iterable[str]) -> str:
    """Return the nearest names to a word that is neither a file nor a name; those of generators get a number."""
    name, colon, number = word.partition(":")
    if name in box_scene.GENERATORS:
        return f"{name} is a scene of boxes, for 'choque bake', 'choque bench' and 'choque view'."
    numbered = {each: f"{each}:{number or 1000}" for each in body_scene.GENERATORS.names()}
    known = [*([] if colon else built_in), *numbered]
    return suggestion(name, known, "choque scenes", lambda each: numbered.get(each, each))


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False
