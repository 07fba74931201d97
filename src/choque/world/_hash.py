"""A fingerprint of the state of a world: 64 bits, the same wherever every bit of the state is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import kernel
from choque.world._bodies import Bodies

_SEED = 0x9E3779B97F4A7C15

HASHED = ("ids", "position", "rotation", "velocity", "angular_velocity")
"""The columns that make up the state."""


def state_hash(bodies: Bodies, frame: int) -> int:
    """The hash of ids, poses, velocities and the number of the frame: 0 … 2⁶⁴ − 1.

    Four chains of multiplication and rotation over the words of each array, then mixed; O(n), no memory. It tells
    states apart that differ by accident; it is no defence against those made on purpose.
    """
    value = np.uint64((_SEED + frame) & 0xFFFFFFFFFFFFFFFF)
    with np.errstate(over="ignore"):  # arithmetic modulo 2⁶⁴ is meant, also where kernels run as plain Python
        for name in HASHED:
            value = np.uint64(_hash_words(_words(getattr(bodies, name)), value))
    return int(value)


def _words(array: NDArray[Any]) -> NDArray[Any]:
    return array.reshape(-1).view(np.uint64 if array.dtype.itemsize == 8 else np.uint32)


@kernel
def _hash_words(words: Any, seed: np.uint64) -> Any:
    first, second = np.uint64(0x9FB21C651E98DF25), np.uint64(0xC2B2AE3D27D4EB4F)
    a, b, c, d = seed, seed ^ first, seed ^ second, seed ^ (first + second)
    whole = words.size - words.size % 4
    for k in range(0, whole, 4):
        a = _stirred(a ^ (np.uint64(words[k]) * first)) * second
        b = _stirred(b ^ (np.uint64(words[k + 1]) * first)) * second
        c = _stirred(c ^ (np.uint64(words[k + 2]) * first)) * second
        d = _stirred(d ^ (np.uint64(words[k + 3]) * first)) * second
    for k in range(whole, words.size):
        a = _stirred(a ^ (np.uint64(words[k]) * first)) * second
    value = np.uint64(words.size)
    for lane in (a, b, c, d):
        value = (value ^ lane) * first
        value ^= value >> np.uint64(32)
        value *= second
        value ^= value >> np.uint64(29)
    return value


@kernel
def _stirred(value: np.uint64) -> Any:
    """Turn the word by half its bits, so that multiplication reaches all of them."""
    return (value << np.uint64(31)) | (value >> np.uint64(33))
