"""The contract of a broad phase: what every method offers, and the few hooks that a method writes.

A method sees rows (0 … n − 1, the living bodies in ascending id) and records (see `choque._core.records`).
Everything else is done here once: ids, checking, filters, began and ended, counters, copies. The smallest method
writes `_build` and `_emit`; one that follows motion also writes `_updated` or `_moved`.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core import threads as _threads
from choque._core.counters import Counters
from choque._core.emission import Sink
from choque._core.filter import PairFilter
from choque._core.ids import Identities
from choque._core.morton import morton_order
from choque._core.pair_sets import Change, apply_change, difference, no_pairs
from choque._core.records import PackedBoxes, pack_records, widened
from choque._core.sort import sorted_pairs, without_duplicates
from choque._core.tree import Tree, make_tree
from choque._core.tree_query import query_boxes
from choque._core.types import Floats, Pairs, Rows
from choque.bounds import Bounds
from choque.broad._structure import Structure
from choque.errors import InvalidInput

Frozen = TypeVar("Frozen", bound=NDArray[Any])
Method = TypeVar("Method", bound="BroadPhase")


class BroadPhase(ABC):
    """Keeps a set of bounding volumes and tells which of them overlap.

    Parameters
    ----------
    bounds
        The bodies; row i gets id i.
    closed
        True: touching counts (``lower <= upper`` on every axis). False: it does not (``<``).
    threads
        How many threads to use; None for all. The answer is the same for any number.
    groups, masks, static
        (n,) arrays or single values that say who may meet whom, see `choque.broad.PairFilter`.

    Notes
    -----
    One object is for one thread at a time; it can be copied and pickled.
    """

    name: ClassVar[str]
    """The method's name in the registry, the command line, scene files and reports."""

    uses_tighter_bounds: ClassVar[bool] = False
    """True if the method tests the bounds it was given; otherwise it works on the boxes around them."""

    repeats_pairs: bool = False
    """True if `_emit` may write the same pair more than once."""

    _records: Floats
    _bounds: Bounds | None

    def __init__(
        self,
        bounds: Bounds | PackedBoxes,
        *,
        closed: bool = True,
        threads: int | None = None,
        groups: ArrayLike | None = None,
        masks: ArrayLike | None = None,
        static: ArrayLike | None = None,
    ) -> None:
        if not isinstance(bounds, PackedBoxes):
            check_kind(bounds)
        if not isinstance(closed, bool | np.bool_):
            raise InvalidInput(f"closed is {closed!r}; it must be True or False.")
        self.closed = bool(closed)
        self.counters = Counters()
        self._requested_threads = threads
        self._dimension = bounds.dimension
        self._filter = PairFilter.make(len(bounds), groups, masks, static)
        self._identities = Identities.first(len(bounds))
        self._load(bounds)
        self._pairs: Pairs | None = None
        self._pending: list[Change] = []  # changes that `_pairs` has yet to follow
        self._change: Change | None = None
        self._previous: Self | None = None  # the state before the latest change; None: no bodies at all
        self._lookup: Tree | None = None
        self._build()
        self._note_bytes()

    # What a method writes

    @abstractmethod
    def _build(self) -> None:
        """Make the structure from ``self._records`` from scratch, in fresh arrays (a copy may hold the old ones)."""

    @abstractmethod
    def _emit(self, sink: Sink) -> None:
        """Write every overlapping pair of rows to ``sink``, smaller row first."""

    def _refine(self, found: Pairs) -> Pairs:
        """The pairs of rows of ``found``, whose boxes overlap, that overlap by the tighter bounds too."""
        return found

    def _updated(self, previous: Floats) -> Change | None:  # noqa: ARG002
        """Follow a new ``self._records``; the net change if it comes for free, else None."""
        self._build()
        return None

    follows_moves: ClassVar[bool] = False
    """True if the method writes `_moved`, so that `move` costs what moved and not what is there."""

    def _moved(self, rows: Rows, previous: Floats) -> Change:  # noqa: ARG002
        """Follow new records in these ``rows``, ascending, whose ``previous`` records are given; the net change."""
        raise TypeError(f"{type(self).__name__} says that it follows moves and does not say how.")

    # What a user calls

    def __len__(self) -> int:
        return len(self._identities.ids)

    def __repr__(self) -> str:
        topology = "closed" if self.closed else "half-open"
        return f"<{type(self).__name__} {self.name!r}: {len(self)} bodies in {self._dimension}D, {topology}>"

    @property
    def ids(self) -> NDArray[np.int32]:
        """The ids of the living bodies, ascending."""
        return _frozen(self._identities.ids)

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return self._dimension

    def pairs(self) -> Pairs:
        """All overlapping pairs of ids now: (m, 2) int32, smaller id first, sorted; read-only."""
        return _frozen(self.held_pairs())

    def count(self) -> int:
        """How many pairs there are now, without storing them."""
        if self._pairs is not None or self.repeats_pairs or self.uses_tighter_bounds:
            return len(self.held_pairs())
        sink = self._sink(keep=False)
        self._emit(sink)
        self._account(sink)
        return sink.pair_count

    @property
    def began(self) -> Pairs:
        """The pairs that overlap now and did not before the latest change: (k, 2) int32, sorted."""
        return _frozen(self._latest_change().began)

    @property
    def ended(self) -> Pairs:
        """The pairs that overlapped before the latest change and do not now: (k, 2) int32, sorted."""
        return _frozen(self._latest_change().ended)

    def update(self, bounds: Bounds) -> None:
        """Give every living body, in ascending id, a new volume."""
        self._check(bounds)
        if len(bounds) != len(self):
            raise InvalidInput(
                f"update was given {len(bounds)} volumes for {len(self)} living bodies; give one for each, "
                "in ascending id, or use move for some of them."
            )
        past = self._remember()
        previous = self._records
        self._load(bounds)
        self._finish(past, self._updated(previous))

    def move(self, ids: ArrayLike, bounds: Bounds) -> None:
        """Give the bodies ``ids``, each named once, new volumes; the others stay."""
        rows = self._identities.rows_of(ids)
        self._check(bounds)
        if len(bounds) != len(rows):
            raise InvalidInput(
                f"move was given {len(rows)} ids and {len(bounds)} volumes; give one volume for each id."
            )
        order = np.argsort(rows, kind="stable")
        rows, bounds = rows[order], bounds.take(order)
        if self.follows_moves and bounds.dtype.itemsize <= self._records.dtype.itemsize:
            previous = self._records[rows]
            self._replace(rows, bounds)
            self._finish(None, self._moved(rows, previous))
        else:
            past = self._remember()
            self._records = self._records.copy()
            self._replace(rows, bounds)
            self._finish(past, self._updated(past._records))

    def add(
        self,
        bounds: Bounds,
        *,
        groups: ArrayLike | None = None,
        masks: ArrayLike | None = None,
        static: ArrayLike | None = None,
    ) -> NDArray[np.int32]:
        """Add bodies and return their new ids; an id is never used again."""
        self._check(bounds)
        arriving = PairFilter.make(len(bounds), groups, masks, static)
        past = self._remember()
        self._load_joined(bounds)
        if self._filter is not None or arriving is not None:
            present = self._filter or PairFilter.open_to_all(len(self))
            self._filter = present.join(arriving or PairFilter.open_to_all(len(bounds)))
        self._identities, new = self._identities.joined(len(bounds))
        self._build()
        self._finish(past, None)
        return new

    def remove(self, ids: ArrayLike) -> None:
        """Take the bodies ``ids`` out."""
        rows = self._identities.rows_of(ids)
        past = self._remember()
        staying: Rows = np.delete(np.arange(len(self)), rows)
        if self._filter is not None:
            self._filter = self._filter.take(staying)
        self._identities = self._identities.kept(staying)
        self._records = np.ascontiguousarray(self._records[staying])
        if self._bounds is not None:
            self._bounds = self._bounds.take(staying)
        self._build()
        self._finish(past, None)

    def query(self, other: Bounds) -> Pairs:
        """Which volumes of ``other`` overlap which bodies: sorted (m, 2) rows of (row in other, id).

        The boxes around both are compared; groups, masks and static flags play no part.
        """
        self._check(other)
        records = pack_records(other.boxes(), self.closed, 1, self._records.dtype)
        found = query_boxes(self._query_tree(records.dtype), records, self._thread_count(len(records)))
        return self._with_ids(found)

    def structure(self) -> Structure:
        """What the method has built over the bodies as they are now, to be looked at: nothing, for some."""
        return Structure(self.name)

    def held_pairs(self) -> Pairs:
        """The array behind `pairs`, for those who hand it on to kernels, which take writable arrays: change nothing."""
        if self._pairs is None:
            self._pairs = self._identities.name(self._refine(self._found()))
        for change in self._pending:
            self._pairs = apply_change(self._pairs, change)
        self._pending = []
        return self._pairs

    def copy(self) -> Self:
        """An independent copy."""
        return copy.deepcopy(self)

    # The machinery

    @classmethod
    def _standing_in(cls, other: BroadPhase) -> Self:
        """The method at its default options over the bodies of ``other``, whose filter and counters it shares."""
        engine = cls.__new__(cls)
        for name in ("closed", "counters", "_requested_threads", "_dimension", "_filter", "_identities", "_records"):
            setattr(engine, name, getattr(other, name))
        engine._bounds = engine._pairs = engine._change = engine._previous = engine._lookup = None
        engine._pending = []
        engine._build()
        return engine

    def _load(self, bounds: Bounds | PackedBoxes) -> None:
        if isinstance(bounds, PackedBoxes):
            self._bounds, self._records = None, bounds.records
            return
        self._bounds = bounds if self.uses_tighter_bounds else None
        self._records = pack_records(bounds.boxes(), self.closed, self._thread_count(len(bounds)))

    def _load_joined(self, bounds: Bounds) -> None:
        if self._bounds is not None:
            self._bounds = self._bounds.join(bounds)  # first, as it may refuse: then nothing has changed
        arriving = pack_records(bounds.boxes(), self.closed, 1, self._records.dtype)
        self._widen(arriving.dtype)
        self._records = np.concatenate((self._records, arriving))

    def _replace(self, rows: Rows, bounds: Bounds) -> None:
        if self._bounds is not None:
            self._bounds = self._bounds.put(rows, bounds)
        arriving = pack_records(bounds.boxes(), self.closed, 1, self._records.dtype)
        self._widen(arriving.dtype)
        self._records[rows] = arriving

    def _widen(self, dtype: Any) -> None:
        if dtype.itemsize > self._records.dtype.itemsize:
            self._records = widened(self._records, self.closed, dtype)

    def _found(self) -> Pairs:
        """The sorted pairs of rows that `_emit` writes, each once."""
        sink = self._sink(keep=True)
        self._emit(sink)
        self._account(sink)
        found = sorted_pairs(sink.chunks, len(self), self._thread_count())
        if self.repeats_pairs:
            raw = len(found)
            found = without_duplicates(found)
            self.counters.duplicates += raw - len(found)
        return found

    def _tighter(self, found: Pairs) -> Pairs:
        """The pairs of rows of ``found`` whose own bounds overlap: one compiled pass over the list."""
        if self._bounds is None or not len(found):
            return found
        with self.counters.filtering(len(found)):
            return found[self._bounds.overlap(found, closed=self.closed, threads=self._requested_threads)]

    def _latest_change(self) -> Change:
        if self._change is None:
            before = no_pairs() if self._previous is None else self._previous.held_pairs()
            self._change = difference(before, self.held_pairs())
        return self._change

    def _remember(self) -> Self:
        """The present state: a shallow copy shares all arrays, and changes make fresh ones."""
        past = shallow_copy(self)
        past._previous = None  # one step back is enough: keep no chain of states
        return past

    def _finish(self, past: Self | None, change: Change | None) -> None:
        if change is None:
            self._pairs, self._pending = None, []
        else:
            change = Change(self._identities.name(change.began), self._identities.name(change.ended))
            past = None
            if self._pairs is not None:
                self._pending = [*self._pending, change]
        self._previous, self._change, self._lookup = past, change, None
        self._note_bytes()

    def _with_ids(self, found: Pairs) -> Pairs:
        """Answers (question, row) as (question, id), in place."""
        found[:, 1] = self._identities.ids[found[:, 1]]
        return found

    def _check(self, bounds: Bounds) -> None:
        check_kind(bounds)
        if bounds.dimension != self._dimension:
            raise InvalidInput(
                f"The volumes given are {bounds.dimension}D and the broad phase is {self._dimension}D; they must agree."
            )

    def _thread_count(self, work: int | None = None) -> int:
        return _threads.resolve_count(self._requested_threads, len(self) if work is None else work)

    def _sink(self, keep: bool) -> Sink:
        return Sink(len(self), self._thread_count(), self._filter, keep)

    def _account(self, sink: Sink) -> None:
        self.counters.tests += sink.tests
        self._note_bytes(sink.held_bytes)

    def _note_bytes(self, extra: int = 0) -> None:
        """Record what is held now: the arrays of the structure, and ``extra`` bytes of working arrays."""
        held = extra
        for name, value in vars(self).items():
            if type(value) is np.ndarray and name != "_pairs":
                held += value.nbytes
        self.counters.note_bytes(held)

    def _query_tree(self, dtype: Any) -> Tree:
        """A tree over the present records, at least as wide as ``dtype``, made when first asked for."""
        if self._lookup is None or self._lookup.lanes.dtype.itemsize < dtype.itemsize:
            records = self._records
            if records.dtype.itemsize < dtype.itemsize:
                records = widened(records, self.closed, dtype)
            self._lookup = make_tree(records, morton_order(records, self._thread_count()), self._thread_count())
        return self._lookup


def shallow_copy(method: Method) -> Method:
    """A copy that shares everything with ``method``; `copy.copy` does the same in ten times the time."""
    twin = type(method).__new__(type(method))
    twin.__dict__.update(method.__dict__)
    return twin


def check_kind(bounds: object) -> None:
    """Raise `InvalidInput` unless ``bounds`` are bounding volumes."""
    if not isinstance(bounds, Bounds):
        raise InvalidInput(
            f"A {type(bounds).__name__} was given as bounds; give choque.bounds.Boxes(lower, upper), say."
        )


def _frozen(array: Frozen) -> Frozen:
    view = array.view()
    view.flags.writeable = False
    return view
