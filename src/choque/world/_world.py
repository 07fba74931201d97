"""A world of rigid bodies, simulated step by step."""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from choque._core import check, threads
from choque._core.ids import Identities
from choque._core.kernel import compile_ahead
from choque._core.threads import Gate, one_thread
from choque._core.types import F64, I32, Bools, Pairs
from choque.bounds import Bounds
from choque.dynamics import Response, create_response, mechanics
from choque.dynamics.response import Events, Solved
from choque.errors import InvalidInput
from choque.narrow.pair import MAX_POINTS, Contacts
from choque.world._population import Population
from choque.world._queries import Queries
from choque.world.bodies import Before, Bodies, Loan, state_hash
from choque.world.bounds import mean_row
from choque.world.detection import NO_PAIRS, Detected, Detection
from choque.world.report import SOLVER_STAGES, StepReport
from choque.world.settings import Settings


class World(Population, Queries):
    """Rigid bodies that move, collide and rebound, in steps of fixed length.

    Parameters
    ----------
    broad
        The broad phase: any name of `choque.broad.names`.
    bounds
        The bounds of bodies: ``"box"``, ``"oriented"``, ``"sphere"``, ``"6-dop"``, ``"14-dop"``, ``"18-dop"``,
        ``"26-dop"``, or another name of `choque.world.bounds_names`. None for those that suit the broad phase: oriented
        boxes for ``sap-obb`` and ``brute-obb``, 18-DOPs for ``sap-kdop``, boxes for all others.
    narrow
        The contact rules: ``"exact"``, or another name in `choque.narrow.rules.RULES`.
    response
        How contacts are resolved: any name of `choque.dynamics.response_names`. By ``"soft-step"`` bodies have friction
        and come to rest.
    response_options
        Options of the response, by name: ``{"iterations": 20}`` for ``"shape-matching"``.
    gravity
        The acceleration (3,) of bodies that are added without one of their own, static ones excepted [unit/s²]; None
        for none.
    dtype
        ``"float64"`` or ``"float32"``, or NumPy's type of that name.
    threads
        The number of threads; None for all. The simulation is the same, bit for bit, for any number.
    device
        The device of a broad phase that runs on a GPU: ``"cuda"``, ``"cuda:N"`` or ``"warp-cpu"``; ``"auto"`` is then
        ``sap-kdop``. With that method, closed k-DOPs and a response without a skin, such as ``"impulse"``, the bodies
        stay on the device: a step sends 96 bytes per body (48 in float32) and receives the pairs;
        ``detection.broad_phase.index.traffic`` counts the bytes. Other bounds are computed on the CPU and sent.
    max_speed, max_spin
        Limits [unit/s] and [rad/s]; None for no limit.
    broad_options
        Further options of the broad phase.

    Notes
    -----
    By ``"soft-step"`` a step is bounds, broad phase, manifolds, solver, sleep and integration; by other responses
    bounds, broad phase, narrow phase, response and integration (shape matching integrates first). The length of a step
    does not depend on how long it takes to compute, so runs repeat exactly. By ``"impulse"`` there is no friction, no
    resting contact and no correction of positions. Bodies that move farther than their size in a step may pass through
    each other; by ``"soft-step"`` only two moving bodies may, and only if neither is a bullet.

    Examples
    --------
    >>> import choque
    >>> world = choque.World(gravity=(0, -9.81, 0))
    >>> ids = world.add_boxes([[0, 0.5, 0], [0, 1.5, 0]], friction=0.6)
    >>> ground = world.add_ground()
    >>> for _ in range(60):
    ...     report = world.step(1 / 60)
    >>> world.asleep.tolist()
    [True, True, False]
    """

    _frame: int
    _time: float
    _dt: float
    _latest: Detected | None
    _latest_ids: Identities
    _sensed: Pairs  # which sensors and bodies overlapped after the latest step
    _resting: tuple[Bodies, Settings, StepReport] | None  # the report of a step in which these bodies slept

    def __init__(
        self,
        broad: str = "auto",
        *,
        bounds: str | None = None,
        narrow: str = "exact",
        response: str = "soft-step",
        response_options: Mapping[str, Any] | None = None,
        gravity: ArrayLike | None = None,
        dtype: str | type[np.floating] | np.dtype[np.floating] = "float64",
        threads: int | None = None,
        device: str | None = None,
        max_speed: float | None = None,
        max_spin: float | None = None,
        **broad_options: Any,
    ) -> None:
        if response == "soft-step":
            compile_ahead(mean_row)
        settings = Settings(
            broad=broad,
            bounds=bounds,
            narrow=narrow,
            response=response,
            gravity=(0.0, 0.0, 0.0) if gravity is None else check.triple(gravity, "gravity"),
            dtype=check.float_type(dtype).name,
            threads=threads,
            device=device,
            max_speed=max_speed,
            max_spin=max_spin,
            broad_options=broad_options,
            response_options=_own(response_options),
        )
        self._gate, self._before, self._loan = Gate(), Before(), Loan()
        self._engage(settings.on_device().checked(World))
        self._resume(Bodies.none(np.dtype(self.settings.dtype)), Identities.first(0), 0, 0.0)

    def __repr__(self) -> str:
        return f"<World: {len(self)} bodies, frame {self._frame}, broad phase {self.settings.broad!r}>"

    def _repr_html_(self) -> str:
        from choque._core.notebook import boxes_picture, card

        boxes = self.bounds().boxes() if len(self) else None
        facts: dict[str, object] = {"bodies": len(self), "frame": self._frame, "time": self.time}
        facts |= {"broad phase": self.settings.broad, "response": self.settings.response}
        return card("World", facts, "" if boxes is None else boxes_picture(boxes.lower, boxes.upper))

    # State

    @property
    def frame(self) -> int:
        """The number of steps so far."""
        return self._frame

    @property
    def time(self) -> float:
        """The simulated time [s]: the sum of all ``dt``."""
        return self._time

    @property
    def dt(self) -> float:
        """The length of the latest step [s]; 0 before the first."""
        return self._dt

    def pairs(self) -> Pairs:
        """Return the candidates of the latest step, as ids: (m, 2) int32, sorted."""
        return NO_PAIRS if self._latest is None else self._latest_ids.name(self._latest.pairs)

    def contacts(self) -> Contacts:
        """Return the contacts of the latest step, with the ids of both bodies, in the order of their pairs.

        If the response makes exact tests itself, the contacts are computed by this call, in the poses before the step.
        """
        if self._latest is None:
            return Contacts.none(self._bodies.dtype.type)
        found = self._latest.contacts
        return found if self._latest_ids.are_rows else replace(found, pairs=self._latest_ids.name(found.pairs))

    def forces(self) -> F64:
        """Return the normal force at each point of `contacts`, at the end of the latest step (m, 4).

        [mass · unit/s²]; 0 beyond ``point_count``, and NaN by responses that do not know forces.
        """
        return np.empty((0, MAX_POINTS)) if self._latest is None else self._latest.forces

    @property
    def detection(self) -> Detection:
        """The present bounds, broad phase and narrow phase, for reading."""
        return self._detection

    @property
    def response(self) -> Response:
        """The present response, for reading."""
        return self._response

    @property
    def gravity(self) -> tuple[float, ...]:
        """The acceleration of bodies that are added without one of their own [unit/s²]."""
        return self.settings.gravity

    @property
    def asleep(self) -> Bools:
        """(n,): which bodies sleep; none by responses that know no sleep."""
        found = self._response.asleep(self._bodies)
        return np.zeros(len(self), np.bool_) if found is None else found

    @property
    def islands(self) -> I32:
        """(n,): the island of each body, named by the least id in it; −1 for static bodies.

        Bodies that touch, directly or through others that are not static, are an island: they sleep and wake together.
        By responses that know no sleep each body is its own.
        """
        found = self._response.islands(self._bodies)
        return np.where(self._bodies.static, -1, self._bodies.ids).astype(np.int32) if found is None else found

    @property
    def events(self) -> Events:
        """What happened in the latest step, as arrays.

        Contacts that began and ended, hits, bodies that fell asleep or woke; by all responses, bodies that entered or
        left sensors.
        """
        return Events.none() if self._latest is None else self._latest.events

    def energy(self) -> float:
        """Return the kinetic energy of all bodies that are not static."""
        return float(mechanics.kinetic_energy(self._bodies).sum())

    def momentum(self) -> F64:
        """Return the momentum (3,) of all bodies that are not static."""
        found: F64 = mechanics.momentum(self._bodies).sum(axis=0)
        return found

    def angular_momentum(self) -> F64:
        """Return the angular momentum (3,) about the origin of all bodies that are not static."""
        found: F64 = mechanics.angular_momentum(self._bodies).sum(axis=0)
        return found

    def hash(self) -> int:
        """Return a 64-bit hash of ids, poses, velocities and the frame number."""
        return state_hash(self._bodies, self._frame)

    def bounds(self) -> Bounds:
        """Return the present bounding volumes of all bodies, of the kind that the broad phase uses."""
        return self._detection.bound(self._bodies, threads.resolve_count(self.settings.threads, len(self)))

    def sensed(self) -> Pairs:
        """Return which bodies overlap which sensors now, by exact tests: (m, 2) ids of sensor and body, sorted."""
        return self._detection.sensed(self._bodies)

    # Work

    @one_thread
    def apply_impulses(
        self, ids: ArrayLike, impulse: ArrayLike = 0.0, *, point: ArrayLike | None = None, angular: ArrayLike = 0.0
    ) -> None:
        """Change the velocities of bodies by impulses, at once; sleepers wake, static bodies are not moved.

        Without an impulse it only wakes: call it after you have changed a rotation, friction, a belt, a shape or a
        mask of bodies that sleep, or of a static body on which others sleep.

        Parameters
        ----------
        ids
            (k,): each once.
        impulse
            (3,) or (k, 3) [mass · unit/s]; a force F that acts for a step is the impulse ``F * dt``.
        point
            (3,) or (k, 3): where it acts, in the world; None for the centres of mass.
        angular
            (3,) or (k, 3) [mass · unit²/s]: an impulse that turns alone; ``torque * dt`` for a torque.
        """
        rows = self._identities.rows_of(ids)
        mechanics.apply_impulses(self._bodies, rows, impulse, point, angular)
        self._response.wake(self._bodies.ids[rows])

    @one_thread
    def step(self, dt: float = 1 / 60) -> StepReport:
        """Advance by ``dt`` seconds: detect contacts, respond to them, and move all bodies.

        A step that fails or is interrupted leaves the world as it was; the contacts of the one before may be gone.
        """
        seconds = check.positive(dt, "dt")
        if self._response.rests(self._bodies, self._loan.was_asked()):
            return self._rest(seconds)
        self._before.keep(self)
        try:
            return self._step(seconds)
        except BaseException:
            self._before.restore(self)
            raise

    def _step(self, dt: float) -> StepReport:
        bodies, settings = self._bodies, self.settings
        began = perf_counter()
        response = self._response
        if response.moves_first:
            self._move(bodies, dt)
        skin = response.skin if response.has_skin else None
        found = self._detection.find(bodies, exact=not response.needs_candidates, skin=skin)
        detected = perf_counter()
        impulses = response.respond(bodies, found.pairs if response.needs_candidates else found.contacts, dt)
        own: Mapping[str, float] = {"narrow": found.seconds[2], "response": perf_counter() - detected}
        if not response.moves_first:
            self._move(bodies, dt)
        if response.is_continuous:
            from choque.world.continuous import stop_at_impact

            stop_at_impact(bodies, *self._before.poses(), settings.threads)
        solved = response.latest()
        if solved is not None:
            found.take_solved(solved, bodies.kind)
            own = solved.seconds
        if np.count_nonzero(bodies.sensor) or len(self._sensed):
            self._sensed = found.take_sensed(self._sensed, self._detection.sensed(bodies))
        seconds = {"bounds": found.seconds[0], "broad": found.seconds[1], **own}
        seconds["integrate"] = perf_counter() - began - sum(seconds.values())  # the motion, and all that is left
        return self._concluded(found, dt, seconds, impulses, found.is_tested)

    def _rest(self, dt: float) -> StepReport:
        """Advance the time alone: all bodies sleep, and nothing has changed.

        What the first such step found is what the next ones find.
        """
        if self._resting is not None and self._resting[0] is self._bodies and self._resting[1] is self.settings:
            self._advance(dt)
            return self._resting[2].at_rest(self._frame, dt, self._time)
        found = Detected(NO_PAIRS if self._latest is None else self._latest.pairs, self._detection.narrow, None)
        seconds = dict.fromkeys(SOLVER_STAGES, 0.0)
        none = partial(Contacts.none, self._bodies.dtype.type), partial(np.empty, (0, MAX_POINTS))
        nothing = Solved(0, *none, Events.none, {}, seconds)
        found.take_solved(nothing, self._bodies.kind)
        report = self._concluded(found, dt, seconds, 0, False)
        self._resting = (self._bodies, self.settings, report)
        return report

    def _concluded(
        self, found: Detected, dt: float, seconds: Mapping[str, float], impulses: int, is_tested: bool
    ) -> StepReport:
        """Go on to the next frame, in which ``found`` is the latest, and return its report."""
        self._advance(dt)
        self._latest, self._latest_ids, self._resting = found, self._identities, None
        return StepReport(
            frame=self._frame,
            dt=dt,
            time=self._time,
            seconds=seconds,
            total_seconds=sum(seconds.values()),
            bodies=len(self._bodies),
            pairs=len(found.pairs),
            impulses=impulses,
            broad=self.settings.broad,
            box_tests=found.box_tests,
            filter_tests=found.filter_tests,
            filter_seconds=found.filter_seconds,
            has_exact_tests=is_tested,
            detected=found,
        )

    def _advance(self, dt: float) -> None:
        self._frame += 1
        self._time += dt
        self._dt = dt

    def bodies_ahead(self, dt: float) -> Bodies:
        """Return the bodies in the poses in which the next step of ``dt`` seconds detects contacts.

        These are the bodies themselves, or copies if the response moves bodies first.
        """
        if not self._response.moves_first:
            return self.bodies
        names = ("position", "rotation", "velocity", "angular_velocity")
        ahead = replace(self._bodies, **{name: getattr(self._bodies, name).copy() for name in names})
        self._move(ahead, dt)
        return ahead

    @one_thread
    def switch(
        self,
        broad: str | None = None,
        *,
        bounds: str | None = None,
        narrow: str | None = None,
        response: str | None = None,
        response_options: Mapping[str, Any] | None = None,
        **broad_options: Any,
    ) -> None:
        """Continue from the same state with other methods; those that are None stay as they are.

        A new broad phase gets the bounds that suit it, unless ``bounds`` are given, and none of the options of the
        former one; a new response gets none of the former one's. A call that raises changes nothing.
        """
        settings = self.settings.changed(broad, bounds, narrow, broad_options)
        if response is not None:
            settings = replace(settings, response=response, response_options={})
        if response_options is not None:
            settings = replace(settings, response_options=_own(response_options))
        self._engage(settings.checked(self.switch))

    def shadow(self, broad: str, *, bounds: str | None = None, **broad_options: Any) -> Detection:
        """Return a second detection with other methods, for the same bodies; it does not affect this world."""
        return Detection(self.settings.changed(broad, bounds, None, broad_options).checked(self.shadow))

    @one_thread
    def copy(self) -> Self:
        """Return an independent copy, which continues as this world would."""
        return copy.deepcopy(self)

    __copy__ = copy  # two worlds that share arrays would move each other's bodies

    @one_thread
    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the whole state to a file, atomically; a world read from it continues bit for bit."""
        from choque.files.atomic import replacing
        from choque.world.saving import write_world

        with replacing(path) as handle:
            write_world(handle, self)

    @classmethod
    def read(cls, path: str | os.PathLike[str], *, threads: int | None = None) -> Self:
        """Return the world that `write` wrote to ``path``."""
        from choque.files.source import require_signature
        from choque.world.saving import read_world

        path = Path(path)
        require_signature(path, b"PK", "a saved world")
        with path.open("rb") as handle:
            return read_world(cls, handle, path, threads)

    # Internals

    def _move(self, bodies: Bodies, dt: float) -> None:
        """Move ``bodies`` by the equations of motion of the response."""
        settings = self.settings
        self._response.integrate(
            bodies, dt, max_speed=settings.max_speed, max_spin=settings.max_spin, threads=settings.threads
        )

    def _resume(self, bodies: Bodies, identities: Identities, frame: int, time: float) -> None:
        """Continue from this state; nothing has been detected in it yet."""
        self._bodies, self._identities = bodies, identities
        self._frame, self._time, self._dt = frame, time, 0.0
        self._latest, self._latest_ids, self._sensed = None, identities, NO_PAIRS
        self._resting = None

    def _engage(self, settings: Settings) -> None:
        """Take up ``settings``, checked ones; the response remembers if it stays the same."""
        before = getattr(self, "settings", None)
        wanted = (settings.response, settings.response_options)
        if before is not None and (before.response, before.response_options) == wanted:
            response = self._response
        else:
            response = create_response(settings.response, **settings.response_options)
            if before is not None:
                response.check(self._bodies)
        response.threads = settings.threads
        self._response, self._detection, self.settings = response, Detection(settings), settings


def _own(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return options by name as a dictionary of their own."""
    if not isinstance(options or {}, Mapping) or not all(isinstance(name, str) for name in options or {}):
        raise InvalidInput(f"response_options is {options!r}; it must be a dictionary such as {{'substeps': 8}}.")
    return dict(options or {})
