"""Recordings on disk: round trips, truncation, damage and layout."""

from __future__ import annotations

import errno
import struct
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from choque.errors import ChoqueError, InvalidInput, RecordingFailed, UnreadableFile
from choque.record import BodyTable, Recording, _chunks, recorder  # how many frames a chunk has
from choque.record import open as open_frames
from choque.record._blocks import pack_table, unpack_table  # blocks with damage below a right checksum
from choque.record.recorder import Writer

Write = Callable[..., Path]
Frames = Callable[..., list[tuple[np.ndarray, np.ndarray]]]


def equal(recording: Recording, frames: list[tuple[np.ndarray, np.ndarray]]) -> bool:
    order = np.random.default_rng(3).permutation(recording.frame_count).tolist()
    return all(
        np.array_equal(recording.frame(index).position, frames[index][0])
        and np.array_equal(recording.frame(index).rotation, frames[index][1])
        for index in order
    )


def write_all(
    path: Path, frames: list[tuple[np.ndarray, np.ndarray]], table: BodyTable, interrupt_at: int = -1
) -> None:
    with closing(Writer(path, {"scene": "test", "dt": 1 / 60})) as writer:
        writer.begin(table, b"")
        for index, (position, rotation) in enumerate(frames):
            if index == interrupt_at:
                raise KeyboardInterrupt
            writer.add(position, rotation, hash=index, time=0.0, step=0.1)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(1, 130), st.integers(0, 9), st.integers(0, 2**31))
def test_round_trip(write: Write, frames: Frames, frame_count: int, body_count: int, seed: int) -> None:
    given_frames = frames(frame_count, body_count, seed)
    path = write(given_frames, f"{frame_count}-{body_count}-{seed}.choque")
    with Recording(path) as recording:
        assert (recording.complete, recording.frame_count, recording.name) == (True, frame_count, "test")
        assert recording.hashes().tolist() == list(range(1000, 1000 + frame_count))
        assert recording.times()[-1] == (frame_count - 1) / 60
        assert equal(recording, given_frames)
    path.unlink()


def test_the_bodies_come_back(write: Write, frames: Frames, table: Callable[[int], BodyTable]) -> None:
    found = Recording(write(frames(2, 7))).bodies(1)
    for name, column in table(7).arrays().items():
        assert np.array_equal(getattr(found, name), column), name


def test_what_was_written_stays_readable_wherever_the_file_ends(write: Write, frames: Frames) -> None:
    """A run that is killed, or a copy that was cut off: every whole chunk is there, and the rest is one sentence."""
    given_frames = frames(190, 3)
    path = write(given_frames)
    whole = path.read_bytes()
    seen = set()
    for length in [*range(0, 600, 23), *range(600, len(whole), 997), len(whole) - 1]:
        path.write_bytes(whole[:length])
        try:
            recording = Recording(path)
        except UnreadableFile:
            continue
        assert not recording.complete
        assert recording.frame_count % 60 in (0, 10)
        seen.add(recording.frame_count)
        assert equal(recording, given_frames)
        recording.close()
    assert {0, 60, 120, 180, 190} <= seen


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_damage_never_passes_for_data(write: Write, frames: Frames, data: st.DataObject) -> None:
    given_frames = frames(70, 2)
    path = write(given_frames, "damaged.choque")
    content = bytearray(path.read_bytes())
    path.unlink()
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    try:
        with Recording(path) as recording:
            assert equal(recording, given_frames)
    except UnreadableFile:
        pass
    path.unlink()


def test_another_version_is_refused_in_a_sentence(write: Write, frames: Frames) -> None:
    path = write(frames(1, 1))
    content = bytearray(path.read_bytes())
    content[8:12] = struct.pack("<I", 9)
    path.write_bytes(content)
    with pytest.raises(UnreadableFile, match="format version 9; this version of Choque reads format 1"):
        Recording(path)


@pytest.mark.parametrize("content", [b"", b"hello", b"\x93choque\n", b"\x93choque\n\x01\0\0\0\0\0\0\0"])
def test_what_is_no_recording(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.choque"
    path.write_bytes(content)
    with pytest.raises(UnreadableFile):
        Recording(path)


def test_missing(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="There is no file"):
        Recording(tmp_path / "a.choque")
    with pytest.raises(UnreadableFile, match="has no recording"):
        open_frames(tmp_path)


def test_claims_are_checked_before_room_is_made(write: Write, frames: Frames) -> None:
    """A chunk of few bytes that claims four billion frames is refused, its checksum being right."""
    path = write(frames(1, 1))
    content = path.read_bytes()
    start = content.index(b"POSE")
    length = struct.unpack("<Q", content[start + 8 : start + 16])[0]
    payload = bytearray(content[start + 16 : start + 16 + length])
    payload[8:12] = struct.pack("<I", 2**32 - 1)
    head = struct.pack("<4sIQ", b"POSE", zlib.crc32(payload), length)
    path.write_bytes(content[:start] + head + bytes(payload) + content[start + 16 + length :])
    with pytest.raises(UnreadableFile, match="impossible"):
        Recording(path).frame(0)


def test_an_existing_file_is_not_touched(write: Write, frames: Frames) -> None:
    path = write(frames(2, 2))
    before = path.read_bytes()
    with pytest.raises(InvalidInput, match="already"):
        Writer(path, {"dt": 1.0})
    assert path.read_bytes() == before


@pytest.mark.parametrize("survives", [0, 1, 2])
def test_a_full_disk_is_a_sentence_and_keeps_what_is_there(
    tmp_path: Path, frames: Frames, table: Callable[[int], BodyTable], monkeypatch: pytest.MonkeyPatch, survives: int
) -> None:
    real, written = recorder.write_block, []

    def write_block(handle: object, kind: bytes, payload: bytes) -> int:
        if kind == b"POSE":
            written.append(kind)
            if len(written) > survives:
                handle.write(payload[: len(payload) // 2])
                raise OSError(errno.ENOSPC, "No space left on device")
        return real(handle, kind, payload)

    monkeypatch.setattr(recorder, "write_block", write_block)
    given_frames = frames(400, 3)
    path = tmp_path / "a.choque"
    with pytest.raises(RecordingFailed, match=rf"the disk is full\. Its first {60 * survives} frames stay readable"):
        write_all(path, given_frames, table(3))
    recording = Recording(path)
    assert (recording.complete, recording.frame_count) == (False, 60 * survives)
    assert equal(recording, given_frames)
    assert isinstance(RecordingFailed(), ChoqueError)


def test_an_interrupt_leaves_a_complete_recording(
    tmp_path: Path, frames: Frames, table: Callable[[int], BodyTable]
) -> None:
    path, given_frames = tmp_path / "a.choque", frames(100, 3)
    with pytest.raises(KeyboardInterrupt):
        write_all(path, given_frames, table(3), interrupt_at=75)
    recording = Recording(path)
    assert (recording.complete, recording.frame_count) == (True, 75)
    assert equal(recording, given_frames)


def test_large_frames_are_never_all_in_memory() -> None:
    """100,000 bodies: a chunk is under 64 MiB, of which two are kept, whatever the number of frames."""
    frame_count = _chunks.frames_per_chunk(100_000)
    assert 10 <= frame_count * 100_000 * 48 / 2**20 <= 64
    assert _chunks.frames_per_chunk(10**8) == 1


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(1, 5000), st.booleans(), st.integers(0, 2**31))
def test_bytes_after_the_end_are_counted_and_ignored(
    write: Write, frames: Frames, count: int, zeros: bool, seed: int
) -> None:
    given_frames = frames(130, 3)
    path = write(given_frames, f"{count}-{zeros}-{seed}.choque")
    surplus = bytes(count) if zeros else np.random.default_rng(seed).bytes(count)
    with path.open("ab") as handle:
        handle.write(surplus)
    with Recording(path) as recording:
        assert recording.complete
        assert recording.remark.endswith(f"is complete; {count:,} bytes after its end are ignored.")
        assert equal(recording, given_frames)
    path.unlink()


@pytest.mark.parametrize("damage", ["bytes", "nan", "segment", "order"])
def test_a_damaged_index_is_not_needed(write: Write, frames: Frames, damage: str) -> None:
    path = write(frames(150, 2))
    content = path.read_bytes()
    start = content.index(b"INDX")
    values, arrays = unpack_table(content[start + 16 : -16])
    if damage == "nan":
        arrays["chunks"] = arrays["chunks"] * np.nan
    elif damage == "segment":
        arrays["chunks"][0, 2] = 2**63
    elif damage == "order":
        arrays["chunks"] = arrays["chunks"][::-1]
    payload = pack_table(values, arrays)
    block = struct.pack("<4sIQ", b"INDX", zlib.crc32(payload) ^ (damage == "bytes"), len(payload)) + payload
    path.write_bytes(content[:start] + block + content[-16:])
    with Recording(path) as recording:
        assert (recording.complete, recording.frame_count, recording.remark) == (True, 150, "")
        assert equal(recording, frames(150, 2))


def test_a_step_that_no_float_holds_is_refused(write: Write, frames: Frames) -> None:
    path = write(frames(1, 1))
    content = path.read_bytes()
    length = struct.unpack("<Q", content[24:32])[0]
    values, arrays = unpack_table(content[32 : 32 + length])
    payload = pack_table(values | {"dt": 10**400}, arrays)
    head = struct.pack("<4sIQ", b"HEAD", zlib.crc32(payload), len(payload))
    path.write_bytes(content[:16] + head + payload + content[32 + length :])
    with pytest.raises(UnreadableFile, match="its step is 1000"):
        Recording(path)
