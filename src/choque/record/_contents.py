"""What a recording holds and where: its header, its segments and the places of its chunks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from choque.errors import UnreadableFile
from choque.record._blocks import FIRST_BLOCK, FRAMES, HEADER, SEGMENT, Block, BlockFile
from choque.record._cast import Cast
from choque.record._chunks import ChunkHead
from choque.record._tables import unpack_table


@dataclass(frozen=True, eq=False)
class Segment:
    """Frames from ``first`` on, all of the bodies of ``cast``; ``state`` is the saved world at the first of them."""

    first: int
    cast: Cast
    state: bytes


@dataclass(frozen=True)
class PlacedChunk:
    """Where a chunk is and which frames it holds, of which segment."""

    first: int
    frame_count: int
    segment: int
    block: Block


@dataclass(frozen=True, eq=False)
class Contents:
    """What is there in full; ``complete`` says whether that is all that was recorded."""

    header: Mapping[str, Any]
    segments: list[Segment]
    chunks: list[PlacedChunk]
    complete: bool


def read_contents(file: BlockFile) -> Contents:
    """Read the header and the index; a recording without an index that fits is gone through from head to head."""
    first = file.block_at(FIRST_BLOCK)
    if first is None or first.kind != HEADER:
        raise UnreadableFile("it ends within its header, so nothing was recorded")
    header = unpack_table(file.read(first))[0]
    found = _indexed(file)
    blocks, chunks = found if found is not None else _scanned(file)
    segments = [_read_segment(file, block) for block in blocks]
    _check_order(chunks, len(segments))
    return Contents(header, segments, chunks, complete=found is not None)


def _indexed(file: BlockFile) -> tuple[list[Block], list[PlacedChunk]] | None:
    """What the index says; None if there is none, or one that does not fit the file."""
    index = file.index_block()
    if index is None:
        return None
    arrays = unpack_table(file.read(index))[1]
    chunks, segments = arrays.get("chunks"), arrays.get("segments")
    if chunks is None or segments is None or chunks.shape[1:] != (4,) or segments.shape[1:] != (2,):
        return None
    bodies = [file.block_at(int(place)) for _, place in segments]
    poses = [file.block_at(int(row[3])) for row in chunks]
    if not _all_of(bodies, SEGMENT) or not _all_of(poses, FRAMES):
        return None
    placed = [
        PlacedChunk(int(row[0]), int(row[1]), int(row[2]), block)
        for row, block in zip(chunks, poses, strict=True)
        if block is not None
    ]
    return [block for block in bodies if block], placed


def _scanned(file: BlockFile) -> tuple[list[Block], list[PlacedChunk]]:
    """What is there in full, found without an index; it ends at the first chunk that is damaged."""
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
    return segments, chunks


def _read_segment(file: BlockFile, block: Block) -> Segment:
    values, arrays = unpack_table(file.read(block))
    first, state = values.get("first"), arrays.pop("state", None)
    if type(first) is not int or first < 0 or state is None or state.dtype != np.uint8:
        raise UnreadableFile("its bodies are damaged")
    return Segment(first, Cast.from_arrays(arrays), state.tobytes())


def _check_order(chunks: list[PlacedChunk], segment_count: int) -> None:
    """Refuse chunks that do not follow one another, or that are of no segment."""
    expected = 0
    for chunk in chunks:
        if chunk.first != expected or chunk.frame_count < 1 or chunk.segment >= segment_count:
            raise UnreadableFile("its chunks do not follow one another")
        expected += chunk.frame_count


def _all_of(blocks: list[Block | None], kind: bytes) -> bool:
    return all(block is not None and block.kind == kind for block in blocks)
