"""Who is in a recording: what of the bodies does not change while they move."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from choque.errors import UnreadableFile
from choque.narrow.shapes import CONVEX, KIND_NAMES

_COLUMNS = {
    "ids": ("int32", ()),
    "kind": ("int8", ()),
    "size": ("float32", (3,)),
    "color": ("uint8", (3,)),
    "drawn": ("bool", ()),
    "rocket": ("bool", ()),
    "static": ("bool", ()),
    "hull": ("int32", ()),
}
"""The columns, one row a body: their types and what follows the first axis."""


@dataclass(frozen=True, eq=False)
class Cast:
    """The bodies of a recording apart from their poses, one row a body.

    Attributes
    ----------
    ids
        (n,) int32, ascending.
    kind, size, hull
        As in `choque.narrow.Shapes`; sizes are rounded to float32.
    color, drawn, rocket, static
        (n, 3) uint8, and three times (n,) bool.
    hull_points, hull_first
        (p, 3) float32: the corners of all hulls that convex bodies refer to; (h + 1,) int64: where those of each start.
    hull_triangles, hull_triangle_first
        (t, 3) int64: the faces of all hulls, numbered within their hull; (h + 1,) int64: where those of each start.
    """

    ids: NDArray[np.int32]
    kind: NDArray[np.int8]
    size: NDArray[np.float32]
    color: NDArray[np.uint8]
    drawn: NDArray[np.bool_]
    rocket: NDArray[np.bool_]
    static: NDArray[np.bool_]
    hull: NDArray[np.int32]
    hull_points: NDArray[np.float32]
    hull_first: NDArray[np.int64]
    hull_triangles: NDArray[np.int64]
    hull_triangle_first: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def of(cls, bodies: Any) -> Self:
        """Take the cast of the `Bodies` of a world, as copies."""
        columns = {name: np.array(getattr(bodies, name), dtype=kind) for name, (kind, _) in _COLUMNS.items()}
        return cls(**columns, **_hull_arrays(bodies.hulls))

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> Self:
        """Take a cast from the arrays of a file, refused unless they fit together."""
        try:
            cast = cls(**{each.name: arrays[each.name] for each in fields(cls)})
        except KeyError as problem:
            raise UnreadableFile(f"its bodies have no column {problem}") from problem
        for name, (kind, row) in _COLUMNS.items():
            column = getattr(cast, name)
            if column.dtype != kind or column.shape != (len(cast.ids), *row):
                raise UnreadableFile(f"the column {name!r} of its bodies is {column.dtype} of shape {column.shape}")
        if len(cast) and not 0 <= cast.kind.min() <= cast.kind.max() < len(KIND_NAMES):
            raise UnreadableFile("its bodies have a kind that is not known")
        cast._check_hulls()
        return cast

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All columns by name."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def hull_mesh(self, hull: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """The corners (k, 3) and faces (t, 3) of one hull, in its own frame."""
        points = self.hull_points[self.hull_first[hull] : self.hull_first[hull + 1]]
        return points, self.hull_triangles[self.hull_triangle_first[hull] : self.hull_triangle_first[hull + 1]]

    def _check_hulls(self) -> None:
        count = len(self.hull_first) - 1
        sound = (
            self.hull_points.dtype == np.float32
            and self.hull_triangles.dtype == np.int64
            and self.hull_points.shape[1:] == self.hull_triangles.shape[1:] == (3,)
            and _are_starts(self.hull_first, len(self.hull_points))
            and _are_starts(self.hull_triangle_first, len(self.hull_triangles))
            and len(self.hull_triangle_first) == count + 1
            and (not len(self) or -1 <= self.hull.min() <= self.hull.max() < count)
            and bool((self.hull[self.kind == CONVEX] >= 0).all())
        )
        if sound:
            corners = np.repeat(np.diff(self.hull_first), np.diff(self.hull_triangle_first))
            sound = bool((self.hull_triangles >= 0).all() and (self.hull_triangles < corners[:, np.newaxis]).all())
        if not sound:
            raise UnreadableFile("the hulls of its bodies are damaged")


def _are_starts(starts: NDArray[Any], total: int) -> bool:
    """Tell whether these are the places where parts of ``total`` things start, and the end."""
    return (
        starts.dtype == np.int64
        and starts.ndim == 1
        and len(starts) >= 1
        and starts[0] == 0
        and starts[-1] == total
        and bool((np.diff(starts) >= 0).all())
    )


def no_hulls() -> dict[str, NDArray[Any]]:
    """The arrays of a cast in which nobody is convex."""
    return {
        "hull_points": np.empty((0, 3), np.float32),
        "hull_first": np.zeros(1, np.int64),
        "hull_triangles": np.empty((0, 3), np.int64),
        "hull_triangle_first": np.zeros(1, np.int64),
    }


def _hull_arrays(hulls: Any) -> dict[str, NDArray[Any]]:
    if hulls is None:
        return no_hulls()
    return {
        "hull_points": np.array(hulls.points, np.float32),
        "hull_first": np.array(hulls.first, np.int64),
        "hull_triangles": np.array(hulls.triangles, np.int64),
        "hull_triangle_first": np.array(hulls.triangle_first, np.int64),
    }
