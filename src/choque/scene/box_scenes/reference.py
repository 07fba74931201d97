"""``reference``: the public scene whose pairs are known, 11,811 of 10,000 boxes, 1,144,045 of 100,000.

It is the benchmark of Terdiman, "Box pruning revisited" (2017), whose boxes come from the 15-bit linear
congruential generator of an old C library: state ← 214013·state + 2531011 modulo 2³², of which bits 16 to 30
are the value.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from choque.errors import InvalidInput
from choque.scene.box_scenes.motion import Rest
from choque.scene.generators import Request

MULTIPLIER = 214_013
INCREMENT = 2_531_011
SEED = 42


def reference(request: Request) -> Rest:
    """Boxes with whole centres in a cube of 4096 and half extents of 0 to 127: the more, the denser.

    Seed 0 is the reference itself, whose generator starts from 42; another seed starts it from 42 + seed.
    """
    if request.dimension != 3:
        raise InvalidInput(f"dimension is {request.dimension}; the reference scene exists in 3D only.")
    values = congruential_values(SEED + request.seed, 6 * request.box_count).reshape(-1, 6)
    center = (values[:, :3] & 4095).astype(np.float64) - 2048
    half = (values[:, 3:] & 127).astype(np.float64)
    return Rest(center, 2 * half)


def congruential_values(seed: int, count: int) -> NDArray[np.uint32]:
    """Give the first ``count`` values, at once: state k is mᵏ·seed + c·(1 + m + … + mᵏ⁻¹) modulo 2³²."""
    # Arithmetic in uint32 wraps, which is the modulus.
    powers = np.cumprod(np.full(count, MULTIPLIER, dtype=np.uint32), dtype=np.uint32)
    series = np.cumsum(np.concatenate([np.ones(1, dtype=np.uint32), powers[:-1]])[:count], dtype=np.uint32)
    states = powers * np.uint32(seed % 2**32) + np.uint32(INCREMENT) * series
    return (states >> np.uint32(16)) & np.uint32(0x7FFF)
