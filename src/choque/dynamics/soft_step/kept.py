"""What the solver keeps of candidate pairs from step to step: their manifolds and impulses, in the order of the solver.

When the candidates change, what was kept of a pair is found in one merge of two sorted lists. There is no hash table,
so that a saved world continues bit for bit.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Self

import numpy as np

from choque._core import memory
from choque._core.kernel import helper, kernel
from choque._core.lanes import lowest_bit
from choque._core.pair_keys import pair_key
from choque._core.phases import (
    NONE_LEFT,
    SHARES,
    Phases,
    Shares,
    finish_item,
    next_item,
    next_share,
    run_phases,
    run_shares,
)
from choque._core.threads import resolve_count
from choque._core.types import F32, F64, I32, I64, U8, U32, Bools, Floats, Integer, Keys, Pairs, Rows
from choque.dynamics.soft_step import rows as flat_rows
from choque.dynamics.soft_step import sphere_rows as ball_rows
from choque.dynamics.soft_step.bodies import SolverBodies
from choque.dynamics.soft_step.four import HELD
from choque.dynamics.soft_step.making import COUNT, FEATURES, MARKS, NORMAL_ARMS, POSE, TURN_A, TURN_B
from choque.dynamics.soft_step.manifolds import ManifoldRows
from choque.dynamics.soft_step.spheres import LIVE, SLEEPING, SphereRows
from choque.narrow.manifolds.solids import TRIANGLE, PosedSolids
from choque.narrow.pair import ContactArrays
from choque.narrow.shapes import CONVEX

ALLOWED, REACH_A, REACH_B = 3, 4, 5  # places in a row of `Kept.pose`, beside `TURN_A` and `TURN_B`

OTHER, BALL, STATIC_BALL, WALL = range(4)
"""What a body is to the rows of spheres: a sphere that moves, a static one at rest, a plane, tile or box at rest."""

SPARE = 8  # memory is given back where there are more than this many times the rows that are needed
COLORS = 64  # colours of pairs: the bits of a number
PLACE_SHIFT, PART_SHIFT, PART_MASK, ROLE_MASK = 32, 8, 0xFFFFFF, 0xFF  # how `known_bodies` packs three numbers
LAST_COLOR = -(1 << 63)  # as a bit
CLASSIFY, BEGIN, LIST = range(3)  # the phases before those of the heights of the tree
MIN_TRACE = 2.9696155  # the trace of a rotation by ten degrees: a body that turns farther gets another manifold
MAX_TURN = 0.17  # √(3 − trace) is greater then
ROUNDING = 0.999  # more than what is rounded in sums of paths


class Kept(NamedTuple):
    """Candidate pairs of one sort, and what is kept of each: by the part that solves them, then by colour and key."""

    keys: Keys  # (m,): the ids of both bodies as one number
    by_key: Rows  # (m,): the places of the pairs in the order of their keys
    pairs: I32  # (m, 2): the rows of both bodies in the order of the solver
    slot: I32  # (m,): the row of ``held``, −1 for pairs that had no contact in the latest step
    # (k, 13): impulses: of four points, friction in the world, twist; of spheres: normal, friction, rolling. Then
    # whether the bodies touched in the latest step, how fast they met in it, and rolling; of spheres nothing.
    held: F32
    home: I32  # (m,): the row of each pair in the columns below; empty for spheres, of which nothing more is kept
    marks: U32  # (c, 5): see `FEATURES`
    # (c, 24): where the bodies were when the manifold was found: their offset, how far they may move, how far the
    # points are from their positions, and the rotation of each
    pose: F64
    # (c, 27): the normal, then x, y and z of the arms of A to four points, and those of B, in the axes of the world;
    # zeros for points that are not there
    arms: F64
    # (c,): how long both paths may be before `recycle` looks at the poses; negative for manifolds without points
    until: F64

    @classmethod
    def none(cls) -> Self:
        """Return that there are no pairs."""
        nothing = np.empty(0, np.uint64), np.empty(0, np.int64), np.empty((0, 2), np.int32), np.empty(0, np.int32)
        return cls(*nothing, np.empty((0, HELD), np.float32), np.empty(0, np.int32), *_columns(0))

    def followed_by(self, keys: Keys, by_key: Rows, pairs: I32, is_round: bool, threads: int | None) -> Kept:
        """Return other pairs with what is kept of these.

        What is kept of manifolds stays where it is: it has 436 bytes, and most pairs stay. A new pair takes a row that
        none of these pairs has, so that a step that fails can return to them.
        """
        count = len(keys)
        kept: Any = self[6:]
        slot, home = memory.empty(count, np.int32), memory.empty(0 if is_round else count, np.int32)
        rows = len(self.home) + len(home)
        if len(self.marks) > SPARE * rows:
            return self.packed(2 * count).followed_by(keys, by_key, pairs, is_round, threads)
        if len(self.marks) < rows:
            kept = _columns(rows + rows // 2)
            for name, longer in zip(self._fields[6:], kept, strict=True):
                longer[: len(self.marks)] = getattr(self, name)
        known = (self.keys, self.by_key, self.slot, self.home), (keys, by_key, slot, home)
        run_shares(_find_kept, count, resolve_count(threads, count), *known)
        if len(fresh := np.flatnonzero(home < 0)):
            is_free = np.ones(len(kept[0]), np.bool_)
            is_free[self.home] = False
            home[fresh] = free = np.flatnonzero(is_free)[: len(fresh)]
            for column in kept:
                column[free] = 0
        return Kept(keys, by_key, pairs, slot, self.held, home, *kept)

    def forget(self, bodies: Bools) -> None:
        """Let the manifolds of the bodies that are marked, rows of the solver, be found again."""
        homes = self.home[bodies[self.pairs].any(axis=1)]
        self.pose[homes, ALLOWED] = self.until[homes] = 0.0

    def packed(self, spare: int = 0) -> Kept:
        """Return copies of all that is kept, in the order of the pairs, with ``spare`` rows behind them."""
        kept, home = _columns(len(self.home) + spare), np.arange(len(self.home), dtype=np.int32)
        for name, packed in zip(self._fields[6:], kept, strict=True):
            # by the default mode NumPy copies twice
            getattr(self, name).take(self.home, axis=0, out=packed[: len(home)], mode="clip")
        return Kept(self.keys, self.by_key, self.pairs, self.slot, self.held.copy(), home, *kept)


def _columns(count: int) -> tuple[Any, ...]:
    """Return the columns from ``marks`` to ``until`` of `Kept`, not initialised but for the last."""
    widths: tuple[tuple[int, Any], ...] = ((MARKS, np.uint32), (POSE, np.float64), (NORMAL_ARMS, np.float64))
    return *(memory.empty((count, width), kind) for width, kind in widths), np.zeros(count)


def arrange(pairs: Pairs, ids: U32, known: I64, cuts: Rows, threads: int | None) -> tuple[Rows, tuple[Keys, Rows, I32]]:
    """Sort candidates by their sort, those of spheres first, then by the part that solves them, by colour, and by key.

    ``pairs`` (m, 2) are rows of the world, sorted; ``known`` is what `known_bodies` returned, and ``cuts`` (p + 1,) are
    the first bodies of the parts. Return the first pair of each node of the tree of p parts (2, 2p), see `substeps`:
    the parts, then what joins them, height by height; and keys, places by key, and pairs of solver rows.

    Pairs of one colour share no body that moves, so that a processor can begin a contact before it has finished the
    one before. Each pair gets the first colour that is free, in the order of the keys; the last takes all that find
    none. Nodes of one height share no such body either: threads colour them side by side, in any order. O(m + n).
    """
    count, part_count = len(pairs), len(cuts) - 1
    starts = np.empty((2, 2 * part_count), np.int64)
    threads = resolve_count(threads, count)
    shares, bins = SHARES * threads if threads > 1 else 1, 2 * (2 * part_count - 1)
    made, listed = (
        (memory.empty(count, np.uint64), memory.empty(count, kind), memory.empty((count, 2), np.int32))
        for kind in (np.int64, np.int32)
    )
    marks = memory.empty(count, np.int32), np.zeros((shares, bins + 1), np.int64)
    colors = memory.empty(count, np.uint8), np.zeros((bins, COLORS), np.int64), np.zeros((int(cuts[-1]), 4), np.int64)
    nodes = [part_count >> height for height in range(part_count.bit_length())]
    phases, given = Phases.of([shares, 1, shares, *nodes], threads), (pairs, ids, known)
    run_phases(_arrange, phases, given, starts, made, listed, marks, colors)
    starts[1] -= starts[0, -1]
    return starts, made


@kernel
def _arrange(
    phases: Phases, thread: Integer, given: Any, starts: Rows, made: Any, listed: Any, marks: Any, colors: Any
) -> bool:
    """Run what this thread takes of `arrange`; return whether nothing is left.

    ``listed`` become keys, ranks by key, and pairs of solver rows, by bins: the nodes of both sorts. ``marks`` are the
    bin of each pair (m,); and how many pairs of a share are in each bin, then where the next one goes, and at the end
    of the row how many pairs of spheres come before the share. ``colors`` are those of `_color`.
    """
    pairs, ids, known = given
    keys, ranks, rows = listed
    place_of, counts = marks
    share_count, bin_count = counts.shape[0], counts.shape[1] - 1
    part_count, node_count = starts.shape[1] // 2, starts.shape[1] - 1
    phase: Integer = 0
    while True:
        item, phase = next_item(phases, thread, phase)
        if item < 0:
            return bool(item == NONE_LEFT)
        item = int(item - phases.starts[phase])
        first, last = pairs.shape[0] * item // share_count, pairs.shape[0] * (item + 1) // share_count
        if phase == CLASSIFY:
            for pair in range(first, last):
                one, other = known[pairs[pair, 0]], known[pairs[pair, 1]]
                sort = _sort(one & ROLE_MASK, other & ROLE_MASK)
                own, its = ((one >> PART_SHIFT) & PART_MASK) - 1, ((other >> PART_SHIFT) & PART_MASK) - 1
                height = 0
                while own >= 0 and its >= 0 and own >> height != its >> height:
                    height += 1
                node = 2 * part_count - (2 * part_count >> height) + (max(own, its) >> height)
                place_of[pair] = sort * node_count + node
                counts[item, place_of[pair]] += 1
                counts[item, bin_count] += 1 - sort
        elif phase == BEGIN:
            total = 0
            for place in range(bin_count + 1):
                if place == bin_count:
                    total = 0
                else:
                    starts[place // node_count, place % node_count] = total
                for share in range(share_count):
                    here = counts[share, place]
                    counts[share, place] = total
                    total += here
            starts[0, node_count], starts[1, node_count] = starts[1, 0], pairs.shape[0]
        elif phase == LIST:
            seen = counts[item, bin_count]
            for pair in range(first, last):
                place = place_of[pair]
                at = counts[item, place]
                counts[item, place] += 1
                one, other = known[pairs[pair, 0]], known[pairs[pair, 1]]
                is_round = place < node_count
                swaps = is_round and one & ROLE_MASK != BALL
                rows[at, 0], rows[at, 1] = (
                    (other if swaps else one) >> PLACE_SHIFT,
                    (one if swaps else other) >> PLACE_SHIFT,
                )
                keys[at] = pair_key(ids[pairs[pair, 0]], ids[pairs[pair, 1]])
                ranks[at] = seen if is_round else pair - seen
                seen += is_round
        else:
            height = phase - LIST - 1
            node = 2 * part_count - (2 * part_count >> height) + item
            for sort in range(2):
                span = (starts[sort, node], starts[sort, node + 1], sort * starts[1, 0])
                _color(sort * node_count + node, 2 * sort + (height > 0), span, made, listed, colors)
        finish_item(phases.finished)


@helper
def _color(place: Integer, layer: Integer, span: Any, made: Any, listed: Any, colors: Any) -> None:
    """Choose a colour for each pair of a bin, and write the pairs in the order of their colours.

    ``span`` is where the pairs of the bin, and of its sort, are. ``colors`` are those of the pairs (m,), zeros for the
    number of pairs of each in a bin, and the colours that each body that moves has, by layer, as bits.
    """
    first, last, begin = span
    keys, by_key, rows = made
    listed_keys, ranks, listed_rows = listed
    color_of, counts, taken = colors
    moving = taken.shape[0]
    for at in range(first, last):
        one, other = listed_rows[at, 0], listed_rows[at, 1]
        both = taken[one, layer] if one < moving else np.int64(0)
        if other < moving:
            both |= taken[other, layer]
        color = lowest_bit(~both | LAST_COLOR)
        bit = np.int64(1) << color
        if one < moving:
            taken[one, layer] |= bit
        if other < moving:
            taken[other, layer] |= bit
        color_of[at] = color
        counts[place, color] += 1
    total = first
    for color in range(COLORS):
        here = counts[place, color]
        counts[place, color] = total
        total += here
    for at in range(first, last):
        to = counts[place, color_of[at]]
        counts[place, color_of[at]] += 1
        keys[to], rows[to, 0], rows[to, 1] = listed_keys[at], listed_rows[at, 0], listed_rows[at, 1]
        by_key[begin + ranks[at]] = to - begin


def known_bodies(role: U8, place: I32, owner: I32) -> I64:
    """Return what `arrange` reads of each body of the world as one number: its row in the solver, part, and role.

    ``owner`` is the part of each row of the solver, −1 for static bodies.
    """
    part = owner[place].astype(np.int64) + 1
    known: I64 = (place.astype(np.int64) << PLACE_SHIFT) | (part << PART_SHIFT) | role
    return known


@helper
def _sort(one: Integer, other: Integer) -> int:
    """Return 0 for two spheres, or a sphere and a static body at rest that is a plane, a tile or a box; else 1."""
    return 0 if (one == BALL and other != OTHER) or (other == BALL and one != OTHER) else 1


def node_starts(pairs: I32, owner: I32, part_count: int) -> Rows:
    """Return what `arrange` writes to its ``starts``, from pairs that are arranged."""
    one, other = owner[pairs[:, 0]], owner[pairs[:, 1]]
    height = np.frexp(np.where((one < 0) | (other < 0), 0, one ^ other))[1]  # the number of bits
    node = 2 * part_count - (2 * part_count >> height) + (np.maximum(one, other) >> height)
    return np.searchsorted(node, np.arange(2 * part_count)).astype(np.int64)


@kernel
def _find_kept(shares: Shares, before: tuple[Any, ...], after: tuple[Any, ...]) -> None:
    """Find the slots and homes that the pairs of ``after`` had ``before``; −1 for others."""
    keys, by_key, slot, home = after
    old_keys, old_by_key, old_slot, old_home = before
    first, last = next_share(shares)
    while first < last:
        rank, end = 0, old_keys.size
        while rank < end:  # the first of the former pairs that may be in this share
            middle = (rank + end) // 2
            if old_keys[old_by_key[middle]] < keys[by_key[first]]:
                rank = middle + 1
            else:
                end = middle
        for row in range(first, last):
            at = by_key[row]
            while rank < old_keys.size and old_keys[old_by_key[rank]] < keys[at]:
                rank += 1
            is_old = rank < old_keys.size and old_keys[old_by_key[rank]] == keys[at]
            slot[at] = old_slot[old_by_key[rank]] if is_old else -1
            if home.size > 0:
                home[at] = old_home[old_by_key[rank]] if is_old else -1
        first, last = next_share(shares)


@kernel
def recycle(
    shares: Shares, kept: tuple[Any, ...], bodies: tuple[F64, F64], awake: U8, is_live: U8, is_stale: U8
) -> None:
    """Decide which of the manifolds can be used again, and which must be found.

    A manifold stays while its bodies moved less, relative to each other, than the distance that was allowed when it was
    found, and neither turned by more than ten degrees. Of bodies that are apart nothing is computed until they may have
    come close, and of none until the paths of both are longer than what was left.
    """
    pairs, home, marks, found_pose, until = kept
    pose, path = bodies
    first, last = next_share(shares)
    while first < last:
        for pair in range(first, last):
            a, b, at = pairs[pair, 0], pairs[pair, 1], home[pair]
            is_live[pair] = is_stale[pair] = 0
            if not (awake[a] or awake[b]):
                is_live[pair] = SLEEPING
                continue
            if path[a, 0] + path[b, 0] < abs(until[at]):
                is_live[pair] = until[at] > 0
                continue
            allowed = found_pose[at, ALLOWED]
            is_stale[pair] = 1
            if allowed > 0:
                way = 0.0
                for axis in range(3):
                    way += (pose[b, axis] - pose[a, axis] - found_pose[at, axis]) ** 2
                trace_a = trace_b = 0.0
                for part in range(9):
                    trace_a += pose[a, 3 + part] * found_pose[at, TURN_A + part]
                    trace_b += pose[b, 3 + part] * found_pose[at, TURN_B + part]
                turn_a, turn_b = math.sqrt(max(3.0 - trace_a, 0.0)), math.sqrt(max(3.0 - trace_b, 0.0))
                reach_a, reach_b = found_pose[at, REACH_A], found_pose[at, REACH_B]
                left = allowed - (math.sqrt(way) + turn_a * reach_a + turn_b * reach_b)
                has_points = marks[at, COUNT] > 0
                if left > 0 and (not has_points or (trace_a > MIN_TRACE and trace_b > MIN_TRACE)):
                    is_stale[pair] = 0
                    is_live[pair] = has_points
                    left = min(left, min((MAX_TURN - turn_a) * path[a, 1], (MAX_TURN - turn_b) * path[b, 1]))
                    is_known = reach_a <= path[a, 1] and reach_b <= path[b, 1]
                    most = path[a, 0] + path[b, 0] + ROUNDING * max(left, 0.0) if is_known else 0.0
                    until[at] = most if has_points else -most
        first, last = next_share(shares)


@helper
def _reach(solids: PosedSolids, extent: Floats, row: Integer) -> float:
    """Return the greatest distance of a point of a body from its position; of a plane 0."""
    is_hull = solids.kind[row] == CONVEX or solids.kind[row] == TRIANGLE
    total = 0.0
    for axis in range(3):
        total += (solids.size[row, axis] * (extent[solids.hull[row], axis] if is_hull else 1.0)) ** 2
    return math.sqrt(1.25 * total)  # a capsule reaches r + l/2, which is √1.25·√(r² + l²) at most


@kernel
def adopt(
    rows: Rows, found: ContactArrays, kept: Any, solids: PosedSolids, extent: Floats, tolerance: float, is_live: Any
) -> None:
    """Keep the manifolds ``found`` of the pairs ``rows``; points whose feature was there before keep their impulse."""
    pairs, slot, held, home, marks, found_pose, arms, until = kept
    _, normal, points, separations, features, point_count = found
    pose, near = solids.pose, solids.near
    for row in range(rows.size):
        pair = rows[row]
        a, b, own, at = pairs[pair, 0], pairs[pair, 1], home[pair], slot[pair]
        count, before = np.int64(point_count[row]), np.int64(marks[own, COUNT])
        if at >= 0:
            old = (held[at, 0], held[at, 1], held[at, 2], held[at, 3])
            for point in range(4):
                held[at, point] = 0.0
            for point in range(count):
                for other in range(before):
                    if features[row, point] == marks[own, FEATURES + other]:
                        held[at, point] = old[other]
        for point in range(count):
            marks[own, FEATURES + point] = features[row, point]
        marks[own, COUNT] = count
        is_live[pair] = count > 0
        until[own] = 0.0
        for axis in range(3):
            found_pose[own, axis] = pose[b, axis] - pose[a, axis]
        for part in range(9):
            found_pose[own, TURN_A + part], found_pose[own, TURN_B + part] = pose[a, 3 + part], pose[b, 3 + part]
        if count == 0:
            found_pose[own, ALLOWED] = separations[row, 0] - (near[a] + near[b])
            found_pose[own, REACH_A], found_pose[own, REACH_B] = _reach(solids, extent, a), _reach(solids, extent, b)
            continue
        found_pose[own, ALLOWED] = min(tolerance, 4.0 * min(near[a], near[b]))
        for axis in range(3):
            arms[own, axis] = normal[row, axis]
        found_pose[own, REACH_A] = found_pose[own, REACH_B] = 0.0
        for point in range(4):
            long_a = long_b = 0.0
            for axis in range(3):
                at, half = 3 + 4 * axis + point, 0.5 * separations[row, point] * normal[row, axis]
                arm_a = points[row, point, axis] - half - pose[a, axis] if point < count else 0.0
                arm_b = points[row, point, axis] + half - pose[b, axis] if point < count else 0.0
                arms[own, at], arms[own, at + 12] = arm_a, arm_b
                long_a, long_b = long_a + arm_a * arm_a, long_b + arm_b * arm_b
            found_pose[own, REACH_A] = max(found_pose[own, REACH_A], math.sqrt(long_a))
            found_pose[own, REACH_B] = max(found_pose[own, REACH_B], math.sqrt(long_b))


@kernel
def lay_out(
    kept: Any, starts: Rows, is_live: U8, live: Rows, begins: Rows, touched: Any, slot: I32, held: Floats
) -> int:
    """Write the live pairs, where each part of them begins, and which bodies have contacts.

    ``slot`` becomes where pairs hold their impulses after the step: live ones first, in their order, then those that
    sleep, whose rows of ``held`` are copied. Return how many rows are held.
    """
    pairs, old_slot, before = kept
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
    homes: I32,
    arms: Floats,
    found: ContactArrays,
) -> None:
    """Write the contacts of spheres, then the manifolds, as they were at the start of the step.

    ``homes`` are the rows of ``arms``, the normals and arms that are kept, of the manifolds.
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
                arm = arms[homes[t], 3 + 4 * axis + point]
                points[place, point, axis] = pose[a, axis] + arm + 0.5 * gap * normal[place, axis]
