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
    ".frames": "BodyTable Frames Poses open",
    ".recorder": "Recorder",
    ".recording": "Recording",
    ".replay": "Replay",
    ".verification": "verify",
}
__getattr__, __dir__ = exporting(__name__, __all__, _HOMES)
