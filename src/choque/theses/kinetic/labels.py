"""Contacts of labelled objects in a stack of 2D frames: which touch, from when to when, and along which length.

Objects keep their label from frame to frame; 0 is background. Two objects touch in a frame where a pixel of one and a
pixel of the other share an edge; the length of their contact is the sum of the edges they share.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core import check
from choque.errors import InvalidInput, require
from choque.files.atomic import replacing
from choque.files.budget import check_array
from choque.files.scan_tiff import raising_errors, require_tiff
from choque.files.source import naming_damage
from choque.lab.csv_rows import write_rows

_HALF = np.int64(32)
_MAX_LABEL = 2**31 - 1

Polygon: TypeAlias = NDArray[np.float64]
"""(k, 2) vertices in order."""

PixelSize: TypeAlias = tuple[float, float] | float
"""(height, width) of a pixel, or one number for both."""


@dataclass(frozen=True)
class LabelContact:
    """A contact of two objects in consecutive frames."""

    first_label: int
    second_label: int
    first_frame: int
    last_frame: int
    began: float
    """The time of the first frame in which they touch."""
    ended: float
    """The time of the last frame in which they touch."""
    mean_length: float
    """Mean over the frames of the contact, in units of the pixel size."""
    greatest_length: float


@dataclass(frozen=True)
class FrameContacts:
    """The contacts of one frame."""

    pairs: NDArray[np.int64]
    """(k, 2) labels, smaller one first, sorted."""
    lengths: NDArray[np.float64]
    """(k,) the lengths of the contacts."""


def read_frames(path: str | os.PathLike[str]) -> Iterator[NDArray[Any]]:
    """Iterate over the frames of a TIFF stack, with one frame in memory at a time."""
    tifffile = require("tifffile", extra="images", purpose="to read image stacks")
    path = Path(path)
    require_tiff(path)
    with ExitStack() as opened:
        # The guards hold only while the file is read, so that a caller of `next` keeps its own warnings.
        with naming_damage(path), raising_errors():
            series = opened.enter_context(tifffile.TiffFile(path)).series[0]
            if series.ndim not in (2, 3):
                raise InvalidInput(
                    f"The stack {path} has the shape {series.shape}; it must be (frames, height, width)."
                )
            check_array(series.shape[-2:], series.dtype, path)
            count, pages = series.shape[0] if series.ndim == 3 else 1, list(series.pages)
            is_paged = len(pages) == count and all(page is not None for page in pages)
            whole = None if is_paged else series.asarray().reshape(count, *series.shape[-2:])
        for number in range(count):
            with naming_damage(path), raising_errors():
                frame = pages[number].asarray() if whole is None else whole[number]
            yield frame


def frame_contacts(labels: ArrayLike, *, pixel_size: PixelSize = (1.0, 1.0)) -> FrameContacts:
    """Return which objects of one labelled frame touch, and along which length.

    Parameters
    ----------
    labels
        (height, width) whole numbers, 0 for background.
    pixel_size
        (height, width) of a pixel, or one number for both.

    Notes
    -----
    Guarantees: exact: every shared edge counted once. O(pixels), vectorised.
    """
    frame, (height, width) = _checked(labels), _sides(pixel_size)
    found, lengths = [], []
    # Neighbours side by side share an upright edge of a pixel's height, neighbours above each other one of its width.
    for before, after, edge in ((frame[:, :-1], frame[:, 1:], height), (frame[:-1], frame[1:], width)):
        border = before != after
        a, b = before[border].astype(np.int64), after[border].astype(np.int64)
        both = (a != 0) & (b != 0)
        a, b = a[both], b[both]
        keys, counts = np.unique(np.minimum(a, b) << _HALF | np.maximum(a, b), return_counts=True)
        found.append(keys)
        lengths.append(counts * edge)
    keys, inverse = np.unique(np.concatenate(found), return_inverse=True)
    total = np.bincount(inverse, np.concatenate(lengths), minlength=len(keys)).astype(np.float64)
    return FrameContacts(np.stack((keys >> _HALF, keys & np.int64(0xFFFFFFFF)), axis=1), total)


def label_contacts(
    frames: Iterable[ArrayLike], *, pixel_size: PixelSize = (1.0, 1.0), frame_interval: float = 1.0
) -> list[LabelContact]:
    """Return all contacts of a stack of labelled frames, sorted by when they began, then by labels.

    Parameters
    ----------
    frames
        (height, width) whole numbers each, all of one shape.
    pixel_size
        (height, width) of a pixel, or one number for both.
    frame_interval
        The time between two frames.
    """
    sides, interval = _sides(pixel_size), check.positive(frame_interval, "frame_interval")
    shape: tuple[int, ...] | None = None
    keys: list[NDArray[np.int64]] = []
    lengths: list[NDArray[np.float64]] = []
    for number, labels in enumerate(_each(frames)):
        frame = _checked(labels, number)
        if shape is not None and frame.shape != shape:
            raise InvalidInput(
                f"Frame {number} has the shape {frame.shape} and frame 0 has {shape}; they must be alike."
            )
        shape = frame.shape
        contacts = frame_contacts(frame, pixel_size=sides)
        keys.append(contacts.pairs[:, 0] << _HALF | contacts.pairs[:, 1])
        lengths.append(contacts.lengths)
    return _joined(keys, lengths, interval)


def _joined(keys: list[NDArray[np.int64]], lengths: list[NDArray[np.float64]], interval: float) -> list[LabelContact]:
    """Join the contacts of consecutive frames."""
    if not keys:
        return []
    pair = np.concatenate(keys)
    frame = np.repeat(np.arange(len(keys)), [len(part) for part in keys])
    order = np.lexsort((frame, pair))
    pair, frame, length = pair[order], frame[order], np.concatenate(lengths)[order]
    starts = np.flatnonzero((np.diff(pair, prepend=-1) != 0) | (np.diff(frame, prepend=-2) != 1))
    if not len(starts):
        return []
    ends = np.append(starts[1:], len(pair))
    rows = [
        LabelContact(
            int(pair[begin] >> 32), int(pair[begin] & 0xFFFFFFFF), int(frame[begin]), int(frame[end - 1]),
            float(frame[begin] * interval), float(frame[end - 1] * interval),
            float(length[begin:end].mean()), float(length[begin:end].max()),
        )
        for begin, end in zip(starts, ends, strict=True)
    ]  # fmt: skip
    return sorted(rows, key=lambda row: (row.first_frame, row.first_label, row.second_label))


def outlines(labels: ArrayLike, *, pixel_size: PixelSize = (1.0, 1.0)) -> dict[int, Polygon]:
    """Return the outer outline of every object of one frame: label to (k, 2) points (x, y), y pointing down as rows do.

    Outlines run halfway between the pixels of an object and those around it (scikit-image's marching squares); an
    object in several pieces gets its longest outline.
    """
    measure = require("skimage.measure", extra="images", purpose="to trace outlines")
    frame, sides = _checked(labels), _sides(pixel_size)
    found: dict[int, Polygon] = {}
    for region in measure.regionprops(frame.astype(np.int64, copy=False)):
        mask = np.pad(region.image, 1).astype(np.float64)
        traced = max(measure.find_contours(mask, 0.5), key=len)[:-1]
        corner = np.array(region.bbox[:2]) - 1
        found[int(region.label)] = np.ascontiguousarray(((traced + corner) * sides)[:, ::-1])
    return found


def write_outlines(
    path: str | os.PathLike[str], frames: Iterable[ArrayLike], *, pixel_size: PixelSize = (1.0, 1.0)
) -> int:
    """Trace every object of every frame into an .npz file of arrays ``frame_label``. Return how many there are."""
    traced = {
        f"{number}_{label}": outline
        for number, frame in enumerate(_each(frames))
        for label, outline in outlines(frame, pixel_size=pixel_size).items()
    }
    with replacing(path) as handle:
        np.savez_compressed(handle, **traced)  # type: ignore[arg-type]
    return len(traced)


def motion(
    frames: Iterable[ArrayLike], *, pixel_size: PixelSize = (1.0, 1.0), frame_interval: float = 1.0
) -> tuple[dict[int, Polygon], NDArray[np.float64]]:
    """Return how the objects of the first frame move: their outlines by label, and (n, 2) velocities in that order.

    A velocity is the step of the centroid to the second frame over ``frame_interval``; an object that is missing there
    is at rest. `choque.theses.kinetic.contacts` takes both.
    """
    sides, interval = _sides(pixel_size), check.positive(frame_interval, "frame_interval")
    remaining = iter(_each(frames))
    first = _checked(next(remaining, np.zeros((1, 1), np.int64)))
    second = _checked(next(remaining, first), 1)
    before, after = (_centroids(frame, sides) for frame in (first, second))
    traced = outlines(first, pixel_size=sides)
    velocity = [np.subtract(after.get(label, before[label]), before[label]) / interval for label in traced]
    return traced, np.array(velocity, np.float64).reshape(-1, 2)


def _centroids(frame: NDArray[Any], pixel_size: tuple[float, float]) -> dict[int, NDArray[np.float64]]:
    rows, columns = np.nonzero(frame)
    names, inverse = np.unique(frame[rows, columns], return_inverse=True)
    count = np.bincount(inverse)
    x, y = np.bincount(inverse, columns) / count * pixel_size[1], np.bincount(inverse, rows) / count * pixel_size[0]
    return {int(name): np.array(point) for name, point in zip(names, zip(x, y, strict=True), strict=True)}


def write_table(path: str | os.PathLike[str], contacts: Iterable[LabelContact]) -> None:
    """Write contacts as CSV; an interrupted write leaves no file."""
    write_rows(path, [each.name for each in fields(LabelContact)], map(astuple, contacts))


def synthetic_stack(
    *, frames: int = 20, size: int = 256, objects: int = 30, radius: float | None = None, seed: int = 0
) -> NDArray[np.uint16]:
    """Return a stack (frames, size, size) of round cells that drift and share straight borders where they overlap.

    Each pixel belongs to the nearest cell that reaches it. The same arguments give the same stack.
    """
    for name, value in (("frames", frames), ("size", size), ("objects", objects)):
        check.whole_number(value, name, 1)
    if objects > np.iinfo(np.uint16).max:
        raise InvalidInput(f"objects is {objects}; at most {np.iinfo(np.uint16).max} labels fit into 16 bits.")
    random = np.random.default_rng(check.whole_number(seed, "seed", 0))
    reach = 0.55 * size / np.sqrt(objects) if radius is None else check.positive(radius, "radius")
    start = random.uniform(0, size, (objects, 2))
    drift = random.normal(size=(objects, 2)) * reach / 6
    stack = np.zeros((frames, size, size), np.uint16)
    for number in range(frames):
        nearest = np.full((size, size), reach * reach)
        travelled = np.mod(start + drift * number, 2 * size)
        centers = np.where(travelled > size, 2 * size - travelled, travelled)
        for label, (y, x) in enumerate(centers, 1):
            top, left = max(int(y - reach), 0), max(int(x - reach), 0)
            window = np.s_[top : int(y + reach) + 2, left : int(x + reach) + 2]
            square = nearest[window]
            rows, columns = np.arange(square.shape[0]) + top - y, np.arange(square.shape[1]) + left - x
            distance = rows[:, None] ** 2 + columns**2
            closer = distance < square
            square[closer] = distance[closer]
            stack[number][window][closer] = label
    return stack


def write_stack(path: str | os.PathLike[str], stack: NDArray[Any]) -> None:
    """Write a stack (frames, height, width) as a TIFF file; an interrupted write leaves no file."""
    if not os.fspath(path).lower().endswith((".tif", ".tiff")):
        raise InvalidInput(f"The stack {path} must end in .tif or .tiff.")
    tifffile = require("tifffile", extra="images", purpose="to write image stacks")
    with replacing(path) as handle:
        tifffile.imwrite(handle, stack, photometric="minisblack", compression=None)


def _sides(pixel_size: PixelSize) -> tuple[float, float]:
    """Return the height and the width of a pixel."""
    given = tuple(np.atleast_1d(np.asarray(pixel_size, object)))
    if len(given) not in (1, 2):
        raise InvalidInput(f"pixel_size is {pixel_size!r}; it must be (height, width), or one number for both.")
    return check.positive(given[0], "pixel_size"), check.positive(given[-1], "pixel_size")


def _each(frames: Iterable[ArrayLike]) -> Iterable[ArrayLike]:
    if isinstance(frames, str | os.PathLike) or not isinstance(frames, Iterable):
        raise InvalidInput(
            f"frames is {frames!r}; give labelled frames one after the other, such as read_frames(path)."
        )
    return frames


def _checked(labels: ArrayLike, number: int = 0) -> NDArray[Any]:
    try:
        frame = np.asarray(labels)
    except ValueError:
        raise InvalidInput(f"Frame {number} has rows of different lengths; it must be (height, width).") from None
    if frame.dtype.kind not in "iu":
        raise InvalidInput(
            f"Frame {number} holds values of type {frame.dtype}; labels must be whole numbers, 0 for background."
        )
    if frame.ndim != 2:
        raise InvalidInput(f"Frame {number} has the shape {frame.shape}; it must be (height, width).")
    if frame.size and (frame.dtype.kind == "i" or frame.dtype.itemsize > 2):
        low, high = int(frame.min()), int(frame.max())
        if low < 0 or high > _MAX_LABEL:
            raise InvalidInput(
                f"Frame {number} holds the label {low if low < 0 else high}; labels go from 0 to {_MAX_LABEL}."
            )
    return frame
