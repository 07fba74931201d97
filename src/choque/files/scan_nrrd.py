"""NRRD images, as 3D Slicer writes them: a text header with space, directions and origin."""

from __future__ import annotations

import bz2
import gzip
import os
from collections.abc import Callable
from contextlib import ExitStack
from io import BytesIO
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from choque.errors import UnreadableFile, require
from choque.files.atomic import replacing
from choque.files.budget import check_size, read_exactly
from choque.files.scans import Scan, Triple, as_triple, from_axes, oriented, to_affine
from choque.files.source import require_signature

_PACKED: dict[str, Callable[[BinaryIO], gzip.GzipFile | bz2.BZ2File]] = {
    **dict.fromkeys(("gzip", "gz"), lambda source: gzip.GzipFile(fileobj=source)),
    **dict.fromkeys(("bzip2", "bz2"), lambda source: bz2.BZ2File(source)),
}
_ITEM_SIZES = (("char", 1), ("8", 1), ("short", 2), ("16", 2), ("long", 8), ("64", 8), ("double", 8))
"""Words in the name of a type, and its size [bytes]; 4 for all others."""

_SPACES = {
    **dict.fromkeys(("left-posterior-superior", "lps"), "LPS"),
    **dict.fromkeys(("right-anterior-superior", "ras"), "RAS"),
    **dict.fromkeys(("left-anterior-superior", "las"), "LAS"),
}


def read(path: Path, axes: str | None, world: str) -> Scan:
    """Read an NRRD file with three axes.

    Directions and origin in a space without an anatomical name (``space dimension: 3``, scanner-xyz, 3D-right-handed)
    are those of ``world``. Without directions the axes are those of ``axes``, by default xyz.
    """
    nrrd = require("nrrd", extra="volumes", purpose="to read NRRD files")
    require_signature(path, b"NRRD", "an NRRD image")
    with path.open("rb") as handle:
        header = nrrd.read_header(handle)
        values = _read_values(nrrd, header, handle, path)
    if values.ndim != 3:
        raise UnreadableFile(f"The file {path} has shape {values.shape}; a scan has three axes.")
    directions = header.get("space directions")
    space = str(header.get("space", "")).lower()
    is_known = space in _SPACES or (axes is None and np.isfinite(np.asarray(directions, np.float64)).all())
    if directions is None or not is_known:
        return from_axes(path, values, axes or "xyz", _plain_spacing(header, directions))
    affine = np.eye(4)
    affine[:3, :3] = np.asarray(directions, np.float64).T  # one row for each axis of the file
    affine[:3, 3] = np.asarray(header.get("space origin", np.zeros(3)), np.float64)
    return oriented(values, affine, _SPACES.get(space, world), world, f"The scan {path}")


def _read_values(nrrd: Any, header: dict[str, Any], handle: BinaryIO, path: Path) -> NDArray[Any]:
    """Return the values that follow the header, or those of a file that it names in its own folder."""
    sizes = [int(size) for size in header["sizes"]]
    item_size = next((size for word, size in _ITEM_SIZES if word in header["type"]), 4)
    byte_count = item_size * prod(sizes)
    check_size(byte_count, path)
    source = handle
    with ExitStack() as opened:
        detached = header.pop("datafile", header.pop("data file", None))
        if detached is not None:
            source = opened.enter_context(_beside(path, str(detached)).open("rb"))
        packed = _PACKED.get(header["encoding"])
        if packed is None:
            check_size(os.fstat(source.fileno()).st_size, path)
            values: NDArray[Any] = nrrd.read_data(header, source, str(path), index_order="F")
            return values
        if any(header.get(name, 0) for name in ("lineskip", "line skip", "byteskip", "byte skip")):
            raise UnreadableFile(f"The file {path} skips bytes of packed data; save it without line or byte skip.")
        data = read_exactly(opened.enter_context(packed(source)), byte_count, path)
    unpacked: NDArray[Any] = nrrd.read_data({**header, "encoding": "raw"}, BytesIO(data), str(path), index_order="F")
    return unpacked


def _beside(path: Path, name: str) -> Path:
    """Return the file of a header's values; it must be an ordinary file in the folder of the header."""
    folder = path.resolve().parent
    data = (folder / name).resolve()
    if data.parent != folder or not data.is_file():
        raise UnreadableFile(
            f"The header {path} names the values {name!r}; they must be one ordinary file in the folder of the header."
        )
    return data


def _plain_spacing(header: dict[str, Any], directions: NDArray[Any] | None) -> Triple:
    sizes = np.ones(3)
    if directions is not None:
        sizes = np.linalg.norm(np.asarray(directions, np.float64), axis=1)
    elif "spacings" in header:
        sizes = np.asarray(header["spacings"], np.float64)
    sizes = np.where(np.isfinite(sizes) & (sizes > 0), sizes, 1.0)
    return as_triple(sizes)


def write(path: Path, scan: Scan, world: str) -> None:
    """Write a compressed NRRD file in the LPS space; true and false become 1 and 0."""
    nrrd = require("nrrd", extra="volumes", purpose="to write NRRD files")
    values = scan.values.astype(np.uint8) if scan.values.dtype == np.bool_ else scan.values
    affine = to_affine(scan.spacing, scan.centre, world, "LPS")
    header = {
        "space": "left-posterior-superior",
        "space directions": affine[:3, :3].T,
        "space origin": affine[:3, 3],
        "encoding": "gzip",
    }
    stream = BytesIO()
    nrrd.write(stream, np.asfortranarray(values), header, index_order="F")
    with replacing(path) as handle:
        handle.write(stream.getvalue())
