"""One state of a set of bodies: the index over them, their ids, what is known of their pairs, and how it changes.

A change makes another state and leaves the old one as it was, so that it happens wholly or not at all. The exception
is an index that follows motion in place: while it does so its state is not valid, and `State.repair` builds the index
again if the change failed.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from choque._core.ids import Identities, no_body
from choque._core.pair_sets import Change, apply_change, difference, merge_changes, no_pairs
from choque._core.records import widened
from choque._core.types import I32, Floats, Pairs, Rows
from choque.broad.index import BoxTable, Index

if TYPE_CHECKING:
    from choque._core.tree import Tree

MIN_SPARE = 64  # spare rows of a set to which bodies are added again and again, beside the root of their number
MAX_PENDING = 64  # changes that the known pairs have yet to follow are merged into one when they are more than this


@dataclass(slots=True)
class State:
    """One state of a set. What it computes on demand (pairs, the latest change, a tree) it keeps."""

    index: Index
    identities: Identities
    pairs: Pairs | None = None  # of ids, once they were requested
    pending: list[Change] = field(default_factory=list)  # changes that `pairs` has yet to follow, the oldest first
    stale: Rows | None = None  # rows removed since `pairs` was found, which still has their pairs
    change: Change | None = None  # what the latest change did to the pairs, once known
    previous: State | None = None  # the state before the latest change; None if there is `change`, or no bodies
    lookup: Tree | None = None
    is_valid: bool = True  # False while a change is made; if that fails, the index is built again when it is needed
    undo: tuple[Rows, Floats] | None = None  # records that are overwritten while bodies move, and their rows
    has_grown: bool = False  # whether bodies were added since all of them had new boxes
    spare: int = 0  # rows at the end of the table, counted as removed, for bodies that come next

    # Bodies

    @property
    def ids(self) -> I32:
        """The ids of the living bodies, ascending."""
        removed = self.index.table.removed
        return np.delete(self.identities.ids, removed) if removed.size else self.identities.ids

    def rows_of(self, ids: ArrayLike) -> Rows:
        """Return the row of each of ``ids``; raise `InvalidInput` for one that is dead, unknown or given twice."""
        rows, removed = self.identities.rows_of(ids), self.index.table.removed
        if removed.size:
            is_dead = np.isin(rows, removed)
            if is_dead.any():
                raise no_body(int(self.identities.ids[rows[is_dead][0]]))
        return rows

    def living(self, rows: Rows) -> Identities:
        """Return the identities of these ``rows`` alone, ascending; the ids of spare rows are free again."""
        return Identities(self.identities.ids[rows], self.identities.following - self.spare)

    def with_room(self, table: BoxTable, identities: Identities) -> State:
        """Return the state of other bodies, as `over`, with spare rows behind them: copies of some, which are removed.

        Their number is the square root of the number of bodies: few enough to cost hardly any time.
        """
        count = len(table)
        spare = MIN_SPARE + int(count**0.5)
        rows = np.concatenate((np.arange(count), np.arange(spare) * count // spare))
        roomy = replace(take(table, rows), removed=np.arange(count, count + spare))
        latest = self.over(roomy, identities.joined(spare)[0])
        latest.spare = spare
        return latest

    def name_answers(self, found: Pairs) -> Pairs:
        """Turn answers (question, row) into (question, id), in place, without those of removed bodies."""
        removed = self.index.table.removed
        if removed.size:
            found = found[~np.isin(found[:, 1], removed)]
        found[:, 1] = self.identities.ids[found[:, 1]]
        return found

    def ids_or_none(self, rows: I32) -> I32:
        """Turn rows into ids in place; −1 stays."""
        known = rows >= 0
        rows[known] = self.identities.ids[rows[known]]
        return rows

    # Pairs

    def find_pairs(self) -> Pairs:
        """Return the pairs of ids, found when first needed and followed by changes from then on."""
        found, stale = self.pairs, self.stale
        if found is None:
            found, stale = self.index.pairs(), self.index.table.removed
            found = found if self.identities.are_rows else self.identities.name(found)
        if self.pending:
            found = apply_change(found, merge_changes(self.pending))
        if stale is not None and stale.size:
            is_stale = np.zeros(self.identities.following, np.bool_)
            is_stale[self.identities.ids[stale]] = True
            found = found[~(is_stale[found[:, 0]] | is_stale[found[:, 1]])]
        self.pairs, self.pending, self.stale = found, [], None
        return found

    def latest_change(self) -> Change:
        """Return the pairs that began and ended with the latest change."""
        if self.change is None:
            before = no_pairs() if self.previous is None else self.previous.find_pairs()
            self.change = difference(before, self.find_pairs())
        return self.change

    # Other states

    def after(self, index: Index, change: Change | None) -> State:
        """Return the state of the same bodies once ``index`` has followed them; ``change``, if known, is in rows."""
        index.note_bytes()
        if change is None:
            return State(index, self.identities, previous=self._without_past())
        if index.table.removed.size:
            removed = min(self.index.table.removed, index.table.removed, key=len)  # before this change
            change = Change(*(side[~np.isin(side, removed).any(axis=1)] for side in (change.began, change.ended)))
        change = Change(self.identities.name(change.began), self.identities.name(change.ended))
        known, pending = self.pairs, []
        if known is not None:
            pending = [*self.pending, change]
            if len(pending) > MAX_PENDING:
                pending = [merge_changes(pending)]
                if 2 * len(pending[0]) > len(known):
                    known, pending = apply_change(known, pending[0]), []
        latest = State(index, self.identities, known, pending, self.stale, change)
        latest.has_grown, latest.spare = self.has_grown, self.spare
        return latest

    def without(self, rows: Rows, index: Index) -> State:
        """Return the state of ``index``, which is as it was but for removed ``rows`` in its table."""
        stale = rows if self.stale is None else np.concatenate((self.stale, rows))
        known = (self.pairs, self.pending, None if self.pairs is None else stale)
        latest = State(index, self.identities, *known, previous=self._without_past(), lookup=self.lookup)
        latest.has_grown, latest.spare = self.has_grown, self.spare
        return latest

    def over(self, table: BoxTable, identities: Identities) -> State:
        """Return the state of other bodies, with an index built over them."""
        index = self.index.over(table, self.index.counters)
        index.note_bytes()
        return State(index, identities, previous=self._without_past())

    def compact(self) -> State:
        """Return a state with an index built over the living bodies alone, or this one; the answers are the same."""
        table = self.index.table
        if not table.removed.size:
            return self
        living = living_rows(table)
        index = self.index.over(take(table, living), self.index.counters)
        pairs = None if self.pairs is None else self.find_pairs()
        return State(index, self.living(living), pairs, change=self.change, previous=self.previous)

    def repair(self) -> None:
        """Return to the records before a change that failed halfway, and build the index again."""
        if self.undo is not None:
            rows, previous = self.undo
            self.index.table.records[rows] = previous
        rebuilt = self.index.over(self.index.table, self.index.counters)
        rebuilt.restore(self.index.state())
        self.index, self.undo, self.is_valid = rebuilt, None, True

    def _without_past(self) -> State:
        """Return a state to remember: one step back is enough, so that no chain of states is kept."""
        return State(self.index, self.identities, self.pairs, self.pending, self.stale)

    # Queries

    def tree(self, dtype: Any = None) -> Tree:
        """Return a tree over the records, at least as wide as ``dtype``: the index's own, or one kept here.

        It may hold boxes of removed bodies.
        """
        from choque._core.morton import morton_order
        from choque._core.tree import make_tree

        records, thread_count = self.index.records, self.index.thread_count()
        is_wider = dtype is not None and dtype.itemsize > records.dtype.itemsize
        own = None if is_wider else self.index.tree()
        if own is not None:
            return own
        if self.lookup is None or (is_wider and self.lookup.lanes.dtype.itemsize < dtype.itemsize):
            records = widened_records(self.index.table, dtype) if is_wider else records
            self.lookup = make_tree(records, morton_order(records, thread_count), thread_count)
        return self.lookup


def widened_records(table: BoxTable, dtype: Any, copied: bool = False) -> Floats:
    """Return the records of ``table`` in the wider type ``dtype``, or as they are."""
    if dtype.itemsize > table.records.dtype.itemsize:
        return widened(table.records, table.closed, dtype, table.dimension)
    return table.records.copy() if copied else table.records


def living_rows(table: BoxTable) -> Rows:
    """Return the rows of ``table`` that are not removed."""
    return np.delete(np.arange(len(table)), table.removed)


def take(table: BoxTable, rows: Rows) -> BoxTable:
    """Return the table of these ``rows`` alone."""
    return replace(
        table,
        records=np.ascontiguousarray(table.records[rows]),
        pair_filter=None if table.pair_filter is None else table.pair_filter.take(rows),
        bounds=None if table.bounds is None else table.bounds.take(rows),
        removed=np.empty(0, np.int64),
    )
