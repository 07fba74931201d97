"""Stacks of 2D frames in TIFF files, a frame at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from choque.errors import InvalidInput, require
from choque.files.atomic import replacing
from choque.files.scan_tiff import raising_complaints, require_tiff
from choque.files.source import naming_damage


def read_stack(path: str | os.PathLike[str]) -> Iterator[NDArray[Any]]:
    """The frames (height, width) of a TIFF stack one after the other, so that one frame is in memory at a time."""
    tifffile = require("tifffile", extra="images", purpose="to read image stacks")
    path = Path(path)
    require_tiff(path)
    with ExitStack() as opened:
        # Whoever is given a frame must not find warnings switched off: the guards hold while something is read.
        with naming_damage(path), raising_complaints():
            series = opened.enter_context(tifffile.TiffFile(path)).series[0]
            if series.ndim not in (2, 3):
                raise InvalidInput(
                    f"The stack {path} has the shape {series.shape}; it must be (frames, height, width)."
                )
            count, pages = series.shape[0] if series.ndim == 3 else 1, list(series.pages)
            is_paged = len(pages) == count and all(page is not None for page in pages)
            whole = None if is_paged else series.asarray().reshape(count, *series.shape[-2:])
        for number in range(count):
            with naming_damage(path), raising_complaints():
                frame = pages[number].asarray() if whole is None else whole[number]
            yield frame


def write_stack(path: str | os.PathLike[str], stack: NDArray[Any]) -> None:
    """Write a stack (frames, height, width), whole or not at all."""
    tifffile = require("tifffile", extra="images", purpose="to write image stacks")
    with replacing(path) as handle:
        tifffile.imwrite(handle, stack, photometric="minisblack", compression=None)
