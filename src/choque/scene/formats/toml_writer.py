"""Writing scenes as ``.toml``: consecutive bodies of one kind share an entry, and columns become arrays."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque.errors import InvalidInput
from choque.files.atomic import replacing
from choque.scene.body_scene import WORLD_SETTINGS, BodyScene
from choque.scene.columns import BOX, DEFAULTS, GROUND, KIND_WORDS, MESH, SOLIDS, BodyColumns
from choque.scene.files import SceneFormat
from choque.scene.formats.toml_reader import ATTRIBUTES, MESH_KEYS, SIZES, VERSION, read_toml

MAX_RUNS = 32  # if kinds change more often than this from row to row, each has one entry, with the ids of its bodies


def write_toml(path: str | os.PathLike[str], scene: BodyScene) -> None:
    """Write ``scene``, so that reading returns the same scene, bit for bit; generated bodies are written one by one."""
    with replacing(path) as handle:
        for line in _document(scene):
            handle.write(f"{line}\n".encode())


TOML = SceneFormat(read_toml, write_toml, "bodies")


def _document(scene: BodyScene) -> Iterator[str]:
    yield f"choque = {VERSION}"
    yield f"name = {_text(scene.name)}"
    if scene.summary:
        yield f"summary = {_text(scene.summary)}"
    yield f"steps_per_second = {scene.steps_per_second}"
    yield from _table("camera", vars(scene.camera))
    own = {key: value for key, value in scene.settings.items() if value is not None}
    response = own.pop("response_options", {})
    yield from _table("world", {key: value for key, value in own.items() if key in WORLD_SETTINGS})
    yield from _table("world.response_options", response)
    yield from _table("world.broad_options", {key: value for key, value in own.items() if key not in WORLD_SETTINGS})
    bodies = scene.bodies
    kinds = bodies.kind + np.where(bodies.kind == BOX, 10 * bodies.solid.astype(np.int64), 0)
    alone = np.flatnonzero(np.isin(bodies.kind, (GROUND, MESH)))
    kinds[alone] = 10_000 + alone  # each of them has an entry of its own
    entries = np.split(np.arange(len(kinds)), np.flatnonzero(np.diff(kinds)) + 1) if len(kinds) else []
    in_order = len(entries) <= MAX_RUNS
    if not in_order:
        entries = [np.flatnonzero(kinds == kind) for kind in np.unique(kinds).tolist()]
    for rows in entries:
        yield from _entry(bodies.take(rows))
        if not in_order:
            yield f"ids = {_text(rows.tolist())}"


def _table(name: str, values: Mapping[str, Any]) -> Iterator[str]:
    if values:
        yield from ("", f"[{name}]")
        for key, value in values.items():
            yield f"{_key(key)} = {_text(value)}"


def _entry(bodies: BodyColumns) -> Iterator[str]:
    kind = int(bodies.kind[0])
    word = SOLIDS[bodies.solid[0]] if kind == BOX else KIND_WORDS[kind]
    yield from ("", "[[bodies]]", f'kind = "{word}"')
    if kind == GROUND:
        yield f"height = {_text(float(bodies.position[0, 1]))}"
    else:
        yield f"position = {_rows(bodies.position)}"
    for key in MESH_KEYS if kind == MESH else ():
        yield f"{key} = {_rows(getattr(bodies.mesh[0], key))}"
    for place, key in enumerate(SIZES[kind]):
        yield f"{key} = {_column(bodies.size if kind == BOX else bodies.size[:, place])}"
    for key in ATTRIBUTES[kind]:
        column = getattr(bodies, key)
        # The restitution that bodies of a file have by default depends on the response.
        if key == "restitution" or not np.array_equal(
            column, np.broadcast_to(np.asarray(DEFAULTS[key], column.dtype), column.shape)
        ):
            yield f"{key} = {_column(column)}"


def _column(column: NDArray[Any]) -> str:
    """Return one value if all bodies share it, else one for each."""
    if (column == column[0]).all():
        return _text(column[0].tolist())
    return _rows(column)


def _rows(column: NDArray[Any]) -> str:
    if len(column) == 1:
        return _text(column[0].tolist())
    if column.ndim == 1:
        return _text(column.tolist())
    return "[\n" + "".join(f"    {_text(row)},\n" for row in column.tolist()) + "]"


def _text(value: Any) -> str:
    """Return a value as TOML; numbers are the shortest that read back as the same."""
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + "".join(map(_character, value)) + '"'
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating):
        return repr(float(value))
    if isinstance(value, list | tuple | np.ndarray):
        return "[" + ", ".join(_text(each) for each in value) + "]"
    raise InvalidInput(f"A scene file cannot hold {value!r:.80}; settings are numbers, texts, truth values and lists.")


def _key(key: str) -> str:
    plain = key.isascii() and key.replace("_", "").replace("-", "").isalnum()
    return key if plain else _text(key)


def _character(each: str) -> str:
    if each in '"\\':
        return "\\" + each
    if each.isprintable() or each == " ":
        return each
    code = ord(each)
    # Half of a surrogate pair is no character, and no file in UTF-8 can hold it.
    return "\ufffd" if 0xD800 <= code <= 0xDFFF else f"\\U{code:08x}"
