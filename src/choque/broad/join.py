"""Pairs between two sets of boxes: the rows of one and of the other that overlap.

Every method joins. ``grid``, ``bvh`` and ``brute`` index the smaller set and ask it about the boxes of the larger one;
``grid`` holds float64 boxes in float32 and compares the boxes themselves where rounded bounds are equal. Any other
method, also one of another package, gets both sets as one, and pairs within a set are dropped chunk by chunk.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from choque._core import threads
from choque._core.emission import Keeper, Keepers, KernelKeeper, Sink
from choque._core.kernel import kernel
from choque._core.lanes import append_answers
from choque._core.morton import morton_order
from choque._core.overlap import AT_ONCE, PADDING, Columns, meeting
from choque._core.pair_keys import PairFilter, key_first, key_second
from choque._core.records import Rounding, choose_rounding, even_sample, pack_records, rounded_records
from choque._core.row_pairs import DOUBT, emit_between
from choque._core.rows import Rows, build_rows
from choque._core.sort import sorted_pairs
from choque._core.tree import Tree, make_tree
from choque._core.tree_query import emit_queries
from choque._core.types import U32, Floats, Integer, Keys, Pairs
from choque.bounds import Boxes
from choque.broad.auto import Choice, sample_size, survey_numbers
from choque.broad.index import find
from choque.errors import InvalidInput

MAX_BRUTE_TESTS = 250_000  # up to this number of tests, testing all pairs takes less time than building a structure

MAX_GRID_TESTS = 400.0
"""Where a box would take more tests than this in a grid, boxes crowd in few cells and a tree is faster."""

MIN_SORTED = 20_000
"""With this number of boxes asked about, an order along a curve saves more cache misses than it costs."""


class Task(NamedTuple):
    """Two sets of boxes to join."""

    a: Boxes
    b: Boxes  # the boxes: rows of ``a`` come first in every pair
    closed: bool  # whether touching counts
    threads: int | None  # the number of threads requested; None for all
    keeper: Keeper | None  # which pairs stay, given as packed (row of a, row of b); None for all

    @property
    def dtype(self) -> np.dtype[Any]:
        """The wider of both float types."""
        return np.promote_types(self.a.dtype, self.b.dtype)

    @property
    def thread_count(self) -> int:
        """How many threads to use."""
        return threads.resolve_count(self.threads, len(self.a) + len(self.b))


def join_boxes(task: Task, method: str, options: dict[str, Any]) -> Pairs:
    """Return the pairs of ``task``, sorted (m, 2) int32, by a method and its options."""
    if not len(task.a) or not len(task.b):
        find(method)
        return np.empty((0, 2), np.int32)
    if method not in (*EMITTERS, "auto") or options:
        return _join_as_one(task, method, options)
    if method == "auto":
        method = choose(task).method
    rounding = choose_rounding(task.a, task.b) if method == "grid" and task.dtype == np.float64 else None
    if rounding is not None:
        return _join_rounded(task, rounding)
    a, b = (pack_records(side, task.closed, task.thread_count, task.dtype) for side in (task.a, task.b))
    return join_records(a, b, task.keeper, EMITTERS[method], task.thread_count)


def choose(task: Task) -> Choice:
    """Return the method for two sets, and why; by a sample of the smaller set, which is the one that is indexed."""
    a, b = len(task.a), len(task.b)
    count, dimension = a + b, task.a.dimension
    if a * b <= MAX_BRUTE_TESTS:
        return Choice("brute", count, dimension, f"{a:,} × {b:,} boxes are few enough to test all pairs")
    indexed = task.a if a <= b else task.b
    sample = pack_records(even_sample(indexed, sample_size(len(indexed))), task.closed, 1, task.dtype)
    tests = float(survey_numbers(sample, count=len(indexed))[1])
    if tests > MAX_GRID_TESTS:
        why = f"a box would take about {tests:,.0f} tests in a grid; a tree follows crowds of boxes"
        return Choice("bvh", count, dimension, why, tests)
    return Choice("grid", count, dimension, f"a box takes about {tests:,.1f} tests in a grid", tests)


Emitter = Callable[[Sink, Floats, Floats, bool, int], None]
"""Writes the pairs of indexed records and questions to a sink; the flag says that indexed rows come first."""


def join_records(a: Floats, b: Floats, keeper: Keeper | None, emit: Emitter, thread_count: int) -> Pairs:
    """Return the pairs of two sets of records (n, 6) of one float type."""
    sink = Sink(len(a) + len(b), thread_count, keeper)
    if len(a) <= len(b):
        emit(sink, a, b, True, thread_count)
    else:
        emit(sink, b, a, False, thread_count)
    return sorted_pairs(sink.chunks, len(a), thread_count, len(b))


def answer(structure: Tree | Rows, questions: Floats, thread_count: int) -> Pairs:
    """Return which of the records ``questions`` (k, 6) overlap which boxes of a tree or of rows of cells, sorted."""
    sink = Sink(len(questions), thread_count, None)
    if isinstance(structure, Rows):
        emit_between(sink, structure, build_rows(questions, thread_count), False)
        count = int(structure.row_start[-1])
    else:
        emit_queries(sink, structure, questions, _order(questions, thread_count), False)
        count = structure.rows.size
    return sorted_pairs(sink.chunks, len(questions), thread_count, count)


# Both sets as one


@dataclass(frozen=True)
class _Between(PairFilter):
    """Keeps pairs of a row below ``border`` and one from it on, as the ``keeper`` of the two sets allows."""

    border: int
    keeper: Keeper | None

    @classmethod
    def of(cls, border: int, count: int, keeper: Keeper | None) -> _Between:
        """Return the filter of ``count`` rows; groups and masks say the same to methods that read them."""
        groups, masks = np.full(count, 2, np.uint32), np.full(count, 1, np.uint32)
        groups[:border], masks[:border] = 1, 2
        return cls(groups, masks, np.zeros(count, np.bool_), border, keeper)

    def keep_allowed(self, keys: Keys) -> int:
        """Move the pairs that stay to the front of ``keys``, and return how many there are."""
        count = _keep_between(keys, self.border)
        if self.keeper is None:
            return count
        kept, border = keys[:count], np.uint64(self.border)
        kept -= border
        count = self.keeper.keep_allowed(kept)
        kept[:count] += border
        return count


def _join_as_one(task: Task, method: str, options: dict[str, Any]) -> Pairs:
    bounds, border = task.a.join(task.b), len(task.a)
    index, shared = find(method).with_options(options)
    if shared:
        raise InvalidInput(f"join does not take {sorted(shared)[0]!r}; two sets have groups=(a, b) and masks=(a, b).")
    between = _Between.of(border, len(bounds), task.keeper)
    found = index.over_bounds(bounds, closed=task.closed, threads=task.threads, allowed=between).pairs()
    return found - np.array([0, border], np.int32)


@kernel
def _keep_between(keys: Keys, border: int) -> int:
    kept = 0
    for k in range(keys.size):
        key = keys[k]
        keys[kept] = key
        kept += (key_first(key) < border) & (key_second(key) >= border)
    return kept


# Three methods with two sets


def _emit_by_brute(sink: Sink, indexed: Floats, questions: Floats, is_first: bool, thread_count: int) -> None:  # noqa: ARG001
    sink.run(_emit_all, len(questions), questions.reshape(-1), Columns.of(indexed), int(is_first))


def _emit_by_tree(sink: Sink, indexed: Floats, questions: Floats, is_first: bool, thread_count: int) -> None:
    tree = make_tree(indexed, morton_order(indexed, thread_count), thread_count)
    emit_queries(sink, tree, questions, _order(questions, thread_count), is_first)


def _emit_by_rows(sink: Sink, indexed: Floats, questions: Floats, is_first: bool, thread_count: int) -> None:
    emit_between(sink, build_rows(indexed, thread_count), build_rows(questions, thread_count), is_first)


EMITTERS: dict[str, Emitter] = {"brute": _emit_by_brute, "bvh": _emit_by_tree, "grid": _emit_by_rows}
"""The methods that index one set and ask it about the other."""


def _order(records: Floats, thread_count: int) -> U32:
    """Return the order to ask in: neighbours find the same cells and nodes in the cache."""
    if len(records) < MIN_SORTED:
        return np.arange(len(records), dtype=np.uint32)
    return morton_order(records, thread_count)


# Rounded boxes


def _join_rounded(task: Task, rounding: Rounding) -> Pairs:
    """Return the pairs of float64 boxes by rows of float32 ones; what rounding leaves open is decided by the boxes."""
    count = task.thread_count
    (a, a_is_same), (b, b_is_same) = (
        rounded_records(side.lower, side.upper, rounding, count) for side in (task.a, task.b)
    )
    a_is_indexed, is_exact = len(a) <= len(b), task.closed and a_is_same and b_is_same
    keeper = task.keeper
    if not is_exact:
        mark = np.uint64(DOUBT) << np.uint64(0 if a_is_indexed else 32)
        sides = ((side.lower, side.upper) for side in (task.a, task.b))
        corners = (tuple(corner.astype(np.float64, copy=False) for corner in side) for side in sides)
        keeper = Keepers(KernelKeeper(_keep_decided, *corners, mark, task.closed), keeper)
    sink = Sink(len(a) + len(b), count, keeper)
    indexed, asked = (a, b) if a_is_indexed else (b, a)
    emit_between(sink, build_rows(indexed, count), build_rows(asked, count), a_is_indexed, None if is_exact else DOUBT)
    return sorted_pairs(sink.chunks, len(a), count, len(b))


@kernel
def _keep_decided(keys: Keys, a: tuple[Any, Any], b: tuple[Any, Any], mark: np.uint64, closed: bool) -> int:
    """Drop the pairs in doubt, which have a ``mark``, whose boxes do not overlap; take the marks off the others."""
    kept = 0
    for k in range(keys.size):
        key, stays = keys[k], True
        if key & mark:
            key ^= mark
            i, j = key_first(key), key_second(key)
            for axis in range(a[0].shape[1]):
                touches = a[0][i, axis] <= b[1][j, axis] and b[0][j, axis] <= a[1][i, axis]
                shares = a[0][i, axis] < b[1][j, axis] and b[0][j, axis] < a[1][i, axis]
                stays &= touches if closed else shares
        keys[kept] = key
        kept += stays
    return kept


@kernel
def _emit_all(
    first: int, last: int, chunk: Keys, questions: Any, columns: Columns, is_first: int
) -> tuple[int, int, int]:
    """Emission kernel; a unit is a question."""
    stride = columns.numbers.size
    count = stride - PADDING
    written: Integer = np.int64(0)
    for i in range(first, last):
        if written + count + 8 > chunk.size:
            return i, written, count * (i - first)
        for j in range(0, count, AT_ONCE):
            hits = meeting(columns.bounds, j, stride, questions, 6 * i, 1)
            if hits != 0:
                for at in range(j, j + AT_ONCE, 8):
                    written += append_answers(chunk, written, columns.numbers, at, np.uint32(i), hits & 255, is_first)
                    hits >>= 8
    return last, written, count * (last - first)
