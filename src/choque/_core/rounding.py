"""Arithmetic that rounds in a given direction, so that a bound always contains what it bounds.

Each function returns the exact result if it is a float, and otherwise the next float on the safe
side or one further. Integers below 2**53 therefore stay exact, and a contact is never lost to rounding.
"""

from __future__ import annotations

import numpy as np

from choque._core.kernel import helper
from choque._core.types import F64, Floats

LARGEST = float(np.finfo(np.float64).max)
SMALLEST = float(np.finfo(np.float64).tiny)  # more than the error of a few products of subnormal numbers


@helper
def add_down(a: float, b: float) -> float:
    """Return a lower bound of a + b; minus infinity wins over plus infinity."""
    if a == -np.inf or b == -np.inf:
        return -np.inf
    total = a + b
    if total == np.inf:
        return total if a == np.inf or b == np.inf else LARGEST
    # Knuth's TwoSum: the exact error of the addition.
    part = total - a
    lost = (a - (total - part)) + (b - part)
    return np.nextafter(total, -np.inf) if lost < 0 else total


@helper
def add_up(a: float, b: float) -> float:
    """Return an upper bound of a + b; plus infinity wins over minus infinity."""
    return -add_down(-a, -b)


@helper
def multiply_down(a: float, b: float) -> float:
    """Return a lower bound of a · b for finite a; exact where a is 0, 1 or −1, and 0 · ∞ is 0."""
    if a == 0 or b == 0:
        return 0.0
    product = a * b
    return product if abs(a) == 1 else np.nextafter(product, -np.inf)


@helper
def multiply_up(a: float, b: float) -> float:
    """Return an upper bound of a · b for finite a; exact where a is 0, 1 or −1, and 0 · ∞ is 0."""
    return -multiply_down(-a, b)


def narrow_down(values: Floats, dtype: np.dtype[np.floating]) -> Floats:
    """Convert ``values`` to a narrower float type, rounding down."""
    if values.dtype == dtype:
        return values
    with np.errstate(over="ignore"):
        narrow = values.astype(dtype)
        np.nextafter(narrow, dtype.type(-np.inf), out=narrow, where=narrow > values)
    return narrow


def narrow_up(values: Floats, dtype: np.dtype[np.floating]) -> Floats:
    """Convert ``values`` to a narrower float type, rounding up."""
    return -narrow_down(-values, dtype)


@helper
def outer_distance(a: float, b: float) -> float:
    """Return an upper bound of the distance between two numbers."""
    return max(add_up(a, -b), add_up(b, -a))


@helper
def dot_down(a: Floats, b: Floats) -> float:
    """Return a lower bound of the dot product of two vectors, the first of them finite."""
    total = 0.0
    for axis in range(len(a)):
        total = add_down(total, multiply_down(np.float64(a[axis]), np.float64(b[axis])))
    return total


@helper
def dot_up(a: Floats, b: Floats) -> float:
    """Return an upper bound of the dot product of two vectors, the first of them finite."""
    total = 0.0
    for axis in range(len(a)):
        total = add_up(total, multiply_up(np.float64(a[axis]), np.float64(b[axis])))
    return total


@helper
def length_up(vector: Floats) -> float:
    """Return an upper bound of the length of a vector, at most a few units in the last place too long."""
    scale = 0.0
    for component in vector:
        scale = max(scale, abs(component))
    if scale == 0 or scale == np.inf:
        return scale
    total = 0.0
    for component in vector:
        total += (component / scale) ** 2
    # Six roundings of half a unit each happen above; nextafter covers that of the product.
    return float(np.nextafter(scale * (np.sqrt(total) * (1 + 2.0**-49)), np.inf))


@helper
def move_point(point: Floats, turn: F64, shift: F64, moved: Floats) -> float:
    """Write ``turn`` · ``point`` + ``shift`` to ``moved`` and return an upper bound of the error's length.

    The error is 0 wherever the result is exact, as for integers moved by integers.
    """
    error = 0.0
    for axis in range(len(point)):
        low = add_down(dot_down(turn[axis], point), shift[axis])
        high = add_up(dot_up(turn[axis], point), shift[axis])
        moved[axis] = low
        stored = np.float64(moved[axis])
        error = add_up(error, max(outer_distance(high, stored), outer_distance(stored, low)))
    return error


@helper
def stretch_up(turn: F64) -> float:
    """Return an upper bound of how much ``turn`` lengthens a vector; 1 where it swaps and flips axes only."""
    largest = 0.0
    for row in range(len(turn)):
        total = 0.0
        for other in range(len(turn)):
            total = add_up(total, max(dot_up(turn[row], turn[other]), -dot_down(turn[row], turn[other])))
        largest = max(largest, total)
    return largest if largest == 1 else np.nextafter(np.sqrt(largest), np.inf)
