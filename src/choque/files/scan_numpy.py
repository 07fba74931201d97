"""Scans as NumPy arrays: the values alone, or an archive with spacing and position."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from choque.errors import UnreadableFile
from choque.files.atomic import replacing
from choque.files.orientation import Scan, from_axes
from choque.files.source import naming_damage, require_signature


def read(path: Path, axes: str | None, world: str) -> Scan:  # noqa: ARG001
    """Read an array whose axes are ``axes``, by default xyz, on voxels of edge 1."""
    require_signature(path, b"\x93NUMPY", "a NumPy array")
    with naming_damage(path):
        values = np.load(path, allow_pickle=False)
    return from_axes(values, axes or "xyz", (1.0, 1.0, 1.0))


def write(path: Path, scan: Scan, world: str) -> None:  # noqa: ARG001
    """Write the values with axes x, y, z; spacing and position are not kept."""
    with replacing(path) as handle:
        np.save(handle, scan.values, allow_pickle=False)


def read_archive(path: Path, axes: str | None, world: str) -> Scan:  # noqa: ARG001
    """Read ``values``, ``spacing`` and ``centre``, as `write_archive` writes them."""
    require_signature(path, b"PK", "a NumPy archive")
    # Opened here, because NumPy forgets to close what turns out to be no archive.
    with naming_damage(path), path.open("rb") as handle, np.load(handle, allow_pickle=False) as archive:
        if "values" not in archive:
            raise UnreadableFile(
                f"The file {path} holds {', '.join(archive.files) or 'nothing'}; a scan needs 'values'."
            )
        spacing = np.asarray(archive["spacing"], np.float64) if "spacing" in archive else np.ones(3)
        centre = np.asarray(archive["centre"], np.float64) if "centre" in archive else spacing / 2
        x, y, z = spacing.tolist()
        first = centre.tolist()
        return from_axes(archive["values"], axes or "xyz", (x, y, z), (first[0], first[1], first[2]))


def write_archive(path: Path, scan: Scan, world: str) -> None:  # noqa: ARG001
    """Write values with axes x, y, z, and where they lie."""
    with replacing(path) as handle:
        np.savez_compressed(handle, values=scan.values, spacing=np.array(scan.spacing), centre=np.array(scan.centre))
