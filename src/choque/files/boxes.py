"""Boxes and pairs in files, by suffix: one set of bounds, many frames of them, and the pairs of a broad phase.

A NumPy archive ``.npz`` holds ``lower``, ``upper`` and ``name``; its arrays are (n, d) for one frame or (frames, n, d).
They are stored without compression, so that they can be memory-mapped; a compressed archive is read whole. Parquet
tables need the optional library pyarrow.
"""

from __future__ import annotations

import os
import struct
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from shutil import copyfileobj
from typing import IO, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core import check
from choque._core.registry import Registry
from choque.errors import InvalidInput, UnknownName, UnreadableFile, require
from choque.files import box_arrays
from choque.files.atomic import replacing
from choque.files.budget import check_size
from choque.files.csv_table import read_csv
from choque.files.csv_table import write_columns as write_csv_columns
from choque.files.source import NUMBER_MEMORY, check_suffix, lower_suffix, naming_damage, require_signature

BoxesReader: TypeAlias = Callable[[Path], box_arrays.BoxArrays]
FramesWriter: TypeAlias = Callable[[Path, str, int, box_arrays.BoxArrays, Iterable[box_arrays.BoxArrays]], None]
ColumnsWriter: TypeAlias = Callable[[Path, dict[str, NDArray[Any]]], None]


class FrameFormat(NamedTuple):
    """A format of many frames: how a file is mapped, and how frames are streamed to it."""

    open: Callable[[Path], box_arrays.FrameStore]
    write: FramesWriter


FRAME_FORMATS: Registry[FrameFormat] = Registry(
    "format for frames", {".npz": "choque.files.boxes:NPZ"}, group="choque.frame_formats"
)
"""The formats of many frames by suffix; other packages add theirs by an entry point in ``choque.frame_formats``."""

NPY_SIGNATURE = b"\x93NUMPY"
ZIP_MEMBER_HEADER = struct.Struct("<26xHH")
"""Header of a member of a zip archive; it ends with the lengths of the two parts that follow it."""


def read_boxes(path: str | os.PathLike[str], *, frame: int = 0) -> box_arrays.BoxArrays:
    """Read lower and upper bounds, each (n, d) and C-contiguous, with d = 2 or 3.

    =============  ======================================================================================
    suffix         content
    =============  ======================================================================================
    ``.npy``       an array (n, 2·d), lower columns first, or (n, 2, d)
    ``.npz``       arrays ``lower`` and ``upper``, (n, d) or (frames, n, d)
    ``.csv``       columns x_lower, y_lower[, z_lower], x_upper, …; x1, y1, x2, y2; xmin, ymin, xmax, ymax; minx,
                   miny, maxx, maxy; or 4 or 6 columns without a header
    ``.parquet``   the same columns, or the ``bbox`` of GeoParquet, read without its geometries
    ``.aabbs``     a scene of Broadmark (`choque.lab.broadmark`)
    =============  ======================================================================================

    float32 and float64 are kept, integers become float64; the bounds themselves are not checked. ``frame`` selects
    one frame of a moving scene. Raises `choque.errors.UnreadableFile` with the reason.
    """
    path = Path(path)
    suffix = lower_suffix(path)
    if suffix in FRAME_FORMATS:
        return open_boxes(path).frame(frame)
    check_suffix(path, suffix, [*READERS, *FRAME_FORMATS], "boxes")
    box_arrays.check_frame(frame, 1)
    with naming_damage(path):
        return READERS[suffix](path)


def write_boxes(path: str | os.PathLike[str], lower: ArrayLike, upper: ArrayLike) -> None:
    """Write lower and upper bounds, each (n, d), in the format of the suffix of ``path``.

    Reading returns the same values; ``.csv`` comes back as float64 and ``.aabbs`` as float32.
    """
    suffix = lower_suffix(path)
    if suffix in TABLES:
        sides = box_arrays.check_boxes(lower, upper)
        _write_table(path, box_arrays.column_names(sides[0].shape[1]), np.concatenate(sides, axis=1))
    elif suffix == ".npz":  # without an axis of frames
        sides = box_arrays.check_boxes(lower, upper)
        with replacing(path) as handle:
            np.savez(handle, lower=sides[0], upper=sides[1])
    elif suffix in FRAME_FORMATS:
        write_frames(path, [(lower, upper)], frame_count=1)
    else:
        raise UnknownName("format for boxes", suffix, {*TABLES, *FRAME_FORMATS})


def open_boxes(path: str | os.PathLike[str]) -> box_arrays.FrameStore:
    """Map the frames of a NumPy ``.npz`` or Broadmark ``.aabbs`` file; only requested frames are read."""
    path = Path(path)
    suffix = lower_suffix(path)
    check_suffix(path, suffix, FRAME_FORMATS, "frames")
    with naming_damage(path):
        return FRAME_FORMATS.find(suffix).open(path)


def write_frames(
    path: str | os.PathLike[str],
    frames: Iterable[tuple[ArrayLike, ArrayLike]],
    *,
    frame_count: int,
    name: str | None = None,
) -> None:
    """Stream ``frame_count`` frames of (lower, upper), each (n, d), to a file in the format of its suffix.

    No file is left behind when ``frames`` raises, has another length than ``frame_count``, or changes its shape.
    ``name`` is the name of the scene; None for that of the file.
    """
    path = Path(path)
    form = FRAME_FORMATS.find(lower_suffix(path))
    coming = _checked_frames(frames, frame_count)
    first = next(coming)
    form.write(path, path.stem if name is None else name, frame_count, first, chain([first], coming))


def _checked_frames(frames: Iterable[tuple[ArrayLike, ArrayLike]], frame_count: int) -> Iterator[box_arrays.BoxArrays]:
    """Yield the frames as arrays of one shape and type, exactly ``frame_count`` of them, at least one."""
    check.whole_number(frame_count, "frame_count", 1)
    like: box_arrays.BoxArrays | None = None
    seen = 0
    for lower, upper in frames:
        boxes = box_arrays.check_boxes(lower, upper)
        like = like or boxes
        if seen == frame_count:
            raise InvalidInput(f"More than the {frame_count} frames of frame_count were given.")
        if boxes[0].shape != like[0].shape or boxes[0].dtype != like[0].dtype:
            raise InvalidInput(
                f"Frame {seen} is {boxes[0].dtype} of shape {boxes[0].shape}; frame 0 is {like[0].dtype} of "
                f"shape {like[0].shape}, and all frames must be alike."
            )
        seen += 1
        yield boxes
    if seen != frame_count:
        raise InvalidInput(f"Only {seen} of the {frame_count} frames of frame_count were given.")


def write_pairs(path: str | os.PathLike[str], pairs: ArrayLike, overlaps: ArrayLike | None = None) -> None:
    """Write pairs, (m, 2) integers, as an array or as the columns ``first`` and ``second`` of a table.

    ``overlaps`` (m,), such as `choque.join` returns with ``iou=``, become a column ``overlap``; an array has none.
    """
    suffix = check.choice(lower_suffix(path), "format for pairs", TABLES)
    table = np.asarray(pairs)
    if table.ndim != 2 or table.shape[1] != 2 or table.dtype.kind not in "iu":
        raise InvalidInput(f"pairs is {table.dtype} of shape {table.shape}; it must be integers of shape (m, 2).")
    if overlaps is None or suffix == ".npy":
        _write_table(path, PAIR_COLUMNS, table)
        return
    values = check.table(overlaps, "overlaps", (len(table),), 0)
    write_columns(path, {"first": table[:, 0], "second": table[:, 1], "overlap": values})


def write_columns(path: str | os.PathLike[str], columns: dict[str, NDArray[Any]]) -> None:
    """Write columns (n,) of any kinds of numbers as a table: ``.csv`` or ``.parquet``."""
    suffix = check.choice(lower_suffix(path), "format for tables", COLUMNS_WRITERS)
    COLUMNS_WRITERS[suffix](Path(path), columns)


def _write_table(path: str | os.PathLike[str], names: list[str], table: NDArray[Any]) -> None:
    """Write an array, which ``.npy`` holds as it is, and other formats as columns of these ``names``."""
    if lower_suffix(path) != ".npy":
        write_columns(path, dict(zip(names, table.T, strict=True)))
        return
    with replacing(path) as handle:
        np.save(handle, table, allow_pickle=False)


# NumPy


def _read_npy(path: Path) -> box_arrays.BoxArrays:
    """Read boxes from an array of shape (n, 2·d), lower columns first, or (n, 2, d)."""
    require_signature(path, NPY_SIGNATURE, "a NumPy array")
    # A mapped array is checked against the length of the file before memory is allocated.
    table = np.load(path, mmap_mode="r", allow_pickle=False)
    return box_arrays.boxes_from_table(table, path)


def _open_npz(path: Path) -> box_arrays.FrameStore:
    """Map the frames of ``path``; the scene is named after the file if the archive has no name."""
    require_signature(path, b"PK", "a NumPy archive")
    with zipfile.ZipFile(path) as archive:
        members = {member.filename.removesuffix(".npy"): member for member in archive.infolist()}
        wanted = members.keys() & {"lower", "upper", "name"}
        arrays = {key: _npz_array(path, archive, members[key]) for key in wanted}
    for key in ("lower", "upper"):
        if key not in arrays:
            present = ", ".join(map(repr, sorted(members))) or "nothing"
            raise UnreadableFile(f"The file {path} has no array {key!r}; it holds {present}.")
    name = str(arrays["name"]) if "name" in arrays else path.stem
    return box_arrays.FrameStore(name, *_npz_sides(path, arrays["lower"], arrays["upper"]))


def _write_npz_frames(
    path: Path, name: str, frame_count: int, first: box_arrays.BoxArrays, frames: Iterable[box_arrays.BoxArrays]
) -> None:
    """Stream ``frame_count`` frames, each like ``first``, with one frame in memory at a time."""
    header = {
        "descr": np.lib.format.dtype_to_descr(first[0].dtype),
        "fortran_order": False,
        "shape": (frame_count, *first[0].shape),
    }
    # An archive is written one member at a time: the upper bounds wait in a temporary file.
    with (
        replacing(path) as handle,
        tempfile.TemporaryFile(dir=path.resolve().parent) as waiting,
        zipfile.ZipFile(handle, "w", zipfile.ZIP_STORED) as archive,
    ):
        with archive.open("lower.npy", "w", force_zip64=True) as member:
            np.lib.format.write_array_header_2_0(member, header)
            for lower, upper in frames:
                member.write(lower.data)
                waiting.write(upper.data)
        waiting.seek(0)
        with archive.open("upper.npy", "w", force_zip64=True) as member:
            np.lib.format.write_array_header_2_0(member, header)
            copyfileobj(waiting, member, 1 << 20)
        with archive.open("name.npy", "w") as member:
            np.lib.format.write_array(member, np.array(name), allow_pickle=False)


def _npz_array(path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    """Return one array of the archive: mapped if it is stored uncompressed, otherwise read."""
    if member.compress_type != zipfile.ZIP_STORED or member.flag_bits & 1:
        check_size(member.file_size, path)
        with archive.open(member) as compressed:
            return np.lib.format.read_array(compressed, allow_pickle=False)
    with path.open("rb") as handle:
        handle.seek(member.header_offset)
        handle.seek(sum(ZIP_MEMBER_HEADER.unpack(handle.read(ZIP_MEMBER_HEADER.size))), 1)
        shape, fortran_order, dtype = _npz_header(handle)
        if dtype.hasobject:
            raise UnreadableFile(f"The file {path} holds Python objects; arrays of numbers are needed.")
        offset = handle.tell()
    mapped: NDArray[Any] = np.memmap(
        path, dtype=dtype, mode="r", offset=offset, shape=shape, order="F" if fortran_order else "C"
    )
    return mapped


def _npz_header(handle: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(handle)
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(handle)
    return np.lib.format.read_array_header_2_0(handle)


def _npz_sides(path: Path, lower: NDArray[Any], upper: NDArray[Any]) -> box_arrays.BoxArrays:
    """Check both sides and give them a first axis of frames."""
    for key, side in (("lower", lower), ("upper", upper)):
        if box_arrays.float_type(side.dtype) is None:
            raise UnreadableFile(f"In {path}, {key!r} holds values of type {side.dtype}; real numbers are needed.")
    frames = (lower[np.newaxis], upper[np.newaxis]) if lower.ndim == upper.ndim == 2 else (lower, upper)
    shape = frames[0].shape
    if shape != frames[1].shape or len(shape) != 3 or shape[0] < 1 or shape[2] not in (2, 3):
        raise UnreadableFile(
            f"In {path}, 'lower' has shape {lower.shape} and 'upper' {upper.shape}; both must be (n, d) or "
            "both (frames, n, d), with at least one frame and d = 2 or 3."
        )
    return frames


# Parquet

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
    wanted = list(columns or box_arrays.column_names(3 if {"z_lower", "z_upper"} & set(present) else 2))
    if columns is None and not set(wanted) & set(present):
        fields = [name.removeprefix(GEO) for name in present if name.startswith(GEO)]
        around = [GEO + name for name in box_arrays.usual_columns(fields) or ()]
        wanted = around or box_arrays.usual_columns(present) or wanted
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
    kept = box_arrays.float_type(
        np.dtype(f"{letter}{kind.bit_width // 8}")
    )  # to_pandas_dtype() of older releases needs pandas
    assert kept is not None
    return kept


def _read_parquet(path: Path) -> box_arrays.BoxArrays:
    """Read boxes from columns of usual names, in any order, or from the ``bbox`` of GeoParquet."""
    require_signature(path, b"PAR1", "a Parquet table")
    parquet = pyarrow("pyarrow.parquet")
    with parquet.ParquetFile(path) as source:
        wanted = list(box_columns(path, source))
        for name in wanted:
            column_type(path, source, name)
        check_size(source.metadata.num_rows * len(wanted) * NUMBER_MEMORY, path)
        table = source.read(columns=wanted).flatten()
    for name in wanted:
        if missing_count := table.column(name).null_count:
            raise UnreadableFile(f"In {path}, the column {name!r} has {missing_count} missing values.")
    return box_arrays.boxes_from_table(np.column_stack([table.column(name).to_numpy() for name in wanted]), path)


def arrow_columns(path: Path, wanted: list[str]) -> dict[str, NDArray[Any]]:
    """Return those of the ``wanted`` columns that a Parquet table has."""
    parquet = pyarrow("pyarrow.parquet")
    with parquet.ParquetFile(path) as source:
        present = [name for name in wanted if source.schema_arrow.names.count(name) == 1]
        check_size(source.metadata.num_rows * len(present) * NUMBER_MEMORY, path)
        table = source.read(columns=present)
    return {name: table.column(name).to_numpy() for name in present}


def _write_parquet(path: Path, columns: dict[str, NDArray[Any]]) -> None:
    arrow = pyarrow("pyarrow")
    parquet = pyarrow("pyarrow.parquet")
    table = arrow.table({name: np.ascontiguousarray(column) for name, column in columns.items()})
    with replacing(path) as handle:
        parquet.write_table(table, handle)


# Formats by suffix

READERS: dict[str, BoxesReader] = {".npy": _read_npy, ".csv": read_csv, ".parquet": _read_parquet}
"""Formats of a single frame, by suffix."""

NPZ = FrameFormat(_open_npz, _write_npz_frames)

PAIR_COLUMNS = ["first", "second"]
COLUMNS_WRITERS: dict[str, ColumnsWriter] = {".csv": write_csv_columns, ".parquet": _write_parquet}
TABLES = (".npy", *COLUMNS_WRITERS)  # suffixes of files of boxes or pairs
