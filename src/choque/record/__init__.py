"""Recordings of worlds: written while a world runs, replayed, and verified by simulating again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from choque._core.lazy import exporting

if TYPE_CHECKING:
    from choque.record.frames import BodyTable, Frames, Poses, open  # noqa: A004
    from choque.record.recorder import Recorder
    from choque.record.recording import Recording
    from choque.record.replay import Replay
    from choque.record.verification import verify

__all__ = ["BodyTable", "Frames", "Poses", "Recorder", "Recording", "Replay", "open", "verify"]

_HOMES = {
    "BodyTable": "choque.record.frames",
    "Frames": "choque.record.frames",
    "Poses": "choque.record.frames",
    "Recorder": "choque.record.recorder",
    "Recording": "choque.record.recording",
    "Replay": "choque.record.replay",
    "open": "choque.record.frames",
    "verify": "choque.record.verification",
}

__getattr__ = exporting(__name__, _HOMES)
