"""Self-contained pages: whole, without addresses of servers, and without a change of what they show."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import zstandard

import choque
from choque.errors import InvalidInput, UnknownName
from choque.studio.page.document import RATE


def messages(path: Path) -> tuple[float, list[tuple[float, dict[str, Any]]]]:
    """The length of what a page plays, and its messages with their times, as its viewer decodes them."""
    found = re.search(r'__VISER_EMBED_DATA__="([^"]+)"', path.read_text("utf-8"))
    assert found is not None
    data = base64.b64decode(found[1])
    size = int.from_bytes(data[:8], "little")
    inner = zstandard.ZstdDecompressor().decompress(data[8:], max_output_size=size)
    length = int.from_bytes(inner[:8], "little")
    content = msgspec.msgpack.decode(inner[8 : 8 + length])
    return content["durationSeconds"], content["messages"]


@pytest.fixture
def world() -> choque.World:
    made = choque.World(response="impulse")
    made.add_spheres(position=[[0, 3, 0], [2, 4, 0]], radius=0.5, velocity=[[1, 0, 0], [0, 0, 0]])
    return made


def test_a_world_plays_and_stays_as_it_was(world: choque.World, tmp_path: Path) -> None:
    before = world.hash()
    path = choque.page(world, tmp_path / "world.html", seconds=0.5)
    assert (world.hash(), world.frame) == (before, 0)
    duration, sent = messages(path)
    assert duration == pytest.approx(0.5)
    moments = {round(at * RATE) for at, _ in sent}
    assert moments == set(range(round(0.5 * RATE))), "every frame moves something"


def test_what_a_page_shows_is_in_its_middle(world: choque.World, tmp_path: Path) -> None:
    _, sent = messages(choque.page(world, tmp_path / "world.html", seconds=0.1))
    looked_at = [message["look_at"] for _, message in sent if message["type"] == "SetCameraLookAtMessage"]
    np.testing.assert_allclose(looked_at[0], (1.0, 3.5, 0.0), atol=0.2)


def test_a_longer_page_has_more_frames(world: choque.World, tmp_path: Path) -> None:
    short, long = (messages(choque.page(world, tmp_path / "world.html", seconds=each))[1] for each in (0.2, 0.4))
    assert len(long) > len(short)


def test_a_recording_plays_to_its_end(tmp_path: Path, world: choque.World) -> None:
    with choque.record.Recorder(tmp_path / "recording.choque", world) as recorder:
        for _ in range(12):
            recorder(world, world.step(1 / 60))
    duration, _ = messages(choque.page(tmp_path / "recording.choque", tmp_path / "page.html", seconds=5))
    assert 0 < duration <= 12 / 60 + 1 / RATE


@pytest.mark.parametrize("kind", ["boxes", "volumes"])
def test_still_things_are_one_picture(kind: str, tmp_path: Path) -> None:
    lower = np.random.default_rng(0).random((20, 3))
    ball = choque.lab.phantoms.make("ball", 12)
    things: list[Any] = [choque.bounds.Boxes(lower, lower + 0.1)] if kind == "boxes" else [ball, ball]
    duration, sent = messages(choque.page(*things, path=tmp_path / "still.html"))
    assert duration == 0
    names = [message["name"] for _, message in sent if "name" in message]
    assert any("/" in name for name in names)


def test_a_page_has_its_title_and_no_scripts_of_others(world: choque.World, tmp_path: Path) -> None:
    text = choque.page(world, tmp_path / "world.html", seconds=0.1).read_text("utf-8")
    assert "<title>A world</title>" in text
    assert "#webgl-software-rendering .mantine-Notification-description { display: none }" in text
    assert "#webgl-unavailable" not in text  # nothing else would say why it is empty
    assert not re.search(r'<(script|link)[^>]+(src|href)="https?:', text)


def test_progress_counts_frames(world: choque.World, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    choque.page(world, tmp_path / "world.html", seconds=0.1, progress=lambda done, total, _: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "must end in .html"),
        (("bowling",), "must end in .html"),
        (("bowling", "page.txt"), "must end in .html"),
        ((3,), "path of a file"),
        (("a.html", "b.html", "c.html"), "give one, two volumes, or meshes"),
    ],
)
def test_bad_arguments_are_refused(arguments: tuple[Any, ...], sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        choque.page(*arguments)


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), 601, True])
def test_bad_lengths_are_refused(seconds: float, world: choque.World, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="at most 600"):
        choque.page(world, tmp_path / "world.html", seconds=seconds)


def test_what_cannot_be_shown_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(UnknownName):
        choque.page("nothing-of-this-name", tmp_path / "page.html")
    assert not list(tmp_path.iterdir())
