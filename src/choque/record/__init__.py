"""Recordings of worlds: written while a world runs, replayed, and verified by running it again."""

from __future__ import annotations

from choque.record._cast import Cast
from choque.record._contents import Segment
from choque.record._frames import Frames, Poses
from choque.record._opening import open_frames
from choque.record._recorder import Recorder
from choque.record._recording import Recording
from choque.record._replay import Replay
from choque.record._verify import Verification, verify
from choque.record._writer import RecordingFailed

__all__ = [
    "Cast",
    "Frames",
    "Poses",
    "Recorder",
    "Recording",
    "RecordingFailed",
    "Replay",
    "Segment",
    "Verification",
    "open_frames",
    "verify",
]
