"""The sub-steps: two phases by parts that threads share, and between them the contacts that join two parts.

Bodies are cut into parts by their number along a Morton curve. Contacts within a part are solved in their order by the
thread that draws the part; contacts between parts are solved by the calling thread, after all parts. So the result
does not depend on the number of threads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import helper, kernel
from choque._core.threads import block_supply, run
from choque._core.types import Floats, Integer, Rows
from choque.dynamics.soft_step.bodies import MOVED, V
from choque.dynamics.soft_step.manifolds import (
    ManifoldRows,
    bounce_manifolds,
    relax_manifolds,
    solve_manifolds,
    warm_manifolds,
)
from choque.dynamics.soft_step.rates import Rates
from choque.dynamics.soft_step.spheres import SphereRows, bounce_spheres, relax_spheres, solve_spheres, warm_spheres

START, SOLVE, RELAX, BOUNCE = range(4)
"""Phases: forces and warm start; solve with bias and move; relax with friction; rebound."""

BOUNCES = 2
"""Passes of rebound: four points of a box share a blow, and after one pass the first ones have taken too little."""

SHARED_FROM = 12_000
"""Contacts of spheres, or a third as many manifolds, from which threads share the phases."""


class Problem(NamedTuple):
    """All that a step solves."""

    speed: NDArray[np.float64]
    pull: NDArray[np.float64]
    awake: NDArray[np.uint8]
    cuts: Rows
    """(p + 1,): the first body of each part."""
    spheres: SphereRows
    sphere_starts: Rows
    """(p + 2,): the first contact of each part; the last part are contacts between parts."""
    manifolds: ManifoldRows
    manifold_starts: Rows


def solve(problem: Problem, rates: Rates, substeps: int, thread_count: int) -> None:
    """Advance the velocities and the ways of all bodies by a step of ``substeps`` sub-steps.

    Sub-steps: accelerations and the impulses so far; solve; move; relax. Then rebound. After Catto's "Soft Step".
    """
    parts = len(problem.cuts) - 1
    work = int(problem.sphere_starts[-1]) + 3 * int(problem.manifold_starts[-1])
    threads = min(thread_count, parts) if work >= SHARED_FROM else 1
    for _ in range(substeps):
        _share(START, parts, threads, problem, rates)
        _run_phase(START, parts, parts + 1, problem, rates)
        _run_phase(SOLVE, parts, parts + 1, problem, rates)
        _share(SOLVE, parts, threads, problem, rates)
        _run_phase(RELAX, parts, parts + 1, problem, rates)
        _share(RELAX, parts, threads, problem, rates)
    for _ in range(BOUNCES):
        _run_phase(BOUNCE, 0, 1, problem, rates)


def _share(phase: int, parts: int, thread_count: int, problem: Problem, rates: Rates) -> None:
    if thread_count == 1:
        _run_phase(phase, 0, parts, problem, rates)
        return
    draw = block_supply(parts, 1)

    def work(_: int) -> None:
        while (block := draw()) is not None:
            _run_phase(phase, *block, problem, rates)

    run(work, thread_count)


@kernel
def _run_phase(phase: Integer, first: Integer, last: Integer, problem: Problem, rates: Rates) -> None:
    """Run one phase of the parts ``first … last − 1``."""
    speed, pull, awake, cuts, spheres, sphere_starts, manifolds, manifold_starts = problem
    moving = cuts[cuts.size - 1]
    if phase == BOUNCE:
        bounce_spheres(sphere_starts[sphere_starts.size - 1], spheres, speed, moving, rates.threshold)
        bounce_manifolds(manifold_starts[manifold_starts.size - 1], manifolds, speed, moving, rates.threshold)
        return
    for part in range(first, last):
        low, high = sphere_starts[part], sphere_starts[part + 1]
        begin, end = manifold_starts[part], manifold_starts[part + 1]
        is_part = part < cuts.size - 1
        if phase == START:
            if is_part:
                _accelerate(cuts[part], cuts[part + 1], speed, pull, awake, rates.h)
            warm_spheres(low, high, spheres, speed, moving)
            warm_manifolds(begin, end, manifolds, speed, moving)
        elif phase == SOLVE:
            solve_spheres(low, high, spheres, speed, moving, rates)
            solve_manifolds(begin, end, manifolds, speed, moving, rates)
            if is_part:
                _move(cuts[part], cuts[part + 1], speed, rates.h)
        else:
            if not is_part:
                _move(moving, speed.shape[0], speed, rates.h)  # static bodies with a velocity of their own
            relax_spheres(low, high, spheres, speed, moving, rates)
            relax_manifolds(begin, end, manifolds, speed, moving, rates)


@helper
def _accelerate(first: Integer, last: Integer, speed: Floats, pull: Floats, awake: NDArray[np.uint8], h: float) -> None:
    for row in range(first, last):
        if awake[row]:
            for axis in range(3):
                speed[row, V + axis] += h * pull[row, axis]


@helper
def _move(first: Integer, last: Integer, speed: Floats, h: float) -> None:
    for row in range(first, last):
        for part in range(8):
            speed[row, MOVED + part] += h * speed[row, V + part]


def part_cuts(moving: int, part_bodies: int) -> NDArray[np.int64]:
    """Return the first body of each part, by the number of moving bodies alone."""
    parts = max(1, round(moving / part_bodies))
    return np.array([moving * part // parts for part in range(parts + 1)], np.int64)
