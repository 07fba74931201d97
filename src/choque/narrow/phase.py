"""The narrow phase: candidate pairs in, contacts out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from choque._core import check
from choque._core.kernel import kernel
from choque._core.threads import block_supply, resolve_count, run
from choque._core.types import I8, I32, I64, U8, Pairs
from choque.errors import InvalidInput
from choque.narrow.pair import ContactArrays, Contacts, Loop, PoseArrays, pair_loop
from choque.narrow.rules import EXACT, RULES
from choque.narrow.shapes import CONVEX, KIND_COUNT, KIND_NAMES, KINDS_ALLOWED, MESH, Shapes

KINDS = tuple(f"{first}-{second}" for first in KIND_NAMES for second in KIND_NAMES)
"""The names of the pairs of kinds by their code, first · KIND_COUNT + second."""

_BLOCK = 1_024  # pairs that a thread takes at a time: some tens of microseconds of work

_CONVEX_CODES = frozenset(
    first * KIND_COUNT + second for first in range(MESH) for second in range(first, MESH) if CONVEX in (first, second)
)

_MESH_CODES = frozenset(first * KIND_COUNT + MESH for first in range(KIND_COUNT))
_SOLID_CODES = _CONVEX_CODES | _MESH_CODES


def contacts(
    shapes: Shapes,
    pairs: ArrayLike | None = None,
    *,
    narrow: str = "exact",
    broad: str = "auto",
    threads: int | None = None,
) -> Contacts:
    """Return the contacts of shapes.

    Parameters
    ----------
    shapes
        Solids in their poses; every number is checked.
    pairs
        (m, 2) rows of the shapes to test, in any order; a pair that is named twice counts once. None for all pairs
        whose boxes overlap.
    narrow
        The contact rules, ``"exact"`` or another name; see `NarrowPhase`.
    broad
        The broad phase that finds the pairs, one of `choque.broad.names()`.
    threads
        The number of threads; None for all. The result is the same for any number.

    Returns
    -------
    Contacts
        Sorted by their pairs, the smaller row first, normals from it to the other.

    Notes
    -----
    For many frames keep one `NarrowPhase`: this function checks all of its input each time.

    Examples
    --------
    >>> import numpy as np
    >>> from choque.narrow import Kind, Shapes, contacts
    >>> found = contacts(
    ...     Shapes(
    ...         kind=np.array([Kind.CAPSULE, Kind.SPHERE], np.int8),
    ...         position=np.array([[0.0, 0, 0], [0, 1.5, 0]]),
    ...         rotation=np.array([np.eye(3)] * 2),
    ...         size=np.array([[1.0, 4, 0], [1, 0, 0]]),
    ...     )
    ... )
    >>> found.depth.tolist(), found.normal.tolist(), found.point.tolist()
    ([0.5], [[0.0, 1.0, 0.0]], [[0.0, 0.75, 0.0]])
    """
    if not isinstance(shapes, Shapes):
        raise InvalidInput(f"The shapes are a {type(shapes).__name__}; they must be a choque.narrow.Shapes.")
    shapes = shapes.checked()
    phase = NarrowPhase(narrow, threads=threads)
    if pairs is None:
        from choque.broad import create

        chosen = create(broad, shapes.boxes(threads=threads), threads=threads).pairs()
    else:
        chosen = _ordered(pairs, len(shapes))
    return phase.find(shapes, chosen)


class KindTally(NamedTuple):
    """The exact tests of one pair of kinds."""

    tests: int
    contacts: int
    seconds: float  #: Summed over threads.


class NarrowPhase:
    """Finds the contacts of candidate pairs, by one contact rule for each pair of kinds.

    Parameters
    ----------
    narrow
        The contact rules: ``"exact"``, the true distance of segments and rectangles, or a name that another package
        announces in the entry-point group ``choque.contact_rules``.
    threads
        The number of threads; None for all. The result is the same for any number.

    Notes
    -----
    Guarantees: contacts are in the order of the pairs; touching without overlap is not a contact; moving the second
    body by depth·normal separates the two, and under ``"exact"`` no shorter move does. Tiles and planes pass through
    each other. A mesh is a surface with two sides: its contact is that with the triangle in which the other body is
    deepest, and the move separates the two there. Exact contacts are computed in float64, also for shapes in float32.
    A pair costs O(1), a convex pair depends on its hulls. Buffers of about 70 bytes for each pair are kept between
    calls; the result does not depend on earlier calls. An object must not be used by two threads at a time.

    Examples
    --------
    >>> import numpy as np
    >>> from choque.narrow import NarrowPhase, Shapes
    >>> balls = Shapes.of_spheres([[0, 0, 0], [3, 0, 0]], 2)
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
        rules = [table.get(divmod(code, KIND_COUNT)) for code in range(len(KINDS))]
        self._loops: list[Loop | None] = [None if rule is None else pair_loop(rule) for rule in rules]
        self._buffers = _Buffers(0, np.dtype(np.float64))
        self._memory: dict[int, dict[str, Any]] = {}
        self._seconds = [0.0] * len(KINDS)
        self.tally_later: Callable[[], dict[str, KindTally]] = dict  # makes the tally of the latest `find`

    def __reduce__(self) -> tuple[Callable[..., NarrowPhase], tuple[str]]:
        """Copy the options; a copy has buffers of its own."""
        return partial(type(self), threads=self.threads), (self.narrow,)

    @property
    def tally(self) -> dict[str, KindTally]:
        """Tests, contacts and seconds of the latest `find` by pair of kinds, such as ``"sphere-capsule"``.

        Kinds without a pair are left out. Tests add up to the number of pairs, contacts to the number of contacts.
        """
        return self.tally_later()

    def find(self, shapes: Shapes, pairs: Pairs) -> Contacts:
        """Return the contacts of ``pairs``, (m, 2) rows of ``shapes``, smaller first and sorted, in the same order.

        Shapes with numbers that are not finite have no contacts; `choque.narrow.contacts` refuses them.
        """
        shapes = shapes.aligned()
        if not _is_ready(pairs):
            pairs = check.pairs(pairs, "pairs", len(shapes))
        count = len(pairs)
        dtype = shapes.position.dtype
        if self._buffers.size < count or self._buffers.found.normal.dtype != dtype:
            self._buffers = _Buffers(count + count // 4, dtype)
        buffers = self._buffers
        starts = np.zeros(len(KINDS) + 1, np.int64)
        refused = _group_pairs(shapes.kind, pairs, buffers.code, buffers.slot, buffers.found.pairs, starts)
        if refused >= 0:
            raise _refusal(shapes, pairs, refused)
        groups = _groups(starts)
        if not _SOLID_CODES.isdisjoint(code for code, _, _ in groups):
            shapes.check_hulls()
        self._seconds = [0.0] * len(KINDS)
        if count:
            self._test(shapes, groups, count)
        total = int(np.count_nonzero(buffers.found.point_count[:count]))
        answer = ContactArrays.empty(total, dtype)
        if total:
            _gather(pairs, buffers.slot, buffers.found, answer)
        self.tally_later = partial(tally_of, shapes.kind, pairs, answer.pairs, self._seconds)
        return Contacts(*answer)

    def _test(self, shapes: Shapes, groups: list[_Group], count: int) -> None:
        """Fill the buffers, each group of kinds by its own loop."""
        thread_count = resolve_count(self.threads, count)
        if thread_count == 1:
            self._test_part(shapes, groups, 0, count, self._seconds)
        else:
            draw = block_supply(count, _BLOCK)

            def share(part: int) -> list[float]:  # noqa: ARG001
                seconds = [0.0] * len(KINDS)
                while (block := draw()) is not None:
                    self._test_part(shapes, groups, *block, seconds)
                return seconds

            self._seconds = [sum(each) for each in zip(*run(share, thread_count), strict=True)]
        for code, first, last in groups:
            if code in _SOLID_CODES:
                self._test_others(shapes, code, first, last, thread_count)

    def _test_part(self, shapes: Shapes, groups: list[_Group], first: int, last: int, seconds: list[float]) -> None:
        found = self._buffers.found
        poses = PoseArrays(shapes.position, shapes.rotation, shapes.size)
        for code, low, high in groups:
            low, high = max(first, low), min(last, high)
            if low >= high:
                continue
            loop = self._loops[code]
            if loop is None:
                found.point_count[low:high] = 0
                continue
            began = perf_counter()
            loop(poses, found, low, high)
            seconds[code] += perf_counter() - began

    def _test_others(self, shapes: Shapes, code: int, first: int, last: int, thread_count: int) -> None:
        """Test pairs with a hull or a mesh, whose modules are loaded only where they are needed."""
        began = perf_counter()
        found = self._buffers.found.take(slice(first, last))
        if code in _MESH_CODES:
            from choque.narrow.pieces import mesh_contacts

            mesh_contacts(shapes, found, thread_count)
        else:
            from choque.narrow.convex.contacts import convex_contacts

            convex_contacts(shapes, found, thread_count, self._memory.setdefault(code, {}))
        self._seconds[code] += perf_counter() - began


def tally_of(kind: I8, pairs: Pairs, touching: Pairs, seconds: Sequence[float]) -> dict[str, KindTally]:
    """Return the tally of ``pairs`` of shapes of these kinds (n,), some of which touch, by the time of each code."""
    tests, contacts = (
        np.bincount(np.sort(kind[rows], axis=1) @ [KIND_COUNT, 1], minlength=len(KINDS)).tolist()
        for rows in (pairs, touching)
    )
    return {kinds: KindTally(*each) for kinds, *each in zip(KINDS, tests, contacts, seconds, strict=True) if each[0]}


_Group: TypeAlias = tuple[int, int, int]
"""A code, and the rows ``first … last − 1`` of the buffers that hold its pairs."""


def _groups(starts: I64) -> list[_Group]:
    """Return the groups that have pairs, by ascending code."""
    borders = starts.tolist()
    return [(code, *borders[code : code + 2]) for code in (starts[1:] > starts[:-1]).nonzero()[0].tolist()]


class _Buffers:
    """Working arrays for up to ``size`` pairs, in the order of their kinds."""

    def __init__(self, size: int, dtype: np.dtype[Any]) -> None:
        self.size = size
        self.code = np.empty(size, np.uint8)
        self.slot = np.empty(size, np.int32)
        self.found = ContactArrays.empty(size, dtype)


def _ordered(pairs: ArrayLike, count: int) -> Pairs:
    """Return the pairs with the smaller row first, sorted, each once."""
    given = np.sort(check.pairs(pairs, "pairs", count), axis=1)
    same = np.flatnonzero(given[:, 0] == given[:, 1])
    if len(same):
        raise InvalidInput(f"A pair is ({given[same[0], 0]}, {given[same[0], 1]}); a shape has no contact with itself.")
    return np.unique(given, axis=0)


def _is_ready(pairs: Any) -> bool:
    """Return whether the pairs have the layout that kernels are compiled for."""
    return isinstance(pairs, np.ndarray) and pairs.dtype == np.int32 and pairs.shape[1:] == (2,) and pairs.flags.carray


def _refusal(shapes: Shapes, pairs: Pairs, place: int) -> InvalidInput:
    """Return the error for the pair at this place: about its rows, its kinds, or its order."""
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


@kernel
def _group_pairs(kind: I8, pairs: Pairs, code: U8, slot: I32, rows: Pairs, starts: I64) -> int:
    """Sort ``pairs`` into groups of equal kinds by counting: O(m), stable.

    Writes ``starts`` (k² + 1,), zeros at first, where the group of each ``code`` first·k + second begins, ``rows``, the
    bodies in the order of the groups with that of the smaller kind first, and ``slot``, the new place of each pair.
    Returns −1, or the place of the first pair that is out of range, out of order or of an unknown kind; the outputs are
    then invalid.
    """
    count, body_count = pairs.shape[0], kind.size
    before = np.int64(-1)
    for place in range(count):
        a, b = np.int64(pairs[place, 0]), np.int64(pairs[place, 1])
        rank = a * body_count + b
        if not (0 <= a < b < body_count and rank > before):
            return place
        before = rank
        kind_a, kind_b = np.int64(kind[a]), np.int64(kind[b])
        if not (0 <= kind_a < KIND_COUNT and 0 <= kind_b < KIND_COUNT):
            return place
        key = min(kind_a, kind_b) * KIND_COUNT + max(kind_a, kind_b)
        code[place] = key
        starts[key] += 1
    total = np.int64(0)
    for group in range(starts.size):
        own = starts[group]
        starts[group] = total
        total += own
    for place in range(count):
        key = np.int64(code[place])
        target = starts[key]
        starts[key] = target + 1
        slot[place] = target
        a, b = pairs[place, 0], pairs[place, 1]
        if kind[a] > kind[b]:
            a, b = b, a
        rows[target, 0], rows[target, 1] = a, b
    for group in range(starts.size - 1, 0, -1):
        starts[group] = starts[group - 1]
    starts[0] = 0
    return -1


@kernel
def _gather(pairs: Pairs, slot: I32, found: ContactArrays, answer: ContactArrays) -> None:
    """Copy the contacts in the order of the pairs, normals from the smaller row to the larger."""
    rows, normal, points, separations, features, point_count = found
    answer_pairs, answer_normal, answer_points, answer_separations, answer_features, answer_count = answer
    width = points.shape[1]
    count = 0
    for place in range(pairs.shape[0]):
        source = slot[place]
        if point_count[source] == 0:
            continue
        sign = 1.0 if rows[source, 0] == pairs[place, 0] else -1.0
        answer_pairs[count, 0], answer_pairs[count, 1] = pairs[place, 0], pairs[place, 1]
        for axis in range(3):
            answer_normal[count, axis] = sign * normal[source, axis] + 0.0  # no negative zeros
            answer_points[count, 0, axis] = points[source, 0, axis]
        answer_separations[count, 0] = separations[source, 0]
        answer_features[count, 0] = 0
        answer_count[count] = 1
        if width > 1:
            answer_count[count] = point_count[source]
            for point in range(width):
                for axis in range(3):
                    answer_points[count, point, axis] = points[source, point, axis]
                answer_separations[count, point] = separations[source, point]
                answer_features[count, point] = features[source, point]
        count += 1
