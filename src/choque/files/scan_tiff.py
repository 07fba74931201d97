"""TIFF stacks, the format of microscopes: scans with pages along z, in files or in folders of slices."""

from __future__ import annotations

import logging
import re
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque.errors import UnreadableFile, require
from choque.files.atomic import replacing
from choque.files.budget import check_array
from choque.files.scans import Scan, Triple, as_triple, from_axes
from choque.files.source import naming_damage, read_head

_UNITS = {2: 25.4, 3: 10.0}  # units of resolution, inch and centimetre [mm]


def read(path: Path, axes: str | None, world: str) -> Scan:  # noqa: ARG001
    """Read a stack; the size of a voxel is that which this package, ImageJ, OME or the resolution tags record.

    Sizes of OME are in the unit of the file, those of tags in millimetres; tags say nothing of z, which is taken as x.
    Without any of them voxels have edges of 1.
    """
    tifffile = require("tifffile", extra="volumes", purpose="to read TIFF stacks")
    require_tiff(path)
    with raising_errors(), tifffile.TiffFile(path) as stack:
        check_array(stack.series[0].shape, stack.series[0].dtype, path)
        values = _values(stack)
        spacing, centre = _placement(stack)
    values = values[None] if values.ndim == 2 else values
    return from_axes(path, values, axes or "zyx", spacing, centre)


def read_folder(folder: Path, paths: list[Path], axes: str | None) -> Scan:
    """Read a folder of slices, one file each, in the order of the numbers in their names."""
    parts = {path: re.split(r"(\d+)", path.name.lower()) for path in paths}  # text first: comparable
    ordered = sorted(paths, key=lambda path: [int(part) if part.isdigit() else part for part in parts[path]])
    first: Scan | None = None
    values: NDArray[Any] = np.empty(0)
    for number, path in enumerate(ordered):
        with naming_damage(path):
            scan = read(path, "xyz", "LPS")
        if first is None:
            first = scan
            check_array((len(ordered), *scan.values.shape[1:]), scan.values.dtype, folder)
            values = np.empty((len(ordered), *scan.values.shape[1:]), scan.values.dtype)
        if scan.values.shape != (1, *values.shape[1:]) or scan.values.dtype != values.dtype:
            raise UnreadableFile(
                f"The slice {path} is {scan.values.dtype} of shape {scan.values.shape}; the first in the folder is "
                f"{values.dtype} of shape {values.shape[1:]}, and all must be alike. Move other pictures elsewhere."
            )
        values[number] = scan.values[0]
    assert first is not None
    return from_axes(folder, values, axes or "zyx", first.spacing)


def require_tiff(path: Path) -> None:
    """Raise `UnreadableFile` unless ``path`` is a TIFF file whose pages can be found."""
    if read_head(path)[:2] not in (b"II", b"MM"):
        raise UnreadableFile(f"The file {path} is not a TIFF image: it does not start with II or MM.")
    _check_directories(path)


def _check_directories(path: Path) -> None:
    """Refuse a file whose directories of pages overlap or form a circle; parsers may follow them without end."""
    spans: dict[int, int] = {}
    size = path.stat().st_size
    with path.open("rb") as handle:
        head = handle.read(16)
        order = "<" if head[:2] == b"II" else ">"
        is_big = head[2:4] == struct.pack(order + "H", 43)
        count_type, entry_size, offset_type = ("Q", 20, "Q") if is_big else ("H", 12, "I")
        count_size, offset_size = struct.calcsize(count_type), struct.calcsize(offset_type)
        start = 8 if is_big else 4
        offset = int.from_bytes(head[start : start + offset_size], "little" if order == "<" else "big")
        while 0 < offset <= size - count_size and offset not in spans:
            handle.seek(offset)
            (count,) = struct.unpack(order + count_type, handle.read(count_size))
            end = offset + count_size + count * entry_size
            spans[offset] = end + offset_size
            if end + offset_size > size:
                return  # truncated, which the parser reports
            handle.seek(end)
            (offset,) = struct.unpack(order + offset_type, handle.read(offset_size))
    ordered = sorted(spans.items())
    if offset in spans or any(end > start for (_, end), (start, _) in pairwise(ordered)):
        raise UnreadableFile(f"The file {path} is damaged: the directories of its pages overlap or form a circle.")


def _values(stack: Any) -> NDArray[Any]:
    for page in stack.series[0].pages:
        if page is not None and len(page.dataoffsets) < prod(page.chunked):  # tifffile would go through all of them
            raise ValueError(f"a page has {len(page.dataoffsets):,} of its {prod(page.chunked):,} parts")
    return np.asarray(stack.asarray())


@contextmanager
def raising_errors() -> Iterator[None]:
    """Raise the errors that tifffile only logs: from a truncated stack it would return the remaining pages."""
    logger, errors = logging.getLogger("tifffile"), list[str]()
    catcher = logging.Handler(logging.ERROR)
    catcher.emit = lambda record: errors.append(record.getMessage())  # type: ignore[method-assign]
    propagated, logger.propagate = logger.propagate, False
    logger.addHandler(catcher)
    try:
        yield
    finally:
        logger.removeHandler(catcher)
        logger.propagate = propagated
    if errors:
        raise ValueError(errors[0])


def _placement(stack: Any) -> tuple[Triple, Triple | None]:
    own = (stack.shaped_metadata or [{}])[0]
    if "spacing" in own and "centre" in own:
        return as_triple(own["spacing"]), as_triple(own["centre"])
    tags = stack.pages[0].tags
    if stack.imagej_metadata:
        sizes = []
        for name in ("XResolution", "YResolution"):
            count, per = tags[name].value if name in tags else (1, 1)
            sizes.append(per / count if count and per else 1.0)
        return as_triple([*sizes, stack.imagej_metadata.get("spacing", 1.0)]), None
    if stack.is_ome:
        return _ome_spacing(stack.ome_metadata), None
    unit = _UNITS.get(int(tags["ResolutionUnit"].value)) if "ResolutionUnit" in tags else None
    if unit is not None and "XResolution" in tags and "YResolution" in tags:
        (count, per), (other_count, other_per) = tags["XResolution"].value, tags["YResolution"].value
        if min(count, per, other_count, other_per) > 0:
            x, y = unit * per / count, unit * other_per / other_count
            return (x, y, x), None
    return (1.0, 1.0, 1.0), None


def _ome_spacing(text: str) -> Triple:
    """Return the physical sizes in a description of OME; axes without one are 1 where none has one, else as x."""
    found = {axis: float(size) for axis, size in re.findall(r'\bPhysicalSize([XYZ])="([^"]+)"', text)}
    usual = found.get("X", next(iter(found.values()), 1.0))
    x, y, z = (found.get(axis, usual) for axis in "XYZ")
    if not 0 < min(x, y, z) <= max(x, y, z) < float("inf"):
        raise ValueError(f"its voxels have edges of {x}, {y}, {z}, which are not all above 0")
    return (x, y, z)


def write(path: Path, scan: Scan, world: str) -> None:  # noqa: ARG001
    """Write a compressed stack, with spacing and position in its description; true and false become 255 and 0."""
    tifffile = require("tifffile", extra="volumes", purpose="to write TIFF stacks")
    values = scan.values.astype(np.uint8) * np.uint8(255) if scan.values.dtype == np.bool_ else scan.values
    with replacing(path) as handle:
        pages, place = np.ascontiguousarray(values.transpose()), {"spacing": scan.spacing, "centre": scan.centre}
        tifffile.imwrite(handle, pages, photometric="minisblack", compression="zlib", metadata=place)
