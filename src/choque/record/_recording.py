"""Reading a recording: any frame at random, without holding more than a few chunks of it."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from choque.errors import InvalidInput, UnreadableFile
from choque.files.box_arrays import check_frame
from choque.record._blocks import BlockFile
from choque.record._cast import Cast
from choque.record._chunks import Chunk, ChunkHead, unpack, unpack_columns
from choque.record._contents import PlacedChunk, Segment, read_contents
from choque.record._frames import Poses
from choque.scene.body_scene import Camera

SUFFIX = ".choque"
KEPT_CHUNKS = 2
"""How many chunks stay unpacked: enough to play both ways across a border."""


class Recording:
    """A recorded run: poses bit for bit as they were recorded, in float32, and the hash of each state.

    Parameters
    ----------
    path
        A file that ends in ``.choque``, or a folder with one such file. A recording whose end is missing, because a
        run was interrupted or a disk was full, is read up to its last whole chunk; `complete` is then False, and
        `truncated` says what is left.

    Attributes
    ----------
    header
        What was recorded: ``scene``, ``seed``, ``dt``, ``world`` (the options of the world), ``versions``, ``camera``.
    complete
        Whether the recording was closed.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = _file_of(Path(path))
        self._file = BlockFile(self.path)
        try:
            self._read_contents()
        except BaseException:
            self._file.close()
            raise
        self._unpacked: OrderedDict[int, Chunk] = OrderedDict()

    def _read_contents(self) -> None:
        with self._naming():
            contents = read_contents(self._file)
            self.header: Mapping[str, Any] = contents.header
            self.complete = contents.complete
            self._camera, self._dt = _camera(self.header), _step(self.header)
        self._segments, self._chunks = contents.segments, contents.chunks
        self._firsts = [chunk.first for chunk in self._chunks]

    @property
    def name(self) -> str:
        """The name of the scene."""
        return str(self.header.get("scene") or self.path.stem)

    @property
    def seed(self) -> int | None:
        """The seed of a generated scene."""
        seed = self.header.get("seed")
        return seed if isinstance(seed, int) else None

    @property
    def dt(self) -> float:
        """The step that the recording was begun with, in seconds; `steps` has the one of each frame."""
        return self._dt

    @property
    def frames_per_second(self) -> float:
        """How many frames make a second of the world's time."""
        return 1 / self._dt

    @property
    def camera(self) -> Camera:
        """Where the scene wants the camera."""
        return self._camera

    @property
    def frame_count(self) -> int:
        """How many frames can be read; frame 0 is the state before the first step."""
        return self._chunks[-1].first + self._chunks[-1].frame_count if self._chunks else 0

    @property
    def truncated(self) -> str:
        """What is left of a recording whose end is missing, in a sentence; empty for a complete one."""
        if self.complete:
            return ""
        if not self._chunks:
            return f"The recording {self.path} is cut off before its first frames: nothing of it can be shown."
        return (
            f"The recording {self.path} is cut off after frame {self.frame_count - 1:,}: its first "
            f"{self.frame_count:,} frames are whole, and what came after them is missing."
        )

    @property
    def segments(self) -> list[Segment]:
        """The parts between which bodies came or went; usually one."""
        return list(self._segments)

    def cast(self, index: int = 0) -> Cast:
        """The bodies of frame ``index``."""
        check_frame(index, self.frame_count)
        return self._segments[self._placed(index)[1].segment].cast

    def frame(self, index: int) -> Poses:
        """Where the bodies of frame ``index`` are: views, not to be changed."""
        check_frame(index, self.frame_count)
        chunk = self._chunk(self._placed(index)[0])
        return Poses(chunk.position[index - chunk.first], chunk.rotation[index - chunk.first])

    def hashes(self) -> NDArray[np.uint64]:
        """(frames,): the 64-bit hash of the whole state at each frame."""
        return self._column(2)

    def times(self) -> NDArray[np.float64]:
        """(frames,): the time of the world at each frame, in seconds."""
        return self._column(1)

    def steps(self) -> NDArray[np.float64]:
        """(frames,): the length of the step that led to each frame, in seconds; 0 for the first of a segment."""
        return self._column(0)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "" if self.complete else ", incomplete"
        return f"<Recording {self.name!r}: {self.frame_count} frames{state}>"

    def _placed(self, index: int) -> tuple[int, PlacedChunk]:
        number = bisect_right(self._firsts, index) - 1
        return number, self._chunks[number]

    def _chunk(self, number: int) -> Chunk:
        if number in self._unpacked:
            self._unpacked.move_to_end(number)
            return self._unpacked[number]
        placed = self._chunks[number]
        while len(self._unpacked) >= KEPT_CHUNKS:  # before unpacking, so that no more are ever in memory
            self._unpacked.popitem(last=False)
        with self._naming(placed):
            payload = self._payload(placed)
            self._unpacked[number] = unpack(payload, len(self._segments[placed.segment].cast))
        return self._unpacked[number]

    def _payload(self, placed: PlacedChunk) -> bytes:
        payload = self._file.read(placed.block)
        head = ChunkHead.read(payload)
        if (head.first, head.frame_count, head.segment) != (placed.first, placed.frame_count, placed.segment):
            raise UnreadableFile("its index does not fit its chunks")
        return payload

    def _column(self, which: int) -> NDArray[Any]:
        parts = []
        for placed in self._chunks:
            with self._naming(placed):
                parts.append(unpack_columns(self._payload(placed))[which])
        return np.concatenate(parts) if parts else np.empty(0, (np.float64, np.float64, np.uint64)[which])

    @contextmanager
    def _naming(self, placed: PlacedChunk | None = None) -> Iterator[None]:
        """Name the file, and the frames that are lost, in whatever is wrong."""
        try:
            yield
        except UnreadableFile as problem:
            if str(problem).startswith("The recording"):
                raise
            where = f" in frames {placed.first} to {placed.first + placed.frame_count - 1}" if placed else ""
            raise UnreadableFile(f"The recording {self.path} is damaged{where}: {problem}.") from problem


def _file_of(path: Path) -> Path:
    """Find the recording in a folder; a file is itself."""
    if not path.is_dir():
        return path
    found = sorted(path.glob(f"*{SUFFIX}"))
    if len(found) == 1:
        return found[0]
    if not found:
        raise UnreadableFile(f"There is no recording (*{SUFFIX}) in the folder {path}.")
    names = ", ".join(each.name for each in found)
    raise UnreadableFile(f"The folder {path} has several recordings: {names}. Give the name of one.")


def _camera(header: Mapping[str, Any]) -> Camera:
    given = header.get("camera")
    if given is None:
        return Camera()
    try:
        return Camera(*given)
    except (InvalidInput, TypeError) as problem:
        raise UnreadableFile(f"its camera is {given!r}") from problem


def _step(header: Mapping[str, Any]) -> float:
    given = header.get("dt")
    if not isinstance(given, int | float) or isinstance(given, bool) or not 0 < given < float("inf"):
        raise UnreadableFile(f"its step is {given!r}, which is not a number above 0")
    return float(given)
