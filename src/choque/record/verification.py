"""Verifying a recording: simulating it again, and finding the first frame that differs."""

from __future__ import annotations

import os
from dataclasses import dataclass
from io import BytesIO

import numpy as np

from choque._core.progress import reporting
from choque._core.threads import resolve_count
from choque._core.types import Progress
from choque.errors import ChoqueError, UnreadableFile
from choque.record.recorder import versions
from choque.record.recording import Recording
from choque.world import World
from choque.world.saving import read_world


@dataclass(frozen=True)
class Verification:
    """The result of simulating a recorded run again."""

    frame_count: int  #: How many frames were compared.
    #: The first frame whose state differs from the recorded one; None if there is none.
    first_difference: int | None = None
    reason: str = ""  #: What differs there: the hash of the state, or the poses although the hash is right.
    #: Libraries or processors that differ from those of the recording: name, recorded, present. The sources of Choque
    #: count as one: "choque sources", a digest, tells two commits of one version apart.
    other_versions: tuple[tuple[str, str, str], ...] = ()
    recorded: str = ""  #: The versions with which it was recorded, in words.

    @property
    def is_equal(self) -> bool:
        """Whether every frame equals the recorded one, bit for bit."""
        return self.first_difference is None

    def __str__(self) -> str:
        if self.is_equal:
            return f"All {self.frame_count:,} frames were simulated again and are equal to the last bit."
        others = ", ".join(f"{name} was {then} and is {now}" for name, then, now in self.other_versions)
        made = f" It was recorded with {self.recorded}" if self.recorded else ""
        cause = f"; {others}." if others else "; all versions are the same here." if made else ""
        return f"Frame {self.first_difference} differs: {self.reason}.{made}{cause}"


def verify(
    recording: Recording | str | os.PathLike[str],
    *,
    threads: int | None = None,
    progress: Progress | bool | None = None,
) -> Verification:
    """Simulate a recorded run again from the states in it, with any number of ``threads``, and compare every frame.

    ``recording`` is an open recording or a path; ``progress`` is that of `choque.scale.pairs`. A frame is equal if the
    64-bit hash of the whole state is equal and the recorded poses are those of the state, rounded to float32. This is
    guaranteed for the same versions of Choque, NumPy and Numba on the same kind of processor.
    """
    resolve_count(threads, 0)
    if not isinstance(recording, Recording):
        with Recording(recording) as opened:
            return verify(opened, threads=threads, progress=progress)
    hashes, steps = recording.hashes(), recording.steps()
    changed = _other_versions(recording)
    total = recording.frame_count
    bounds = [*(segment.first for segment in recording.segments), total]
    with reporting(progress) as report:
        for segment, last in zip(recording.segments, bounds[1:], strict=True):
            world = _world_of(recording, segment.state, threads) if segment.first < last else None
            for index in range(segment.first, min(last, total)):
                assert world is not None
                if index > segment.first:
                    world.step(float(steps[index]))
                reason = _difference(world, recording, index, int(hashes[index]))
                if reason:
                    return Verification(index + 1, index, reason, changed, _words(recording))
                report(index + 1, total, recording.name)
    return Verification(total, other_versions=changed, recorded=_words(recording))


def _difference(world: World, recording: Recording, index: int, expected: int) -> str:
    found = world.hash()
    if found != expected:
        return f"the hash of the state is {found:016x}, and was {expected:016x}"
    poses, bodies = recording.frame(index), world.bodies
    for name in ("position", "rotation"):
        recorded, rounded = getattr(poses, name), np.ascontiguousarray(getattr(bodies, name), np.float32)
        if rounded.shape != recorded.shape or not np.array_equal(rounded.view(np.uint32), recorded.view(np.uint32)):
            return f"the hash of the state is right, but the recorded {name} is not that of the state"
    return ""


def _world_of(recording: Recording, state: bytes, threads: int | None) -> World:
    try:
        return read_world(World, BytesIO(state), recording.path, threads)
    except ChoqueError as problem:
        raise UnreadableFile(f"The recording {recording.path} cannot be simulated again: {problem}") from problem


def _words(recording: Recording) -> str:
    """Return the versions with which it was recorded, as in "choque 0.2.0, numpy 2.4.6"."""
    then = recording.header.get("versions")
    return ", ".join(f"{name} {version}" for name, version in then.items()) if isinstance(then, dict) else ""


def _other_versions(recording: Recording) -> tuple[tuple[str, str, str], ...]:
    then, now = recording.header.get("versions"), versions()
    if not isinstance(then, dict):
        return ()
    return tuple((name, str(then.get(name, "unknown")), now[name]) for name in now if then.get(name) != now[name])
