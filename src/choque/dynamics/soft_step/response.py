"""The response `soft-step`: friction, resting contact, stacks and sleep."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from time import perf_counter
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from choque._core import check, memory
from choque._core.pair_keys import EVERY_GROUP, pack_pairs, unpack_pairs
from choque._core.phases import run_shares
from choque._core.threads import BODY, resolve_count
from choque._core.types import F32, F64, I32, U8, Bools, Floats, Keys, Pairs, Rows
from choque.dynamics.response import Events, Response, Solved, State
from choque.dynamics.soft_step import islands as sleeping
from choque.dynamics.soft_step import rows as manifold_rows
from choque.dynamics.soft_step import sphere_rows
from choque.dynamics.soft_step.bodies import SolverBodies, WorldColumns, load_bodies, move_bodies
from choque.dynamics.soft_step.four import HELD, SPEED, TOUCHED
from choque.dynamics.soft_step.kept import Kept, adopt, lay_out, list_contacts, recycle
from choque.dynamics.soft_step.locks import Locks, lock_bodies
from choque.dynamics.soft_step.making import FEATURES
from choque.dynamics.soft_step.manifolds import ManifoldRows, ManifoldTask
from choque.dynamics.soft_step.memory import Memory
from choque.dynamics.soft_step.pieces import TriangleNumbers
from choque.dynamics.soft_step.spheres import LIVE, SphereRows, SphereTask, touch_spheres
from choque.dynamics.soft_step.substeps import THRESHOLD, Problem, Rates, solve
from choque.errors import InvalidInput
from choque.narrow.manifolds import ManifoldFinder
from choque.narrow.manifolds.solids import TRIANGLE, HullFaces
from choque.narrow.pair import MAX_POINTS, ContactArrays, Contacts
from choque.narrow.shapes import CAPSULE, CONVEX, SPHERE

NEAR = 0.01  # half the distance at which contacts are made, for bodies that are not small [m]
FAT = 0.05  # how far a body may move before candidates are searched again [m]
RECYCLED = 0.05  # how far two bodies may move, relative to each other, before their manifold is found again [m]
LIGHTEST, HEAVIEST = 1e-30, 1e30  # limits of masses and moments of inertia
SHORTEST, LONGEST = 1e-30, 1e30  # limits of steps [s]: rows have numbers in float32
CROWD = 1_000  # bodies that may be in one place: each overlaps all others
_Held: TypeAlias = tuple[I32, F32]  # slots and impulses after a step; see `Kept`


class SoftStep(Response):
    """Rigid bodies with friction that come to rest: soft contacts, sub-steps, relaxation, warm starting, sleep.

    Parameters
    ----------
    substeps
        Sub-steps of a step. More make stacks stiffer: 20 boxes of mass ratio 1:100 stand with 16.
    unit
        The length of a metre in the world. Speeds and distances that mean "hardly any" are scaled by it.
    hertz, damping
        The frequency and the damping ratio of contacts, which are springs; against static bodies twice the frequency.
        None for 9 Hz for each sub-step.
    sleep
        Whether bodies that have been still for half a second sleep, with all bodies that they touch.

    Notes
    -----
    A step finds the manifolds of candidate pairs, up to four points each, or uses those of the step before while the
    bodies hardly moved. Then in each sub-step: accelerations, the impulses so far, impulses with a bias that corrects
    overlap, motion, and impulses without the bias, with friction. At the end bodies rebound by their restitution.

    Friction is Coulomb's, with the geometric mean of both coefficients, in the middle of a manifold and as a twist
    about its normal. Restitution, the larger of both, acts on contacts faster than 1 m/s. Bodies resist rolling by the
    larger of both coefficients. Each overlap is pushed apart at 3 m/s at most. The velocity of a static body
    counts. No body passes through a static one within a step, and no bullet through any: it stops where it touches.

    Guarantees: the result does not depend on the number of threads; a saved world continues bit for bit; momentum is
    kept up to rounding. Contacts are springs: heavy bodies on light ones sink in. O(n + m) for n bodies and m pairs.
    After Catto, "Solver2D" (2024), with the scaling of velocities by mass that makes rows short.
    """

    name: ClassVar[str] = "soft-step"
    needs_candidates: ClassVar[bool] = True
    has_skin: ClassVar[bool] = True
    is_continuous: ClassVar[bool] = True
    restitution: ClassVar[float] = 0.0

    def __init__(
        self,
        *,
        substeps: int = 4,
        unit: float = 1.0,
        hertz: float | None = None,
        damping: float = 10.0,
        sleep: bool = True,
    ) -> None:
        self.substeps = check.whole_number(substeps, "substeps", 1)
        self.unit = check.positive(unit, "unit")
        self.hertz = None if hertz is None else check.positive(hertz, "hertz")
        self.damping = check.positive(damping, "damping")
        self.sleep = check.boolean(sleep, "sleep")
        self._finder = ManifoldFinder()
        self._hulls: Any = None
        self._faces = HullFaces.of(None)
        none, groups, held = np.empty(0, np.int32), np.empty(0, np.uint8), np.empty((0, HELD), np.float32)
        rows = _rows(0, sphere_rows.WIDTH)
        spheres = SphereRows(none, none, rows, rows, rows[:, 0], held, groups)
        manifolds = ManifoldRows(none, none, none, _rows(0, manifold_rows.WIDTH), held, groups)
        self._nothing = self._solved = spheres, manifolds
        self._rows = SolverBodies.empty(0)
        self._order: Rows = np.empty(0, np.int64)  # rows of the world
        self._watch: sleeping.Watch | None = None
        self._readable = -1  # the step whose contacts can be read
        self._recall(Memory())

    def _recall(self, memory: Memory) -> None:
        """Continue from this memory."""
        self._memory = memory
        self._found_count = self._recycled = 0
        self._seconds = {"manifolds": 0.0, "solver": 0.0, "sleep": 0.0}
        self._slept: I32 = memory.ids[memory.rest.island >= 0]
        self._events: Callable[[], Events] = Events.none

    # What a world asks

    def check(self, bodies: State) -> None:
        """Raise `InvalidInput` for masses that rows in float32 cannot hold, and for a crowd of bodies in one place."""
        for name in ("mass", "inertia"):
            given = getattr(bodies, name)[~bodies.static]
            if given.size and not (given.min() >= LIGHTEST and given.max() <= HEAVIEST):
                raise InvalidInput(
                    f"The response 'soft-step' takes a mass and moments of inertia from {LIGHTEST:g} to {HEAVIEST:g}; "
                    f"{name} goes from {given.min():g} to {given.max():g}. Choose other units."
                )
        free = ~(bodies.static | bodies.sensor) & (bodies.mask == EVERY_GROUP)
        if np.count_nonzero(free) > CROWD:
            thin = self._thin(bodies)[free]
            width = 2 * float(np.median(thin))
            most = _most_together(bodies.position[free][2 * thin >= width], width)
            if most > CROWD:
                raise InvalidInput(
                    f"{most:,} bodies are in one place, their centres less than {width:g} apart; the response "
                    f"'soft-step' pushes {CROWD:,} apart at most. Spread them, or give them masks."
                )

    def skin(self, bodies: State) -> tuple[Floats, Floats]:
        """Return by how much the bounds of each body are wider, and how far it may move before they are made again."""
        thin = self._thin(bodies)
        return np.minimum(NEAR * self.unit, 0.125 * thin), np.minimum(FAT * self.unit, 0.2 * thin)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_watch": None}  # a copy has columns of its own

    def rests(self, bodies: State, were_lent: bool = True) -> bool:
        """Tell whether all bodies sleep, and nothing has changed since: O(1) if only the world refers to the arrays."""
        kept = self._memory
        if not self.sleep or kept.ids is not bodies.ids or kept.counts[2] or not len(kept.rest.awake):
            return False
        if self._watch is None or not self._watch.is_of(kept.rest, bodies):
            self._watch = sleeping.Watch(kept.rest, bodies)
        return self._watch.sees_no_change(were_lent) or not self._changed(bodies)

    def asleep(self, bodies: State) -> Bools:
        """Return which of the bodies sleep (n,)."""
        ids, sleeps = self._memory.ids, self._memory.rest.island >= 0
        found: Bools = sleeps if np.array_equal(ids, bodies.ids) else np.isin(bodies.ids, ids[sleeps])
        return found

    def latest(self) -> Solved:
        """Return what was solved in the latest step."""
        count = sum(self._memory.counts[:2])
        counters = {"manifolds": count, "found": self._found_count, "recycled": self._recycled}
        found = partial(self._contacts, self._memory.steps), partial(self._forces, self._memory.steps)
        return Solved(count, *found, self._events, counters, self._seconds)

    def _forces(self, step: int) -> F64:
        """Return the normal force at each point of the contacts of the latest step (m, 4), in its last sub-step."""
        self._require(step)
        spheres, manifolds = self._live
        round_rows, flat_rows = self._solved
        found = np.zeros((len(spheres) + len(manifolds), MAX_POINTS))
        found[: len(spheres), 0] = round_rows.row[:, sphere_rows.IMPULSE]
        places = slice(manifold_rows.IMPULSE, manifold_rows.IMPULSE + MAX_POINTS)
        found[len(spheres) :] = flat_rows.row[:, places]
        keys = np.concatenate([self._memory.spheres.keys[spheres], self._memory.manifolds.keys[manifolds]])
        ids = np.sort(np.stack(self._memory.pieces.numbers.of_pairs(keys), axis=1), axis=1)
        forces: F64 = found[np.lexsort((keys, ids[:, 1], ids[:, 0]))] * self._rate
        return forces

    def wake(self, ids: I32) -> None:
        """Wake these bodies, and those near the static ones among them."""
        self._memory.wake(ids)

    def islands(self, bodies: State) -> I32:
        """Return the island of each body (n,): the least id of the bodies in it, −1 for static bodies."""
        kept = self._memory
        found: I32 = np.where(bodies.static, -1, bodies.ids).astype(np.int32)
        order, moving = kept.order, kept.moving
        if not moving or not len(found):
            return found
        parent = np.empty(len(order), np.int64)
        sleeping.join_touching(order, moving, kept.touching(), kept.rest.island, (parent, np.empty_like(parent)))
        least = np.full(len(order), np.iinfo(np.int32).max, np.int32)
        ids = kept.ids[order[:moving]]
        np.minimum.at(least, parent[:moving], ids)
        place = np.searchsorted(bodies.ids, ids)
        is_there = bodies.ids[np.minimum(place, len(found) - 1)] == ids
        found[place[is_there]] = least[parent[:moving]][is_there]
        return found

    def state(self) -> dict[str, NDArray[Any]]:
        """Return all that is kept between steps; the arrays must not be written to."""
        return self._memory.state()

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue from what `state` returned; raise `InvalidInput` for arrays that cannot be from there."""
        self._recall(Memory.restored(state))

    def mark(self) -> Memory:
        """Return the present memory, for `return_to`, in much less time than `state`."""
        return self._memory.copy()

    def return_to(self, mark: Any) -> None:
        """Return to the memory of a `mark`: manifolds that were found again since are the same ones."""
        self._recall(mark)

    # A step

    def respond(self, bodies: State, contacts: Any, dt: float) -> int:
        """Solve the step; `integrate` writes the result to the bodies. Return the number of manifolds solved."""
        began, kept, columns = perf_counter(), self._memory, _columns(bodies)
        self._know_hulls(bodies)
        _damp(bodies, dt)
        pairs: Pairs = kept.pieces.follow(bodies, contacts, self.skin)
        faces = kept.pieces.faces(bodies, self._faces)
        kept.follow(bodies, pairs, faces, self.threads)
        if self.sleep or len(self._slept):
            self._changed(bodies)
        moving, body_count = kept.moving, len(kept.order)
        # A triangle is read from its mesh.
        order = np.append(kept.order, kept.pieces.row) if len(kept.pieces) else kept.order
        follows, self._order, count = self._order is order, order, len(order)
        if not follows:
            kept.manifolds.until[...] = 0.0
        thread_count = resolve_count(self.threads, BODY * count)
        rows = self._rows
        if len(rows.kind) != count:
            rows = self._rows = SolverBodies.empty(count)
        given = (columns, (faces.extent, faces.is_box), NEAR * self.unit)
        self._readable = -1
        run_shares(load_bodies, count, thread_count, order, moving, *given, rows, follows)
        rows.kind[body_count:] = TRIANGLE
        rows.hull[body_count:] = len(faces.first) - 1 - len(faces.rim) + np.arange(count - body_count)
        awake = self._awake = kept.rest.awake[order]
        self._touched = np.zeros(count, np.uint8)
        is_locked = bodies.locked[order[:moving]].any(axis=1) if bodies.locked.any() else np.empty(0, np.bool_)
        locks = self._locks = Locks(np.flatnonzero(is_locked), order, bodies.locked)
        if len(locks.rows):
            lock_bodies(*locks, columns, rows)
        rates = Rates.of(check.number(dt, "dt", SHORTEST, LONGEST), self.substeps, self.unit, self.hertz, self.damping)
        rebounds = bool(bodies.restitution.any())
        has_extras = rebounds or bool(bodies.rolling.any() or bodies.surface_velocity.any())
        spheres, first_sphere, held_s = self._sphere_task(has_extras)
        manifolds, first_manifold, held_m = self._manifold_task(faces, thread_count)
        solved = self._touched
        if len(locks.rows):
            solved = solved.copy()
            solved[locks.rows] = 1
        problem, how = Problem(rows, awake, solved, moving, locks), (self.substeps, self.threads, rebounds)
        ready = perf_counter()
        solve(problem, spheres, manifolds, (first_sphere, first_manifold), kept.cuts, rates, how)
        self._seconds = {"manifolds": ready - began, "solver": perf_counter() - ready, "sleep": 0.0}
        self._solved, self._rate = (spheres.rows, manifolds.rows), 1 / rates.h
        self._live, self._held = (spheres.live, manifolds.live), (held_s, held_m)
        return len(spheres.live) + len(manifolds.live)

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
        kept, columns, rows = self._memory, _columns(bodies), self._rows
        order, moving, count = self._order, kept.moving, len(kept.order)
        most = [math.inf if limit is None else float(limit) for limit in (max_speed, max_spin)]
        limits = (float(dt), most[0], most[1])
        awake, touched = self._locks.move(columns, rows, self._awake, self._touched, limits)
        thread_count = resolve_count(threads, BODY * count)
        moved = (*columns[2:7], columns.inertia), (rows.speed, rows.frame)
        run_shares(move_bodies, count, thread_count, order, (moving, awake), *moved, touched, limits)
        rest, awake_count = kept.rest, moving
        if self.sleep:
            began, rest = perf_counter(), rest.copy()
            work = np.empty(len(order), np.int64), np.empty(len(order), np.int64), np.empty(len(order))
            slow = (dt, sleeping.STILL * self.unit, work)
            known = rows.speed, rows.frame, rows.size
            spheres, manifolds = self._solved
            touching = np.concatenate((spheres.a, manifolds.a)), np.concatenate((spheres.b, manifolds.b))
            awake_count = sleeping.settle(order, moving, touching, known, kept.rest, rest, columns[2:7], slow)
            self._seconds["sleep"] = perf_counter() - began
        before = kept.spheres, kept.manifolds
        # All of the memory changes here, or none of it.
        for name, (slot, held) in zip(("spheres", "manifolds"), self._held, strict=True):
            setattr(kept, name, getattr(kept, name)._replace(slot=slot, held=held))
        kept.rest, kept.steps = rest, kept.steps + 1
        self._readable = kept.steps
        kept.counts = (len(self._solved[0].a), len(self._solved[1].a), awake_count)
        slept, self._slept = self._slept, kept.ids[rest.island >= 0]
        kinds = (kept.former, before, (kept.spheres, kept.manifolds))
        self._events = partial(_events, kept.pieces.numbers, kinds, (slept, self._slept), self.unit)

    # Internals

    def _thin(self, bodies: State) -> F64:
        """Return half the least extent of each body; infinite for planes and tiles."""
        self._know_hulls(bodies)
        is_round = (bodies.kind == SPHERE) | (bodies.kind == CAPSULE)
        thin: F64 = np.where(is_round, bodies.size[:, 0], np.float64(np.inf))
        is_convex = bodies.kind == CONVEX
        if is_convex.any():
            extent = self._faces.extent[bodies.hull[is_convex]] * bodies.size[is_convex]
            thin[is_convex] = extent.min(axis=1)
        return thin

    def _know_hulls(self, bodies: State) -> None:
        if self._hulls is not bodies.hulls:
            self._hulls, self._faces = bodies.hulls, HullFaces.of(bodies.hulls)

    def _changed(self, bodies: State) -> int:
        """Wake islands in which, or near which, a body was moved or given a velocity; return how many are awake."""
        rest = self._memory.rest
        is_waking = np.zeros(len(rest.awake), np.uint8)
        count = int(sleeping.find_changed(rest, _columns(bodies)[2:7], bodies.static, is_waking))
        if is_waking.any():
            self._memory.rest = rest = rest.copy()
            sleeping.wake_islands(rest, is_waking)
            self._memory.wake(self._memory.ids[bodies.static & (is_waking > 0)])
        return count

    def _sphere_task(self, has_extras: bool) -> tuple[SphereTask, Rows, _Held]:
        """Return the contacts of spheres to solve, the first of each part, and what is held after the step."""
        kept, rows = self._memory.spheres, self._rows
        total = len(kept.keys)
        if not total:
            nothing = self._nothing[0], np.empty(0, np.int64), kept[2:5], np.empty((0, 4), np.float32)
            return SphereTask(*nothing), np.zeros_like(self._memory.starts[0]), (kept.slot, kept.held[:0])
        touch, is_live = memory.empty((total, 4), np.float32), np.empty(total, np.uint8)
        known, thread_count = (rows.kind, rows.pose, rows.size, rows.ball), resolve_count(self.threads, total)
        run_shares(touch_spheres, total, thread_count, kept.pairs, known, self._awake, touch, is_live)
        live, begins, held = _laid_out(kept, self._memory.starts[0], is_live, self._touched)
        count, width = len(live), sphere_rows.WIDTH
        given = _rows(count, width), _rows(has_extras * count, width)
        others = np.empty(count, np.float32), held[1], np.empty(count, np.uint8)
        made = SphereRows._make((*np.empty((2, count), np.int32), *given, *others))
        return SphereTask(made, live, kept[2:5], touch), begins, held

    def _manifold_task(self, faces: HullFaces, thread_count: int) -> tuple[ManifoldTask, Rows, _Held]:
        """Return the manifolds to solve, as `_sphere_task` does; find those that cannot be used again."""
        kept, rows = self._memory.manifolds, self._rows
        total = len(kept.keys)
        if not total:
            self._found_count = self._recycled = 0
            nothing = self._nothing[1], np.empty(0, np.int64), kept[2:9]
            return ManifoldTask(*nothing), np.zeros_like(self._memory.starts[1]), (kept.slot, kept.held[:0])
        is_live, is_stale = np.empty(total, np.uint8), np.empty(total, np.uint8)
        known = (kept.pairs, kept.home, kept.marks, kept.pose, kept.until), (rows.pose, rows.path)
        run_shares(recycle, total, resolve_count(self.threads, total), *known, self._awake, is_live, is_stale)
        stale = np.flatnonzero(is_stale)
        self._recycled = int(np.count_nonzero(is_live == LIVE))
        if len(stale):
            found = self._finder.find(rows.solids(), kept.pairs[stale], faces, thread_count)
            adopt(stale, found, kept[2:], rows.solids(), faces.extent, RECYCLED * self.unit, is_live)
        self._found_count = len(stale)
        live, begins, held = _laid_out(kept, self._memory.starts[1], is_live, self._touched)
        given = _rows(len(live), manifold_rows.WIDTH), held[1], np.empty(len(live), np.uint8)
        made = ManifoldRows._make((*np.empty((3, len(live)), np.int32), *given))
        return ManifoldTask(made, live, kept[2:9]), begins, held

    def _require(self, step: int) -> None:
        """Raise `InvalidInput` if another step, or one that failed, has overwritten the contacts of ``step``."""
        if step != self._readable:
            raise InvalidInput(
                "The contacts, forces and tally of a step can be read until the next step, even if that fails."
            )

    def _contacts(self, step: int) -> Contacts:
        """Return what was solved in the latest step as contacts of rows of the world, in the order of the pairs."""
        self._require(step)
        spheres, manifolds = self._live
        rows, count = self._rows, len(spheres) + len(manifolds)
        found = ContactArrays.empty(count, np.float64, MAX_POINTS)
        found.points[...], found.separations[...], found.features[...] = 0.0, 0.0, 0
        round_rows, flat_rows = self._solved
        kept = self._memory.manifolds
        homes = kept.home[manifolds]
        list_contacts(self._order, rows, round_rows, flat_rows, homes, kept.arms, found)
        found.features[len(spheres) :] = kept.marks[homes, FEATURES : FEATURES + MAX_POINTS]
        swaps = found.pairs[:, 0] > found.pairs[:, 1]
        found.pairs[swaps] = found.pairs[swaps, ::-1]
        found.normal[swaps] *= -1
        keys = np.concatenate([self._memory.spheres.keys[spheres], kept.keys[manifolds]])
        order = np.lexsort((keys, found.pairs[:, 1], found.pairs[:, 0]))
        return Contacts(*found.take(order))


def _laid_out(kept: Kept, starts: Rows, is_live: U8, touched: U8) -> tuple[Rows, Rows, _Held]:
    """Return the live pairs, where each part of them begins, and what is held after the step, live rows still empty."""
    total, most = len(kept.keys), int(np.count_nonzero(is_live))
    live, begins = memory.empty(most + 1, np.int64), np.zeros(len(starts), np.int64)  # one is written and not used
    slot, held = memory.empty(total, np.int32), memory.empty((most, HELD), np.float32)
    count = lay_out(kept[2:5], starts, is_live, live, begins, touched, slot, held)
    return live[: begins[-1]], begins, (slot, held[:count])


def _rows(count: int, width: int) -> F32:
    return memory.aligned(count * width, np.float32).reshape(-1, width)


def _most_together(position: Floats, width: float) -> int:
    """Return the greatest number of points in one cell of a grid, O(n); cells that share a number may add to it."""
    cells = np.floor(position.astype(np.float64) / width).astype(np.int64)
    keys = (cells @ np.array([73_856_093, 19_349_663, 83_492_791])) & 0xFFFFF
    return int(np.bincount(keys, minlength=1).max())


def _damp(bodies: State, dt: float) -> None:
    """Slow bodies down by their damping, exactly as an implicit step of v' = −damping · v does."""
    both = (bodies.linear_damping, bodies.velocity), (bodies.angular_damping, bodies.angular_velocity)
    for damping, column in both:
        if damping.any():
            rows = np.flatnonzero(damping)
            column[rows] /= (1 + damping[rows] * damping.dtype.type(dt))[:, np.newaxis]


def _columns(bodies: State) -> WorldColumns:
    return WorldColumns(*(getattr(bodies, name) for name in WorldColumns._fields))


def _events(
    numbers: TriangleNumbers,
    kinds: tuple[tuple[Kept, Kept] | None, tuple[Kept, Kept], tuple[Kept, Kept]],
    asleep: tuple[I32, I32],
    unit: float,
) -> Events:
    """Return what changed in a step.

    ``kinds`` is what was kept of the candidates before, if there are others now: some that touched may be gone; then
    what is kept of the candidates of this step, before it and after it. ``asleep`` are the ids of sleepers after the
    step before, and after this one. Triangles count as their meshes.
    """
    former, before, after = kinds
    keys = np.concatenate([before[0].keys, before[1].keys])
    then, now = (np.concatenate([_of_pairs(kept, TOUCHED) for kept in kinds]) > 0 for kinds in (before, after))
    speed = np.concatenate([_of_pairs(kept, SPEED) for kept in after])
    lost = np.concatenate([kept.keys[_of_pairs(kept, TOUCHED) > 0] for kept in former or ()] or [keys[:0]])
    lost = lost[~np.isin(lost, keys)]
    fresh = np.flatnonzero(now & ~then)
    ended = np.concatenate([keys[then & ~now], lost])
    if len(numbers.ids):
        touched_then, touched_now = (_of_bodies(each, numbers) for each in (np.append(keys[then], lost), keys[now]))
        keys, ended = _of_bodies(keys, numbers), _of_bodies(ended, numbers)
        ended = np.unique(ended[~np.isin(ended, touched_now)])
        fresh = fresh[~np.isin(keys[fresh], touched_then)]
        fresh = fresh[np.argsort(-speed[fresh], kind="stable")]  # of the triangles of a mesh the hardest hit counts
        fresh = fresh[np.unique(keys[fresh], return_index=True)[1]]
    fresh = fresh[np.argsort(keys[fresh])]
    hard = fresh[speed[fresh] >= THRESHOLD * unit]
    return Events(
        began=unpack_pairs(keys[fresh]),
        ended=unpack_pairs(np.sort(ended)),
        hits=unpack_pairs(keys[hard]),
        speed=speed[hard],
        fell_asleep=np.setdiff1d(asleep[1], asleep[0]),
        woke=np.setdiff1d(asleep[0], asleep[1]),
    )


def _of_bodies(keys: Keys, numbers: TriangleNumbers) -> Keys:
    """Return the keys of the bodies, smaller id first, for keys of pairs with triangles."""
    ids = np.stack(numbers.of_pairs(keys), axis=1)
    ids.sort(axis=1)
    return pack_pairs(ids.astype(np.int32))


def _of_pairs(kept: Kept, column: int) -> F64:
    """Return a column of what is held, for each pair; 0 where nothing is."""
    found = np.zeros(len(kept.keys))
    has = kept.slot >= 0
    found[has] = kept.held[kept.slot[has], column]
    return found
