"""The view of a recording: any frame, both directions, any speed, overlays for the current frame."""

from __future__ import annotations

import threading
import time
from functools import partial
from html import escape
from typing import Any

import numpy as np

from choque import broad
from choque.errors import ChoqueError, InvalidInput
from choque.record import BodyTable, Frames, Poses, Recording, Replay, verify
from choque.record.frames import FrameFile
from choque.studio.glow import glow_of
from choque.studio.page.findings import Findings, bodies_of
from choque.studio.page.page import Page
from choque.studio.page.run_panels import Timeline
from choque.studio.page.stage import FRAMES_A_SECOND, BodiesView
from choque.world import bounds_names
from choque.world.detection import Detection
from choque.world.settings import Settings

SPEEDS = ("-16", "-4", "-1", "-1/4", "1/16", "1/4", "1/2", "1", "2", "4", "16")
DEFAULT_BOUNDS = "default"
PANELS_A_SECOND = 5.0

MAX_POSES = 400_000
"""Maximum number of poses that are read for the marks of the timeline."""

FRESH = 0.3
"""A body that is brighter than in the frame before by this has just collided."""

MAX_CATCH_UP = 0.25
"""When drawing falls behind, at most this much time is skipped at once [s]."""

SEEK_KEYS = (("arrowleft", "arrowright", 60), ("arrowup", "arrowdown", 600), ("B", "F", 1))
"""Keys that go back and forward, and by how many frames; the arrows are those of the Fingsics engine."""


class RecordingView(BodiesView):
    """Shows a `Replay` and sends it commands.

    Parameters
    ----------
    frames
        A recording, or a scene.dat of the Fingsics engine. A truncated one is shown up to its last complete frame.
    """

    picture_name = "choque-recording.png"
    has_timeline = True

    def __init__(self, frames: FrameFile) -> None:
        self.replay = Replay(frames)
        self.title = frames.name
        self._findings: tuple[Any, Findings] | None = None
        self._settings = Settings(broad=_recorded_method(frames))
        self._verifying: threading.Thread | None = None
        self._speed = 1.0
        self.verdict = ""
        """The result of the verification."""
        self.first_difference: int | None = None

    # Open, tick, close

    def open(self, page: Page) -> None:
        """Build the page."""
        self._due = self._ticked = self._updated = 0.0
        self._closed = False
        self._detection = Detection(self._settings)
        self.set_up(page, self.replay.frames.camera)
        self._add_play_tab()
        self.add_show_tab()
        self.add_body_tab()
        self.timeline = Timeline(page, self.seek_to)
        for frame, count in jumps(self.replay.frames).items():
            self.timeline.add(frame, count)
        self.present()
        self._update_panels()

    def tick(self) -> float | None:
        """Show the frame that is due; frames are skipped if there is no time for them."""
        now, replay = time.perf_counter(), self.replay
        if replay.playing and now >= self._due:
            before, elapsed = replay.frame, min(now - self._ticked, MAX_CATCH_UP)
            replay.speed = self._speed * elapsed * replay.frames.frames_per_second
            replay.tick()
            replay.speed = self._speed
            self._ticked, self._due = now, now + 1 / FRAMES_A_SECOND
            self.is_stale |= replay.frame != before or not replay.playing
        waits = [] if (held := self.cameras.let_go()) is None else [held]
        if self.is_stale:
            self._draw()
        if replay.playing:
            waits.append(max(0.0, self._due - time.perf_counter()))
        return min(waits) if waits else None

    def close(self) -> None:
        """Close the recording."""
        self._closed = True
        if self._verifying is not None:
            self._verifying.join(timeout=5.0)
        frames = self.replay.frames
        if isinstance(frames, Recording):
            frames.close()

    # Content

    def cast(self) -> BodyTable:
        """The bodies of the frame shown."""
        return self.replay.bodies

    def poses(self) -> Poses:
        """Return the poses of the frame shown."""
        return self.replay.poses

    def look(self) -> Findings:
        """Return what the chosen methods find in the frame shown; speeds are those to the next frame."""
        key = (self.replay.frame, self._detection)
        if self._findings is None or self._findings[0] != key:
            self._findings = key, Findings(bodies_of(self.cast(), self.poses(), self._velocity()), self._detection)
        return self._findings[1]

    def _velocity(self) -> Any:
        replay, frames = self.replay, self.replay.frames
        after = min(replay.frame + 1, replay.last_frame)
        before = max(after - 1, 0)
        if frames.bodies(before) is not frames.bodies(after) or before == after:
            return None
        return (frames.frame(after).position - frames.frame(before).position) * frames.frames_per_second

    # Commands

    def toggle(self) -> None:
        """Play or pause; at the end, start again from the other end."""
        replay = self.replay
        if not replay.playing:
            forward = self._speed > 0
            if replay.frame == (replay.last_frame if forward else 0):
                replay.seek_to(0 if forward else replay.last_frame)
            self._due = time.perf_counter()
            self._ticked = self._due - 1 / FRAMES_A_SECOND
        replay.toggle()
        self._update_state()
        self.is_stale = True

    def seek(self, by: int) -> None:
        """Move by some frames; a single frame also pauses."""
        if abs(by) == 1:
            self.replay.step(by)
        else:
            self.replay.seek(by)
        self._update_state()
        self.is_stale = True

    def seek_to(self, frame: float) -> None:
        """Show a frame."""
        self.replay.seek_to(int(frame))
        self.is_stale = True

    def seek_time(self, seconds: float) -> None:
        """Pause at this time; one beyond the end is the last frame."""
        self.replay.pause()
        self.seek_to(round(min(seconds * self.replay.frames.frames_per_second, self.replay.last_frame)))
        self._update_state()

    def set_speed(self, word: str) -> None:
        """Set the speed, as a number or fraction; negative plays backward."""
        above, _, below = word.partition("/")
        self._speed = self.replay.speed = float(above) / float(below or 1)

    def switch(self, **choice: str | None) -> None:
        """Find candidates with other methods."""
        settings = Settings(**{"broad": self._settings.broad, "bounds": self._settings.bounds, **choice}).checked()  # type: ignore[arg-type]
        self._settings, self._detection = settings, Detection(settings)
        self.is_stale = True

    def verify(self) -> None:
        """Simulate the run again in the background, and show the first frame that differs."""
        frames = self.replay.frames
        if not isinstance(frames, Recording):
            raise InvalidInput("A scene.dat holds poses only; only recordings of Choque can be verified.")
        if self._verifying is not None and self._verifying.is_alive():
            raise InvalidInput("The recording is being verified already.")
        self._verifying = threading.Thread(target=self._verify, args=(frames.path,), daemon=True)
        self._verifying.start()

    def jump_to_difference(self) -> None:
        """Show the first frame that differs."""
        if self.first_difference is None:
            raise InvalidInput(self.verdict or "Verify the recording first; no difference is known yet.")
        self.replay.pause()
        self.seek_to(self.first_difference)

    # Panels

    def _add_play_tab(self) -> None:
        page, replay = self.page, self.replay
        with page.tab("Play"):
            self._status = page.html()
            self._play = page.button("Play", self.toggle, hint="P or Space", is_main=True)
            for by in (step for step in (1, 60, 600) if step == 1 or step <= replay.last_frame):
                page.buttons(f"By {by}", (f"−{by}", f"+{by}"), lambda word: self.seek(int(word.replace("−", "-"))))
            page.choice("Speed", SPEEDS, "1", self.set_speed, hint="Negative plays backward.")
            with page.folder("Methods of the overlays"):
                page.choice("Broad phase", broad.names(), self._settings.broad, lambda word: self.switch(broad=word))
                page.choice(
                    "Bounds",
                    [DEFAULT_BOUNDS, *bounds_names()],
                    DEFAULT_BOUNDS,
                    lambda word: self.switch(bounds=None if word == DEFAULT_BOUNDS else word),
                )
            with page.folder("Verification"):
                page.button("Verify", self.verify, hint="Simulate the run again and compare every frame.")
                self._verdict_text = page.html()
                self._jump = page.button("Jump to the first difference", self.jump_to_difference, visible=False)
            page.picture_button()
            page.button("Back to the chooser", page.home)
        page.key(("P", "space"), "Play or pause", self.toggle)
        for back, forward, by in SEEK_KEYS:
            word = "1 frame" if by == 1 else f"{by} frames"
            before = self.cameras.hold if back.startswith("arrow") else None
            page.key(back, f"{word} back", partial(self.seek, -by), before=before)
            page.key(forward, f"{word} forward", partial(self.seek, by), before=before)
        page.key("home", "First frame", lambda: self.seek_to(0))
        page.key("end", "Last frame", lambda: self.seek_to(replay.last_frame))

    def _draw(self) -> None:
        self.present()
        if self.replay.playing:
            self.cameras.drift(self.cast(), self.poses())
        if not self.replay.playing or time.perf_counter() - self._updated > 1 / PANELS_A_SECOND:
            self._update_panels()

    def _update_panels(self) -> None:
        self._updated = time.perf_counter()
        self._status.content = self._status_html()
        self.timeline.show(0, self.replay.frame, self.replay.last_frame, self.replay.time)
        self.update_notes()
        self._update_state()

    def _update_state(self) -> None:
        self._play.label = "Pause" if self.replay.playing else "Play"

    def _status_html(self) -> str:
        replay, frames = self.replay, self.replay.frames
        state = "playing" if replay.playing else "paused"
        cut = ""
        if isinstance(frames, Recording) and not frames.complete:
            cut = "<br><b style='color:#ffb03b'>The file is truncated; these are its complete frames.</b>"
        return (
            f"<b>Frame {replay.frame:,}</b> of {replay.last_frame:,}, {replay.time:.2f} s, {state}<br>"
            f"{len(self.cast()):,} bodies, {frames.frames_per_second:g} frames a second{cut}{self.coarse_html()}"
        )

    # Verification, in its own thread

    def _verify(self, path: Any) -> None:
        def progress(done: int, total: int, _: str) -> None:
            if self._closed:
                raise _Closed
            if done % max(1, total // 50) == 0:
                self.page.do(lambda: self._show_verdict(f"Frame {done:,} of {total:,} …"))

        try:
            with Recording(path) as recording:
                found = verify(recording, progress=progress)
        except _Closed:
            return
        except ChoqueError as problem:
            sentence = str(problem)
            self.page.do(lambda: self._show_verdict(sentence))
            return
        self.page.do(lambda: self._verified(str(found), found.first_difference))

    def _verified(self, verdict: str, first_difference: int | None) -> None:
        self.first_difference = first_difference
        self._show_verdict(verdict)
        if not self._closed:
            self._jump.visible = first_difference is not None

    def _show_verdict(self, verdict: str) -> None:
        self.verdict = verdict
        if not self._closed:
            self._verdict_text.content = escape(verdict)


def jumps(frames: Frames) -> dict[int, int]:
    """Return how many bodies changed their velocity at once, by frame; of a long recording, in some frames only."""
    count = frames.frame_count
    if not count:
        return {}
    stride = max(1, -(-count * len(frames.bodies(0)) // MAX_POSES))
    found: dict[int, int] = {}
    cast, glow, light = None, None, np.empty(0)
    for frame in range(0, count, stride):
        bodies, poses = frames.bodies(frame), frames.frame(frame)
        if glow is None or bodies is not cast:
            cast, glow, light = bodies, glow_of(bodies), np.zeros(len(bodies))
        glow.advance(frame / frames.frames_per_second, poses.position)
        found[frame] = int(np.count_nonzero(glow.light > light + FRESH))
        light = glow.light.copy()
    return found


class _Closed(Exception):
    """The view was closed during the verification."""


def _recorded_method(frames: FrameFile) -> str:
    recorded = getattr(frames, "header", {}).get("world") or {}
    method = recorded.get("broad", "auto") if isinstance(recorded, dict) else "auto"
    return method if method in broad.names() else "auto"
