"""The response `soft-step`: friction, resting contact, stacks and sleep."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from choque._core import check, memory
from choque._core.morton import morton_order
from choque._core.pair_keys import pack_pairs, unpack_pairs
from choque._core.threads import over_ranges, ranges, resolve_count, run
from choque._core.types import Floats, Pairs, Rows
from choque.dynamics.response import Events, Response, Solved, State
from choque.dynamics.soft_step import rows as manifold_rows
from choque.dynamics.soft_step import spheres as sphere_rows
from choque.dynamics.soft_step.bodies import Columns, SolverBodies, load_bodies, move_bodies
from choque.dynamics.soft_step.islands import STILL, Rest, find_changed, settle, wake_islands
from choque.dynamics.soft_step.manifolds import NORMAL_ARMS, POSE, ManifoldRows, prepare_manifolds, store_manifolds
from choque.dynamics.soft_step.memory import (
    COUNT,
    FEATURES,
    HELD,
    SPEED,
    TOUCHED,
    Kept,
    adopt,
    lay_out,
    list_contacts,
    recycle,
    solve_order,
)
from choque.dynamics.soft_step.rates import THRESHOLD, Rates
from choque.dynamics.soft_step.spheres import SphereRows, prepare_spheres, store_spheres, touch_spheres
from choque.dynamics.soft_step.substeps import Problem, part_cuts, solve
from choque.errors import InvalidInput
from choque.narrow.manifolds import ManifoldFinder
from choque.narrow.manifolds.solids import BOX, HullFaces, kinds_of
from choque.narrow.pair import MAX_POINTS, ContactArrays, Contacts
from choque.narrow.shapes import CAPSULE, CONVEX, PLANE, SPHERE, TILE

NEAR = 0.01
"""Half the distance at which contacts are made, for bodies that are not small [m]."""

FAT = 0.05
"""How far a body may move before candidates are searched again [m]."""

RECYCLED = 0.05
"""How far two bodies may move, relative to each other, before their manifold is found again [m]."""

PART_BODIES = 400
"""Bodies of a part of the solver."""

SHARED_PAIRS = 4_000
"""Pairs, or contacts, from which threads share a pass over them."""

SORTED_FOR = 120
"""Steps after which bodies are sorted along the Morton curve again, when the candidates next change."""


class SoftStep(Response):
    """Rigid bodies with friction that come to rest: soft contacts, sub-steps, relaxation, warm starting, sleep.

    Parameters
    ----------
    substeps
        Sub-steps of a step. More make stacks stiffer.
    unit
        The length of a metre in the world. Speeds and distances that mean "hardly any" are scaled by it.
    hertz, damping
        The frequency and the damping ratio of contacts, which are springs; against static bodies twice the frequency.
    sleep
        Whether bodies that have been still for half a second sleep, with all bodies that they touch.

    Notes
    -----
    A step finds the manifolds of candidate pairs, up to four points each, or uses those of the step before while the
    bodies hardly moved. Then in each sub-step: accelerations, the impulses so far, impulses with a bias that corrects
    overlap, motion, and impulses without the bias, with friction. At the end bodies rebound by their restitution.

    Friction is Coulomb's, with the geometric mean of both coefficients, in the middle of a manifold and as a twist
    about its normal. Restitution, the larger of both, acts on contacts faster than 1 m/s. Spheres resist rolling by the
    larger of both coefficients. Overlapping bodies are pushed apart at 3 m/s at most. The velocity of a static body
    counts.

    Guarantees: the result does not depend on the number of threads; a saved world continues bit for bit; momentum is
    kept up to rounding. Contacts are springs: heavy bodies on light ones sink in. O(n + m) for n bodies and m pairs.
    After Catto, "Solver2D" (2024), with the scaling of velocities by mass that makes rows short.
    """

    name: ClassVar[str] = "soft-step"
    needs_candidates: ClassVar[bool] = True
    has_skin: ClassVar[bool] = True
    restitution: ClassVar[float] = 0.0

    def __init__(
        self,
        *,
        substeps: int = 4,
        unit: float = 1.0,
        hertz: float = 30.0,
        damping: float = 10.0,
        sleep: bool = True,
    ) -> None:
        self.substeps = check.whole_number(substeps, "substeps", 1)
        self.unit = check.positive(unit, "unit")
        self.hertz = check.positive(hertz, "hertz")
        self.damping = check.positive(damping, "damping")
        self.sleep = check.boolean(sleep, "sleep")
        self._finder = ManifoldFinder()
        self._hulls: Any = None
        self._faces = HullFaces.of(None)
        self._forget()

    def _forget(self) -> None:
        """Return to the state before the first step."""
        self._ids: NDArray[np.int32] = np.empty(0, np.int32)
        self._static: NDArray[np.uint8] = np.empty(0, np.uint8)
        self._pairs: Pairs | None = None
        self._order: Rows = np.empty(0, np.int64)
        self._steps = 0
        self._sorted_at = 0
        none = np.empty(0, np.uint64), np.empty((0, 2), np.int32)
        self._spheres, self._manifolds = Kept.of(*none, None, True), Kept.of(*none, None, False)
        self._rest = Rest(np.empty(0, np.uint8), np.empty(0), np.empty(0, np.int32), np.empty((0, 3)))
        self._counts = (0, 0, 0)
        self._found_count = 0
        self._arranged: list[tuple[Rows, Rows]] | None = None
        self._former: tuple[Kept, Kept] | None = None
        self._slept: NDArray[np.int32] = np.empty(0, np.int32)
        self._events: Callable[[], Events] = Events.none

    # What a world asks

    def skin(self, bodies: State) -> tuple[Floats, Floats]:
        """Return by how much the bounds of each body are wider, and how far it may move before they are made again."""
        thin = self._thin(bodies)
        return np.minimum(NEAR * self.unit, 0.125 * thin), np.minimum(FAT * self.unit, 0.2 * thin)

    def rests(self, bodies: State) -> bool:
        """Tell whether all bodies sleep, and nothing has changed since."""
        rest = self._rest
        if not self.sleep or self._ids is not bodies.ids or self._counts[2] or not len(rest.awake):
            return False
        return not self._changed(bodies)

    def asleep(self, bodies: State) -> NDArray[np.bool_]:
        """Return which of the bodies sleep (n,)."""
        if len(self._rest.island) != len(bodies.ids) or not np.array_equal(self._ids, bodies.ids):
            return np.isin(bodies.ids, self._ids[self._rest.island >= 0])
        found: NDArray[np.bool_] = self._rest.island >= 0
        return found

    def latest(self) -> Solved:
        """Return what was solved in the latest step."""
        counters = {"manifolds": self._counts[0] + self._counts[1], "found": self._found_count}
        return Solved(self._counts[0] + self._counts[1], self._contacts, self._events, counters)

    def impulses(self) -> NDArray[np.float64]:
        """Return the sum of the normal impulses of each contact of the latest step, in one sub-step (m,).

        Times the sub-steps of a second it is the force between two bodies at rest. In the order of the contacts.
        """
        spheres, manifolds = self._live
        found = np.concatenate(
            [self._spheres.held[spheres, 0], self._manifolds.held[manifolds, :MAX_POINTS].sum(axis=1)]
        )
        keys = np.concatenate([self._spheres.keys[spheres], self._manifolds.keys[manifolds]])
        order = np.argsort(keys)
        return found[order]

    def state(self) -> dict[str, NDArray[Any]]:
        """Return all that is kept between steps; the arrays must not be written to."""
        if not len(self._ids):
            return {}
        found: dict[str, NDArray[Any]] = {
            "ids": self._ids,
            "static": self._static,
            "order": self._order,
            "steps": np.array([self._steps, self._sorted_at, *self._counts]),
        }
        for name, kept in (("sphere", self._spheres), ("manifold", self._manifolds)):
            found |= {f"{name}.{part}": array for part, array in kept._asdict().items()}
        return found | {f"rest.{part}": array for part, array in self._rest._asdict().items()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue from what `state` returned; raise `InvalidInput` for arrays that cannot be from there."""
        if state:
            _check_state(state)
        self._forget()
        if not state:
            return
        self._ids, self._static, self._order = state["ids"], state["static"], state["order"]
        steps, sorted_at, *counts = (int(number) for number in state["steps"])
        self._steps, self._sorted_at, self._counts = steps, sorted_at, (counts[0], counts[1], counts[2])
        self._spheres = Kept(*(state[f"sphere.{part}"] for part in Kept._fields))
        self._manifolds = Kept(*(state[f"manifold.{part}"] for part in Kept._fields))
        self._rest = Rest(*(state[f"rest.{part}"] for part in Rest._fields))
        self._slept = self._ids[self._rest.island >= 0]

    # A step

    def respond(self, bodies: State, contacts: Any, dt: float) -> int:
        """Solve the step; `integrate` writes the result to the bodies. Return the number of manifolds solved."""
        pairs: Pairs = contacts
        columns, static = _columns(bodies), self._static_kinds(bodies)
        self._former = None
        self._follow(bodies, pairs, static)
        self._changed(bodies)
        count, moving = len(self._order), int((static == 0).sum())
        thread_count = resolve_count(self.threads, count)
        self._layout(moving)
        rows = self._rows = SolverBodies.empty(count)
        over_ranges(load_bodies, count, thread_count, self._order, moving, columns, self._faces, NEAR * self.unit, rows)
        awake = self._rest.awake[self._order]
        rates = Rates.of(dt, self.substeps, self.unit, self.hertz, self.damping)
        touched = np.zeros(count, np.uint8)
        live_s, begins_s, round_rows = self._prepare_spheres(rows, awake, touched, thread_count)
        live_m, begins_m, flat_rows = self._prepare_manifolds(rows, awake, touched, thread_count, moving)
        problem = Problem(rows.speed, rows.pull, awake, self._cuts, round_rows, begins_s, flat_rows, begins_m)
        solve(problem, rates, self.substeps, thread_count)
        held_s, held_m = self._held
        _share(store_spheres, len(live_s), thread_count, live_s, round_rows, rates.threshold, held_s)
        _share(store_manifolds, len(live_m), thread_count, live_m, flat_rows, rates.threshold, held_m)
        self._solved = round_rows, len(live_s), flat_rows, len(live_m)
        self._live = live_s, live_m
        self._moving, self._awake, self._touched = moving, awake, touched
        return len(live_s) + len(live_m)

    def integrate(
        self,
        bodies: State,
        dt: float,
        *,
        max_speed: float | None = None,
        max_spin: float | None = None,
        threads: int | None = None,
    ) -> None:
        """Move the bodies as `respond` found, and let islands sleep."""
        columns, rows, moving, count = _columns(bodies), self._rows, self._moving, len(self._order)
        limits = (dt, *(math.inf if limit is None else float(limit) for limit in (max_speed, max_spin)))
        over_ranges(
            move_bodies,
            count,
            resolve_count(threads, count),
            self._order,
            (moving, self._awake),
            columns,
            rows,
            self._touched,
            limits,
        )
        rest, awake_count = self._rest, moving
        if self.sleep:
            rest = rest.copy()
            work = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count)
            slow = (dt, STILL * self.unit, work)
            awake_count = settle(self._order, moving, self._solved, rows, self._rest, rest, columns, slow)
        before = self._spheres, self._manifolds
        # All of the memory changes here, or none of it.
        self._spheres = self._spheres._replace(held=self._held[0])
        self._manifolds = self._manifolds._replace(held=self._held[1])
        self._rest, self._steps = rest, self._steps + 1
        self._counts = (self._solved[1], self._solved[3], awake_count)
        after = self._spheres, self._manifolds
        slept, self._slept = self._slept, self._ids[rest.island >= 0]
        self._events = partial(_events, self._former, before, after, (slept, self._slept), self.unit)

    # Internals

    def _thin(self, bodies: State) -> NDArray[np.float64]:
        """Return half the least extent of each body; infinite for planes and tiles."""
        self._know_hulls(bodies)
        thin = np.full(len(bodies.kind), np.inf)
        is_round = (bodies.kind == SPHERE) | (bodies.kind == CAPSULE)
        thin[is_round] = bodies.size[is_round, 0]
        is_convex = bodies.kind == CONVEX
        if is_convex.any():
            extent = self._faces.extent[bodies.hull[is_convex]] * bodies.size[is_convex]
            thin[is_convex] = extent.min(axis=1)
        return thin

    def _know_hulls(self, bodies: State) -> None:
        if self._hulls is not bodies.hulls:
            self._hulls, self._faces = bodies.hulls, HullFaces.of(bodies.hulls)

    def _static_kinds(self, bodies: State) -> NDArray[np.uint8]:
        """Return 0 for bodies that move by forces, 1 for static ones at rest, 2 for static ones with a velocity."""
        kinds: NDArray[np.uint8] = bodies.static.astype(np.uint8)
        rows = np.flatnonzero(bodies.static)
        moves = bodies.velocity[rows].any(axis=1) | bodies.angular_velocity[rows].any(axis=1)
        kinds[rows[moves]] = 2
        return kinds

    def _changed(self, bodies: State) -> int:
        """Wake islands of which a body was given a velocity or moved; return how many bodies are awake."""
        rest = self._rest
        is_waking = np.zeros(len(rest.awake), np.uint8)
        count = int(find_changed(rest, _columns(bodies), bodies.static, is_waking))
        if is_waking.any():
            self._rest = rest = rest.copy()
            wake_islands(rest, is_waking)
        return count

    def _follow(self, bodies: State, pairs: Pairs, static: NDArray[np.uint8]) -> None:
        """Take up other bodies and other candidates."""
        self._know_hulls(bodies)
        same_bodies = np.array_equal(self._ids, bodies.ids) and np.array_equal(self._static, static)
        if same_bodies and pairs is self._pairs:
            return
        keys = pack_pairs(bodies.ids[pairs])
        self._arranged = None
        if not same_bodies:
            self._take_up(bodies, static)
        elif self._pairs is None and len(keys) == len(self._spheres.keys) + len(self._manifolds.keys):
            known = np.sort(np.concatenate([self._spheres.keys, self._manifolds.keys]))
            if np.array_equal(known, keys):  # a world that was read from a file
                self._pairs = pairs
                return
        if not same_bodies or self._steps >= self._sorted_at + SORTED_FOR:
            self._order, self._sorted_at = _sorted_bodies(bodies, static), self._steps
        place = np.empty(len(self._order), np.int32)
        place[self._order] = np.arange(len(place), dtype=np.int32)
        is_round = _are_round(bodies, pairs, static, self._faces)
        own, other = pairs[is_round, 0], pairs[is_round, 1]
        swaps = (bodies.kind[own] != SPHERE) | (static[own] > 0)
        spheres = np.stack((np.where(swaps, other, own), np.where(swaps, own, other)), axis=1)
        self._former = self._spheres, self._manifolds
        self._spheres = Kept.of(keys[is_round], place[spheres], self._spheres, True)
        self._manifolds = Kept.of(keys[~is_round], place[pairs[~is_round]], self._manifolds, False)
        self._pairs = pairs

    def _take_up(self, bodies: State, static: NDArray[np.uint8]) -> None:
        """Keep what is known of bodies that stay; wake those that touched one that is gone, or is another now."""
        before, rest = self._ids, self._rest
        count = len(bodies.ids)
        place = np.minimum(np.searchsorted(before, bodies.ids), max(len(before) - 1, 0))
        stays = before[place] == bodies.ids if len(before) else np.zeros(count, np.bool_)
        after = Rest(np.ones(count, np.uint8), np.zeros(count), np.full(count, -1, np.int32), np.array(bodies.position))
        for name in Rest._fields:
            getattr(after, name)[stays] = getattr(rest, name)[place[stays]]
        sleeps = after.island >= 0
        if sleeps.any():
            same = self._static[place[stays]] == static[stays]
            gone = np.setdiff1d(before, bodies.ids[stays][same])
            lost = np.zeros(count, np.bool_)
            for kept in (self._spheres, self._manifolds):
                first, second = (kept.keys >> np.uint64(32)).astype(np.int64), (kept.keys & np.uint64(0xFFFFFFFF))
                for one, other in ((first, second), (second, first)):
                    partners = other[np.isin(one, gone)].astype(np.int64)
                    lost |= np.isin(bodies.ids, partners)
            _, after.island[sleeps] = np.unique(after.island[sleeps], return_inverse=True)
            is_waking = np.zeros(count, np.uint8)
            is_waking[after.island[lost & sleeps]] = 1
            wake_islands(after, is_waking)
        after.awake[static == 1] = 0
        after.awake[static == 2] = 1
        after.island[static > 0] = -1
        self._rest, self._ids, self._static = after, bodies.ids, static
        self._counts = (0, 0, count)

    def _prepare_spheres(
        self,
        rows: SolverBodies,
        awake: NDArray[np.uint8],
        touched: NDArray[np.uint8],
        thread_count: int,
    ) -> tuple[Rows, Rows, SphereRows]:
        kept = self._spheres
        total = len(kept.keys)
        touch, is_live = memory.empty((total, 4), np.float64), np.empty(total, np.uint8)
        _share(touch_spheres, total, thread_count, kept.pairs, rows, awake, touch, is_live)
        live, begins, held_s = self._laid_out(0, kept, is_live, touched)
        made = SphereRows(
            np.empty(len(live), np.int32),
            np.empty(len(live), np.int32),
            memory.empty((len(live), sphere_rows.WIDTH), np.float64),
        )
        _share(prepare_spheres, len(live), thread_count, live, kept.pairs, touch, kept.held, rows, made)
        self._held = held_s, self._manifolds.held
        return live, begins, made

    def _prepare_manifolds(
        self,
        rows: SolverBodies,
        awake: NDArray[np.uint8],
        touched: NDArray[np.uint8],
        thread_count: int,
        moving: int,
    ) -> tuple[Rows, Rows, ManifoldRows]:
        kept = self._manifolds
        total = len(kept.keys)
        is_live, is_stale = np.empty(total, np.uint8), np.empty(total, np.uint8)
        _share(recycle, total, thread_count, kept, rows, awake, is_live, is_stale)
        stale = np.flatnonzero(is_stale)
        if len(stale):
            found = self._finder.find(rows.solids(), kept.pairs[stale], self._faces, thread_count)
            adopt(stale, found, kept, rows, RECYCLED * self.unit, is_live)
        self._found_count = len(stale)
        live, begins, held_m = self._laid_out(1, kept, is_live, touched)
        made = ManifoldRows(
            np.empty(len(live), np.int32),
            np.empty(len(live), np.int32),
            np.empty(len(live), np.int32),
            memory.empty((len(live), manifold_rows.WIDTH), np.float64),
        )
        source = (kept.pose, kept.arms, kept.marks[:, COUNT], kept.held)
        _share(prepare_manifolds, len(live), thread_count, live, kept.pairs, source, rows, moving, made)
        self._held = self._held[0], held_m
        return live, begins, made

    def _layout(self, moving: int) -> None:
        """Cut the bodies into parts, and sort the pairs by the part that solves them, unless they are the same."""
        if self._arranged is not None:
            return
        self._cuts = part_cuts(moving, PART_BODIES)
        parts = len(self._cuts) - 1
        owner = np.full(len(self._order), -1, np.int32)
        owner[:moving] = np.repeat(np.arange(parts, dtype=np.int32), np.diff(self._cuts))
        self._arranged = []
        for kept in (self._spheres, self._manifolds):
            order, starts = np.empty(len(kept.keys), np.int64), np.zeros(parts + 2, np.int64)
            if len(order):
                solve_order(kept.pairs, owner, parts, order, starts)
            self._arranged.append((order, starts))

    def _laid_out(
        self, sort: int, kept: Kept, is_live: NDArray[np.uint8], touched: NDArray[np.uint8]
    ) -> tuple[Rows, Rows, NDArray[np.float64]]:
        """Return the live pairs in the order of the solver, where each part begins, and what is held, to be changed."""
        assert self._arranged is not None
        order, starts = self._arranged[sort]
        live, begins = np.empty(len(order), np.int64), np.zeros(len(starts), np.int64)
        count = lay_out(kept, order, starts, is_live, live, begins, touched) if len(order) else 0
        held = kept.held.copy()
        held[is_live == 0, TOUCHED] = 0.0
        return live[:count], begins, held

    def _contacts(self) -> Contacts:
        """Return what was solved as contacts of rows of the world, in the order of the pairs."""
        spheres, manifolds = self._live
        rows, count = self._rows, len(spheres) + len(manifolds)
        found = ContactArrays.empty(count, np.float64, MAX_POINTS)
        found.points[...], found.separations[...], found.features[...] = 0.0, 0.0, 0
        round_rows, _, flat_rows, _ = self._solved
        list_contacts(self._order, rows, round_rows, flat_rows, manifolds, self._manifolds.arms, found)
        found.features[len(spheres) :] = self._manifolds.marks[manifolds, FEATURES : FEATURES + MAX_POINTS]
        swaps = found.pairs[:, 0] > found.pairs[:, 1]
        found.pairs[swaps] = found.pairs[swaps, ::-1]
        found.normal[swaps] *= -1
        order = np.lexsort((found.pairs[:, 1], found.pairs[:, 0]))
        return Contacts(*found.take(order))


def _check_state(state: Mapping[str, NDArray[Any]]) -> None:
    """Raise `InvalidInput` unless kernels may be given these arrays: types, shapes, and rows that are there."""
    count = len(state["ids"]) if "ids" in state else 0
    wanted: dict[str, tuple[Any, tuple[int, ...]]] = {
        "ids": (np.int32, (count,)),
        "static": (np.uint8, (count,)),
        "order": (np.int64, (count,)),
        "steps": (np.int64, (5,)),
        "rest.awake": (np.uint8, (count,)),
        "rest.still": (np.float64, (count,)),
        "rest.island": (np.int32, (count,)),
    }
    for name in ("sphere", "manifold"):
        total = len(state[f"{name}.keys"]) if f"{name}.keys" in state else 0
        wide = total if name == "manifold" else 0
        wanted |= {
            f"{name}.keys": (np.uint64, (total,)),
            f"{name}.pairs": (np.int32, (total, 2)),
            f"{name}.held": (np.float64, (total, HELD)),
            f"{name}.marks": (np.uint32, (total, 5)),
            f"{name}.pose": (np.float64, (wide, POSE)),
            f"{name}.arms": (np.float64, (wide, NORMAL_ARMS)),
        }
    for name, (kind, shape) in wanted.items():
        array = state.get(name)
        if array is None or array.dtype != kind or array.shape != shape or not array.flags.carray:
            raise InvalidInput(f"The memory of the response 'soft-step' is damaged: {name!r} does not fit.")
    position = state.get("rest.position")
    within = position is not None and position.shape == (count, 3) and position.dtype.kind == "f"
    within = within and np.array_equal(np.sort(state["order"]), np.arange(count))
    within = within and bool(((state["rest.island"] >= -1) & (state["rest.island"] < max(count, 1))).all())
    within = within and bool((np.diff((state["static"][state["order"]] > 0).astype(np.int8)) >= 0).all())
    for name in ("sphere", "manifold"):
        pairs = state[f"{name}.pairs"]
        within = within and bool(((pairs >= 0) & (pairs < count)).all())
        within = within and bool((state[f"{name}.marks"][:, COUNT] <= MAX_POINTS).all())
    if not within:
        raise InvalidInput("The memory of the response 'soft-step' is damaged: it names bodies that are not there.")


def _share(kernel: Any, total: int, thread_count: int, *arguments: Any) -> None:
    """Run ``kernel(first, last, …)`` over ``total`` contacts, by all threads if there are enough.

    A kernel for which there is no work is not called, so that it need not be compiled.
    """
    if total == 0:
        return
    shares = ranges(total, thread_count if total >= SHARED_PAIRS else 1)
    run(lambda part: kernel(*shares[part], *arguments), len(shares))


def _columns(bodies: State) -> Columns:
    return Columns(*(getattr(bodies, name) for name in Columns._fields))


def _sorted_bodies(bodies: State, static: NDArray[np.uint8]) -> Rows:
    """Return the rows of moving bodies along a Morton curve, then of static ones."""
    moving = np.flatnonzero(static == 0)
    position = bodies.position[moving].astype(np.float64)
    along = morton_order(np.concatenate((position, position), axis=1), 1).astype(np.int64)
    return np.concatenate((moving[along], np.flatnonzero(static)))


def _are_round(bodies: State, pairs: Pairs, static: NDArray[np.uint8], faces: HullFaces) -> NDArray[np.bool_]:
    """Return which pairs are two spheres, or a sphere and a static body at rest that is a plane, a tile or a box."""
    kind = kinds_of(bodies.kind, bodies.hull, faces)
    is_ball = (kind == SPHERE) & (static != 2)
    is_wall = (static == 1) & ((kind == PLANE) | (kind == TILE) | (kind == BOX))
    own, other = pairs[:, 0], pairs[:, 1]
    found: NDArray[np.bool_] = (is_ball[own] & (is_ball[other] | is_wall[other])) | (is_wall[own] & is_ball[other])
    return found


def _events(
    former: tuple[Kept, Kept] | None,
    before: tuple[Kept, Kept],
    after: tuple[Kept, Kept],
    asleep: tuple[NDArray[np.int32], NDArray[np.int32]],
    unit: float,
) -> Events:
    """Return what changed in a step.

    ``former`` is what was kept of the candidates before, if there are others now: some that touched may be gone.
    ``asleep`` are the ids of sleepers after the step before, and after this one.
    """
    keys = np.concatenate([before[0].keys, before[1].keys])
    then, now = (
        np.concatenate([spheres.held[:, TOUCHED], manifolds.held[:, TOUCHED]]) > 0
        for spheres, manifolds in (before, after)
    )
    speed = np.concatenate([after[0].held[:, SPEED], after[1].held[:, SPEED]])
    lost = np.concatenate([kept.keys[kept.held[:, TOUCHED] > 0] for kept in former or ()] or [keys[:0]])
    lost = lost[~np.isin(lost, keys)]
    fresh = np.flatnonzero(now & ~then)
    fresh = fresh[np.argsort(keys[fresh])]
    hard = fresh[speed[fresh] >= THRESHOLD * unit]
    return Events(
        began=unpack_pairs(keys[fresh]),
        ended=unpack_pairs(np.sort(np.concatenate([keys[then & ~now], lost]))),
        hits=unpack_pairs(keys[hard]),
        speed=speed[hard],
        fell_asleep=np.setdiff1d(asleep[1], asleep[0]),
        woke=np.setdiff1d(asleep[0], asleep[1]),
    )
