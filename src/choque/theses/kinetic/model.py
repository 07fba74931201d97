"""A model: polygons that move at constant velocity within a frame, and the text file that holds one.

The file, line by line::

    marco: ((-10.0, 10.0), (-10.0, 10.0))
    timeInterval: 0.0-10.0
    framesPerSecond: 100
    -3.5 4.5                        velocity of an object
    3 0.0 0.0 2.0 0.0 1.0 3.0       its vertex count and vertices

The last two repeat. The reader is lenient: blank lines, remarks after ``#``, commas or brackets between numbers, upper
and lower case, and the three header lines in any order. The writer is not: the same model gives the same bytes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core import check
from choque.errors import InvalidInput, UnreadableFile
from choque.files.atomic import replacing
from choque.files.source import read_text
from choque.kinetic import Sweep
from choque.narrow.polygons import as_polygon
from choque.theses.kinetic import labels
from choque.theses.kinetic.shapes import Polygon, area

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_HEADER = {"marco": 4, "timeinterval": 2, "framespersecond": 1}


@dataclass(frozen=True)
class Model:
    """Polygons in motion, the frame that statistics refer to, and the time that a run takes."""

    polygons: tuple[Polygon, ...]
    """(k, 2) vertices of each object at the start."""
    velocity: NDArray[np.float64]
    """(n, 2)."""
    frame: tuple[tuple[float, float], tuple[float, float]] = ((-10.0, 10.0), (-10.0, 10.0))
    """((left, right), (bottom, top)), for statistics and drawings; objects may leave it."""
    interval: tuple[float, float] = (0.0, 10.0)
    """Start and end of a run, both included."""
    frames_per_second: float = 100.0
    """For frame methods."""
    name: str = field(default="", compare=False)
    seed: int | None = field(default=None, compare=False)
    """The seed of the random numbers, if any."""

    def __post_init__(self) -> None:
        polygons = tuple(as_polygon(polygon, f"Polygon {row}") for row, polygon in enumerate(self.polygons))
        object.__setattr__(self, "polygons", polygons)
        object.__setattr__(self, "velocity", check.table(self.velocity, "velocity", (len(polygons), 2)))
        begin, end = (check.number(value, "a bound of interval") for value in _two(self.interval, "interval"))
        if end < begin:
            raise InvalidInput(f"The interval runs from {begin} to {end}; it must not end before it begins.")
        for side in _two(self.frame, "frame"):
            low, high = check.table(_two(side, "a side of frame"), "a side of frame", (2,))
            if low >= high:
                raise InvalidInput(f"The frame {self.frame} is not a rectangle; give ((left, right), (bottom, top)).")
        check.positive(self.frames_per_second, "frames_per_second")

    def __len__(self) -> int:
        return len(self.polygons)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and self.text() == other.text()

    __hash__ = None  # type: ignore[assignment]

    @property
    def duration(self) -> float:
        """The duration of a run."""
        return self.interval[1] - self.interval[0]

    @property
    def frame_count(self) -> int:
        """The number of frames of a run: frames per second times duration, at least one."""
        return max(round(self.frames_per_second * self.duration), 1)

    @cached_property
    def object_area(self) -> float:
        """The sum of the areas of all objects."""
        return sum(abs(area(polygon)) for polygon in self.polygons)

    @property
    def frame_area(self) -> float:
        """The area of the frame."""
        (left, right), (bottom, top) = self.frame
        return (right - left) * (top - bottom)

    @property
    def density(self) -> float:
        """The area of all objects over that of the frame, at the start."""
        return self.object_area / self.frame_area

    def boxes(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return (lower, upper) of the boxes around the polygons at the start, each (n, 2)."""
        if not self.polygons:
            return np.empty((0, 2)), np.empty((0, 2))
        vertices = np.concatenate(self.polygons)
        first = np.cumsum([0, *(len(polygon) for polygon in self.polygons[:-1])])
        return np.minimum.reduceat(vertices, first), np.maximum.reduceat(vertices, first)

    def polygons_at(self, time: float) -> list[Polygon]:
        """Return the polygons at ``time``."""
        elapsed = time - self.interval[0]
        return [polygon + velocity * elapsed for polygon, velocity in zip(self.polygons, self.velocity, strict=True)]

    def sweep(self, *, closed: bool = True, tolerance: float = 0.0) -> Sweep:
        """Return a kinetic sweep of the boxes, at the start of the interval."""
        return Sweep(*self.boxes(), self.velocity, closed=closed, time=self.interval[0], tolerance=tolerance)

    def text(self) -> str:
        """Return the text of the model file."""
        (left, right), (bottom, top) = ((float(low), float(high)) for low, high in self.frame)
        rate = float(self.frames_per_second)
        lines = [
            f"marco: (({left}, {right}), ({bottom}, {top}))",
            f"timeInterval: {float(self.interval[0])}-{float(self.interval[1])}",
            f"framesPerSecond: {int(rate) if rate.is_integer() else rate}",
        ]
        for polygon, velocity in zip(self.polygons, self.velocity.tolist(), strict=True):
            lines.append(" ".join(map(str, velocity)))
            lines.append(" ".join(map(str, [len(polygon), *polygon.ravel().tolist()])))
        return "\n".join(lines) + "\n"

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the model file; an interrupted write leaves no file."""
        with replacing(path) as handle:
            handle.write(self.text().encode())

    @classmethod
    def from_labels(
        cls, frames: Iterable[ArrayLike], *, pixel_size: labels.PixelSize = (1.0, 1.0), frame_interval: float = 1.0
    ) -> Self:
        """Make a model of the objects in the first of labelled ``frames``, for the time of one frame.

        Outlines and velocities are those of `choque.theses.kinetic.labels.motion`; the frame is that of the image.
        """
        known = [np.asarray(frame) for frame in islice(frames, 2)]
        traced, velocity = labels.motion(known, pixel_size=pixel_size, frame_interval=frame_interval)
        high, wide = known[0].shape if known else (1, 1)
        height, width = np.broadcast_to(pixel_size, 2).tolist()
        frame = ((0.0, wide * width), (0.0, high * height))
        return cls(tuple(traced.values()), velocity, frame, (0.0, frame_interval), 1.0 / frame_interval, name="labels")

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model file; a malformed line is named."""
        return cls.parse(read_text(Path(path), "a model, which is text"), str(path))

    @classmethod
    def parse(cls, text: str, source: str = "model") -> Self:
        """Read a model from ``text``; ``source`` is how messages name it."""
        header: dict[str, list[float]] = {}
        velocities: list[list[float]] = []
        polygons: list[Polygon] = []
        last = 0
        for number, line in enumerate(text.splitlines(), 1):
            content = line.partition("#")[0].strip()
            if not content:
                continue
            last = number
            key, colon, rest = content.partition(":")
            if colon:
                header[_known(key, number, source)] = _header_numbers(key, rest, number, source)
                continue
            values = _numbers(content, number, source)
            if len(velocities) == len(polygons):
                if len(values) != 2:
                    raise _malformed(number, source, f"it holds {len(values)} numbers where a velocity has two")
                velocities.append(values)
            else:
                polygons.append(_vertices(values, number, source))
        if len(velocities) > len(polygons):
            raise _malformed(last, source, "it is a velocity, and the line with the vertices is missing")
        for key in _HEADER:
            if key not in header:
                raise UnreadableFile(
                    f"{source} has no line {_shown(key)!r}; a model file starts with marco, timeInterval and "
                    "framesPerSecond."
                )
        left, right, bottom, top = header["marco"]
        begin, end = header["timeinterval"]
        frame, rate = ((left, right), (bottom, top)), header["framespersecond"][0]
        try:
            return cls(tuple(polygons), np.array(velocities).reshape(-1, 2), frame, (begin, end), rate)
        except InvalidInput as problem:
            raise UnreadableFile(f"{source} is not a model: {_lowered(str(problem))}") from None


def _two(values: Any, name: str) -> tuple[Any, Any]:
    try:
        first, second = values
    except (TypeError, ValueError):
        raise InvalidInput(f"{name} is {values!r}; it must have two parts.") from None
    return first, second


def _known(key: str, number: int, source: str) -> str:
    name = key.strip().lower().replace(" ", "").replace("_", "")
    if name not in _HEADER:
        raise _malformed(
            number, source, f"there is no entry {key.strip()!r}; there are marco, timeInterval and framesPerSecond"
        )
    return name


def _shown(key: str) -> str:
    return {"timeinterval": "timeInterval", "framespersecond": "framesPerSecond"}.get(key, key)


def _header_numbers(key: str, rest: str, number: int, source: str) -> list[float]:
    name = _known(key, number, source)
    if name == "timeinterval":
        # The hyphen between the two bounds is not a sign: "0.0-10.0", and "-5.0--1.0" begins and ends before zero.
        found = re.fullmatch(rf"\s*\(?\s*({_NUMBER.pattern})\s*[-,;\s]\s*({_NUMBER.pattern})\s*\)?\s*", rest)
        values = [float(found[1]), float(found[2])] if found else []
    else:
        values = _numbers(rest, number, source)
    if len(values) != _HEADER[name]:
        raise _malformed(number, source, f"{_shown(name)} needs {_HEADER[name]} numbers")
    return values


def _numbers(content: str, number: int, source: str) -> list[float]:
    left_over = _NUMBER.sub(" ", content).translate(str.maketrans("()[],;", " " * 6)).split()
    if left_over:
        raise _malformed(number, source, f"{left_over[0]!r} is not a number")
    values = [float(found) for found in _NUMBER.findall(content)]
    if not np.isfinite(values).all():
        raise _malformed(number, source, "it holds a number beyond the largest there is")
    return values


def _vertices(values: list[float], number: int, source: str) -> Polygon:
    count = values[0] if values else 0
    if count < 3 or count != int(count):
        raise _malformed(number, source, f"a polygon of {count:g} vertices; it must have at least 3")
    if len(values) != 1 + 2 * int(count):
        raise _malformed(
            number, source, f"{int(count)} vertices need {2 * int(count)} coordinates, and there are {len(values) - 1}"
        )
    return np.array(values[1:]).reshape(-1, 2)


def _malformed(number: int, source: str, problem: str) -> UnreadableFile:
    return UnreadableFile(f"Line {number} of {source} is malformed: {problem}.")


def _lowered(reason: str) -> str:
    return reason[:1].lower() + reason[1:]
