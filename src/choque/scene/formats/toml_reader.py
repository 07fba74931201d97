"""Choque's own scenes, ``.toml``: bodies listed one by one, as arrays, or by generator and seed.

    choque = 1
    gravity = [0, -9.8, 0]

    [[bodies]]
    kind = "sphere"
    position = [[0, 5, 0], [0, 8, 0]]
    radius = 0.5

    [[bodies]]
    generator = "mixed-box"
    n = 100
    seed = 3

Every key is documented in ``docs/how-to/scenes.md``. An unknown key is an error.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from choque._core.types import F64, I64
from choque.broad.index import names as method_names
from choque.dynamics.response import RESPONSES
from choque.errors import UnknownName, UnreadableFile
from choque.files.source import naming_damage, read_text
from choque.scene.body_scene import GENERATORS, WORLD_SETTINGS, BodyScene, Camera, steps_per_second
from choque.scene.body_scene import bodies as generate_bodies
from choque.scene.columns import BOX, GROUND, KIND_WORDS, MESH, SOLIDS, SPHERE, BodyColumns, first_fault, join
from choque.scene.formats.toml_table import TomlLines, TomlTable
from choque.world.settings import FORMER_SETTINGS, Settings, current_settings

VERSION = 1  # the version of the format that this reads and writes
VECTORS = ("velocity", "acceleration", "angles", "spin", "surface_velocity")
VALUES = ("mass", "restitution", "friction", "rolling", "linear_damping", "angular_damping", "group", "mask")
FLAGS = ("static", "drawn", "rocket", "bullet", "sensor")
MATERIAL = ("mass", "restitution", "friction", "rolling", "color", "drawn", "group", "mask")
FIXED = (*VECTORS, *VALUES, "drawn", "color", "sensor")
MOVING = (*FIXED, "static", "bullet", "locked")
MESH_KEYS = ("vertices", "faces")

_NONE: dict[str, float] = {}
SIZES = ({"radius": 1.0}, {"radius": 1.0, "length": 1.0}, {"length": 30.0, "width": 30.0}, {"size": 1.0}, _NONE, _NONE)
"""The keys of the size of each kind, in the order of their numbers, with their defaults."""

ATTRIBUTES = (MOVING, (*MOVING, "rocket"), FIXED, MOVING, MATERIAL, FIXED)
"""The other keys of each kind: one value for all bodies of the entry, or one for each."""

_SCENE = ("choque", "name", "summary", "steps_per_second", "gravity", "camera", "world", "materials", "bodies")
_GENERATOR = ("generator", "n", "seed", "parameters", "offset", "ids")
_TEXTS = ("broad", "bounds", "narrow", "response", "dtype")
_LIMITS = ("max_speed", "max_spin")
MAX_KEY_PARTS = 100
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
LONG_KEY = re.compile(rf"(?<![\w-]){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{MAX_KEY_PARTS}}}")
"""A dotted key of more parts; the time of ``tomllib`` grows with the square of their number."""


def read_toml(path: Path) -> BodyScene:
    """Return the scene in a file; errors name the line."""
    with naming_damage(path):
        text = read_text(path, "TOML, which is text")
        return _scene(TomlTable(_parsed(path, text), path, TomlLines(text)), path)


def _parsed(path: Path, text: str) -> dict[str, Any]:
    deep = LONG_KEY.search(text)
    if deep is not None:
        line = text.count("\n", 0, deep.start()) + 1
        raise UnreadableFile(f"{path}, line {line}: a key has more than {MAX_KEY_PARTS} parts; scenes need three.")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        words = str(problem)
        place = re.search(r" \(at line (\d+), column \d+\)$", words)
        line = int(place[1]) if place else text.count("\n") + 1
        reason = words.partition(" (at ")[0]
        raise UnreadableFile(f"{path}, line {line}: this is not well-formed TOML: {reason}.") from problem


def _scene(document: TomlTable, path: Path) -> BodyScene:
    if "choque" not in document:
        raise UnreadableFile(f"{path}: the key choque is missing; a scene begins with choque = {VERSION}.")
    version = document.whole("choque")
    if version != VERSION:
        raise document.refusal("choque", f"this is version {version} of the format; this Choque reads {VERSION}.")
    document.require_known("a scene", _SCENE)
    with document.placing("steps_per_second"):
        steps = steps_per_second(document.whole("steps_per_second", 60))
    gravity = document.vector("gravity")
    world = document.table("world")
    settings = _settings(world)
    with world.placing("response"):
        restitution = RESPONSES.find(settings.get("response", Settings.response)).restitution
    materials = _materials(document.table("materials"), restitution)
    entries = document.tables("bodies")
    parts = [_bodies(entry, materials, gravity) for entry in entries]
    return BodyScene(
        name=document.text("name", path.stem),
        bodies=_placed(entries, parts),
        camera=_camera(document.table("camera")),
        steps_per_second=steps,
        settings=settings,
        summary=document.text("summary"),
    )


def _camera(table: TomlTable) -> Camera:
    default = Camera()
    table.require_known("a camera", ("radius", "pitch", "yaw"))
    values = {key: table.number(key, getattr(default, key)) for key in ("radius", "pitch", "yaw")}
    with table.placing(""):
        return Camera(**values)


def _settings(table: TomlTable) -> dict[str, Any]:
    """Read the settings of the world; their values are checked when it is made."""
    former = FORMER_SETTINGS.names()
    table.require_known("the world of a scene", (*WORLD_SETTINGS, *former, "broad_options"))
    settings: dict[str, Any] = {key: table.text(key) for key in _TEXTS if key in table}
    settings |= {key: table.number(key, 0.0) for key in _LIMITS if key in table}
    settings |= {key: bool(table.flags(key, 1).all()) for key in former if key in table}
    if "response_options" in table:
        settings["response_options"] = table.table("response_options").plain()
    if settings.get("broad", "auto") not in method_names():
        with table.placing("broad"):
            raise UnknownName("broad-phase method", settings["broad"], method_names(), "choque methods")
    options = table.table("broad_options")
    for key in set(options.plain()) & set(WORLD_SETTINGS):
        raise options.refusal(key, f"{key} is not an option of a broad phase; it belongs under [world].")
    return {**current_settings(settings), **options.plain()}


def _materials(table: TomlTable, restitution: float) -> dict[str, dict[str, Any]]:
    """Read the materials: attributes shared by bodies; what they do not say is that of ``default``."""
    materials: dict[str, dict[str, Any]] = {"default": {"restitution": restitution}}
    for name in table.plain():
        entry = table.table(name)
        entry.require_known("a material", MATERIAL)
        material = _attributes(entry, MATERIAL, 1)
        _require_fit(BodyColumns.filled(SPHERE, np.zeros(3), 1.0, **material), entry, "material")
        materials[name] = {**materials.get(name, {}), **material}
    return materials


def _bodies(entry: TomlTable, materials: dict[str, dict[str, Any]], gravity: F64 | None) -> BodyColumns:
    bodies = _generated(entry) if "generator" in entry else _listed(entry, materials)
    if gravity is not None and "acceleration" not in entry:
        bodies.acceleration[~bodies.static & ~bodies.acceleration.any(axis=1)] = gravity
    _require_fit(bodies, entry)
    return bodies


def _placed(entries: list[TomlTable], parts: list[BodyColumns]) -> BodyColumns:
    """Return all bodies in the order of their ids; entries without ids get the remaining ones, in their order."""
    bodies = join(*parts)
    free = np.ones(len(bodies), dtype=bool)
    places: dict[int, I64] = {}
    for number, (entry, part) in enumerate(zip(entries, parts, strict=True)):
        if "ids" in entry:
            places[number] = ids = entry.ids("ids", len(part))
            if len(np.unique(ids)) != len(ids) or ids.max(initial=-1) >= len(free) or not free[ids].all():
                raise entry.refusal("ids", f"an id is given twice, or is not below {len(free)}, the number of bodies.")
            free[ids] = False
    if not places:
        return bodies
    rest = iter(np.flatnonzero(free).tolist())
    for number, part in enumerate(parts):
        if number not in places:
            places[number] = np.array([next(rest) for _ in range(len(part))], dtype=np.int64)
    return bodies.take(np.argsort(np.concatenate([places[number] for number in range(len(parts))])))


def _generated(entry: TomlTable) -> BodyColumns:
    entry.require_known("a generator", _GENERATOR)
    name, count, seed = entry.text("generator"), entry.whole("n"), entry.whole("seed", 0)
    parameters = entry.table("parameters")
    with entry.placing("generator"):
        parameters.require_known(f"the generator {name!r}", list(GENERATORS.parameters(name)))
        made = generate_bodies(name, count, seed=seed, **parameters.plain()).bodies
    offset = entry.vector("offset")
    return made if offset is None else made.moved(offset)


def _listed(entry: TomlTable, materials: dict[str, dict[str, Any]]) -> BodyColumns:
    word, material = entry.text("kind"), entry.text("material", "default")
    if word not in (*KIND_WORDS, *SOLIDS):
        raise entry.unfit("kind", f"one of {', '.join((*KIND_WORDS, *SOLIDS[1:]))}; or give a generator instead")
    if material not in materials:
        raise entry.unfit("material", f"one of those under [materials]: {', '.join(materials)}")
    kind = BOX if word in SOLIDS else KIND_WORDS.index(word)
    place = "height" if kind == GROUND else "position"
    own = MESH_KEYS if kind == MESH else tuple(SIZES[kind])
    entry.require_known(f"a {word}", ("kind", place, *own, *ATTRIBUTES[kind], "material", "ids"))
    position = _positions(entry, kind)
    attributes = {**materials["default"], **materials[material], **_attributes(entry, ATTRIBUTES[kind], len(position))}
    attributes["solid"] = SOLIDS.index(word) if word in SOLIDS else 0
    attributes["mesh"] = _mesh(entry) if kind == MESH else None
    with entry.placing("kind"):
        return BodyColumns.filled(kind, position, _sizes(entry, kind, len(position)), **attributes)


def _mesh(entry: TomlTable) -> Any:
    from choque.meshes import Mesh

    vertices, faces = (np.atleast_2d(entry.vectors(key, None)) for key in MESH_KEYS)
    if not (np.isfinite(faces) & (faces == np.floor(faces))).all():
        raise entry.unfit("faces", "rows of three whole numbers, each that of a vertex from 0 on")
    with entry.placing("vertices"):
        return Mesh(vertices, faces.astype(np.int64))


def _positions(entry: TomlTable, kind: int) -> F64:
    if kind == GROUND:
        return np.array([[0.0, entry.number("height", 0.0), 0.0]])
    return np.atleast_2d(entry.vectors("position", None)) if "position" in entry else np.zeros((1, 3))


def _sizes(entry: TomlTable, kind: int, count: int) -> F64:
    size = np.zeros((count, 3))
    for place, (key, default) in enumerate(SIZES[kind].items()):
        column, read = (size, entry.vectors) if kind == BOX else (size[:, place], entry.values)
        column[:] = read(key, count) if key in entry else default
    return size


def _attributes(entry: TomlTable, keys: tuple[str, ...], count: int) -> dict[str, Any]:
    """Read the attributes that are there, each a value for all bodies or one for each of ``count``."""
    readers: dict[str, Callable[[str, int], Any]] = {
        **dict.fromkeys(VECTORS, entry.vectors),
        **dict.fromkeys(VALUES, entry.values),
        **dict.fromkeys(FLAGS, entry.flags),
        "color": entry.colors,
        "locked": entry.locks,
    }
    return {key: readers[key](key, count) for key in keys if key in entry}


def _require_fit(bodies: BodyColumns, entry: TomlTable, kind: str | None = None) -> None:
    fault = first_fault(bodies)
    if fault is not None:
        which = f"body {fault.row} of these {len(bodies)}: " if len(bodies) > 1 else ""
        raise entry.refusal(fault.attribute, which + fault.sentence(kind=kind))
