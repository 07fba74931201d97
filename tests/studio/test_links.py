"""Addresses that name a thing and a moment, files dropped on the page, thumbnails: by their effects and refusals."""

from __future__ import annotations

import asyncio
import io
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("viser", reason="viser, of the extra 'view', is not installed")

import viser
from view_browser import Watched, in_own_loop, pixels, until
from websockets.asyncio.client import connect

from choque.errors import UnknownName
from choque.studio.page import links as links_module
from choque.studio.page import thumbnails
from choque.studio.page import world as world_module
from choque.studio.page.boxes import BoxesView
from choque.studio.page.entries import ENTRIES
from choque.studio.page.links import LINK_PATH, MAX_FILE_BYTES
from choque.studio.page.overlays import Drawing, Options, faded
from choque.studio.page.studio import Studio
from choque.studio.page.thumbnails import PICTURED, START, drawn, gallery, thumbnail
from choque.studio.page.world import WorldView
from choque.studio.palette import HORIZON
from choque.world import World


@pytest.fixture
def studio(shared_studio: Studio, monkeypatch: pytest.MonkeyPatch) -> Iterator[Studio]:
    said: list[str] = []
    monkeypatch.setattr(shared_studio, "notify", lambda _, sentence, *__: said.append(sentence))
    shared_studio.said = said  # type: ignore[attr-defined]
    yield shared_studio
    shared_studio.open(None)
    shared_studio.ask(lambda: None)


def say(studio: Studio, *messages: Any, patience: float = 10.0) -> str:
    """Say something as the script of the page does; return the last answer."""

    async def talk() -> str:
        protocol: Any = f"viser-v{viser.__version__}"
        answer = ""
        address = f"ws://127.0.0.1:{studio.port}/{LINK_PATH}"
        async with connect(address, subprotocols=[protocol]) as socket:
            for message in messages:
                await socket.send(message if isinstance(message, bytes) else json.dumps(message))
            async with asyncio.timeout(patience):
                async for words in socket:
                    answer = str(words)
        return answer

    found = in_own_loop(talk())
    studio.ask(lambda: None)
    return found


def array_file(count: int = 5) -> bytes:
    content = io.BytesIO()
    lower = np.arange(3.0 * count).reshape(count, 3)
    np.save(content, np.column_stack((lower, lower + 1.0)))
    return content.getvalue()


def test_a_moment_of_an_address_is_gone_to(studio: Studio) -> None:
    world = World("brute")
    world.add_spheres([[0, 5, 0]], velocity=[[1, 0, 0]])
    view = WorldView(world)
    studio.open(view)
    studio.ask(lambda: None)
    assert say(studio, {"t": 0.5}) == ""
    until(lambda: view.run.world.time == pytest.approx(0.5), "the moment")
    ahead = view.run.world.hash()
    say(studio, {"t": 0.1})
    until(lambda: view.run.world.time == pytest.approx(0.1), "an earlier moment")
    say(studio, {"t": 0.5})
    until(lambda: view.run.world.time == pytest.approx(0.5), "the moment again")
    assert view.run.world.hash() == ahead
    studio.ask(view.tick)
    assert "#t=0.500" in view.timeline._marks.content
    for wrong in (-1, "soon", 1e400, 10**400):
        say(studio, {"t": wrong})
    assert view.run.world.time == pytest.approx(0.5)
    assert all("must be a number of seconds" in sentence for sentence in studio.said)  # type: ignore[attr-defined]


def test_a_moment_that_is_too_far_is_said(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(world_module, "MAX_AHEAD", 30)
    world = World("brute")
    world.add_spheres([0, 5, 0])
    studio.open(WorldView(world))
    say(studio, {"t": 0.5})
    assert studio.said == []  # type: ignore[attr-defined]
    say(studio, {"t": 7.0})
    until(lambda: studio.said, "the notification")  # type: ignore[attr-defined]
    assert studio.said == ["The run is at 1 s, after 30 steps; press Play to go on to 7 s."]  # type: ignore[attr-defined]


def test_an_address_opens_what_the_chooser_lists_and_no_file(studio: Studio, tmp_path: Path) -> None:
    say(studio, {"open": "scene/cradle"})
    until(lambda: studio.view is not None and studio.view.title == "cradle", "the scene")
    before = studio.view
    say(studio, {"open": "scene/cradle"})
    assert studio.view is before  # shown already, in all tabs
    secret = tmp_path / "secret.toml"
    secret.write_text("name = 'alice'")
    for name in (f"scene/{secret}", "scene/../../secret", "nothing/cradle", "scene/"):
        say(studio, {"open": name})
    assert studio.view is before
    say(studio, {"open": "scene/cradel"})
    assert len(studio.said) == 5  # type: ignore[attr-defined]
    assert "'scene/cradel'. Did you mean 'scene/cradle'? The nearest of" in studio.said[-1]  # type: ignore[attr-defined]


def test_a_dropped_file_is_opened(studio: Studio) -> None:
    content = array_file()
    answer = say(studio, {"file": "../../my boxes.npy", "size": len(content)}, content[:100], content[100:])
    assert answer == "Opening _.._my_boxes.npy …"
    view = until(lambda: isinstance(studio.view, BoxesView) and studio.view, "the boxes")
    assert len(view.cast()) == 5
    folder = studio._links._folder
    assert folder is not None
    assert [path.name for path in folder.iterdir()] == ["_.._my_boxes.npy"]
    studio._links.clear()
    assert not folder.exists()


@pytest.mark.parametrize(
    ("messages", "sentence"),
    [
        ([{"file": "a.exe", "size": 3}, b"abc"], "a.exe cannot be dropped; files may end in .npy"),
        ([{"file": "scene.gltf", "size": 3}, b"abc"], "scene.gltf cannot be dropped"),
        ([{"file": "a.npy", "size": MAX_FILE_BYTES + 1}], "files of up to 64 MiB can be dropped"),
        ([{"file": "a.npy", "size": "many"}], "has 'many' bytes"),
        ([{"file": "a.npy", "size": 3}, b"abcd"], "is not what was announced"),
        ([{"file": "a.npy", "size": 3}, {"t": 1}], "is not what was announced"),
        ([b"\x00"], "could not be read"),
        (["[" * 1900], "could not be read"),
    ],
)
def test_files_and_words_that_are_refused(studio: Studio, messages: list[Any], sentence: str) -> None:
    before = studio.view
    assert sentence in say(studio, *messages)
    assert studio.view is before
    assert not studio._links._is_receiving


def test_a_dropped_file_that_cannot_be_read_is_a_sentence_without_its_folder(studio: Studio) -> None:
    say(studio, {"file": "broken.npy", "size": 6}, b"\x93NUMPY")
    until(lambda: studio.said, "the sentence")  # type: ignore[attr-defined]
    assert "broken.npy" in studio.said[0]  # type: ignore[attr-defined]
    assert "choque-dropped" not in studio.said[0]  # type: ignore[attr-defined]


def test_a_tab_that_stalls_does_not_stop_others(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links_module, "STALLED", 0.3)
    assert "Nothing came for a while" in say(studio, {"file": "a.npy", "size": 3}, b"a")
    content = array_file(7)
    say(studio, {"file": "a.npy", "size": len(content)}, content)
    view = until(lambda: isinstance(studio.view, BoxesView) and studio.view, "the boxes")
    assert len(view.cast()) == 7


def test_thumbnails_show_what_they_name(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = gallery()
    assert shown.count("<img") == len(START) + sum(len(ENTRIES.find(kind).things()) for kind in PICTURED)
    assert shown.count('alt=""') == 0
    for path in ("scene/bowling", "generator/pile", "boxes/uniform", "kinetic/three-objects"):
        image = pixels(drawn(*path.split("/")))
        assert image.shape == (117, 208, 3)
        assert image.std() > 5.0
        coming = pixels(thumbnail(f"thumbnails/{path}"))  # with the package: what is drawn today, but for packing
        assert np.abs(coming.astype(int) - image).mean() < 12.0, "run docs/images/thumbnails.py"
    with pytest.raises(UnknownName, match=r"called 'scene/\.\./\.\./secret'.* The nearest of"):
        thumbnail("thumbnails/scene/../../secret")
    monkeypatch.setattr(thumbnails, "shipped", dict)
    monkeypatch.setattr(thumbnails, "drawn", lambda kind, name: f"{kind}/{name}".encode())
    assert thumbnail("thumbnails/boxes/uniform") == b"boxes/uniform"  # of another package, drawn when it is asked for


def test_a_first_page_has_the_thumbnails_that_it_begins_with_without_drawing() -> None:
    assert {f"{kind}/{name}" for kind, name in START} <= set(thumbnails.shipped())
    assert all(name.partition("/")[0] in PICTURED for name in thumbnails.shipped())


def test_a_picture_of_the_chooser_and_a_dropped_file_open_their_views(watched: Watched) -> None:
    watched.show(None)
    watched.page.locator('a[href="#open=scene/cradle"]').dispatch_event("click")
    watched.page.evaluate("location.hash = 'open=scene/cradle'")
    until(lambda: watched.studio.view is not None and watched.studio.view.title == "cradle", "the scene")
    watched.page.evaluate("location.hash = 't=0.25'")
    view = watched.studio.view
    assert isinstance(view, WorldView)
    until(lambda: hasattr(view, "run") and view.run.world.time == pytest.approx(0.25, abs=0.01), "the moment")
    watched.page.evaluate(
        """bytes => {
            const moved = new DataTransfer();
            moved.items.add(new File([new Uint8Array(bytes)], "few boxes.npy"));
            dispatchEvent(new DragEvent("drop", { dataTransfer: moved, cancelable: true }));
        }""",
        list(array_file(4)),
    )
    found = until(lambda: isinstance(watched.studio.view, BoxesView) and watched.studio.view, "the dropped boxes")
    assert len(found.cast()) == 4
    watched.page.evaluate("location.hash = ''")
    time.sleep(0.1)


def test_an_address_with_a_scene_and_a_moment_opens_in_a_new_tab_and_reloads(watched: Watched) -> None:
    watched.show(None)
    tab = watched.new_tab("#open=scene/cradle&t=0.25")
    run = until(lambda: getattr(watched.studio.view, "run", None), "the scene")
    until(lambda: run.world.time == pytest.approx(0.25, abs=0.01), "the moment")
    tab.reload()
    tab.get_by_role("button", name="Play").wait_for()
    assert "#" not in tab.url
    tab.close()
    until(lambda: len(watched.studio.server.get_clients()) == 1, "the tab to leave")


def test_overlays_fade_with_distance() -> None:
    lines = np.array([[[0, 0, 0], [0, 0, 0]], [[0, 0, -20], [0, 0, -20]]], np.float32)
    options = Options(eye=np.array([0.0, 0.0, 10.0]))
    near, far = faded(Drawing(lines), (220, 0, 220), options).colors[:, 0].tolist()  # type: ignore[index]
    assert near == [220, 0, 220]
    assert np.abs(np.subtract(far, HORIZON)).max() < 40
