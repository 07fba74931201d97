"""The sub-steps: passes over all contacts, by parts that threads share, and by the contacts that join them.

Bodies are cut into parts by their number along a Morton curve, and the parts are the leaves of a binary tree. A contact
within a part belongs to it, one between two parts to the lowest node above both. A pass goes down the tree, the first
pass up: what belongs to different nodes of one height shares no body that moves. Each thread takes whole branches, with
all contacts in them, and only the few contacts near the root are left to fewer threads. The order of the contacts of a
body depends on the tree alone, so the result does not depend on the number of threads. All threads are woken once for
all passes: see `choque._core.phases`.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple, Self

import numpy as np

from choque._core.kernel import helper, kernel
from choque._core.phases import NONE_LEFT, Phases, finish_item, next_item, run_phases
from choque._core.threads import resolve_count
from choque._core.types import F32, F64, U8, Integer, Rows
from choque.dynamics.soft_step import manifolds as flat
from choque.dynamics.soft_step import spheres as balls
from choque.dynamics.soft_step.bodies import SolverBodies
from choque.dynamics.soft_step.four import MOVED, V, begin_row
from choque.dynamics.soft_step.locks import Locks, hold

BOUNCES = 2
"""Passes of rebound: four points of a box share a blow, and after one pass the first ones have taken too little."""

HERTZ = 9.0  # the frequency of contacts for each sub-step of a step: 36 Hz with four [Hz]
PUSH = 3.0  # overlapping bodies part at no more than this speed [m/s]
THRESHOLD = 1.0  # contacts that meet more slowly than this do not rebound [m/s]


class Rates(NamedTuple):
    """How stiff contacts are, for one length of a step: damped springs (Catto, "Soft Constraints", 2011).

    Twice as stiff against static bodies, and never stiffer than 0.15 of the sub-step's own frequency.
    """

    h: float  # the length of a sub-step [s]
    threshold: float  # contacts slower than this do not rebound [unit/s]
    bias: F32  # (15,): see `FREE`

    @classmethod
    @lru_cache(maxsize=16)
    def of(cls, dt: float, substeps: int, unit: float, hertz: float | None, damping: float) -> Self:
        """Return the rates of steps of ``dt`` seconds; ``unit`` is the length of a metre."""
        h = dt / substeps
        frequency = min(HERTZ * substeps if hertz is None else hertz, 0.15 / h)
        biases = (0.0, 1.0, 0.0), _softness(frequency, damping, h), _softness(2 * frequency, damping, h)
        return cls(h, THRESHOLD * unit, np.array([(1 / h, PUSH * unit, *each) for each in biases], np.float32).ravel())


def _softness(hertz: float, damping: float, h: float) -> tuple[float, float, float]:
    """Return rate, scale and keep of a spring of this frequency and damping ratio, for sub-steps of ``h`` seconds."""
    omega = 2 * math.pi * hertz
    first = 2 * damping + h * omega
    second = h * omega * first
    scale = second / (1 + second)
    return scale * omega / first, scale, 1 / (1 + second)


class Problem(NamedTuple):
    """All that a step solves, but the contacts."""

    bodies: SolverBodies
    awake: U8
    solved: U8  # which bodies have contacts or locked axes: no others are moved here
    moving: int  # the number of bodies that are not static
    locks: Locks


class Schedule(NamedTuple):
    """A pass in items that threads take; those of one level share no body that moves. The last level has the bodies."""

    levels: Rows  # (l + 1,): the first item of each level
    bodies: Rows  # (i, 2): the first and last body of each item, none but in the last level
    firsts: Rows  # (i + 1,): the first stretch of each item
    stretches: Rows  # (s, 4): the first and last contact of spheres, and manifold, of each
    passes: int  # the first applies impulses, then two in each sub-step

    @classmethod
    def of(cls, cuts: Rows, begins: tuple[Rows, Rows], threads: int, passes: int) -> Self:
        """Return the passes for parts that begin at the bodies ``cuts`` (p + 1,); p is a power of two.

        ``begins`` are the first contacts of each node of the tree, height by height, and the end (2p,).
        """
        levels, bodies, firsts, index = _layout(len(cuts) - 1, threads)
        return cls(levels, cuts[bodies], firsts, np.concatenate([start[index] for start in begins], axis=1), passes)


@lru_cache(maxsize=16)
def _layout(parts: int, threads: int) -> tuple[Rows, Rows, Rows, Rows]:
    """Return levels, parts instead of bodies, first stretches, and nodes instead of contacts of a `Schedule`."""
    height = parts.bit_length() - 1
    branch = max(0, height - (2 * threads - 1).bit_length()) if threads > 1 else height  # the height of branches
    nodes = [(level, node, False) for level in range(height, branch, -1) for node in range(parts >> level)]
    nodes += [(branch, node, True) for node in range(parts >> branch)]
    bodies, firsts, index = [], [0], []
    for level, node, has_parts in nodes:
        bodies.append((node << branch, (node + 1) << branch) if has_parts else (0, 0))
        for lower in range(level, -1 if has_parts else level - 1, -1):
            first = 2 * parts - (2 * parts >> lower) + (node << (level - lower))
            index.append((first, first + (1 << (level - lower))))
        firsts.append(len(index))
    levels = [0, *accumulate(parts >> level for level in range(height, branch - 1, -1))]
    return np.array(levels), np.array(bodies), np.array(firsts), np.array(index)


def solve(
    problem: Problem,
    spheres: balls.SphereTask,
    manifolds: flat.ManifoldTask,
    begins: tuple[Rows, Rows],
    cuts: Rows,
    rates: Rates,
    how: tuple[int, int | None, bool],
) -> None:
    """Advance the velocities and the ways of all bodies by a step, after Catto's "Soft Step".

    ``begins`` and ``cuts`` are those of `Schedule.of`; ``how`` is the number of sub-steps, of threads, and whether any
    body has a restitution. First the rows of all contacts are made. Sub-steps: accelerations and impulses so far;
    solve; move; relax.

    The directions of all impulses stay the same in a step, so the impulses so far need no pass over the contacts: what
    they do to a body is the sum of what changed its velocity before. Only those of the step before are applied contact
    by contact.
    """
    substeps, threads, rebounds = how
    work = len(spheres.live) + 4 * len(manifolds.live)
    threads = min(resolve_count(threads, work), len(cuts) - 1)
    schedule = Schedule.of(cuts, begins, threads, 1 + 2 * substeps)
    levels = np.diff(schedule.levels).tolist()
    sizes = [len(schedule.bodies), *levels[::-1], *levels * (2 * substeps), *[1] * rebounds]
    given = (task if len(task.live) else None for task in (spheres, manifolds))  # what there is none of is not compiled
    run_phases(_solve, Phases.of(sizes, threads), schedule, problem, *given, rates)


@kernel
def _solve(
    phases: Phases,
    thread: Integer,
    schedule: Schedule,
    problem: Problem,
    spheres: balls.SphereTask | None,
    manifolds: flat.ManifoldTask | None,
    rates: Rates,
) -> bool:
    """Run what this thread takes of all passes; return whether nothing is left."""
    bodies, awake, solved, moving, locks = problem
    speed, spins = bodies.speed, (bodies.speed, bodies.frame)
    levels, of_bodies, firsts, stretches, passes = schedule
    count = levels.size - 1
    phase: Integer = 0
    while True:
        item, phase = next_item(phases, thread, phase)
        if item < 0:
            return bool(item == NONE_LEFT)
        turn, level = (phase - 1) // count, (phase - 1) % count
        if turn == passes:
            for _ in range(BOUNCES):
                if spheres is not None:
                    balls.bounce_spheres(spheres.live.size, spheres.rows, speed, moving, rates.threshold)
                if manifolds is not None:
                    flat.bounce_manifolds(manifolds.live.size, manifolds.rows, speed, moving, rates.threshold)
                hold(0, moving, locks, speed)
            finish_item(phases.finished)
            continue
        is_new, is_warm, has_bias = turn < 0, turn == 0, turn % 2 == 1
        storing = (turn + 1 == passes, rates.threshold)
        if is_warm:
            level = count - 1 - level  # up the tree
        at = item if is_new else levels[level] + item - phases.starts[phase]
        first, last = of_bodies[at, 0], of_bodies[at, 1]
        if is_warm:
            _begin(first, last, bodies, (awake, solved), rates.h, True)
        elif level == 0 and turn == 1:
            hold(0, moving, locks, speed)
        elif level == 0 and not is_new and not has_bias:
            for row in range(moving, speed.shape[0]):
                _move(row, speed, rates.h)  # static bodies with a velocity of their own
        for place in range(firsts[at + 1] - firsts[at]):
            stretch = firsts[at + 1] - 1 - place if is_warm else firsts[at] + place
            if spheres is not None:
                begin, end = stretches[stretch, 0], stretches[stretch, 1]
                if is_new:
                    balls.prepare_spheres(begin, end, spheres, bodies)
                elif is_warm:
                    balls.warm_spheres(begin, end, spheres.rows, speed, moving)
                elif has_bias:
                    balls.solve_spheres(begin, end, spheres.rows, speed, moving, rates.bias)
                else:
                    balls.relax_spheres(begin, end, spheres.rows, speed, moving, rates.bias, storing)
            if manifolds is not None:
                begin, end = stretches[stretch, 2], stretches[stretch, 3]
                if is_new:
                    flat.prepare_manifolds(begin, end, manifolds, bodies, moving)
                elif is_warm:
                    flat.warm_manifolds(begin, end, manifolds.rows, spins, moving)
                else:
                    flat.solve_manifolds(begin, end, manifolds.rows, spins, moving, rates.bias, (has_bias, *storing))
        if not is_new and not is_warm:
            if has_bias:
                for row in range(first, last):
                    if solved[row]:
                        _move(row, speed, rates.h)
            hold(first, last, locks, speed)
            if not has_bias and turn + 1 < passes:
                _begin(first, last, bodies, (awake, solved), rates.h, False)
        finish_item(phases.finished)


@helper
def _begin(first: Integer, last: Integer, bodies: SolverBodies, marks: Any, h: float, is_first: bool) -> None:
    """Begin a sub-step: the accelerations of those awake, and all impulses that acted in the sub-steps before."""
    awake, solved = marks
    for row in range(first, last):
        if solved[row]:
            begin_row(bodies.speed, bodies.given, bodies.pull, row, h if awake[row] else 0.0, not is_first)


@helper
def _move(row: Integer, speed: F64, h: float) -> None:
    for part in range(8):
        speed[row, MOVED + part] += h * speed[row, V + part]
