"""Reading a recording: any frame at random, with no more than a few chunks in memory."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from choque._core import check
from choque._core.types import F64
from choque.errors import InvalidInput, UnreadableFile
from choque.files.box_arrays import check_frame
from choque.record._blocks import FIRST_BLOCK, FRAMES, HEADER, INDEX, SEGMENT, Block, BlockFile, unpack_table
from choque.record._chunks import Chunk, ChunkHead, unpack, unpack_columns
from choque.record.frames import BodyTable, Poses
from choque.scene.body_scene import Camera

SUFFIX = ".choque"
KEPT_CHUNKS = 2  # how many chunks stay unpacked: enough to play in both directions across a border


class Recording:
    """A recorded run: poses as they were recorded, bit for bit in float32, and the hash of each state.

    Parameters
    ----------
    path
        A file that ends in ``.choque``, or a folder with one such file. A recording whose end is missing, because a
        run was interrupted or a disk was full, is read up to its last whole chunk; `complete` is then False, and
        `remark` describes what is left.

    Attributes
    ----------
    header
        What was recorded: ``scene``, ``seed``, ``dt``, ``world`` (the options of the world), ``versions``, ``camera``.
    complete
        Whether the recording was closed.
    """

    pattern: ClassVar[str] = f"*{SUFFIX}"

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = _file_of(Path(path))
        self._file = BlockFile(self.path)
        try:
            with self._naming():
                contents = read_contents(self._file)
                self.header: Mapping[str, Any] = contents.header
                self._camera, self._dt = _camera(self.header), _step(self.header)
        except BaseException:
            self._file.close()
            raise
        self.complete = contents.complete
        self._segments, self._chunks = contents.segments, contents.chunks
        self._firsts = [chunk.first for chunk in self._chunks]
        self._unpacked: OrderedDict[int, Chunk] = OrderedDict()

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
        """The nominal length of a step [s]; `steps` has the length of each."""
        return self._dt

    @property
    def frames_per_second(self) -> float:
        """Frames per second of simulated time."""
        return 1 / self._dt

    @property
    def camera(self) -> Camera:
        """The camera of the scene."""
        return self._camera

    @property
    def frame_count(self) -> int:
        """How many frames can be read; frame 0 is the state before the first step."""
        return self._chunks[-1].first + self._chunks[-1].frame_count if self._chunks else 0

    @property
    def remark(self) -> str:
        """A sentence on a file whose end is missing or that continues after its end; empty for one that is intact."""
        if self.complete:
            more = self._file.surplus
            return f"The recording {self.path} is complete; {more:,} bytes after its end are ignored." if more else ""
        if not self._chunks:
            return f"The recording {self.path} is cut off before its first frames: nothing of it can be shown."
        return (
            f"The recording {self.path} is cut off after frame {self.frame_count - 1:,}: its first "
            f"{self.frame_count:,} frames are whole, and what came after them is missing."
        )

    @property
    def segments(self) -> list[Segment]:
        """The parts between which bodies were added or removed; usually one."""
        return list(self._segments)

    def bodies(self, index: int = 0) -> BodyTable:
        """Return the bodies of frame ``index``."""
        check_frame(index, self.frame_count)
        return self._segments[self._placed(index)[1].segment].bodies

    def frame(self, index: int) -> Poses:
        """Return the poses of frame ``index``, as views that must not be changed."""
        check_frame(index, self.frame_count)
        chunk = self._chunk(self._placed(index)[0])
        return Poses(chunk.position[index - chunk.first], chunk.rotation[index - chunk.first])

    def hashes(self) -> NDArray[np.uint64]:
        """Return the 64-bit hash of the whole state at each frame, (frames,)."""
        return self._column(2)

    def times(self) -> F64:
        """Return the time of the world at each frame, (frames,) [s]."""
        return self._column(1)

    def steps(self) -> F64:
        """Return the length of the step before each frame, (frames,) [s]; 0 for the first frame of a segment."""
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
            self._unpacked[number] = unpack(payload, len(self._segments[placed.segment].bodies))
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
        """Add the file, and the frames that are lost, to an error."""
        try:
            yield
        except UnreadableFile as problem:
            if str(problem).startswith("The recording"):
                raise
            where = f" in frames {placed.first} to {placed.first + placed.frame_count - 1}" if placed else ""
            raise UnreadableFile(f"The recording {self.path} is damaged{where}: {problem}.") from problem


def _file_of(path: Path) -> Path:
    """Return the recording in a folder; a file is returned unchanged."""
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
    if not check.is_number(given) or not 0 < given < float("inf"):
        raise UnreadableFile(f"its step is {given!r}, which is not a number above 0")
    return float(given)


@dataclass(frozen=True, eq=False)
class Segment:
    """Frames from ``first`` on, all of the same ``bodies``; ``state`` is the saved world at the first of them."""

    first: int
    bodies: BodyTable
    state: bytes


@dataclass(frozen=True)
class PlacedChunk:
    """The place of a chunk, its frames and its segment."""

    first: int
    frame_count: int
    segment: int
    block: Block


@dataclass(frozen=True, eq=False)
class Contents:
    """The complete parts of a recording; ``complete`` says whether they are all that was recorded."""

    header: Mapping[str, Any]
    segments: list[Segment]
    chunks: list[PlacedChunk]
    complete: bool


def read_contents(file: BlockFile) -> Contents:
    """Read the header and the index; without a valid index, scan the file block by block."""
    first = file.block_at(FIRST_BLOCK)
    if first is None or first.kind != HEADER:
        raise UnreadableFile("it ends within its header, so nothing was recorded")
    header = unpack_table(file.read(first))[0]
    found = None
    with suppress(UnreadableFile):
        found = _indexed(file)
    blocks, chunks, complete = found or _scanned(file)
    segments = [_read_segment(file, block) for block in blocks]
    _check_order(chunks, len(segments))
    return Contents(header, segments, chunks, complete)


def _indexed(file: BlockFile) -> tuple[list[Block], list[PlacedChunk], bool] | None:
    """Return what the index lists, and that it is all; None if there is no index, or if it does not fit the file."""
    index = file.index_block()
    if index is None:
        return None
    arrays = unpack_table(file.read(index))[1]
    chunks, segments = (arrays.get(name, np.empty(0)) for name in ("chunks", "segments"))
    if [(each.dtype.kind, each.shape[1:]) for each in (chunks, segments)] != [("u", (4,)), ("u", (2,))]:
        return None
    bodies = [file.block_at(int(place)) for _, place in segments]
    poses = [file.block_at(int(row[3])) for row in chunks]
    placed = [
        PlacedChunk(int(row[0]), int(row[1]), int(row[2]), block)
        for row, block in zip(chunks, poses, strict=True)
        if block is not None and block.kind == FRAMES
    ]
    held = [block for block in bodies if block is not None and block.kind == SEGMENT]
    _check_order(placed, len(held))
    return (held, placed, True) if len(held) == len(bodies) and len(placed) == len(poses) else None


def _scanned(file: BlockFile) -> tuple[list[Block], list[PlacedChunk], bool]:
    """Return the complete blocks up to the index or the first damaged chunk, and whether the file was closed."""
    segments: list[Block] = []
    chunks: list[PlacedChunk] = []
    for block in file.scan():
        if block.kind == SEGMENT:
            segments.append(block)
        elif block.kind == FRAMES:
            try:
                head = ChunkHead.read(file.read(block))
            except UnreadableFile:
                break
            chunks.append(PlacedChunk(head.first, head.frame_count, head.segment, block))
        elif block.kind == INDEX:
            return segments, chunks, file.index_block() is not None
    return segments, chunks, False


def _read_segment(file: BlockFile, block: Block) -> Segment:
    values, arrays = unpack_table(file.read(block))
    first, state = values.get("first"), arrays.pop("state", None)
    if type(first) is not int or first < 0 or state is None or state.dtype != np.uint8:
        raise UnreadableFile("its bodies are damaged")
    return Segment(first, BodyTable.from_arrays(arrays), state.tobytes())


def _check_order(chunks: list[PlacedChunk], segment_count: int) -> None:
    """Refuse chunks that are not consecutive, or whose segment does not exist."""
    expected = 0
    for chunk in chunks:
        if chunk.first != expected or chunk.frame_count < 1 or chunk.segment >= segment_count:
            raise UnreadableFile("its chunks do not follow one another")
        expected += chunk.frame_count
