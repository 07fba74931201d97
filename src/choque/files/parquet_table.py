"""Parquet tables, through the optional library pyarrow."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque.errors import UnreadableFile, require
from choque.files.atomic import replacing
from choque.files.box_arrays import BoxArrays, FloatArray, boxes_from_table, column_names, table_from_boxes
from choque.files.source import naming_damage, require_signature


def read_boxes(path: Path) -> BoxArrays:
    """Read boxes from columns named as `column_names` says, in any order; other columns are ignored."""
    require_signature(path, b"PAR1", "a Parquet table")
    arrow = _library("pyarrow")
    parquet = _library("pyarrow.parquet")
    with naming_damage(path), parquet.ParquetFile(path) as source:
        present = source.schema_arrow.names
        wanted = column_names(3 if {"z_lower", "z_upper"} & set(present) else 2)
        missing = [name for name in wanted if present.count(name) != 1]
        if missing:
            raise UnreadableFile(
                f"The file {path} does not have exactly one column {missing[0]!r}; it needs {', '.join(wanted)}."
            )
        table = source.read(columns=wanted)
    for name in wanted:
        column = table.column(name)
        if not (arrow.types.is_floating(column.type) or arrow.types.is_integer(column.type)):
            raise UnreadableFile(f"In {path}, the column {name!r} is of type {column.type}; numbers are needed.")
        if column.null_count:
            raise UnreadableFile(f"In {path}, the column {name!r} has {column.null_count} missing values.")
    return boxes_from_table(np.column_stack([table.column(name).to_numpy() for name in wanted]), path)


def write_boxes(path: Path, lower: FloatArray, upper: FloatArray) -> None:
    """Write boxes, one column for each bound, in their own float type."""
    write_table(path, column_names(lower.shape[1]), table_from_boxes(lower, upper))


def write_table(path: Path, names: list[str], table: NDArray[Any]) -> None:
    """Write the columns of ``table`` under ``names``."""
    arrow = _library("pyarrow")
    parquet = _library("pyarrow.parquet")
    columns = {name: np.ascontiguousarray(table[:, index]) for index, name in enumerate(names)}
    with replacing(path) as handle:
        parquet.write_table(arrow.table(columns), handle)


def _library(module: str) -> ModuleType:
    return require(module, extra="lab", purpose="to read and write Parquet tables")
