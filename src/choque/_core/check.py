"""What every constructor here asks of its arguments, so that no bad array ever reaches a kernel.

Arrays that are already right (C-contiguous, aligned, writable, float32 or float64) pass through without a
copy. A read-only array is copied, because a kernel would otherwise be compiled once more for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core.kernel import kernel
from choque._core.types import Floats, Rows
from choque.errors import InvalidInput

FLOAT_TYPES: tuple[np.dtype[np.floating[Any]], ...] = (np.dtype(np.float32), np.dtype(np.float64))

ORTHONORMAL_TOLERANCE = 1e-4
"""How far from 0 or 1 the dot products of axes may be: room for drift in float32, not for a wrong matrix."""


def as_floats(array: ArrayLike, name: str) -> Floats:
    """The ``array`` as C-contiguous floats: lists and integers become float64, float16 becomes float32."""
    if type(array) is np.ndarray and array.dtype in FLOAT_TYPES and array.flags.carray:
        return array
    try:
        given = np.asarray(array)
    except (TypeError, ValueError) as problem:
        raise InvalidInput(f"{name} is not a rectangular array of numbers ({problem}).") from None
    kind = given.dtype
    if kind.kind in "iu":
        wanted = FLOAT_TYPES[1]
    elif kind.kind == "f" and kind.itemsize <= 8:
        wanted = FLOAT_TYPES[kind.itemsize > 4]
    else:
        raise InvalidInput(f"{name} has the element type {kind}; convert it to integers, float32 or float64 first.")
    return np.require(given, wanted, ["C", "A", "W"])


def as_coordinates(array: ArrayLike, name: str) -> Floats:
    """The ``array`` as floats of shape (n, 2) or (n, 3), or `InvalidInput` that says what it is instead."""
    floats = as_floats(array, name)
    if floats.ndim != 2 or floats.shape[1] not in (2, 3):
        raise InvalidInput(f"{name} has the shape {floats.shape}; it must be (n, 2) or (n, 3).")
    return floats


def as_widest(*arrays: Floats) -> tuple[Floats, ...]:
    """The same arrays, all float64 as soon as one of them is."""
    if len({array.dtype for array in arrays}) == 1:
        return arrays
    return tuple(array.astype(np.float64, copy=False) for array in arrays)


def check_boxes(lower: Floats, upper: Floats) -> None:
    """Raise `InvalidInput` unless both have one shape and ``lower <= upper`` everywhere; NaN never is."""
    check_shape(upper, "upper", lower.shape, "lower")
    if _are_ordered(lower.reshape(-1), upper.reshape(-1)):
        return
    row, column = (int(index) for index in np.argwhere(~(lower <= upper))[0])
    low, high = lower[row, column], upper[row, column]
    problem = "is not a number" if np.isnan(low) or np.isnan(high) else "has lower > upper"
    raise InvalidInput(f"Row {row} {problem}: lower is {low!s} and upper is {high!s} in column {column}.")


def check_finite(array: Floats, name: str) -> None:
    """Raise `InvalidInput` that names the first row with NaN or an infinity."""
    finite = np.isfinite(array)
    if not finite.all():
        row = int(np.argwhere(~finite)[0][0])
        raise InvalidInput(f"Row {row} of {name} is {array[row].tolist()}; it must hold finite numbers.")


def check_extents(array: Floats, name: str) -> None:
    """Raise `InvalidInput` that names the first row with NaN or a negative number; infinity is legal."""
    fair = array >= 0
    if not fair.all():
        row = int(np.argwhere(~fair)[0][0])
        raise InvalidInput(f"Row {row} of {name} is {array[row].tolist()}; it must not be negative or NaN.")


def check_orthonormal(axes: Floats, name: str) -> None:
    """Raise `InvalidInput` that names the first matrix of ``axes`` (n, d, d) without orthonormal rows."""
    check_finite(axes, name)
    wide = axes.astype(np.float64, copy=False)
    error = np.abs(wide @ wide.transpose(0, 2, 1) - np.eye(axes.shape[1])).max(axis=(1, 2), initial=0.0)
    bad = np.flatnonzero(~(error <= ORTHONORMAL_TOLERANCE))
    if len(bad):
        raise InvalidInput(
            f"Row {int(bad[0])} of {name} is not orthonormal: a dot product of its rows is off by "
            f"{error[bad[0]]:.3g}, more than {ORTHONORMAL_TOLERANCE:g}. Normalise it first."
        )


def check_shape(array: Floats, name: str, shape: tuple[int, ...], by: str) -> None:
    """Raise `InvalidInput` unless ``array`` has the ``shape`` that the argument called ``by`` asks for."""
    if array.shape != shape:
        raise InvalidInput(f"{name} has the shape {array.shape}; with this {by} it must be {shape}.")


def as_rows(rows: ArrayLike, count: int) -> Rows:
    """The ``rows`` as an array (m,) of numbers below ``count``; masks and negative numbers are refused."""
    given = _as_integers(rows, "rows", count)
    if given.ndim != 1:
        raise InvalidInput(f"rows has the shape {given.shape}; it must be (m,).")
    return given.astype(np.int64, copy=False)


def as_pairs(pairs: ArrayLike, count: int) -> NDArray[np.int32]:
    """The ``pairs`` as a C-contiguous int32 array (m, 2) of rows below ``count``, in any order."""
    given = _as_integers(pairs, "pairs", count)
    if given.size == 0:
        given = given.reshape(0, 2)
    if given.ndim != 2 or given.shape[1] != 2:
        raise InvalidInput(f"pairs has the shape {given.shape}; it must be (m, 2).")
    return np.require(given, np.int32, ["C", "A", "W"])


def as_groups(points: ArrayLike, starts: ArrayLike | None) -> tuple[Floats, Rows]:
    """Groups of points as one flat array (total, d) and the row where each group starts, (n + 1,).

    Given are either ``points`` (n, p, d) without ``starts``, or ``points`` (total, d) with ``starts`` (n +
    1,).
    """
    floats = as_floats(points, "points")
    if starts is None:
        if floats.ndim != 3 or floats.shape[2] not in (2, 3):
            raise InvalidInput(
                f"points has the shape {floats.shape}; it must be (n, p, 2) or (n, p, 3), "
                "or (total, 2) or (total, 3) together with starts."
            )
        count, size, dimension = floats.shape
        flat = floats.reshape(count * size, dimension)
        bounds = np.arange(count + 1, dtype=np.int64) * size
    else:
        flat = as_coordinates(floats, "points")
        bounds = as_rows(starts, len(flat) + 1)
        if len(bounds) == 0 or bounds[0] != 0 or bounds[-1] != len(flat):
            raise InvalidInput(f"starts must begin with 0 and end with {len(flat)}, the number of points.")
    empty = np.flatnonzero(bounds[1:] <= bounds[:-1])
    if len(empty):
        raise InvalidInput(f"Group {int(empty[0])} holds no points; every group needs at least one.")
    check_finite(flat, "points")
    return flat, bounds


def _as_integers(values: ArrayLike, name: str, count: int) -> NDArray[np.integer[Any]]:
    try:
        given = np.asarray(values)
    except (TypeError, ValueError) as problem:
        raise InvalidInput(f"{name} is not a rectangular array of integers ({problem}).") from None
    if given.size == 0:
        return given.astype(np.int64)
    if given.dtype.kind not in "iu":
        raise InvalidInput(f"{name} has the element type {given.dtype}; it must hold row numbers, which are integers.")
    if given.min() < 0 or given.max() >= count:
        place = np.argwhere((given < 0) | (given >= count))[0]
        raise InvalidInput(
            f"{name}[{', '.join(map(str, place))}] is {given[tuple(place)]}; rows go from 0 to {count - 1}."
        )
    return given


@kernel
def _are_ordered(lower: Floats, upper: Floats) -> bool:
    """Whether ``lower <= upper`` throughout two flat arrays; counting vectorises, leaving early does not."""
    good = 0
    for low, high in zip(lower, upper):  # noqa: B905
        good += low <= high
    return good == len(lower)
