"""The columns of a Parquet table that hold boxes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from choque.errors import UnreadableFile, require
from choque.files.box_arrays import column_names, float_type, usual_columns

_NO_BBOX = " Of GeoParquet the column bbox is read: GeoDataFrame.to_parquet(path, write_covering_bbox=True) writes it."
GEO = "bbox."  # how the fields of the boxes around geometries begin, in GeoParquet 1.1


def pyarrow(module: str, extra: str = "lab") -> Any:
    """Return pyarrow or one of its modules; the error names the ``extra`` that brings it."""
    return require(module, extra=extra, purpose="to read and write Parquet tables")


def box_columns(path: Path, source: Any, columns: Sequence[str] | None = None) -> tuple[str, ...]:
    """Return the columns of the boxes in an open ``ParquetFile``, the lower corner first, each of which is there once.

    Those in ``columns``; otherwise ``x_lower`` and so on, the fields of a GeoParquet ``bbox`` (``bbox.xmin``), or other
    usual names such as ``xmin``.
    """
    described = source.metadata.schema
    present = [described.column(number).path for number in range(source.metadata.num_columns)]
    wanted = list(columns or column_names(3 if {"z_lower", "z_upper"} & set(present) else 2))
    if columns is None and not set(wanted) & set(present):
        fields = [name.removeprefix(GEO) for name in present if name.startswith(GEO)]
        around = [GEO + name for name in usual_columns(fields) or ()]
        wanted = around or usual_columns(present) or wanted
    for name in wanted:
        if present.count(name) != 1:
            raise UnreadableFile(
                f"The file {path} does not have exactly one column {name!r}; it needs {', '.join(wanted)}. It has "
                f"{', '.join(map(repr, present)) or 'none'}." + (_NO_BBOX if "geometry" in present else "")
            )
    return tuple(wanted)


def column_type(path: Path, source: Any, name: str) -> np.dtype[Any]:
    """Return the float type in which the numbers of a column, or of a field such as ``bbox.xmin``, are kept."""
    arrow = pyarrow("pyarrow")
    schema = source.schema_arrow
    outer, _, inner = (name, "", "") if name in schema.names else name.partition(".")
    kind = schema.field(outer).type
    if inner:
        kind = kind.field(inner).type
    if not (arrow.types.is_floating(kind) or arrow.types.is_integer(kind)):
        raise UnreadableFile(f"In {path}, the column {name!r} is of type {kind}; numbers are needed.")
    letter = "f" if arrow.types.is_floating(kind) else "u" if arrow.types.is_unsigned_integer(kind) else "i"
    kept = float_type(np.dtype(f"{letter}{kind.bit_width // 8}"))  # to_pandas_dtype() of older releases needs pandas
    assert kept is not None
    return kept
