"""A folder of DICOM slices: one series, ordered by position, in the LPS frame."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque.errors import UnreadableFile, require
from choque.files.orientation import Scan, oriented
from choque.files.source import naming_damage

_NEEDED = ("ImagePositionPatient", "ImageOrientationPatient", "PixelSpacing", "Rows", "Columns", "PixelData")


def read_folder(folder: Path, world: str) -> Scan:
    """Read the slices of the one series in ``folder``; files of other kinds are left out.

    Slices are sorted by where they lie, never by name. Values are rescaled as the files say, to Hounsfield units for
    CT.
    """
    pydicom = require("pydicom", extra="volumes", purpose="to read DICOM slices")
    slices = []
    for path in sorted(folder.iterdir()):
        if path.is_file() and _is_dicom(path):
            with naming_damage(path):
                part = pydicom.dcmread(path)
                if "PixelData" in part:
                    slices.append((path, part))
    if not slices:
        raise UnreadableFile(f"The folder {folder} holds no DICOM slices.")
    _check_alike(folder, slices)
    return _stacked(folder, [part for _, part in slices], world)


def _is_dicom(path: Path) -> bool:
    with path.open("rb") as handle:
        return handle.read(132)[128:] == b"DICM"


def _check_alike(folder: Path, slices: list[tuple[Path, Any]]) -> None:
    for path, part in slices:
        if int(getattr(part, "NumberOfFrames", 1) or 1) > 1:
            raise UnreadableFile(
                f"The file {path} holds many frames; convert it to NIfTI or to one file for each slice."
            )
        missing = [name for name in _NEEDED if name not in part]
        if missing:
            raise UnreadableFile(f"The slice {path} does not say its {missing[0]}, so it cannot be placed.")
    series = sorted({str(getattr(part, "SeriesInstanceUID", "")) for _, part in slices})
    if len(series) > 1:
        raise UnreadableFile(f"The folder {folder} holds {len(series)} series; put each into a folder of its own.")
    first_path, first = slices[0]
    for path, part in slices:
        for name in ("Rows", "Columns", "PixelSpacing", "ImageOrientationPatient"):
            if list(np.ravel(part[name].value)) != list(np.ravel(first[name].value)):
                raise UnreadableFile(f"The slices {first_path} and {path} differ in {name}; they cannot be stacked.")


def _stacked(folder: Path, slices: list[Any], world: str) -> Scan:
    with naming_damage(folder):
        along_row = np.array(slices[0].ImageOrientationPatient[:3], np.float64)
        along_column = np.array(slices[0].ImageOrientationPatient[3:], np.float64)
        normal = np.cross(along_row, along_column)
        places = np.array([part.ImagePositionPatient for part in slices], np.float64)
        order = np.argsort(places @ normal, kind="stable")
        row_spacing, column_spacing = (float(value) for value in slices[0].PixelSpacing)
        values = np.stack([_values(slices[at]) for at in order], axis=-1).transpose(1, 0, 2)
    places = places[order]
    affine = np.eye(4)
    affine[:3, 0], affine[:3, 1] = along_row * column_spacing, along_column * row_spacing
    affine[:3, 2] = _slice_step(folder, slices[0], places, normal)
    affine[:3, 3] = places[0]
    return oriented(values, affine, "LPS", world, f"The series in {folder}")


def _values(part: Any) -> NDArray[Any]:
    stored: NDArray[Any] = part.pixel_array
    slope, intercept = float(getattr(part, "RescaleSlope", 1)), float(getattr(part, "RescaleIntercept", 0))
    if slope == 1 and intercept == 0:
        return stored
    scaled = stored.astype(np.float32) * np.float32(slope) + np.float32(intercept)
    return scaled if slope != int(slope) or intercept != int(intercept) else scaled.astype(np.int32)


def _slice_step(
    folder: Path, first: Any, places: NDArray[np.float64], normal: NDArray[np.float64]
) -> NDArray[np.float64]:
    """From one slice to the next; refused when slices are missing, doubled or unevenly spread."""
    if len(places) == 1:
        return normal * float(getattr(first, "SliceThickness", 1.0) or 1.0)
    steps = np.diff(places @ normal)
    usual = float(np.median(steps))
    wrong = np.flatnonzero(np.abs(steps - usual) > 0.01 * max(usual, 1e-9))
    if usual <= 0 or len(wrong):
        at = int(wrong[0]) if len(wrong) else 0
        raise UnreadableFile(
            f"The slices in {folder} are unevenly spread: {steps[at]:.4g} lies between slices {at} and {at + 1}, "
            f"{usual:.4g} elsewhere. Slices are missing or doubled."
        )
    return np.asarray((places[-1] - places[0]) / (len(places) - 1))
