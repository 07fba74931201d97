"""Recording a world while it runs; full chunks are compressed and written by a thread of their own."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any, Self
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike

from choque._core import __version__, check, threads
from choque._core.types import I32
from choque.errors import InvalidInput, RecordingFailed
from choque.files.atomic import create_new, reason_of
from choque.record._blocks import FRAMES, HEADER, INDEX, SEGMENT, pack_table, write_block, write_start, write_tail
from choque.record._chunks import Chunk, frames_per_chunk
from choque.record.frames import BodyTable
from choque.scene.body_scene import Camera
from choque.world import StepReport, World
from choque.world.saving import write_world

SIMULATING = ("_core", "bounds", "broad", "narrow", "dynamics", "world")
"""The packages that the state after a step depends on."""


class Recorder:
    """Writes every frame of a world to a file: poses in float32, and the hash of the whole state.

    It is an observer: append it to ``run.observers``, or call `record` after each step. The file is written while the
    world runs, by a thread of its own, and holds the whole initial state, so that `choque.record.verify` can repeat the
    run. When bodies are added or removed, methods are switched or the run is reset, a new segment starts with the whole
    state of that frame. Other changes between steps, such as impulses, are not seen: call `record` after them, too,
    which starts a segment, or `verify` finds a difference. Closing completes it; use it in a ``with`` block.

    Parameters
    ----------
    path
        A new file, by convention ending in ``.choque``; an existing file is refused.
    world
        The world; its present state becomes frame 0.
    dt
        The nominal length of a step [s].
    scene, seed, camera
        The origin of the world and its camera, for the header.

    Examples
    --------
    >>> with choque.record.Recorder("drop.choque", world) as recorder:      # doctest: +SKIP
    ...     for _ in range(600):
    ...         world.step()
    ...         recorder.record()
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        world: World,
        *,
        dt: float = 1 / 60,
        scene: str = "",
        seed: int | None = None,
        camera: Camera | None = None,
    ) -> None:
        self.dt = check.positive(dt, "dt")
        self._world = world
        self._writer = Writer(path, _header(world, self.dt, scene, seed, camera))
        try:
            self._begin()
            self._add(step=0.0)
        except BaseException:
            self._writer.close()
            raise

    @property
    def path(self) -> Path:
        """The file."""
        return self._writer.path

    @property
    def frame_count(self) -> int:
        """How many frames were recorded, frame 0 included."""
        return self._writer.frame_count

    def record(self) -> None:
        """Add the present state of the world as a frame."""
        world = self._world
        same_run = world.settings is self._settings and world.frame == self._frame + 1
        if not same_run or not np.array_equal(world.bodies.ids, self._ids):
            self._begin()
            self._add(step=0.0)
        else:
            self._add(step=world.dt)

    def __call__(self, world: World, report: StepReport) -> None:  # noqa: ARG002
        """Record a frame of a run; a run that was reset has another world."""
        if world is not self._world:
            self._world, self._frame = world, -2  # no frame follows it, so a new segment starts
        self.record()

    def close(self) -> None:
        """Complete the recording; closing twice does nothing."""
        self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _begin(self) -> None:
        bodies = self._world.bodies
        state = BytesIO()
        write_world(state, self._world)
        self._writer.begin(BodyTable.of(bodies), state.getvalue())
        self._ids: I32 = bodies.ids.copy()
        self._settings = self._world.settings

    def _add(self, step: float) -> None:
        world = self._world
        bodies = world.bodies
        self._writer.add(bodies.position, bodies.rotation, hash=world.hash(), time=world.time, step=step)
        self._frame = world.frame


def _header(world: World, dt: float, scene: str, seed: int | None, camera: Camera | None) -> dict[str, Any]:
    settings = asdict(world.settings)
    return {
        "scene": scene,
        "seed": seed,
        "dt": dt,
        "camera": None if camera is None else [camera.radius, camera.pitch, camera.yaw],
        "world": {name: value if _is_plain(value) else repr(value) for name, value in settings.items()},
        "versions": versions(),
        "recorded": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def versions() -> dict[str, str]:
    """Return what the hashes of a recording depend on: the versions of the libraries and the kind of processor."""
    from importlib.metadata import PackageNotFoundError, version

    found = {"choque": __version__, "python": platform.python_version(), "numpy": np.__version__}
    for library in ("numba", "llvmlite"):
        with suppress(PackageNotFoundError):
            found[library] = version(library)
    return {**found, "choque sources": _source_digest(), "processor": platform.machine()}


@cache
def _source_digest() -> str:
    """Return eight hexadecimal digits of the sources that a step depends on, for commits between two versions."""
    package = Path(__file__).parents[1]
    digest = crc32(b"")
    for folder in SIMULATING:
        for path in sorted((package / folder).rglob("*.py")):
            digest = crc32(path.read_bytes(), crc32(path.relative_to(package).as_posix().encode(), digest))
    return f"{digest:08x}"


def _is_plain(value: object) -> bool:
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(part) for key, part in value.items())
    return value is None or isinstance(value, str | bool | int | float)


class Writer:
    """Writes frames one by one into a new file; at most two chunks of them are in memory.

    The file is not renamed at the end: a recording must be readable however the run ends. All frames up to the last
    whole chunk are in it at any time; `close` writes the rest and the index.
    """

    def __init__(self, path: str | os.PathLike[str], header: Mapping[str, Any]) -> None:
        self.path = Path(path)
        self.frame_count = 0
        self._handle = create_new(self.path, "recording")
        self._worker = threads.aside("recording")
        self._pending: Future[None] | None = None
        self._failure: RecordingFailed | None = None
        self._bodies: BodyTable | None = None
        self._chunk: Chunk | None = None
        self._spare: Chunk | None = None
        self._filled = 0
        self._whole = 0  # the position after the last complete block
        self._segments: list[tuple[int, int]] = []  # first frame, position
        self._chunks: list[tuple[int, int, int, int]] = []  # first frame, frames, segment, position
        self._write_now(lambda: self._start(pack_table(header, {})))

    def begin(self, bodies: BodyTable, state: bytes) -> None:
        """Start a segment of frames of ``bodies``; ``state`` is the saved world at the first of them."""
        self._flush()
        self._wait()
        first = self.frame_count
        table = pack_table({"first": first}, {**bodies.arrays(), "state": np.frombuffer(state, np.uint8)})
        self._write_now(lambda: self._segments.append((first, write_block(self._handle, SEGMENT, table))))
        self._bodies, self._chunk, self._spare = bodies, None, None

    def add(self, position: ArrayLike, rotation: ArrayLike, *, hash: int, time: float, step: float) -> None:  # noqa: A002
        """Add a frame: ``position`` (n, 3), ``rotation`` (n, 3, 3), rounded to float32."""
        if self._failure is not None:
            raise self._failure
        if self._bodies is None:
            raise InvalidInput("A frame was added before its bodies; call begin first.")
        count = len(self._bodies)
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
        """Write the remaining frames and the index, which completes the recording; closing twice does nothing."""
        if self._handle.closed:
            return
        try:
            self._flush()
            self._wait()
            self._write_now(self._finish)
            self._failure = RecordingFailed(f"The recording {self.path} is closed; begin another one.")
        finally:
            self._worker.shutdown()
            self._handle.close()

    def _fresh_chunk(self, body_count: int) -> Chunk:
        chunk, self._spare = self._spare, None
        if chunk is None:
            chunk = Chunk.empty(0, 0, frames_per_chunk(body_count), body_count)
        chunk.first, chunk.segment = self.frame_count, len(self._segments) - 1
        return chunk

    def _flush(self) -> None:
        """Pass the chunk to the worker, once the previous one is written; two chunks alternate."""
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
            self._pending = None  # only now: after an interrupt while waiting, the next call must wait again

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
        """Cut the file after the last whole block, and return the error."""
        kept = sum(count for _, count, _, _ in self._chunks)
        with suppress(OSError):
            self._handle.truncate(self._whole)
        self._handle.close()
        self._worker.shutdown(wait=False)
        return RecordingFailed(
            f"The recording {self.path} could not be continued: {reason_of(problem)}. Its first {kept:,} frames stay "
            "readable; free some space and record again."
        )
