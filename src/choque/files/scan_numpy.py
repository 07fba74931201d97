"""Scans as NumPy arrays: the values alone, or an archive with spacing and position."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from choque.errors import UnreadableFile
from choque.files.atomic import replacing
from choque.files.budget import check_size
from choque.files.scans import Scan, as_triple, from_axes
from choque.files.source import lower_suffix, require_signature


def read(path: Path, axes: str | None, world: str) -> Scan:  # noqa: ARG001
    """Read an array whose axes are ``axes``, by default xyz.

    A ``.npy`` file has voxels of edge 1; an archive has ``values``, ``spacing`` and ``centre``.
    """
    if lower_suffix(path) == ".npz":
        return _read_archive(path, axes)
    require_signature(path, b"\x93NUMPY", "a NumPy array")
    check_size(path.stat().st_size, path)
    values = np.load(path, allow_pickle=False)
    return from_axes(path, values, axes or "xyz", (1.0, 1.0, 1.0))


def write(path: Path, scan: Scan, world: str) -> None:  # noqa: ARG001
    """Write the values with axes x, y, z; only an archive keeps spacing and position."""
    with replacing(path) as handle:
        if lower_suffix(path) == ".npz":
            spacing, centre = np.array(scan.spacing), np.array(scan.centre)
            np.savez_compressed(handle, values=scan.values, spacing=spacing, centre=centre)
        else:
            np.save(handle, scan.values, allow_pickle=False)


def _read_archive(path: Path, axes: str | None) -> Scan:
    require_signature(path, b"PK", "a NumPy archive")
    # Opened here, because NumPy does not close a file that turns out to be no archive.
    with path.open("rb") as handle, np.load(handle, allow_pickle=False) as archive:
        check_size(sum(member.file_size for member in archive.zip.infolist()), path)
        if "values" not in archive:
            raise UnreadableFile(
                f"The file {path} holds {', '.join(archive.files) or 'nothing'}; a scan needs 'values'."
            )
        spacing = np.asarray(archive["spacing"], np.float64) if "spacing" in archive else np.ones(3)
        centre = np.asarray(archive["centre"], np.float64) if "centre" in archive else spacing / 2
        for name, given in (("spacing", spacing), ("centre", centre)):
            if given.shape != (3,):
                raise UnreadableFile(f"In {path}, {name!r} has the shape {given.shape}; it must be (3,), for x, y, z.")
        return from_axes(path, archive["values"], axes or "xyz", as_triple(spacing), as_triple(centre))
