"""The set of bodies behind every broad-phase method: ids, checks, filters, pairs, changes, queries, copies."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core.counters import Counters
from choque._core.ids import Identities, frozen
from choque._core.pair_keys import PairFilter
from choque._core.records import pack_records
from choque._core.threads import Gate, one_thread
from choque._core.types import I32, Floats, Pairs, Rows
from choque.bounds import Bounds
from choque.broad.index import BoxTable, Index, find
from choque.broad.state import State, living_rows, take, widened_records
from choque.errors import InvalidInput

if TYPE_CHECKING:
    from choque._core.tree_query import RayHits
    from choque.broad.structure import Structure


MIN_REMOVED, REMOVED_PER_ROOT = 64, 2
"""Removed bodies stay in the index until they are more than 64 + 2 √n: marking one costs as little as it then adds."""


class BroadPhase:
    """A set of bodies, each with a bounding volume, that reports which of them overlap.

    Parameters
    ----------
    bounds
        The bodies; row i gets id i.
    index
        The method, a new `Index` for each set; `choque.broad.create` takes a name instead.
    closed
        True: touching counts (``lower <= upper`` on every axis). False: it does not (``<``).
    threads
        The number of threads; None for all. The answer is the same for any number.
    groups, masks, static
        (n,) arrays or single values that say which bodies may be a pair, see `choque.broad.PairFilter`.

    Notes
    -----
    One object is for one thread at a time: `choque.errors.BusyObject` is raised if a second one enters it. It can be
    copied and pickled. A change that fails or is interrupted, by Ctrl-C or a lack of memory, leaves the set as it was.
    """

    def __init__(
        self,
        bounds: Bounds,
        index: Index,
        *,
        closed: bool = True,
        threads: int | None = None,
        groups: ArrayLike | None = None,
        masks: ArrayLike | None = None,
        static: ArrayLike | None = None,
    ) -> None:
        check_bounds(bounds)
        if not isinstance(index, Index):
            raise InvalidInput(
                f"The index of a BroadPhase is of type {type(index).__name__}; it must be a choque.broad.Index. "
                "choque.broad.create(name, bounds) takes the name of a method."
            )
        self.counters = Counters()
        self._gate = Gate()
        built = index.over_bounds(
            bounds, closed=closed, threads=threads, groups=groups, masks=masks, static=static, counters=self.counters
        )
        self._closed, self._threads, self._dimension = built.table.closed, threads, bounds.dimension
        self._state = State(built, Identities.first(len(bounds)))

    def __len__(self) -> int:
        return len(self._state.identities.ids) - len(self._state.index.table.removed)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        choice, topology = getattr(self.index, "choice", None), "closed" if self._closed else "half-open"
        chosen = "" if choice is None else f" ({choice.method})"
        return f"<BroadPhase {self.name!r}{chosen}: {len(self)} bodies in {self._dimension}D, {topology}>"

    def _repr_html_(self) -> str:
        from choque._core.notebook import boxes_picture, card

        state = self._state
        records = np.delete(state.index.records, state.index.table.removed, axis=0)
        facts: dict[str, object] = {"method": self.name, "bodies": len(self), "dimension": self._dimension}
        facts |= {"chosen": state.index.choice} if hasattr(state.index, "choice") else {}
        facts |= {"touching counts": self._closed}
        if state.pairs is not None and not state.pending and state.stale is None:
            facts |= {"pairs": len(state.pairs)}
        return card("Broad phase", facts, boxes_picture(records[:, :3], records[:, 3:]))

    @property
    def name(self) -> str:
        """The name of the method."""
        return self._state.index.name

    @property
    def index(self) -> Index:
        """The method with its structure over the present bodies, to be read: ``index.choice`` of ``auto``, say."""
        return self._compact().index

    @property
    def ids(self) -> I32:
        """(n,) int32: the ids of the living bodies, ascending; read-only."""
        return frozen(self._state.ids)

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return self._dimension

    @property
    def closed(self) -> bool:
        """Whether touching counts."""
        return self._closed

    # Pairs

    def pairs(self) -> Pairs:
        """Return all overlapping pairs of ids now: (m, 2) int32, smaller id first, sorted; read-only."""
        return frozen(self.held_pairs())

    @one_thread
    def held_pairs(self) -> Pairs:
        """Return the array behind `pairs`, for kernels, which take writable arrays; it must not be changed."""
        return self._valid().find_pairs()

    @one_thread
    def count(self) -> int:
        """Return the number of pairs now, without storing them."""
        state = self._valid()
        index = state.index
        if state.pairs is not None or index.repeats_pairs or index.keeps_bounds or index.table.removed.size:
            return len(state.find_pairs())
        sink = index.make_sink(keep=False)
        index.emit(sink)
        index.account(sink)
        return sink.pair_count

    @property
    @one_thread
    def began(self) -> Pairs:
        """The pairs that overlap now and did not before the latest change: (k, 2) int32, sorted."""
        return frozen(self._valid().latest_change().began)

    @property
    @one_thread
    def ended(self) -> Pairs:
        """The pairs that overlapped before the latest change and do not now: (k, 2) int32, sorted."""
        return frozen(self._valid().latest_change().ended)

    # Changes

    @one_thread
    def update(self, bounds: Bounds) -> None:
        """Give every living body, in ascending id, a new volume."""
        self._check(bounds)
        if len(bounds) != len(self):
            raise InvalidInput(
                f"update was given {len(bounds)} volumes for {len(self)} living bodies; give one for each, "
                "in ascending id, or use move for some of them."
            )
        state = self._valid()
        index = state.index
        old = index.table
        records = index.pack(bounds, self._closed, old.thread_count())
        kept = bounds if index.keeps_bounds else None
        table = BoxTable(records, self._dimension, self._closed, self._threads, old.pair_filter, kept)
        if not old.removed.size:
            self._follow(table)
            self._state.has_grown = False
            return
        living = living_rows(old)
        table.pair_filter = None if old.pair_filter is None else old.pair_filter.take(living)
        self._state = state.over(table, state.living(living))

    @one_thread
    def move(self, ids: ArrayLike, bounds: Bounds) -> None:
        """Give the bodies ``ids``, each named once, new volumes; the others stay."""
        state = self._valid()
        rows = state.rows_of(ids)
        self._check(bounds)
        if len(bounds) != len(rows):
            raise InvalidInput(
                f"move was given {len(rows)} ids and {len(bounds)} volumes; give one volume for each id."
            )
        order = np.argsort(rows, kind="stable")
        rows, bounds = rows[order], bounds.take(order)
        table = state.index.table
        kept = None if table.bounds is None else table.bounds.put(rows, bounds)
        arriving = pack_records(bounds.boxes(), self._closed, 1, table.records.dtype)
        if type(state.index).move is Index.move or arriving.dtype != table.records.dtype:
            records = widened_records(table, arriving.dtype, copied=True)
            records[rows] = arriving
            self._follow(replace(table, records=records, bounds=kept))
        else:
            self._move_in_place(rows, arriving, replace(table, bounds=kept))

    @one_thread
    def add(
        self,
        bounds: Bounds,
        *,
        groups: ArrayLike | None = None,
        masks: ArrayLike | None = None,
        static: ArrayLike | None = None,
    ) -> I32:
        """Add bodies and return their new ids; an id is never used again.

        The structure is built again. Not so if few bodies are added again and again to a tree (``bvh``, and ``auto``,
        which then takes one): from the fourth call on, until all bodies get new boxes, each call only touches what is
        near the new bodies.
        """
        self._check(bounds)
        state = self._valid()
        table, present = state.index.table, state.identities
        arriving_filter = PairFilter.make(len(bounds), groups, masks, static)
        arriving = pack_records(bounds.boxes(), self._closed, 1, table.records.dtype)
        has_room = 0 < len(bounds) <= state.spare and arriving.dtype == table.records.dtype
        if has_room and (table.pair_filter is not None or arriving_filter is None):
            return self._add_in_place(arriving, arriving_filter)
        if table.removed.size:
            living = living_rows(table)
            table, present = take(table, living), state.living(living)
        pair_filter = table.pair_filter
        if pair_filter is not None or arriving_filter is not None:
            present_filter = pair_filter or PairFilter.open_to_all(len(self))
            pair_filter = present_filter.join(arriving_filter or PairFilter.open_to_all(len(bounds)))
        kept = None if table.bounds is None else table.bounds.join(bounds)
        records = np.concatenate((widened_records(table, arriving.dtype), arriving))
        identities, new = present.joined(len(bounds))
        table = replace(table, records=records, pair_filter=pair_filter, bounds=kept)
        is_repeated = state.has_grown and 0 < len(bounds) <= len(self) ** 0.5
        makes_room = is_repeated and type(state.index).add is not Index.add
        latest = (state.with_room if makes_room else state.over)(table, identities)
        latest.has_grown = True
        self._state = latest
        return new

    def _add_in_place(self, arriving: Floats, pair_filter: PairFilter | None) -> I32:
        """Put bodies into the first spare rows and let the index follow; return their ids."""
        state, index = self._state, copy.copy(self._state.index)
        table, count = index.table, len(arriving)
        rows = np.arange(len(table) - state.spare, len(table) - state.spare + count)
        state.undo, state.is_valid = (rows, table.records[rows]), False
        table.records[rows] = arriving
        if table.pair_filter is not None:
            table.pair_filter.put(rows, pair_filter)
        index.table = replace(table, removed=np.setdiff1d(table.removed, rows, assume_unique=True))
        latest = state.after(index, index.add(rows))
        latest.spare = state.spare - count
        self._state = latest
        return state.identities.ids[rows]

    @one_thread
    def remove(self, ids: ArrayLike) -> None:
        """Remove the bodies ``ids``, at the cost of what is removed; now and then the structure is built again.

        Methods that remove in place, such as ``bvh``, find the pairs that ended from what the bodies touched; others
        make one pass over all pairs when `ended` is requested.
        """
        state = self._valid()
        rows = np.sort(state.rows_of(ids))
        table = state.index.table
        marked = replace(table, removed=np.union1d(table.removed, rows))
        if len(marked.removed) - state.spare > MIN_REMOVED + REMOVED_PER_ROOT * len(table) ** 0.5:
            staying = living_rows(marked)
            self._state = state.over(take(marked, staying), state.living(staying))
            return
        index = copy.copy(state.index)
        index.table = marked
        state.is_valid = False  # an index that removes in place changes its arrays
        change = index.remove(rows)
        self._state = state.without(rows, index) if change is None else state.after(index, change)

    @one_thread
    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue from what ``index.state()`` returned for the same bodies."""
        index = copy.copy(self._compact().index)
        index.restore(state)
        self._state = State(index, self._state.identities)

    def mark(self) -> object:
        """Return the present state, for `return_to`."""
        return self._valid()

    def return_to(self, mark: object) -> None:
        """Return to the state of a `mark`; only `update` may have been called since, once at most."""
        assert isinstance(mark, State)
        self._state = mark

    # Queries

    @one_thread
    def query(self, other: Bounds) -> Pairs:
        """Return which volumes of ``other`` overlap which bodies: sorted (m, 2) rows of (row in other, id).

        The boxes around both are compared; groups, masks and static flags play no part. Many volumes are searched as
        `choque.join` does, in the cells of the method if it has cells, else in a tree that is kept until a body moves:
        a set at rest is indexed once.
        """
        from choque.broad.join import answer

        self._check(other)
        state = self._valid()
        index = state.index
        thread_count = index.thread_count(len(other))
        records = pack_records(other.boxes(), self._closed, thread_count, index.records.dtype)
        # Half-open boxes are packed in their own float type: cells of float32 boxes cannot answer for float64 ones.
        cells = index.cell_rows() if records.dtype == index.records.dtype else None
        found = answer(state.tree(records.dtype) if cells is None else cells, records, thread_count)
        return state.name_answers(found)

    @one_thread
    def query_points(self, points: ArrayLike) -> Pairs:
        """Return which of the points (k, d) lie in which boxes: sorted (m, 2) rows of (point, id)."""
        from choque._core.tree_query import query_points

        state = self._valid()
        return state.name_answers(query_points(state.tree(), points, self._dimension, state.index.thread_count()))

    @one_thread
    def query_rays(self, origin: ArrayLike, direction: ArrayLike, *, longest: float = np.inf) -> Pairs:
        """Return every box that each ray meets within ``longest`` times its direction: sorted rows of (ray, id)."""
        from choque._core.tree_query import query_rays

        state = self._valid()
        rays = (origin, direction, longest, self._dimension, state.index.thread_count())
        return state.name_answers(query_rays(state.tree(), *rays))

    @one_thread
    def cast_rays(self, origin: ArrayLike, direction: ArrayLike, *, longest: float = np.inf) -> RayHits:
        """Return the first box each ray (k, d) meets: ids (k,), −1 for none; distances in units of the direction."""
        from choque._core.tree_query import RayHits, cast_rays

        state = self._searched()
        rays = (origin, direction, longest, self._dimension, state.index.thread_count())
        hits = cast_rays(state.tree(), *rays)
        return RayHits(state.ids_or_none(hits.ids), hits.distance)

    @one_thread
    def nearest(self, points: ArrayLike, *, count: int = 1) -> RayHits:
        """Return the ``count`` boxes nearest to each point (k, d): ids, −1 beyond the last, and distances, (k, count).

        The distance to a box that holds the point is 0; of boxes equally near the one with the smaller id comes first.
        """
        from choque._core.tree_query import RayHits, nearest_boxes

        state = self._searched()
        hits = nearest_boxes(state.tree(), points, count, self._dimension, state.index.thread_count())
        return RayHits(state.ids_or_none(hits.ids), hits.distance)

    @one_thread
    def structure(self) -> Structure:
        """Return a view of what the method has built over the present bodies, for drawing and tests."""
        state = self._compact()
        ids, found = state.identities.ids, state.index.structure()
        return replace(found, members=ids[found.members], order=None if found.order is None else ids[found.order])

    @one_thread
    def copy(self) -> Self:
        """Return an independent copy."""
        return copy.deepcopy(self)

    # How a change happens

    def _follow(self, table: BoxTable) -> None:
        """Go on to ``table``, the same bodies with other boxes."""
        state = self._state
        state.is_valid = False  # an index that follows exchanges changes its arrays
        index, change = state.index.after(table)
        self._state = state.after(index, change)

    def _move_in_place(self, rows: Rows, arriving: Floats, table: BoxTable) -> None:
        """Write the records of the movers where they are and let the index follow, at the cost of what moved."""
        state = self._state
        records, index = table.records, copy.copy(state.index)
        previous = records[rows]
        state.undo, state.is_valid = (rows, previous), False
        records[rows] = arriving
        index.table = table
        self._state = state.after(index, index.move(rows, previous))

    def _valid(self) -> State:
        """Return the present state, its index built again if a change had failed halfway."""
        if not self._state.is_valid:
            self._state.repair()
        return self._state

    def _compact(self) -> State:
        """Return the present state, its index built over the living bodies alone; the answers stay the same."""
        self._state = self._valid().compact()
        return self._state

    def _searched(self) -> State:
        """Return the present state in a form whose tree holds living bodies alone; the answers stay the same."""
        state = self._valid()
        return self._compact() if state.index.tree() is None else state

    def _check(self, bounds: Bounds) -> None:
        check_bounds(bounds)
        if bounds.dimension != self._dimension:
            raise InvalidInput(
                f"The volumes given are {bounds.dimension}D and the broad phase is {self._dimension}D; they must agree."
            )


def create(method: str | type[Index], bounds: Bounds, **options: Any) -> BroadPhase:
    """Return a broad phase over ``bounds`` by a method, given by its name or its class.

    ``options`` are those of every method (``closed``, ``threads``, ``groups``, ``masks``, ``static``) and its own.

    Examples
    --------
    >>> import choque
    >>> boxes = choque.bounds.Boxes([[0, 0], [1, 1], [5, 5]], [[2, 2], [3, 3], [6, 6]])
    >>> choque.broad.create("brute", boxes).pairs().tolist()
    [[0, 1]]
    """
    kind = method if isinstance(method, type) else find(method)
    index, shared = kind.with_options(options)
    return BroadPhase(bounds, index, **shared)


def check_bounds(bounds: object) -> None:
    """Raise `InvalidInput` unless ``bounds`` are bounding volumes."""
    if not isinstance(bounds, Bounds):
        raise InvalidInput(
            f"The bounds are of type {type(bounds).__name__}; give choque.bounds.Boxes(lower, upper), for example."
        )
