"""TIFF stacks, the format of microscopes: scans with pages along z, and 2D frames one at a time."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque.errors import InvalidInput, UnreadableFile, require
from choque.files.atomic import replacing
from choque.files.scans import Scan, from_axes
from choque.files.source import naming_damage, read_head


def read(path: Path, axes: str | None, world: str) -> Scan:  # noqa: ARG001
    """Read a stack; the size of a voxel is that which this package or ImageJ recorded, otherwise 1."""
    tifffile = require("tifffile", extra="volumes", purpose="to read TIFF stacks")
    _require_tiff(path)
    with naming_damage(path), _raising_errors(), tifffile.TiffFile(path) as stack:
        values = np.asarray(stack.asarray())
        spacing, centre = _placement(stack)
    values = values[None] if values.ndim == 2 else values
    if values.ndim != 3:
        raise UnreadableFile(f"The file {path} has shape {values.shape}; a scan has three axes: z, y, x.")
    return from_axes(values, axes or "zyx", spacing, centre)


def _require_tiff(path: Path) -> None:
    if read_head(path)[:2] not in (b"II", b"MM"):
        raise UnreadableFile(f"The file {path} is not a TIFF image: it does not start with II or MM.")


@contextmanager
def _raising_errors() -> Iterator[None]:
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


def read_stack(path: str | os.PathLike[str]) -> Iterator[NDArray[Any]]:
    """Yield the frames (height, width) of a TIFF stack, with one frame in memory at a time."""
    tifffile = require("tifffile", extra="images", purpose="to read image stacks")
    path = Path(path)
    _require_tiff(path)
    with ExitStack() as opened:
        # The guards hold only while the file is read, so that a caller of `next` keeps its own warnings.
        with naming_damage(path), _raising_errors():
            series = opened.enter_context(tifffile.TiffFile(path)).series[0]
            if series.ndim not in (2, 3):
                raise InvalidInput(
                    f"The stack {path} has the shape {series.shape}; it must be (frames, height, width)."
                )
            count, pages = series.shape[0] if series.ndim == 3 else 1, list(series.pages)
            is_paged = len(pages) == count and all(page is not None for page in pages)
            whole = None if is_paged else series.asarray().reshape(count, *series.shape[-2:])
        for number in range(count):
            with naming_damage(path), _raising_errors():
                frame = pages[number].asarray() if whole is None else whole[number]
            yield frame


def write_stack(path: str | os.PathLike[str], stack: NDArray[Any]) -> None:
    """Write a stack (frames, height, width)."""
    tifffile = require("tifffile", extra="images", purpose="to write image stacks")
    with replacing(path) as handle:
        tifffile.imwrite(handle, stack, photometric="minisblack", compression=None)
