"""Boxes on disk, read piece by piece: Parquet, NumPy, HDF5 and Zarr, one file or many.

A set of boxes is a list of files; each file is a list of groups of rows, which are read one at a time. Rows are
numbered through all files, in the order in which they are given. Arrow streams and Dask dataframes, which can be read
once and not by several processes, become a Parquet file first.
"""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from choque._core.types import I64, Floats
from choque.errors import InvalidInput, UnreadableFile, require
from choque.files.atomic import beside
from choque.files.box_arrays import check_table, column_names
from choque.files.boxes import box_columns, column_type, pyarrow
from choque.files.source import check_suffix, lower_suffix, naming_damage, require_signature
from choque.scale.tiling import first_wrong

GROUP_ROWS = 1 << 20  # rows of a group in files that have no groups of their own
ARRAYS = "to read arrays of this format"  # what optional libraries are needed for
SPOOLED = "spooled-"  # how the names of files begin that are named after their content; see `spool`
Columns: TypeAlias = tuple[str, ...]
Extent: TypeAlias = tuple[tuple[float, ...], tuple[float, ...]]


class Batch(NamedTuple):
    """Some boxes, with the number of the first row in the file, and their ids if a column has them."""

    first: int
    boxes: Floats  # (n, 2·d), lower corners first
    ids: I64 | None


@dataclass(frozen=True)
class File:
    """One file of a set.

    ``extents`` has the lower and upper limits of each group, or None where the file does not say. ``stamp`` changes
    when the content does.
    """

    path: str
    groups: tuple[int, ...]
    dtype: str
    columns: Columns
    stamp: str
    extents: tuple[Extent | None, ...] = field(default=(), repr=False)

    @property
    def row_count(self) -> int:
        """The number of boxes."""
        return sum(self.groups)


@dataclass(frozen=True)
class BoxSet:
    """The files that hold one set of boxes."""

    files: tuple[File, ...]
    ids: str | None

    @property
    def row_count(self) -> int:
        """The number of boxes."""
        return sum(file.row_count for file in self.files)

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return len(self.files[0].columns) // 2

    @property
    def dtype(self) -> np.dtype[Any]:
        """The float type that holds the boxes of all files exactly."""
        return np.result_type(*(np.dtype(file.dtype) for file in self.files))

    @property
    def byte_count(self) -> int:
        """Bytes of the boxes, without ids."""
        return self.row_count * 2 * self.dimension * self.dtype.itemsize


Sets: TypeAlias = tuple[BoxSet, ...]  # one set of boxes, or two for a join


def open_set(given: Any, columns: Sequence[str] | None = None, ids: str | None = None) -> BoxSet:
    """Look at the files that ``given`` names: a path, a pattern such as ``boxes/*.parquet``, a folder, or several.

    Nothing but headers is read. Raises `UnreadableFile` with the name of the first file that cannot be used.
    """
    wanted = None if columns is None else _checked_columns(columns)
    files = tuple(_look(path, wanted, ids) for path in _paths(given))
    for file in files[1:]:
        if len(file.columns) != len(files[0].columns):
            raise UnreadableFile(
                f"The boxes in {file.path} are {len(file.columns) // 2}D, those in {files[0].path} are "
                f"{len(files[0].columns) // 2}D; all files of a set must agree."
            )
    return BoxSet(files, ids)


def read_batches(
    file: File, first_group: int, last_group: int, *, batch_rows: int, dtype: np.dtype[Any], ids: str | None
) -> Iterator[Batch]:
    """Yield the boxes of groups ``first_group`` to ``last_group`` − 1 in pieces of at most ``batch_rows``.

    Boxes are checked: raises `UnreadableFile` with the file and the row of the first one that is not a box.
    """
    path = Path(file.path.partition("::")[0])
    reader = FORMATS[lower_suffix(path)].read
    first = sum(file.groups[:first_group])
    coming = reader(file, (first_group, last_group), batch_rows, dtype, ids)
    while True:
        with naming_damage(path):  # not around the whole loop: what is done with the boxes is no damage of the file
            found = next(coming, None)
        if found is None:
            return
        boxes, numbers = found
        wrong = first_wrong(boxes)
        if wrong >= 0:
            dimension = boxes.shape[1] // 2
            raise UnreadableFile(
                f"Row {first + wrong} of {file.path} is no box: its lower corner is "
                f"{boxes[wrong, :dimension].tolist()}, its upper corner {boxes[wrong, dimension:].tolist()}. Lower "
                "must not be above upper, and NaN is not allowed."
            )
        yield Batch(first, boxes, numbers)
        first += len(boxes)


def _paths(given: Any) -> list[str]:
    """List the files that were given, those of patterns and folders in alphabetical order."""
    if isinstance(given, str | os.PathLike):
        given = [given]
    if not isinstance(given, Iterable):
        raise InvalidInput(
            f"The boxes are given as {type(given).__name__}; give a path, a pattern such as 'boxes/*.parquet', or a "
            "list of paths."
        )
    found: list[str] = []
    for each in given:
        if not isinstance(each, str | os.PathLike):
            raise InvalidInput(f"The list of files holds {each!r}; it must hold paths.")
        word = os.fspath(each)
        if Path(word).is_dir() and lower_suffix(word) != ".zarr":
            inside = sorted(str(path) for path in Path(word).rglob("*.parquet") if not path.name.startswith((".", "_")))
            if not inside:
                raise UnreadableFile(f"The folder {word} holds no .parquet files.")
            found += inside
        elif any(sign in word for sign in "*?[") and not Path(word).exists():
            matching = sorted(glob.glob(word, recursive=True))
            if not matching:
                raise UnreadableFile(f"No file matches {word!r}.")
            found += matching
        else:
            found.append(word)
    if not found:
        raise InvalidInput("The list of files is empty; give at least one.")
    return found


def _look(word: str, columns: Columns | None, ids: str | None) -> File:
    path = Path(word.partition("::")[0])
    suffix = lower_suffix(path)
    check_suffix(path, suffix, FORMATS, "large sets of boxes")
    return FORMATS[suffix].look(word, columns, ids)


def _checked_columns(columns: Sequence[str]) -> Columns:
    names = () if isinstance(columns, str) else tuple(columns)
    if len(names) not in (4, 6) or not all(isinstance(name, str) for name in names):
        raise InvalidInput(
            f"columns is {columns!r}; it must be 4 or 6 names, those of the lower corner first: "
            f"{', '.join(column_names(2))}."
        )
    return names


def stamp_of(path: Path) -> str:
    """Return the size and the time of the last change of a file."""
    facts = path.stat()
    moment = "" if path.name.startswith(SPOOLED) else f", {facts.st_mtime_ns}"
    return f"{facts.st_size} bytes{moment}"


# Parquet


def _look_at_parquet(word: str, columns: Columns | None, ids: str | None) -> File:
    path = Path(word)
    require_signature(path, b"PAR1", "a Parquet table")
    parquet = pyarrow("pyarrow.parquet", "scale")
    with naming_damage(path), parquet.ParquetFile(path) as source:
        facts = source.metadata
        schema = source.schema_arrow
        leaves = {facts.schema.column(number).path: number for number in range(facts.num_columns)}
        names = box_columns(path, source, columns)
        dtype = np.result_type(*(column_type(path, source, name) for name in names))
        if ids is not None:
            _check_ids(path, schema, ids)
        numbers = [leaves[name] for name in names]
        groups = [facts.row_group(number) for number in range(facts.num_row_groups)]
        extents = tuple(_group_extent(group, numbers) for group in groups)
        return File(
            str(path.resolve()), tuple(group.num_rows for group in groups), str(dtype), names, stamp_of(path), extents
        )


def _check_ids(path: Path, schema: Any, ids: str) -> None:
    arrow = pyarrow("pyarrow", "scale")
    if schema.names.count(ids) != 1:
        raise UnreadableFile(
            f"The file {path} does not have exactly one column {ids!r} for the ids; it has "
            f"{', '.join(map(repr, schema.names))}."
        )
    kind = schema.field(ids).type
    if not arrow.types.is_integer(kind) or kind == arrow.uint64():
        raise UnreadableFile(f"In {path}, the ids {ids!r} are of type {kind}; they must be integers that int64 holds.")


def _group_extent(group: Any, columns: list[int]) -> Extent | None:
    """Return the limits of a row group by its statistics; None if it has none."""
    dimension = len(columns) // 2
    limits: list[tuple[float, float]] = []
    for column in columns:
        facts = group.column(column).statistics
        if facts is None or not facts.has_min_max:
            return None
        limits.append((float(facts.min), float(facts.max)))
    return tuple(low for low, _ in limits[:dimension]), tuple(high for _, high in limits[dimension:])


def _read_parquet(
    file: File, groups: tuple[int, int], batch_rows: int, dtype: np.dtype[Any], ids: str | None
) -> Iterator[tuple[Floats, I64 | None]]:
    parquet = pyarrow("pyarrow.parquet", "scale")
    wanted = [*file.columns, *([] if ids is None else [ids])]
    # A buffered stream: a row group of any size is read page by page.
    with parquet.ParquetFile(file.path, buffer_size=1 << 20, pre_buffer=False) as source:
        batches = source.iter_batches(batch_rows, row_groups=range(*groups), columns=wanted, use_threads=False)
        for batch in batches:
            boxes = np.empty((batch.num_rows, len(file.columns)), dtype)
            for number, name in enumerate(file.columns):
                boxes[:, number] = _column(file, batch, name)
            yield boxes, None if ids is None else _column(file, batch, ids).astype(np.int64)


def _column(file: File, batch: Any, name: str) -> NDArray[Any]:
    outer, _, inner = (name, "", "") if name in batch.schema.names else name.partition(".")
    column = batch.column(outer)
    if inner:
        column = column.field(inner)
    if column.null_count:
        raise UnreadableFile(f"In {file.path}, the column {name!r} has missing values.")
    values: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return values


# Arrays


def _look_at_array(word: str, columns: Columns | None, ids: str | None) -> File:
    path, _, inner = word.partition("::")
    if columns is not None or ids is not None:
        raise InvalidInput(f"columns and ids name columns of tables; {path} holds an array, whose rows are the ids.")
    with naming_damage(Path(path)), _opened(word) as array:
        dtype, dimension = check_table(np.dtype(array.dtype), tuple(array.shape), path)
        count = int(array.shape[0])
    groups = tuple(min(GROUP_ROWS, count - first) for first in range(0, count, GROUP_ROWS))
    full = str(Path(path).resolve()) + (f"::{inner}" if inner else "")
    return File(full, groups, str(dtype), tuple(column_names(dimension)), stamp_of(Path(path)), (None,) * len(groups))


def _read_array(
    file: File, groups: tuple[int, int], batch_rows: int, dtype: np.dtype[Any], _ids: str | None
) -> Iterator[tuple[Floats, None]]:
    first, last = sum(file.groups[: groups[0]]), sum(file.groups[: groups[1]])
    with _opened(file.path) as array:
        for start in range(first, last, batch_rows):
            rows = np.array(array[start : min(start + batch_rows, last)], dtype)
            yield rows.reshape(len(rows), -1), None


@contextmanager
def _opened(word: str) -> Iterator[Any]:
    """Give the array in a file: memory-mapped, or as the library of the format gives it."""
    name, _, inner = word.partition("::")
    path = Path(name)
    suffix = lower_suffix(path)
    if suffix == ".npy":
        require_signature(path, b"\x93NUMPY", "a NumPy array")
        yield np.load(path, mmap_mode="r", allow_pickle=False)
    elif suffix == ".zarr":
        yield require("zarr", purpose=ARRAYS).open(str(path), mode="r", path=inner or None)
    else:
        require_signature(path, b"\x89HDF", "an HDF5 file")
        with require("h5py", purpose=ARRAYS).File(path, "r") as file:
            names = [inner] if inner else [name for name in file if hasattr(file[name], "shape")]
            if len(names) != 1 or names[0] not in file:
                raise UnreadableFile(
                    f"The file {path} holds the arrays {', '.join(file) or 'none'}; name one of them as in "
                    f"{path.name}::boxes."
                )
            yield file[names[0]]


class Format(NamedTuple):
    """How files of a suffix are looked at and read."""

    look: Callable[[str, Columns | None, str | None], File]
    read: Callable[..., Iterator[tuple[Floats, I64 | None]]]


FORMATS = {
    ".parquet": Format(_look_at_parquet, _read_parquet),
    **dict.fromkeys((".npy", ".h5", ".hdf5", ".zarr"), Format(_look_at_array, _read_array)),
}
"""Formats by suffix."""


# Streams: a file that is named after its content, so that a search that was killed goes on with the same stream

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
    arrow, parquet = pyarrow("pyarrow", "scale"), pyarrow("pyarrow.parquet", "scale")
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
