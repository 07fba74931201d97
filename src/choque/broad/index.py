"""What a broad-phase method is: an index over boxes that writes their overlapping pairs.

An index sees rows (0 … n − 1, the living bodies in ascending id) and their records (`choque._core.records`). Ids,
checks, copies, began and ended belong to the set that holds it, `choque.broad.BroadPhase`. The smallest index writes
`Index.build` and `Index.emit`; one that follows motion also writes `Index.update` or `Index.move`.

    class MyIndex(Index):
        name = "my-index"

        def build(self) -> None:
            self._order = np.argsort(self.records[:, 0])

        def emit(self, sink: Sink) -> None:
            sink.run(my_kernel, len(self), self.records, self._order)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core import check
from choque._core import threads as _threads
from choque._core.counters import Counters
from choque._core.emission import Sink
from choque._core.pair_keys import PairFilter
from choque._core.pair_sets import Change
from choque._core.records import pack_records
from choque._core.registry import Registry
from choque._core.sort import sorted_pairs, without_duplicates
from choque._core.types import Floats, Pairs, Rows
from choque.errors import UnknownName

if TYPE_CHECKING:
    from choque._core.rows import Rows as Cells
    from choque._core.tree import Tree
    from choque.bounds import Bounds
    from choque.broad.structure import Structure

_NO_RECORDS: Floats = np.empty((0, 6))

SHARED_OPTIONS = ("closed", "threads", "groups", "masks", "static")
"""The options of every method, which `BroadPhase` takes."""


@dataclass(slots=True)
class BoxTable:
    """The bodies as an index sees them: one row for each living body. Nothing in it is changed by an index."""

    records: Floats  # (n, 6) float32 or float64: the boxes, see `choque._core.records`
    dimension: int  # 2 or 3
    closed: bool = True  # Whether touching boxes overlap. The records say so already: ``<=`` tests both topologies.
    threads: int | None = None  # the number of threads requested; None for all
    pair_filter: PairFilter | None = None  # which bodies may be a pair; None if all may
    # the bounds that the records are the boxes of, for an index with ``keeps_bounds``; otherwise None
    bounds: Bounds | None = None
    # (k,) ascending: rows of bodies that were removed and are still in the records. The set drops their pairs, so an
    # index may ignore it; they are few.
    removed: Rows = field(default_factory=lambda: np.empty(0, np.int64))

    def __len__(self) -> int:
        return len(self.records)

    def thread_count(self, work: int | None = None) -> int:
        """Return how many threads to use for ``work`` bodies, all of them if None."""
        return _threads.resolve_count(self.threads, len(self.records) if work is None else work)


class Index(ABC):
    """A broad-phase method. Its constructor takes the method's own options, keyword-only, and no bodies.

    An index makes new arrays when it is built or updated and keeps the old ones as they are: a shallow copy made
    before is then the state before, which still answers, and to which a failed change returns.
    """

    name: ClassVar[str]  #: The method's name in the registry, the command line, scene files and reports.

    keeps_bounds: ClassVar[bool] = False
    """True if the index reads ``table.bounds``, such as oriented boxes or k-DOPs; then `pairs` may refine `emit`."""

    suited_bounds: ClassVar[str] = "box"
    """The bounds that worlds give it unless others are asked for, a name of `choque.world.bounds_names`."""

    repeats_pairs: bool = False  #: True if `emit` may write the same pair more than once.
    table: BoxTable  #: The bodies now; set before `build`, `update` and `move` are called.
    counters: Counters  #: Shared with the set that holds the index.

    def __init__(self) -> None:  # noqa: B027  (it refuses options)
        """Take no options."""

    # What a method writes

    @abstractmethod
    def build(self) -> None:
        """Make the structure over ``self.table`` from scratch, in new arrays."""

    @abstractmethod
    def emit(self, sink: Sink) -> None:
        """Write every overlapping pair of rows to ``sink``, smaller row first."""

    # What a method may write

    def update(self, previous: Floats) -> Change | None:  # noqa: ARG002
        """Follow new boxes of all bodies, whose records were ``previous``.

        Return the net change of the pairs, in rows, if it comes for free; then arrays may be changed in place.
        Otherwise make new arrays and return None.
        """
        self.build()
        return None

    def move(self, rows: Rows, previous: Floats) -> Change:
        """Follow new boxes in these ``rows`` (k,), ascending, whose records were ``previous`` (k, 6).

        Return the net change of the pairs, in rows. An index that does not override it is updated instead, with a
        copy of all records; override it so that a move costs only what moved.
        """
        raise NotImplementedError

    def remove(self, rows: Rows) -> Change | None:  # noqa: ARG002
        """Follow the removal of the bodies in these ``rows`` (k,), ascending; ``table.removed`` has them already.

        Return the pairs that ended, in rows, if they come for free; then arrays may be changed in place. Otherwise
        leave everything as it is and return None: the set drops the pairs of removed bodies.
        """
        return None

    def add(self, rows: Rows) -> Change:
        """Follow bodies that come into these ``rows`` (k,), ascending, which were removed; the table has them already.

        Return the pairs that began, in rows. An index that does not override it is built again instead.
        """
        raise NotImplementedError

    def pack(self, bounds: Bounds, closed: bool, threads: int) -> Floats:
        """Return new records (n, 6) of ``bounds``; called before `build` and `update`, on the index they start from.

        Override it to keep what else comes out of the same pass over ``bounds``.
        """
        return pack_records(bounds.boxes(), closed, threads)

    def pairs(self) -> Pairs:
        """Return all pairs of rows, sorted, each once. Override it to refine what `emit` writes."""
        sink = self.make_sink(keep=True)
        self.emit(sink)
        self.account(sink)
        found = sorted_pairs(sink.chunks, len(self), self.thread_count(), repeats=self.repeats_pairs)
        if self.repeats_pairs:
            written = len(found)
            found = without_duplicates(found)
            self.counters.duplicates += written - len(found)
        return found

    def structure(self) -> Structure:
        """Return a view of the structure for drawing and tests, in rows; empty for an index that has none."""
        from choque.broad.structure import Structure

        return Structure(self.name)

    def cell_rows(self) -> Cells | None:
        """Return the boxes in rows of cells if the index keeps them so, for questions about many other boxes."""
        return None

    def tree(self) -> Tree | None:
        """Return the wide tree over the records if the index keeps one, for queries."""
        return None

    @property
    def byte_count(self) -> int:
        """The bytes of the records and of the index's own arrays; add those inside other objects."""
        count = self.table.records.nbytes
        for value in self.__dict__.values():
            if type(value) is np.ndarray:
                count += value.nbytes
        return count

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what the next answer depends on beside the boxes, as arrays by name; nothing for most indices."""
        return {}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:  # noqa: B027
        """Continue from what `state` returned for the same bodies."""

    # What every method has

    @property
    def records(self) -> Floats:
        """(n, 6) the boxes now."""
        return self.table.records

    def __len__(self) -> int:
        return len(self.table.records)

    def __bool__(self) -> bool:
        return True

    def __copy__(self) -> Self:
        # What copy.copy does by default, in a tenth of the time.
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__dict__)
        return twin

    @classmethod
    def options(cls) -> list[str]:
        """List the names of the method's own options."""
        import inspect

        own: list[str] = []
        for kind in cls.__mro__:
            if "__init__" in vars(kind) and issubclass(kind, Index):
                parameters = inspect.signature(kind).parameters.values()
                own += [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.name not in own]
        return own

    @classmethod
    def with_options(cls, options: Mapping[str, Any]) -> tuple[Self, dict[str, Any]]:
        """Return an index with the method's own ``options``, and the shared ones, which `BroadPhase` takes."""
        shared = {name: value for name, value in options.items() if name in SHARED_OPTIONS}
        try:
            return cls(**{name: value for name, value in options.items() if name not in shared}), shared
        except TypeError as problem:
            unknown = _unexpected_option(problem)
            if unknown is None:
                raise
            raise UnknownName(f"option of {cls.name!r}", unknown, [*cls.options(), *SHARED_OPTIONS]) from None

    def thread_count(self, work: int | None = None) -> int:
        """Return how many threads to use for ``work`` bodies, all of them if None."""
        return self.table.thread_count(work)

    def over(self, table: BoxTable, counters: Counters | None = None) -> Self:
        """Return a copy of this index, with its options, built over ``table``."""
        index = self.__copy__()
        index.table = table
        index.counters = Counters() if counters is None else counters
        index.build()
        return index

    def over_bounds(
        self,
        bounds: Bounds,
        *,
        closed: bool = True,
        threads: int | None = None,
        groups: ArrayLike | None = None,
        masks: ArrayLike | None = None,
        static: ArrayLike | None = None,
        counters: Counters | None = None,
        allowed: PairFilter | None = None,
    ) -> Self:
        """Return a copy of this index, with its options, built over bounding volumes, with the options of a set.

        ``allowed`` is a filter that is made already, in place of groups, masks and static flags.
        """
        table = BoxTable(
            _NO_RECORDS,
            bounds.dimension,
            check.boolean(closed, "closed"),
            threads,
            allowed or PairFilter.make(len(bounds), groups, masks, static),
            bounds if self.keeps_bounds else None,
        )
        table.records = self.pack(bounds, table.closed, table.thread_count(len(bounds)))
        built = self.over(table, counters)
        built.note_bytes()
        return built

    def after(self, table: BoxTable) -> tuple[Self, Change | None]:
        """Return a copy of this index that has followed its bodies to ``table``, and what `update` returned."""
        index = self.__copy__()
        index.table = table
        change = index.update(self.table.records)
        return index, change

    def make_sink(self, keep: bool) -> Sink:
        """Return a sink for `emit`, which collects pairs or, with ``keep`` False, counts them."""
        return Sink(len(self), self.thread_count(), self.table.pair_filter, keep)

    def account(self, sink: Sink) -> None:
        """Add what ``sink`` counted to the counters."""
        self.counters.tests += sink.tests
        self.note_bytes(sink.held_bytes)

    def note_bytes(self, extra: int = 0) -> None:
        """Record the bytes held now, and ``extra`` bytes of working arrays, if they are more than ever before."""
        counters, held = self.counters, self.byte_count + extra
        if held > counters.peak_bytes:
            counters.peak_bytes = held

    def meeting(self, found: Pairs) -> Pairs:
        """Return the pairs of rows of ``found`` whose own bounds overlap, not only the boxes around them."""
        bounds = self.table.bounds
        if bounds is None or not len(found):
            return found
        with self.counters.filtering(len(found)):
            return found[bounds.overlap(found, closed=self.table.closed, threads=self.table.threads)]


methods: Registry[type[Index]] = Registry(
    "broad-phase method",
    {
        "all": "choque.broad.brute:AllPairs",
        "auto": "choque.broad.auto:Auto",
        "brute": "choque.broad.brute:Brute",
        "bvh": "choque.broad._bvh:Bvh",
        "grid": "choque.broad._grid:Grid",
        "sap-direct": "choque.broad.sap_direct:SapDirect",
        "sap-incremental": "choque.broad.sap_incremental:SapIncremental",
        "sap-kdop": "choque.broad.sap_kdop:SapKdop",
    },
    group="choque.broad",
    fits=lambda thing: isinstance(thing, type) and issubclass(thing, Index),
    wanted="a subclass of choque.broad.Index",
    listed_by="choque methods",
)


def register(method: type[Index]) -> type[Index]:
    """Make ``method`` known in this process under its ``name``, and return it; usable as a class decorator."""
    return methods.register(getattr(method, "name", ""), method)


def names() -> list[str]:
    """List the names of all methods, in alphabetical order."""
    return methods.names()


def find(name: str) -> type[Index]:
    """Return the class of the method ``name``."""
    return methods.find(name)


def _unexpected_option(problem: TypeError) -> str | None:
    """Return the keyword argument that a constructor does not have; None if the error is another one."""
    marker = "unexpected keyword argument "
    text = str(problem)
    return text.partition(marker)[2].strip("'\"").partition("'")[0] if marker in text else None
