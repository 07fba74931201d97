"""Checks of arguments: one function for each kind of value, used by every package.

Import the module and call its functions with the value first and its name second::

    from choque._core import check

    self.iterations = check.whole_number(iterations, "iterations", minimum=1)
    center = check.finite(check.coordinates(center, "center"), "center")

Every function returns the value in its canonical type (int, float, bool, an array in the layout that kernels are
compiled for), or raises `InvalidInput` with a sentence in three parts: what was given, what is allowed, what to do.
True and False are never numbers here. Zero-dimensional arrays and NumPy scalars are accepted as scalars.

Arrays that are right already (C-contiguous, aligned, writable, float32 or float64) are returned without a copy. A
read-only array is copied, because a kernel would otherwise be compiled once more for it.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core.types import F64, I32, I64, Bools, Floats, Rows
from choque.errors import InvalidInput, UnknownName

FLOAT_TYPES: tuple[np.dtype[np.floating[Any]], ...] = (np.dtype(np.float32), np.dtype(np.float64))

ORTHONORMAL_TOLERANCE = 1e-4
"""Largest accepted error of the dot products of axes: tolerates drift in float32, but no wrong matrix."""


def whole_number(
    value: Any, name: str, minimum: int | None = None, maximum: int | None = None, *, otherwise: str = ""
) -> int:
    """Return ``value`` as an int from ``minimum`` to ``maximum``, both included; 3.0 is not a whole number.

    ``otherwise`` says what else the caller accepts, as it reads after "or": ``"None for all"``.
    """
    given = _scalar(value)
    if isinstance(given, bool) or not isinstance(given, Integral) or not _within(int(given), minimum, maximum):
        raise _refused(value, name, f"a whole number{_range(minimum, maximum)}", otherwise)
    return int(given)


def number(
    value: Any,
    name: str,
    minimum: float | None = None,
    maximum: float | None = None,
    *,
    above: float | None = None,
    below: float | None = None,
    infinite: bool = False,
    otherwise: str = "",
) -> float:
    """Return ``value`` as a float within the limits; it must be finite unless ``infinite`` is True.

    ``minimum`` and ``maximum`` are included, ``above`` and ``below`` are not. For ``otherwise`` see `whole_number`.
    """
    given = value if type(value) is float else _as_float(_scalar(value))  # the usual case in a fifth of the time
    if (
        math.isnan(given)
        or (math.isinf(given) and not infinite)
        or not _within(given, minimum, maximum)
        or (above is not None and given <= above)
        or (below is not None and given >= below)
    ):
        kind = "a finite number" if math.isinf(given) and not infinite else "a number"
        raise _refused(value, name, kind + _range(minimum, maximum, above, below), otherwise)
    return given


def is_number(value: Any) -> TypeGuard[float]:
    """Return whether a value of a document, such as JSON, is a number that a float holds; True and False are none."""
    return isinstance(value, float) or (type(value) is int and abs(value) <= sys.float_info.max)


def positive(value: Any, name: str, *, otherwise: str = "") -> float:
    """Return ``value`` as a finite float greater than 0."""
    return number(value, name, above=0, otherwise=otherwise)


def boolean(value: Any, name: str, *, otherwise: str = "") -> bool:
    """Return ``value`` as True or False; numbers are not accepted."""
    given = _scalar(value)
    if not isinstance(given, bool | np.bool_):
        raise _refused(value, name, "True or False", otherwise)
    return bool(given)


def text(value: Any, name: str, *, otherwise: str = "") -> str:
    """Return ``value`` if it is a string."""
    if not isinstance(value, str):
        raise _refused(value, name, "a string", otherwise)
    return value


def choice(value: Any, kind: str, allowed: Iterable[str]) -> str:
    """Return ``value`` if it is one of the strings ``allowed``; otherwise raise `UnknownName` for this ``kind``."""
    names = tuple(allowed)
    if not isinstance(value, str) or value not in names:
        raise UnknownName(kind, value, names)
    return value


def float_type(value: Any) -> np.dtype[np.floating[Any]]:
    """Return the float type that ``value`` names, or that it is: float32 or float64."""
    name = np.dtype(value).name if isinstance(value, np.dtype | type) else value
    return np.dtype(choice(name, "float type", (kind.name for kind in FLOAT_TYPES)))


def triple(value: Any, name: str, *, single: bool = False) -> tuple[float, float, float]:
    """Return three finite floats, for x, y and z; ``single`` also accepts one number, for all three."""
    if type(value) is tuple and len(value) == 3 and all(type(part) is float and math.isfinite(part) for part in value):
        return value  # the usual case, without an array
    try:
        given = floats(value, name)
    except InvalidInput:
        given = np.empty((0, 0))
    if single and given.ndim == 0:
        given = np.repeat(given, 3)
    if given.shape != (3,) or not np.isfinite(given).all():
        raise _refused(value, name, "three finite numbers, for x, y and z", "one for all three" if single else "")
    return (float(given[0]), float(given[1]), float(given[2]))


def array(values: ArrayLike, name: str, contents: str) -> NDArray[Any]:
    """Return ``values`` as an array of any type, which should hold ``contents``; none of them may be masked."""
    # In this order: NumPy imports np.ma when it is first used.
    if hasattr(values, "filled") and np.ma.is_masked(values):
        raise InvalidInput(f"{name} has masked values; fill them, or leave their rows out.")
    try:
        return np.asarray(_on_this_side(values, name) if hasattr(values, "__dlpack_device__") else values)
    except InvalidInput:
        raise
    except (TypeError, ValueError) as problem:
        raise InvalidInput(f"{name} is not a rectangular array of {contents} ({problem}).") from None


def floats(values: ArrayLike, name: str) -> Floats:
    """Return a C-contiguous array of floats: lists and integers become float64, float16 becomes float32."""
    if type(values) is np.ndarray and values.dtype in FLOAT_TYPES and values.flags.carray:
        return values
    given = array(values, name, "numbers")
    kind = given.dtype
    if kind.kind in "iu":
        wanted = FLOAT_TYPES[1]
    elif kind.kind == "f" and kind.itemsize <= 8:
        wanted = FLOAT_TYPES[kind.itemsize > 4]
    else:
        raise InvalidInput(f"{name} has the element type {kind}; convert it to integers, float32 or float64 first.")
    if (
        given.dtype == wanted
        and given.flags.c_contiguous
        and given.flags.aligned
        and not isinstance(values, np.ndarray)
    ):
        return given if given.flags.writeable else np.asarray(_Shared(given))
    return np.require(given, wanted, ["C", "A", "W"])


class _Shared:
    """The memory of a tensor that does not change, as of JAX, without that mark: kernels only read it."""

    def __init__(self, array: NDArray[Any]) -> None:
        self._array = array  # kept while its memory is in use
        description = array.__array_interface__
        self.__array_interface__ = description | {"data": (description["data"][0], False)}


def coordinates(values: ArrayLike, name: str) -> Floats:
    """Return `floats` of shape (n, 2) or (n, 3)."""
    given = floats(values, name)
    if given.ndim != 2 or given.shape[1] not in (2, 3):
        raise InvalidInput(f"{name} has the shape {given.shape}; it must be (n, 2) or (n, 3).")
    return given


def vectors(values: ArrayLike, name: str, size: int = 3, *, infinite: bool = False) -> F64:
    """Return a new float64 array (n, size), finite unless ``infinite`` is True; (size,) is one vector."""
    given = floats(values, name)
    if given.ndim not in (1, 2) or given.shape[-1] != size:
        raise InvalidInput(f"{name} has the shape {given.shape}; it must be (n, {size}), or ({size},) for one.")
    wide = np.array(given, np.float64, order="C", ndmin=2)
    (numbers if infinite else finite)(wide, name)
    return wide


def table(
    values: ArrayLike,
    name: str,
    shape: tuple[int, ...],
    minimum: float | None = None,
    maximum: float | None = None,
    *,
    above: float | None = None,
) -> F64:
    """Return a new float64 array of this ``shape``, finite and within the limits.

    One row, or one number, is repeated for all rows: a value for each body, or one for all of them.
    """
    given = floats(values, name)
    try:
        wide = np.array(np.broadcast_to(given, shape), np.float64)
    except ValueError:
        one = " or ".join(["a number", *([str(shape[1:])] if len(shape) > 1 else [])])
        raise InvalidInput(
            f"{name} has the shape {given.shape}; it must be {shape}, or {one}, which then counts for all."
        ) from None
    fair = np.isfinite(wide)
    if minimum is not None:
        fair &= wide >= minimum
    if maximum is not None:
        fair &= wide <= maximum
    if above is not None:
        fair &= wide > above
    if not fair.all():
        place = tuple(np.argwhere(~fair)[0].tolist())
        offender = float(wide[place])
        kind = "a number" if math.isfinite(offender) else "a finite number"
        row = f"Row {place[0]} of {name}" if given.shape[:1] == shape[:1] and given.ndim == len(shape) else name
        raise InvalidInput(f"{row} is {offender}; it must be {kind}{_range(minimum, maximum, above)}.")
    return wide


def groups(points: ArrayLike, starts: ArrayLike | None) -> tuple[Floats, Rows]:
    """Return groups of points as a flat array (total, d) and the row where each group starts, (n + 1,).

    Given are either ``points`` (n, p, d) without ``starts``, or ``points`` (total, d) with ``starts`` (n + 1,).
    """
    given = floats(points, "points")
    if starts is None:
        if given.ndim != 3 or given.shape[2] not in (2, 3):
            raise InvalidInput(
                f"points has the shape {given.shape}; it must be (n, p, 2) or (n, p, 3), "
                "or (total, 2) or (total, 3) together with starts."
            )
        count, size, dimension = given.shape
        flat = given.reshape(count * size, dimension)
        bounds = np.arange(count + 1, dtype=np.int64) * size
    else:
        flat = coordinates(given, "points")
        bounds = rows(starts, "starts", len(flat) + 1)
        if len(bounds) == 0 or bounds[0] != 0 or bounds[-1] != len(flat):
            raise InvalidInput(f"starts must begin with 0 and end with {len(flat)}, the number of points.")
    empty = np.flatnonzero(bounds[1:] <= bounds[:-1])
    if len(empty):
        raise InvalidInput(f"Group {int(empty[0])} holds no points; every group needs at least one.")
    return finite(flat, "points"), bounds


def finite(array: Floats, name: str) -> Floats:
    """Return ``array`` if it is finite; otherwise name the first row with NaN or an infinity."""
    return _fair(array, np.isfinite(array), name, "hold finite numbers")


def numbers(array: Floats, name: str) -> Floats:
    """Return ``array`` if it has no NaN, and name the first such row otherwise; infinity is allowed."""
    return _fair(array, ~np.isnan(array), name, "not hold NaN")


def not_negative(array: Floats, name: str) -> Floats:
    """Return ``array`` if no number is negative or NaN, and name the first such row otherwise; infinity is allowed."""
    return _fair(array, array >= 0, name, "not be negative or NaN")


def orthonormal(axes: Floats, name: str) -> Floats:
    """Return ``axes`` (n, d, d) if the rows of every matrix are orthonormal; otherwise name the first that is not."""
    finite(axes, name)
    wide = axes.astype(np.float64, copy=False)
    error = np.abs(wide @ wide.transpose(0, 2, 1) - np.eye(axes.shape[1])).max(axis=(1, 2), initial=0.0)
    bad = np.flatnonzero(~(error <= ORTHONORMAL_TOLERANCE))
    if len(bad):
        raise InvalidInput(
            f"Row {int(bad[0])} of {name} is not orthonormal: a dot product of its rows is off by "
            f"{error[bad[0]]:.3g}, more than {ORTHONORMAL_TOLERANCE:g}. Normalise it first."
        )
    return axes


def shape(array: Floats, name: str, wanted: tuple[int, ...], by: str) -> Floats:
    """Return ``array`` if it has the shape that the argument called ``by`` requires."""
    if array.shape != wanted:
        raise InvalidInput(f"{name} has the shape {array.shape}; with this {by} it must be {wanted}.")
    return array


def same_length(array: NDArray[Any], name: str, count: int, things: str = "bodies") -> NDArray[Any]:
    """Return ``array`` if it has one row for each of ``count`` ``things``."""
    if len(array) != count:
        raise InvalidInput(f"{name} has {len(array)} rows; it must have one for each of the {count} {things}.")
    return array


def widest(*arrays: Floats) -> tuple[Floats, ...]:
    """Return the arrays in one type: float64 if at least one of them is."""
    if len({array.dtype for array in arrays}) == 1:
        return arrays
    return tuple(array.astype(np.float64, copy=False) for array in arrays)


def cast(array: NDArray[Any], name: str, dtype: np.dtype[np.floating[Any]]) -> NDArray[Any]:
    """Return finite numbers in the float type ``dtype``; a number that is too large for it is refused."""
    with np.errstate(over="ignore"):
        narrow = np.ascontiguousarray(array, dtype)
    bad = np.argwhere(~np.isfinite(narrow))
    if len(bad):
        row = int(bad[0][0])
        raise InvalidInput(f"Row {row} of {name} is {array[row].tolist()}, which {dtype} cannot hold; use float64.")
    return narrow


def integers(
    values: ArrayLike, name: str, minimum: int | None = None, maximum: int | None = None
) -> NDArray[np.integer[Any]]:
    """Return an array of integers from ``minimum`` to ``maximum``, both included; an empty list becomes int64."""
    given = array(values, name, "integers")
    if given.size == 0:
        return given.astype(np.int64)
    if given.dtype.kind not in "iu":
        raise InvalidInput(f"{name} has the element type {given.dtype}; it must hold whole numbers.")
    if not (_within(int(given.min()), minimum, None) and _within(int(given.max()), None, maximum)):
        bad = np.zeros(given.shape, bool)
        if minimum is not None:
            bad |= given < minimum
        if maximum is not None:
            bad |= given > maximum
        place = np.argwhere(bad)[0].tolist()
        where = f"{name}{place}" if place else name
        raise InvalidInput(f"{where} is {given[tuple(place)]}; it must be a whole number{_range(minimum, maximum)}.")
    return given


def whole_numbers(
    values: ArrayLike, name: str, count: int, minimum: int | None = None, maximum: int | None = None
) -> I64:
    """Return new `integers` (count,), from one for all or one for each."""
    given = integers(values, name, minimum, maximum)
    if given.shape not in ((), (count,)):
        raise InvalidInput(f"{name} has the shape {given.shape}; give one whole number for all, or ({count},).")
    return np.broadcast_to(given, (count,)).astype(np.int64)


def rows(values: ArrayLike, name: str, count: int) -> Rows:
    """Return row numbers (m,) below ``count``, in any order; masks and negative numbers are refused."""
    given = integers(values, name, 0, count - 1)
    if given.ndim != 1:
        raise InvalidInput(f"{name} has the shape {given.shape}; it must be (m,).")
    return given.astype(np.int64, copy=False)


def pairs(values: ArrayLike, name: str, count: int, other_count: int | None = None) -> I32:
    """Return pairs of row numbers below ``count`` as a C-contiguous int32 array (m, 2), in any order.

    With ``other_count``, the second row of a pair is below this number.
    """
    counts = (count, count if other_count is None else other_count)
    given = integers(values, name, 0, max(counts) - 1)
    if given.size == 0:
        given = given.reshape(0, 2)
    if given.ndim != 2 or given.shape[1] != 2:
        raise InvalidInput(f"{name} has the shape {given.shape}; it must be (m, 2).")
    for column, limit in enumerate(counts):
        if limit < max(counts):
            integers(given[:, column], f"{name}[:, {column}]", 0, limit - 1)
    return np.require(given, np.int32, ["C", "A", "W"])


def ids(values: ArrayLike, name: str = "ids") -> I64:
    """Return whole numbers (m,), each of them once; one number alone becomes (1,)."""
    given = np.atleast_1d(integers(values, name))
    if given.ndim != 1:
        raise InvalidInput(f"{name} has the shape {given.shape}; it must be (m,).")
    ordered = np.sort(given)
    twice = np.flatnonzero(ordered[1:] == ordered[:-1])
    if len(twice):
        raise InvalidInput(f"The id {ordered[twice[0]]} is named twice in {name}; name each body once.")
    return given.astype(np.int64, copy=False)


def flags(values: ArrayLike, name: str, count: int) -> Bools:
    """Return a new array of booleans (count,); one boolean counts for all."""
    given = array(values, name, "True and False")
    if given.dtype.kind != "b" or given.shape not in ((), (count,)):
        raise InvalidInput(
            f"{name} has the shape {given.shape} and the element type {given.dtype}; "
            f"it must be True or False, or ({count},) of them."
        )
    return np.array(np.broadcast_to(given, count))


def _scalar(value: Any) -> Any:
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value


def _as_float(value: Any) -> float:
    """Return a number as a float, and NaN for anything else."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf  # type: ignore[operator]


ORDINARY_MEMORY = (1, 3, 13)
"""Kinds of devices of DLPack whose memory the processor reads: its own, pinned for CUDA, managed by CUDA."""


def _on_this_side(tensor: Any, name: str) -> Any:
    """Return a tensor in ordinary memory without its history of gradients; nothing is copied."""
    if isinstance(tensor, np.ndarray | np.generic):
        return tensor
    if tensor.__dlpack_device__()[0] not in ORDINARY_MEMORY:
        where = getattr(tensor, "device", "a device")
        raise InvalidInput(
            f"{name} is on {where}; kernels read the memory of the processor, so copy it there first, with .cpu() or "
            ".get()."
        )
    if getattr(tensor, "requires_grad", False):
        tensor = tensor.detach()
    return tensor if hasattr(tensor, "__array__") else np.from_dlpack(tensor)


def _fair(array: Floats, is_fair: Bools, name: str, rule: str) -> Floats:
    if not is_fair.all():
        row = int(np.argwhere(~is_fair)[0][0])
        raise InvalidInput(f"Row {row} of {name} is {array[row].tolist()}; it must {rule}.")
    return array


def _within(value: float, minimum: float | None, maximum: float | None) -> bool:
    return (minimum is None or value >= minimum) and (maximum is None or value <= maximum)


def _range(minimum: float | None, maximum: float | None, above: float | None = None, below: float | None = None) -> str:
    """Describe the limits, as they read after "a number"."""
    low = f"above {above}" if above is not None else "" if minimum is None else f"from {minimum}"
    high = f"below {below}" if below is not None else "" if maximum is None else f"{maximum}"
    if low and high:
        return f" {low} to {high}" if above is None else f" {low} and {'' if below is not None else 'at most '}{high}"
    if high:
        return f" {high}" if below is not None else f" of at most {maximum}"
    return f" {low}" if above is not None else "" if minimum is None else f" of at least {minimum}"


def _refused(value: Any, name: str, allowed: str, otherwise: str) -> InvalidInput:
    other = f", or {otherwise}" if otherwise else ""
    return InvalidInput(f"{name} is {value!r}; it must be {allowed}{other}.")
