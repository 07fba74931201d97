"""Collision detection by one choice of methods: bounds, broad phase, narrow phase, kept between frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from choque import broad
from choque._core import threads
from choque._core.types import Pairs
from choque.bounds import Bounds
from choque.broad import BroadPhase
from choque.narrow.manifold import Contacts
from choque.narrow.phase import KindTally, NarrowPhase
from choque.narrow.shapes import Shapes
from choque.world._cost import Cost, CostMeter
from choque.world.bodies import Bodies
from choque.world.bounds import find_bounds
from choque.world.settings import Settings

if TYPE_CHECKING:
    from choque.world._resident import ResidentSweep

Follower: TypeAlias = "BroadPhase | ResidentSweep"
"""What finds pairs and is kept between frames."""

NO_PAIRS: Pairs = np.empty((0, 2), np.int32)


class Detected:
    """What one look at the bodies found, in rows, and how long each stage took.

    Exact tests that were put off are made when `contacts` or `tally` is first asked for, on the ``shapes`` of the look,
    which are kept until then.

    Attributes
    ----------
    pairs
        (m, 2) the candidates.
    seconds
        Of bounds, broad phase and narrow phase; tests that are made later are not in it.
    """

    def __init__(self, pairs: Pairs, narrow: NarrowPhase, shapes: Shapes) -> None:
        self.pairs = pairs
        self.seconds = (0.0, 0.0, 0.0)
        self._narrow = narrow
        self._shapes: Shapes | None = shapes
        self._contacts = Contacts.none()
        self._tally: dict[str, KindTally] = {}

    @property
    def contacts(self) -> Contacts:
        """The contacts among the pairs, in their order."""
        self.test()
        return self._contacts

    @property
    def tally(self) -> dict[str, KindTally]:
        """Tests, contacts and seconds of the exact tests by pair of kinds."""
        self.test()
        return self._tally

    @property
    def is_tested(self) -> bool:
        """Whether the exact tests have been made."""
        return self._shapes is None

    def test(self) -> None:
        """Make the exact tests, unless they have been."""
        if self._shapes is not None:
            self._contacts = self._narrow.find(self._shapes, self.pairs)
            self._tally = self._narrow.tally
            self._shapes = None


class Detection:
    """Finds what touches among bodies, frame after frame; changes nothing about them.

    The broad phase follows the bodies as long as none comes or goes, and then starts anew. Two static bodies are never
    a pair. What is found depends on the present poses alone, in a legacy world also on the past of its sweep. Where
    bodies can stay on a device, the device bounds them too, and that time counts as the broad phase's.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.bound = find_bounds(settings.bounds, settings.broad)
        self.narrow = NarrowPhase(settings.narrow, threads=settings.threads)
        self.meter = CostMeter(settings.broad)
        self._broad: BroadPhase | None = None
        self._resident = _resident_sweep(settings)
        self._restored: dict[str, NDArray[Any]] = {}
        self._ids: NDArray[np.int32] | None = None  # of the bodies that the broad phase knows

    @property
    def broad_phase(self) -> Follower | None:
        """The broad phase as the latest look left it, to be read; None before the first."""
        if self._resident is not None and self._resident.has_looked:
            return self._resident
        return self._broad

    def find(self, bodies: Bodies, *, exact: bool = True) -> Detected:
        """The candidates and contacts of ``bodies`` as they are now; with ``exact`` False, contacts when asked for."""
        began = perf_counter()
        if self._resident is None:
            bounds = self.bound(bodies, threads.resolve_count(self.settings.threads, len(bodies)))
            bounded = perf_counter()
            pairs = self._candidates(bodies, bounds)
        else:
            bounded = began
            pairs = self._resident.follow(bodies) if len(bodies) else NO_PAIRS
        paired = perf_counter()
        shapes = bodies.shapes()
        if exact:
            found = Detected(pairs, self.narrow, shapes)
            found.test()
        else:
            kept = replace(shapes, position=shapes.position.copy(), rotation=shapes.rotation.copy())
            found = Detected(pairs, self.narrow, kept)
        found.seconds = (bounded - began, paired - bounded, perf_counter() - paired)
        return found

    def account(self, found: Detected) -> Cost:
        """The cost of the latest look, which is added to that of all; exact tests that were put off cost nothing."""
        broad_phase = self.broad_phase
        counters = None if broad_phase is None else broad_phase.counters
        tests, seconds = (len(found.pairs), found.seconds[2]) if found.is_tested else (0, 0.0)
        return self.meter.read(counters, found.seconds[1], tests, seconds)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what the next answer depends on beside the poses, as arrays by name; nothing for most methods."""
        return self._restored if self._broad is None else self._broad.index.state()

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
        return self._broad.held_pairs()

    def _created(self, bodies: Bodies, bounds: Bounds) -> BroadPhase:
        options = self.settings.method_options()
        if bodies.static.any():
            options["static"] = bodies.static
        made = broad.create(self.settings.broad, bounds, **options)
        if self._restored:
            made.restore(self._restored)
            made.update(bounds)
        self._restored = {}
        return made


def _resident_sweep(settings: Settings) -> ResidentSweep | None:
    """What finds candidates where bodies stay on a device; None where they do not."""
    if settings.device is None:
        return None
    from choque.world._resident import ResidentSweep

    return ResidentSweep.serving(settings)
