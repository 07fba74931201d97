"""Arithmetic that rounds one way, so that a bound never becomes smaller than what it bounds.

Each function gives the exact result where that is a float, and otherwise the float next to it on the safe
side or one further. Integers below 2**53 therefore stay exact, and a contact is never lost to rounding.
"""

from __future__ import annotations

import numpy as np

from choque._core.kernel import kernel
from choque._core.types import Floats

LARGEST = float(np.finfo(np.float64).max)

SMALLEST = float(np.finfo(np.float64).tiny)
"""More than all that a few products of subnormal numbers lose."""


@kernel
def add_down(a: float, b: float) -> float:
    """A lower bound of a + b; minus infinity wins over plus infinity."""
    if a == -np.inf or b == -np.inf:
        return -np.inf
    total = a + b
    if total == np.inf:
        return total if a == np.inf or b == np.inf else LARGEST
    # Knuth's TwoSum: what the addition lost, exactly.
    part = total - a
    lost = (a - (total - part)) + (b - part)
    return np.nextafter(total, -np.inf) if lost < 0 else total


@kernel
def add_up(a: float, b: float) -> float:
    """An upper bound of a + b; plus infinity wins over minus infinity."""
    return -add_down(-a, -b)


@kernel
def multiply_down(a: float, b: float) -> float:
    """A lower bound of a · b for finite a; exact where a is 0, 1 or −1, and 0 · ∞ is 0."""
    if a == 0 or b == 0:
        return 0.0
    product = a * b
    return product if abs(a) == 1 else np.nextafter(product, -np.inf)


@kernel
def multiply_up(a: float, b: float) -> float:
    """An upper bound of a · b for finite a; exact where a is 0, 1 or −1, and 0 · ∞ is 0."""
    return -multiply_down(-a, b)


def narrow_down(values: Floats, dtype: np.dtype[np.floating]) -> Floats:
    """The ``values`` in a narrower float type, none of them larger than before."""
    if values.dtype == dtype:
        return values
    with np.errstate(over="ignore"):
        narrow = values.astype(dtype)
        np.nextafter(narrow, dtype.type(-np.inf), out=narrow, where=narrow > values)
    return narrow


def narrow_up(values: Floats, dtype: np.dtype[np.floating]) -> Floats:
    """The ``values`` in a narrower float type, none of them smaller than before."""
    return -narrow_down(-values, dtype)


@kernel
def outer_distance(a: float, b: float) -> float:
    """An upper bound of the distance between two numbers."""
    return max(add_up(a, -b), add_up(b, -a))


@kernel
def dot_down(a: Floats, b: Floats) -> float:
    """A lower bound of the dot product of two vectors, the first of them finite."""
    total = 0.0
    for axis in range(len(a)):
        total = add_down(total, multiply_down(np.float64(a[axis]), np.float64(b[axis])))
    return total


@kernel
def dot_up(a: Floats, b: Floats) -> float:
    """An upper bound of the dot product of two vectors, the first of them finite."""
    total = 0.0
    for axis in range(len(a)):
        total = add_up(total, multiply_up(np.float64(a[axis]), np.float64(b[axis])))
    return total


@kernel
def length_up(vector: Floats) -> float:
    """An upper bound of the length of a vector, at most a few units in the last place too long."""
    scale = 0.0
    for component in vector:
        scale = max(scale, abs(component))
    if scale == 0 or scale == np.inf:
        return scale
    total = 0.0
    for component in vector:
        total += (component / scale) ** 2
    # Six roundings of half a unit each happen above; the last one of the product is left to nextafter.
    return float(np.nextafter(scale * (np.sqrt(total) * (1 + 2.0**-49)), np.inf))
