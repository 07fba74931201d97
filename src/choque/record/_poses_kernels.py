"""The inner loops of packing poses: floats as whole numbers in their order, predicted, folded and split into bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from choque._core.kernel import inline, kernel
from choque._core.types import Index

MASK = 0xFFFFFFFF
SIGN = 0x80000000
OTHERS = 0x7FFFFFFF


@inline
def _numbered(bits: Index) -> Any:
    """Number a float in the order of floats, by its bits, or back: all bits but the sign of negative ones turn over."""
    return bits ^ OTHERS if bits & SIGN else bits


@kernel
def split_surprises(bits: Any, movers: Any, column: Index, planes: Any) -> None:
    """Write how far each number of ``column`` is from its prediction, byte by byte.

    ``bits`` (k, n, c) uint32 are floats; ``movers`` (m,) int64 the bodies to look at; ``planes`` (4, m · (k − 1)) uint8
    gets the lowest bytes first, all frames of a body together. The prediction is the step before, once more; of the
    second frame, no step. Small differences of either sign are folded into small numbers: 0, −1, 1, −2 …
    """
    later = bits.shape[0] - 1
    for row in range(movers.size):
        body = movers[row]
        before = _numbered(np.int64(bits[0, body, column]))
        step = np.int64(0)
        place = row * later
        for frame in range(later):
            number = _numbered(np.int64(bits[frame + 1, body, column]))
            moved = (number - before) & MASK
            surprise = (moved - step) & MASK
            folded = ((surprise << 1) & MASK) ^ (MASK if surprise & SIGN else 0)
            planes[0, place] = folded & 255
            planes[1, place] = (folded >> 8) & 255
            planes[2, place] = (folded >> 16) & 255
            planes[3, place] = folded >> 24
            before, step = number, moved
            place += 1


@kernel
def join_surprises(bits: Any, movers: Any, column: Index, planes: Any) -> None:
    """Undo `split_surprises`: fill the frames after the first of ``column`` for the ``movers``."""
    later = bits.shape[0] - 1
    for row in range(movers.size):
        body = movers[row]
        number = _numbered(np.int64(bits[0, body, column]))
        step = np.int64(0)
        place = row * later
        for frame in range(later):
            folded = np.int64(planes[0, place]) | (np.int64(planes[1, place]) << 8)
            folded |= (np.int64(planes[2, place]) << 16) | (np.int64(planes[3, place]) << 24)
            surprise = (folded >> 1) ^ (MASK if folded & 1 else 0)
            step = (step + surprise) & MASK
            number = (number + step) & MASK
            bits[frame + 1, body, column] = _numbered(number)
            place += 1


@kernel
def find_movers(bits: Any, moves: Any) -> None:
    """Mark in ``moves`` (n,) uint8 which bodies differ in any frame from their first."""
    for frame in range(1, bits.shape[0]):
        for body in range(bits.shape[1]):
            for column in range(bits.shape[2]):
                if bits[frame, body, column] != bits[0, body, column]:
                    moves[body] = 1
