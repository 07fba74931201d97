"""What the solver keeps of candidate pairs from step to step: their manifolds and impulses, in the order of the solver.

When the candidates change, what a pair has kept moves to its new place in one merge of two sorted lists. There is no
hash table, so that a saved world continues bit for bit.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Self

import numpy as np

from choque._core import memory
from choque._core.kernel import helper, kernel
from choque._core.pair_keys import pair_key
from choque._core.types import F32, F64, I32, I64, U8, U32, Floats, Integer, Keys, Rows
from choque.dynamics.soft_step import rows as flat_rows
from choque.dynamics.soft_step import sphere_rows as ball_rows
from choque.dynamics.soft_step.bodies import SolverBodies
from choque.dynamics.soft_step.four import HELD
from choque.dynamics.soft_step.manifolds import NORMAL_ARMS, POSE, ManifoldRows
from choque.dynamics.soft_step.spheres import LIVE, SLEEPING, SphereRows
from choque.narrow.manifolds.solids import TRIANGLE
from choque.narrow.pair import ContactArrays
from choque.narrow.shapes import CONVEX

FEATURES, COUNT = 0, 4  # places in a row of `Kept.marks`: four features, and the number of points

OTHER, BALL, STATIC_BALL, WALL = range(4)
"""What a body is to the rows of spheres: a sphere that moves, a static one at rest, a plane, tile or box at rest."""

COLORS = 64  # colours of pairs: the bits of a number
UPRIGHT = 2.9696155  # the trace of a turn by ten degrees: a body that turns farther than that gets another manifold


class Kept(NamedTuple):
    """Candidate pairs of one sort, and what is kept of each: by the part that solves them, then by colour and key."""

    keys: Keys  # (m,): the ids of both bodies as one number
    by_key: Rows  # (m,): the places of the pairs in the order of their keys
    pairs: I32  # (m, 2): the rows of both bodies in the order of the solver
    slot: I32  # (m,): the row of ``held``, −1 for pairs that had no contact in the latest step
    # (k, 13): impulses: of four points, friction in the world, twist; of spheres: normal, friction, rolling. Then
    # whether the bodies touched in the latest step, how fast they met in it, and rolling; of spheres nothing.
    held: F32
    marks: U32  # (m, 5): see `FEATURES`
    pose: F64  # (m, 22): where the bodies were when the manifold was found; not for spheres
    # (m, 27): the normal, then x, y and z of the arms of A to four points, and those of B, in the axes of the world;
    # zeros for points that are not there; not for spheres
    arms: F64

    @classmethod
    def of(cls, keys: Keys, by_key: Rows, pairs: I32, is_round: bool, before: Self | None) -> Self:
        """Return the pairs with what ``before`` kept of them."""
        count = len(keys)
        wide = 0 if is_round else count
        fresh = cls(
            keys,
            by_key,
            pairs,
            memory.empty(count, np.int32),
            np.empty((0, HELD), np.float32) if before is None else before.held,
            memory.empty((wide, 5), np.uint32),
            memory.empty((wide, POSE), np.float64),
            memory.empty((wide, NORMAL_ARMS), np.float64),
        )
        if count:
            _take_over(fresh if before is None else before, fresh, before is None)
        return fresh


@kernel
def arrange(
    pairs: I32, ids: I32, role: U8, place: I32, owner: I32, starts: I64, made: tuple[Any, ...], work: tuple[Any, ...]
) -> None:
    """Sort candidates by their sort, those of spheres first, then by the part that solves them, by colour, and by key.

    ``pairs`` are rows of the world, sorted; ``place`` their rows in the solver, ``owner`` the part of each of these, −1
    for static ones. ``starts`` (2, p + 2) becomes the first pair of each part, contacts between parts being the last
    part. ``made`` are keys, places by key, and pairs of solver rows, both sorts behind each other.

    Pairs of one colour share no body that moves, so that a processor can begin a contact before it has finished the
    one before. Each pair gets the first colour that is free, in the order of the keys; the last colour takes all that
    find none. ``work`` are the colour of each pair (m,), zeros for the colours that each body has (n, 4), and zeros for
    the number of pairs by sort, part and colour (2, p + 1, `COLORS`).
    """
    keys, by_key, solver_pairs = made
    color, taken, counts = work
    part_count = starts.shape[1] - 2
    for pair in range(pairs.shape[0]):
        sort = _sort(role[pairs[pair, 0]], role[pairs[pair, 1]])
        one, other = place[pairs[pair, 0]], place[pairs[pair, 1]]
        part = _part(owner[one], owner[other], part_count)
        layer = 2 * sort + (part == part_count)
        both = taken[one, layer] if owner[one] >= 0 else np.uint64(0)
        if owner[other] >= 0:
            both |= taken[other, layer]
        free, bit = 0, np.uint64(1)
        while free < COLORS - 1 and both & bit:
            free += 1
            bit <<= np.uint64(1)
        taken[one, layer] |= bit
        taken[other, layer] |= bit
        color[pair] = free
        counts[sort, part, free] += 1
    for sort in range(2):
        total = 0
        for part in range(part_count + 1):
            starts[sort, part] = total
            for tint in range(COLORS):
                here = counts[sort, part, tint]
                counts[sort, part, tint] = total
                total += here
        starts[sort, part_count + 1] = total
    round_count = starts[0, part_count + 1]
    seen = 0
    for pair in range(pairs.shape[0]):
        one, other = pairs[pair, 0], pairs[pair, 1]
        sort = _sort(role[one], role[other])
        part = _part(owner[place[one]], owner[place[other]], part_count)
        at = counts[sort, part, color[pair]]
        counts[sort, part, color[pair]] += 1
        rank = seen if sort == 0 else round_count + pair - seen
        seen += 1 - sort
        by_key[rank] = at
        at += sort * round_count
        keys[at] = pair_key(ids[one], ids[other])
        swaps = sort == 0 and role[one] != BALL
        solver_pairs[at, 0], solver_pairs[at, 1] = place[other if swaps else one], place[one if swaps else other]


@helper
def _sort(one: Integer, other: Integer) -> int:
    """Return 0 for two spheres, or a sphere and a static body at rest that is a plane, a tile or a box; else 1."""
    return 0 if (one == BALL and other != OTHER) or (other == BALL and one != OTHER) else 1


@helper
def _part(one: Integer, other: Integer, part_count: Integer) -> Any:
    if one < 0 or one == other:
        return other
    return one if other < 0 else part_count


def part_starts(pairs: I32, owner: I32, part_count: int) -> Rows:
    """Return what `arrange` writes to its ``starts``, from pairs that are arranged."""
    one, other = owner[pairs[:, 0]], owner[pairs[:, 1]]
    part = np.where((one < 0) | (one == other), other, np.where(other < 0, one, part_count))
    return np.searchsorted(part, np.arange(part_count + 2)).astype(np.int64)


@kernel
def _take_over(before: Kept, after: Kept, is_first: bool) -> None:
    """Copy what ``before`` kept to where its pairs are ``after``; others begin with zeros."""
    keys, by_key, _, slot, _, marks, pose, arms = after
    old_keys, old_by_key = before.keys, before.by_key
    old_count = 0 if is_first else old_keys.size
    rank = 0
    for row in range(by_key.size):
        at = by_key[row]
        while rank < old_count and old_keys[old_by_key[rank]] < keys[at]:
            rank += 1
        is_old = rank < old_count and old_keys[old_by_key[rank]] == keys[at]
        slot[at] = old_by_key[rank] if is_old else -1
    for at in range(slot.size):  # in the order of memory: most pairs keep their neighbours
        source = slot[at]
        slot[at] = before.slot[source] if source >= 0 else -1
        if marks.shape[0] > 0:
            for column in range(marks.shape[1]):
                marks[at, column] = before.marks[source, column] if source >= 0 else 0
            for column in range(pose.shape[1]):
                pose[at, column] = before.pose[source, column] if source >= 0 else 0.0
            for column in range(arms.shape[1]):
                arms[at, column] = before.arms[source, column] if source >= 0 else 0.0


@kernel
def recycle(
    first: Integer, last: Integer, kept: Kept, bodies: SolverBodies, awake: U8, is_live: U8, is_stale: U8
) -> None:
    """Decide which of the manifolds ``first … last − 1`` can be used again, and which must be found.

    A manifold stays while its bodies moved less, relative to each other, than the distance that was allowed when it was
    found, and neither turned by more than ten degrees. Of bodies that are apart nothing is computed until they may have
    come close.
    """
    pairs, marks, found_pose, arms = kept.pairs, kept.marks, kept.pose, kept.arms
    pose = bodies.pose
    for pair in range(first, last):
        a, b = pairs[pair, 0], pairs[pair, 1]
        is_live[pair] = is_stale[pair] = 0
        if not (awake[a] or awake[b]):
            is_live[pair] = SLEEPING
            continue
        allowed = found_pose[pair, 3]
        is_stale[pair] = 1
        if allowed > 0:
            way = 0.0
            for axis in range(3):
                way += (pose[b, axis] - pose[a, axis] - found_pose[pair, axis]) ** 2
            trace_a = trace_b = 0.0
            for part in range(9):
                trace_a += pose[a, 3 + part] * found_pose[pair, 4 + part]
                trace_b += pose[b, 3 + part] * found_pose[pair, 13 + part]
            reach_a, reach_b = arms[pair, 25], arms[pair, 26]
            if marks[pair, COUNT] > 0:
                reach_a = reach_b = 0.0
                for point in range(marks[pair, COUNT]):
                    at = 3 + point
                    reach_a = max(reach_a, arms[pair, at] ** 2 + arms[pair, at + 4] ** 2 + arms[pair, at + 8] ** 2)
                    at += 12
                    reach_b = max(reach_b, arms[pair, at] ** 2 + arms[pair, at + 4] ** 2 + arms[pair, at + 8] ** 2)
                reach_a, reach_b = math.sqrt(reach_a), math.sqrt(reach_b)
            turn_a, turn_b = math.sqrt(max(3.0 - trace_a, 0.0)), math.sqrt(max(3.0 - trace_b, 0.0))
            is_near = math.sqrt(way) + turn_a * reach_a + turn_b * reach_b < allowed
            if is_near and (marks[pair, COUNT] == 0 or (trace_a > UPRIGHT and trace_b > UPRIGHT)):
                is_stale[pair] = 0
                is_live[pair] = marks[pair, COUNT] > 0


@helper
def _reach(bodies: SolverBodies, extent: Floats, row: Integer) -> float:
    """Return the greatest distance of a point of a body from its position; of a plane 0."""
    is_hull = bodies.kind[row] == CONVEX or bodies.kind[row] == TRIANGLE
    total = 0.0
    for axis in range(3):
        total += (bodies.size[row, axis] * (extent[bodies.hull[row], axis] if is_hull else 1.0)) ** 2
    return math.sqrt(1.25 * total)  # a capsule reaches r + l/2, which is √1.25·√(r² + l²) at most


@kernel
def adopt(
    rows: Rows, found: ContactArrays, kept: Kept, bodies: SolverBodies, extent: Floats, tolerance: float, is_live: Any
) -> None:
    """Keep the manifolds ``found`` of the pairs ``rows``; points whose feature was there before keep their impulse."""
    pairs, slot, held = kept.pairs, kept.slot, kept.held
    marks, found_pose, arms = kept.marks, kept.pose, kept.arms
    _, normal, points, separations, features, point_count = found
    pose, near = bodies.pose, bodies.near
    for row in range(rows.size):
        pair = rows[row]
        a, b = pairs[pair, 0], pairs[pair, 1]
        count, before, at = np.int64(point_count[row]), np.int64(marks[pair, COUNT]), slot[pair]
        if at >= 0:
            old = (held[at, 0], held[at, 1], held[at, 2], held[at, 3])
            for point in range(4):
                held[at, point] = 0.0
            for point in range(count):
                for other in range(before):
                    if features[row, point] == marks[pair, FEATURES + other]:
                        held[at, point] = old[other]
        for point in range(count):
            marks[pair, FEATURES + point] = features[row, point]
        marks[pair, COUNT] = count
        is_live[pair] = count > 0
        for axis in range(3):
            found_pose[pair, axis] = pose[b, axis] - pose[a, axis]
        for part in range(9):
            found_pose[pair, 4 + part], found_pose[pair, 13 + part] = pose[a, 3 + part], pose[b, 3 + part]
        if count == 0:
            found_pose[pair, 3] = separations[row, 0] - (near[a] + near[b])
            arms[pair, 25], arms[pair, 26] = _reach(bodies, extent, a), _reach(bodies, extent, b)
            continue
        found_pose[pair, 3] = min(tolerance, 4.0 * min(near[a], near[b]))
        for axis in range(3):
            arms[pair, axis] = normal[row, axis]
            for point in range(4):
                at, half = 3 + 4 * axis + point, 0.5 * separations[row, point] * normal[row, axis]
                arms[pair, at] = points[row, point, axis] - half - pose[a, axis] if point < count else 0.0
                arms[pair, at + 12] = points[row, point, axis] + half - pose[b, axis] if point < count else 0.0


@kernel
def lay_out(
    kept: Kept, starts: Rows, is_live: U8, live: Rows, begins: Rows, touched: Any, slot: I32, held: Floats
) -> int:
    """Write the live pairs, where each part of them begins, and which bodies have contacts.

    ``slot`` becomes where pairs hold their impulses after the step: live ones first, in their order, then those that
    sleep, whose rows of ``held`` are copied. Return how many rows are held.
    """
    pairs, before, old_slot = kept.pairs, kept.held, kept.slot
    total = 0
    for part in range(starts.size - 1):
        begins[part] = total
        for pair in range(starts[part], starts[part + 1]):
            is_solved = is_live[pair] == LIVE  # without a branch, as in `touch_spheres`
            live[total], slot[pair] = pair, total if is_solved else -1
            total += is_solved
            touched[pairs[pair, 0]] |= is_solved
            touched[pairs[pair, 1]] |= is_solved
    begins[starts.size - 1] = total
    for pair in range(slot.size):
        if is_live[pair] == SLEEPING and old_slot[pair] >= 0:
            for column in range(HELD):
                held[total, column] = before[old_slot[pair], column]
            slot[pair] = total
            total += 1
    return total


@kernel
def list_contacts(
    order: Rows,
    bodies: SolverBodies,
    spheres: SphereRows,
    manifolds: ManifoldRows,
    live: Rows,
    arms: Floats,
    found: ContactArrays,
) -> None:
    """Write the contacts of spheres, then the manifolds, as they were at the start of the step.

    ``live`` are the rows of ``arms``, the normals and arms that are kept, of the manifolds.
    """
    pairs, normal, points, separations, _, point_count = found
    pose, size = bodies.pose, bodies.size
    for t in range(spheres.a.size):
        a = spheres.a[t]
        pairs[t, 0], pairs[t, 1] = order[a], order[spheres.b[t]]
        gap = spheres.row[t, ball_rows.GAP]
        point_count[t], separations[t, 0] = 1, gap
        for axis in range(3):
            normal[t, axis] = spheres.row[t, ball_rows.NORMAL + axis]
            points[t, 0, axis] = pose[a, axis] + (size[a, 0] + 0.5 * gap) * normal[t, axis]
    for t in range(manifolds.a.size):
        a, place = manifolds.a[t], spheres.a.size + t
        pairs[place, 0], pairs[place, 1] = order[a], order[manifolds.b[t]]
        point_count[place] = manifolds.point_count[t]
        for axis in range(3):
            normal[place, axis] = manifolds.row[t, flat_rows.NORMAL + axis]
        for point in range(manifolds.point_count[t]):
            gap = manifolds.row[t, flat_rows.GAP + point]
            separations[place, point] = gap
            for axis in range(3):
                arm = arms[live[t], 3 + 4 * axis + point]
                points[place, point, axis] = pose[a, axis] + arm + 0.5 * gap * normal[place, axis]
