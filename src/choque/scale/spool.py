"""Boxes that are no files: Arrow streams and Dask dataframes, written to a Parquet file that the search then reads.

A stream can be read once, and not by several processes. Its file is named after its content, so that a search that was
killed goes on when it is given the same stream again.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from choque.errors import require
from choque.files.atomic import beside
from choque.files.box_arrays import column_names
from choque.scale.inputs import GROUP_ROWS, SPOOLED

GEO_COLUMN = "bbox"


def is_stream(given: Any) -> bool:
    """Return whether ``given`` holds boxes itself, instead of naming files."""
    return hasattr(given, "__arrow_c_stream__") or _is_dask(given)


def named_file(given: Any) -> Any:
    """Return the file behind a mapped array or an HDF5 dataset; other things as they are."""
    if isinstance(given, np.memmap) and given.filename is not None:
        return os.fspath(given.filename)
    inside: Any = getattr(given, "file", None)
    if hasattr(inside, "filename") and hasattr(given, "name") and hasattr(given, "shape"):
        return f"{inside.filename}::{given.name.lstrip('/')}"
    return given


def spool(given: Any, folder: Path, columns: Sequence[str] | None, ids: str | None) -> Path:
    """Write the columns of ``given`` that describe boxes to a file in ``folder``, piece by piece; return its name."""
    arrow = require("pyarrow", extra="scale", purpose="to read streams")
    parquet = require("pyarrow.parquet", extra="scale", purpose="to read streams")
    folder.mkdir(exist_ok=True)
    name = folder / f"{SPOOLED}unnamed.parquet"
    with beside(name) as partial:
        writer = None
        for table in _groups(_pieces(given, arrow), columns, ids, arrow):
            writer = writer or parquet.ParquetWriter(partial, table.schema, compression="none", use_dictionary=False)
            writer.write_table(table, row_group_size=GROUP_ROWS)
        if writer is not None:
            writer.close()
    with name.open("rb") as handle:
        digest = hashlib.file_digest(handle, "sha256").hexdigest()[:16]
    return name.replace(folder / f"{SPOOLED}{digest}.parquet")


def _groups(pieces: Iterator[Any], columns: Sequence[str] | None, ids: str | None, arrow: Any) -> Iterator[Any]:
    """Yield tables of `GROUP_ROWS` rows, the last of them shorter, however the stream was divided."""
    held = None
    for piece in pieces:
        wanted = [name for name in piece.schema.names if name in _wanted(columns, ids)] or piece.schema.names
        table = piece.select(wanted)
        held = table if held is None else arrow.concat_tables([held, table])
        while held.num_rows >= GROUP_ROWS:
            yield held.slice(0, GROUP_ROWS)
            held = held.slice(GROUP_ROWS)
    if held is not None:
        yield held


def _wanted(columns: Sequence[str] | None, ids: str | None) -> set[str]:
    """Return the columns, or columns of fields, that describe boxes."""
    names = [*column_names(3), GEO_COLUMN] if columns is None else [*columns, *(n.partition(".")[0] for n in columns)]
    return {*names, *([] if ids is None else [ids])}


def _pieces(given: Any, arrow: Any) -> Iterator[Any]:
    """Yield tables, the first of them empty or not, so that the schema of a stream without rows is known."""
    if not _is_dask(given):
        reader = arrow.RecordBatchReader.from_stream(given)
        yield reader.schema.empty_table()
        yield from (arrow.Table.from_batches([batch]) for batch in reader)
        return
    schema = None
    for part in given.to_delayed():
        table = arrow.Table.from_pandas(part.compute(), schema, preserve_index=False)
        schema = table.schema
        yield table


def _is_dask(given: Any) -> bool:
    return hasattr(given, "to_delayed") and hasattr(given, "npartitions")
