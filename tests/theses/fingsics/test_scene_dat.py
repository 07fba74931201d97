"""The file ``scene.dat`` of the Fingsics engine, byte by byte."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from choque.errors import InvalidInput, UnreadableFile
from choque.record import Recorder, Recording
from choque.record import open as open_frames
from choque.theses.fingsics import engine, scene_dat
from choque.theses.fingsics.scene_dat import SceneDat, write_scene_dat
from choque.world import World


def written_by_hand(body_count: int, frame_count: int, rate: int, seed: int) -> bytes:
    """A scene.dat field by field, bytes without meaning filled with noise: an oracle that shares no code."""
    random = np.random.default_rng(seed)
    content = struct.pack("<III", body_count, frame_count, rate)
    for _ in range(body_count):
        kind = int(random.integers(0, 4))
        content += struct.pack("<BB", kind, int(random.choice([0, 255]))) + random.bytes(3) + random.bytes(3)
        content += struct.pack("<ff", *random.uniform(0.1, 9, 2))
    for numbers in (3, 9):
        for _ in range(body_count * frame_count):
            content += struct.pack(f"<{numbers}f", *random.normal(size=numbers))
    return content


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 6), st.integers(1, 9), st.sampled_from([25, 60, 120]), st.integers(0, 10**6))
def test_bytes_come_back(tmp_path_factory: pytest.TempPathFactory, n: int, f: int, rate: int, seed: int) -> None:
    """F-001-39."""
    folder = tmp_path_factory.mktemp("dat")
    content = written_by_hand(n, f, rate, seed)
    (folder / "scene.dat").write_bytes(content)
    opened = SceneDat(folder)
    assert len(content) == 12 + n * (16 + 48 * f) == scene_dat.file_size(n, f)
    assert (opened.frame_count, opened.frames_per_second, len(opened.bodies())) == (f, rate, n)
    write_scene_dat(folder / "again.dat", opened)
    assert (folder / "again.dat").read_bytes() == content


def test_poses_are_where_the_layout_says(tmp_path: Path) -> None:
    content = written_by_hand(2, 3, 60, 1)
    (tmp_path / "a.dat").write_bytes(content)
    opened = SceneDat(tmp_path / "a.dat")
    place = 12 + 2 * 16 + (1 * 3 + 2) * 12  # the second body in the third frame
    assert opened.frame(2).position[1].tolist() == list(struct.unpack("<3f", content[place : place + 12]))
    turn = 12 + 2 * 16 + 2 * 3 * 12 + (1 * 3 + 2) * 36
    assert opened.frame(2).rotation[1].ravel().tolist() == list(struct.unpack("<9f", content[turn : turn + 36]))


def test_a_recording_converts_without_rounding(tmp_path: Path, make_world: Callable[..., World], monkeypatch) -> None:
    world = make_world(**engine.settings({}))
    with Recorder(tmp_path / "a.choque", world) as recorder:
        for _ in range(20):
            world.step()
            recorder.record()
    monkeypatch.setattr(scene_dat, "BLOCK_BYTES", 48 * 55 * 6)  # several blocks of six frames
    calls: list[tuple[int, int]] = []
    recording = Recording(tmp_path / "a.choque")
    write_scene_dat(tmp_path / "scene.dat", recording, progress=lambda done, total, _: calls.append((done, total)))
    opened = open_frames(tmp_path / "scene.dat")
    assert calls == [(6, 21), (12, 21), (18, 21), (21, 21)]
    for index in range(21):
        assert opened.frame(index).position.tobytes() == recording.frame(index).position.tobytes()
        assert opened.frame(index).rotation.tobytes() == recording.frame(index).rotation.tobytes()
    for name in ("kind", "size", "color", "drawn", "rocket"):
        assert np.array_equal(getattr(opened.bodies(0), name), getattr(recording.bodies(0), name)), name


def test_what_the_format_cannot_hold(tmp_path: Path, make_world: Callable[..., World]) -> None:
    world = World()
    world.add_ground()
    Recorder(tmp_path / "ground.choque", world).close()
    with pytest.raises(InvalidInput, match=r"kind 'plane', which a scene\.dat cannot hold"):
        write_scene_dat(tmp_path / "scene.dat", Recording(tmp_path / "ground.choque"))
    world = make_world()
    with Recorder(tmp_path / "more.choque", world) as recorder:
        world.add_spheres([0, 9, 0])
        recorder.record()
    with pytest.raises(InvalidInput, match="added or removed at frame 1"):
        write_scene_dat(tmp_path / "scene.dat", Recording(tmp_path / "more.choque"))
    with Recorder(tmp_path / "odd.choque", make_world(), dt=0.7) as recorder:
        pass
    with pytest.raises(InvalidInput, match="whole number"):
        write_scene_dat(tmp_path / "scene.dat", Recording(tmp_path / "odd.choque"))
    assert not (tmp_path / "scene.dat").exists()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"abc", "12 at least"),
        (struct.pack("<III", 2**32 - 1, 2**32 - 1, 60), "truncated"),
        (written_by_hand(2, 2, 60, 0)[:-1], "truncated"),
        (struct.pack("<III", 0, 0, 60), "at least 1"),
        (struct.pack("<III", 0, 3, 0), "at least 1"),
        (struct.pack("<III", 1, 1, 60) + b"\x07" + bytes(15 + 48), "kind 7"),
    ],
)
def test_bad_files(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "scene.dat").write_bytes(content)
    with pytest.raises(UnreadableFile, match=words):
        SceneDat(tmp_path)
