"""How stiff contacts are: the rates of the solver for one length of a step.

A contact is a damped spring (Catto, "Soft Constraints", 2011; "Solver2D", 2024): 9 Hz for each sub-step of a step and
ten times critical damping, twice as stiff against static bodies, and never stiffer than 0.15 of the sub-step's own
frequency.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Self


class Rates(NamedTuple):
    """Numbers of one step, as kernels take them."""

    h: float  # the length of a sub-step [s]
    inverse_h: float
    rate: float  # of two moving bodies: speed for each unit of overlap, times ``scale`` [1/s]
    scale: float  # how much of a change of speed is demanded at once
    keep: float  # how much of the impulse so far is given up
    static_rate: float
    static_scale: float
    static_keep: float
    push: float  # the greatest speed at which overlapping bodies are pushed apart [unit/s]
    threshold: float  # contacts slower than this do not rebound [unit/s]

    @classmethod
    def of(cls, dt: float, substeps: int, unit: float, hertz: float | None, damping: float) -> Self:
        """Return the rates of steps of ``dt`` seconds; ``unit`` is the length of a metre."""
        h = dt / substeps
        frequency = min(HERTZ * substeps if hertz is None else hertz, 0.15 / h)
        soft, hard = _softness(frequency, damping, h), _softness(2 * frequency, damping, h)
        return cls(h, 1 / h, *soft, *hard, PUSH * unit, THRESHOLD * unit)


HERTZ = 9.0  # the frequency of contacts for each sub-step of a step: 36 Hz with four [Hz]
PUSH = 3.0  # overlapping bodies part at no more than this speed [m/s]
THRESHOLD = 1.0  # contacts that meet more slowly than this do not rebound [m/s]


def _softness(hertz: float, damping: float, h: float) -> tuple[float, float, float]:
    """Return rate, scale and keep of a spring of this frequency and damping ratio, for sub-steps of ``h`` seconds."""
    omega = 2 * math.pi * hertz
    first = 2 * damping + h * omega
    second = h * omega * first
    scale = second / (1 + second)
    return scale * omega / first, scale, 1 / (1 + second)
