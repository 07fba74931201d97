"""Scans in files: grey or labelled images with three axes, from NIfTI, NRRD, TIFF, DICOM and NumPy."""

from __future__ import annotations

import os
from collections.abc import Callable
from numbers import Real
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from choque.errors import InvalidInput, UnknownName, UnreadableFile
from choque.files import scan_dicom, scan_nifti, scan_nrrd, scan_numpy, scan_tiff
from choque.files.orientation import FRAMES, Scan
from choque.files.source import read_head

Reader: TypeAlias = Callable[[Path, "str | None", str], Scan]
Writer: TypeAlias = Callable[[Path, Scan, str], None]

READERS: dict[str, Reader] = {
    ".nii": scan_nifti.read,
    ".nii.gz": scan_nifti.read,
    ".nrrd": scan_nrrd.read,
    ".tif": scan_tiff.read,
    ".tiff": scan_tiff.read,
    ".npy": scan_numpy.read,
    ".npz": scan_numpy.read_archive,
    ".dcm": scan_dicom.read,
}
WRITERS: dict[str, Writer] = {
    ".nii": scan_nifti.write,
    ".nii.gz": scan_nifti.write,
    ".nrrd": scan_nrrd.write,
    ".tif": scan_tiff.write,
    ".tiff": scan_tiff.write,
    ".npy": scan_numpy.write,
    ".npz": scan_numpy.write_archive,
}


def scan_suffix(path: str | os.PathLike[str]) -> str:
    """The suffix in small letters, ``.nii.gz`` in one piece."""
    name = Path(path).name.lower()
    return ".nii.gz" if name.endswith(".nii.gz") else Path(name).suffix


def read_scan(path: str | os.PathLike[str], *, axes: str | None = None, world: str = "LPS") -> Scan:
    """Read the values of a scan with axes x, y, z of ``world``, its spacing and where it lies.

    A folder is read as a DICOM series, a ``.dcm`` file as one that holds all frames. ``axes`` says how a TIFF or NumPy
    array is meant; other formats know.
    """
    if world not in FRAMES:
        raise UnknownName("world frame", world, FRAMES)
    path = Path(path)
    if path.is_dir():
        return scan_dicom.read_folder(path, world)
    read_head(path)
    suffix = scan_suffix(path)
    if suffix not in READERS:
        raise UnreadableFile(
            f"The file {path} ends in {suffix!r}; scans are read from files that end in {', '.join(sorted(READERS))}, "
            "and from folders of DICOM slices."
        )
    return READERS[suffix](path, axes, world)


def write_scan(path: str | os.PathLike[str], scan: Scan, *, world: str = "LPS") -> None:
    """Write a scan whose axes x, y, z are those of ``world``; ``.npy`` keeps the values only."""
    suffix = scan_suffix(path)
    if suffix not in WRITERS:
        raise UnknownName("format for scans", suffix, WRITERS)
    WRITERS[suffix](Path(path), scan, world)


def select(
    values: NDArray[Any],
    *,
    above: float | None = None,
    below: float | None = None,
    label: int | None = None,
    name: str = "the scan",
) -> NDArray[np.bool_]:
    """The voxels with values > above and < below, or equal to a label; without any of them, those that are not 0.

    A value that is not a number, as outside a region that somebody has masked, is never chosen. A choice that leaves
    nothing is refused: it is nearly always a wrong threshold. (A scan of zeros alone is empty.)
    """
    if label is not None and (above is not None or below is not None):
        raise InvalidInput("Choose voxels either by label, or by above and below, not by both.")
    for word, value in (("above", above), ("below", below), ("label", label)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, Real)):
            raise InvalidInput(f"{word} is {value!r}; it must be a number.")
    if values.dtype.kind not in "biuf":
        raise InvalidInput(f"The values of {name} have type {values.dtype}; a threshold needs ordinary numbers.")
    if above is None and below is None and label is None:
        mask = np.asarray(values != 0)
        return mask & ~np.isnan(values) if values.dtype.kind == "f" else mask
    if label is not None:
        mask = np.asarray(values == label)
    else:
        mask = np.ones(values.shape, np.bool_)
        if above is not None:
            mask &= values > above
        if below is not None:
            mask &= values < below
    if not mask.any():
        wanted = [
            f"{word} {value}"
            for word, value in (("above", above), ("below", below), ("label", label))
            if value is not None
        ]
        numbers = values[~np.isnan(values)] if values.dtype.kind == "f" else values
        span = f"{numbers.min()} to {numbers.max()}" if numbers.size else "none at all"
        raise InvalidInput(f"No voxel of {name} is {' and '.join(wanted)}: its values are {span}.")
    return mask
