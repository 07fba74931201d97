"""Worlds as bytes: arrays and a page of JSON, read without running anything that is in it.

They are a zip archive of NumPy arrays. ``about`` holds the version of the format, the settings, the frame and the
time; ``body.*`` the columns of the bodies; ``hull.*`` their hulls; ``response.*`` what the response remembers;
``detection.*`` what a legacy sweep does.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from choque._core.ids import Identities
from choque.errors import InvalidInput, UnreadableFile
from choque.files.source import naming_damage
from choque.narrow.shapes import CONVEX, KIND_NAMES
from choque.world._bodies import FLOAT_COLUMNS, OTHER_COLUMNS, Bodies
from choque.world._hull_library import pack_hulls, unpack_hulls
from choque.world._settings import Settings
from choque.world.former import current_settings

if TYPE_CHECKING:
    from choque.world._world import World

    AnyWorld = TypeVar("AnyWorld", bound=World)

FORMAT = "choque-world"
VERSION = 1


def write_world(handle: IO[bytes], world: World) -> None:
    """Write ``world`` to an open file."""
    about = {
        "format": FORMAT,
        "version": VERSION,
        "settings": asdict(world.settings),
        "frame": world._frame,
        "time": world._time,
        "following": world._identities.following,
    }
    try:
        page = json.dumps(about, allow_nan=False)
    except (TypeError, ValueError):
        options = ", ".join(map(repr, world.settings.broad_options))
        raise InvalidInput(
            f"The options {options} of the broad phase cannot be written to a file; use numbers, names and lists."
        ) from None
    arrays: dict[str, NDArray[Any]] = {"about": np.array(page)}
    arrays |= {f"body.{name}": column for name, column in world._bodies.columns().items()}
    arrays |= {f"hull.{name}": array for name, array in pack_hulls(world._bodies.hulls).items()}
    arrays |= {f"broad.{name}": array for name, array in world._detection.state().items()}
    arrays |= {f"response.{name}": array for name, array in world._response.state().items()}
    np.savez(handle, **arrays)  # type: ignore[arg-type]


def read_world(kind: type[AnyWorld], handle: IO[bytes], path: Path, threads: int | None) -> AnyWorld:
    """The world that `write_world` wrote; `UnreadableFile` names ``path``, the file that the bytes come from."""
    with naming_damage(path), np.load(handle, allow_pickle=False) as archive:
        if "about" not in archive.files:
            raise UnreadableFile(
                f"The file {path} is no saved world; it holds {', '.join(archive.files) or 'nothing'}."
            )
        about = json.loads(str(archive["about"]))
        _check_version(path, about)
        arrays = {name: archive[name] for name in archive.files}
        settings = Settings(**current_settings(about["settings"]))
        if threads is not None:
            settings = replace(settings, threads=threads)
        world = kind.__new__(kind)
        world._engage(settings.checked())
        world._identities = Identities(arrays["body.ids"], int(about["following"]))
        hulls = unpack_hulls(_part(arrays, "hull."))
        columns = _part(arrays, "body.")
        world._bodies = _checked_bodies(path, columns, np.dtype(settings.dtype), world._identities, hulls)
        world._frame, world._time = int(about["frame"]), float(about["time"])
        world._latest, world._latest_ids = None, world._identities
        world._detection.restore(_part(arrays, "broad."))
        world._response.restore(_part(arrays, "response."))
    return world


def _part(arrays: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _check_version(path: Path, about: Any) -> None:
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise UnreadableFile(f"The file {path} is no saved world.")
    if about.get("version") != VERSION:
        raise UnreadableFile(
            f"The file {path} is a saved world of version {about.get('version')}; this release reads version {VERSION}."
        )


def _checked_bodies(
    path: Path, columns: dict[str, NDArray[Any]], dtype: np.dtype[Any], identities: Identities, hulls: Any
) -> Bodies:
    """The bodies, once no kernel can stumble over them."""
    wanted = {name: (dtype, shape) for name, shape in FLOAT_COLUMNS.items()}
    wanted |= {name: (np.dtype(kind), shape) for name, (kind, shape) in OTHER_COLUMNS.items()}
    count = len(identities.ids)
    for name, (number, shape) in wanted.items():
        column = columns.get(name)
        if column is None or column.shape != (count, *shape) or column.dtype != number:
            raise UnreadableFile(
                f"In {path}, the column {name!r} of the bodies is missing or of the wrong shape or type."
            )
        if number.kind == "f" and not np.isfinite(column).all():
            raise UnreadableFile(f"In {path}, the column {name!r} of the bodies holds numbers that are not finite.")
    ids = identities.ids
    if count and (ids[0] < 0 or (np.diff(ids) <= 0).any() or ids[-1] >= identities.following):
        raise UnreadableFile(f"In {path}, the ids of the bodies are not ascending.")
    if not ((columns["kind"] >= 0) & (columns["kind"] < len(KIND_NAMES))).all() or (columns["size"] < 0).any():
        raise UnreadableFile(f"In {path}, a body is of no known kind, or its size is negative.")
    hull = columns["hull"][columns["kind"] == CONVEX]
    if hull.size and (hulls is None or hull.min() < 0 or hull.max() >= len(hulls)):
        raise UnreadableFile(f"In {path}, a body refers to a hull that is not there.")
    return Bodies(**{name: columns[name] for name in wanted}, hulls=hulls)
