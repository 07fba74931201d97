"""What `soft-step` remembers between steps, and how it follows a world whose bodies and candidates change."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core.morton import morton_order
from choque._core.pair_keys import pack_pairs
from choque._core.types import I32, I64, U8, U32, Bools, Pairs, Rows
from choque.dynamics.response import State
from choque.dynamics.soft_step.four import HELD
from choque.dynamics.soft_step.islands import Rest, wake_islands
from choque.dynamics.soft_step.kept import BALL, OTHER, STATIC_BALL, WALL, Kept, arrange, known_bodies, node_starts
from choque.dynamics.soft_step.making import COUNT, MARKS, NORMAL_ARMS, POSE
from choque.dynamics.soft_step.pieces import SolverTriangles
from choque.errors import InvalidInput
from choque.narrow.manifolds.solids import BOX, TRIANGLE, HullFaces, kinds_of
from choque.narrow.pair import MAX_POINTS
from choque.narrow.shapes import PLANE, SPHERE, TILE

PART_BODIES = 400  # about how many bodies a part of the solver has
MAX_PARTS = 64  # a power of two, as is every number of parts
SORTED_FOR = 120  # steps after which bodies are sorted along the Morton curve again, when the candidates next change

# By the numbers of `_static_kinds` and by kind.
KINDS = TRIANGLE + 1
ROLES = np.full((3, KINDS), OTHER, np.uint8)
ROLES[0, SPHERE], ROLES[1, SPHERE], ROLES[1, [PLANE, TILE, BOX]] = BALL, STATIC_BALL, WALL

SAVED = tuple(part for part in Kept._fields if part not in ("home", "until"))  # in the order of the pairs


class Memory:
    """The bodies in the order of the solver, what is kept of their candidates, and how still they are."""

    def __init__(self) -> None:
        self.ids: I32 = np.empty(0, np.int32)  # (n,): the bodies that are followed
        self.static: U8 = np.empty(0, np.uint8)  # (n,): 1 for static ones at rest, 2 for static ones with a velocity
        # (n,): rows of the world in the order of the solver: those that move, along a Morton curve, then static ones
        self.order: Rows = np.empty(0, np.int64)
        self.spheres, self.manifolds = Kept.none(), Kept.none()
        self.rest = Rest(np.empty(0, np.uint8), np.empty(0), np.empty(0, np.int32), np.empty((0, 3)), np.empty((0, 3)))
        self.steps = self.sorted_at = 0
        self.counts = (0, 0, 0)  # contacts of spheres, manifolds, and bodies that are awake, after the latest step
        self.cuts: Rows = np.zeros(2, np.int64)  # (p + 1,): the first body of each part
        # the first pair of each node of the tree of parts, of spheres and of manifolds: see `substeps`
        self.starts: tuple[Rows, Rows] = (np.zeros(2, np.int64), np.zeros(2, np.int64))
        self.former: tuple[Kept, Kept] | None = None  # what was kept before, if candidates changed in this step
        self.pieces = SolverTriangles()  # the rows of the solver after those of all bodies
        self._pairs: Pairs | None = None
        self._locked: Bools | None = None
        self._shapes: tuple[Any, Any] | None = None  # sizes and hulls when candidates were last taken up

    def copy(self) -> Memory:
        """Return a memory that does not change with this one; arrays are shared, for changes make others."""
        made = Memory.__new__(Memory)  # in a tenth of the time of copy.copy
        made.__dict__ |= self.__dict__
        made.pieces = SolverTriangles.__new__(SolverTriangles)
        made.pieces.__dict__ |= self.pieces.__dict__
        return made

    @property
    def moving(self) -> int:
        """The number of bodies that are not static."""
        return int(self.cuts[-1])

    def touching(self) -> tuple[I32, I32]:
        """Return both bodies of each pair that had a contact in the latest step, rows of the solver."""
        pairs = np.concatenate([kept.pairs[kept.slot >= 0] for kept in (self.spheres, self.manifolds)])
        return pairs[:, 0].copy(), pairs[:, 1].copy()

    def follow(self, bodies: State, pairs: Pairs, faces: HullFaces, threads: int | None) -> None:
        """Take up other bodies and other candidates: rows of ``bodies``, and after them of `pieces`, sorted."""
        self.former = None
        extra = len(self.pieces)
        static = _static_kinds(bodies)
        same_bodies = self.ids is bodies.ids or np.array_equal(self.ids, bodies.ids)
        if same_bodies and self.ids is not bodies.ids:  # those of a saved world
            self.ids, kind = bodies.ids, bodies.position.dtype
            self.rest = self.rest._replace(
                position=self.rest.position.astype(kind, "C"), acceleration=self.rest.acceleration.astype(kind, "C")
            )
        same_bodies = same_bodies and np.array_equal(self.static, static)
        same_locks = self._locked is None or np.array_equal(self._locked, bodies.locked)
        if self._locked is None or not same_locks:
            self._locked = bodies.locked.copy()
        if same_bodies and same_locks and pairs is self._pairs:
            return
        given = pairs
        if bodies.sensor.any():
            pairs = pairs[~np.append(bodies.sensor, np.zeros(extra, np.bool_))[pairs].any(axis=1)]
        ids = np.append(bodies.ids.view(np.uint32), self.pieces.number.astype(np.uint32))
        reshaped = self._reshaped(bodies)
        if not same_bodies:
            self._take_up(bodies, static)
        elif self._pairs is None and self._knows(ids, pairs):
            self._pairs = given
            return
        if not same_bodies or self.steps >= self.sorted_at + SORTED_FOR:
            self.order, self.sorted_at = _sorted_bodies(bodies, static), self.steps
        self.former = self.spheres, self.manifolds
        place = np.arange(len(ids), dtype=np.int32)
        place[self.order] = np.arange(len(self.order), dtype=np.int32)
        owner = self._cut()
        roles = np.append(_roles(bodies, static, faces), np.full(extra, OTHER, np.uint8))
        known = known_bodies(roles, place, owner)
        starts, (keys, by_key, rows) = arrange(pairs, ids, known, self.cuts, threads)
        self.starts, split = (starts[0], starts[1]), int(starts[0, -1])
        self.spheres = self.spheres.followed_by(keys[:split], by_key[:split], rows[:split], True, threads)
        self.manifolds = self.manifolds.followed_by(keys[split:], by_key[split:], rows[split:], False, threads)
        if reshaped.any():
            self.manifolds.forget(np.append(reshaped[self.order], np.zeros(extra, np.bool_)))
        self._pairs = given

    def _reshaped(self, bodies: State) -> Bools:
        """Return which bodies have another shape than before (n,), so that their manifolds are to be found again."""
        before, now = self._shapes, (bodies.size, bodies.hull)
        same = before is not None and self.ids is bodies.ids and all(map(np.array_equal, before, now))
        if not same:
            self._shapes = bodies.size.copy(), bodies.hull.copy()
        if same or before is None or not len(self.ids):
            return np.zeros(len(bodies.ids), np.bool_)
        at = np.minimum(np.searchsorted(self.ids, bodies.ids), len(self.ids) - 1)
        differs = (before[0][at] != bodies.size).any(axis=1) | (before[1][at] != bodies.hull)
        found: Bools = differs & (self.ids[at] == bodies.ids)
        return found

    def _knows(self, ids: U32, pairs: Pairs) -> bool:
        """Tell whether these are the candidates that a saved world had."""
        known = np.concatenate([self.spheres.keys, self.manifolds.keys])
        is_same = np.array_equal(np.sort(known), pack_pairs(ids[pairs]))
        return is_same and bool((self.manifolds.pairs < len(ids)).all())

    def _cut(self) -> I32:
        """Cut the bodies into parts, by their number alone; return the part of each, −1 for static ones."""
        moving = int((self.static == 0).sum())
        parts = min(1 << max(0, round(math.log2(max(moving, 1) / PART_BODIES))), MAX_PARTS)
        self.cuts = moving * np.arange(parts + 1) // parts
        owner = np.full(len(self.order) + len(self.pieces), -1, np.int32)
        owner[:moving] = np.repeat(np.arange(parts, dtype=np.int32), np.diff(self.cuts))
        return owner

    def _take_up(self, bodies: State, static: U8) -> None:
        """Keep what is known of bodies that stay; wake those that touched one that is gone, or is another now."""
        before, rest = self.ids, self.rest
        count = len(bodies.ids)
        place = np.minimum(np.searchsorted(before, bodies.ids), max(len(before) - 1, 0))
        stays = before[place] == bodies.ids if len(before) else np.zeros(count, np.bool_)
        island = np.full(count, -1, np.int32)
        now = np.array(bodies.position), np.array(bodies.acceleration)
        after = Rest(np.ones(count, np.uint8), np.zeros(count), island, *now)
        for name in Rest._fields:
            getattr(after, name)[stays] = getattr(rest, name)[place[stays]]
        sleeps = after.island >= 0
        if sleeps.any():
            same = self.static[place[stays]] == static[stays]
            lost = np.isin(bodies.ids, self._near(np.setdiff1d(before, bodies.ids[stays][same])))
            _, after.island[sleeps] = np.unique(after.island[sleeps], return_inverse=True)
            is_waking = np.zeros(count, np.uint8)
            is_waking[after.island[lost & sleeps]] = 1
            wake_islands(after, is_waking)
        after.position[(static > 0) & ~stays] = np.inf  # not where they were: what is near them wakes
        after.awake[static == 1] = 0
        after.awake[static == 2] = 1
        after.island[static > 0] = -1
        self.rest, self.ids, self.static = after, bodies.ids, static
        self.counts = (0, 0, count)

    def wake(self, ids: I32) -> None:
        """Wake the islands of these bodies, and of those that are candidates with the static ones among them."""
        sleeps = self.rest.island >= 0
        if len(ids) and sleeps.any():
            static = np.intersect1d(self.ids[self.static > 0], ids)
            chosen = sleeps & np.isin(self.ids, np.append(ids, self._near(static)))
            is_waking = np.zeros(len(sleeps), np.uint8)
            is_waking[self.rest.island[chosen]] = 1
            self.rest, self.counts = self.rest.copy(), (*self.counts[:2], self.counts[2] + int(chosen.sum()))
            wake_islands(self.rest, is_waking)

    def _near(self, ids: I32) -> I64:
        """Return the ids of bodies that are candidates with one of these."""
        found = [np.empty(0, np.int64)]
        for kept in (self.spheres, self.manifolds):
            first, second = self.pieces.numbers.of_pairs(kept.keys)
            found += [second[np.isin(first, ids)], first[np.isin(second, ids)]]
        return np.concatenate(found)

    # Saved worlds

    def state(self) -> dict[str, NDArray[Any]]:
        """Return copies of all that is kept between steps."""
        if not len(self.ids):
            return {}
        found: dict[str, NDArray[Any]] = {
            "ids": self.ids,
            "static": self.static,
            "order": self.order,
            "steps": np.array([self.steps, self.sorted_at, *self.counts]),
        }
        for name, packed in (("sphere", self.spheres.packed()), ("manifold", self.manifolds.packed())):
            found |= {f"{name}.{part}": getattr(packed, part) for part in SAVED}
        return found | {f"rest.{part}": array for part, array in self.rest._asdict().items()} | self.pieces.state()

    @classmethod
    def restored(cls, state: Mapping[str, NDArray[Any]]) -> Memory:
        """Return what `state` returned as a memory; raise `InvalidInput` for arrays that cannot be from there."""
        made = cls()
        if not state:
            return made
        made.pieces = SolverTriangles.restored(state)
        _check_state(state, len(made.pieces))
        made.ids, made.static, made.order = state["ids"], state["static"], state["order"]
        made.steps, made.sorted_at, *counts = (int(number) for number in state["steps"])
        made.counts = (counts[0], counts[1], counts[2])
        for name, sort in (("sphere", "spheres"), ("manifold", "manifolds")):
            saved = {part: np.array(state[f"{name}.{part}"]) for part in SAVED}  # what is kept is written to
            home = np.arange(len(saved["marks"]), dtype=np.int32)
            setattr(made, sort, Kept(home=home, until=np.zeros(len(home)), **saved))
        made.rest = Rest(*(state[f"rest.{part}"] for part in Rest._fields))
        owner = made._cut()
        parts = len(made.cuts) - 1
        made.starts = (node_starts(made.spheres.pairs, owner, parts), node_starts(made.manifolds.pairs, owner, parts))
        return made


def _check_state(state: Mapping[str, NDArray[Any]], extra: int) -> None:
    """Raise `InvalidInput` unless kernels may be given these arrays: types, shapes, and rows that are there.

    Pairs may also be with ``extra`` triangles.
    """
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
            f"{name}.by_key": (np.int64, (total,)),
            f"{name}.pairs": (np.int32, (total, 2)),
            f"{name}.slot": (np.int32, (total,)),
            f"{name}.held": (np.float32, (len(state.get(f"{name}.held", ())), HELD)),
            f"{name}.marks": (np.uint32, (wide, MARKS)),
            f"{name}.pose": (np.float64, (wide, POSE)),
            f"{name}.arms": (np.float64, (wide, NORMAL_ARMS)),
        }
    for name, (kind, shape) in wanted.items():
        array = state.get(name)
        if array is None or array.dtype != kind or array.shape != shape or not array.flags.carray:
            raise InvalidInput(f"The memory of the response 'soft-step' is damaged: {name!r} does not fit.")
    vectors = [state.get(f"rest.{name}") for name in ("position", "acceleration")]
    within = all(each is not None and each.shape == (count, 3) and each.dtype.kind == "f" for each in vectors)
    within = within and np.array_equal(np.sort(state["order"]), np.arange(count))
    within = within and bool(((state["rest.island"] >= -1) & (state["rest.island"] < max(count, 1))).all())
    within = within and bool((np.diff((state["static"][state["order"]] > 0).astype(np.int8)) >= 0).all())
    for name in ("sphere", "manifold"):
        pairs, by_key = state[f"{name}.pairs"], state[f"{name}.by_key"]
        within = within and bool(((pairs >= 0) & (pairs < count + extra)).all())
        within = within and np.array_equal(np.sort(by_key), np.arange(len(by_key)))
        within = within and bool((state[f"{name}.slot"] < len(state[f"{name}.held"])).all())
        within = within and bool((state[f"{name}.marks"][:, COUNT] <= MAX_POINTS).all())
    if not within:
        raise InvalidInput("The memory of the response 'soft-step' is damaged: it names bodies that are not there.")


def _static_kinds(bodies: State) -> U8:
    """Return 0 for bodies that move by forces, 1 for static ones at rest, 2 for static ones with a velocity."""
    kinds: U8 = bodies.static.astype(np.uint8)
    rows = np.flatnonzero(bodies.static)
    moves = bodies.velocity[rows].any(axis=1) | bodies.angular_velocity[rows].any(axis=1)
    kinds[rows[moves]] = 2
    return kinds


def _sorted_bodies(bodies: State, static: U8) -> Rows:
    """Return the rows of moving bodies along a Morton curve, then of static ones."""
    moving = np.flatnonzero(static == 0)
    position = bodies.position[moving].astype(np.float64)
    along = morton_order(np.concatenate((position, position), axis=1), 1).astype(np.int64)
    return np.concatenate((moving[along], np.flatnonzero(static)))


def _roles(bodies: State, static: U8, faces: HullFaces) -> U8:
    """Return what each body is to the rows of spheres: see `OTHER`."""
    kind = kinds_of(bodies.kind, bodies.hull, faces).view(np.uint8)
    roles: U8 = ROLES.ravel().take(kind + KINDS * static)
    if bodies.locked.any():
        roles[bodies.locked[:, 3:].any(axis=1)] = OTHER  # their spin is not that of a ball
    return roles
