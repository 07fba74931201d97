"""What views of points have in common: balls at points that something else moves, a play button, a status."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque.errors import InvalidInput
from choque.record import BodyTable, Poses
from choque.scene import Camera
from choque.studio.page.findings import Findings
from choque.studio.page.page import Page
from choque.studio.page.stage import FRAMES_A_SECOND, BodiesView
from choque.studio.page.still import bodies_image
from choque.studio.png import png_bytes
from choque.studio.viewpoint import Viewpoint
from choque.world import World
from choque.world.detection import Detection
from choque.world.settings import Settings

Motion = Callable[[float], object]
"""Moves what a view shows by some seconds."""

Floats = NDArray[np.float64]


def in_space(points: NDArray[np.floating]) -> Floats:
    """Return points (n, 2) or (n, 3) in the space of the page; the plane of 2D points is horizontal, y points away."""
    if points.shape[1] == 3:
        return points.astype(np.float64)
    return np.column_stack((points[:, 0], np.zeros(len(points)), -points[:, 1])).astype(np.float64)


def chosen(word: str, defaults: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a word such as ``crowd:600``: its number as ``n``, those given, and defaults."""
    name, colon, number = word.partition(":")
    if colon and not number.isdecimal():
        raise InvalidInput(f"{word!r} was given; write the number as in {name}:{defaults['n']}.")
    if unknown := given.keys() - defaults.keys():
        raise InvalidInput(f"{name} has no parameter {min(unknown)!r}; give {', '.join(defaults)}.")
    return {**defaults, **given, **({"n": int(number)} if colon else {})}


class PointsView(BodiesView):
    """Shows points that belong to an object outside, as they are at each moment.

    A program that has the object changes it in the thread of the studio, by `Studio.ask`; the page then follows. With a
    motion the view has a button that plays it.

    Parameters
    ----------
    motion
        Moves the object by some seconds; None if the page only looks at it.
    """

    def __init__(self, motion: Motion | None = None) -> None:
        self._motion = motion
        self._playing = False
        self._elapsed = 0.0
        self._table: BodyTable | None = None
        self.picked = None

    # What a subclass gives

    @abstractmethod
    def points(self) -> NDArray[np.floating]:
        """Return where the points are, (n, 2) or (n, 3)."""

    @abstractmethod
    def sizes(self) -> ArrayLike:
        """Return the radii with which they are drawn, one or (n,)."""

    @abstractmethod
    def status(self) -> str:
        """Return what the panel says, as HTML."""

    @abstractmethod
    def add_controls(self) -> None:
        """Add controls to the first tab."""

    def add_bodies(self, world: World) -> None:
        """Add what is drawn for each point, a ball, to an empty world."""
        world.add_spheres(position=in_space(self.points()), radius=np.asarray(self.sizes(), np.float64))

    def version(self) -> object:
        """Return something that differs whenever the object has changed; compared after every action."""
        return None

    # Open, tick

    def open(self, page: Page) -> None:
        """Build the page."""
        self._due = self._updated = 0.0
        self._engage()
        self._seen = self.version()
        self.set_up(page, self._direction())
        with page.tab(self.title):
            self._status = page.html(self.status())
            if self._motion is not None:
                self._play = page.button("Play", self.toggle, hint="P or Space", is_main=True)
            self.add_controls()
            page.checkbox("Shadows", self.backdrop.has_shadows, self._set_shadows)
            page.picture_button()
            page.button("Back to the chooser", page.home)
        if self._motion is not None:
            page.key(("P", "space"), "Play or pause", self.toggle)
            page.key("F", "One step forward", self.step)
        self.present()

    def tick(self) -> float | None:
        """Move what is due, draw what changed, and return the seconds until the next call."""
        now = time.perf_counter()
        waits = [] if (held := self.cameras.let_go()) is None else [held]
        if self._playing and now >= self._due:
            self.advance(1.0 / FRAMES_A_SECOND)
            self._due = max(self._due, now - 0.5 / FRAMES_A_SECOND) + 1.0 / FRAMES_A_SECOND
        if (version := self.version()) != self._seen:
            self._seen, self.is_stale = version, True
        if self.is_stale:
            self._follow()
            self.present()
            if not self._playing or now - self._updated > 0.2:
                self._updated, self._status.content = now, self.status()
        if self._playing:
            waits.append(max(0.0, self._due - time.perf_counter()))
        return min(waits) if waits else None

    def advance(self, seconds: float) -> None:
        """Move by some seconds."""
        if self._motion is not None:
            self._motion(seconds)
            self._elapsed += seconds
            self.is_stale = True

    def toggle(self) -> None:
        """Play or pause."""
        self._playing = not self._playing
        self._play.label = "Pause" if self._playing else "Play"
        self._due, self.is_stale = time.perf_counter(), True

    def step(self) -> None:
        """Pause and make one step."""
        if self._playing:
            self.toggle()
        self.advance(1.0 / FRAMES_A_SECOND)

    def pick(self, identity: int | None) -> None:
        """Select the point of this row; None for none."""
        self.picked, self.is_stale = identity, True

    # Content

    def picture(self, viewpoint: Viewpoint | None, size: tuple[int, int]) -> bytes:
        """Draw the points and what belongs to them as a PNG."""
        return png_bytes(self.image(size, viewpoint))

    def image(self, size: tuple[int, int], viewpoint: Viewpoint | Camera | None = None) -> NDArray[np.uint8]:
        """Draw the points and what belongs to them, also without a page: (height, width, 3), top row first."""
        self._follow()
        return bodies_image(
            self.cast(),
            self.poses(),
            self._colors(self.look()),
            self.lines(),
            viewpoint=viewpoint or self._direction(),
            size=size,
        )

    def _direction(self) -> Camera:
        return Camera(30.0, -40.0, 20.0) if self.points().shape[1] == 2 else Camera(30.0, -20.0, 30.0)

    def cast(self) -> BodyTable:
        """Return the points as balls."""
        if self._table is None:
            self._engage()
        assert self._table is not None
        return self._table

    def poses(self) -> Poses:
        """Return where they are."""
        bodies = self._world.bodies
        return Poses(bodies.position.astype(np.float32), bodies.rotation.astype(np.float32))

    def look(self) -> Findings:
        """Return the balls; no overlay of this view asks for their contacts."""
        return Findings(self._world.bodies, Detection(Settings().checked()))

    def time(self) -> float:
        """Return how long it has played [s]."""
        return self._elapsed

    def _engage(self) -> None:
        """Make the bodies that are drawn."""
        self._world = World(response="impulse")
        self.add_bodies(self._world)
        self._table = BodyTable.of(self._world.bodies)

    def _follow(self) -> None:
        points = in_space(self.points())
        if len(points) != len(self.cast()):
            self.picked = None
            self._engage()
        self._world.bodies.position[:] = points
