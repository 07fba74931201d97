"""The bytes of Broadmark's format, made and read by hand."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from choque import files
from choque.errors import InvalidInput, UnreadableFile
from choque.files import boxes


def by_hand(name: bytes, kind: bytes, counts: tuple[int, int, int, int], numbers: Sequence[float]) -> bytes:
    head = name.ljust(128, b"\0") + kind.ljust(128, b"\0") + struct.pack("<4i", *counts)
    return head + struct.pack(f"<{len(numbers)}f", *numbers)


def test_bytes_of_a_solid_scene(tmp_path: Path) -> None:
    path = tmp_path / "a.aabbs"
    frames = [([[1, 2, 3], [0, 0, 0]], [[4, 5, 6], [1, 1, 1]]), ([[1, 2, -3], [0, 0, 0]], [[4, 5, 6], [1, 9, 1]])]
    boxes.write_frames(path, frames, frame_count=2, name="tiny")
    world = [0, 0, -3, 0, 4, 9, 6, 0]
    start = [1, 2, 3, 0, 4, 5, 6, 0, 0, 0, 0, 0, 1, 1, 1, 0]
    after = [1, 2, -3, 0, 4, 5, 6, 0, 0, 0, 0, 0, 1, 9, 1, 0]
    assert path.read_bytes() == by_hand(b"tiny", b"boxes", (2, 1, 0, 0), world + start + after)


def test_bytes_of_a_flat_scene(tmp_path: Path) -> None:
    path = tmp_path / "flat.aabbs"
    files.write_boxes(path, [[1, 2]], [[3, 4]])
    box = [1, 2, 0, 0, 3, 4, 1, 0]
    assert path.read_bytes() == by_hand(b"flat", b"boxes-2d", (1, 0, 0, 0), box + box)


def test_reading_what_another_program_wrote(tmp_path: Path) -> None:
    """The fourth floats, and what follows the name's zero, mean nothing."""
    path = tmp_path / "b.aabbs"
    boxes = [1, 2, 3, 77, 4, 5, 6, -1, 7, 8, 9, 77, 10, 11, 12, -1]
    path.write_bytes(by_hand(b"Free Fall\0junk", b"Cubes", (1, 1, 0, 0), [0] * 8 + boxes))
    store = files.open_boxes(path)
    assert (store.name, store.frame_count, store.box_count, store.dimension) == ("Free Fall", 2, 1, 3)
    assert store.frame(0)[0].tolist() == [[1, 2, 3]]
    assert store.frame(1)[1].tolist() == [[10, 11, 12]]
    assert files.read_boxes(path, frame=1)[0].tolist() == [[7, 8, 9]]


@pytest.mark.parametrize(
    ("counts", "sentence"),
    [
        ((1, 0, 5, 0), "is not a Broadmark scene"),
        ((1, 0, 0, 1), "is not a Broadmark scene"),
        ((-1, 0, 0, 0), "is not a Broadmark scene"),
        ((1, -1, 0, 0), "is not a Broadmark scene"),
        ((2, 0, 0, 0), "2 objects in 1 \\+ 0 frames take 368 bytes and it has 336"),
        ((2**31 - 1, 2**31 - 1, 0, 0), "truncated"),
        ((0, 0, 0, 0), "truncated or not"),
    ],
)
def test_headers_that_do_not_fit(counts: tuple[int, int, int, int], sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "a.aabbs"
    path.write_bytes(by_hand(b"a", b"Cubes", counts, [0.0] * 16))
    with pytest.raises(UnreadableFile, match=sentence):
        files.open_boxes(path)


def test_names_have_room_for_127_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.aabbs"
    frames = [(np.zeros((1, 3)), np.ones((1, 3)))]
    boxes.write_frames(path, frames, frame_count=1, name="é" * 63 + "x")
    assert files.open_boxes(path).name == "é" * 63 + "x"
    for name in ("é" * 64, "zero\0byte"):
        with pytest.raises(InvalidInput, match="127"):
            boxes.write_frames(tmp_path / "b.aabbs", frames, frame_count=1, name=name)
    assert not (tmp_path / "b.aabbs").exists()
