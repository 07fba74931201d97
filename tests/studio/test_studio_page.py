"""Worlds and recordings in a real browser: actions reach the server, and their effects are visible."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("viser", reason="viser, of the extra 'view', is not installed")

from view_browser import PATIENCE, SCENE, Chromium, Watched, is_local, pixels, until, until_seen

from choque import scene
from choque.record import Recorder, Recording
from choque.studio.page.chooser import Chooser
from choque.studio.page.overlays import OVERLAYS
from choque.studio.page.recording import RecordingView
from choque.studio.page.studio import Studio
from choque.studio.page.world import WorldView
from choque.world import World

NUMBERS = count(1)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recorded") / "drop.choque"
    world = scene.find_bodies("one-of-each").world()
    with Recorder(path, world, scene="drop") as recorder:
        for _ in range(100):
            world.step()
            recorder.record()
    return path


def spheres() -> WorldView:
    """Three rows of spheres, two of which touch, and a capsule."""

    world = World("bvh")
    place = np.array([[x, y, 0.0] for x in (-2.2, 0, 2.2) for y in (-2.2, 0, 2.2)])
    place[0, 0] += 0.5
    place[3, 0] -= 0.5
    world.add_spheres(place, 1.0, color=(90, 140, 220), velocity=(0, 0.4, 0))
    world.add_capsules([[0, 4.5, 0]], 0.6, 1.5)
    view = WorldView(world)
    view.title = f"Spheres, number {next(NUMBERS)}"  # so that a test sees that the page has changed
    return view


def test_choosing_a_scene_opens_it_paused(watched: Watched) -> None:
    """F-001-32: the chooser, its description, and the page of a world."""
    watched.show(None)
    watched.tab("Open")
    watched.choose("Which", "cradle")
    chooser = watched.studio.view
    assert isinstance(chooser, Chooser)
    until(lambda: chooser.forms["scene"].thing == "cradle", "the choice")
    watched.page.get_by_role("button", name="Open").first.click()
    until(lambda: isinstance(watched.studio.view, WorldView), "the world")
    view = watched.studio.view
    assert isinstance(view, WorldView)
    watched.studio.ask(lambda: None)
    assert view.title == "cradle"
    assert not view.run.playing


def test_playing_moves_pixels_and_pausing_holds_them(watched: Watched) -> None:
    """F-001-46: P and Space, and the button; what moves is seen to move."""
    view = watched.show(spheres())
    still = watched.still()
    watched.press("p")
    until(lambda: view.run.frame > 20, "frames")
    until(watched.differs(still), "pixels that change")
    watched.press(" ")
    until(lambda: not view.run.playing, "the pause")
    frame = view.run.frame
    watched.page.get_by_role("button", name="Play").click()
    until(lambda: view.run.frame > frame, "more frames")
    watched.page.get_by_role("button", name="Pause").click()
    until(lambda: not view.run.playing, "the pause")
    watched.press("m")
    until(lambda: view.run.slow_motion, "slow motion")


def test_a_method_is_switched_on_the_page(watched: Watched) -> None:
    view = watched.show(spheres())
    watched.tab("Methods")
    watched.choose("Broad phase", "grid")
    until(lambda: view.run.world.settings.broad == "grid", "the other method")
    watched.choose("Compare with", "sap-direct")
    until(lambda: view.run.shadow is not None, "the second method")
    watched.press("f")
    watched.page.get_by_text("The same pairs in every frame").wait_for()


def test_every_overlay_has_a_key_and_is_visible(watched: Watched) -> None:
    """F-001-43, F-002-39, F-004-36: I, O and the others; on adds lines to the picture."""
    view = watched.show(spheres())
    for name, overlay in OVERLAYS.items():
        method = "sap-direct" if name == "sweep" else "bvh"
        watched.studio.ask(lambda method=method: view.switch(broad=method))  # type: ignore[misc]
        without = watched.still()
        watched.press(overlay.key.lower())
        until(lambda name=name: view.overlays.line_counts.get(name, 0) > 0, f"the lines of {name}")  # type: ignore[misc]
        until(watched.differs(without), f"pixels of {name}")
        lines = watched.still()
        watched.press(overlay.key.lower())
        until(lambda name=name: name not in view.overlays.line_counts, f"the end of {name}")  # type: ignore[misc]
        until(watched.differs(lines), f"the picture without {name}")


def test_bodies_turn_from_blue_to_orange_on_contact(watched: Watched) -> None:
    view = watched.show(spheres())
    watched.tab("Show")
    watched.choose("Colour by", "contact")
    until(lambda: view.coloring == "contact", "the colouring")

    def has_both() -> bool:
        red, _, blue = np.moveaxis(watched.picture().astype(int), 2, 0)[:3]
        return bool(((red > 2 * blue) & (red > 100)).sum() > 200 and ((blue > 1.4 * red) & (blue > 60)).sum() > 200)

    until(has_both, "blue and orange bodies")


def test_a_click_selects_the_body_under_the_mouse(watched: Watched) -> None:
    view = watched.show(spheres())
    watched.still()
    body = 4
    until_seen(
        lambda: watched.page.mouse.click(*watched.pixel_of(view.run.world.bodies.position[body], up=(0.0, 1.0, 0.0))),
        lambda: view.picked == body,
        "the pick",
    )
    watched.tab("Body")
    watched.page.get_by_text(f"Body {body}", exact=True).wait_for()


def test_cameras_are_centred_or_free(watched: Watched) -> None:
    """F-001-42."""
    view = watched.show(spheres())
    assert view.cameras.is_centred
    watched.press("c")
    until(lambda: not view.cameras.is_centred, "a free camera")
    watched.press("c")
    until(lambda: view.cameras.is_centred, "a centred camera")


def test_keys_are_listed_on_the_page(watched: Watched) -> None:
    watched.show(spheres())
    watched.tab("Keys")
    for words in ("Play or pause", "Slow motion", "Centred or free camera", "Boxes along the axes"):
        watched.page.get_by_text(words).locator("visible=true").first.wait_for()


def test_a_recording_is_scrubbed(watched: Watched, recorded: Path) -> None:
    """F-001-33, F-001-34: any frame, the keys of the Fingsics engine, and pixels that follow."""
    view = watched.show(RecordingView(Recording(recorded)))
    first = watched.still()
    watched.studio.ask(lambda: view.seek_to(40))
    until(watched.differs(first), "another picture")
    for key, frame in (
        ("ArrowRight", 100),
        ("ArrowLeft", 40),
        ("f", 41),
        ("b", 40),
        ("ArrowDown", 100),
        ("ArrowUp", 0),
    ):
        watched.press(key)
        until(lambda frame=frame: view.replay.frame == frame, f"frame {frame}")  # type: ignore[misc]


def test_two_tabs_show_the_same_and_one_can_be_closed(watched: Watched) -> None:
    view = watched.show(spheres())
    other = watched.new_tab()
    other.get_by_role("button", name="Play").click()
    until(lambda: view.run.frame > 5, "frames")
    watched.page.get_by_role("button", name="Pause").wait_for()
    other.close()
    frame = view.run.frame
    until(lambda: view.run.frame > frame + 5, "frames after the tab was closed")
    until(lambda: len(watched.studio.server.get_clients()) == 1, "the tab to be gone")
    watched.studio.ask(view.pause)


def test_a_picture_is_saved_as_the_page_shows_it(watched: Watched, recorded: Path) -> None:
    """Of a world and of a recording: from the camera of the tab, with the colours and overlays that are on."""
    view = watched.show(spheres())
    watched.studio.ask(lambda: view.set_coloring("contact"))
    watched.studio.ask(lambda: view.toggle_overlay("boxes"))
    (client,) = watched.studio.server.get_clients().values()
    home = watched.studio.server.initial_camera

    def from_elsewhere() -> tuple[str, np.ndarray] | None:
        """Seen from half as far, as large as the page. It may still find its size and fit its camera: move it again."""
        client.camera.position = home.look_at + 0.5 * (home.position - home.look_at)
        client.camera.look_at = home.look_at
        name, near = watched.saved_picture()
        height, width = client.camera.image_height // 2 * 2, client.camera.image_width // 2 * 2
        if near.shape != (height, width, 3):
            return None
        far = pixels(watched.studio.picture(None, (width, height)))
        return (name, near) if (np.abs(near - far).max(axis=2) > 24).mean() > 0.1 else None

    name, near = until(from_elsewhere, "a picture from the camera of the tab")
    assert name == "choque-world.png"
    assert (near == OVERLAYS["boxes"].color).all(axis=2).sum() > 20
    red, green, _ = np.moveaxis(near, 2, 0)
    assert ((red > 2 * green) & (red > 90)).sum() > 200
    watched.show(RecordingView(Recording(recorded)))
    name, seen = watched.saved_picture()
    assert name == "choque-recording.png"
    assert seen.std() > 10


def test_what_is_saved_is_what_is_seen(watched: Watched) -> None:
    """Glow, sparks and shadows after a collision, compared in tiles of 20 pixels; then without shadows and ground."""
    world = World("brute", gravity=(0, -9.81, 0))
    world.add_boxes([[-0.9, 0.5, 0]], 1.0, velocity=(3, 0, 0), color=(60, 120, 220))
    world.add_spheres([[0.9, 0.6, 0]], 0.6, velocity=(-3, 0, 0), color=(70, 160, 90))
    world.add_ground()
    view = WorldView(world)
    view.title = f"A box and a ball, number {next(NUMBERS)}"
    watched.show(view)

    def collide() -> None:
        """Make steps until there are sparks, and draw each."""
        while not view.sparks() and view.run.frame < 60:
            view.history.step()
            view.present()

    watched.studio.ask(collide)
    assert view.sparks()

    def tiles(image: np.ndarray) -> np.ndarray:
        height, width = image.shape[0] // 20 * 20, image.shape[1] // 20 * 20
        return image[:height, :width].reshape(height // 20, 20, width // 20, 20, 3).mean(axis=(1, 3))

    def likeness() -> float:
        """The share of the tiles, between the notifications and the timeline, with the same colour."""
        seen = watched.still()[:200]
        top = SCENE["y"] - int(watched.page.locator("canvas").first.bounding_box()["y"])
        saved = watched.saved_picture()[1][top : top + len(seen)]
        width = min(seen.shape[1], saved.shape[1])
        apart = np.abs(tiles(seen[:, :width]) - tiles(saved[:, :width])).max(axis=2)
        return float((apart < 45).mean())

    def are_alike() -> bool:
        """Compare both pictures: if they differ, the page is still drawing, or its camera was reported too early."""
        watched.close_notifications()
        if likeness() > 0.9:
            return True
        watched.move_camera_again()
        return False

    until(are_alike, "the picture that is seen to be the one that is saved")
    watched.tab("Show")
    watched.tick_box("Shadows")
    watched.tick_box("Ground")
    until(lambda: not view.backdrop.has_ground and not view.backdrop.has_shadows, "the bodies alone")
    watched.tab("Run")
    until(are_alike, "both pictures without shadows and ground")


@pytest.fixture
def without_webgl(chromium: Chromium) -> Iterator[object]:
    browser = chromium.launch("--disable-gpu", "--disable-3d-apis")
    page = browser.new_page()
    page.set_default_timeout(1000 * PATIENCE)
    yield page
    browser.close()


def test_without_webgl_there_is_a_notice_and_a_picture(without_webgl, shared_studio: Studio) -> None:
    """A sentence with what to do, and a link to a picture of what is shown; viser's own is hidden, nothing leaves."""
    shared_studio.open(spheres())
    page, requests = without_webgl, []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(shared_studio.url)
    page.get_by_text("WebGL unavailable").wait_for(state="attached")
    assert page.get_by_text("WebGL unavailable").is_hidden()
    page.get_by_text("Switch on hardware acceleration").wait_for()
    link = page.get_by_role("link", name="a picture of the current view")
    assert link.get_attribute("href") == "picture.png"
    image = page.locator("#choque-without-webgl img")
    until(lambda: image.evaluate("image => image.naturalWidth") == 960, "the picture")
    assert all(is_local(url) for url in requests)


def test_with_webgl_there_is_no_notice(watched: Watched) -> None:
    watched.show(spheres())
    assert watched.page.locator("#choque-without-webgl").count() == 0
    until(lambda: not watched.page.get_by_text("Software WebGL").is_visible(), "the notice about software to go")


def test_a_view_without_a_picture_is_reported(shared_studio: Studio) -> None:
    import urllib.error
    import urllib.request

    shared_studio.open(None)
    with pytest.raises(urllib.error.HTTPError) as problem:
        urllib.request.urlopen(f"{shared_studio.url}picture.png")
    assert problem.value.code == 404
    assert "cannot be drawn" in problem.value.read().decode()
    problem.value.close()


def test_a_body_is_dragged_a_ball_is_shot_and_the_run_goes_back(watched: Watched) -> None:
    """The mouse on a body, the key B, and the timeline, by their effects on the run."""

    world = World("brute")
    world.add_spheres([[0, 0, 0]], 1.0, color=(90, 140, 220))
    view = WorldView(world)
    view.title = f"One ball, number {next(NUMBERS)}"
    watched.show(view)
    watched.still()
    box = watched.page.locator("canvas").first.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + 0.4 * box["height"]

    def drag() -> None:
        watched.page.mouse.move(x, y)
        watched.page.mouse.down()
        for step in range(1, 6):
            watched.page.mouse.move(x + 8 * step, y)
        watched.page.mouse.up()

    until_seen(drag, lambda: view.run.world.bodies.position[0, 0] > 0.1, "the body to move with the pointer")
    watched.press("b")
    until(lambda: len(view.run.world) == 2, "the ball")
    watched.press("f")
    watched.press("f")
    until(lambda: view.run.world.frame == 2, "two steps")

    def write_frame() -> None:
        watched.page.locator("input[value='2']:visible").first.focus()
        watched.page.locator("input:focus").fill("1")
        watched.page.keyboard.press("Enter")

    until_seen(write_frame, lambda: view.run.world.frame == 1, "the frame before")
    assert view.history.last == 2
