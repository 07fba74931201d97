"""The view of a world: run it, change its methods while it runs, and see what they do."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque import broad
from choque._core.progress import sent_to
from choque.dynamics import response_names
from choque.errors import InvalidInput
from choque.lab.warm_up import warm_up
from choque.narrow import Contacts
from choque.narrow.rules import RULES
from choque.record import BodyTable, Poses
from choque.scene import BodyScene, Camera
from choque.studio.page.findings import Findings
from choque.studio.page.hands import Hands
from choque.studio.page.history import Change, History
from choque.studio.page.page import Page
from choque.studio.page.run_panels import EventLog, Recent, RunPlots, SecondMethod, Timeline, cost_html, counted
from choque.studio.page.stage import FRAMES_A_SECOND, GLOWING, BodiesView
from choque.studio.run import Run
from choque.theses.fingsics.totals import CostMeter
from choque.world import StepReport, World, bounds_names
from choque.world.detection import Detection
from choque.world.settings import Settings

SPEEDS = {
    "1/16": 1 / 16,
    "1/4": 0.25,
    "1/2": 0.5,
    "1": 1.0,
    "2": 2.0,
    "4": 4.0,
    "16": 16.0,
    "as fast as it goes": np.inf,
}
DEFAULT_BOUNDS = "default"
NONE = "none"

MAX_SPARKING = 3_000
"""With more contacts than this no sparks are drawn."""

MAX_AHEAD = 3_600
"""Maximum number of steps that are made to reach the moment of an address."""

DARK, UNSEEN = 0.02, 1e-3
"""Light of a body that is not seen, and a motion that is not, as a share of the size of bodies."""

PANELS_A_SECOND = 4.0
"""How often panels and plots are updated while a run plays."""


COMMON = ("auto", "grid", "bvh", "sap-direct", "sap-incremental", "sap-kdop", "brute")
"""Broad phases that are listed first."""


def _methods() -> list[str]:
    """Return the names of all broad phases, the common ones first."""
    names = broad.names()
    return [*(name for name in COMMON if name in names), *(name for name in names if name not in COMMON)]


class WorldView(BodiesView):
    """Shows a run and sends it commands.

    Parameters
    ----------
    thing
        A scene of bodies, a world or a run. The world of a scene is made when the view is opened.
    options
        Arguments of the world of a scene.
    """

    picture_name = "choque-world.png"
    has_timeline = True
    run: Run

    def __init__(self, thing: BodyScene | World | Run, **options: Any) -> None:
        self._thing, self._options = thing, options
        self.title = thing.name if isinstance(thing, BodyScene) else "A world"
        self._cast: tuple[Any, BodyTable] | None = None
        self._touched: list[Contacts] = []
        self._findings: tuple[Any, Findings] | None = None
        self._detection: tuple[Settings, Detection] | None = None
        self._version = 0

    # Open, tick, close

    def open(self, page: Page) -> None:
        """Make the run and build the page."""
        self.run = self._make_run()
        self.history = History(self.run)
        self.events, self.second = EventLog(), SecondMethod()
        self._due = self._drawn = self._picture_due = self._updated = 0.0
        self._pace = 1.0
        self._touched = []
        self._sent: tuple[NDArray[Any], int] = np.empty((0, 3)), 0  # positions and sleepers of the latest picture
        self._is_warm = False
        self.seconds = {name: Recent() for name in ("step", "send", "picture")}
        """Times of a step, of sending a frame to the server, and between two frames [s]."""
        self.steps_since_change = 0
        self.cost = CostMeter()
        self.run.observers += [self._observe, self.cost]
        self.set_up(page, self._thing.camera if isinstance(self._thing, BodyScene) else Camera())
        self.hands = Hands(self)
        self._add_run_tab()
        self._add_methods_tab()
        self.add_show_tab()
        self.add_body_tab()
        self._add_side()
        self.timeline = Timeline(page, self.seek)
        self._resume_events()
        self.present()
        self._update_panels()

    def tick(self) -> float | None:
        """Make the step that is due, draw if due, and return the seconds until the next one."""
        run = self.run
        if not self._is_warm:
            self._warm_up()
        now = time.perf_counter()
        if run.playing and run.finished:
            self.pause()
        if run.playing and now >= self._due:
            self.hands.pull()
            with sent_to(self._say):  # a kernel that only this step needs may be compiled
                self._make_step()
            period = 0.0 if np.isinf(self._pace) else run.dt / self._pace
            self._due = max(self._due + period, time.perf_counter() - period)
            self.is_stale |= not self._is_at_rest()
            now = time.perf_counter()
        waits = [] if (held := self.cameras.let_go()) is None else [held]
        if self.is_stale:
            if not run.playing or now >= self._picture_due:
                self._draw(now)
            else:
                waits.append(self._picture_due - now)
        elif run.playing and now - self._updated > 1 / PANELS_A_SECOND:
            self._touched = []
            self._update_panels()
        if run.playing:
            waits.append(max(0.0, self._due - time.perf_counter()))
        return min(waits) if waits else None

    def close(self) -> None:
        """Stop observing the run, which stays unchanged."""
        if self._observe in self.run.observers:
            self.run.observers.remove(self._observe)

    # Content

    def cast(self) -> BodyTable:
        """Return the bodies of the world."""
        bodies = self.run.world.bodies
        if self._cast is None or self._cast[0] is not bodies.ids:
            self._cast = bodies.ids, BodyTable.of(bodies)
            self._version += 1  # bodies came or went; a program may have changed the world beside the page
            self._touched = []  # rows of the bodies before
        return self._cast[1]

    def poses(self) -> Poses:
        """Return the poses of the bodies."""
        bodies = self.run.world.bodies
        return Poses(bodies.position.astype(np.float32), bodies.rotation.astype(np.float32))

    def time(self) -> float:
        """Return the time of the world [s]."""
        return self.run.world.time

    def touched(self) -> list[Contacts]:
        """Return the contacts, by rows, of the steps since the last picture."""
        found, self._touched = self._touched, []
        return found

    def look(self) -> Findings:
        """Return what the current methods find in the current state."""
        self.cast()
        world = self.run.world
        key = (world, world.frame, self._version)
        if self._findings is None or self._findings[0] != key:
            if self._detection is None or self._detection[0] is not world.settings:
                self._detection = world.settings, Detection(world.settings)
            self._findings = key, Findings(world.bodies, self._detection[1], world)
        return self._findings[1]

    # Commands

    def play(self) -> None:
        """Start the run."""
        self._refuse_finished()
        self.run.play()
        self._due = time.perf_counter()
        self._update_state()

    def pause(self) -> None:
        """Pause the run."""
        self.run.pause()
        self._update_state()
        self.is_stale = True

    def toggle(self) -> None:
        """Play or pause."""
        if self.run.playing:
            self.pause()
        else:
            self.play()

    def step(self) -> None:
        """Pause and make one step."""
        self.run.pause()
        self._refuse_finished()
        self._make_step()
        self._update_state()
        self.is_stale = True

    def act(self, change: Change) -> None:
        """Change the world; what came after the present frame is forgotten."""
        self.history.act(change)
        self._version += 1
        self.is_stale = True

    def seek(self, frame: int) -> None:
        """Pause, and return to a frame that the run has been in; it is simulated again from a kept state."""
        self.run.pause()
        self.history.seek(frame)
        self._touched, self._version = [], self._version + 1
        self._show_settings()
        self._resume_events()
        self._update_state()
        self.is_stale = True

    def seek_time(self, seconds: float) -> None:
        """Pause at the first frame from this time on; frames that the run has not reached are simulated."""
        frame = self.history.frame_at(seconds)
        if frame is not None:
            self.seek(frame)
            return
        self.seek(self.history.last)
        run, steps = self.run, 0
        with self.page.working(self._status, f"Going to {seconds:g} s"):
            while not run.finished and run.time + 0.5 * run.dt < seconds and steps < MAX_AHEAD:
                self._make_step()
                steps += 1
        if not run.finished and run.time + 0.5 * run.dt < seconds:
            sentence = f"The run is at {run.time:g} s, after {steps:,} steps; press Play to go on to {seconds:g} s."
            self.page.notify("Not there yet", sentence)
        self.is_stale = True

    def toggle_slow_motion(self) -> None:
        """Switch slow motion, with time steps a third as long, on or off."""
        self.run.slow_motion = not self.run.slow_motion
        self._slow.value = self.run.slow_motion

    def reset(self) -> None:
        """Return to the first frame and its methods, paused."""
        self.run.reset()
        self.history.restart()
        self.cameras.start_again()
        for kept in (self.events, self.second, self.plots, self.timeline):
            kept.clear()
        self._changed_methods()
        self.hands.show_settings()
        self._update_state()

    def switch(self, **choice: Any) -> None:
        """Continue from the same state with other methods."""
        try:
            self.history.act(lambda world: world.switch(**choice))
            self._is_warm = False
        finally:
            self._changed_methods()

    def compare(self, name: str) -> None:
        """Run a second broad phase on the same bodies, or none."""
        self.run.compare(None if name == NONE else name)
        self._second_choice.value = name
        self._is_warm = False
        self.second.clear()
        self.is_stale = True

    def set_last_frame(self, frame: float) -> None:
        """Stop at this frame of the world; 0 for never. A run counts pictures from its first frame, which is 1."""
        first = self.run.first_frame
        if frame and frame < first:
            raise InvalidInput(f"The last frame is {frame:g}; this run begins at frame {first}. Give 0 for no end.")
        self.run.stop_at = int(frame) - first + 1 if frame else None

    def set_speed(self, word: str) -> None:
        """Set the seconds of the world per second."""
        self._pace = SPEEDS[word]
        if np.isfinite(self._pace):
            self.run.speed = self._pace
        self._due = time.perf_counter()

    # Panels

    def _add_run_tab(self) -> None:
        page = self.page
        with page.tab("Run"):
            self._status = page.html()
            self._play = page.button("Play", self.toggle, hint="P or Space", is_main=True)
            page.buttons("Steps", ("Step", "Reset"), lambda which: self.step() if which == "Step" else self.reset())
            self.hands.add_first_controls()
            page.choice("Speed", list(SPEEDS), "1", self.set_speed, hint="Does not change the results.")
            self._slow = page.checkbox("Slow motion (M)", False, self._set_slow, hint="Time steps a third as long.")
            page.picture_button()
            page.button("Back to the chooser", page.home)
            self.hands.add_folder()
        page.key(("P", "space"), "Play or pause", self.toggle)
        page.key("F", "One step forward", self.step)
        page.key("M", "Slow motion", self.toggle_slow_motion)
        page.key("R", "Back to the beginning", self.reset)

    def _add_methods_tab(self) -> None:
        page, now = self.page, self.run.world.settings
        with page.tab("Methods"):
            page.text("*After a change the run continues from the same state.*")
            self._choices = {
                "broad": page.choice("Broad phase", _methods(), now.broad, lambda word: self.switch(broad=word)),
                "bounds": page.choice(
                    "Bounds", [DEFAULT_BOUNDS, *bounds_names()], now.bounds or DEFAULT_BOUNDS, self._switch_bounds
                ),
                "narrow": page.choice("Narrow phase", RULES.names(), now.narrow, lambda word: self.switch(narrow=word)),
                "response": page.choice(
                    "Response", response_names(), now.response, lambda word: self.switch(response=word)
                ),
            }
            page.number("Last frame", self._last_frame or 0, self.set_last_frame, lowest=0, step=1, hint="0: none.")
            with page.folder("Second method"):
                self._second_choice = page.choice("Compare with", [NONE, *_methods()], NONE, self.compare)
                self._second_text = page.html()
            with page.folder("Cost model of the Fingsics thesis", is_open=False):
                self._cost_text = page.html()

    def _add_side(self) -> None:
        page = self.page
        with page.side_tab("Times", is_open=False):
            self.plots = RunPlots(page)
        with page.side_tab("Events"):
            self._events_text = page.html()

    def _switch_bounds(self, word: str) -> None:
        if word == DEFAULT_BOUNDS:
            self.switch(broad=self.run.world.settings.broad)
        else:
            self.switch(bounds=word)

    @property
    def _last_frame(self) -> int | None:
        return None if self.run.stop_at is None else self.run.first_frame + self.run.stop_at - 1

    def _refuse_finished(self) -> None:
        if self.run.finished:
            raise InvalidInput(
                f"The last frame, {self._last_frame}, is reached; reset the run or set another last frame."
            )

    def _make_step(self) -> None:
        if self.history.step():
            self._show_settings()

    def _set_slow(self, value: bool) -> None:
        self.run.slow_motion = value

    def _changed_methods(self) -> None:
        """Show the current methods and restart the counts."""
        self._show_methods()
        self.steps_since_change = 0
        self._version += 1
        self.is_stale = True

    def _show_settings(self) -> None:
        """Show in the controls what the world has in this frame; it may have something else in another one."""
        self._show_methods()
        self.hands.show_settings()

    def _show_methods(self) -> None:
        now = self.run.world.settings
        for name, handle in self._choices.items():
            handle.value = getattr(now, name) or DEFAULT_BOUNDS

    # Internals

    def _make_run(self) -> Run:
        thing = self._thing
        if isinstance(thing, Run):
            return thing
        if isinstance(thing, World):
            return Run(thing)
        scene, options = thing, self._options
        make: Callable[[], World] = lambda: scene.world(**options)  # noqa: E731
        return Run(make, dt=scene.dt)

    def _observe(self, world: World, report: StepReport) -> None:
        self.timeline.add(report.frame, self.events.add(world, report))
        self.plots.add(world, report, self.picked, self.events.touching)
        self.steps_since_change += 1
        if report.total_seconds:  # 0 if all bodies sleep
            self.seconds["step"].add(report.total_seconds)
        contacts = world.contacts()
        if len(contacts) <= MAX_SPARKING:
            rows = np.searchsorted(world.bodies.ids, contacts.pairs).astype(np.int32)
            self._touched.append(replace(contacts, pairs=rows))
        if self.run.comparison is not None:
            self.second.add(self.run.comparison)

    def _resume_events(self) -> None:
        """Let the events continue from the contacts of the present frame; a step does not find those of sleepers."""
        world = self.run.world
        if world.asleep.any():
            self.events.resume(world.bodies.ids[self.look().detected.contacts.pairs])
        else:
            self.events.resume(world.contacts().pairs)

    def _warm_up(self) -> None:
        """Use the methods once on copies, so that no step of the run loads or compiles anything; say so meanwhile."""
        self._is_warm = True
        with self.page.working(self._status, "Preparing"):
            warm_up(self.run.world, self.run.dt)
            if self.run.shadow is not None:
                Detection(self.run.shadow.settings).find(self.run.world.bodies)
        self._due = time.perf_counter()
        self.is_stale = True

    def _say(self, text: str) -> None:
        """Show at once, in the place of the status, how far compiling is."""
        if text:
            self._status.content = f"<b>Preparing</b> {escape(text)}"
            self.page.server.flush()

    def present(self) -> None:
        """Draw the current frame, and let bodies that are new be dragged."""
        super().present()
        self._sent = self.poses().position, int(np.count_nonzero(self.run.world.asleep))
        self.hands.attach(self.bodies_layer.parts)

    def _is_at_rest(self) -> bool:
        """Return whether a picture would be the one before, because nothing moves, glows or falls asleep."""
        position, sleeping = self._sent
        if self.overlays.on or self.coloring != GLOWING or self.glow is None or self.glow.light.max(initial=0.0) > DARK:
            return False
        now, asleep = self.run.world.bodies.position, int(np.count_nonzero(self.run.world.asleep))
        if len(now) != len(position) or asleep != sleeping or self.sparks():
            return False
        return bool(np.abs(now - position).max(initial=0.0) < UNSEEN * self.glow.size)

    def _draw(self, now: float) -> None:
        self.present()
        if self.run.playing and not self.hands.is_busy:
            self.cameras.drift(self.cast(), self.poses())
        ended = time.perf_counter()
        self.seconds["send"].add(ended - now)
        if self.run.playing and self._drawn:
            self.seconds["picture"].add(now - self._drawn)
        self._drawn = now
        # A late picture delays the next one by at most half a period; those of a pause, drawn at once, by none.
        self._picture_due = min(max(self._picture_due, now - 0.5 / FRAMES_A_SECOND), now) + 1 / FRAMES_A_SECOND
        if not self.run.playing or ended - self._updated > 1 / PANELS_A_SECOND:
            self._update_panels()

    def _update_panels(self) -> None:
        """Update all panels."""
        self._updated = time.perf_counter()
        world, run = self.run.world, self.run
        self._status.content = self._status_html()
        self.update_notes()
        self.plots.draw()
        self.timeline.show(self.history.first, world.frame, self.history.last, world.time)
        self._events_text.content = self.events.html()
        self._cost_text.content = cost_html(self.cost.total, self.steps_since_change)
        if run.shadow is None:
            self._second_text.content = "None."
        else:
            self._second_text.content = self.second.html(run.shadow.bound is world.detection.bound)
        self._update_state()

    def _update_state(self) -> None:
        self._play.label = "Pause" if self.run.playing else "Play"

    def _status_html(self) -> str:
        world, medians = self.run.world, {name: recent.median for name, recent in self.seconds.items()}
        state = "playing" if self.run.playing else "finished" if self.run.finished else "paused"
        rate = f"{1 / medians['picture']:.0f} pictures a second; " if medians["picture"] and self.run.playing else ""
        sleeping = int(np.count_nonzero(world.asleep))
        found = (
            f"{counted(len(world.pairs()), 'candidate')}, {counted(self.events.touching, 'contact')}"
            if world.frame
            else "not run yet"
        )
        asleep = f"; {counted(sleeping, 'body', 'bodies')} {'sleeps' if sleeping == 1 else 'sleep'}" if sleeping else ""
        times = f"{rate}step {medians['step'] * 1e3:.1f} ms, sending {medians['send'] * 1e3:.1f} ms"
        return (
            f"<b>Frame {world.frame:,}</b>, {world.time:.2f} s, {state}{asleep}<br>{len(world):,} bodies; {found}<br>"
            f"<span style='opacity:0.7'>{times if medians['step'] else 'P or Space plays, F steps'}</span>"
            f"{self.coarse_html()}"
        )
