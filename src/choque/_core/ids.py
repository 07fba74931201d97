"""Ids and rows: an id names one body and is never used again; rows number the living bodies."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core import check
from choque._core.types import I32, Bools, Pairs, Rows
from choque.errors import InvalidInput

Array = TypeVar("Array", bound=NDArray[Any])


@dataclass(frozen=True)
class Identities:
    """Which body stands in which row: row k holds the k-th smallest living id."""

    ids: I32  # (n,) int32, ascending
    following: int  # the id that the next body gets; an id is never used again
    are_rows: bool = field(init=False)  # whether no body was ever removed, so that ids are rows

    def __post_init__(self) -> None:
        object.__setattr__(self, "are_rows", self.following == len(self.ids))

    @classmethod
    def first(cls, count: int) -> Identities:
        """Return the ids of the first ``count`` bodies: 0 … count − 1."""
        return cls(np.arange(count, dtype=np.int32), count)

    def joined(self, count: int) -> tuple[Identities, I32]:
        """Return a copy with ``count`` more bodies, and their ids."""
        new = np.arange(self.following, self.following + count, dtype=np.int32)
        return Identities(np.concatenate((self.ids, new)), self.following + count), new

    def kept(self, rows: Rows) -> Identities:
        """Return a copy with only the bodies of these ``rows``, ascending."""
        return Identities(self.ids[rows], self.following)

    def name(self, pairs: Pairs) -> Pairs:
        """Return pairs of rows as pairs of ids; sorted if the rows are."""
        return pairs if self.are_rows else self.ids[pairs]

    def rows_of(self, ids: ArrayLike) -> Rows:
        """Return the row of each of ``ids``; raise `InvalidInput` if one was removed, is unknown or given twice."""
        wanted = check.ids(ids)
        rows, alive = self._located(wanted)
        if not alive.all():
            raise no_body(int(wanted[~alive][0]))
        return rows

    def _located(self, wanted: NDArray[Any]) -> tuple[Rows, Bools]:
        """Return the row of each id, and whether there is one."""
        known = (wanted >= 0) & (wanted < self.following)
        if self.are_rows:
            return wanted.astype(np.int64), known
        if not len(self.ids):
            return np.zeros(wanted.size, np.int64), np.zeros(wanted.size, np.bool_)
        # Searched as int32: any other type would make a copy of all ids.
        places = np.searchsorted(self.ids, np.where(known, wanted, 0).astype(np.int32))
        rows = np.minimum(places, len(self.ids) - 1).astype(np.int64)
        return rows, known & (self.ids[rows] == wanted)


def no_body(number: int) -> InvalidInput:
    """Return the refusal of an id that no living body has."""
    return InvalidInput(f"No living body has the id {number}; ids come from adding bodies and end with remove.")


def frozen(array: Array) -> Array:
    """Return a view of ``array`` that cannot be written to."""
    view = array.view()
    view.flags.writeable = False
    return view
