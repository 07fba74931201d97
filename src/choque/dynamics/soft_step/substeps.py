"""The sub-steps: two phases by parts that threads share, and between them the contacts that join two parts.

Bodies are cut into parts by their number along a Morton curve. Contacts within a part are solved in their order by the
thread that draws the part; contacts between parts are solved by the calling thread, after all parts. So the result
does not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from choque._core.kernel import kernel
from choque._core.threads import block_supply, even_borders, run
from choque._core.types import U8, Floats, Integer, Rows
from choque.dynamics.soft_step.bodies import SolverBodies
from choque.dynamics.soft_step.four import MOVED, V, begin_row
from choque.dynamics.soft_step.manifolds import ManifoldRows, bounce_manifolds, solve_manifolds, warm_manifolds
from choque.dynamics.soft_step.rates import Rates
from choque.dynamics.soft_step.spheres import SphereRows, bounce_spheres, relax_spheres, solve_spheres, warm_spheres

WARM, SOLVE, RELAX, BOUNCE = range(4)  # phases: warm start; solve with bias and move; relax with friction; rebound

BOUNCES = 2
"""Passes of rebound: four points of a box share a blow, and after one pass the first ones have taken too little."""

SHARED_FROM = 30_000  # contacts of spheres, or a third as many manifolds; waking a thread does not pay for fewer


class Problem(NamedTuple):
    """All that a step solves."""

    bodies: SolverBodies
    awake: U8
    cuts: Rows  # (p + 1,): the first body of each part
    spheres: SphereRows
    sphere_starts: Rows  # (p + 2,): the first contact of each part; the last part are contacts between parts
    manifolds: ManifoldRows
    manifold_starts: Rows
    rebounds: bool  # whether any body has a restitution


def solve(problem: Problem, rates: Rates, substeps: int, thread_count: int, hold: Callable[[], None]) -> None:
    """Advance the velocities and the ways of all bodies by a step of ``substeps`` sub-steps.

    ``hold`` is called after each pass over all contacts: it stops bodies along locked axes.

    Sub-steps: accelerations and the impulses so far; solve; move; relax. Then rebound. After Catto's "Soft Step".

    The directions of all impulses stay the same in a step, so the impulses so far need no pass over the contacts: what
    they do to a body is the sum of what changed its velocity before. Only those of the step before are applied contact
    by contact.
    """
    parts = len(problem.cuts) - 1
    work = int(problem.sphere_starts[-1]) + 3 * int(problem.manifold_starts[-1])
    threads = min(thread_count, parts) if work >= SHARED_FROM else 1
    for substep in range(substeps):
        _begin(int(problem.cuts[-1]), problem.bodies, problem.awake, rates.h, substep == 0)
        if substep == 0:
            _share(WARM, parts, threads, problem, rates)
            _run(WARM, parts, parts + 1, problem, rates)
            hold()
        _run(SOLVE, parts, parts + 1, problem, rates)
        _share(SOLVE, parts, threads, problem, rates)
        hold()
        _run(RELAX, parts, parts + 1, problem, rates)
        _share(RELAX, parts, threads, problem, rates)
        hold()
    for _ in range(BOUNCES if problem.rebounds else 0):
        _run(BOUNCE, 0, 1, problem, rates)
        hold()


def _share(phase: int, parts: int, thread_count: int, problem: Problem, rates: Rates) -> None:
    if thread_count == 1:
        _run(phase, 0, parts, problem, rates)
        return
    # Few stretches of parts: to call a kernel takes 20 µs, during which no other thread can call one.
    borders = even_borders(problem.sphere_starts[:-1] + 3 * problem.manifold_starts[:-1], 2 * thread_count)
    draw = block_supply(2 * thread_count, 1)

    def work(_: int) -> None:
        while (block := draw()) is not None:
            first, last = borders[block[0]], borders[block[1]]
            if first < last:
                _run(phase, first, last, problem, rates)

    run(work, thread_count)


def _run(phase: int, first: int, last: int, problem: Problem, rates: Rates) -> None:
    """Run one phase of the parts ``first … last − 1``: bodies, contacts of spheres, manifolds.

    A kernel for which there is no work is not called, so that it need not be compiled.
    """
    bodies, _, cuts, spheres, sphere_starts, manifolds, manifold_starts, _ = problem
    speed, moving = bodies.speed, int(cuts[-1])
    if phase == RELAX and first == len(cuts) - 1:
        _move(moving, len(speed), speed, rates.h)  # static bodies with a velocity of their own
    if sphere_starts[-1]:
        _run_spheres(phase, first, last, spheres, sphere_starts, speed, moving, rates)
    if manifold_starts[-1]:
        _run_manifolds(phase, first, last, manifolds, manifold_starts, (speed, bodies.frame), moving, rates)
    if phase == SOLVE and first < len(cuts) - 1:
        _move(int(cuts[first]), int(cuts[last]), speed, rates.h)


@kernel
def _run_spheres(
    phase: Integer,
    first: Integer,
    last: Integer,
    rows: SphereRows,
    starts: Rows,
    speed: Floats,
    moving: Integer,
    rates: Rates,
) -> None:
    """Run one phase of the contacts of spheres in the parts ``first … last − 1``."""
    begin, end = starts[first], starts[last]
    if phase == WARM:
        warm_spheres(begin, end, rows, speed, moving)
    elif phase == SOLVE:
        solve_spheres(begin, end, rows, speed, moving, rates)
    elif phase == RELAX:
        relax_spheres(begin, end, rows, speed, moving, rates)
    else:
        bounce_spheres(starts[starts.size - 1], rows, speed, moving, rates.threshold)


@kernel
def _run_manifolds(
    phase: Integer,
    first: Integer,
    last: Integer,
    rows: ManifoldRows,
    starts: Rows,
    bodies: tuple[Floats, Floats],
    moving: Integer,
    rates: Rates,
) -> None:
    """Run one phase of the manifolds in the parts ``first … last − 1``."""
    begin, end = starts[first], starts[last]
    if phase == WARM:
        warm_manifolds(begin, end, rows, bodies, moving)
    elif phase != BOUNCE:
        solve_manifolds(begin, end, rows, bodies, moving, rates, phase == SOLVE)
    else:
        bounce_manifolds(starts[starts.size - 1], rows, bodies[0], moving, rates.threshold)


@kernel
def _begin(moving: Integer, bodies: SolverBodies, awake: U8, h: float, is_first: bool) -> None:
    """Begin a sub-step: the accelerations, and all impulses that acted in the sub-steps before."""
    for row in range(moving):
        begin_row(bodies.speed, bodies.given, bodies.pull, row, h if awake[row] else 0.0, not is_first)


@kernel
def _move(first: Integer, last: Integer, speed: Floats, h: float) -> None:
    for row in range(first, last):
        for part in range(8):
            speed[row, MOVED + part] += h * speed[row, V + part]


def part_cuts(moving: int, part_bodies: int) -> Rows:
    """Return the first body of each part, by the number of moving bodies alone."""
    parts = max(1, round(moving / part_bodies))
    return np.array([moving * part // parts for part in range(parts + 1)], np.int64)
