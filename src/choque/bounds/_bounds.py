"""The contract of every kind of bounding volume, and axis-aligned boxes, which every kind has around it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike

from choque._core import check
from choque._core import threads as thread_pool
from choque._core.kernel import kernel
from choque._core.rounding import add_down, add_up, multiply_down, multiply_up, narrow_down, narrow_up
from choque._core.types import F64, I32, Bools, Floats
from choque.errors import InvalidInput

PAIRS_PER_BODY = 8  # pairs tested in about the time that one body costs elsewhere: decides when a second thread pays


class Bounds(ABC):
    """Bounding volumes of one kind, one in each row; immutable.

    The arrays given to a constructor are held, not copied, if they are C-contiguous and of one float type. Do not
    write to them afterwards: the volumes would change.

    Two volumes overlap in the *closed* topology when they share a point, so that touching counts, and in
    the *half-open* one (``closed=False``) when they share more than their surface. Every kind is
    conservative: two bodies that touch have closed volumes that overlap, in spite of rounding.
    """

    _fields: ClassVar[tuple[str, ...]]  #: Names of the arrays; the first axis of each is the row.

    _overlap_kernel: ClassVar[Callable[..., None]]
    """Called as ``(first, last, pairs, one, other, closed, result)``; both sides are what `_operands` returns."""

    @classmethod
    @abstractmethod
    def fit(cls, points: ArrayLike, starts: ArrayLike | None = None) -> Self:
        """Return volumes around groups of points: (n, p, d), or (total, d) with the ``starts`` (n + 1,) of each."""

    @classmethod
    def unchecked(cls, *arrays: Floats) -> Self:
        """Return volumes that hold ``arrays`` without checks.

        The arrays must be valid for the constructor, C-contiguous and of one float type.
        """
        value = cls.__new__(cls)
        value._hold(*arrays)
        return value

    @abstractmethod
    def boxes(self) -> Boxes:
        """Return the axis-aligned box around each volume."""

    @abstractmethod
    def _moved(self, rotation: F64, translation: F64) -> Self:
        """Implement `moved`; the arrays are checked: (1 or n, d, d) and (1 or n, d)."""

    @property
    def dimension(self) -> int:
        """Dimension of space: 2 or 3."""
        return int(self._first_array().shape[1])

    @property
    def dtype(self) -> np.dtype[np.floating[Any]]:
        """Float type of every array: float32 or float64."""
        return self._first_array().dtype

    def __len__(self) -> int:
        return len(self._first_array())

    def __repr__(self) -> str:
        return f"<{self._title()}: {len(self)} in {self.dimension}D, {self.dtype}>"

    def _repr_html_(self) -> str:
        from choque._core.notebook import boxes_picture, card

        boxes = self.boxes()
        facts: dict[str, object] = {"number": len(self), "dimension": self.dimension, "type": self.dtype}
        if len(self):
            facts |= {"from": boxes.lower.min(axis=0), "to": boxes.upper.max(axis=0)}
        return card(self._title(), facts, boxes_picture(boxes.lower, boxes.upper))

    def __eq__(self, other: object) -> bool:
        """Return whether the other has the same kind, float type and numbers."""
        if type(other) is not type(self):
            return NotImplemented
        return self.dtype == other.dtype and all(map(np.array_equal, self._arrays(), other._arrays()))

    __hash__ = None  # type: ignore[assignment]

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable; make another one instead of setting {name!r}.")

    def take(self, rows: ArrayLike) -> Self:
        """Return the volumes of these ``rows`` (m,), in that order."""
        chosen = check.rows(rows, "rows", len(self))
        return self.unchecked(*(array[chosen] for array in self._arrays()))

    def put(self, rows: ArrayLike, other: Self) -> Self:
        """Return a copy with ``rows`` (m,) replaced by those of ``other``; if a row is named twice, the last counts."""
        chosen = check.rows(rows, "rows", len(self))
        self._check_kin(other)
        if len(chosen) != len(other):
            raise InvalidInput(f"{len(chosen)} rows are to be replaced by {len(other)} volumes; the counts must agree.")
        copies = []
        for old, new in zip(self._arrays(), other._arrays(), strict=True):
            copy = old.astype(np.promote_types(old.dtype, new.dtype))
            copy[chosen] = new
            copies.append(copy)
        return self.unchecked(*copies)

    def join(self, other: Self) -> Self:
        """Return these volumes followed by the ``other`` ones."""
        self._check_kin(other)
        return self.unchecked(*map(np.concatenate, zip(self._arrays(), other._arrays(), strict=True)))

    def overlap(
        self, pairs: ArrayLike, other: Self | None = None, *, closed: bool = True, threads: int | None = None
    ) -> Bools:
        """Return which of the ``pairs`` overlap, (m,), in one compiled pass over the list.

        Parameters
        ----------
        pairs
            (m, 2) rows of these volumes; with ``other``, a row of these and a row of those.
        other
            Volumes of the same kind and dimension.
        closed
            Whether touching counts.
        threads
            Number of threads; None for all.
        """
        others = self if other is None else other
        self._check_kin(others)
        return self._test(check.pairs(pairs, "pairs", len(self), len(others)), others, closed, threads)

    def overlap_with(self, other: Self, *, closed: bool = True, threads: int | None = None) -> Bools:
        """Return whether each row overlaps the same row of ``other``, (n,)."""
        self._check_kin(other)
        if len(self) != len(other):
            raise InvalidInput(f"{len(self)} volumes cannot be tested row by row against {len(other)}.")
        rows = np.arange(len(self), dtype=np.int32)
        return self._test(np.stack((rows, rows), axis=1), other, closed, threads)

    def moved(self, rotation: ArrayLike | None = None, translation: ArrayLike | None = None) -> Self:
        """Return volumes that contain these after every point x moved to ``rotation`` x + ``translation``.

        Rounding goes outward; a kind that cannot turn becomes larger.

        Parameters
        ----------
        rotation
            One matrix (d, d) for all, one for each row (n, d, d), or None. Its rows must be orthonormal.
        translation
            One vector (d,) for all, one for each row (n, d), or None.
        """
        size = self.dimension
        turn = self._one_or_each(np.eye(size) if rotation is None else rotation, "rotation", (size, size))
        shift = self._one_or_each(np.zeros(size) if translation is None else translation, "translation", (size,))
        check.orthonormal(turn, "rotation")
        check.finite(shift, "translation")
        return self._moved(turn, shift)

    def swept(self, displacement: ArrayLike) -> Self:
        """Return volumes that contain these all along a ``displacement``: (d,) for all, or (n, d).

        Boxes and k-DOPs are the smallest of their kind, up to rounding, which goes outward; spheres and oriented
        boxes are larger.
        """
        way = self._one_or_each(displacement, "displacement", (self.dimension,))
        check.finite(way, "displacement")
        return self._swept(np.broadcast_to(way, (len(self), self.dimension)))

    @abstractmethod
    def _swept(self, way: F64) -> Self:
        """Implement `swept`; the array (n, d) is checked."""

    def _one_or_each(self, given: ArrayLike, name: str, shape: tuple[int, ...]) -> F64:
        array = check.floats(given, name).astype(np.float64, copy=False)
        if array.shape == shape:
            return array.reshape(1, *shape)
        if array.shape == (len(self), *shape):
            return array
        raise InvalidInput(f"{name} has the shape {array.shape}; it must be {shape} or {(len(self), *shape)}.")

    def _test(self, pairs: I32, other: Self, closed: bool, threads: int | None) -> Bools:
        is_closed, result = check.boolean(closed, "closed"), np.empty(len(pairs), dtype=np.bool_)
        own, others = self._operands(), other._operands()
        if self.dtype != other.dtype:
            wide = np.empty(0, np.float64)
            own, others = (type(side)(*check.widest(*side, wide)[:-1]) for side in (own, others))
        count = thread_pool.resolve_count(threads, len(pairs) // PAIRS_PER_BODY)
        thread_pool.over_ranges(self._overlap_kernel, len(pairs), count, pairs, own, others, is_closed, result)
        return result

    def _first_array(self) -> Floats:
        array: Floats = self.__dict__[self._fields[0]]
        return array

    def _arrays(self) -> tuple[Floats, ...]:
        return tuple(self.__dict__[name] for name in self._fields)

    @abstractmethod
    def _operands(self) -> Any:
        """Return the arrays as the overlap kernel takes them: a named tuple."""

    def _hold(self, *arrays: Floats) -> None:
        self.__dict__.update(zip(self._fields, arrays, strict=True))

    def _title(self) -> str:
        return type(self).__name__

    def _check_kin(self, other: Bounds) -> None:
        if not isinstance(other, Bounds):
            raise InvalidInput(f"{type(other).__name__} is not a kind of bounds; give {self._title()}.")
        if self._title() != other._title() or self.dimension != other.dimension:
            raise InvalidInput(
                f"{self._title()} in {self.dimension}D and {other._title()} in {other.dimension}D "
                "do not go together; both must be of one kind and dimension."
            )


class Slabs(NamedTuple):
    """The ends of intervals along m directions, each (n, m)."""

    lower: Any
    upper: Any


@kernel
def overlap_slabs(first: int, last: int, pairs: I32, one: Slabs, other: Slabs, closed: bool, result: Bools) -> None:
    """Test whether the intervals of ``pairs[first:last]`` overlap along every direction; exact, as it only compares.

    O(1) memory and at most m interval tests for a pair; the first direction that separates ends the test.
    """
    lower_a, upper_a, lower_b, upper_b = one.lower, one.upper, other.lower, other.upper
    for index in range(first, last):
        a, b = pairs[index, 0], pairs[index, 1]
        meet = True
        for axis in range(lower_a.shape[1]):
            if closed:
                meet = lower_a[a, axis] <= upper_b[b, axis] and lower_b[b, axis] <= upper_a[a, axis]
            else:
                meet = lower_a[a, axis] < upper_b[b, axis] and lower_b[b, axis] < upper_a[a, axis]
            if not meet:
                break
        result[index] = meet


class SlabBounds(Bounds):
    """Volumes made of the intervals from ``lower`` to ``upper``, both (n, m), along m directions."""

    lower: Floats
    upper: Floats

    _fields = ("lower", "upper")
    _overlap_kernel = staticmethod(overlap_slabs)

    def _operands(self) -> Slabs:
        return Slabs(self.lower, self.upper)

    @classmethod
    def written(cls, shape: tuple[int, ...], dtype: Any, write: Callable[..., None], *arguments: object) -> Self:
        """Return the intervals (n, m) that ``write(*arguments, lower, upper)`` writes in float64, rounded outward."""
        lower, upper = np.empty(shape), np.empty(shape)
        write(*arguments, lower, upper)
        return cls.unchecked(narrow_down(lower, dtype), narrow_up(upper, dtype))


class Boxes(SlabBounds):
    """Axis-aligned boxes: all points between ``lower`` and ``upper``, both (n, 2) or (n, 3).

    Closed boxes overlap when ``lower_i <= upper_j`` and the reverse on every axis; half-open ones with ``<``. The test
    only compares, so it is exact. Boxes of no size and of infinite extent are legal; NaN and ``lower > upper`` are not.
    """

    def __init__(self, lower: ArrayLike, upper: ArrayLike) -> None:
        low, high = check.widest(check.coordinates(lower, "lower"), check.coordinates(upper, "upper"))
        check_boxes(low, high)
        self._hold(low, high)

    @classmethod
    def fit(cls, points: ArrayLike, starts: ArrayLike | None = None) -> Self:
        """Return the smallest boxes around groups of points: exact.

        Parameters
        ----------
        points
            Finite numbers (n, p, d), or (total, d) with ``starts``.
        starts
            The row where each ragged group starts, and the number of points at the end: (n + 1,).
        """
        flat, rows = check.groups(points, starts)
        if len(rows) == 1:
            return cls.unchecked(flat, flat.copy())
        return cls.unchecked(np.minimum.reduceat(flat, rows[:-1]), np.maximum.reduceat(flat, rows[:-1]))

    def boxes(self) -> Boxes:
        """Return the boxes themselves."""
        return self

    def _moved(self, rotation: F64, translation: F64) -> Self:
        return self.written(self.lower.shape, self.dtype, move_boxes, self.lower, self.upper, rotation, translation)

    def _swept(self, way: F64) -> Self:
        return self.unchecked(*swept_slabs(self.lower, self.upper, way))


@kernel
def move_boxes(
    lower: Floats, upper: Floats, rotation: F64, translation: F64, moved_lower: F64, moved_upper: F64
) -> None:
    """Write the box around each turned box, in interval arithmetic (Arvo, Graphics Gems, 1990).

    With directions (1, m, d) as ``rotation``, write the extent along each of them.
    """
    for row in range(lower.shape[0]):
        turn, shift = row if rotation.shape[0] > 1 else 0, row if translation.shape[0] > 1 else 0
        for slab in range(rotation.shape[1]):
            low = high = 0.0
            for axis in range(rotation.shape[2]):
                factor = rotation[turn, slab, axis]
                if factor == 0:  # nearly half of the components of directions are
                    continue
                near, far = np.float64(lower[row, axis]), np.float64(upper[row, axis])
                if factor < 0:
                    near, far = far, near
                low = add_down(low, multiply_down(factor, near))
                high = add_up(high, multiply_up(factor, far))
            moved_lower[row, slab] = add_down(low, translation[shift, slab])
            moved_upper[row, slab] = add_up(high, translation[shift, slab])


def check_boxes(lower: Floats, upper: Floats) -> None:
    """Raise `InvalidInput` unless both have one shape and ``lower <= upper`` everywhere, which NaN never is."""
    check.shape(upper, "upper", lower.shape, "lower")
    if _are_ordered(lower.reshape(-1), upper.reshape(-1)):
        return
    row, column = (int(index) for index in np.argwhere(~(lower <= upper))[0])
    low, high = lower[row, column], upper[row, column]
    problem = "is not a number" if np.isnan(low) or np.isnan(high) else "has lower > upper"
    raise InvalidInput(f"Row {row} {problem}: {low!s} to {high!s} in column {column}; rows and columns count from 0.")


@kernel
def _are_ordered(lower: Floats, upper: Floats) -> bool:
    """Tell whether ``lower <= upper`` throughout two flat arrays; counting vectorises, leaving early does not."""
    good = 0
    for k in range(lower.size):
        good += lower[k] <= upper[k]
    return good == lower.size


def swept_slabs(lower: Floats, upper: Floats, way: F64) -> tuple[Floats, Floats]:
    """Stretch intervals (n, m) along ``way`` (n, m): each contains itself at the start and at the end.

    Sums are rounded outward by at most one step, and only where they are not exact.
    """
    low = np.minimum(lower, _sum(lower, way, -np.inf))
    high = np.maximum(upper, _sum(upper, way, np.inf))
    return narrow_down(low, lower.dtype), narrow_up(high, upper.dtype)


def _sum(ends: Floats, way: F64, outward: float) -> F64:
    """Return ``ends`` + ``way`` in float64, one step towards ``outward`` where rounding went the other way."""
    wide = ends.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        total = wide + way
        # Knuth's TwoSum: the exact error of the addition; 0 for an infinite end.
        part = total - wide
        lost = (wide - (total - part)) + (way - part)
        total = np.where(lost * np.sign(outward) > 0, np.nextafter(total, outward), total)
    # A sum that overflows on the inner side becomes the largest float.
    largest = np.finfo(np.float64).max
    inner = np.isinf(total) & np.isfinite(wide) & (np.sign(total) != np.sign(outward))
    return np.where(inner, np.copysign(largest, total), total)
