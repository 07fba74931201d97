"""Worlds as bytes: a zip archive of NumPy arrays, read without executing anything in it.

``about`` is a JSON text with the version of the format, the settings, the frame and the time; ``body.*`` are the
columns of the bodies, ``hull.*`` their hulls; ``broad.*`` and ``response.*`` the memory of the broad phase and of the
response. Files of version 1, which have fewer columns, are read with the defaults of those that they lack.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from choque._core.ids import Identities
from choque.errors import InvalidInput, UnreadableFile
from choque.files.source import naming_damage
from choque.narrow.shapes import KIND_NAMES
from choque.world.arguments import DEFAULTS, MAX_BODIES
from choque.world.bodies import Bodies
from choque.world.hull_library import pack_hulls, unpack_hulls
from choque.world.settings import Settings

if TYPE_CHECKING:
    from choque.world._world import World

    AnyWorld = TypeVar("AnyWorld", bound=World)

FORMAT = "choque-world"
VERSION = 2
READABLE = (1, VERSION)


def write_world(handle: IO[bytes], world: World) -> None:
    """Write ``world`` to an open file."""
    about = {
        "format": FORMAT,
        "version": VERSION,
        "settings": asdict(world.settings),
        "frame": world.frame,
        "time": world.time,
        "following": world._identities.following,
    }
    try:
        page = json.dumps(about, allow_nan=False)
    except (TypeError, ValueError):
        options = ", ".join(map(repr, world.settings.broad_options))
        raise InvalidInput(
            f"The options {options} of the broad phase cannot be written to a file; use numbers, names and lists."
        ) from None
    arrays: dict[str, NDArray[Any]] = {"about": np.array(page), "sensed": world._sensed}
    arrays |= {f"body.{name}": column for name, column in world.bodies.columns().items()}
    if world.bodies.hulls is not None:
        arrays |= {f"hull.{name}": array for name, array in pack_hulls(world.bodies.hulls).items()}
    arrays |= {f"broad.{name}": array for name, array in world.detection.state().items()}
    arrays |= {f"response.{name}": array for name, array in world.response.state().items()}
    np.savez(handle, **arrays)  # type: ignore[arg-type]


def read_world(kind: type[AnyWorld], handle: IO[bytes], path: Path, threads: int | None) -> AnyWorld:
    """Return the world that `write_world` wrote; errors name ``path``, the file that the bytes come from."""
    with naming_damage(path), np.load(handle, allow_pickle=False) as archive:
        if "about" not in archive.files:
            raise UnreadableFile(
                f"The file {path} is not a saved world; it holds {', '.join(archive.files) or 'nothing'}."
            )
        about = json.loads(str(archive["about"]))
        if not isinstance(about, dict) or about.get("format") != FORMAT:
            raise UnreadableFile(f"The file {path} is not a saved world.")
        if (version := about.get("version")) not in READABLE:
            raise UnreadableFile(
                f"The file {path} is a saved world of version {version}; this release reads versions 1 and 2."
            )
        arrays = {name: archive[name] for name in archive.files}
        if about["version"] == 1:
            _complete(arrays)
        settings = Settings.from_file(about["settings"])
        options = {**settings.arguments(), **({} if threads is None else {"threads": threads})}
        world = kind(**options)
        identities = Identities(arrays["body.ids"], int(about["following"]))
        hulls = unpack_hulls(_part(arrays, "hull."))
        bodies = _checked_bodies(path, _part(arrays, "body."), np.dtype(settings.dtype), identities, hulls)
        world._resume(bodies, identities, int(about["frame"]), float(about["time"]))
        world._sensed = sensed = arrays["sensed"]
        if sensed.dtype != np.int32 or sensed.ndim != 2 or sensed.shape[1] != 2:
            raise UnreadableFile(f"In {path}, the bodies that overlapped sensors are damaged.")
        world.detection.restore(_part(arrays, "broad."))
        world.response.restore(_part(arrays, "response."))
    return world


def _part(arrays: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _complete(arrays: dict[str, NDArray[Any]]) -> None:
    """Add to the arrays of version 1 what they lack."""
    if "body.elasticity" in arrays:
        arrays["body.restitution"] = arrays.pop("body.elasticity")
    arrays.setdefault("sensed", np.empty((0, 2), np.int32))
    count, floats = arrays["body.ids"].size, arrays["body.position"].dtype
    for name, (kind, shape) in Bodies.COLUMNS.items():
        default = DEFAULTS.get(name)
        if default is not None and f"body.{name}" not in arrays:
            arrays[f"body.{name}"] = np.full((count, *shape), default, kind or floats)


def _checked_bodies(
    path: Path, columns: dict[str, NDArray[Any]], dtype: np.dtype[Any], identities: Identities, hulls: Any
) -> Bodies:
    """Return the bodies if every column is valid; kernels rely on it."""
    ids = identities.ids
    misfit = Bodies.misfit(columns, len(ids), dtype)
    if misfit is not None:
        raise UnreadableFile(
            f"In {path}, the column {misfit!r} of the bodies is missing or of the wrong shape or type."
        )
    for name, column in columns.items():
        if column.dtype.kind == "f" and not np.isfinite(column).all():
            raise UnreadableFile(f"In {path}, the column {name!r} of the bodies holds numbers that are not finite.")
    if len(ids) and (ids[0] < 0 or (np.diff(ids) <= 0).any() or not ids[-1] < identities.following <= MAX_BODIES):
        raise UnreadableFile(f"In {path}, the ids of the bodies are not ascending, or not below {MAX_BODIES:,}.")
    if not ((columns["kind"] >= 0) & (columns["kind"] < len(KIND_NAMES))).all() or (columns["size"] < 0).any():
        raise UnreadableFile(f"In {path}, a body is of an unknown kind, or its size is negative.")
    bodies = Bodies(**{name: columns[name] for name in Bodies.COLUMNS}, hulls=hulls)
    try:
        bodies.shapes().check_hulls()
    except InvalidInput as problem:
        raise UnreadableFile(f"In {path}, a body refers to a hull that is not there: {problem}") from None
    return bodies
