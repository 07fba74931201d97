"""Answers with several arrays, and answers as the tensors and tables of other libraries, none of them a dependency."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core.tables import is_table
from choque.errors import InvalidInput, require

COLUMNS = {
    "pairs": ("a", "b"),
    "values": ("overlap",),
    "P": ("i", "j"),
    "S": ("S_a", "S_b", "S_c"),
    "D": ("D_x", "D_y", "D_z"),
}
"""The columns of arrays in a table, where they are not called as the array is."""

TABLES = "to have answers as its tables"  # what libraries of tables are needed for


class Answer(tuple[Any, ...]):
    """Arrays with a row for each thing found: a tuple, whose arrays are also attributes, and a table on request.

    Examples
    --------
    >>> import choque
    >>> found = choque.neighbors([[0.0, 0.0], [1.0, 0.0]], 2.0, quantities="ijd")
    >>> found
    <2 rows: i, j, d>
    >>> found.d.tolist()
    [1.0, 1.0]
    """

    _names: tuple[str, ...] = ()

    @classmethod
    def of(cls, arrays: dict[str, Any]) -> Answer:
        """Return arrays by name, all of one length."""
        answer = cls(arrays.values())
        answer._names = tuple(arrays)
        return answer

    def __getattr__(self, name: str) -> Any:
        if name in self._names:
            return self[self._names.index(name)]
        raise AttributeError(f"This answer has no {name!r}; it has {', '.join(self._names)}.")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._names]

    def __repr__(self) -> str:
        return f"<{len(self[0]):,} rows: {', '.join(self._names)}>"

    def to_arrow(self) -> Any:
        """Return a table of pyarrow."""
        return require("pyarrow", purpose=TABLES).table(self._columns())

    def to_pandas(self) -> Any:
        """Return a frame of pandas."""
        return require("pandas", purpose=TABLES).DataFrame(self._columns())

    def to_polars(self) -> Any:
        """Return a frame of Polars."""
        return require("polars", purpose=TABLES).DataFrame(self._columns())

    def _columns(self) -> dict[str, NDArray[Any]]:
        columns: dict[str, NDArray[Any]] = {}
        for name, given in zip(self._names, self, strict=True):
            array = np.asarray(given)
            parts = [array] if array.ndim == 1 else [np.ascontiguousarray(part) for part in array.T]
            columns |= dict(zip(COLUMNS.get(name, (name,)), parts, strict=False))  # no third part in 2D
        return columns


def as_answer(like: Any, **arrays: NDArray[Any]) -> Any:
    """Return one array alone, several as an `Answer`; or what ``like`` asks for.

    With a tensor, tensors of its library through DLPack, on the same memory; with a table of pandas, GeoPandas, Polars
    or pyarrow, one of its library; with any other table, one of pyarrow.
    """
    if like is None:
        return Answer.of(arrays) if len(arrays) > 1 else next(iter(arrays.values()))
    if is_table(like):
        table = Answer.of(arrays)
        library = type(like).__module__.partition(".")[0]
        if library in ("pandas", "geopandas"):
            return table.to_pandas()
        return table.to_polars() if library == "polars" else table.to_arrow()
    if hasattr(like, "__array_namespace__"):
        module = like.__array_namespace__()
    else:
        module = importlib.import_module(type(like).__module__.partition(".")[0])
    if not hasattr(like, "__dlpack__") or not hasattr(module, "from_dlpack"):
        raise InvalidInput(
            f"like is of the type {type(like).__name__}; it must be a tensor, such as one of torch or JAX, or a table, "
            "such as one of pandas."
        )
    return as_answer(None, **{name: module.from_dlpack(array) for name, array in arrays.items()})
