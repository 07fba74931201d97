"""What a generator of boxes or of bodies is asked for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Request:
    """How many boxes of how many axes, from which seed; a generator turns it into a motion."""

    name: str
    box_count: int
    dimension: int
    seed: int

    def random(self, stream: int = 0) -> np.random.Generator:
        """Give a generator of random numbers for this scene alone; each ``stream`` of it is independent."""
        return _random(self.name, self.box_count, self.seed, stream)


@dataclass(frozen=True)
class BodyRequest:
    """How many bodies that are not static, from which seed; a generator turns it into columns."""

    name: str
    body_count: int
    seed: int

    def random(self, stream: int = 0) -> np.random.Generator:
        """Give a generator of random numbers for this scene alone; each ``stream`` of it is independent."""
        return _random(self.name, self.body_count, self.seed, stream)


def _random(name: str, count: int, seed: int, stream: int) -> np.random.Generator:
    # The name takes part, so that two kinds of scene with one seed do not share their positions.
    entropy = [int.from_bytes(name.encode()), count, seed]
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy, spawn_key=(stream,))))
