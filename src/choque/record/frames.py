"""Frames of recorded bodies: what the bodies are, where they are in each frame, and how files of frames are opened."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from choque._core.columns import Column, ColumnTable
from choque._core.registry import Registry
from choque._core.types import F32, I32, I64, U8, Bools
from choque.errors import UnreadableFile
from choque.narrow.shapes import CONVEX, KIND_NAMES, MESH
from choque.record._blocks import MARK
from choque.scene.body_scene import Camera
from choque.world.bodies import Bodies
from choque.world.hull_library import check_hull_meshes


@dataclass(frozen=True, eq=False)
class BodyTable(ColumnTable):
    """The columns of bodies that do not change while they move, one row for each body.

    Attributes
    ----------
    ids
        (n,) int32, ascending.
    kind, size, hull
        As in `choque.narrow.Shapes`; sizes are rounded to float32.
    color, drawn, rocket, static
        (n, 3) uint8, and (n,) bool each.
    hull_points, hull_first
        (p, 3) float32: the corners of all hulls; (h + 1,) int64: where those of each hull start.
    hull_triangles, hull_triangle_first
        (t, 3) int64: the faces of all hulls, numbered within their hull; (h + 1,) int64: where those of each hull
        start.
    """

    ids: I32
    kind: NDArray[np.int8]
    size: F32
    color: U8
    drawn: Bools
    rocket: Bools
    static: Bools
    hull: I32
    hull_points: F32
    hull_first: I64
    hull_triangles: I64
    hull_triangle_first: I64

    COLUMNS: ClassVar[Mapping[str, Column]] = {
        name: (Bodies.COLUMNS[name][0] or np.float32, Bodies.COLUMNS[name][1])
        for name in ("ids", "kind", "size", "color", "drawn", "rocket", "static", "hull")
    }

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def of(cls, bodies: Bodies) -> Self:
        """Return the table of the bodies of a world, as copies."""
        columns = {name: np.array(getattr(bodies, name), dtype=kind) for name, (kind, _) in cls.COLUMNS.items()}
        hulls = no_hulls()
        if bodies.hulls is not None:
            for name, empty in hulls.items():
                hulls[name] = np.array(getattr(bodies.hulls, name.removeprefix("hull_")), empty.dtype)
        return cls(**columns, **hulls)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the table with the arrays of a file, if they fit together."""
        try:
            table = cls(**{each.name: arrays[each.name] for each in fields(cls)})
        except KeyError as problem:
            raise UnreadableFile(f"its bodies have no column {problem}") from problem
        misfit = cls.misfit(arrays, len(table.ids))
        if misfit is not None:
            column = arrays[misfit]
            raise UnreadableFile(f"the column {misfit!r} of its bodies is {column.dtype} of shape {column.shape}")
        if len(table) and not 0 <= table.kind.min() <= table.kind.max() < len(KIND_NAMES):
            raise UnreadableFile("its bodies have an unknown kind")
        table._check_hulls()
        return table

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all arrays by name, those of the hulls included."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def hull_mesh(self, hull: int) -> tuple[F32, I64]:
        """Return the corners (k, 3) and faces (t, 3) of one hull, in its own frame."""
        points = self.hull_points[self.hull_first[hull] : self.hull_first[hull + 1]]
        return points, self.hull_triangles[self.hull_triangle_first[hull] : self.hull_triangle_first[hull + 1]]

    def _check_hulls(self) -> None:
        is_typed = self.hull_points.dtype == np.float32 and self.hull_triangles.dtype == np.int64
        has_hull = (self.kind == CONVEX) | (self.kind == MESH)
        try:
            check_hull_meshes(self.hull_points, self.hull_first, self.hull_triangles, self.hull_triangle_first)
            is_there = (self.hull >= -1) & (self.hull < len(self.hull_first) - 1) & ((self.hull >= 0) | ~has_hull)
            if not (is_typed and is_there.all()):
                raise ValueError
        except ValueError:
            raise UnreadableFile("the hulls of its bodies are damaged") from None


def no_hulls() -> dict[str, NDArray[Any]]:
    """Return the hull arrays of a table without convex bodies."""
    return {
        "hull_points": np.empty((0, 3), np.float32),
        "hull_first": np.zeros(1, np.int64),
        "hull_triangles": np.empty((0, 3), np.int64),
        "hull_triangle_first": np.zeros(1, np.int64),
    }


@dataclass(frozen=True, eq=False)
class Poses:
    """The poses of all bodies in one frame: ``position`` (n, 3) and ``rotation`` (n, 3, 3), float32."""

    position: F32
    rotation: F32

    def __len__(self) -> int:
        return len(self.position)


class Frames(Protocol):
    """Frames that can be replayed, drawn and converted."""

    @property
    def name(self) -> str:
        """The name of the scene, or of the file."""

    @property
    def frame_count(self) -> int:
        """How many frames there are; the first has the number 0."""

    @property
    def frames_per_second(self) -> float:
        """Frames per second of simulated time."""

    @property
    def camera(self) -> Camera:
        """The camera of the scene."""

    def bodies(self, index: int) -> BodyTable:
        """Return the bodies of frame ``index``; frames with the same bodies return the same object."""

    def frame(self, index: int) -> Poses:
        """Return the poses of frame ``index``; they may be kept, not changed."""


class FrameFile(Frames, Protocol):
    """An open file of frames: what a registered format returns when it is called with a path."""

    pattern: ClassVar[str]  # matches the files of the format in a folder: ``"*.choque"``

    path: Path

    def __init__(self, path: str | os.PathLike[str]) -> None: ...


FORMATS: Registry[type[FrameFile]] = Registry(
    "recording format", {"choque": "choque.record.recording:Recording"}, group="choque.recordings"
)
"""The formats that `open` reads; other packages add theirs by an entry point in ``choque.recordings``."""


def open(path: str | os.PathLike[str]) -> FrameFile:  # noqa: A001
    """Open a recording, or a file of another registered format, or the one in a folder.

    In a folder of runs it is the latest. Where a folder has files of several formats, Choque's own is preferred.
    """
    names = sorted(FORMATS.names(), key=lambda name: (name != "choque", name))
    formats = [FORMATS.find(name) for name in names]
    path = _latest_run(Path(path), formats)
    if path.is_dir():
        for kind in formats:
            if any(path.glob(kind.pattern)):
                return kind(path)
        known = " or ".join(kind.pattern for kind in formats)
        raise UnreadableFile(f"The folder {path} has no recording: no file {known}.")
    own, *others = formats
    for kind in others:
        if path.suffix.lower() == Path(kind.pattern).suffix and not _starts_with_mark(path):
            return kind(path)
    return own(path)


def _starts_with_mark(path: Path) -> bool:
    try:
        with path.open("rb") as handle:
            return handle.read(len(MARK)) == MARK
    except OSError:
        return False


def _latest_run(path: Path, formats: list[type[FrameFile]]) -> Path:
    """Return the folder in ``path`` that was recorded last, if ``path`` is a folder without a recording of its own."""
    if not path.is_dir() or _is_run(path, formats):
        return path
    runs = [folder for folder in path.iterdir() if folder.is_dir() and _is_run(folder, formats)]
    return max(runs, key=lambda folder: (folder.stat().st_mtime_ns, folder.name), default=path)


def _is_run(folder: Path, formats: list[type[FrameFile]]) -> bool:
    return any(any(folder.glob(kind.pattern)) for kind in formats)
