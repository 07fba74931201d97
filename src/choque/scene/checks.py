"""Checks of the parameters of scenes: each gives the value back, or says what is allowed."""

from __future__ import annotations

import math
from numbers import Real

import numpy as np

from choque.errors import InvalidInput


def whole_number(name: str, value: object, smallest: int) -> int:
    """Accept an integer of at least ``smallest``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < smallest:
        raise InvalidInput(f"{name} is {value!r}; it must be a whole number of at least {smallest}.")
    return int(value)


def positive(name: str, value: object) -> float:
    """Accept a finite number above 0."""
    number = _number(value)
    if not (math.isfinite(number) and number > 0):
        raise InvalidInput(f"{name} is {value!r}; it must be a number above 0.")
    return number


def within(name: str, value: object, smallest: float, largest: float) -> float:
    """Accept a number from ``smallest`` to ``largest``, both included."""
    number = _number(value)
    if not smallest <= number <= largest:
        raise InvalidInput(f"{name} is {value!r}; it must be a number from {smallest} to {largest}.")
    return number


def _number(value: object) -> float:
    return float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
