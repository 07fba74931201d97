"""Tables of bodies: frozen dataclasses whose fields are arrays with one row for each body.

`choque.world.Bodies`, `choque.scene.BodyColumns` and `choque.record.BodyTable` are such tables. Each declares its
columns once, in ``COLUMNS``; selecting, joining, copying and checking rows is done here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from choque._core.memory import aligned_copy

Column: TypeAlias = "tuple[DTypeLike | None, tuple[int, ...]]"
"""The element type of a column, None for the float type of the table, and the shape of one row."""


class ColumnTable:
    """Base of a frozen dataclass that has a field for each of its `COLUMNS`, and may have others."""

    COLUMNS: ClassVar[Mapping[str, Column]]

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return every column by name, without copying."""
        return {name: getattr(self, name) for name in self.COLUMNS}

    def take(self, rows: Any) -> Self:
        """Return a table of these ``rows``: row numbers, a slice or a mask."""
        return self.with_columns({name: column[rows] for name, column in self.columns().items()})

    def joined(self, *others: Self) -> Self:
        """Return a table of these rows followed by those of the ``others``."""
        parts = [table.columns() for table in (self, *others)]
        return self.with_columns({name: aligned_copy(*(part[name] for part in parts)) for name in self.COLUMNS})

    def copy(self) -> Self:
        """Return a table with copies of all columns."""
        return self.with_columns({name: column.copy() for name, column in self.columns().items()})

    def with_columns(self, columns: Mapping[str, NDArray[Any]]) -> Self:
        """Return a table with these columns in place of the present ones."""
        changed: Self = replace(self, **columns)  # type: ignore[type-var]
        return changed

    @classmethod
    def empty_columns(cls, dtype: DTypeLike = np.float64) -> dict[str, Any]:
        """Return columns without rows; ``dtype`` is the float type of the table."""
        return {name: np.empty((0, *row), kind or dtype) for name, (kind, row) in cls.COLUMNS.items()}

    @classmethod
    def misfit(cls, columns: Mapping[str, NDArray[Any]], count: int, dtype: DTypeLike = np.float64) -> str | None:
        """Return the first column that is missing, or has the wrong element type or shape for ``count`` rows."""
        for name, (kind, row) in cls.COLUMNS.items():
            column = columns.get(name)
            if column is None or column.dtype != np.dtype(kind or dtype) or column.shape != (count, *row):
                return name
        return None
