"""What the page does to a world: its effects on the run, and the way back."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

pytest.importorskip("viser", reason="viser, of the extra 'view', is not installed")

from choque._core import progress
from choque.errors import InvalidInput
from choque.studio import Run
from choque.studio.page import page as page_module
from choque.studio.page.history import MAX_KEPT, History
from choque.studio.page.overlays import MAX_FORCE_LENGTH, OVERLAYS, Options
from choque.studio.page.run_panels import MEASURES
from choque.studio.page.studio import Studio
from choque.studio.page.world import WorldView
from choque.studio.palette import FREE, ISLANDS
from choque.world import World


def two_balls() -> World:
    """A ball that rests on the ground and one beside it, so that all steps are cheap."""
    world = World("brute", gravity=(0, -9.81, 0))
    world.add_spheres([[0, 0.5, 0], [3, 0.5, 0]], 0.5)
    world.add_ground()
    return world


@pytest.fixture
def view(shared_studio: Studio) -> Iterator[WorldView]:
    made = WorldView(two_balls())
    shared_studio.open(made)
    shared_studio.ask(lambda: None)
    yield made
    shared_studio.open(None)


def test_going_back_passes_through_the_same_states_with_what_was_done() -> None:
    history = History(Run(two_balls()))
    hashes = []
    for frame in range(100):
        if frame in (20, 50):
            history.act(lambda world: world.bodies.velocity.__setitem__(0, (1.0, 3.0, 0.5)))
        if frame == 60:
            history.act(lambda world: world.add_spheres([[0, 4, 0]], 0.4))
        if frame == 80:
            history.run.slow_motion = True
        hashes.append(history.run.world.hash())
        history.step()
    assert history.kept_count < 20
    for frame in (99, 60, 21, 20, 0, 57, 83):
        history.seek(frame)
        assert history.run.world.hash() == hashes[frame], frame
    history.run.slow_motion = False  # the way forward from there, through frames that are known
    history.seek(15)
    for frame in range(15, 40):
        assert history.run.world.hash() == hashes[frame], frame
        history.step()
    with pytest.raises(InvalidInput, match="in frames 0 to 100"):
        history.seek(101)


def test_an_action_in_the_past_forgets_the_future() -> None:
    history = History(Run(two_balls()))
    for _ in range(30):
        history.step()
    history.seek(10)
    history.act(lambda world: world.remove([1]))
    assert (history.first, history.last) == (0, 10)
    for _ in range(20):
        history.step()
    assert len(history.run.world) == 2
    history.seek(5)
    assert len(history.run.world) == 3
    history.seek(25)
    assert len(history.run.world) == 2


def test_few_states_are_kept_of_a_long_run() -> None:
    world = World("brute")
    world.add_spheres([[0, 0, 0]])
    history = History(Run(world))
    for _ in range(2000):
        history.step()
    assert history.kept_count <= MAX_KEPT
    history.seek(1234)
    assert history.run.world.frame == 1234


def test_a_grabbed_body_follows_the_pointer_and_is_thrown(shared_studio: Studio, view: WorldView) -> None:
    def drag() -> None:
        view.run.play()
        view.hands.grab(0, np.array([0.0, 0.5, 0.0]), np.array([0.0, 0.5, 0.0]))
        for step in range(60):
            view.hands.grab(0, np.array([0.05 * step, 0.5 + 0.03 * step, 0.0]))
            view.hands.pull()
            view.history.step()

    shared_studio.ask(drag)
    bodies = view.run.world.bodies
    assert np.linalg.norm(bodies.position[0] - (3.0, 2.3, 0.0)) < 1.0
    shared_studio.ask(view.hands.let_go)
    assert bodies.velocity[0, 0] > 1.5  # it flies on
    assert bodies.velocity[0, 1] > 0.5
    shared_studio.ask(lambda: view.seek(0))
    np.testing.assert_array_equal(view.run.world.bodies.position[0], (0, 0.5, 0))


def test_sleepers_keep_their_contacts_and_their_last_times(shared_studio: Studio, view: WorldView) -> None:
    shared_studio.ask(lambda: [view.history.step() for _ in range(150)])
    shared_studio.ask(view.step)
    shared_studio.ask(view.tick)
    assert view.run.world.asleep.sum() == 2
    assert len(view.run.world.contacts()) == 0
    assert "2 bodies sleep" in view._status.content
    assert "2 contacts" in view._status.content
    assert view.events.ended_count == 0
    assert view.seconds["step"].median > 0.0
    last = view.plots._reports[-1]
    assert last[0] < view.run.world.frame  # steps that compute nothing are not plotted
    assert last[-1] == 2
    shared_studio.ask(lambda: view.seek(view.run.world.frame - 1))
    assert view.events.touching == 2


def test_bodies_are_shot_added_and_removed(shared_studio: Studio, view: WorldView) -> None:
    shared_studio.ask(view.hands.shoot)
    shared_studio.ask(view.hands.add)
    bodies = view.run.world.bodies
    assert len(bodies) == 5
    assert np.linalg.norm(bodies.velocity[3]) == pytest.approx(view.hands.speed)
    assert (bodies.acceleration[3] == (0, -9.81, 0)).all()
    shared_studio.ask(lambda: view.pick(1))
    shared_studio.ask(view.hands.remove)
    assert view.run.world.bodies.ids.tolist() == [0, 2, 3, 4]
    with pytest.raises(InvalidInput, match="No body is selected"):
        shared_studio.ask(view.hands.remove)


def test_a_body_is_removed_between_a_step_and_its_picture(shared_studio: Studio, view: WorldView) -> None:
    def step_and_remove() -> None:
        view.step()
        view.pick(0)
        view.hands.remove()
        view.present()

    shared_studio.ask(step_and_remove)
    assert len(view.cast()) == 2
    shared_studio.ask(view.step)
    shared_studio.ask(view.present)


def test_gravity_wakes_what_sleeps_and_brings_friction_and_rest(shared_studio: Studio) -> None:
    world = World("brute")
    world.add_spheres([[0, 3.0, 0]], 0.5)
    world.add_ground()
    view = WorldView(world)
    shared_studio.open(view)
    shared_studio.ask(lambda: None)
    shared_studio.ask(lambda: view.hands.set_restitution(0.2))
    shared_studio.ask(lambda: view.hands.set_gravity(10.0))
    assert view.run.world.settings.response == "soft-step"

    def fall() -> None:
        for _ in range(240):
            view.history.step()

    shared_studio.ask(fall)
    assert view.run.world.bodies.position[0, 1] == pytest.approx(0.5, abs=0.02)
    assert view.run.world.asleep[0]
    shared_studio.ask(lambda: view.hands.set_gravity(0.0))
    shared_studio.ask(view.history.step)
    assert not view.run.world.asleep[0]
    shared_studio.ask(lambda: view.hands.set_rate(120.0))
    assert view.run.dt == pytest.approx(1 / 120)
    assert (view.run.world.bodies.restitution == 0.2).all()
    shared_studio.open(None)


def test_controls_show_what_the_world_has_in_the_frame_that_is_shown(shared_studio: Studio, view: WorldView) -> None:
    def shown() -> tuple[str, list[float]]:
        return view._choices["broad"].value, [slider.value for slider in view.hands._sliders]

    first = shown()
    assert first == ("brute", [9.81, 0.6, 0.0])
    for change in (view.step, lambda: view.switch(broad="grid"), lambda: view.hands.set_gravity(3.0)):
        shared_studio.ask(change)
    for change in (lambda: view.hands.set_friction(1.0), lambda: view.hands.set_restitution(0.25), view.step):
        shared_studio.ask(change)
    shared_studio.ask(lambda: view.seek(0))
    assert shown() == first
    shared_studio.ask(view.step)  # the frame of the changes
    assert shown() == ("grid", [3.0, 1.0, 0.25])
    shared_studio.ask(view.reset)
    assert shown() == first


def test_frames_that_are_made_again_are_plotted_and_counted_once(shared_studio: Studio) -> None:
    world = World("brute", gravity=(0, -9.81, 0))
    world.add_spheres([[0, 0.52, 0]], 0.5)
    world.add_ground()
    view = WorldView(world)
    shared_studio.open(view)

    def forward() -> tuple[list[float], int, list[int]]:
        while view.run.world.frame < 30:
            view.step()
        return [frame for frame, _ in view.plots.values], view.events.began_count, [e.frame for e in view.events.latest]

    first = shared_studio.ask(forward)
    assert first[0] == list(range(1, 31))
    assert first[1] >= 1
    shared_studio.ask(lambda: view.seek(2))
    assert shared_studio.ask(forward) == first
    shared_studio.ask(lambda: view.plots.choose("momentum"))
    assert view.plots._chosen.title == "momentum"
    shared_studio.open(None)


@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_is_a_number_with_and_without_a_selected_body(name: str) -> None:
    world = two_balls()
    for picked in (None, 0, 7):
        assert np.isfinite(MEASURES[name](world, picked))


def test_the_page_says_what_takes_long(shared_studio: Studio, view: WorldView, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(page_module, "TELLING_SECONDS", 0.01)

    def work() -> None:
        with view.page.working(view._status, "Preparing"), progress.shown("compiling kernels: 3 of 7"):
            while len(said) < 2 or "kernels" not in said[-1]:
                said.append(view._status.content)

    shared_studio.ask(work)
    assert said[-1].startswith("<b>Preparing</b> 0 s compiling kernels: 3 of 7")


def test_two_methods_agree_on_bodies_that_rest() -> None:
    """The response that lets bodies rest has candidates within wider bounds; they are not what is compared."""
    world = two_balls()
    world.add_spheres([[0.2, 1.6, 0], [0.1, 2.7, 0.1]], 0.5)
    run = Run(world)
    run.compare("sap-direct")
    touched = 0
    for _ in range(60):
        run.step()
        assert run.comparison is not None
        assert not run.comparison.contacts_differ
        assert not run.comparison.pairs_differ
        touched += run.comparison.contacts[0]
    assert touched


def test_islands_have_colours_sleepers_are_dark_and_normals_show_forces(shared_studio: Studio) -> None:
    world = World("brute", gravity=(0, -10, 0))
    world.add_spheres([[0, 0.5, 0], [0.99, 0.5, 0], [5, 0.5, 0]], 0.5, mass=[2.0, 2.0, 3.0])
    world.add_ground()
    view = WorldView(world)
    shared_studio.open(view)
    shared_studio.ask(lambda: [view.history.step() for _ in range(10)])
    shared_studio.ask(lambda: view.set_coloring("islands"))
    colors = shared_studio.ask(lambda: view._colors(view.look()))
    assert (colors[0] == colors[1]).all()
    assert tuple(colors[0]) in set(map(tuple, ISLANDS.tolist()))
    assert tuple(colors[2]) == FREE
    drawing = shared_studio.ask(lambda: OVERLAYS["contacts"].draw(view.look(), Options()))
    lengths = np.linalg.norm(np.diff(drawing.lines, axis=1), axis=2).ravel()
    assert "a force of 30" in drawing.note
    assert lengths.max() == pytest.approx(MAX_FORCE_LENGTH * 0.5, rel=0.01)
    shared_studio.ask(lambda: [view.history.step() for _ in range(120)])
    assert view.run.world.asleep.any()
    dark = shared_studio.ask(lambda: view._colors(view.look()))
    assert dark[2].sum() < 0.75 * colors[2].sum()
    shared_studio.open(None)
