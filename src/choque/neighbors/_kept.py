"""A neighbour list that is kept while points move, and rebuilt only when one has moved too far."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from choque._core import check, threads
from choque._core.kernel import kernel
from choque._core.types import F64, I32, I64, Bools
from choque.errors import InvalidInput
from choque.neighbors._cells import Cells, check_cells
from choque.neighbors._find import Task, answer, check_batch, check_group, check_quantities, check_reach, search
from choque.neighbors.lists import NearLists, empty_lists, offsets_of, write
from choque.neighbors.search import FULL, HALF, step_between


class Candidates(NamedTuple):
    """Pairs that were closer than cut-off and skin when the list was built."""

    offsets: I64  # (n + 1,) int64: where those of each point start
    j: I32  # (m,) int32: the other point
    shift: I32  # (m, 3) int32: the cells between the two


class State(NamedTuple):
    """Candidates, and where the points are now."""

    candidates: Candidates
    position: F64
    vectors: F64
    cutoff: float


class Neighbors:
    """Neighbours of moving points, exact after every update, with a search only once in several of them.

    A search finds all pairs closer than ``cutoff + skin``. As long as no point has moved further than half the skin,
    these contain all neighbours, which one pass then selects (Verlet, "Computer 'experiments' on classical fluids",
    Physical Review 159, 1967).

    Parameters
    ----------
    cutoff
        Pairs with a distance less than this are neighbours.
    skin
        Additional distance that is searched; 0 to search in every update.
    full
        True: every pair from both sides. False: once, as in `choque.neighbors`.
    threads
        The number of threads; None for all.

    Examples
    --------
    >>> import choque
    >>> neighbors = choque.Neighbors(1.0, skin=0.4)
    >>> neighbors.update([[0.0, 0.0, 0.0], [1.1, 0.0, 0.0]])
    True
    >>> neighbors.update([[0.1, 0.0, 0.0], [1.0, 0.0, 0.0]]), neighbors.find("ij")[1].tolist()
    (False, [1, 0])
    """

    def __init__(self, cutoff: float, *, skin: float = 0.0, full: bool = True, threads: int | None = None) -> None:
        self._cutoff = check_reach(cutoff, None)
        self._skin = check.number(skin, "skin", 0, self._cutoff * 1e6)
        self._part = FULL if check.boolean(full, "full") else HALF
        self._threads = threads
        self._rebuild_count = 0
        self._position = self._built = np.empty((0, 3))
        self._dimension = 0
        self._cells: Cells | None = None
        self._candidates = Candidates(np.zeros(1, np.int64), np.empty(0, np.int32), np.empty((0, 3), np.int32))
        self._offsets = np.zeros(1, np.int64)

    @property
    def cutoff(self) -> float:
        """The cut-off."""
        return self._cutoff

    @property
    def skin(self) -> float:
        """The additional distance that is searched."""
        return self._skin

    @property
    def positions(self) -> F64:
        """(n, d) the points, as they were given by the last update."""
        return self._position[:, : self._dimension].copy()

    @property
    def cell(self) -> F64 | None:
        """(d, d) the vectors of the cell, a row each; None if space repeats along none of them."""
        if self._cells is None or not self._cells.periodic.any():
            return None
        return self._cells.vectors[0, : self._dimension, : self._dimension].copy()

    @property
    def periodic(self) -> Bools:
        """(d,) whether space repeats along each vector of the cell."""
        return np.zeros(0, np.bool_) if self._cells is None else self._cells.periodic[0, : self._dimension].copy()

    @property
    def rebuild_count(self) -> int:
        """The number of searches so far."""
        return self._rebuild_count

    @property
    def offsets(self) -> I64:
        """(n + 1,): the neighbours of point k are rows ``offsets[k]`` to ``offsets[k + 1]`` of what `find` returns."""
        return self._offsets

    def __len__(self) -> int:
        return int(self._offsets[-1])

    def __repr__(self) -> str:
        return (
            f"Neighbors(cutoff={self._cutoff:g}, skin={self._skin:g}): {len(self._position):,} points, "
            f"{len(self):,} neighbours, {self._rebuild_count:,} search{'' if self._rebuild_count == 1 else 'es'}"
        )

    def _repr_html_(self) -> str:
        from choque._core.notebook import boxes_picture, card

        facts = {
            "cut-off": self._cutoff,
            "skin": self._skin,
            "points": len(self._position),
            "neighbours": len(self),
            "searches": self._rebuild_count,
        }
        return card("Neighbours", facts, boxes_picture(self._position, self._position))

    def update(self, positions: ArrayLike, cell: ArrayLike | None = None, *, periodic: ArrayLike | None = None) -> bool:
        """Move the points, and return whether a search was needed.

        It is if a point has moved further than half the skin since the last one, or if the number of points, the cell
        or its periodic axes changed. A point that was wrapped to the other side of the cell has moved. The positions
        (n, 2) or (n, 3), the cell and its periodic axes are given as to `choque.neighbors`.
        """
        group, dimension = check_group(positions, None, "positions", "radii")
        cells = check_cells(cell, periodic, dimension)
        thread_count = threads.resolve_count(self._threads, len(group.position))
        is_rebuilt = not self._still_holds(group.position, dimension, cells)
        if is_rebuilt:
            reach = self._cutoff + self._skin
            task = Task(group, group, check_batch(None, len(group.position)), cells, reach, self._part)
            offsets, lists = search(task, "jS", thread_count)
            self._candidates = Candidates(offsets, lists.j, lists.shift)
            self._built, self._dimension, self._cells = group.position, dimension, cells
            self._rebuild_count += 1
        self._position = group.position
        counts = np.zeros(len(group.position), np.int64)
        self._visit(thread_count, cells, counts, empty_lists(0, ""), False)
        self._offsets = offsets_of(counts)
        return is_rebuilt

    def find(self, quantities: str = "ij") -> Any:
        """Return the neighbours at the positions of the last update, by the letters of `choque.neighbors`.

        Rows are sorted by i; the rows of one i have an order that depends on the last search. O(candidates).
        """
        letters = check_quantities(quantities)
        if self._cells is None:
            raise InvalidInput("These neighbours have no points yet; call update(positions) first.")
        lists = empty_lists(len(self), letters.replace("P", "ij"))
        thread_count = threads.resolve_count(self._threads, len(self._position))
        self._visit(thread_count, self._cells, self._offsets[:-1].copy(), lists, True)
        return answer(lists, letters, self._dimension)

    def _still_holds(self, position: F64, dimension: int, cells: Cells) -> bool:
        """Return whether the candidates contain all neighbours."""
        if self._cells is None or dimension != self._dimension or position.shape != self._built.shape:
            return False
        if not all(np.array_equal(one, other) for one, other in zip(cells, self._cells, strict=True)):
            return False
        if not len(position):
            return True
        moved = np.sqrt(np.square(position - self._built).sum(axis=1).max())
        rounding = 64 * np.finfo(np.float64).eps * max(np.abs(position).max(), np.abs(self._built).max())
        return bool(moved + rounding < self._skin / 2)

    def _visit(self, thread_count: int, cells: Cells, cursor: I64, lists: NearLists, is_filling: bool) -> None:
        state = State(self._candidates, self._position, cells.vectors[0], self._cutoff)
        threads.over_ranges(_select, len(self._position), thread_count, state, cursor, lists, is_filling)


@kernel
def _select(first: int, last: int, state: State, cursor: Any, lists: NearLists, is_filling: bool) -> None:
    """Count the candidates of some points that are neighbours now, or write them."""
    kept, position = state.candidates, state.position
    for i in range(first, last):
        row = cursor[i]
        own = (position[i, 0], position[i, 1], position[i, 2])
        for k in range(kept.offsets[i], kept.offsets[i + 1]):
            j = kept.j[k]
            cells = (kept.shift[k, 0], kept.shift[k, 1], kept.shift[k, 2])
            step = step_between(own, (position[j, 0], position[j, 1], position[j, 2]), cells, state.vectors)
            square = step[0] * step[0] + step[1] * step[1] + step[2] * step[2]
            if square < state.cutoff * state.cutoff:
                if is_filling:
                    write(lists, row, i, j, cells, step, square)
                row += 1
        cursor[i] = row
