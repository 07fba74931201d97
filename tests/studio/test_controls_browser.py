"""Controls of the page in a real browser, by what they do to the run, the recording or the object that is shown."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("viser", reason="viser, of the extra 'view', is not installed")

from view_browser import Watched, until, until_seen

import choque
from choque.record import Recorder, Recording
from choque.studio.page.atoms import NeighborsView
from choque.studio.page.crowd import CrowdView
from choque.studio.page.recording import RecordingView
from choque.studio.page.surfaces import MeshesView
from choque.studio.page.world import WorldView
from choque.world import World


def rolling_and_falling() -> World:
    """A ball that slides on the ground, and one that falls on it."""
    world = World("brute", gravity=(0, -9.81, 0))
    world.add_spheres([[-3, 0.5, 0], [0, 0.6, 0]], 0.5, velocity=[[1, 0, 0], [0, 0, 0]], friction=0.6, restitution=0.0)
    world.add_ground()
    return world


def test_sliders_change_the_motion_of_the_bodies(watched: Watched) -> None:
    view = WorldView(rolling_and_falling())
    view.title = "Sliders"
    watched.show(view)
    bodies = view.run.world.bodies

    until_seen(lambda: watched.write("Gravity", 20), lambda: bodies.acceleration[1, 1] == -20.0, "gravity")
    until_seen(lambda: watched.write("Steps a second", 240), lambda: view.run.dt == pytest.approx(1 / 240), "the step")
    until_seen(lambda: watched.write("Restitution", 0.9), lambda: (bodies.restitution == 0.9).all(), "restitution")
    until_seen(lambda: watched.write("Friction", 0), lambda: (bodies.friction == 0.0).all(), "friction")
    watched.press("f")
    until(lambda: view.run.world.frame == 1, "a step")
    assert view.run.world.time == pytest.approx(1 / 240)
    assert bodies.velocity[1, 1] == pytest.approx(-20 / 240)

    def steps(count: int) -> float:
        """Return how fast the second ball flew up at most."""
        up = 0.0
        for _ in range(count):
            view.history.step()
            up = max(up, float(view.run.world.bodies.velocity[1, 1]))
        return up

    assert watched.studio.ask(lambda: steps(60)) > 1.0  # it came down with 2 units a second
    assert view.run.world.bodies.angular_velocity[0, 2] == pytest.approx(0.0, abs=1e-9)  # it slides
    until_seen(
        lambda: watched.write("Friction", 1), lambda: (view.run.world.bodies.friction == 1.0).all(), "more friction"
    )
    watched.studio.ask(lambda: steps(30))
    assert view.run.world.bodies.angular_velocity[0, 2] < -0.5  # it rolls


def test_a_frame_that_is_typed_into_the_timeline_is_shown(watched: Watched, tmp_path: Path) -> None:
    """Of a recording, and of a live run far from its beginning."""
    path = tmp_path / "run.choque"
    world = rolling_and_falling()
    with Recorder(path, world) as recorder:
        for _ in range(60):
            world.step()
            recorder.record()
    with Recording(path) as recording:
        view = watched.show(RecordingView(recording))
        until_seen(lambda: watched.write("Frame", 47), lambda: view.replay.frame == 47, "frame 47")
        until(lambda: view.timeline.frame == 47, "the timeline")
        assert view.page._bottom_width > 400.0  # though the scene is as large as that of the view before
        until(lambda: "#t=0.783" in view.timeline._marks.content, "the link to the moment")  # drawn after the frame
        live = WorldView(rolling_and_falling())
        live.title = "Live"
        watched.show(live)
        watched.studio.ask(lambda: [live.history.step() for _ in range(40)])
        watched.press("f")
        until(lambda: live.timeline.frame == 41, "the end")
        until_seen(lambda: watched.write("Frame", 33), lambda: live.run.world.frame == 33, "frame 33")
        shown = live.run.world.bodies.position
        np.testing.assert_allclose(shown, recording.frame(33).position, atol=1e-6)


def test_a_part_is_dragged_by_its_handles_until_it_meets_nothing(watched: Watched) -> None:
    flat = choque.Mesh([[-2, -2, 0], [2, -2, 0], [0, 3, 0]], [[0, 1, 2]])
    upright = choque.Mesh([[-0.5, 0, -1], [0.5, 0, -1], [0, 0, 1]], [[0, 1, 2]])
    view = watched.show(MeshesView([flat, upright], title="Two triangles"))
    until(lambda: len(view.hit_faces(0)) == 1, "what meets")
    watched.still()

    def drag() -> None:
        start, reach = np.array(view._handles.position), view._handles.scale
        grip, goal = (
            watched.pixel_of(start + [0.0, 0.0, 0.5 * reach + more], up=(0.0, 0.0, 1.0)) for more in (0.0, 2.0)
        )
        watched.drag(grip, goal)

    until_seen(drag, lambda: not len(view.hit_faces(0)), "the part to leave the other")
    assert view.poses[1][2, 3] > 1.0
    watched.press("Home")
    until(lambda: len(view.hit_faces(0)) == 1, "the start")


def test_areas_of_a_crowd_are_resized_given_and_taken(watched: Watched) -> None:
    areas = choque.interest.Areas([[0, 0], [1, 0], [4, 0]], radius=[2.0, None, None])
    view = watched.show(CrowdView(areas, title="Three bodies"))

    def owners() -> list[int]:
        """Ask in the thread of the studio: areas refuse a second thread while they change."""
        found: list[int] = watched.studio.ask(lambda: areas.owners.tolist())
        return found

    until_seen(
        lambda: watched.write("Radius", 5),
        lambda: watched.studio.ask(lambda: areas.members(0).tolist()) == [1, 2],
        "both members",
    )
    watched.studio.ask(lambda: view.pick(2))
    watched.page.get_by_role("button", name="Area of the selected body").click()
    until(lambda: owners() == [0, 2], "another area")
    watched.page.get_by_role("button", name="Area of the selected body").click()
    until(lambda: owners() == [0], "one area again")


def test_bodies_are_added_thrown_plotted_compared_and_removed(watched: Watched) -> None:
    """By the controls of the page and a real pointer, one after another on the same two balls."""
    world = World("brute")
    world.add_spheres([[0, 0, 0], [2.5, 0, 0]], 1.0)
    view = WorldView(world)
    view.title = "Two balls"
    watched.show(view)
    watched.still()

    watched.page.get_by_role("button", name="Add", exact=True).click()
    until(lambda: len(view.run.world) == 3, "another body")
    assert view.run.world.bodies.position[2, 1] > 0.5  # above the others

    def throw() -> None:
        """Play, drag the first ball to the left and let it go on the way.

        The spring that pulls it rests after half a second of the world: sooner than a busy page lets it go.
        """
        watched.studio.ask(view.reset)
        watched.studio.ask(lambda: view.set_speed("1/16"))
        watched.move_camera_again()
        grip = watched.pixel_of(np.zeros(3), up=(0.0, 1.0, 0.0))
        watched.studio.ask(view.play)
        watched.drag(grip, grip - [60.0, 0.0], speed)  # on a busy machine steps come later than movements
        until(lambda: not view.hands.is_busy, "the ball to be let go")  # what moves in a pause is not thrown
        watched.studio.ask(view.pause)

    def speed() -> float:
        return float(view.run.world.bodies.velocity[0, 0])

    until_seen(throw, lambda: speed() < -0.1, "the ball to fly to the left")
    thrown = speed()
    watched.studio.ask(lambda: [view.history.step() for _ in range(5)])
    assert speed() == pytest.approx(thrown, rel=0.2)  # it flies on without the hand

    watched.tab("Methods")
    watched.choose("Compare with", "grid")
    until(lambda: view.run.shadow is not None, "the second method")
    watched.press("f")
    until(lambda: "The same pairs in every frame" in view._second_text.content, "the comparison")
    assert "brute" in view._second_text.content
    assert "grid" in view._second_text.content

    watched.studio.ask(lambda: view.pick(0))
    assert watched.page.get_by_text("Pairs, tests, contacts").locator("visible=true").count() == 0  # folded at first
    watched.tab("Times")
    watched.choose("Plot", "selected: position x")
    until(lambda: view.plots.measure == "selected: position x", "the choice")  # until then values are of another one
    watched.press("f")
    until(lambda: len(view.plots.values), "the plot")
    frame, value = view.plots.values[-1]
    assert (frame, value) == (view.run.world.frame, view.run.world.bodies.position[0, 0])

    watched.tab("Run")
    watched.page.get_by_role("button", name="Remove", exact=True).click()
    until(lambda: view.run.world.bodies.ids.tolist() == [1], "one body less")


def test_the_cut_off_of_neighbours_changes_the_bonds(watched: Watched) -> None:
    line = choque.Neighbors(1.2)
    line.update([[0.0, 0, 0], [1.0, 0, 0], [2.5, 0, 0]])
    view = watched.show(NeighborsView(line, title="Three points"))

    def bonds() -> int:
        found: int = watched.studio.ask(lambda: len(view.lines()[0].ends))
        return found

    assert bonds() == 1
    until_seen(lambda: watched.write("Cut-off", 1.8), lambda: bonds() == 2, "another bond")
    until_seen(lambda: watched.write("Cut-off", 0.6), lambda: bonds() == 0, "no bond")
    assert line.cutoff == 1.2  # that of the program is not touched
