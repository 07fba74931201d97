"""Light of collisions: bodies glow when their velocity jumps, and fade; sparks fly where they touched."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque.narrow import Contacts
from choque.record import BodyTable, Poses
from choque.studio.palette import GLOW, SPARK, Colors, blended
from choque.studio.stage.camera import outline

FADE = 0.22
"""Time constant of the light after a collision [s]."""

FULL = 0.35
"""A jump of the velocity by this share of the greatest speed so far is drawn as the full light."""

QUIETEST = 0.2
"""Jumps below this share of a full one are not drawn: resting bodies stay dark."""

MAX_LIGHT, FEW = 0.15, 8.0
"""The light of all bodies together is at most this share of their number, or that of this many bodies."""

LEVELS = 12
"""Steps of the light."""

SPARK_SECONDS = 0.18
"""How long a spark is drawn [s]."""

RAYS = 7
MAX_SPARKS = 400
"""Rays of a spark, and the maximum number of sparks, the latest ones."""

Floats = NDArray[np.float64]


class Sparks(NamedTuple):
    """Sparks as segments (m, 2, 3), with a colour for each end (m, 2, 3)."""

    ends: NDArray[np.float32]
    colors: Colors


class Glow:
    """The light of each body from frame to frame, by its positions alone.

    A collision changes a velocity at once, gravity slowly. So the light follows the jump of the velocity between two
    frames, less the median of all bodies, which gravity gives to all alike. It needs no contacts: worlds, recordings
    and films, whose frames may be several steps apart, all light up alike.

    Parameters
    ----------
    static
        (n,) which bodies never glow.
    size
        A typical radius of a body; sparks have about this length.
    """

    def __init__(self, static: NDArray[np.bool_], size: float) -> None:
        self._moving = np.flatnonzero(~static)
        self.size = size
        self.light = np.zeros(len(static))
        """(n,) light of each body, 0 to 1."""
        self._time = -np.inf
        self._position: Floats | None = None
        self._velocity: Floats | None = None
        self._fastest = 0.0
        self._known: set[tuple[int, int]] = set()
        self._sparks: list[tuple[float, float, Floats, Floats]] = []  # time, strength, point, normal

    def advance(self, time: float, position: NDArray[np.floating]) -> None:
        """Take the positions (n, 3) at a later time [s]; an earlier time, or one long after, starts again."""
        elapsed = time - self._time
        here = position[self._moving].astype(np.float64)
        if elapsed == 0.0:
            return
        if self._position is None or not 0.0 < elapsed < 1.0:
            self._forget()
        elif len(here):
            velocity = (here - self._position) / elapsed
            self._fastest = max(self._fastest, float(np.quantile(np.linalg.norm(velocity, axis=1), 0.98)))
            if self._velocity is not None:
                self._light_up(velocity - self._velocity, elapsed)
            self._velocity = velocity
        self._time, self._position = time, here

    def _light_up(self, change: Floats, elapsed: float) -> None:
        common = np.median(change, axis=0)
        jump = np.linalg.norm(change - common, axis=1)
        full = max(FULL * self._fastest, self.size, 4.0 * float(np.linalg.norm(common)))
        fresh = np.clip((jump / full - QUIETEST) / (1.0 - QUIETEST), 0.0, 1.0)
        faded = self.light[self._moving] * np.exp(-elapsed / FADE)
        # The greatest jumps first, until the share of light is used up: where all collide, all would glow.
        order = np.argsort(-fresh, kind="stable")
        most = max(MAX_LIGHT * len(fresh), FEW) - float(faded.sum())
        fresh[order[np.cumsum(np.maximum(fresh - faded, 0.0)[order]) > most]] = 0.0
        self.light[self._moving] = np.maximum(faded, fresh)

    def touch(self, time: float, contacts: Contacts) -> None:
        """Start a spark at each contact that was not there at the call before, by the light of its bodies."""
        pairs = contacts.pairs
        now = set(map(tuple, pairs.tolist()))
        strength = self.light[pairs].max(axis=1) if len(pairs) else np.empty(0)
        for row in np.flatnonzero(strength > QUIETEST).tolist():
            if (int(pairs[row, 0]), int(pairs[row, 1])) not in self._known:
                self._sparks.append(
                    (time, float(strength[row]), contacts.point[row].copy(), contacts.normal[row].copy())
                )
        self._known = now
        self._sparks = [spark for spark in self._sparks if 0.0 <= time - spark[0] < SPARK_SECONDS][-MAX_SPARKS:]

    def colors(self, base: Colors) -> Colors:
        """Return the colours (n, 3) of bodies with their light, in few steps: unchanged colours are not sent again."""
        shown = np.rint(self.light * LEVELS) / LEVELS
        return base if not shown.any() else blended(base, GLOW, shown)

    def sparks(self) -> Sparks:
        """Return the present sparks: rays across the normal of a contact that fly outward and fade."""
        if not self._sparks:
            return Sparks(np.empty((0, 2, 3), np.float32), np.empty((0, 2, 3), np.uint8))
        age = np.array([self._time - spark[0] for spark in self._sparks]) / SPARK_SECONDS
        strength = np.array([spark[1] for spark in self._sparks])
        point, normal = (np.array([spark[column] for spark in self._sparks]) for column in (2, 3))
        across = np.cross(normal, np.where(np.abs(normal[:, :1]) < 0.7, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]))
        across /= np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-12)
        turn = 2.0 * np.pi * (np.arange(RAYS) / RAYS + 0.37 * np.arange(len(age))[:, np.newaxis])
        rays = np.cos(turn)[..., np.newaxis] * across[:, np.newaxis]
        rays = rays + np.sin(turn)[..., np.newaxis] * np.cross(normal, across)[:, np.newaxis]
        reach = (self.size * (0.6 + 1.4 * strength))[:, np.newaxis, np.newaxis]
        outer = np.clip(0.35 + age, 0.0, 1.0)[:, np.newaxis, np.newaxis]
        inner = np.clip(1.3 * age - 0.1, 0.0, 1.0)[:, np.newaxis, np.newaxis] * outer
        ends = point[:, np.newaxis, np.newaxis] + np.stack((inner * reach * rays, outer * reach * rays), axis=2)
        bright = np.repeat(np.array([SPARK, GLOW], np.float64)[np.newaxis], len(age) * RAYS, axis=0)
        return Sparks(ends.reshape(-1, 2, 3).astype(np.float32), bright.astype(np.uint8))

    def _forget(self) -> None:
        self.light[:] = 0.0
        self._velocity = None
        self._known, self._sparks = set(), []


def glow_of(cast: BodyTable, poses: Poses) -> Glow:
    """Return the light of bodies, dark at first; sparks have about the length of a typical body."""
    _, reach = outline(cast, poses)
    sizes = reach[reach > 0.0]
    return Glow(cast.static, float(np.median(sizes)) if len(sizes) else 1.0)
