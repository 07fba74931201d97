"""DICOM: a folder of slices, or files that hold many frames, as one series ordered by position in the LPS frame."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from choque._core.types import F64
from choque.errors import UnreadableFile, require
from choque.files.budget import check_array
from choque.files.scans import Scan, oriented
from choque.files.source import naming_damage

_ALIKE = {"orientation": 1e-4, "spacing": 1e-4, "shape": 0.0}
"""What all slices of a series share, and the largest difference that is ignored: scanners round their numbers."""
Series: TypeAlias = tuple[str, str, str]  # the unique identifier of a series, its description and its number, as text


@dataclass(frozen=True)
class Slice:
    """One picture and where it lies: a whole file, or one of its frames."""

    name: str  # what a message calls it
    series: Series
    position: F64  # (3,) the centre of its first pixel
    orientation: tuple[float, ...]  # along its rows, then along its columns: six numbers
    spacing: tuple[float, ...]  # from row to row, and from column to column
    thickness: float  # how thick it is, which only a single slice needs
    values: NDArray[Any]  # (rows, columns), rescaled as the file says

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""
        return self.values.shape


def read_folder(folder: Path, world: str, series: str | None = None) -> Scan:
    """Read the one series in ``folder``, of slices or of files with many frames; files of other kinds are left out.

    ``series`` chooses one of several by its description, number or unique identifier. Slices are sorted by where they
    lie, never by name. Values are rescaled as the files say, to Hounsfield units for CT.
    """
    known: Counter[Series] = Counter()
    slices: list[Slice] = []
    for path in dicom_files(folder):
        with naming_damage(path):
            slices += _slices(path, series, known)
    if len(known) > 1 and len({each.series for each in slices}) != 1:
        listed = ", ".join(
            f"{_title(each)} with {count} files"
            for each, count in sorted(known.items(), key=lambda item: item[0][::-1])[:8]
        )
        problem = "none was chosen" if series is None else f"{series!r} is not one of them"
        raise UnreadableFile(
            f"The folder {folder} holds {len(known)} series, and {problem}: {listed}. Choose one by its description, "
            "number or identifier, with series=… or --series."
        )
    if not slices and known:
        raise UnreadableFile(f"The folder {folder} holds one series, {_title(*known)}, and {series!r} was asked for.")
    if not slices:
        raise UnreadableFile(f"The DICOM files in {folder} hold no pictures; give the folder of a series.")
    return _stacked(folder, f"The series in {folder}", slices, world)


def read(path: Path, axes: str | None, world: str) -> Scan:  # noqa: ARG001
    """Read all frames of one file; ``axes`` are known."""
    if not is_dicom(path):
        raise UnreadableFile(f"The file {path} is no DICOM file: it lacks the mark that those have.")
    slices = list(_slices(path))
    if not slices:
        raise UnreadableFile(f"The file {path} holds no picture.")
    return _stacked(path, f"The scan {path}", slices, world)


def dicom_files(folder: Path) -> list[Path]:
    """List the DICOM files in a folder, without those in its sub-folders."""
    return [path for path in sorted(folder.iterdir()) if path.is_file() and is_dicom(path)]


def is_dicom(path: Path) -> bool:
    """Return whether a file has the mark of DICOM or, as old ones without a preamble, starts with a tag of group 8."""
    with path.open("rb") as handle:
        head = handle.read(132)
    if head[128:] == b"DICM":
        return True
    has_type = head[4:6].isalpha() and head[4:6].isupper()
    return head[:2] == b"\x08\x00" and head[3:4] == b"\0" and (has_type or head[5:8] == bytes(3))


def _slices(path: Path, series: str | None = None, known: Counter[Series] | None = None) -> Iterator[Slice]:
    """Return the slices of a file; none if it holds something else or another ``series``; note it in ``known``."""
    pydicom = require("pydicom", extra="volumes", purpose="to read DICOM slices")
    file = pydicom.dcmread(path, force=True)
    if "PixelData" not in file:
        return
    parts = ("SeriesInstanceUID", "SeriesDescription", "SeriesNumber")
    uid, description, number = (str(file.get(part) or "").strip() for part in parts)
    if known is not None:
        known[uid, description, number] += 1
    if series is not None and series.strip().lower() not in (uid, number, description.lower()):
        return
    if "TransferSyntaxUID" not in file.file_meta:
        is_implicit = file.original_encoding[0]
        uids = pydicom.uid
        file.file_meta.TransferSyntaxUID = uids.ImplicitVRLittleEndian if is_implicit else uids.ExplicitVRLittleEndian
    count = int(getattr(file, "NumberOfFrames", 1) or 1)
    check_array((count, int(file.Rows), int(file.Columns), int(file.BitsAllocated) // 8), np.uint8, path)
    pixels = np.asarray(file.pixel_array)
    if pixels.ndim != (3 if count > 1 else 2):
        raise UnreadableFile(f"The file {path} holds a picture in colour; a scan has one value a voxel.")
    offsets = _frame_offsets(path, file, count)
    for at, picture in enumerate(pixels if count > 1 else [pixels]):
        name = f"{path}, frame {at}" if count > 1 else str(path)
        groups = _groups(file, at)
        orientation = _numbers(name, groups, "PlaneOrientationSequence", "ImageOrientationPatient", 6)
        position = np.array(_numbers(name, groups, "PlanePositionSequence", "ImagePositionPatient", 3))
        normal = np.cross(orientation[:3], orientation[3:])
        measures = _part(groups, "PixelMeasuresSequence", "SliceThickness")
        yield Slice(
            name,
            (uid, description, number),
            position + offsets[at] * normal,
            orientation,
            _numbers(name, groups, "PixelMeasuresSequence", "PixelSpacing", 2),
            float(getattr(measures, "SliceThickness", 1.0) or 1.0),
            _rescaled(picture, _part(groups, "PixelValueTransformationSequence", "RescaleSlope")),
        )


def _frame_offsets(path: Path, file: Any, count: int) -> F64:
    """Return the offset of each frame along its normal from the position in the file; 0 if frames have their own."""
    if count == 1 or "PerFrameFunctionalGroupsSequence" in file:
        return np.zeros(count)
    given = file.get("GridFrameOffsetVector")
    if given is not None and len(given) == count:
        return np.array(given, np.float64) - float(given[0])
    step = file.get("SpacingBetweenSlices")
    if step:
        return np.asarray(float(step) * np.arange(count), np.float64)
    raise UnreadableFile(
        f"The file {path} holds {count} frames and does not say where they lie; convert it to NIfTI with the software "
        "of the scanner."
    )


def _groups(file: Any, number: int) -> list[Any]:
    """Return the data sets that may describe a frame, most specific first: its own group, the shared one, the file."""
    places = []
    for name, at in (("PerFrameFunctionalGroupsSequence", number), ("SharedFunctionalGroupsSequence", 0)):
        sequence = file.get(name)
        if sequence is not None and at < len(sequence):
            places.append(sequence[at])
    return [*places, file]


def _part(groups: list[Any], sequence: str, name: str) -> Any:
    """Return the first value of ``name``, at top level or in a ``sequence`` of one item; None if there is none."""
    for group in groups:
        items = group.get(sequence)
        for place in (items[0] if items else None, group):
            if place is not None and name in place:
                return place
    return None


def _numbers(what: str, groups: list[Any], sequence: str, name: str, count: int) -> tuple[float, ...]:
    place = _part(groups, sequence, name)
    if place is None:
        raise UnreadableFile(f"The slice {what} does not say its {name}, so it cannot be placed.")
    values = tuple(float(value) for value in np.ravel(place[name].value))
    if len(values) != count:
        raise UnreadableFile(f"The slice {what} says {len(values)} numbers for its {name}; it must say {count}.")
    return values


def _rescaled(stored: NDArray[Any], place: Any) -> NDArray[Any]:
    slope, intercept = float(getattr(place, "RescaleSlope", 1)), float(getattr(place, "RescaleIntercept", 0))
    if slope == 1 and intercept == 0:
        return stored
    if slope != int(slope) or intercept != int(intercept):
        return np.asarray(stored.astype(np.float32) * np.float32(slope) + np.float32(intercept))
    exact = stored * slope + intercept
    return exact.astype(np.int32) if np.abs(exact).max(initial=0) < 1 << 31 else exact


def _stacked(source: Path, what: str, slices: list[Slice], world: str) -> Scan:
    """Return one block of values from slices in any order."""
    first = slices[0]
    for each in slices:
        for name, tolerance in _ALIKE.items():
            if not np.allclose(getattr(each, name), getattr(first, name), rtol=0.0, atol=tolerance):
                raise UnreadableFile(
                    f"The slices {first.name} and {each.name} differ in {name}; they cannot be stacked."
                )
    along_row, along_column = np.array(first.orientation[:3]), np.array(first.orientation[3:])
    normal = np.cross(along_row, along_column)
    slices = sorted(slices, key=lambda each: float(each.position @ normal))
    places = np.array([each.position for each in slices])
    row_spacing, column_spacing = first.spacing
    affine = np.eye(4)
    affine[:3, 0], affine[:3, 1] = along_row * column_spacing, along_column * row_spacing
    affine[:3, 2] = _slice_step(source, first, places, normal)
    affine[:3, 3] = places[0]
    values = np.stack([each.values for each in slices], axis=-1).transpose(1, 0, 2)
    return oriented(values, affine, "LPS", world, what)


def _title(series: Series) -> str:
    """Return what a message calls a series: its description and number, or else its identifier."""
    uid, description, number = series
    return " ".join(filter(None, (repr(description) if description else "", f"({number})" if number else ""))) or uid


def _slice_step(source: Path, first: Slice, places: F64, normal: F64) -> F64:
    """Return the vector from one slice to the next; refuse slices that are missing, doubled or unevenly spaced."""
    if len(places) == 1:
        return normal * first.thickness
    steps = np.diff(places @ normal)
    usual = float(np.median(steps))
    wrong = np.flatnonzero(np.abs(steps - usual) > 0.01 * max(usual, 1e-9))
    if usual <= 0 or len(wrong):
        at = int(wrong[0]) if len(wrong) else 0
        raise UnreadableFile(
            f"The slices in {source} are unevenly spread: {steps[at]:.4g} lies between slices {at} and {at + 1}, "
            f"{usual:.4g} elsewhere. Slices are missing or doubled."
        )
    return np.asarray((places[-1] - places[0]) / (len(places) - 1))
