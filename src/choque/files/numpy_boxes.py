"""Boxes in NumPy files: one array in ``.npy``; ``lower``, ``upper`` and ``name`` in ``.npz``.

The arrays of an archive are (n, d) for one frame or (frames, n, d). They are stored without compression, so that they
can be memory-mapped; a compressed archive is read whole.
"""

from __future__ import annotations

import struct
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path
from shutil import copyfileobj
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from choque.errors import UnreadableFile
from choque.files.atomic import replacing
from choque.files.box_arrays import (
    BoxArrays,
    FloatArray,
    FrameStore,
    boxes_from_table,
    float_type,
    table_from_boxes,
)
from choque.files.source import naming_damage, require_signature

SIGNATURE = b"\x93NUMPY"
MEMBER_HEADER = struct.Struct("<26xHH")
"""Header of a member of a zip archive; it ends with the lengths of the two parts that follow it."""


def read_boxes(path: Path) -> BoxArrays:
    """Read boxes from an array of shape (n, 2·d), lower columns first, or (n, 2, d)."""
    require_signature(path, SIGNATURE, "a NumPy array")
    with naming_damage(path):
        # A mapped array is checked against the length of the file before memory is allocated.
        table = np.load(path, mmap_mode="r", allow_pickle=False)
    return boxes_from_table(table, path)


def write_boxes(path: Path, lower: FloatArray, upper: FloatArray) -> None:
    """Write boxes as one (n, 2·d) array."""
    write_array(path, table_from_boxes(lower, upper))


def write_array(path: Path, array: NDArray[Any]) -> None:
    """Write one array of numbers."""
    with replacing(path) as handle:
        np.save(handle, array, allow_pickle=False)


def open_frames(path: Path) -> FrameStore:
    """Map the frames of ``path``; the scene is named after the file if the archive has no name."""
    require_signature(path, b"PK", "a NumPy archive")
    with naming_damage(path), zipfile.ZipFile(path) as archive:
        members = {member.filename.removesuffix(".npy"): member for member in archive.infolist()}
        wanted = members.keys() & {"lower", "upper", "name"}
        arrays = {key: _array(path, archive, members[key]) for key in wanted}
    for key in ("lower", "upper"):
        if key not in arrays:
            present = ", ".join(map(repr, sorted(members))) or "nothing"
            raise UnreadableFile(f"The file {path} has no array {key!r}; it holds {present}.")
    name = str(arrays["name"]) if "name" in arrays else path.stem
    return FrameStore(name, *_checked_sides(path, arrays["lower"], arrays["upper"]))


def write_archive(path: Path, lower: FloatArray, upper: FloatArray) -> None:
    """Write one frame, as arrays of shape (n, d)."""
    with replacing(path) as handle:
        np.savez(handle, lower=lower, upper=upper)


def write_frames(path: Path, name: str, frame_count: int, first: BoxArrays, frames: Iterable[BoxArrays]) -> None:
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


def _array(path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    """Return one array of the archive: mapped if it is stored uncompressed, otherwise read."""
    if member.compress_type != zipfile.ZIP_STORED or member.flag_bits & 1:
        with archive.open(member) as compressed:
            return np.lib.format.read_array(compressed, allow_pickle=False)
    with path.open("rb") as handle:
        handle.seek(member.header_offset)
        handle.seek(sum(MEMBER_HEADER.unpack(handle.read(MEMBER_HEADER.size))), 1)
        shape, fortran_order, dtype = _array_header(handle)
        if dtype.hasobject:
            raise UnreadableFile(f"The file {path} holds Python objects; arrays of numbers are needed.")
        offset = handle.tell()
    mapped: NDArray[Any] = np.memmap(
        path, dtype=dtype, mode="r", offset=offset, shape=shape, order="F" if fortran_order else "C"
    )
    return mapped


def _array_header(handle: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(handle)
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(handle)
    return np.lib.format.read_array_header_2_0(handle)


def _checked_sides(path: Path, lower: NDArray[Any], upper: NDArray[Any]) -> BoxArrays:
    """Check both sides and give them a first axis of frames."""
    for key, side in (("lower", lower), ("upper", upper)):
        if float_type(side.dtype) is None:
            raise UnreadableFile(f"In {path}, {key!r} holds values of type {side.dtype}; real numbers are needed.")
    frames = (lower[np.newaxis], upper[np.newaxis]) if lower.ndim == upper.ndim == 2 else (lower, upper)
    shape = frames[0].shape
    if shape != frames[1].shape or len(shape) != 3 or shape[0] < 1 or shape[2] not in (2, 3):
        raise UnreadableFile(
            f"In {path}, 'lower' has shape {lower.shape} and 'upper' {upper.shape}; both must be (n, d) or "
            "both (frames, n, d), with at least one frame and d = 2 or 3."
        )
    return frames
