"""The narrow phase: pairs that may touch in, contacts out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from choque._core import check
from choque._core.threads import block_supply, resolve_count, run
from choque._core.types import Pairs
from choque.errors import InvalidInput
from choque.narrow._grouping import count_hits, gather_hits, group_pairs
from choque.narrow.manifold import Contacts
from choque.narrow.rules import EXACT, RULES, Routine
from choque.narrow.shapes import CONVEX, KIND_COUNT, KIND_NAMES, KINDS_ALLOWED, Shapes

KINDS = tuple(f"{first}-{second}" for first in KIND_NAMES for second in KIND_NAMES)
"""The names of the pairs of kinds by their code, first · KIND_COUNT + second."""

_BLOCK = 1_024  # pairs that a thread takes at a time: some tens of microseconds of work


class KindTally(NamedTuple):
    """What one pair of kinds took part in during the latest `NarrowPhase.find`."""

    tests: int
    contacts: int
    seconds: float
    """Spent in the routine, added up over threads."""


class NarrowPhase:
    """Finds the contacts of pairs that a broad phase named, by one routine for each pair of kinds.

    Parameters
    ----------
    narrow
        The contact rules: ``"exact"``, the true distance of segments and rectangles, or a name that another package
        announces in the entry-point group ``choque.contact_rules``.
    threads
        How many threads to use; None for all. The answer is the same for any number.

    Notes
    -----
    Guarantees: contacts come in the order of the pairs; touching is no contact; moving the second body by depth·normal
    parts the two, and under ``"exact"`` no shorter move does. Tiles and planes pass through each other. Exact contacts
    are computed in float64 also where shapes are in float32. A pair costs O(1), a convex one by its hulls. Working
    memory, about 70 bytes a pair, is kept between calls; the answer does not depend on what was asked before. One
    object is for one thread at a time.

    Examples
    --------
    >>> import numpy as np
    >>> from choque.narrow import Kind, NarrowPhase, Shapes
    >>> balls = Shapes(
    ...     kind=np.array([Kind.SPHERE, Kind.SPHERE], np.int8),
    ...     position=np.array([[0.0, 0, 0], [3, 0, 0]]),
    ...     rotation=np.array([np.eye(3)] * 2),
    ...     size=np.array([[2.0, 0, 0], [2, 0, 0]]),
    ... )
    >>> phase = NarrowPhase()
    >>> phase.find(balls, np.array([[0, 1]], np.int32)).depth.tolist()
    [1.0]
    >>> phase.tally["sphere-sphere"].contacts
    1
    """

    def __init__(self, narrow: str = "exact", *, threads: int | None = None) -> None:
        resolve_count(threads, 0)
        self.narrow = narrow
        self.threads = threads
        table = {**EXACT, **RULES.find(narrow)}
        self._routines: list[Routine | None] = [table.get(divmod(code, KIND_COUNT)) for code in range(len(KINDS))]
        self._room = _Room(0, np.dtype(np.float64))
        self._memory: dict[int, dict[str, Any]] = {}
        self._starts = np.zeros(len(KINDS) + 1, np.int64)
        self._contacts = np.zeros(len(KINDS), np.int64)
        self._seconds = [0.0] * len(KINDS)

    def __reduce__(self) -> tuple[Callable[..., NarrowPhase], tuple[str]]:
        """Copy the options; a copy has memory of its own."""
        return partial(type(self), threads=self.threads), (self.narrow,)

    @property
    def tally(self) -> dict[str, KindTally]:
        """Tests, contacts and seconds of the latest `find` by pair of kinds, such as ``"sphere-capsule"``.

        Kinds that were not met are left out. Tests add up to the pairs given, contacts to the contacts found.
        """
        starts, contacts = self._starts.tolist(), self._contacts.tolist()
        return {
            name: KindTally(starts[code + 1] - starts[code], contacts[code], self._seconds[code])
            for code, name in enumerate(KINDS)
            if starts[code + 1] > starts[code]
        }

    def find(self, shapes: Shapes, pairs: Pairs) -> Contacts:
        """The contacts of ``pairs``, (m, 2) rows of ``shapes``, smaller first and sorted, in the same order.

        Numbers that are not finite take no part in a contact; `choque.narrow.contacts` refuses them.
        """
        shapes = shapes.aligned()
        if not _is_ready(pairs):
            pairs = check.pairs(pairs, "pairs", len(shapes))
        count = len(pairs)
        if self._room.size < count or self._room.depth.dtype != shapes.position.dtype:
            self._room = _Room(count + count // 4, shapes.position.dtype)
        room = self._room
        starts = np.empty_like(self._starts)
        refused = group_pairs(shapes.kind, pairs, room.code, room.slot, room.rows, starts)
        if refused >= 0:
            raise _refusal(shapes, pairs, refused)
        groups = starts.tolist()
        if any(groups[code] < groups[code + 1] for code in _CONVEX_CODES):
            shapes.check_hulls()
        self._starts = starts
        self._seconds = [0.0] * len(KINDS)
        if count == 0:
            self._contacts[:] = 0
            return Contacts.none(shapes.position.dtype.type)
        self._test(shapes, groups, count)
        total = count_hits(room.hit, self._starts, self._contacts)
        found = Contacts(
            np.empty((total, 2), np.int32),
            np.empty((total, 3), room.depth.dtype),
            np.empty((total, 3), room.depth.dtype),
            np.empty(total, room.depth.dtype),
        )
        if total:
            gather_hits(
                pairs, room.slot, room.rows, room.hit, room.point, room.normal, room.depth,
                found.pairs, found.point, found.normal, found.depth,
            )  # fmt: skip
        return found

    def _test(self, shapes: Shapes, starts: list[int], count: int) -> None:
        """Let each routine fill the room for the pairs of its kinds."""
        thread_count = resolve_count(self.threads, count)
        if thread_count == 1:
            self._test_part(shapes, starts, 0, count, self._seconds)
        else:
            draw = block_supply(count, _BLOCK)

            def share(part: int) -> list[float]:  # noqa: ARG001
                seconds = [0.0] * len(KINDS)
                while (block := draw()) is not None:
                    self._test_part(shapes, starts, *block, seconds)
                return seconds

            self._seconds = [sum(each) for each in zip(*run(share, thread_count), strict=True)]
        for code in _CONVEX_CODES:
            if starts[code] < starts[code + 1]:
                self._test_convex(shapes, code, starts[code], starts[code + 1], thread_count)

    def _test_part(self, shapes: Shapes, starts: list[int], first: int, last: int, seconds: list[float]) -> None:
        room = self._room
        for code, routine in enumerate(self._routines):
            low, high = max(first, starts[code]), min(last, starts[code + 1])
            if low >= high:
                continue
            if routine is None:
                room.hit[low:high] = 0
                continue
            began = perf_counter()
            routine(
                room.rows, shapes.position, shapes.rotation, shapes.size,
                room.hit, room.point, room.normal, room.depth, low, high,
            )  # fmt: skip
            seconds[code] += perf_counter() - began

    def _test_convex(self, shapes: Shapes, code: int, first: int, last: int, thread_count: int) -> None:
        from choque.narrow.convex.contacts import convex_contacts

        room = self._room
        began = perf_counter()
        memory = self._memory.setdefault(code, {})
        answer = convex_contacts(shapes, room.rows[first:last], thread_count, memory)
        room.hit[first:last], room.point[first:last], room.normal[first:last], room.depth[first:last] = answer
        self._seconds[code] += perf_counter() - began


class _Room:
    """Working arrays for up to ``size`` pairs, in the order of their kinds."""

    def __init__(self, size: int, dtype: np.dtype[Any]) -> None:
        self.size = size
        self.code = np.empty(size, np.uint8)
        self.slot = np.empty(size, np.int32)
        self.rows = np.empty((size, 2), np.int32)
        self.hit = np.empty(size, np.uint8)
        self.point = np.empty((size, 3), dtype)
        self.normal = np.empty((size, 3), dtype)
        self.depth = np.empty(size, dtype)


_CONVEX_CODES = tuple(
    first * KIND_COUNT + second
    for first in range(KIND_COUNT)
    for second in range(first, KIND_COUNT)
    if CONVEX in (first, second)
)


def _is_ready(pairs: Any) -> bool:
    """Whether the pairs are laid out as kernels are compiled for."""
    return (
        isinstance(pairs, np.ndarray)
        and pairs.dtype == np.int32
        and pairs.ndim == 2
        and pairs.shape[1] == 2
        and pairs.flags.carray
    )


def _refusal(shapes: Shapes, pairs: Pairs, place: int) -> InvalidInput:
    """What is wrong with the pair at this place: its rows, its kinds, or its order."""
    first, second = pairs[place].tolist()
    count = len(shapes)
    if not 0 <= first < second < count:
        return InvalidInput(
            f"Pair {place} is ({first}, {second}); both must be rows of the {count} shapes, from 0 to {count - 1}, "
            "the smaller first."
        )
    for row in (first, second):
        if not 0 <= shapes.kind[row] < KIND_COUNT:
            return InvalidInput(f"Shape {row} has the kind {shapes.kind[row]}; {KINDS_ALLOWED}.")
    return InvalidInput(
        f"Pair {place}, ({first}, {second}), follows {tuple(pairs[place - 1].tolist())}; pairs must be sorted."
    )
