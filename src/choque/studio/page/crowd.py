"""The view of areas of interest: bodies, the areas of their owners, and members that light up; a crowd that walks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core import check
from choque.errors import InvalidInput
from choque.interest import Areas
from choque.studio.page.entries import Entry
from choque.studio.page.findings import Findings
from choque.studio.page.points import Motion, PointsView, chosen, in_space
from choque.studio.page.run_panels import counted
from choque.studio.page.still import Lines
from choque.studio.page.wires import CIRCLE, NO_SEGMENTS, Segments, box_wires, sphere_wires
from choque.studio.palette import FREE, GLOW, PICKED, Colors, Rgb, blended
from choque.world import World

OWNER: Rgb = (120, 220, 255)
"""Owners, and the outlines of their areas."""

MAX_AREAS, MAX_MEMBERS = 300, 4_000
"""Maximum numbers of areas and of lines to members that are drawn."""

FADE = 0.35
"""Time constant of the light of a body that has left all areas [s]."""

SIZE = 0.09
"""Minimum radius with which a body is drawn, as a share of the median radius of the areas."""

TALL = 1.6
"""In a plane, bodies are drawn as upright figures: capsules whose cylinders are this many radii long."""

UPRIGHT = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
"""Turns local z, the axis of capsules, up."""

MAX_LISTED = 12


class CrowdView(PointsView):
    """Bodies and areas of interest: the more areas a body is in, the warmer it is.

    Parameters
    ----------
    areas
        Shown as they are at each moment, not copied: a program may move its bodies with `Studio.ask`.
    motion
        Moves the bodies by some seconds; None for areas that something else moves.
    """

    picture_name = "choque-crowd.png"

    def __init__(self, areas: Areas, *, motion: Motion | None = None, title: str = "Areas of interest") -> None:
        if not len(areas):
            raise InvalidInput("The areas have no bodies; give at least one to show.")
        super().__init__(motion)
        self.areas, self.title = areas, title
        self._light = np.zeros(len(areas))
        self._lit_at = 0.0
        self._feet = 0.0  # their height
        self._radius = float(np.median(areas.radius[np.isfinite(areas.radius)])) if len(areas.owners) else 1.0

    # Content

    def points(self) -> NDArray[np.floating]:
        """Return the positions of the bodies."""
        return self.areas.position

    def sizes(self) -> ArrayLike:
        """Return the radii of the bodies, at least so large that they are seen."""
        return np.maximum(self.areas.body_radius, SIZE * self._radius)

    def add_bodies(self, world: World) -> None:
        """Add a figure for each body in a plane, a ball for each in space."""
        if self.areas.dimension == 3:
            super().add_bodies(world)
        else:
            size = np.asarray(self.sizes(), np.float64)
            world.add_capsules(in_space(self.points()), size, TALL * size, rotation=UPRIGHT)
            self._feet = -(1.0 + TALL / 2.0) * float(size.max())

    def version(self) -> object:
        """Return a number that differs after each change of the areas."""
        return hash((self.areas.position.tobytes(), self.areas.radius.tobytes()))

    def status(self) -> str:
        """Return how many are members, and what the latest change did."""
        areas = self.areas
        lines = [
            f"<b>{len(areas):,} bodies</b>, {len(areas.owners):,} areas, {len(areas.pairs()):,} memberships",
            f"Latest change: {len(areas.entered):,} entered, {len(areas.left):,} left",
            f"{counted(areas.counters.events, 'search', 'searches')} of the lists so far",
        ]
        if (body := self._picked_id) is not None:
            members = areas.members(body)
            named = ", ".join(map(str, members[:MAX_LISTED].tolist())) or "none"
            more = f" and {len(members) - MAX_LISTED:,} more" if len(members) > MAX_LISTED else ""
            about = f"{len(members):,} members: {named}{more}" if body in areas.owners else "no area"
            lines.append(f"<b>Body {body}</b>: {about}")
        else:
            lines.append("Click a body to see its members.")
        return "<br>".join(lines)

    @property
    def _picked_id(self) -> int | None:
        """The id of the selected body among the areas; what is drawn has rows."""
        return None if self.picked is None else int(self.areas.ids[self.picked])

    def add_controls(self) -> None:
        """Add the radius of the areas, and a button that gives the selected body an area."""
        top = 3.0 * self._radius
        self.page.slider("Radius", 0.02 * top, top, 0.01 * top, self._radius, self.resize, hint="Of all areas.")
        self.page.button("Area of the selected body", self.toggle_area, hint="Give it an area, or take it away.")

    def resize(self, radius: float) -> None:
        """Give all areas this radius."""
        self._radius = radius
        self.areas.resize(self.areas.owners, radius)

    def toggle_area(self) -> None:
        """Give the selected body an area, or take it away."""
        body = self._picked_id
        if body is None:
            raise InvalidInput("No body is selected; click one first.")
        self.areas.resize([body], [None] if body in self.areas.owners else self._radius)

    def lines(self) -> list[Lines]:
        """Return the outlines of the areas, and lines from the selected owner to its members."""
        areas = self.areas
        rows = np.searchsorted(areas.ids, areas.owners)[:MAX_AREAS]
        rows = rows[np.isfinite(areas.radius[rows])]
        return [Lines(self._outlines(rows), OWNER), Lines(self._rays(), GLOW)]

    def _outlines(self, rows: NDArray[np.integer]) -> Segments:
        center, radius = self.areas.position[rows], self.areas.radius[rows]
        place = in_space(center)
        if self.areas.dimension == 3:
            if self.areas.shape == "box":
                return box_wires(place - radius[:, np.newaxis], place + radius[:, np.newaxis])
            return sphere_wires(place, radius)
        if self.areas.shape == "box":
            outline = np.array([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0)])
        else:
            angle = 2.0 * np.pi * np.arange(2 * CIRCLE + 1) / (2 * CIRCLE)
            outline = np.column_stack((np.cos(angle), np.sin(angle)))
        flat = center[:, np.newaxis] + radius[:, np.newaxis, np.newaxis] * outline
        turned = in_space(flat.reshape(-1, 2)).reshape(*flat.shape[:2], 3)
        turned[:, :, 1] = self._feet
        return np.stack((turned[:, :-1], turned[:, 1:]), axis=2).reshape(-1, 2, 3).astype(np.float32)

    def _rays(self) -> Segments:
        areas, body = self.areas, self._picked_id
        if body is None or body not in areas.owners:
            return NO_SEGMENTS
        place = in_space(areas.position)
        members = np.searchsorted(areas.ids, areas.members(body)[:MAX_MEMBERS])
        start = np.broadcast_to(place[self.picked], (len(members), 3))
        return np.stack((start, place[members]), axis=1).astype(np.float32)

    def _colors(self, findings: Findings) -> Colors:  # noqa: ARG002
        areas = self.areas
        count = np.bincount(np.searchsorted(areas.ids, areas.pairs()[:, 1]), minlength=len(areas))
        present = 1.0 - 0.25**count
        faded = np.exp(-max(self.time() - self._lit_at, 0.0) / FADE)
        if len(self._light) != len(areas):
            self._light = np.zeros(len(areas))
        self._light, self._lit_at = np.maximum(present, faded * self._light), self.time()
        color = blended(np.tile(np.array(FREE, np.uint8), (len(areas), 1)), GLOW, self._light)
        if len(areas.owners) < len(areas):
            color[np.searchsorted(areas.ids, areas.owners)] = OWNER
        if self.picked is not None:
            color[self.picked] = PICKED
        return color


class Walkers:
    """People that walk on a square, turn slowly, and turn back at its borders.

    Parameters
    ----------
    count
        How many; each has about nine square metres.
    owners
        How many of them have an area.
    radius
        Radius of the areas [m].
    """

    def __init__(self, count: int, *, owners: int = 12, radius: float = 6.0, seed: int = 0) -> None:
        count = check.whole_number(count, "n", 1, 200_000)
        owners = check.whole_number(owners, "owners", 0, count)
        self._random = np.random.default_rng(seed)
        self._side = 3.0 * count**0.5
        self._place = self._random.uniform(0.0, self._side, (count, 2))
        self._heading = self._random.uniform(0.0, 2.0 * np.pi, count)
        self._turn = np.zeros(count)
        self._speed = self._random.normal(1.4, 0.25, count).clip(0.5)
        with_area = self._random.choice(count, owners, replace=False)
        reach = check.positive(radius, "radius")
        wanted = np.ma.masked_array(np.full(count, reach), ~np.isin(np.arange(count), with_area))
        self.areas = Areas(self._place, radius=wanted, body_radius=0.35)

    def walk(self, seconds: float) -> None:
        """Walk for some seconds."""
        self._turn += self._random.normal(0.0, 2.0, len(self._turn)) * seconds**0.5 - 1.5 * self._turn * seconds
        self._heading += self._turn * seconds
        step = self._speed * seconds
        place = self._place + np.column_stack((np.cos(self._heading), np.sin(self._heading))) * step[:, np.newaxis]
        for axis, mirrored in ((0, np.pi - self._heading), (1, -self._heading)):
            outside = (place[:, axis] < 0.0) | (place[:, axis] > self._side)
            self._heading = np.where(outside, mirrored, self._heading)
        self._place = place.clip(0.0, self._side)
        self.areas.update(self._place)


NAME = "crowd"


def _open(things: Sequence[str], parameters: Mapping[str, Any]) -> CrowdView:
    if len(things) != 1:
        raise InvalidInput(f"{len(things)} crowds were given, {', '.join(things)}; the studio shows one.")
    given = chosen(things[0], _PARAMETERS, parameters)
    walkers = Walkers(given["n"], owners=min(given["owners"], given["n"]), radius=given["radius"], seed=given["seed"])
    return CrowdView(walkers.areas, motion=walkers.walk, title="A crowd")


_PARAMETERS: dict[str, Any] = {"n": 250, "owners": 8, "radius": 6.0, "seed": 0}

CROWDS = Entry(
    title="Crowds",
    about="People on a square, and areas of interest whose members light up.",
    things=lambda: {NAME: "Walkers; some of them have an area, whose members glow."},
    open=_open,
    parameters=lambda _: _PARAMETERS,
    claims=lambda word: word.partition(":")[0] == NAME,
)
