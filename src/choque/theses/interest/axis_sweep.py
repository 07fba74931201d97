"""The sweep of the thesis on areas of interest: fewer axes than there are, and an order that insertion repairs."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import ClassVar

import numpy as np

from choque._core.pair_sets import Change
from choque._core.types import Floats
from choque.broad.sap_direct import SapDirect
from choque.broad.sweep_order import order_of, repair_order, widest_axis
from choque.errors import InvalidInput, UnknownName

_SORTS = ("radix", "library", "insertion")
_NAMES = "xyz"


class SapAxes(SapDirect):
    """A direct sweep that tests only some axes: the configurations SaP1, SaP2 and SaP3 of the thesis.

    Parameters
    ----------
    axes
        The axes that are tested: a number of axes counted from x, names such as ``"xz"``, or a sequence of numbers;
        None for all. Fewer axes give more pairs: those that overlap on every tested axis.
    sort
        ``"insertion"``: axis and order are kept between updates, and the order is repaired by exchanges of neighbours
        (``counters.exchanges``). ``"radix"``: sort from scratch by counting. ``"library"``: by NumPy's stable sort.
    tiles
        As for `choque.broad.sap_direct.SapDirect`.

    Notes
    -----
    Guarantees: exact in both topologies with all axes, a superset with fewer; O(n) memory beside the answer. Insertion
    makes as many exchanges as the order has inversions: few from frame to frame, up to n²/2 if the order is reversed.
    """

    name: ClassVar[str] = "sap-axes"

    def __init__(
        self, *, axes: int | str | Sequence[int | str] | None = None, sort: str = "insertion", tiles: bool | None = None
    ) -> None:
        if sort not in _SORTS:
            raise UnknownName(f"sort of {self.name!r}", str(sort), _SORTS)
        super().__init__(tiles=tiles)
        self.axes = axes
        self.sort = sort

    def build(self) -> None:
        """Sort the boxes and arrange them for the sweep."""
        records = self._flattened()
        axis = widest_axis(records, self.table.dimension)
        values: Floats = np.ascontiguousarray(records[:, axis])
        if self.sort == "library":
            order = np.argsort(values, kind="stable").astype(np.uint32)
        else:
            order = order_of(values, self.thread_count())
        self.lay_out(records, axis, order)

    def update(self, previous: Floats) -> Change | None:
        """Repair the order by insertion, or sort again."""
        if self.sort != "insertion":
            return super().update(previous)
        records = self._flattened()
        order = self._order.copy()
        unlimited = len(order) ** 2
        self.counters.exchanges += repair_order(order, records[order, self._axis], unlimited)
        self.lay_out(records, self._axis, order)
        return None

    def _flattened(self) -> Floats:
        """Return the records with all boxes equal on the axes that are not tested."""
        dimension = self.table.dimension
        tested = _axis_numbers(self.axes, dimension)
        ignored = [axis for axis in range(dimension) if axis not in tested]
        if not ignored:
            return self.records
        records = self.records.copy()
        records[:, ignored] = 0
        records[:, [axis + 3 for axis in ignored]] = 0
        return records


def _axis_numbers(given: int | str | Sequence[int | str] | None, dimension: int) -> tuple[int, ...]:
    """Return the numbers of the tested axes, ascending."""
    if given is None:
        return tuple(range(dimension))
    if isinstance(given, Sequence):
        chosen = [_axis_number(part) for part in given]
    else:
        chosen = list(range(min(_axis_number(given), dimension + 1)))
    if not chosen or len({*chosen}) < len(chosen) or not {*chosen} <= {*range(dimension)}:
        names = ", ".join(_NAMES[:dimension])
        raise InvalidInput(
            f"axes is {given!r}; in {dimension}D it must be a number from 1 to {dimension}, some of the names {names} "
            f"such as {_NAMES[:2]!r}, some of the numbers from 0 to {dimension - 1}, or None for all."
        )
    return tuple(sorted(chosen))


def _axis_number(axis: int | str) -> int:
    """Return the number of ``axis``, −1 if there is no such axis."""
    if isinstance(axis, str):
        return _NAMES.find(axis) if len(axis) == 1 else -1
    return int(axis) if isinstance(axis, Integral) and not isinstance(axis, bool) else -1
