"""Writing a recording while the world goes on: full chunks are packed and written by a thread of their own."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from choque._core import threads
from choque.errors import ChoqueError, InvalidInput
from choque.files.atomic import create_new, reason_of
from choque.record._blocks import FRAMES, HEADER, INDEX, SEGMENT, write_block, write_start, write_tail
from choque.record._cast import Cast
from choque.record._chunks import Chunk, frames_per_chunk
from choque.record._tables import pack_table


class RecordingFailed(ChoqueError, OSError):
    """A recording that could not be written on; what was written before stays readable."""


class Writer:
    """Writes frames one by one into a new file; at most two chunks of them are in memory.

    Nothing is written beside and renamed: a recording must be readable however the run ends. Whatever ends it, all
    frames up to the last whole chunk are there; `close` writes the rest and the index.
    """

    def __init__(self, path: str | os.PathLike[str], header: Mapping[str, Any]) -> None:
        self.path = Path(path)
        self.frame_count = 0
        self._handle = create_new(self.path, "recording")
        self._worker = threads.aside("recording")
        self._pending: Future[None] | None = None
        self._failure: RecordingFailed | None = None
        self._cast: Cast | None = None
        self._chunk: Chunk | None = None
        self._spare: Chunk | None = None
        self._filled = 0
        self._whole = 0  # the place after the last block that is there in full
        self._segments: list[tuple[int, int]] = []  # first frame, place
        self._chunks: list[tuple[int, int, int, int]] = []  # first frame, frames, segment, place
        self._write_now(lambda: self._start(pack_table(header, {})))

    def begin(self, cast: Cast, state: bytes) -> None:
        """Let the frames from here on be of ``cast``; ``state`` is the whole world at the first of them."""
        self._flush()
        self._wait()
        first = self.frame_count
        table = pack_table({"first": first}, {**cast.arrays(), "state": np.frombuffer(state, np.uint8)})
        self._write_now(lambda: self._segments.append((first, write_block(self._handle, SEGMENT, table))))
        self._cast, self._chunk, self._spare = cast, None, None

    def add(self, position: ArrayLike, rotation: ArrayLike, *, hash: int, time: float, step: float) -> None:  # noqa: A002
        """Add a frame: ``position`` (n, 3), ``rotation`` (n, 3, 3), rounded to float32."""
        if self._failure is not None:
            raise self._failure
        if self._cast is None:
            raise InvalidInput("A recording was given a frame before it was told the bodies; call begin first.")
        count = len(self._cast)
        if self._chunk is None:
            self._chunk = self._fresh_chunk(count)
        chunk, row = self._chunk, self._filled
        chunk.position[row], chunk.rotation[row] = position, rotation
        chunk.step[row], chunk.time[row], chunk.hash[row] = step, time, hash
        self._filled += 1
        self.frame_count += 1
        if self._filled == len(chunk.step):
            self._flush()

    def close(self) -> None:
        """Write what is left and the index; the recording is then complete. Closing twice does nothing."""
        if self._handle.closed:
            return
        try:
            self._flush()
            self._wait()
            self._write_now(self._finish)
        finally:
            self._worker.shutdown()
            self._handle.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _fresh_chunk(self, body_count: int) -> Chunk:
        chunk, self._spare = self._spare, None
        if chunk is None:
            chunk = Chunk.empty(0, 0, frames_per_chunk(body_count), body_count)
        chunk.first, chunk.segment = self.frame_count, len(self._segments) - 1
        return chunk

    def _flush(self) -> None:
        """Hand the chunk to the worker, once the one before it is written; two chunks take turns."""
        if self._chunk is None or not self._filled:
            return
        self._wait()
        chunk, filled = self._chunk, self._filled
        self._chunk, self._filled = None, 0

        def write() -> None:
            place = write_block(self._handle, FRAMES, chunk.pack(filled))
            self._chunks.append((chunk.first, filled, chunk.segment, place))
            self._whole = self._handle.tell()
            self._spare = chunk

        self._pending = self._worker.submit(write)

    def _wait(self) -> None:
        if self._failure is not None:
            raise self._failure
        if self._pending is not None:
            self._write_now(self._pending.result)
            self._pending = None  # only now: an interrupt while waiting must leave it to be waited for again

    def _write_now(self, work: Callable[[], object]) -> None:
        try:
            work()
            self._whole = self._handle.tell()
        except OSError as problem:
            self._failure = self._give_up(problem)
            raise self._failure from problem

    def _start(self, header: bytes) -> None:
        write_start(self._handle)
        write_block(self._handle, HEADER, header)

    def _finish(self) -> None:
        columns = np.array(self._chunks, np.uint64).reshape(-1, 4), np.array(self._segments, np.uint64).reshape(-1, 2)
        table = pack_table({"frames": self.frame_count}, dict(zip(("chunks", "segments"), columns, strict=True)))
        write_tail(self._handle, write_block(self._handle, INDEX, table))
        os.fsync(self._handle.fileno())

    def _give_up(self, problem: OSError) -> RecordingFailed:
        """Cut the file after the last whole block, so that its bytes are free again, and say what is left."""
        kept = sum(count for _, count, _, _ in self._chunks)
        with suppress(OSError):
            self._handle.truncate(self._whole)
        self._handle.close()
        self._worker.shutdown(wait=False)
        return RecordingFailed(
            f"The recording {self.path} could not be written on: {reason_of(problem)}. Its first {kept:,} frames stay "
            "readable; free some space and record again."
        )
