"""Collision detection by one choice of methods: bounds, broad phase, narrow phase, kept between frames."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from choque import broad, threads
from choque._types import Pairs
from choque.bounds import Bounds
from choque.broad import BroadPhase
from choque.narrow._contacts import Contacts
from choque.narrow._phase import NarrowPhase
from choque.world._bodies import Bodies
from choque.world._bounds import find_bounds
from choque.world._cost import Cost, CostMeter
from choque.world._legacy import LegacyBroad, create_legacy
from choque.world._settings import Settings

Follower: TypeAlias = BroadPhase | LegacyBroad
"""What finds pairs and is kept between frames."""

NO_PAIRS: Pairs = np.empty((0, 2), np.int32)


class Detected(NamedTuple):
    """What one look at the bodies found, in rows, and how long each stage took."""

    pairs: Pairs
    contacts: Contacts
    seconds: tuple[float, float, float]
    """Of bounds, broad phase and narrow phase."""


class Detection:
    """Finds what touches among bodies, frame after frame; changes nothing about them.

    The broad phase follows the bodies as long as none comes or goes, and then starts anew. Two static bodies are never
    a pair. What is found depends on the present poses alone, in a legacy world also on the past of its sweep.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.bound = find_bounds(settings.bounds, settings.broad)
        self.narrow = NarrowPhase(settings.narrow, settings.threads)
        self.meter = CostMeter(settings.broad)
        self._broad: Follower | None = None
        self._restored: dict[str, NDArray[Any]] = {}
        self._ids: NDArray[np.int32] | None = None  # of the bodies that the broad phase knows

    def find(self, bodies: Bodies) -> Detected:
        """The candidates and contacts of ``bodies`` as they are now."""
        began = perf_counter()
        bounds = self.bound(bodies, threads.resolve_count(self.settings.threads, len(bodies)))
        bounded = perf_counter()
        pairs = self._candidates(bodies, bounds)
        paired = perf_counter()
        contacts = self.narrow.find(bodies.shapes(), pairs)
        tested = perf_counter()
        return Detected(pairs, contacts, (bounded - began, paired - bounded, tested - paired))

    def account(self, found: Detected) -> Cost:
        """The cost of the latest look, which is added to that of all."""
        counters = None if self._broad is None else self._broad.counters
        return self.meter.read(counters, found.seconds[1], len(found.pairs), found.seconds[2])

    def state(self) -> dict[str, NDArray[Any]]:
        """What the next answer depends on beside the poses, as plain arrays: nothing, but for the original's sweep."""
        return self._broad.state() if isinstance(self._broad, LegacyBroad) else self._restored

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on, with the next bodies that are looked at, from what `state` gave for them."""
        self._restored = dict(state)

    def _candidates(self, bodies: Bodies, bounds: Bounds) -> Pairs:
        if not len(bodies):
            return NO_PAIRS
        if self._broad is None or self._ids is not bodies.ids:
            self._broad = self._created(bodies, bounds)
            self._ids = bodies.ids
        else:
            self._broad.update(bounds)
        return self._broad._current_pairs()

    def _created(self, bodies: Bodies, bounds: Bounds) -> Follower:
        options = self.settings.method_options()
        if bodies.static.any():
            options["static"] = bodies.static
        if not self.settings.legacy:
            return broad.create(self.settings.broad, bounds, **options)
        made = create_legacy(self.settings.broad, bounds, **options)
        if self._restored and isinstance(made, LegacyBroad):
            made.restore(self._restored)
            made.update(bounds)
        self._restored = {}
        return made
