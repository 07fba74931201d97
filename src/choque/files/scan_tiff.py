"""TIFF stacks, the format of microscopes: pages along z, rows along y, columns along x."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from choque.errors import UnreadableFile, require
from choque.files.atomic import replacing
from choque.files.orientation import Scan, from_axes
from choque.files.source import naming_damage, read_head


def read(path: Path, axes: str | None, world: str) -> Scan:  # noqa: ARG001
    """Read a stack; the size of a voxel comes from what this package or ImageJ wrote, else it is 1."""
    tifffile = require("tifffile", extra="volumes", purpose="to read TIFF stacks")
    require_tiff(path)
    with naming_damage(path), raising_complaints(), tifffile.TiffFile(path) as stack:
        values = np.asarray(stack.asarray())
        spacing, centre = _placement(stack)
    values = values[None] if values.ndim == 2 else values
    if values.ndim != 3:
        raise UnreadableFile(f"The file {path} has shape {values.shape}; a scan has three axes: z, y, x.")
    return from_axes(values, axes or "zyx", spacing, centre)


def require_tiff(path: Path) -> None:
    """Refuse ``path`` unless it starts as TIFF files do."""
    if read_head(path)[:2] not in (b"II", b"MM"):
        raise UnreadableFile(f"The file {path} is not a TIFF image: it does not start with II or MM.")


@contextmanager
def raising_complaints() -> Iterator[None]:
    """Raise what tifffile only logs: from a truncated stack it would return the pages that are left."""
    logger, complaints = logging.getLogger("tifffile"), list[str]()
    catcher = logging.Handler(logging.ERROR)
    catcher.emit = lambda record: complaints.append(record.getMessage())  # type: ignore[method-assign]
    propagated, logger.propagate = logger.propagate, False
    logger.addHandler(catcher)
    try:
        yield
    finally:
        logger.removeHandler(catcher)
        logger.propagate = propagated
    if complaints:
        raise ValueError(complaints[0])


def _placement(stack: Any) -> tuple[tuple[float, float, float], tuple[float, float, float] | None]:
    own = (stack.shaped_metadata or [{}])[0]
    if "spacing" in own and "centre" in own:
        x, y, z = (float(value) for value in own["spacing"])
        at = [float(value) for value in own["centre"]]
        return (x, y, z), (at[0], at[1], at[2])
    if stack.imagej_metadata:
        tags = stack.pages[0].tags
        sizes = []
        for name in ("XResolution", "YResolution"):
            count, per = tags[name].value if name in tags else (1, 1)
            sizes.append(per / count if count and per else 1.0)
        return (float(sizes[0]), float(sizes[1]), float(stack.imagej_metadata.get("spacing", 1.0))), None
    return (1.0, 1.0, 1.0), None


def write(path: Path, scan: Scan, world: str) -> None:  # noqa: ARG001
    """Write a compressed stack, with spacing and position in its description; true and false become 255 and 0."""
    tifffile = require("tifffile", extra="volumes", purpose="to write TIFF stacks")
    values = scan.values.astype(np.uint8) * np.uint8(255) if scan.values.dtype == np.bool_ else scan.values
    with replacing(path) as handle:
        tifffile.imwrite(
            handle,
            np.ascontiguousarray(values.transpose()),
            photometric="minisblack",
            compression="zlib",
            metadata={"spacing": list(scan.spacing), "centre": list(scan.centre)},
        )
