"""NIfTI images, the format of neuroimaging: an affine to a frame that is always RAS."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np

from choque.errors import InvalidInput, UnreadableFile, require
from choque.files.atomic import replacing
from choque.files.budget import check_array
from choque.files.scans import Scan, oriented, to_affine


def read(path: Path, axes: str | None, world: str) -> Scan:  # noqa: ARG001
    """Read a NIfTI file with three axes; scaled values come as floats, others as they are stored."""
    nibabel = require("nibabel", extra="volumes", purpose="to read NIfTI files")
    image = nibabel.load(path)
    is_scaled = getattr(image.dataobj, "slope", 1.0) != 1.0 or getattr(image.dataobj, "inter", 0.0) != 0.0
    check_array(image.shape, np.float64 if is_scaled else image.get_data_dtype(), path)
    values = np.asanyarray(image.dataobj)
    affine = np.asarray(image.affine, np.float64)
    while values.ndim > 3 and values.shape[-1] == 1:
        values = values[..., 0]
    if values.ndim != 3:
        raise UnreadableFile(
            f"The file {path} has shape {values.shape}; a scan has three axes. Take one of its frames."
        )
    return oriented(values, affine, "RAS", world, f"The scan {path}")


def write(path: Path, scan: Scan, world: str) -> None:
    """Write a NIfTI file, compressed if the name ends in .gz; true and false become 1 and 0."""
    nibabel = require("nibabel", extra="volumes", purpose="to write NIfTI files")
    values = scan.values.astype(np.uint8) if scan.values.dtype == np.bool_ else scan.values
    if values.dtype in (np.dtype(np.int64), np.dtype(np.uint64)):
        raise InvalidInput("NIfTI readers do not take 64-bit whole numbers; convert the values to int32 first.")
    image = nibabel.Nifti1Image(values, to_affine(scan.spacing, scan.centre, world, "RAS"))
    image.set_sform(image.affine, code=1)
    image.set_qform(None, code=0)  # the quaternion form holds 32-bit floats and cannot be exact
    data = image.to_bytes()
    with replacing(path) as handle:
        handle.write(gzip.compress(data, 6, mtime=0) if path.name.lower().endswith(".gz") else data)
