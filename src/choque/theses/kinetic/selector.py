"""The choice of a method to follow moving bodies: by frames, or from event to event."""

from __future__ import annotations

import math
from functools import cache
from numbers import Real
from pathlib import Path

from choque.broad.cost_table import CostTable, Expectation, read_cost_table
from choque.errors import InvalidInput

SHIPPED = Path(__file__).with_name("method_table.json")
"""A performance map in the form of the study ``kinetic``; benchmarks/kinetic_table.py makes another."""

METHODS = ("kinetic", "direct", "incremental")
COORDINATES = ("n", "density", "frames_per_second", "duration")
WEIGHTS = {"duration": 0.5, "density": 0.5}
"""Weight of a decade of each coordinate; duration and density change all methods in a similar way."""
DEGREE = 2
"""The costs of frames and of events grow differently: exponents change along the axes."""


def recommend(count: int, density: float, frames_per_second: float, duration: float) -> Expectation:
    """Return the method of `create_simulation` that is expected to be the fastest, from measurements.

    Parameters
    ----------
    count
        The number of bodies.
    density
        The sum of their areas as a share of that of the frame.
    frames_per_second
        The frame rate at which the pairs are needed; the kinetic method also gives the events between frames.
    duration
        The duration of a run [s].

    Examples
    --------
    >>> recommend(1_000, density=0.05, frames_per_second=1_000, duration=1.0).method
    'kinetic'
    """
    given = (("count", count), ("density", density), ("frames_per_second", frames_per_second), ("duration", duration))
    for name, value in given:
        if not (isinstance(value, Real) and 0 <= float(value) < math.inf):
            raise InvalidInput(f"{name} is {value!r}; it must be a number, 0 or more.")
    where = (float(value) for _, value in given)
    return _table().choose(dict(zip(COORDINATES, where, strict=True)))


@cache
def _table() -> CostTable:
    return read_cost_table(SHIPPED, METHODS, WEIGHTS, DEGREE)
