"""Scans in files: grey or labelled images with three axes, from NIfTI, NRRD, TIFF, DICOM and NumPy.

Each format is one module with ``read(path, axes, world)`` and, where it is written, ``write(path, scan, world)``.
Axis order and orientation are handled here alone. A format gives the positions of voxels either by an affine to a
patient's frame or by the order of its axes; `read_scan` returns values with axes x, y, z that ascend in the world.

A frame is named by the directions of its axes: L or R, P or A, S or I. DICOM and NRRD mostly use LPS, NIfTI uses RAS.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from itertools import permutations, product
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from choque._core import check
from choque._core.types import F64, I64, Bools
from choque.errors import InvalidInput, UnreadableFile
from choque.files.source import check_suffix, naming_damage, read_head

_SUFFIXES = {"dicom": ".dcm", "nifti": ".nii .nii.gz", "numpy": ".npy .npz", "nrrd": ".nrrd", "tiff": ".tif .tiff"}
READERS = {suffix: f"choque.files.scan_{name}" for name, suffixes in _SUFFIXES.items() for suffix in suffixes.split()}
"""The module that reads each suffix."""

WRITERS = {suffix: module for suffix, module in READERS.items() if suffix != ".dcm"}
"""The module that writes each suffix."""

FRAMES = ("LPS", "RAS")
AXES = ("xyz", "zyx")
_OBLIQUE = 1e-3  # sine of the angle from which axes count as oblique: headers are rounded, and scanners tilt by degrees


Triple: TypeAlias = tuple[float, float, float]  # one number for each of x, y, z


class Scan(NamedTuple):
    """Values (nx, ny, nz) on voxels of ``spacing`` whose first has its centre at ``centre`` [world units]."""

    values: NDArray[Any]
    spacing: Triple
    centre: Triple
    rotation: F64 | None = None  # rotation (3, 3) of the axes about ``centre``, if the scan is oblique

    def corner(self, spacing: Triple | None = None) -> Triple:
        """Return the lower corner of the first voxel, half a voxel before its centre."""
        return as_triple(np.subtract(self.centre, np.divide(spacing or self.spacing, 2)))


def scan_suffix(path: str | os.PathLike[str]) -> str:
    """Return the suffix in lower case; ``.nii.gz`` is one suffix."""
    name = Path(path).name.lower()
    return ".nii.gz" if name.endswith(".nii.gz") else Path(name).suffix


def read_scan(
    path: str | os.PathLike[str],
    *,
    axes: str | None = None,
    world: str = "LPS",
    oblique: bool = False,
    series: str | None = None,
) -> Scan:
    """Read the values of a scan with axes x, y, z of ``world``, its spacing and its position.

    A folder is read as a DICOM series or, without DICOM files, as TIFF slices numbered in their names; a ``.dcm`` file
    as a file that holds all frames. ``axes`` is the order of the axes of a TIFF or NumPy array, ``"xyz"`` or
    ``"zyx"``; the other formats record it. A scan with axes that are not those of the world is refused, unless it may
    be ``oblique``: it then has a `Scan.rotation`. ``series`` chooses one DICOM series of a folder that holds several,
    by its description, number or unique identifier.
    """
    check.choice(world, "world frame", FRAMES)
    path = Path(path)
    if series is not None and not path.is_dir():
        raise InvalidInput(f"series is {series!r}, and {path} is no folder; only folders hold several DICOM series.")
    with naming_damage(path):
        if path.is_dir():
            scan = _read_folder(path, axes, world, series)
        else:
            read_head(path)
            suffix = scan_suffix(path)
            check_suffix(path, suffix, READERS, "scans", ", and from folders of DICOM slices")
            scan = import_module(READERS[suffix]).read(path, axes, world)
    if not (np.isfinite((*scan.spacing, *scan.centre)).all() and min(scan.spacing) > 0):
        given = f"voxels with the edges {scan.spacing}, the first at {scan.centre}"
        raise UnreadableFile(f"The scan {path} has {given}; edges must be above 0, and all these numbers finite.")
    if scan.rotation is not None and not oblique:
        angle = np.degrees(np.arccos(np.clip((np.trace(scan.rotation) - 1) / 2, -1.0, 1.0)))
        raise InvalidInput(
            f"The scan {path} is oblique: its axes are rotated by about {angle:.3g}° from the axes of the patient. "
            "Resample it with Volume.from_scan(…, straighten=True) or --straighten, or in the program that wrote it."
        )
    return scan


def _read_folder(folder: Path, axes: str | None, world: str, series: str | None) -> Scan:
    """Read the DICOM series in a folder or, if there is none, its TIFF slices."""
    from choque.files import scan_dicom, scan_tiff

    if scan_dicom.dicom_files(folder):
        return scan_dicom.read_folder(folder, world, series)
    slices = [path for path in folder.iterdir() if path.is_file() and scan_suffix(path) in (".tif", ".tiff")]
    if slices:
        return scan_tiff.read_folder(folder, slices, axes)
    inner = sorted(path.name for path in folder.iterdir() if path.is_dir())
    hint = f" Folders in it are not read: give one of {', '.join(inner[:5])}." if inner else ""
    raise UnreadableFile(f"The folder {folder} holds no DICOM slices and no TIFF slices.{hint}")


def write_scan(path: str | os.PathLike[str], scan: Scan, *, world: str = "LPS") -> None:
    """Write a scan whose axes x, y, z are those of ``world``; ``.npy`` keeps the values only."""
    suffix = check.choice(scan_suffix(path), "format for scans", WRITERS)
    import_module(WRITERS[suffix]).write(Path(path), scan, world)


def oriented(values: NDArray[Any], affine: F64, frame: str, world: str, what: str) -> Scan:
    """Permute and flip the axes of values (i, j, k) so that they ascend along x, y, z of ``world``.

    ``affine`` (4, 4) maps the index (i, j, k) to the centre of that voxel in ``frame``. Values are not interpolated:
    oblique axes leave a rotation, and axes that are not at right angles are an error; ``what`` names the scan.
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
    source, aligned = _nearest_axes(turn)
    rotation = None
    if np.abs(turn - aligned).max() > _OBLIQUE:
        if np.abs(turn.T @ turn - np.eye(3)).max() > _OBLIQUE:
            raise InvalidInput(
                f"{what} is sheared: its axes are not at right angles, as after a tilt of the gantry. Resample it to "
                "straight axes first, for example in the program that wrote it."
            )
        left, _, right = np.linalg.svd(turn @ aligned.T)
        rotation = left @ right
    centre = matrix[:3, 3].copy()
    turned = values.transpose(source.tolist())
    for axis in range(3):
        if aligned[axis, source[axis]] < 0:
            turned = np.flip(turned, axis)
            back = aligned[:, source[axis]] if rotation is None else turn[:, source[axis]]
            centre += back * size[source[axis]] * (turned.shape[axis] - 1)
    return Scan(turned, as_triple(size[source]), as_triple(centre), rotation)


def _nearest_axes(turn: F64) -> tuple[I64, F64]:
    """Return the axis of the file nearest to each axis of the world, and the signed permutation (3, 3) that it makes.

    It has the handedness of ``turn``, so that a rotation is left between the two.
    """
    found = (-np.inf, np.arange(3), np.eye(3))
    for source in permutations(range(3)):
        for signs in product((1.0, -1.0), repeat=3):
            aligned = np.zeros((3, 3))
            aligned[np.arange(3), source] = signs
            likeness = float((turn * aligned).sum())
            if likeness > found[0] and np.linalg.det(aligned) * np.linalg.det(turn) > 0:
                found = (likeness, np.array(source), aligned)
    return found[1], found[2]


def from_axes(path: Path, values: NDArray[Any], axes: str, spacing: Triple, centre: Triple | None = None) -> Scan:
    """Return a scan from an array with the axes ``xyz`` or ``zyx``; the spacing is along x, y, z."""
    check.choice(axes, "order of axes", AXES)
    if values.ndim != 3:
        raise UnreadableFile(f"The image {path} has {values.ndim} axes and the shape {values.shape}; a scan has three.")
    first = np.divide(spacing, 2) if centre is None else centre
    return Scan(values if axes == "xyz" else values.transpose(), spacing, as_triple(first))


def to_affine(spacing: Triple, centre: Triple, world: str, frame: str) -> NDArray[Any]:
    """Return the affine (4, 4) from indices of an x, y, z array in ``world`` to positions in ``frame``."""
    signs = [1.0 if there == here else -1.0 for there, here in zip(frame, world, strict=True)]
    affine = np.eye(4)
    affine[:3, :3] = np.diag(np.array(signs) * spacing)
    affine[:3, 3] = np.array(signs) * centre
    return affine


def as_triple(values: Sequence[Any] | NDArray[Any]) -> Triple:
    """Return the first three of ``values`` as floats."""
    return float(values[0]), float(values[1]), float(values[2])


def select(
    values: NDArray[Any],
    *,
    above: float | None = None,
    below: float | None = None,
    label: int | None = None,
    name: str = "the scan",
) -> Bools:
    """Return the voxels with values > above and < below, or equal to a label; by default those that are not 0.

    NaN, as outside a masked region, is never selected. A selection without voxels is an error, as it is nearly always
    a wrong threshold; a scan of zeros is empty.
    """
    if label is not None and (above is not None or below is not None):
        raise InvalidInput("Choose voxels either by label, or by above and below, not by both.")
    limits = (("above", above), ("below", below), ("label", label))
    given = {word: value for word, value in limits if value is not None}
    for word, value in given.items():
        check.number(value, word, infinite=True)
    if values.dtype.kind not in "biuf":
        raise InvalidInput(f"The values of {name} have type {values.dtype}; a threshold needs ordinary numbers.")
    if not given:
        mask = np.asarray(values != 0)
        mask = mask & ~np.isnan(values) if values.dtype.kind == "f" else mask
        if mask.all() and mask.size and values.min() != values.max():
            raise InvalidInput(
                f"No voxel of {name} is 0, so that all of them would be full: its values are {values.min()} to "
                f"{values.max()}. Choose voxels with above=, below= or label=."
            )
        return mask
    if label is not None:
        mask = np.asarray(values == label)
    else:
        mask = np.ones(values.shape, np.bool_)
        if above is not None:
            mask &= values > above
        if below is not None:
            mask &= values < below
    if not mask.any():
        numbers = values[~np.isnan(values)] if values.dtype.kind == "f" else values
        span = f"{numbers.min()} to {numbers.max()}" if numbers.size else "none at all"
        wanted = " and ".join(f"{word} {value}" for word, value in given.items())
        raise InvalidInput(f"No voxel of {name} is {wanted}: its values are {span}.")
    return mask
