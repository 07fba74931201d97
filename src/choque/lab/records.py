"""A table as a list of rows, written as Parquet and CSV."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from choque.errors import UnknownName, require
from choque.files.atomic import replacing
from choque.files.source import naming_damage, require_signature
from choque.lab.csv_rows import write_rows

Value: TypeAlias = str | int | float | bool | None
Row: TypeAlias = dict[str, Value]


class Records(Sequence[Row]):
    """Rows, each a mapping from column to value; a row without a column has None there.

    Examples
    --------
    >>> rows = [("grid", 10), ("bvh", 10), ("bvh", 20)]
    >>> table = Records([{"method": method, "n": n} for method, n in rows])
    >>> table.where(method="bvh").values("n")
    [10, 20]
    >>> [(key, len(rows)) for key, rows in table.groups("n")]
    [((10,), 2), ((20,), 1)]
    """

    def __init__(self, rows: Iterable[Mapping[str, Value]] = ()) -> None:
        self.rows: list[Row] = [dict(row) for row in rows]

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Records: ...
    def __getitem__(self, index: int | slice) -> Row | Records:
        return Records(self.rows[index]) if isinstance(index, slice) else self.rows[index]

    def __repr__(self) -> str:
        return f"<Records: {len(self)} rows of {', '.join(self.columns) or 'nothing'}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Records) and self.rows == other.rows

    __hash__ = None  # type: ignore[assignment]

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in the order in which rows bring them."""
        return list(dict.fromkeys(name for row in self.rows for name in row))

    def where(self, condition: Callable[[Row], bool] | None = None, /, **wanted: Any) -> Records:
        """Return the rows whose columns have the ``wanted`` values, or one of several, and satisfy the condition."""
        for name in wanted:
            if self.rows and not any(name in row for row in self.rows):
                raise UnknownName("column", name, self.columns)
        return Records(
            row
            for row in self.rows
            if all(_matches(row.get(name), value) for name, value in wanted.items())
            and (condition is None or condition(row))
        )

    def values(self, column: str) -> list[Any]:
        """Return one column, None where a row lacks it."""
        return [row.get(column) for row in self.rows]

    def numbers(self, column: str) -> NDArray[np.float64]:
        """Return the numbers of one column; rows without one are skipped."""
        return np.array([value for value in self.values(column) if value is not None], np.float64)

    def levels(self, column: str) -> list[Any]:
        """Return the different values of a column, in the order of their first row."""
        return list(dict.fromkeys(self.values(column)))

    def groups(self, *columns: str) -> Iterator[tuple[tuple[Any, ...], Records]]:
        """Split the rows by the values of ``columns``, in the order of first rows."""
        found: dict[tuple[Any, ...], list[Row]] = {}
        for row in self.rows:
            found.setdefault(tuple(row.get(name) for name in columns), []).append(row)
        return ((key, Records(rows)) for key, rows in found.items())

    def sorted(self, *columns: str) -> Records:
        """Return the rows in ascending order of ``columns``, missing values last."""
        return Records(sorted(self.rows, key=lambda row: [(row.get(c) is None, row.get(c) or 0) for c in columns]))

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the rows as CSV, whole or not at all."""
        names = self.columns
        write_rows(path, names, ([row.get(name, "") for name in names] for row in self.rows))

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the rows as Parquet, whole or not at all."""
        arrow, parquet = _arrow("pyarrow"), _arrow("pyarrow.parquet")
        table = arrow.table({name: arrow.array(_one_type(self.values(name))) for name in self.columns})
        with replacing(path) as handle:
            parquet.write_table(table, handle)


def read_parquet(path: Path) -> Records:
    """Read what `Records.to_parquet` wrote; raise `InvalidInput` for a damaged file."""
    require_signature(path, b"PAR1", "a Parquet table")
    parquet = _arrow("pyarrow.parquet")
    with naming_damage(path), path.open("rb") as handle:
        rows = parquet.read_table(handle).to_pylist()
    return Records({name: value for name, value in row.items() if value is not None} for row in rows)


def _matches(value: Value, wanted: Any) -> bool:
    if isinstance(wanted, Collection) and not isinstance(wanted, str):
        return value in wanted
    return bool(value == wanted)


def _one_type(values: list[Any]) -> list[Any]:
    """Convert a column of integers and floats to floats, and any other mixture to text."""
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int} or len(kinds) == 1:
        return values
    kind = float if kinds <= {int, float} else str
    return [None if value is None else kind(value) for value in values]


def _arrow(module: str) -> Any:
    return require(module, extra="lab", purpose="to keep samples as Parquet")
