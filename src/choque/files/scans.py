"""Scans in files: grey or labelled images with three axes, from NIfTI, NRRD, TIFF, DICOM and NumPy.

Each format is one module with ``read(path, axes, world)`` and, where it is written, ``write(path, scan, world)``.
Axis order and orientation are handled here alone. A format gives the positions of voxels either by an affine to a
patient's frame or by the order of its axes; `read_scan` returns values with axes x, y, z that ascend in the world.

A frame is named by the directions of its axes: L or R, P or A, S or I. DICOM and NRRD mostly use LPS, NIfTI uses RAS.
"""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque._core import check
from choque.errors import InvalidInput, UnknownName, UnreadableFile
from choque.files.source import read_head

READERS = {
    ".dcm": "choque.files.scan_dicom",
    ".nii": "choque.files.scan_nifti",
    ".nii.gz": "choque.files.scan_nifti",
    ".npy": "choque.files.scan_numpy",
    ".npz": "choque.files.scan_numpy",
    ".nrrd": "choque.files.scan_nrrd",
    ".tif": "choque.files.scan_tiff",
    ".tiff": "choque.files.scan_tiff",
}
"""The module that reads each suffix."""

WRITERS = {suffix: module for suffix, module in READERS.items() if suffix != ".dcm"}
"""The module that writes each suffix."""

FRAMES = ("LPS", "RAS")
AXES = ("xyz", "zyx")

_OBLIQUE = 1e-3
"""Sine of the angle from which axes count as oblique: headers are rounded, and scanners tilt by degrees."""


class Scan(NamedTuple):
    """Values (nx, ny, nz) on voxels of ``spacing`` whose first has its centre at ``centre`` [world units]."""

    values: NDArray[Any]
    spacing: tuple[float, float, float]
    centre: tuple[float, float, float]

    def corner(self, spacing: tuple[float, float, float] | None = None) -> tuple[float, float, float]:
        """Return the lower corner of the first voxel, half a voxel before its centre."""
        x, y, z = (middle - size / 2 for middle, size in zip(self.centre, spacing or self.spacing, strict=True))
        return (x, y, z)


def scan_suffix(path: str | os.PathLike[str]) -> str:
    """Return the suffix in lower case; ``.nii.gz`` is one suffix."""
    name = Path(path).name.lower()
    return ".nii.gz" if name.endswith(".nii.gz") else Path(name).suffix


def read_scan(path: str | os.PathLike[str], *, axes: str | None = None, world: str = "LPS") -> Scan:
    """Read the values of a scan with axes x, y, z of ``world``, its spacing and its position.

    A folder is read as a DICOM series or, without DICOM files, as TIFF slices numbered in their names; a ``.dcm`` file
    as a file that holds all frames. ``axes`` is the order of the axes of a TIFF or NumPy array, ``"xyz"`` or
    ``"zyx"``; the other formats record it.
    """
    check.choice(world, "world frame", FRAMES)
    path = Path(path)
    if path.is_dir():
        return _read_folder(path, axes, world)
    read_head(path)
    suffix = scan_suffix(path)
    if suffix not in READERS:
        raise UnreadableFile(
            f"The file {path} ends in {suffix!r}; scans are read from files that end in {', '.join(sorted(READERS))}, "
            "and from folders of DICOM slices."
        )
    scan: Scan = import_module(READERS[suffix]).read(path, axes, world)
    return scan


def _read_folder(folder: Path, axes: str | None, world: str) -> Scan:
    """Read the DICOM series in a folder or, if there is none, its TIFF slices."""
    from choque.files import scan_dicom, scan_tiff

    if scan_dicom.dicom_files(folder):
        return scan_dicom.read_folder(folder, world)
    slices = [path for path in folder.iterdir() if path.is_file() and scan_suffix(path) in (".tif", ".tiff")]
    if slices:
        return scan_tiff.read_folder(folder, slices, axes)
    inner = sorted(path.name for path in folder.iterdir() if path.is_dir())
    hint = f" Folders in it are not read: give one of {', '.join(inner[:5])}." if inner else ""
    raise UnreadableFile(f"The folder {folder} holds no DICOM slices and no TIFF slices.{hint}")


def write_scan(path: str | os.PathLike[str], scan: Scan, *, world: str = "LPS") -> None:
    """Write a scan whose axes x, y, z are those of ``world``; ``.npy`` keeps the values only."""
    suffix = scan_suffix(path)
    if suffix not in WRITERS:
        raise UnknownName("format for scans", suffix, WRITERS)
    import_module(WRITERS[suffix]).write(Path(path), scan, world)


def oriented(values: NDArray[Any], affine: NDArray[np.float64], frame: str, world: str, what: str) -> Scan:
    """Permute and flip the axes of values (i, j, k) so that they ascend along x, y, z of ``world``.

    ``affine`` (4, 4) maps the index (i, j, k) to the centre of that voxel in ``frame``. Values are not interpolated,
    so oblique axes are an error; ``what`` names the scan in the message.
    """
    check.choice(world, "world frame", FRAMES)
    if affine.shape != (4, 4) or not np.isfinite(affine).all():
        raise InvalidInput(f"{what} has no usable position: its affine is not (4, 4) of finite numbers.")
    signs = [1.0 if there == here else -1.0 for there, here in zip(frame, world, strict=True)]
    matrix = np.diag([*signs, 1.0]) @ affine
    size = np.linalg.norm(matrix[:3, :3], axis=0)
    if size.min() <= 0:
        raise InvalidInput(f"{what} has voxels of size {size.tolist()}; every edge must be longer than 0.")
    turn = matrix[:3, :3] / size
    source = np.abs(turn).argmax(axis=1)
    aligned = np.zeros((3, 3))
    aligned[np.arange(3), source] = np.sign(turn[np.arange(3), source])
    if len(set(source.tolist())) < 3 or np.abs(turn - aligned).max() > _OBLIQUE:
        angle = float(np.degrees(np.arcsin(min(1.0, np.abs(turn - aligned).max()))))
        raise InvalidInput(
            f"{what} is oblique: its axes are rotated by about {angle:.1f}° from the axes of the patient. "
            "Resample it to straight axes first, for example in the program that wrote it."
        )
    centre = matrix[:3, 3].copy()
    turned = values.transpose(source.tolist())
    for axis in range(3):
        if aligned[axis, source[axis]] < 0:
            turned = np.flip(turned, axis)
            centre[axis] -= size[source[axis]] * (turned.shape[axis] - 1)
    return Scan(turned, _triple(size[source]), _triple(centre))


def from_axes(
    values: NDArray[Any],
    axes: str,
    spacing: tuple[float, float, float],
    centre: tuple[float, float, float] | None = None,
) -> Scan:
    """Return a scan from an array with the axes ``xyz`` or ``zyx``; the spacing is along x, y, z."""
    check.choice(axes, "order of axes", AXES)
    if values.ndim != 3:
        raise InvalidInput(f"The image has {values.ndim} axes and shape {values.shape}; a scan has three.")
    first = tuple(size / 2 for size in spacing) if centre is None else centre
    return Scan(values if axes == "xyz" else values.transpose(), spacing, _triple(np.array(first)))


def to_affine(
    spacing: tuple[float, float, float], centre: tuple[float, float, float], world: str, frame: str
) -> NDArray[Any]:
    """Return the affine (4, 4) from indices of an x, y, z array in ``world`` to positions in ``frame``."""
    signs = [1.0 if there == here else -1.0 for there, here in zip(frame, world, strict=True)]
    affine = np.eye(4)
    affine[:3, :3] = np.diag(np.array(signs) * spacing)
    affine[:3, 3] = np.array(signs) * centre
    return affine


def _triple(values: NDArray[np.float64]) -> tuple[float, float, float]:
    return (float(values[0]), float(values[1]), float(values[2]))


def select(
    values: NDArray[Any],
    *,
    above: float | None = None,
    below: float | None = None,
    label: int | None = None,
    name: str = "the scan",
) -> NDArray[np.bool_]:
    """Return the voxels with values > above and < below, or equal to a label; by default those that are not 0.

    NaN, as outside a masked region, is never selected. A selection without voxels is an error, as it is nearly always
    a wrong threshold; a scan of zeros is empty.
    """
    if label is not None and (above is not None or below is not None):
        raise InvalidInput("Choose voxels either by label, or by above and below, not by both.")
    for word, value in (("above", above), ("below", below), ("label", label)):
        if value is not None:
            check.number(value, word, infinite=True)
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
