"""The motion view in a studio and in a real browser: events, frames, playing, what is shown (F-000-37)."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("viser", reason="viser, of the extra 'view', is not installed")

from view_browser import Watched, until, until_seen

from choque.errors import InvalidInput, UnknownName
from choque.studio.motion.entry import KINETIC, open_motion
from choque.studio.motion.view import MotionView
from choque.studio.page.studio import Studio
from choque.studio.viewpoint import Viewpoint
from choque.theses.kinetic import scenes


@pytest.fixture
def opened(shared_studio: Studio) -> tuple[Studio, MotionView]:
    view = open_motion(["three-objects"], {})
    shared_studio.open(view)
    shared_studio.ask(lambda: None)
    return shared_studio, view


def test_actions_move_the_player_and_the_panels_follow(opened: tuple[Studio, MotionView]) -> None:
    studio, view = opened
    for _ in range(3):
        studio.ask(view.next_event)
    assert studio.ask(lambda: view.player.time) == pytest.approx(2 / 3)
    studio.ask(view.tick)
    assert "pair 0-1 began" in view._why.content
    studio.ask(view.previous_event)
    assert studio.ask(lambda: view.player.time) == pytest.approx(0.6)
    studio.ask(lambda: view.to_frame(150))
    studio.ask(view.tick)
    assert view._slider.value == pytest.approx(1.5)
    assert view._frame.value == 150
    studio.ask(lambda: view._frame_button("◀ before"))
    assert studio.ask(lambda: view.player.frame) == 149


def test_playing_goes_on_to_the_end_and_then_rests(opened: tuple[Studio, MotionView]) -> None:
    studio, view = opened
    studio.ask(lambda: view.set_speed(4.0))
    studio.ask(lambda: view.player.seek(9.5))
    studio.ask(view.toggle)
    until(lambda: studio.ask(lambda: not view.is_playing), "the end of playing")
    assert view.player.time == 10.0
    studio.ask(view.toggle)  # from the end: again from the start
    assert studio.ask(lambda: view.player.time) < 9.0
    studio.ask(view.toggle)
    assert studio.ask(view.tick) is None


def test_playing_event_by_event_stops_at_every_event(opened: tuple[Studio, MotionView]) -> None:
    studio, view = opened
    studio.ask(lambda: view._choose_play("event by event"))
    studio.ask(lambda: view.set_speed(4.0))
    seen: set[float] = set()
    studio.ask(view.toggle)

    def collect() -> bool:
        seen.add(studio.ask(lambda: view.player.time))
        return len(seen) >= 4

    until(collect, "playing four events")
    assert {round(time, 6) for time in seen} <= {0.0, 0.5, 0.6, round(2 / 3, 6), 0.8, round(5 / 6, 6), 1.0}


def test_the_chooser_knows_the_scenes_and_bad_input_is_a_sentence() -> None:
    entry = KINETIC
    assert set(entry.things()) == set(scenes.SCENES)
    assert entry.parameters is not None
    assert entry.parameters("random-shapes")["n"] == 100
    assert len(entry.open(["random-shapes"], {"n": 7}).player.model) == 7  # type: ignore[attr-defined]
    with pytest.raises(UnknownName, match="three-objects"):
        open_motion(["three-object"], {})
    with pytest.raises(UnknownName, match="parameter"):
        open_motion(["three-objects"], {"size": 3})
    with pytest.raises(InvalidInput, match="one scene"):
        open_motion(["three-objects", "random-shapes"], {})


def test_in_a_browser_events_are_stepped_and_shown(watched: Watched) -> None:
    """F-000-37."""
    studio, page = watched.studio, watched.page
    view = watched.show(open_motion(["three-objects"], {}))
    page.get_by_text("Queue of events").wait_for()
    before = watched.still()
    for count in range(1, 4):
        watched.press("k")
        until(lambda count=count: studio.ask(lambda: view.player.sweep.counters.events) == count, "the event")
    assert view.player.time == pytest.approx(2 / 3)
    page.get_by_text("pair 0-1 began").wait_for()
    until(watched.differs(before), "a change of the picture")
    watched.press("j")
    until(lambda: studio.ask(lambda: view.player.time) == pytest.approx(0.6), "the step back")
    watched.tick_box("Boxes")
    until(lambda: not view.shown["boxes"], "hiding the boxes")

    def write_frame() -> None:
        field = page.get_by_label("Frame", exact=True).locator("visible=true").first
        field.fill("400")
        field.press("Enter")

    until_seen(write_frame, lambda: studio.ask(lambda: view.player.time) == pytest.approx(4.0), "frame 400")
    page.keyboard.press("Tab")
    page.get_by_role("button", name="Play", exact=True).dispatch_event("click")
    until(lambda: studio.ask(lambda: view.player.time) > 4.2, "playing")
    page.get_by_role("button", name="Pause", exact=True).dispatch_event("click")
    until(lambda: not view.is_playing, "the pause")
    name, image = watched.saved_picture()
    assert (name, image.shape) == ("choque-motion.png", (720, 1280, 3))


def test_a_picture_shows_the_part_of_the_plane_that_the_camera_sees(opened: tuple[Studio, MotionView]) -> None:
    studio, view = opened
    (left, right), (bottom, top) = view.player.model.frame
    middle = np.array([(left + right) / 2, (bottom + top) / 2, 0.0])
    whole = studio.picture()
    seen = [studio.picture(Viewpoint(middle + [0.0, 0.0, height], middle)) for height in (view._distance(1.0), 1.0)]
    assert len({whole, *seen}) == 3
