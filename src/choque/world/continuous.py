"""Continuous collision: bodies that move far for their size in a step (`FAST`) stop where they first touch.

A step detects contacts at its start, so a fast body could end it behind a thin one. After the bodies have moved, the
time of impact of the fast ones with static bodies, and of bullets with all bodies, is found by conservative
advancement (`choque.narrow.time_of_impact`). Bodies that meet stay where they touch for the rest of the step and keep
their velocities, which the next step resolves. A static body that moves is not stopped: it pushes them ahead.

Bodies that touch at the start of the step are left to the solver, which may let a fast body through. So a small sphere
at its centre (`CORE`) is tested instead of it, and it stops where that sphere touches. If the sphere touches at the
start, too, as after a hit on a corner that makes a body spin while its centre stays fast, the body stops half way to
where its centre (`CENTRE`) would touch.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import kernel
from choque._core.threads import over_ranges, resolve_count
from choque._core.types import F64, I64, Bools, Floats, Integer, Pairs
from choque._core.vector import orthonormalised
from choque.bounds import Boxes
from choque.broad.join import Task, join_boxes
from choque.narrow.convex.impact import impacts_of_shapes
from choque.narrow.pieces import corners_of, local_boxes, pieces_near, taken
from choque.narrow.shapes import CONVEX, MESH, PLANE, SPHERE, Shapes
from choque.world.bodies import Bodies
from choque.world.bounds import box_bounds

FAST = 0.5  # a body is fast that moves farther in a step than this part of half its least extent
CORE = 0.25  # the radius of the sphere that stands for a body, as a part of half its least extent
CENTRE = 1e-3  # the radius of the sphere that stands for its centre, as a part of the same

TOUCH = 1e-3
"""How far apart bodies stop, as a part of the extent of the smaller one: close enough for the next step to find."""


def stop_at_impact(bodies: Bodies, position: Floats, rotation: Floats, threads: int | None) -> int:
    """Move fast bodies back to where they first touched something in this step; return how many.

    ``position`` (n, 3) and ``rotation`` (n, 3, 3) are those before the step. The order of the bodies plays no part: all
    impacts are found for the whole motions, and each body stops at its first one.
    """
    is_fast, half = np.empty(len(bodies), np.bool_), np.empty(len(bodies))
    halves = np.empty((0, 3)) if bodies.hulls is None else bodies.hulls.half_extent
    sizes = bodies.static, bodies.kind, bodies.size, bodies.hull, halves
    thread_count, ways = resolve_count(threads, len(bodies)), (bodies.position, position)
    if not any(over_ranges(_mark_fast, len(bodies), thread_count, *ways, sizes, is_fast, half)):
        return 0
    moves = ~(bodies.static | bodies.sensor)
    fast = movers = np.flatnonzero(is_fast & moves)
    pushers = np.flatnonzero(is_fast & bodies.static & ~bodies.sensor & (bodies.kind != PLANE))
    if len(pushers):
        longest = np.linalg.norm(bodies.position[pushers] - position[pushers], axis=1).max()
        movers = np.flatnonzero(moves) if longest > FAST * half[moves].min(initial=np.inf) else fast
    if not len(movers):
        return 0
    way = (bodies.position - position).astype(np.float64)
    boxes = box_bounds(bodies, thread_count)
    first: F64 = np.ones(len(bodies))
    _meet_planes(bodies, boxes, fast, way, first)
    pairs = _candidates(bodies, boxes, movers, way, rotation, threads)
    if len(movers) > len(fast):
        far = np.linalg.norm(way[pairs[:, 0]] - way[pairs[:, 1]], axis=1) > FAST * half[pairs[:, 0]]
        pairs = pairs[is_fast[pairs[:, 0]] | (bodies.static[pairs[:, 1]] & far)]
    push, pushed = np.empty((0, 3)), pairs[:0, 0]
    if len(pairs):
        turn = rotation_vectors(bodies.rotation, rotation, np.unique(pairs))
        motion = np.stack((way[pairs[:, 0]], way[pairs[:, 1]], turn[pairs[:, 0]], turn[pairs[:, 1]]), axis=1)
        shapes = replace(bodies.shapes(), position=position, rotation=rotation)
        tested, corners = pairs, None
        if (bodies.kind[pairs[:, 1]] == MESH).any():
            pairs, tested, motion, corners = _with_triangles(shapes, bodies.shapes(), pairs, motion)
        time, normal = _times(shapes, tested, motion, corners, threads)
        for radius, part in ((CORE, 1.0), (CENTRE, 0.5)):
            if not len(touched := np.flatnonzero(time == 0)):
                break
            cores = _with_cores(shapes, tested[touched], radius * half)
            met, normal[touched] = _times(*cores, motion[touched], corners, threads)
            time[touched] = np.where(met < 1, part * met, 1.0)
        time[time == 0] = 1.0
        for side in range(2):
            np.minimum.at(first, pairs[:, side], time)
        other = way[pairs[:, 1]]
        is_pushed = (time < 1) & (time == first[pairs[:, 0]]) & bodies.static[pairs[:, 1]] & other.any(axis=1)
        pushed, along = pairs[is_pushed, 0], normal[is_pushed]
        nearer = np.minimum(np.einsum("ni,ni->n", other[is_pushed], along), 0.0)[:, np.newaxis] * along
        aside = other[is_pushed] - nearer  # it takes them along sideways as a friction of 1 would
        lengths = np.linalg.norm((nearer, aside), axis=2)[:, :, np.newaxis]
        share = lengths[0] / np.maximum(lengths.max(axis=0), 1e-300)
        push = (1 - time[is_pushed])[:, np.newaxis] * (nearer + share * aside)
    stopped = np.flatnonzero((first < 1) & ~bodies.static)
    if len(stopped):
        share = first[stopped]
        bodies.position[stopped] = position[stopped] + share[:, np.newaxis] * way[stopped]
        turn = share[:, np.newaxis] * rotation_vectors(bodies.rotation, rotation, stopped)[stopped]
        bodies.rotation[stopped] = orthonormalised(matrices(turn) @ rotation[stopped].astype(np.float64))
        bodies.position[pushed] += push
    return len(stopped)


@kernel
def _mark_fast(
    begin: Integer, end: Integer, position: Floats, before: Floats, sizes: tuple[Any, ...], is_fast: Bools, half: F64
) -> Any:
    """Mark the bodies of ``begin … end − 1`` that moved farther than `FAST` allows, static ones if they moved at all.

    Return how many. ``half`` becomes half the least extent of each. ``sizes`` are the static flags, the kinds, the
    sizes, the hulls, and half the extents of the hulls.
    """
    static, kind, size, hull, hull_half = sizes
    count = 0
    for row in range(begin, end):
        far = 0.0
        for axis in range(3):
            far += np.float64(position[row, axis] - before[row, axis]) ** 2
        half[row] = size[row, 0]
        if kind[row] == CONVEX:
            half[row] = np.inf
            for axis in range(3):
                half[row] = min(half[row], hull_half[hull[row], axis] * size[row, axis])
        most = 0.0 if static[row] else (FAST * half[row]) ** 2
        is_fast[row] = not far <= most  # NaN too: the box of such a body is refused in a sentence
        count += is_fast[row]
    return count


def _with_cores(shapes: Shapes, pairs: Pairs, radius: F64) -> tuple[Shapes, Pairs]:
    """Return the shapes and a sphere for the first body of each pair, of its ``radius``; and the pairs with these."""
    count, extra, own = len(shapes), len(pairs), pairs[:, 0]
    cores = replace(
        taken(shapes, own.astype(np.int64)), kind=np.full(extra, SPHERE, np.int8), size=np.zeros_like(shapes.size[own])
    )
    cores.size[:, 0] = radius[own]
    names = ("kind", "position", "rotation", "size")
    columns = {name: np.concatenate((getattr(shapes, name), getattr(cores, name))) for name in names}
    hull = None if shapes.hull is None else np.append(shapes.hull, np.full(extra, -1, np.int32))
    others = pairs[:, 1] + np.where(pairs[:, 1] >= count, extra, 0)  # triangles come after all shapes
    return replace(shapes, **columns, hull=hull), np.stack((count + np.arange(extra, dtype=np.int32), others), axis=1)


def _times(shapes: Shapes, pairs: Pairs, motion: F64, corners: F64 | None, threads: int | None) -> tuple[F64, F64]:
    """Return when each pair first touches, 1 if it does not, and the normals; rows after the shapes are triangles."""
    found = impacts_of_shapes(shapes, pairs, motion, triangles=corners, tolerance=TOUCH, threads=threads)
    return np.where(found.hit, found.time, 1.0), found.normal


def _with_triangles(before: Shapes, after: Shapes, pairs: Pairs, motion: F64) -> tuple[Pairs, Pairs, F64, F64]:
    """Return the pairs, one for each triangle of a mesh that a body may meet; those to test; their motion; corners.

    The triangles are those near the body's boxes before and after the step, in the frame that the mesh has then, and
    near all that is between them.
    """
    is_mesh = before.kind[pairs[:, 1]] == MESH
    body, mesh = pairs[is_mesh, 0].astype(np.int64), pairs[is_mesh, 1].astype(np.int64)
    found = []
    for shapes in (before, after):
        around = taken(shapes, body).boxes(threads=1)
        found.append(local_boxes(shapes, mesh, around.lower, around.upper))
    lower, upper = np.minimum(found[0], found[1])[:, :3], np.maximum(found[0], found[1])[:, 3:]
    wider = 0.1 * (upper - lower).max(axis=1, keepdims=True, initial=0.0)  # what turns bulges
    near = pieces_near(before, mesh, np.concatenate((lower - wider, upper + wider), axis=1), 1)
    corners, then = (corners_of(shapes, mesh[near.pair], near.face) for shapes in (before, after))
    extra, own = motion[is_mesh][near.pair], pairs[is_mesh][near.pair]
    extra[:, 1] = (then - corners).mean(axis=1)
    rows = own.copy()
    rows[:, 1] = len(before) + np.arange(len(rows))
    parts = ((pairs[~is_mesh], own), (pairs[~is_mesh], rows), (motion[~is_mesh], extra))
    return *(np.concatenate(part) for part in parts), corners  # type: ignore[return-value]


def _candidates(bodies: Bodies, boxes: Boxes, fast: I64, way: F64, rotation: Floats, threads: int | None) -> Pairs:
    """Return the pairs of a fast body and one that it may meet: a static one, or any one if either is a bullet."""
    others = np.flatnonzero((bodies.kind != PLANE) & ~bodies.sensor & (bodies.static | bodies.bullet.any()))
    rests = (way[others] == 0).all(axis=1) & (bodies.rotation[others] == rotation[others]).all(axis=(1, 2))
    radius, thread_count = np.empty(len(bodies)), resolve_count(threads, len(fast))
    known = bodies.position, way, boxes.lower, boxes.upper

    def swept(rows: I64) -> Boxes:
        around = Boxes.unchecked(np.empty((len(rows), 3)), np.empty((len(rows), 3)))
        over_ranges(_sweep, len(rows), thread_count, rows, known, radius, around.lower, around.upper)
        return around

    targets, sweeps = swept(others), swept(fast)
    targets.lower[rests], targets.upper[rests] = boxes.lower[others[rests]], boxes.upper[others[rests]]
    found = join_boxes(Task(sweeps, targets, True, thread_count, None), "auto", {})
    has_points = np.isin(bodies.kind[others], (CONVEX, MESH))
    if len(found) and has_points.any():
        farthest = np.maximum.reduceat(np.abs(bodies.hulls.points), bodies.hulls.first[:-1])
        half = farthest[bodies.hull[others]] * bodies.size[others]
        half[~(rests & has_points)] = np.inf
        poses = bodies.position[others].astype(np.float64), bodies.rotation[others].astype(np.float64)
        passes = np.empty(len(found), np.bool_)
        body = fast, bodies.position, way, radius
        over_ranges(_mark_passing, len(found), thread_count, found, body, (*poses, half), passes)
        found = found[~passes]
    pairs = np.stack((fast[found[:, 0]], others[found[:, 1]]), axis=1)
    matters = bodies.static[pairs[:, 1]] | (bodies.bullet[pairs].any(axis=1) & (pairs[:, 0] != pairs[:, 1]))
    matters &= (bodies.group[pairs] & bodies.mask[pairs[:, ::-1]] != 0).all(axis=1)
    wanted: Pairs = pairs[matters].astype(np.int32)
    return wanted


@kernel
def _sweep(
    first: Integer, last: Integer, rows: I64, known: tuple[Any, ...], radius: F64, lower: F64, upper: F64
) -> None:
    """Write the boxes of the ways of the bodies ``rows``, and the radius of a sphere around each; see `_candidates`."""
    position, way, box_lower, box_upper = known
    for at in range(first, last):
        row = rows[at]
        reach = 0.0
        for axis in range(3):
            here = np.float64(position[row, axis])
            reach = max(reach, max(abs(box_lower[row, axis] - here), abs(box_upper[row, axis] - here)))
        radius[row] = math.sqrt(3) * reach  # however the body turns
        for axis in range(3):
            here = np.float64(position[row, axis])
            there = here - way[row, axis]
            lower[at, axis], upper[at, axis] = min(here, there) - radius[row], max(here, there) + radius[row]


@kernel
def _mark_passing(
    first: Integer, last: Integer, pairs: Pairs, bodies: tuple[Any, ...], others: tuple[F64, F64, F64], passes: Bools
) -> None:
    """Mark the pairs in which a body passes by the oriented box of one that rests.

    ``bodies`` are the rows of fast bodies; of all, where each ends the step, its way, and a radius. ``others``
    are positions, rotations, and half the edges of boxes about the positions, infinite where nothing is known.
    """
    fast, position, way, radius = bodies
    center, rotation, half = others
    for pair in range(first, last):
        body, other = fast[pairs[pair, 0]], pairs[pair, 1]
        passes[pair] = False
        for axis in range(3):
            there = along = 0.0
            for part in range(3):
                there += rotation[other, part, axis] * (position[body, part] - center[other, part])
                along += rotation[other, part, axis] * way[body, part]
            least, most = min(there, there - along), max(there, there - along)
            reach = half[other, axis] + radius[body]
            passes[pair] |= least > reach or most < -reach


def _meet_planes(bodies: Bodies, boxes: Boxes, fast: I64, way: F64, first: F64) -> None:
    """Lower ``first`` to when the box of a fast body meets a plane."""
    for plane in np.flatnonzero((bodies.kind == PLANE) & ~bodies.sensor).tolist():
        met = (bodies.group[fast] & bodies.mask[plane] != 0) & (bodies.mask[fast] & bodies.group[plane] != 0)
        up = bodies.rotation[plane, :, 1].astype(np.float64)
        low, high = boxes.lower[fast] - bodies.position[plane], boxes.upper[fast] - bodies.position[plane]
        after = np.minimum(low * up, high * up).sum(axis=1)
        before = after - way[fast] @ up
        meets = met & (before > 0) & (after < 0)
        first[fast[meets]] = np.minimum(first[fast[meets]], before[meets] / (before[meets] - after[meets]))


def rotation_vectors(after: Floats, before: Floats, rows: NDArray[Any]) -> F64:
    """Return the rotation vectors (n, 3) from ``before`` to ``after`` of the given rows, 0 for others."""
    turn = after[rows].astype(np.float64) @ np.swapaxes(before[rows], 1, 2)
    axis = np.stack((turn[:, 2, 1] - turn[:, 1, 2], turn[:, 0, 2] - turn[:, 2, 0], turn[:, 1, 0] - turn[:, 0, 1]), 1)
    sine = 0.5 * np.linalg.norm(axis, axis=1)
    angle = np.arctan2(sine, 0.5 * (np.trace(turn, axis1=1, axis2=2) - 1))
    found = np.zeros((len(after), 3))
    found[rows] = axis * np.where(sine > 0, angle / np.where(sine > 0, 2 * sine, 1), 0.5)[:, np.newaxis]
    return found


def matrices(turn: F64) -> F64:
    """Return the matrices (n, 3, 3) of rotation vectors (n, 3), by Rodrigues' formula."""
    angle = np.linalg.norm(turn, axis=1)[:, np.newaxis, np.newaxis]
    x, y, z = (turn / np.where(angle[:, 0] > 0, angle[:, 0], 1)).T
    none = np.zeros_like(x)
    skew = np.stack((none, -z, y, z, none, -x, -y, x, none), axis=1).reshape(-1, 3, 3)
    found: F64 = np.eye(3) + np.sin(angle) * skew + (1 - np.cos(angle)) * (skew @ skew)
    return found
