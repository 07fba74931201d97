"""Candidates with planted speed and planted errors, on a clock that only they move."""
# ruff: noqa: ARG002

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from choque._core.types import Floats, Pairs


class Clock:
    """Seconds that pass only when someone says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def every_pair(lower: Floats, upper: Floats) -> Pairs:
    """The overlapping pairs by the definition, all n² at once."""
    meet = ((lower[:, None] <= upper[None]) & (lower[None] <= upper[:, None])).all(axis=2)
    return np.argwhere(np.triu(meet, 1)).astype(np.int32)


class Planted:
    """Takes ``seconds`` for each stage at 1,000 boxes, growing with the ``power`` of their count."""

    kind: Literal["method", "peer"] = "method"
    question: Literal["boxes", "spheres"] = "boxes"
    threads = 1
    superset = False

    def __init__(
        self, name: str, clock: Clock, seconds: tuple[float, float, float], power: float = 1.0, lost: int = 0
    ) -> None:
        self.name = name
        self.clock = clock
        self.seconds = seconds
        self.power = power
        self.lost = lost

    def _spend(self, stage: int, count: int) -> None:
        self.clock.now += self.seconds[stage] * (count / 1_000) ** self.power

    def create(self, lower: Floats, upper: Floats) -> Any:
        self._spend(0, len(lower))
        return lower, upper

    def update(self, state: Any, lower: Floats, upper: Floats) -> Any:
        self._spend(1, len(lower))
        return lower, upper

    def pairs(self, state: Any) -> Any:
        self._spend(2, len(state[0]))
        return state

    def read(self, state: Any, answer: Any) -> Pairs:
        self.clock.now += 1.0
        return every_pair(*answer)[self.lost :]

    def counters(self, state: Any) -> Mapping[str, int]:
        return {"tests": 7, "peak_bytes": 11}
