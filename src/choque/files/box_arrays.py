"""Boxes as arrays and as columns of tables: all lower bounds, then all upper bounds, x before y before z."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core import check
from choque._core.tables import known_columns
from choque._core.types import Floats
from choque.errors import UnreadableFile

BoxArrays: TypeAlias = tuple[Floats, Floats]  # lower and upper bounds, each (n, d), C-contiguous, of one float type


@dataclass(frozen=True, eq=False)
class FrameStore:
    """Boxes of several frames, memory-mapped: only the requested frame is read into memory.

    ``lower`` and ``upper`` are views of shape (frames, n, d) in the byte order and alignment of the file; `frame`
    returns native, contiguous copies that belong to the caller.
    """

    name: str
    lower: Floats = field(repr=False)
    upper: Floats = field(repr=False)

    @property
    def frame_count(self) -> int:
        """Number of frames, at least one."""
        return int(self.lower.shape[0])

    @property
    def box_count(self) -> int:
        """Number of boxes in each frame."""
        return int(self.lower.shape[1])

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return int(self.lower.shape[2])

    @property
    def dtype(self) -> np.dtype[Any]:
        """Float type of the frames that `frame` returns."""
        kept = float_type(np.result_type(self.lower.dtype, self.upper.dtype))
        assert kept is not None
        return kept

    def frame(self, index: int) -> BoxArrays:
        """Return lower and upper bounds, each (n, d), of frame ``index``, counted from 0."""
        check_frame(index, self.frame_count)
        return (
            np.array(self.lower[index], dtype=self.dtype, order="C"),
            np.array(self.upper[index], dtype=self.dtype, order="C"),
        )


def check_frame(index: int, frame_count: int) -> None:
    """Raise `InvalidInput` unless ``index`` is a frame from 0 to ``frame_count`` − 1."""
    check.whole_number(index, "frame", 0, frame_count - 1)


def check_boxes(lower: ArrayLike, upper: ArrayLike) -> BoxArrays:
    """Return ``lower`` and ``upper`` as arrays of one float type, or raise `InvalidInput`."""
    low, high = check.widest(check.coordinates(lower, "lower"), check.coordinates(upper, "upper"))
    return low, check.shape(high, "upper", low.shape, "lower")


def float_type(dtype: np.dtype[Any]) -> np.dtype[Any] | None:
    """Return the native float type that keeps numbers of ``dtype``; None if they are not real numbers."""
    if dtype.kind in "iu":
        return np.dtype(np.float64)
    if dtype.kind == "f":
        return np.dtype(np.float32 if dtype.itemsize <= 4 else np.float64)
    return None


def column_names(dimension: int) -> list[str]:
    """List ``x_lower``, ``y_lower``, …, ``x_upper``, … for 2 or 3 axes."""
    return [f"{axis}_{side}" for side in ("lower", "upper") for axis in "xyz"[:dimension]]


def usual_columns(present: list[str]) -> list[str] | None:
    """Return the columns of boxes among those ``present``, each of which must be there once; None if there are none.

    ``x1``, ``y1``, ``x2``, ``y2`` and the other names of `choque._core.tables.SCHEMES`; ``x_lower`` and so on come
    first and are left to `column_names`, which says what is missing.
    """
    return None if any(name.endswith(("_lower", "_upper")) for name in present) else known_columns(present)


def check_table(dtype: np.dtype[Any], shape: tuple[int, ...], path: str | Path) -> tuple[np.dtype[Any], int]:
    """Return the float type and the dimension of boxes in an array of (n, 2·d) or (n, 2, d) in the file ``path``."""
    kept = float_type(dtype)
    if kept is None:
        raise UnreadableFile(f"The file {path} holds values of type {dtype}; real numbers are needed.")
    if (len(shape) != 2 or shape[1] not in (4, 6)) and (len(shape) != 3 or shape[1:] not in ((2, 2), (2, 3))):
        raise UnreadableFile(
            f"The file {path} holds an array of shape {shape}; boxes are (n, 4) or (n, 6), lower columns first, or "
            "(n, 2, 2) or (n, 2, 3)."
        )
    return kept, shape[2] if len(shape) == 3 else shape[1] // 2


def boxes_from_table(table: NDArray[Any], path: Path) -> BoxArrays:
    """Split a table of shape (n, 2·d) or (n, 2, d), read from ``path``, into bounds of shape (n, d)."""
    kept, dimension = check_table(table.dtype, table.shape, path)
    sides = (table[:, 0], table[:, 1]) if table.ndim == 3 else (table[:, :dimension], table[:, dimension:])
    return np.array(sides[0], dtype=kept, order="C"), np.array(sides[1], dtype=kept, order="C")
