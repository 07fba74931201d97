"""Replays: seeking, playing, speed and single frames."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from choque.errors import InvalidInput
from choque.record import Recording, Replay
from choque.record.recorder import Writer


@pytest.fixture
def replay(write: Callable[..., Path], frames: Callable) -> Replay:
    return Replay(Recording(write(frames(1500, 1))))


def test_seeks_are_clamped(replay: Replay) -> None:
    """F-001-34."""
    found = [replay.seek(by) for by in (1, 60, 600, 600, 600, -1, -60, -600, -600, -600, -1)]
    assert found == [1, 61, 661, 1261, 1499, 1498, 1438, 838, 238, 0, 0]
    assert [replay.seek_to(frame) for frame in (700, -5, 10**9)] == [700, 0, 1499]


def test_it_starts_paused_plays_and_holds_the_last_frame(replay: Replay) -> None:
    assert [replay.tick(), replay.tick()] == [0, 0]
    replay.seek_to(1497)
    replay.play()
    assert [replay.tick() for _ in range(4)] == [1498, 1499, 1499, 1499]
    assert not replay.playing
    assert replay.time == 1499 / 60


def test_backwards_and_slowly(replay: Replay) -> None:
    replay.seek_to(3)
    replay.speed = -1
    replay.toggle()
    assert [replay.tick() for _ in range(5)] == [2, 1, 0, 0, 0]
    replay.speed = 0.5
    replay.play()
    assert [replay.tick() for _ in range(4)] == [0, 1, 1, 2]


def test_single_frames_pause(replay: Replay) -> None:
    replay.play()
    assert (replay.step(), replay.step(-1), replay.playing) == (1, 0, False)
    replay.seek(9)
    replay.reset()
    assert (replay.frame, replay.playing) == (0, False)
    assert len(replay.poses) == len(replay.bodies) == 1


@pytest.mark.parametrize("speed", [0, float("nan"), float("inf"), "1", True])
def test_bad_speeds(replay: Replay, speed: float) -> None:
    with pytest.raises(InvalidInput, match="speed"):
        replay.speed = speed


def test_bad_seeks_and_nothing_to_play(replay: Replay, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="whole number"):
        replay.seek(1.5)
    Writer(tmp_path / "empty.choque", {"dt": 1.0}).close()
    with pytest.raises(InvalidInput, match="no frames"):
        Replay(Recording(tmp_path / "empty.choque"))
