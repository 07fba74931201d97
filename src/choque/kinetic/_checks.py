"""What kinetic structures ask of their arguments: one sentence for whatever is wrong, before anything changes."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque.errors import InvalidInput


def as_table(values: ArrayLike, name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """``values`` as finite float64 of this ``shape``; a single row, or a single number, stands for all rows."""
    try:
        given = np.asarray(values)
        if given.dtype.kind not in "iuf":
            raise InvalidInput(f"{name} has the element type {given.dtype}; it must hold numbers.")
        table = np.array(np.broadcast_to(given.astype(np.float64), shape))
    except (TypeError, ValueError) as problem:
        if isinstance(problem, InvalidInput):
            raise
        found = getattr(np.asarray(values, dtype=object), "shape", None)
        raise InvalidInput(f"{name} has the shape {found}; it must be {shape}, or one row of it for all.") from None
    finite = np.isfinite(table).reshape(len(table), -1).all(axis=1) if table.size else np.empty(0, bool)
    if not finite.all():
        row = int(np.flatnonzero(~finite)[0])
        raise InvalidInput(f"Row {row} of {name} is {table[row].tolist()}; it must hold finite numbers.")
    return table


def as_time(value: Any, name: str, earliest: float | None = None) -> float:
    """``value`` as a finite time, not before ``earliest``."""
    try:
        time = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(f"{name} is {value!r}; it must be a number.") from None
    if not math.isfinite(time):
        raise InvalidInput(f"{name} is {time}; it must be a finite time.")
    if earliest is not None and time < earliest:
        raise InvalidInput(
            f"{name} is {time!r}, before the present time {earliest!r}; kinetic structures only go forward."
        )
    return time


def as_count(value: Any, name: str, least: int = 0) -> int:
    """``value`` as a whole number of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InvalidInput(f"{name} is {value!r}; it must be a whole number of at least {least}.")
    return int(value)


def as_size(value: Any, name: str) -> float:
    """``value`` as a finite number above 0."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 < float(value) < math.inf:
        raise InvalidInput(f"{name} is {value!r}; it must be a number above 0.")
    return float(value)


def as_tolerance(value: Any) -> float:
    """``value`` as a time of at least zero."""
    time = as_time(value, "tolerance")
    if time < 0.0:
        raise InvalidInput(f"tolerance is {time!r}; it must be at least 0.")
    return time


def as_numbers(ids: ArrayLike, name: str = "ids") -> NDArray[np.int64]:
    """``ids`` as a list of whole numbers, each named once."""
    try:
        given = np.atleast_1d(np.asarray(ids))
    except (TypeError, ValueError):
        raise InvalidInput(f"{name} must be a list of whole numbers.") from None
    if given.size == 0:
        return np.empty(0, np.int64)
    if given.ndim != 1 or given.dtype.kind not in "iu":
        raise InvalidInput(
            f"{name} has shape {given.shape} and type {given.dtype}; it must be a list of whole numbers."
        )
    seen = np.sort(given)
    if (seen[1:] == seen[:-1]).any():
        raise InvalidInput(f"The id {seen[1:][seen[1:] == seen[:-1]][0]} is named twice; name each body once.")
    return given.astype(np.int64)
