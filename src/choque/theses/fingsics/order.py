"""The order in which the engine visits bodies: by the text of their numbers, so that 10 comes before 9.

It decides which body of a pair is the first, and in which order impulses are added up: both show in rounding.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import kernel
from choque._core.types import Integer, Pairs, Rows


@kernel
def text_key(number: Integer) -> Any:
    """Return a whole number whose order is that of the decimal text of ``number`` (0 to 2³¹ − 1).

    The digits moved to the left, then how many there are: a text comes after its beginnings.
    """
    digits = 1
    bound = 10
    while number >= bound:
        digits += 1
        bound *= 10
    return number * (10_000_000_000 // bound) * 16 + digits


@kernel
def _fill_keys(numbers: Pairs, keys: NDArray[np.int64]) -> None:
    for row in range(numbers.shape[0]):
        keys[row, 0] = text_key(np.int64(numbers[row, 0]))
        keys[row, 1] = text_key(np.int64(numbers[row, 1]))


def in_text_order(pairs: Pairs) -> tuple[Rows, NDArray[np.bool_]]:
    """Return the rows of ``pairs`` (m, 2) in the order of the texts "first-second", and (m,) which are reversed.

    A pair is turned round if its smaller number has the later text. O(m log m).
    """
    keys = np.empty(pairs.shape, np.int64)
    _fill_keys(pairs, keys)
    swapped = keys[:, 0] > keys[:, 1]
    return np.lexsort((keys.max(axis=1), keys.min(axis=1))), swapped
