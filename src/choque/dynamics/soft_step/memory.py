"""What the solver keeps from step to step: for each candidate pair its manifold and its impulses, sorted by the pair.

When the candidates change, what a pair has kept moves to its new place in one merge of two sorted arrays. There is no
hash table, so that a saved world continues bit for bit.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import kernel
from choque._core.types import Floats, Integer, Keys, Rows
from choque.dynamics.soft_step import rows as flat_rows
from choque.dynamics.soft_step import spheres as ball_rows
from choque.dynamics.soft_step.bodies import SolverBodies
from choque.dynamics.soft_step.manifolds import NORMAL_ARMS, POSE, ManifoldRows
from choque.dynamics.soft_step.spheres import SphereRows
from choque.narrow.pair import ContactArrays

FEATURES, COUNT = 0, 4
"""Places in a row of `Kept.marks`: four features, and the number of points."""

TOUCHED, SPEED, HELD = 8, 9, 10
"""Places in a row of `Kept.held`, and the width of it."""

LIVE, SLEEPING = 1, 2
"""A pair that is solved in a step, and one that is not looked at."""

UPRIGHT = 2.9696155
"""The trace of a turn by ten degrees: a body that turns farther than that gets another manifold."""


class Kept(NamedTuple):
    """Candidate pairs of one sort, sorted by their keys, and what is kept of each."""

    keys: Keys
    """(m,): the ids of both bodies as one number."""
    pairs: NDArray[np.int32]
    """(m, 2): the rows of both bodies in the order of the solver."""
    held: NDArray[np.float64]
    """(m, 10): impulses: of four points, friction in the world, twist; of spheres: normal, friction, rolling. Then
    whether the bodies touched in the latest step, and how fast they met in it."""
    marks: NDArray[np.uint32]
    """(m, 5): see `FEATURES`."""
    pose: NDArray[np.float64]
    """(m, 22): where the bodies were when the manifold was found; not for spheres."""
    arms: NDArray[np.float64]
    """(m, 27): the normal and the arms of four points, in the axes of the world; not for spheres."""

    @classmethod
    def of(cls, keys: Keys, pairs: NDArray[np.int32], before: Self | None, is_round: bool) -> Self:
        """Return the pairs with what ``before`` kept of them."""
        count = len(keys)
        wide = 0 if is_round else count
        fresh = cls(
            keys,
            pairs,
            np.zeros((count, HELD)),
            np.zeros((count, 5), np.uint32),
            np.zeros((wide, POSE)),
            np.zeros((wide, NORMAL_ARMS)),
        )
        if before is not None and len(before.keys) and count:
            place = np.empty(count, np.int64)
            _merge(before.keys, keys, place)
            for name in ("held", "marks") if is_round else ("held", "marks", "pose", "arms"):
                _carry(place, getattr(before, name), getattr(fresh, name))
        return fresh


@kernel
def _merge(before: Keys, after: Keys, place: Rows) -> None:
    """Write where each of the keys ``after`` is among ``before``, or −1; both are sorted."""
    at = 0
    for row in range(after.size):
        while at < before.size and before[at] < after[row]:
            at += 1
        place[row] = at if at < before.size and before[at] == after[row] else -1


@kernel
def _carry(place: Rows, before: Any, after: Any) -> None:
    """Copy the rows of ``before`` to where their pairs are now."""
    for row in range(place.size):
        source = place[row]
        if source >= 0:
            for column in range(before.shape[1]):
                after[row, column] = before[source, column]


@kernel
def recycle(
    first: Integer,
    last: Integer,
    kept: Kept,
    bodies: SolverBodies,
    awake: NDArray[np.uint8],
    is_live: NDArray[np.uint8],
    is_stale: NDArray[np.uint8],
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
                    at = 3 + 6 * point
                    reach_a = max(reach_a, arms[pair, at] ** 2 + arms[pair, at + 1] ** 2 + arms[pair, at + 2] ** 2)
                    at += 3
                    reach_b = max(reach_b, arms[pair, at] ** 2 + arms[pair, at + 1] ** 2 + arms[pair, at + 2] ** 2)
                reach_a, reach_b = math.sqrt(reach_a), math.sqrt(reach_b)
            turn_a, turn_b = math.sqrt(max(3.0 - trace_a, 0.0)), math.sqrt(max(3.0 - trace_b, 0.0))
            is_near = math.sqrt(way) + turn_a * reach_a + turn_b * reach_b < allowed
            if is_near and (marks[pair, COUNT] == 0 or (trace_a > UPRIGHT and trace_b > UPRIGHT)):
                is_stale[pair] = 0
                is_live[pair] = marks[pair, COUNT] > 0


@kernel
def adopt(
    rows: Rows, found: ContactArrays, kept: Kept, bodies: SolverBodies, tolerance: float, is_live: NDArray[np.uint8]
) -> None:
    """Keep the manifolds ``found`` of the pairs ``rows``; points whose feature was there before keep their impulse."""
    pairs, held, marks, found_pose, arms = kept.pairs, kept.held, kept.marks, kept.pose, kept.arms
    _, normal, points, separations, features, point_count = found
    pose, near, size = bodies.pose, bodies.near, bodies.size
    for row in range(rows.size):
        pair = rows[row]
        a, b = pairs[pair, 0], pairs[pair, 1]
        count, before = np.int64(point_count[row]), np.int64(marks[pair, COUNT])
        old = (held[pair, 0], held[pair, 1], held[pair, 2], held[pair, 3])
        mark = (marks[pair, 0], marks[pair, 1], marks[pair, 2], marks[pair, 3])
        for point in range(4):
            held[pair, point] = 0.0
        for point in range(count):
            for other in range(before):
                if features[row, point] == mark[other]:
                    held[pair, point] = old[other]
            marks[pair, FEATURES + point] = features[row, point]
        if count == 0:
            for part in range(4, 8):
                held[pair, part] = 0.0
        marks[pair, COUNT] = count
        is_live[pair] = count > 0
        for axis in range(3):
            found_pose[pair, axis] = pose[b, axis] - pose[a, axis]
        for part in range(9):
            found_pose[pair, 4 + part], found_pose[pair, 13 + part] = pose[a, 3 + part], pose[b, 3 + part]
        if count == 0:
            found_pose[pair, 3] = separations[row, 0] - (near[a] + near[b])
            reach = 0.0
            for axis in range(3):
                reach += size[a, axis] ** 2
            arms[pair, 25] = math.sqrt(reach)
            reach = 0.0
            for axis in range(3):
                reach += size[b, axis] ** 2
            arms[pair, 26] = math.sqrt(reach)
            continue
        found_pose[pair, 3] = min(tolerance, 4.0 * min(near[a], near[b]))
        for axis in range(3):
            arms[pair, axis] = normal[row, axis]
            for point in range(count):
                half = 0.5 * separations[row, point] * normal[row, axis]
                arms[pair, 3 + 6 * point + axis] = points[row, point, axis] - half - pose[a, axis]
                arms[pair, 6 + 6 * point + axis] = points[row, point, axis] + half - pose[b, axis]


@kernel
def solve_order(
    pairs: NDArray[np.int32], owner: NDArray[np.int32], part_count: Integer, order: Rows, starts: Rows
) -> None:
    """Sort pairs by the part that solves them, those between two parts last; within a part by their keys.

    ``owner`` is the part of each moving body, −1 for static ones; part p has ``order[starts[p]:starts[p + 1]]``.
    """
    for part in range(starts.size):
        starts[part] = 0
    for pair in range(pairs.shape[0]):
        starts[_part(pairs, owner, part_count, pair) + 1] += 1
    for part in range(starts.size - 1):
        starts[part + 1] += starts[part]
    for pair in range(pairs.shape[0]):
        part = _part(pairs, owner, part_count, pair)
        order[starts[part]] = pair
        starts[part] += 1
    for part in range(starts.size - 1, 0, -1):
        starts[part] = starts[part - 1]
    starts[0] = 0


@kernel
def _part(pairs: NDArray[np.int32], owner: NDArray[np.int32], part_count: Integer, pair: Integer) -> Any:
    one, other = owner[pairs[pair, 0]], owner[pairs[pair, 1]]
    if one < 0 or one == other:
        return other
    return one if other < 0 else part_count


@kernel
def lay_out(
    kept: Kept, order: Rows, starts: Rows, is_live: NDArray[np.uint8], live: Rows, begins: Rows, touched: Any
) -> int:
    """Write the live pairs in the order of the solver, where each part begins, and which bodies have contacts."""
    pairs = kept.pairs
    total = 0
    for part in range(starts.size - 1):
        begins[part] = total
        for place in range(starts[part], starts[part + 1]):
            pair = order[place]
            if is_live[pair] == LIVE:
                live[total] = pair
                total += 1
                touched[pairs[pair, 0]] = touched[pairs[pair, 1]] = 1
    begins[starts.size - 1] = total
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
                arm = arms[live[t], 3 + 6 * point + axis]
                points[place, point, axis] = pose[a, axis] + arm + 0.5 * gap * normal[place, axis]
