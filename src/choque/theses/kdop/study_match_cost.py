"""What matching one shape takes, measured apart: inside a response it cannot be told from the tests around it."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import kernel
from choque._core.types import Index
from choque.dynamics.particles import match_shape, rest_shapes
from choque.lab.stopwatch import Clock
from choque.narrow.convex.cores import Cores, cores_of_shapes
from choque.narrow.shapes import CONVEX
from choque.world import World

PRESSED = 0.15
"""By this share of its height a body is flattened from below before it is matched, as bodies that rest are."""
REPEATS = 3

Points = NDArray[np.float64]


def seconds_a_match(world: World, most: int = 256, clock: Clock = time.perf_counter) -> float:
    """Seconds to match the shape of one of the first ``most`` convex bodies of ``world``; changes nothing about them.

    Their particles are pressed from below, then matched, and the time that putting them there takes is taken off.
    """
    rows = np.flatnonzero(world.bodies.kind == CONVEX)[:most].astype(np.int32)
    cores, places = cores_of_shapes(world.bodies.shapes(), np.stack((rows, rows), axis=1), 1)
    bodies = np.unique(places[:, 0]).astype(np.int64)
    rest, mean = np.empty_like(cores.points), np.zeros((len(cores.spans), 3))
    rest_shapes(cores, rest, mean)
    pressed = cores.points.copy()
    for first, last in cores.spans[bodies, :2].tolist():
        height = pressed[first:last, 1]
        np.maximum(height, height.min() + PRESSED * np.ptp(height), out=height)
    _go(cores, bodies[:1], pressed, rest, mean, True)  # compiles
    spent = [_timed(clock, cores, bodies, pressed, rest, mean, matches) for matches in (True, False)]
    return max(spent[0] - spent[1], 0.0) / len(bodies)


def _timed(
    clock: Clock, cores: Cores, bodies: NDArray[np.int64], pressed: Points, rest: Points, mean: Points, matches: bool
) -> float:
    best = np.inf
    for _ in range(REPEATS):
        begin = clock()
        _go(cores, bodies, pressed, rest, mean, matches)
        best = min(best, clock() - begin)
    return float(best)


@kernel
def _go(cores: Cores, bodies: NDArray[np.int64], pressed: Points, rest: Points, mean: Points, matches: bool) -> None:
    """Put the particles of each body where they were pressed to, and match its shape if wanted."""
    count = len(cores.spans)
    turn, state, version = np.zeros((count, 3, 3)), np.zeros(count, np.uint8), np.zeros(count, np.int64)
    work, moment, counts = np.empty((5, 3, 3)), np.empty((3, 3)), np.zeros(5, np.int64)
    for at in range(len(bodies)):
        body: Index = bodies[at]
        for row in range(cores.spans[body, 0], cores.spans[body, 1]):
            for axis in range(3):
                cores.points[row, axis] = pressed[row, axis]
        if matches:
            match_shape(cores.points, cores.spans, body, rest, mean, turn, state, version, work, moment, counts)
