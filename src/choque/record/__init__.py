"""Recordings, replay and verification; the files of the original; logs, benchmarks and the folders they go to."""

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
from choque.record.folders import new_folder
from choque.theses.fingsics.benchmark import BenchmarkResult, benchmark
from choque.theses.fingsics.log import Log, read_log
from choque.theses.fingsics.scene_dat import SceneDat, write_scene_dat
from choque.theses.fingsics.totals import Totals

__all__ = [
    "BenchmarkResult",
    "Cast",
    "Frames",
    "Log",
    "Poses",
    "Recorder",
    "Recording",
    "RecordingFailed",
    "Replay",
    "SceneDat",
    "Segment",
    "Totals",
    "Verification",
    "benchmark",
    "new_folder",
    "open_frames",
    "read_log",
    "verify",
    "write_scene_dat",
]
