"""The sub-steps: passes over all contacts, by parts that threads share, and layers of contacts that join two parts.

Bodies are cut into parts by their number along a Morton curve. Contacts within a part are solved in their order by one
thread; contacts between parts are solved before them, or after them in the first pass. So the result does not depend on
the number of threads. All threads are woken once for all passes: see `choque._core.phases`.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np

from choque._core.kernel import helper, kernel
from choque._core.phases import NONE_LEFT, Phases, finish_item, next_item, run_phases
from choque._core.threads import even_borders
from choque._core.types import F32, F64, U8, Integer, Rows
from choque.dynamics.soft_step import manifolds as flat
from choque.dynamics.soft_step import spheres as balls
from choque.dynamics.soft_step.bodies import SolverBodies
from choque.dynamics.soft_step.four import MOVED, V, begin_row
from choque.dynamics.soft_step.locks import Locks, hold

PARTS, JOINTS = 0, 1  # layers of contacts: those within parts, and those between parts

BOUNCES = 2
"""Passes of rebound: four points of a box share a blow, and after one pass the first ones have taken too little."""

SHARED_FROM = 5_000  # contacts of spheres, or a quarter as many manifolds; waking a thread does not pay for fewer

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
    moving: int  # the number of bodies that are not static
    locks: Locks


class Layers(NamedTuple):
    """Stretches of contacts by layers; those of one layer share no body that moves."""

    starts: Rows  # (l + 1,): the first stretch of each layer
    stretches: Rows  # (s, 6): the first and last body, contact of spheres, and manifold of each
    passes: int  # over all layers: the first applies impulses, then two in each sub-step

    @classmethod
    def of(cls, cuts: Rows, spheres: Rows, manifolds: Rows, threads: int, passes: int) -> Self:
        """Return the layers for parts that begin at these bodies (p + 1,) and contacts (p + 2,)."""
        borders = even_borders(spheres[:-1] + 4 * manifolds[:-1], 2 * threads if threads > 1 else 1)
        firsts = [*cuts.tolist(), int(cuts[-1])]
        ends = [(firsts[at], int(spheres[at]), int(manifolds[at])) for at in (*borders, len(cuts))]
        stretches = np.array([(*first, *last) for first, last in pairwise(ends)])
        return cls(np.array([0, len(stretches) - 1, len(stretches)]), stretches, passes)


def solve(
    problem: Problem,
    spheres: balls.SphereTask,
    manifolds: flat.ManifoldTask,
    begins: tuple[Rows, Rows],
    cuts: Rows,
    rates: Rates,
    how: tuple[int, int, bool],
) -> None:
    """Advance the velocities and the ways of all bodies by a step, after Catto's "Soft Step".

    ``begins`` are the first contact of each part, of those between parts, and the end; ``how`` is the number of
    sub-steps, of threads, and whether any body has a restitution. First the rows of all contacts are made. Sub-steps:
    accelerations and impulses so far; solve; move; relax.

    The directions of all impulses stay the same in a step, so the impulses so far need no pass over the contacts: what
    they do to a body is the sum of what changed its velocity before. Only those of the step before are applied contact
    by contact.
    """
    substeps, threads, rebounds = how
    work = len(spheres.live) + 4 * len(manifolds.live)
    threads = min(threads, len(cuts) - 1) if work >= SHARED_FROM else 1
    layers = Layers.of(cuts, *begins, threads, 1 + 2 * substeps)
    count = len(layers.stretches)
    sizes = [count, count - 1, 1, *[1, count - 1] * (2 * substeps), *[1] * rebounds]
    given = (task if len(task.live) else None for task in (spheres, manifolds))  # what there is none of is not compiled
    run_phases(_solve, Phases.of(sizes, threads), layers, problem, *given, rates)


@kernel
def _solve(
    phases: Phases,
    thread: Integer,
    layers: Layers,
    problem: Problem,
    spheres: balls.SphereTask | None,
    manifolds: flat.ManifoldTask | None,
    rates: Rates,
) -> bool:
    """Run what this thread takes of all passes; return whether nothing is left."""
    bodies, awake, moving, locks = problem
    speed, spins = bodies.speed, (bodies.speed, bodies.frame)
    starts, stretches, passes = layers
    count = starts.size - 1
    phase: Integer = 0
    while True:
        item, phase = next_item(phases, thread, phase)
        if item < 0:
            return bool(item == NONE_LEFT)
        turn, layer = (phase - 1) // count, (phase - 1) % count
        if turn < 0:
            if spheres is not None:
                balls.prepare_spheres(stretches[item, 1], stretches[item, 4], spheres, bodies)
            if manifolds is not None:
                flat.prepare_manifolds(stretches[item, 2], stretches[item, 5], manifolds, bodies, moving)
        elif turn == passes:
            for _ in range(BOUNCES):
                if spheres is not None:
                    balls.bounce_spheres(spheres.live.size, spheres.rows, speed, moving, rates.threshold)
                if manifolds is not None:
                    flat.bounce_manifolds(manifolds.live.size, manifolds.rows, speed, moving, rates.threshold)
                hold(0, moving, locks, speed)
        if turn < 0 or turn == passes:
            finish_item(phases.finished)
            continue
        is_warm, has_bias = turn == 0, turn % 2 == 1
        storing = (turn + 1 == passes, rates.threshold)
        if not is_warm:
            layer = (layer + 1) % count  # contacts between parts come first
        at = starts[layer] + item - phases.starts[phase]
        first, last = stretches[at, 0], stretches[at, 3]
        if is_warm and layer == PARTS:
            _begin(first, last, bodies, awake, rates.h, True)
        elif layer == JOINTS and turn == 1:
            hold(0, moving, locks, speed)
        elif layer == JOINTS and not has_bias and not is_warm:
            _move(moving, speed.shape[0], speed, rates.h)  # static bodies with a velocity of their own
        if spheres is not None:
            begin, end = stretches[at, 1], stretches[at, 4]
            if is_warm:
                balls.warm_spheres(begin, end, spheres.rows, speed, moving)
            elif has_bias:
                balls.solve_spheres(begin, end, spheres.rows, speed, moving, rates.bias)
            else:
                balls.relax_spheres(begin, end, spheres.rows, speed, moving, rates.bias, storing)
        if manifolds is not None:
            begin, end = stretches[at, 2], stretches[at, 5]
            if is_warm:
                flat.warm_manifolds(begin, end, manifolds.rows, spins, moving)
            else:
                flat.solve_manifolds(begin, end, manifolds.rows, spins, moving, rates.bias, (has_bias, *storing))
        if layer == PARTS and not is_warm:
            if has_bias:
                _move(first, last, speed, rates.h)
            hold(first, last, locks, speed)
            if not has_bias and turn + 1 < passes:
                _begin(first, last, bodies, awake, rates.h, False)
        finish_item(phases.finished)


@helper
def _begin(first: Integer, last: Integer, bodies: SolverBodies, awake: U8, h: float, is_first: bool) -> None:
    """Begin a sub-step: the accelerations, and all impulses that acted in the sub-steps before."""
    for row in range(first, last):
        begin_row(bodies.speed, bodies.given, bodies.pull, row, h if awake[row] else 0.0, not is_first)


@helper
def _move(first: Integer, last: Integer, speed: F64, h: float) -> None:
    for row in range(first, last):
        for part in range(8):
            speed[row, MOVED + part] += h * speed[row, V + part]
