"""Recordings that are cut off, or none at all: a sentence and exit code 2, after what is there has served."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from choque.record import Recorder, Recording
from choque.world import World

if TYPE_CHECKING:
    from conftest import Command


@pytest.fixture
def whole(tmp_path: Path) -> bytes:
    """A recording of 131 frames, in chunks of 60."""
    world, path = World(), tmp_path / "whole.choque"
    world.add_spheres([[0, 0, 0], [2.1, 0, 0]], velocity=[[1, 0, 0], [-1, 0, 0]])
    with Recorder(path, world, scene="two") as recorder:
        for _ in range(130):
            world.step()
            recorder.record()
    return path.read_bytes()


@pytest.fixture
def cut(tmp_path: Path, whole: bytes) -> Path:
    """The same, cut inside its third chunk."""
    path = tmp_path / "cut.choque"
    path.write_bytes(whole[: whole.rindex(b"POSE") + 40])
    return path


def test_what_is_there_is_shown_verified_and_converted_before_the_error(command: Command, cut: Path) -> None:
    outcome = command("replay", cut, "--verify", "--scene-dat", cut.with_name("scene.dat"), "--json")
    printed = json.loads(outcome.out)
    assert (printed["frames"], printed["complete"], printed["verified"]) == (120, False, True)
    assert outcome.code == 2
    assert outcome.err.splitlines()[-1] == (
        f"choque: The recording {cut} is cut off after frame 119: its first 120 frames are whole, and what came after "
        "them is missing."
    )
    assert json.loads(command.succeeds("replay", cut.with_name("scene.dat"), "--json"))["frames"] == 120
    outcome = command("replay", cut)
    assert (outcome.code, "120 frames" in outcome.out) == (2, True)


def test_from_python_it_stays_readable(cut: Path, tmp_path: Path) -> None:
    with Recording(cut) as recording:
        assert "cut off after frame 119" in recording.remark
        assert len(recording.frame(119)) == 2
    with Recording(tmp_path / "whole.choque") as recording:
        assert recording.remark == ""


def test_a_picture_is_drawn_of_what_is_there(command: Command, cut: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []
    monkeypatch.setattr("choque.studio.drawing.draw_picture", lambda path, *_, **__: drawn.append(path) or "frame 3")
    for verb in ("video", "picture"):
        outcome = command(verb, cut, "a.png", "--frame", 3)
        assert (outcome.code, outcome.out) == (2, "a.png: frame 3\n")
        assert "cut off after frame 119" in outcome.err
    assert drawn == [Path("a.png")] * 2


@pytest.mark.parametrize("verb", [("replay",), ("replay", "--verify"), ("video",), ("picture",)])
def test_without_a_frame_nothing_is_done(command: Command, cut: Path, whole: bytes, verb: tuple[str, ...]) -> None:
    cut.write_bytes(whole[: whole.index(b"POSE") + 40])
    output = [cut.with_name("a.png")] if verb[0] != "replay" else []
    assert "cut off before its first frames" in command.fails(verb[0], cut, *output, *verb[1:])
    assert not any(path.exists() for path in output)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda _: b"", "is empty"),
        (lambda _: b"a song", "is not a recording: it looks like text"),
        (lambda whole: whole[:8] + struct.pack("<I", 9) + whole[12:], "has format version 9"),
        (lambda whole: whole[:100], "ends within its header"),
        (lambda whole: whole[:10], "ends within its first bytes"),
    ],
)
@pytest.mark.parametrize("verb", ["replay", "video"])
def test_what_is_no_recording(command: Command, cut: Path, whole: bytes, damage: object, words: str, verb: str) -> None:
    cut.write_bytes(damage(whole))
    sentence = command.fails(verb, cut, *(["a.gif"] if verb == "video" else []))
    assert words in sentence
    assert str(cut) in sentence


def test_bytes_after_the_end_are_a_note(command: Command, cut: Path) -> None:
    whole = cut.with_name("whole.choque")
    with whole.open("ab") as handle:
        handle.write(b"other bytes")
    outcome = command("replay", whole, "--json")
    assert (outcome.code, json.loads(outcome.out)["complete"]) == (0, True)
    assert outcome.err.splitlines()[-1].endswith("is complete; 11 bytes after its end are ignored.")
