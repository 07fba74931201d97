"""The contract of every kind of bounding volume, on which the broad phases rely."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core import check
from choque._core import threads as thread_pool
from choque._core.types import Floats
from choque.errors import InvalidInput

if TYPE_CHECKING:
    from choque.bounds._boxes import Boxes

PAIRS_PER_BODY = 8
"""Pairs tested in about the time that one body costs elsewhere: decides when a second thread pays."""


class Bounds(ABC):
    """Bounding volumes of one kind, one in each row; immutable.

    The arrays given to a constructor are held, not copied, if they are C-contiguous and of one float type. Do not
    write to them afterwards: the volumes would change.

    Two volumes overlap in the *closed* topology when they share a point, so that touching counts, and in
    the *half-open* one (``closed=False``) when they share more than their surface. Every kind is
    conservative: two bodies that touch have closed volumes that overlap, in spite of rounding.
    """

    _fields: ClassVar[tuple[str, ...]]
    """Names of the arrays; the first axis of each is the row."""

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
    def _moved(self, rotation: NDArray[np.float64], translation: NDArray[np.float64]) -> Self:
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
    ) -> NDArray[np.bool_]:
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
        if other is None:
            return self._test(check.pairs(pairs, "pairs", len(self)), self, closed, threads)
        self._check_kin(other)
        chosen = check.pairs(pairs, "pairs", max(len(self), len(other)))
        for column, volumes in enumerate((self, other)):
            if len(chosen) and len(self) != len(other) and chosen[:, column].max() >= len(volumes):
                raise InvalidInput(
                    f"Column {column} of pairs names row {chosen[:, column].max()}; "
                    f"there are {len(volumes)} volumes on that side."
                )
        return self._test(chosen, other, closed, threads)

    def overlap_with(self, other: Self, *, closed: bool = True, threads: int | None = None) -> NDArray[np.bool_]:
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
    def _swept(self, way: NDArray[np.float64]) -> Self:
        """Implement `swept`; the array (n, d) is checked."""

    def _one_or_each(self, given: ArrayLike, name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
        array = check.floats(given, name).astype(np.float64, copy=False)
        if array.shape == shape:
            return array.reshape(1, *shape)
        if array.shape == (len(self), *shape):
            return array
        raise InvalidInput(f"{name} has the shape {array.shape}; it must be {shape} or {(len(self), *shape)}.")

    def _test(self, pairs: NDArray[np.int32], other: Self, closed: bool, threads: int | None) -> NDArray[np.bool_]:
        result = np.empty(len(pairs), dtype=np.bool_)
        own, others = self._operands(), other._operands()
        if self.dtype != other.dtype:
            wide = np.empty(0, np.float64)
            own, others = (type(side)(*check.widest(*side, wide)[:-1]) for side in (own, others))
        count = thread_pool.resolve_count(threads, len(pairs) // PAIRS_PER_BODY)
        thread_pool.over_ranges(self._overlap_kernel, len(pairs), count, pairs, own, others, bool(closed), result)
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
