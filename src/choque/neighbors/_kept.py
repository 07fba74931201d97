"""A neighbour list that is kept while points move, and rebuilt only when one has moved too far."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from choque._core import check
from choque._core.ids import frozen
from choque._core.kernel import kernel
from choque._core.threads import over_ranges, resolve_count
from choque._core.types import F64, I32, I64, Bools
from choque.errors import InvalidInput
from choque.neighbors._cells import Cells, check_cells
from choque.neighbors._find import Task, answer, check_batch, check_group, check_quantities, check_reach, search
from choque.neighbors.lists import NearLists, empty_lists, offsets_of, write
from choque.neighbors.search import FULL, HALF, step_between


class State(NamedTuple):
    """Candidates, which are the pairs that were closer than cut-off and skin at the last search, and the points now."""

    first: I64  # (n + 1,): where the candidates of each point start
    j: I32  # (m,): the other point
    shift: I32  # (m, 3): the cells between the two
    position: F64  # (n, 3): where the points are now
    vectors: F64
    cutoff: float


class Kept(NamedTuple):
    """What an update leaves: replaced as a whole, so that one that fails changes nothing, and no call sees two."""

    state: State
    offsets: I64  # (n + 1,): where the neighbours of each point start
    built: F64  # (n, 3): the points at the last search
    cells: Cells
    dimension: int  # 2 or 3; 0 before the first update
    rebuild_count: int


class Neighbors:
    """Neighbours of moving points, exact after every update, with a search only once in several of them.

    A search finds all pairs closer than ``cutoff + skin``. As long as no point has moved further than half the skin,
    these contain all neighbours, which one pass then selects (Verlet, "Computer 'experiments' on classical fluids",
    Physical Review 159, 1967). An update that fails or is interrupted changes nothing, and threads may share an object:
    each call sees one whole update.

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
        resolve_count(threads, 0)  # refuses what is no number of threads
        self._threads = threads
        cells, nowhere = check_cells(None, None, 0), np.empty((0, 3))
        candidates = np.zeros(1, np.int64), np.empty(0, np.int32), np.empty((0, 3), np.int32)
        state = State(*candidates, nowhere, cells.vectors[0], self._cutoff)
        self._kept = Kept(state, np.zeros(1, np.int64), nowhere, cells, 0, 0)

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
        return self._kept.state.position[:, : self._kept.dimension].copy()

    @property
    def cell(self) -> F64 | None:
        """(d, d) the vectors of the cell, a row each; None if space repeats along none of them."""
        cells, size = self._kept.cells, self._kept.dimension
        return cells.vectors[0, :size, :size].copy() if cells.periodic.any() else None

    @property
    def periodic(self) -> Bools:
        """(d,) whether space repeats along each vector of the cell."""
        return self._kept.cells.periodic[0, : self._kept.dimension].copy()

    @property
    def rebuild_count(self) -> int:
        """The number of searches so far."""
        return self._kept.rebuild_count

    @property
    def offsets(self) -> I64:
        """(n + 1,), read-only: the neighbours of point k are rows ``offsets[k]`` to ``offsets[k + 1]`` of `find`."""
        return frozen(self._kept.offsets)

    def __len__(self) -> int:
        return int(self._kept.offsets[-1])

    def __repr__(self) -> str:
        return (
            f"Neighbors(cutoff={self._cutoff:g}, skin={self._skin:g}): {len(self.positions):,} points, "
            f"{len(self):,} neighbours, {self.rebuild_count:,} search{'' if self.rebuild_count == 1 else 'es'}"
        )

    def _repr_html_(self) -> str:
        from choque._core.notebook import boxes_picture, card

        facts = {
            "cut-off": self._cutoff,
            "skin": self._skin,
            "points": len(self.positions),
            "neighbours": len(self),
            "searches": self.rebuild_count,
        }
        return card("Neighbours", facts, boxes_picture(self._kept.state.position, self._kept.state.position))

    def update(self, positions: ArrayLike, cell: ArrayLike | None = None, *, periodic: ArrayLike | None = None) -> bool:
        """Move the points, and return whether a search was needed.

        It is if a point has moved further than half the skin since the last one, or if the number of points, the cell
        or its periodic axes changed. A point that was wrapped to the other side of the cell has moved. The positions
        (n, 2) or (n, 3), the cell and its periodic axes are given as to `choque.neighbors`.
        """
        group, dimension = check_group(positions, None, "positions", "radii")
        cells = check_cells(cell, periodic, dimension)
        thread_count = resolve_count(self._threads, len(group.position))
        kept = self._kept
        state, built, rebuild_count = kept.state, kept.built, kept.rebuild_count
        is_rebuilt = not _still_holds(kept, group.position, dimension, cells, self._skin)
        if is_rebuilt:
            reach = self._cutoff + self._skin
            task = Task(group, group, check_batch(None, len(group.position)), cells, reach, self._part)
            first, lists = search(task, "jS", thread_count)
            state, built = state._replace(first=first, j=lists.j, shift=lists.shift), group.position
            rebuild_count += 1
        state = state._replace(position=group.position, vectors=cells.vectors[0])
        counts = np.zeros(len(group.position), np.int64)
        over_ranges(_select, len(counts), thread_count, state, counts, empty_lists(0, ""), False)
        self._kept = Kept(state, offsets_of(counts), built, cells, dimension, rebuild_count)
        return is_rebuilt

    def find(self, quantities: str = "ij") -> Any:
        """Return the neighbours at the positions of the last update, by the letters of `choque.neighbors`.

        Rows are sorted by i; the rows of one i have an order that depends on the last search. O(candidates).
        """
        letters = check_quantities(quantities)
        kept = self._kept
        if kept.dimension == 0:
            raise InvalidInput("These neighbours have no points yet; call update(positions) first.")
        lists = empty_lists(int(kept.offsets[-1]), letters.replace("P", "ij"))
        thread_count = resolve_count(self._threads, len(kept.built))
        over_ranges(_select, len(kept.built), thread_count, kept.state, kept.offsets[:-1].copy(), lists, True)
        return answer(lists, letters, kept.dimension)


@np.errstate(over="ignore")  # points that moved too far for a float64 have moved
def _still_holds(kept: Kept, position: F64, dimension: int, cells: Cells, skin: float) -> bool:
    """Return whether the candidates contain all neighbours."""
    is_alike = dimension == kept.dimension and position.shape == kept.built.shape
    if not is_alike or not all(map(np.array_equal, cells, kept.cells)):
        return False
    if not len(position):
        return True
    moved = np.sqrt(np.square(position - kept.built).sum(axis=1).max())
    rounding = 64 * np.finfo(np.float64).eps * max(np.abs(position).max(), np.abs(kept.built).max())
    return bool(moved + rounding < skin / 2)


@kernel
def _select(first: int, last: int, state: State, cursor: Any, lists: NearLists, is_filling: bool) -> None:
    """Count the candidates of some points that are neighbours now, or write them."""
    position = state.position
    for i in range(first, last):
        row = cursor[i]
        own = (position[i, 0], position[i, 1], position[i, 2])
        for k in range(state.first[i], state.first[i + 1]):
            j = state.j[k]
            cells = (state.shift[k, 0], state.shift[k, 1], state.shift[k, 2])
            step = step_between(own, (position[j, 0], position[j, 1], position[j, 2]), cells, state.vectors)
            square = step[0] * step[0] + step[1] * step[1] + step[2] * step[2]
            if square < state.cutoff * state.cutoff:
                if is_filling:
                    write(lists, row, i, j, cells, step, square)
                row += 1
        cursor[i] = row
