"""Worlds and recordings in the studio, without a browser: effects of the controls on a run and a replay."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("viser", reason="viser, of the extra 'view', is not installed")

from choque import broad, scene
from choque.errors import InvalidInput
from choque.record import Recorder, Recording
from choque.record import open as open_frames
from choque.studio.page.document import page
from choque.studio.page.recording import RecordingView
from choque.studio.page.stage import FRAMES_A_SECOND
from choque.studio.page.studio import Studio
from choque.studio.page.world import DEFAULT_BOUNDS, WorldView
from choque.studio.run import Run
from choque.theses.fingsics.scene_dat import write_scene_dat
from choque.world import World


def until(condition: Callable[[], object], seconds: float = 300.0) -> bool:
    """Wait for something to become true."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def made() -> World:
    return scene.bodies("mixed-box", 60, seed=4).world(broad="sap-incremental")


@pytest.fixture
def studio(shared_studio: Studio) -> Studio:
    return shared_studio


@pytest.fixture
def world_view(studio: Studio) -> WorldView:
    view = WorldView(scene.bodies("mixed-box", 60, seed=4), broad="sap-incremental")
    studio.open(view)
    studio.ask(lambda: None)
    return view


def test_it_starts_paused_and_plays_on_command(studio: Studio, world_view: WorldView) -> None:
    """F-001-32, F-001-46."""
    time.sleep(0.1)
    assert world_view.run.frame == 0
    studio.ask(world_view.toggle)
    assert until(lambda: world_view.run.frame > 3)
    studio.ask(world_view.toggle)
    frame = world_view.run.frame
    time.sleep(0.1)
    assert world_view.run.frame == frame


def test_steps_of_a_pause_do_not_delay_the_first_picture_of_play(studio: Studio, world_view: WorldView) -> None:
    for _ in range(20):
        studio.ask(world_view.step)  # each is drawn at once
    studio.ask(lambda: None)
    assert world_view._picture_due <= world_view._drawn + 1 / FRAMES_A_SECOND


def test_showing_a_run_does_not_change_it(studio: Studio, world_view: WorldView) -> None:
    """All overlays and colours on, methods switched in between: the same hash as without a studio."""
    alone = made()
    for name in list(world_view.overlays.line_counts) or ("boxes", "slabs", "areas", "structure", "pairs", "contacts"):
        studio.ask(lambda name=name: world_view.toggle_overlay(name))  # type: ignore[misc]
    studio.ask(lambda: world_view.set_coloring("candidates"))
    for number, method in enumerate(("grid", "bvh", "sap-obb", "auto")):
        studio.ask(lambda method=method: world_view.switch(broad=method))  # type: ignore[misc]
        alone.switch(method)
        for _ in range(5):
            studio.ask(world_view.step)
            alone.step()
        assert world_view.run.world.hash() == alone.hash(), number
        assert world_view.run.world.settings.broad == method


def test_a_refused_method_leaves_the_page_unchanged(studio: Studio, world_view: WorldView) -> None:
    with pytest.raises(InvalidInput):
        studio.ask(lambda: world_view.switch(broad="no-such"))
    assert world_view.run.world.settings.broad == "sap-incremental"
    assert world_view._choices["broad"].value == "sap-incremental"


def test_reset_restores_everything(studio: Studio, world_view: WorldView) -> None:
    start = world_view.run.world.hash()
    studio.ask(lambda: world_view.switch(broad="bvh", bounds="sphere"))
    for _ in range(3):
        studio.ask(world_view.step)
    studio.ask(world_view.reset)
    assert world_view.run.world.hash() == start
    assert world_view._choices["broad"].value == "sap-incremental"
    assert world_view._choices["bounds"].value == DEFAULT_BOUNDS
    assert world_view.events.began_count == 0


def test_the_run_pauses_at_the_last_frame(studio: Studio, world_view: WorldView) -> None:
    studio.ask(lambda: world_view.set_last_frame(6))
    studio.ask(lambda: world_view.set_speed("as fast as it goes"))
    studio.ask(world_view.play)
    assert until(lambda: not world_view.run.playing)
    assert world_view.run.frame == 6
    for action in (world_view.step, world_view.play):
        with pytest.raises(InvalidInput, match="last frame, 6, is reached"):
            studio.ask(action)
    studio.ask(lambda: world_view.set_last_frame(0))
    studio.ask(world_view.step)
    assert world_view.run.frame == 7


def test_the_last_frame_is_one_of_a_world_that_has_run_before(studio: Studio) -> None:
    world = World()
    world.add_spheres([0, 0, 0])
    for _ in range(5):
        world.step()
    run = Run(world)
    run.step(2)
    view = WorldView(run)
    studio.open(view)
    studio.ask(lambda: view.set_last_frame(8))
    studio.ask(view.step)
    assert view.run.frame == 8
    with pytest.raises(InvalidInput, match="The last frame, 8, is reached"):
        studio.ask(view.step)
    with pytest.raises(InvalidInput, match="this run begins at frame 5"):
        studio.ask(lambda: view.set_last_frame(3))


def test_slow_motion_makes_steps_a_third_as_long(studio: Studio, world_view: WorldView) -> None:
    studio.ask(world_view.toggle_slow_motion)
    studio.ask(world_view.step)
    assert world_view.run.time == pytest.approx(world_view.run.dt / 3)


def test_events_are_the_changes_of_the_set_of_contacts(studio: Studio, world_view: WorldView) -> None:
    """F-002-40: differential against sets, step by step."""
    alone = made()
    before: set[tuple[int, int]] = set()
    began = ended = 0
    for _ in range(40):
        studio.ask(world_view.step)
        alone.step()
        now = {(int(a), int(b)) for a, b in alone.contacts().pairs}
        began, ended, before = began + len(now - before), ended + len(before - now), now
    assert began > 0
    assert (world_view.events.began_count, world_view.events.ended_count) == (began, ended)
    assert "began" in world_view.events.html()


def test_a_second_method_is_compared_and_a_difference_is_red(studio: Studio, world_view: WorldView) -> None:
    studio.ask(lambda: world_view.compare("bvh"))
    for _ in range(3):
        studio.ask(world_view.step)
    studio.ask(world_view._update_panels)
    assert "The same pairs" in world_view._second_text.content
    studio.ask(lambda: world_view.compare("all"))
    studio.ask(world_view.step)
    studio.ask(world_view._update_panels)
    assert "Pairs differ since frame 3" in world_view._second_text.content
    assert "#ff5c5c" in world_view._second_text.content
    for _ in range(2):
        studio.ask(world_view.step)
    assert world_view.second.first_difference is not None
    assert world_view.second.first_difference.frame == 3
    studio.ask(lambda: world_view.compare("none"))
    studio.ask(world_view.step)
    assert world_view.run.comparison is None


def test_the_cost_model_of_sap_obb_is_shown(studio: Studio, world_view: WorldView) -> None:
    studio.ask(lambda: world_view.switch(broad="sap-obb"))
    for _ in range(30):
        studio.ask(world_view.step)
    studio.ask(world_view._update_panels)
    cost = world_view.cost.total
    assert cost.has_filter
    assert f"{cost.ratio:.2f}" in world_view._cost_text.content


def test_every_broad_phase_can_be_chosen_and_drawn(studio: Studio, world_view: WorldView) -> None:
    for name in ("structure", "sweep", "pairs"):
        studio.ask(lambda name=name: world_view.toggle_overlay(name))  # type: ignore[misc]
    for _ in range(30):
        studio.ask(world_view.step)
    for method in broad.names():
        studio.ask(lambda method=method: world_view.switch(broad=method))  # type: ignore[misc]
        studio.ask(world_view.step)
        studio.ask(world_view.present)
        findings, counts = studio.ask(world_view.look), world_view.overlays.line_counts
        assert findings.method == world_view.run.world.settings.broad == method
        assert counts["pairs"] == len(findings.detected.pairs) > 0
        assert counts["structure"] + counts["sweep"] > 0 or "neither cells" in world_view.overlays.notes["structure"]


def test_a_body_is_selected_by_a_ray_or_its_id(studio: Studio, world_view: WorldView) -> None:
    bodies = world_view.run.world.bodies
    row = int(np.flatnonzero(bodies.drawn & ~bodies.static)[5])
    target = bodies.position[row].astype(float)
    start = target + np.array([0, 0, 0.61])
    studio.ask(lambda: world_view._pick_on_ray(start, np.array([0, 0, -1.0])))
    assert world_view.picked == bodies.ids[row]
    studio.ask(world_view._update_panels)
    assert f"Body {bodies.ids[row]}" in world_view._body_text.content
    assert world_view._pick_number.value == bodies.ids[row]
    with pytest.raises(InvalidInput, match="no body 9999"):
        studio.ask(lambda: world_view.pick(9999))
    studio.ask(lambda: world_view.pick(None))
    assert world_view.picked is None


def test_bodies_that_a_program_removes_beside_the_page_are_no_longer_looked_for(studio: Studio) -> None:
    world = World()
    world.add_spheres([[0, 0, 0], [3, 0, 0], [6, 0, 0]])
    view = WorldView(world)
    studio.open(view)
    studio.ask(lambda: view.pick(2))
    studio.ask(lambda: world.remove([2]))
    studio.ask(view.present)
    assert len(view.look().bodies) == len(view.cast()) == 2
    assert "Click a body" in view._about_picked()
    studio.ask(lambda: world.remove([0, 1]))
    with pytest.raises(InvalidInput, match=r"There is no body 1; there are no bodies\."):
        studio.ask(lambda: view.pick(1))


@pytest.mark.parametrize("place", [np.nan, 1e300])
@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
def test_a_body_that_cannot_be_drawn_is_named(tmp_path: Path, place: float) -> None:
    world = World()
    world.add_spheres([[0, 0, 0], [3, 0, 0]])
    world.bodies.position[1, 0] = place
    with pytest.raises(InvalidInput, match=r"Body 1 is at (nan|inf), 0\.000, 0\.000; a picture needs finite"):
        page(world, path=tmp_path / "world.html")


def test_only_active_overlays_have_notes(studio: Studio, world_view: WorldView) -> None:
    """An active overlay without lines says why."""
    for is_on in (True, False):
        studio.ask(lambda: world_view.toggle_overlay("structure"))
        studio.ask(world_view.present)
        studio.ask(world_view.update_notes)
        assert ("neither cells nor a tree" in world_view._overlay_notes.content) is is_on
        assert ("structure" in world_view.overlays.notes) is is_on


def test_times_are_shown_after_the_first_step(studio: Studio, world_view: WorldView) -> None:
    assert " ms, sending " not in world_view._status.content
    studio.ask(world_view.step)
    studio.ask(world_view._update_panels)
    assert " ms, sending " in world_view._status.content


def test_only_what_changed_is_sent(studio: Studio, world_view: WorldView) -> None:
    """A paused world sends nothing; a step sends the poses of what moves, no walls, no colours, no turns of spheres."""
    studio.ask(lambda: world_view.set_coloring("scene"))
    for _ in range(30):  # until some capsules turn
        studio.ask(world_view.step)
    studio.ask(world_view.present)
    sent: list[tuple[str, str]] = []
    for part, handle in world_view.bodies_layer.parts:
        kind = ("wall" if world_view.cast().static[part.rows[0]] else "body") + ("" if part.turns else " round")
        handle.__dict__["_queue_update"] = lambda name, value, kind=kind: sent.append((kind, name))  # noqa: ARG005
    studio.ask(world_view.present)
    assert sent == []
    studio.ask(world_view.step)
    studio.ask(world_view.present)
    assert {kind for kind, _ in sent} == {"body", "body round"}
    assert {name for kind, name in sent if kind == "body round"} == {"batched_positions"}
    assert {name for kind, name in sent if kind == "body"} == {"batched_positions", "batched_wxyzs"}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording of 130 frames in chunks."""
    path = tmp_path_factory.mktemp("recorded") / "box.choque"
    world = made()
    with Recorder(path, world, scene="box") as recorder:
        for _ in range(129):
            world.step()
            recorder.record()
    return path


@pytest.fixture
def recording_view(studio: Studio, recorded: Path) -> RecordingView:
    view = RecordingView(Recording(recorded))
    studio.open(view)
    studio.ask(lambda: None)
    return view


def test_seeks_by_the_keys_of_the_fingsics_engine(studio: Studio, recording_view: RecordingView) -> None:
    """F-001-33, F-001-34: by 1, 60 and 600, clamped, and what is shown is what was recorded."""
    shown = [recording_view.replay.frame]
    for by in (60, 1, 600, -60, -1, -600):
        studio.ask(lambda by=by: recording_view.seek(by))  # type: ignore[misc]
        shown.append(recording_view.replay.frame)
    assert shown == [0, 60, 61, 129, 69, 68, 0]
    studio.ask(lambda: recording_view.seek_to(77))
    studio.ask(recording_view._update_panels)
    assert recording_view.timeline.frame == 77
    sent = {
        row: place
        for part, handle in recording_view.bodies_layer.parts
        for row, place in zip(part.rows, handle.batched_positions, strict=True)
    }
    expected = Recording(recording_view.replay.frames.path).frame(77).position  # type: ignore[attr-defined]
    for row, place in sent.items():
        np.testing.assert_array_equal(place, expected[row])


def test_it_plays_in_both_directions_and_stops_at_the_ends(studio: Studio, recording_view: RecordingView) -> None:
    studio.ask(lambda: recording_view.set_speed("16"))
    studio.ask(recording_view.toggle)
    assert until(lambda: recording_view.replay.frame == 129 and not recording_view.replay.playing)
    studio.ask(lambda: recording_view.set_speed("-16"))
    studio.ask(recording_view.toggle)
    assert until(lambda: recording_view.replay.frame == 0 and not recording_view.replay.playing)


def test_a_moment_beyond_the_end_is_the_last_frame(studio: Studio, recording_view: RecordingView) -> None:
    for seconds, frame in ((0.5, 30), (1e308, 129), (0.0, 0)):
        studio.ask(lambda: recording_view.seek_time(seconds))  # noqa: B023
        assert recording_view.replay.frame == frame


def test_overlays_are_those_of_the_current_frame(studio: Studio, recording_view: RecordingView) -> None:
    """Candidates of frame 50 are those that a world in that state finds, poses being rounded to float32."""
    studio.ask(lambda: recording_view.seek_to(50))
    studio.ask(lambda: recording_view.switch(broad="bvh"))
    found = studio.ask(lambda: recording_view.look().detected.pairs)
    world = made()
    for _ in range(50):
        world.step()
    boxes = world.shadow("brute").find(world.bodies)
    assert len({tuple(pair) for pair in found.tolist()} ^ {tuple(pair) for pair in boxes.pairs.tolist()}) <= 1
    assert len(found) > 0
    speed = studio.ask(lambda: recording_view.look().speed)
    near = np.isclose(speed, np.linalg.norm(world.bodies.velocity, axis=1), rtol=0.01, atol=0.01)
    assert near.mean() > 0.8  # all but those that meet another within the frame


def test_a_verification_names_the_frame_to_jump_to(
    studio: Studio, recorded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A recording that repeats says so; in one whose hashes were changed the first such frame is jumped to."""
    view = RecordingView(Recording(recorded))
    studio.open(view)
    with pytest.raises(InvalidInput, match="Verify the recording first"):
        studio.ask(view.jump_to_difference)
    studio.ask(view.verify)
    assert until(lambda: "equal to the last bit" in view.verdict)
    honest = Recording.hashes

    def changed(self: Recording) -> np.ndarray:
        found = honest(self).copy()
        found[90:] ^= np.uint64(1)
        return found

    monkeypatch.setattr(Recording, "hashes", changed)
    studio.ask(view.verify)
    assert until(lambda: view.first_difference == 90)
    studio.ask(view.jump_to_difference)
    assert view.replay.frame == 90


def test_a_truncated_recording_is_shown_up_to_its_last_frame(studio: Studio, recorded: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.choque"
    whole = recorded.read_bytes()
    cut.write_bytes(whole[: len(whole) * 2 // 3])
    view = RecordingView(Recording(cut))
    studio.open(view)
    studio.ask(lambda: view.seek(600))
    studio.ask(view._update_panels)
    assert 0 < view.replay.frame < 129
    assert "truncated" in view._status.content


def test_recordings_of_the_fingsics_engine_are_shown(studio: Studio, recorded: Path, tmp_path: Path) -> None:
    path = tmp_path / "scene.dat"
    write_scene_dat(path, Recording(recorded))
    view = RecordingView(open_frames(path))  # type: ignore[arg-type]
    studio.open(view)
    studio.ask(lambda: view.seek_to(100))
    studio.ask(lambda: view.toggle_overlay("boxes"))
    studio.ask(view.present)
    assert view.overlays.line_counts["boxes"] > 0
    with pytest.raises(InvalidInput, match="holds poses only"):
        studio.ask(view.verify)


def test_no_picture_is_sent_while_all_bodies_sleep(studio: Studio) -> None:
    world = World("brute", gravity=(0, -9.81, 0))
    world.add_spheres([[0, 0.5, 0]], 0.5)
    world.add_ground()
    view = WorldView(world)
    studio.open(view)
    studio.ask(lambda: [view.history.step() for _ in range(120)])
    assert view.run.world.asleep.any()
    pictures, present = [], view.present
    view.present = lambda: (pictures.append(view.run.frame), present())  # type: ignore[method-assign,assignment]
    studio.ask(lambda: view.set_speed("as fast as it goes"))
    studio.ask(view.play)
    assert until(lambda: view.run.frame > 200)
    studio.ask(view.pause)
    assert len(pictures) < 10
    drawn = len(pictures)
    studio.ask(lambda: view.pick(0))
    assert until(lambda: len(pictures) > drawn)
