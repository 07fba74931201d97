"""The motion view: polygons that move in the plane, with the reason for the next event."""

from __future__ import annotations

import math
import time
from functools import partial
from html import escape
from typing import Any

import numpy as np

from choque.studio.motion.drawing import MotionDrawing
from choque.studio.motion.panel import lists_html, queue_html, why_html
from choque.studio.motion.player import MotionPlayer
from choque.studio.motion.state import MotionState
from choque.studio.page.page import Page
from choque.studio.page.scene import CameraPlacement, Lens, light_evenly, reset_lens
from choque.studio.page.view import View
from choque.studio.viewpoint import Viewpoint
from choque.theses.kinetic import Model

FIELD_OF_VIEW = math.radians(12.0)
"""Narrow, so that the plane looks flat."""

MARGIN = 1.12
EVENT_PAUSE = 0.8
"""Pause at each event when playing event by event [s]."""

FRAMES_SENT = 30.0
"""Maximum number of pictures a second while playing."""


class MotionView(View):
    """A kinetic scene, played by time, by frames or by events."""

    picture_name = "choque-motion.png"

    def __init__(self, model: Model) -> None:
        self.player = MotionPlayer(model)
        self.title = f"Motion: {model.name or 'a model'}"
        self.is_playing = False
        self.by_events = False
        self.speed = 1.0
        self.shown = {"polygons": True, "boxes": True, "velocities": True, "pairs": True, "numbers": True}
        self._due = 0.0
        self._wall = 0.0
        self._is_stale = True

    def open(self, page: Page) -> None:
        """Build the page."""
        self._page, self._stand = page, CameraPlacement(page.server)
        with page.tab("Motion"):
            self._build_controls(page)
        with page.side_tab("Why"):
            self._why = page.html()
            page.text("**Queue of events**")
            self._queue = page.html()
            page.text("**Sorted lists**, with their certificates")
            self._lists = page.html()
        self._build_keys(page)
        light_evenly(page.scene)
        self._drawing = MotionDrawing(page.scene, self.player.model)
        self._look()
        self._is_stale = True

    def camera_moved(self, client: Any) -> None:
        """Keep everything in view when a page changes its size."""
        self._stand.moved(client)

    def close(self) -> None:
        """Restore the page."""
        reset_lens(self._page.server)

    def _build_controls(self, page: Page) -> None:
        player, model = self.player, self.player.model
        page.html(f"<b>{escape(model.name or 'Model')}</b>: {len(model)} objects, density {model.density:.3g}")
        self._readout = page.html()
        self._play = page.button("Play", self.toggle, hint="Space", is_main=True)
        page.buttons("Event", ("◀ before", "next ▶"), self._event_button)
        page.buttons("Frame", ("◀ before", "next ▶"), self._frame_button)
        begin, end = model.interval
        step = max((end - begin) / 2000.0, 1e-9)
        self._slider = page.slider("Time", begin, max(end, begin + step), step, begin, self.seek)
        self._frame = page.number("Frame", 0, lambda k: self.to_frame(int(k)), lowest=0, step=1)
        page.number(
            "Frames a second",
            player.frames_per_second,
            self.set_frames_per_second,
            lowest=0.01,
            hint="The step from one frame to the next is its inverse.",
        )
        page.choice("Play", ("by time", "event by event"), "by time", self._choose_play)
        page.slider("Speed", 0.05, 4.0, 0.05, 1.0, self.set_speed, hint="Seconds of the scene in a second.")
        self._boxes: dict[str, Any] = {}
        with page.folder("Show"):
            for name, is_on in self.shown.items():
                self._boxes[name] = page.checkbox(name.capitalize(), is_on, partial(self.show, name))
        page.button("Look from above", self._look, hint="F")
        page.picture_button()
        page.button("Back to the chooser", page.home)

    def _build_keys(self, page: Page) -> None:
        page.key(("space", "P"), "play, pause", self.toggle)
        page.key("K", "next event", self.next_event)
        page.key("J", "event before", self.previous_event)
        page.key("N", "next frame", lambda: self.to_frame(self.player.frame + 1))
        page.key("B", "frame before", lambda: self.to_frame(self._frame_before()))
        page.key("home", "to the start", lambda: self.seek(self.player.model.interval[0]))
        page.key("end", "to the end", lambda: self.seek(self.player.model.interval[1]))
        page.key("O", "boxes", lambda: self.show("boxes", not self.shown["boxes"]))
        page.key("V", "velocities", lambda: self.show("velocities", not self.shown["velocities"]))
        page.key("C", "pairs", lambda: self.show("pairs", not self.shown["pairs"]))
        page.key("F", "look from above", self._look)

    # Commands; each runs in the thread of the studio

    def toggle(self) -> None:
        """Play or pause; at the end, play from the start."""
        if not self.is_playing and self.player.time >= self.player.model.interval[1]:
            self.player.seek(self.player.model.interval[0])
        self.is_playing = not self.is_playing
        self._wall = self._due = time.perf_counter()
        self._is_stale = True

    def seek(self, moment: float) -> None:
        """Go to a time."""
        self.player.seek(moment)
        self._stop()

    def to_frame(self, frame: int) -> None:
        """Go to a frame."""
        self.player.to_frame(frame)
        self._stop()

    def next_event(self) -> None:
        """Go to the next event."""
        self.player.next_event()
        self._stop()

    def previous_event(self) -> None:
        """Go to the event before."""
        self.player.previous_event()
        self._stop()

    def set_frames_per_second(self, rate: float) -> None:
        """Choose the step between frames."""
        self.player.frames_per_second = rate
        self._is_stale = True

    def set_speed(self, speed: float) -> None:
        """Choose how fast playing goes."""
        self.speed = speed

    def show(self, name: str, on: bool) -> None:
        """Show or hide a layer."""
        self.shown[name] = self._boxes[name].value = on
        self._is_stale = True

    def picture(self, viewpoint: Viewpoint | None, size: tuple[int, int]) -> bytes:  # noqa: ARG002
        """Return a PNG of the visible part of the plane, with the lists and the queue; ``size`` is ignored."""
        from choque.studio.motion.picture import motion_png

        window = None
        if viewpoint is not None:
            middle, reach = (
                np.asarray(viewpoint.target)[:2],
                float(np.linalg.norm(viewpoint.away)) * math.tan(FIELD_OF_VIEW / 2.0),
            )
            window = ((middle[0] - reach, middle[0] + reach), (middle[1] - reach, middle[1] + reach))
        return motion_png(self.player, window=window)

    def seek_time(self, seconds: float) -> None:
        """Show this time after the beginning; one beyond the end is the end."""
        begin, end = self.player.model.interval
        self.seek(min(begin + seconds, end))

    def tick(self) -> float | None:
        """Continue playing, and draw what has changed."""
        wait = self._advance() if self.is_playing else None
        if self._is_stale:
            self._is_stale = False
            state = self.player.state()
            with self._page.server.atomic():
                self._drawing.draw(state, self.shown)
                self._tell(state)
        return wait

    def _advance(self) -> float | None:
        now, end = time.perf_counter(), self.player.model.interval[1]
        if now < self._due:
            return self._due - now
        if self.by_events:
            if self.player.next_event() is None:
                self.is_playing = False
            self._due = now + EVENT_PAUSE / self.speed
        else:
            self.player.seek(self.player.time + (now - self._wall) * self.speed)
            self._due = now + 1.0 / FRAMES_SENT
            self.is_playing = self.player.time < end
        self._wall = now
        self._is_stale = True
        return max(self._due - time.perf_counter(), 0.0) if self.is_playing else None

    def _stop(self) -> None:
        self.is_playing = False
        self._is_stale = True

    def _event_button(self, which: str) -> None:
        self.next_event() if which.startswith("next") else self.previous_event()

    def _frame_button(self, which: str) -> None:
        self.to_frame(self.player.frame + 1 if which.startswith("next") else self._frame_before())

    def _frame_before(self) -> int:
        """Return the latest frame strictly before the present time."""
        player = self.player
        return player.frame - 1 if player.time_of(player.frame) >= player.time - 1e-12 else player.frame

    def _choose_play(self, how: str) -> None:
        self.by_events = how == "event by event"
        self._due = 0.0

    def _tell(self, state: MotionState) -> None:
        player = self.player
        pairs = " ".join(f"{a}-{b}" for a, b in state.pairs[:12].tolist()) or "none"
        more = f" and {len(state.pairs) - 12:,} more" if len(state.pairs) > 12 else ""
        self._readout.content = (
            f'<div style="padding:0 0.8em 0.5em"><span style="font-size:1.5em">t = {state.time:.4f}</span><br>'
            f"{len(state.pairs):,} overlapping pair{'' if len(state.pairs) == 1 else 's'}: {pairs}{more}</div>"
        )
        self._why.content = why_html(state, player.latest)
        self._queue.content = queue_html(state)
        self._lists.content = lists_html(state, player.latest)
        self._slider.value = min(max(state.time, player.model.interval[0]), player.model.interval[1])
        self._frame.value = player.frame
        self._play.label = "Pause" if self.is_playing else "Play"

    def _look(self) -> None:
        """Look straight down on the whole frame."""
        (left, right), (bottom, top) = self.player.model.frame
        middle = np.array([(left + right) / 2.0, (bottom + top) / 2.0, 0.0])
        lens = Lens(FIELD_OF_VIEW, far=4.0 * self._distance(0.3))
        self._stand.look_from(lambda aspect: middle + np.array([0.0, 0.0, self._distance(aspect)]), middle, lens)

    def _distance(self, aspect: float) -> float:
        """Return the distance at which the camera sees the whole frame in a window of ``aspect``, width over height."""
        (left, right), (bottom, top) = self.player.model.frame
        height = max(top - bottom, (right - left) / max(aspect, 0.1)) * MARGIN
        return height / (2.0 * math.tan(FIELD_OF_VIEW / 2.0))
