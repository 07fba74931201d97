"""Light of collisions: bodies glow when their velocity jumps, and fade; sparks fly where they touched."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque._core.pair_keys import pack_pairs
from choque._core.types import Keys
from choque.narrow import Contacts
from choque.record import BodyTable
from choque.studio.palette import GLOW, SPARK, Colors, blended
from choque.studio.stage.extents import typical_size

FADE = 0.22
"""Time constant of the light after a collision [s]."""

FULL = 0.35
"""A jump of the velocity by this share of the greatest speed so far is drawn as the full light."""

QUIETEST = 0.2
"""Jumps below this share of a full one are not drawn: resting bodies stay dark."""

MAX_LIGHT, FREE_LIGHT = 0.15, 8.0
"""The light of all bodies together is at most this share of their number, or that of this many bodies."""

LEVELS = 12
"""Steps of the light."""

SPARK_SECONDS = 0.18
"""How long a spark is drawn [s]."""

RAYS = 7
MAX_SPARKS = 400
"""Rays of a spark, and the maximum number of sparks, the latest ones."""

LIFT = 0.4
"""How steeply rays leave a static body: level ones would pass through a curved wall and be seen behind it."""

Floats = NDArray[np.float64]


class Hits(NamedTuple):
    """Contacts that sparks fly from: when they began [s], how strong they are (k,), points and normals (k, 3).

    `away` (k, 3) is the normal away from the static body of a contact, or zero where both bodies move.
    """

    time: Floats
    strength: Floats
    point: Floats
    normal: Floats
    away: Floats


NO_HITS = Hits(np.empty(0), np.empty(0), np.empty((0, 3)), np.empty((0, 3)), np.empty((0, 3)))


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
        self._static, self._moving = static, np.flatnonzero(~static)
        self.size = size
        self.light = np.zeros(len(static))
        """(n,) light of each body, 0 to 1."""
        self._time = -np.inf
        self._position: Floats | None = None
        self._velocity: Floats | None = None
        self._fastest = 0.0
        self._known: Keys = np.empty(0, np.uint64)
        self._hits = NO_HITS

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
        brighter = np.flatnonzero(fresh > faded)
        order = brighter[np.argsort(-fresh[brighter], kind="stable")]
        most = max(MAX_LIGHT * len(fresh), FREE_LIGHT) - float(faded.sum())
        fresh[order[np.cumsum((fresh - faded)[order]) > most]] = 0.0
        self.light[self._moving] = np.maximum(faded, fresh)

    def touch(self, time: float, contacts: Contacts) -> None:
        """Start a spark at each contact that was not there at the call before, by the light of its bodies."""
        keys, before = pack_pairs(contacts.pairs), self._known
        self._known = keys
        strength = self.light[contacts.pairs].max(axis=1, initial=0.0)
        rows = np.flatnonzero(strength > QUIETEST)
        rows = rows[~np.isin(keys[rows], before)]
        kept = np.flatnonzero((self._hits.time <= time) & (time - self._hits.time < SPARK_SECONDS))
        point, normal = (column[rows].astype(np.float64) for column in (contacts.point, contacts.normal))
        side = self._static[contacts.pairs[rows]].astype(np.float64)
        fresh = Hits(np.full(len(rows), time), strength[rows], point, normal, normal * (side[:, :1] - side[:, 1:]))
        joined = (np.concatenate((old[kept], new))[-MAX_SPARKS:] for old, new in zip(self._hits, fresh, strict=True))
        self._hits = Hits(*joined)

    def colors(self, base: Colors) -> Colors:
        """Return the colours (n, 3) of bodies with their light, in few steps: unchanged colours are not sent again."""
        shown = np.rint(self.light * LEVELS) / LEVELS
        return base if not shown.any() else blended(base, GLOW, shown)

    def sparks(self) -> Sparks:
        """Return the present sparks: rays across the normal of a contact, off static bodies, that fly outward."""
        began, strength, point, normal, away = self._hits
        if not len(began):
            return Sparks(np.empty((0, 2, 3), np.float32), np.empty((0, 2, 3), np.uint8))
        age = (self._time - began) / SPARK_SECONDS
        across = np.cross(normal, np.where(np.abs(normal[:, :1]) < 0.7, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]))
        across /= np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-12)
        turn = 2.0 * np.pi * (np.arange(RAYS) / RAYS + 0.37 * np.arange(len(age))[:, np.newaxis])
        rays = np.cos(turn)[..., np.newaxis] * across[:, np.newaxis] + LIFT * away[:, np.newaxis]
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
        self._known, self._hits = self._known[:0], NO_HITS


def glow_of(cast: BodyTable) -> Glow:
    """Return the light of bodies, dark at first; sparks have about the length of a typical body."""
    return Glow(cast.static, typical_size(cast))
