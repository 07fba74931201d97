"""Neighbour lists of points in one call."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core import check, threads
from choque._core.answers import as_answer
from choque._core.kernel import forceinline, kernel
from choque._core.tables import is_table, point_coordinates
from choque._core.threads import resolve_count
from choque._core.types import F64, I64, Bools, Integer
from choque.errors import InvalidInput
from choque.neighbors._cells import Cells, check_cells, check_cells_away, check_image_count, margins, wrap_points
from choque.neighbors.lists import NearLists, empty_lists, offsets_of, write
from choque.neighbors.search import ALL, FULL, HALF, Group, Pass, count_pass, fill_pass, is_kept, prepare, step_between

LETTERS = "ijSdDP"
MAX_SIZE_CLASSES = 6  # maximum number of classes of radii; each but the last spans a factor of four
MIN_LENGTH, MAX_LENGTH = 1e-150, 1e150  # cut-offs whose squares are finite


def find(
    positions: ArrayLike,
    cutoff: float | None = None,
    *,
    cell: ArrayLike | None = None,
    periodic: ArrayLike | None = None,
    quantities: str = "ij",
    full: bool = True,
    radii: ArrayLike | None = None,
    other: ArrayLike | None = None,
    other_radii: ArrayLike | None = None,
    batch: ArrayLike | None = None,
    threads: int | None = None,
    like: Any = None,
) -> Any:
    """Return all pairs of points that are closer than a cut-off, in free space or in a periodic cell.

    Parameters
    ----------
    positions
        (n, 2) or (n, 3), in any unit of length; or a table with columns x, y and z. Points may lie outside the cell.
    cutoff
        Pairs with a distance less than this are neighbours; a pair exactly at the cut-off is not.
    cell
        (d, d), a vector a row, or (d,) edge lengths; None for free space. With ``batch`` (d, d) for all systems or
        (k, d, d).
    periodic
        Whether space repeats along each vector of the cell; by default along all. With ``batch`` also (k, d).
    quantities
        What to return, in this order, by ASE's letters: ``i`` and ``j`` (m,) int32, the two points; ``S`` (m, d)
        int32, the cells between them; ``d`` (m,) distances; ``D`` (m, d) vectors from i to j, which are
        ``positions[j] - positions[i] + S @ cell``; ``P`` (m, 2) int32, i and j side by side.
    full
        True: every pair from both sides. False: once, with i < j, or i = j and the first cell other than 0 positive.
    radii
        (n,), instead of a cut-off: pairs with a distance less than the sum of their radii are neighbours.
    other
        (k, d): find neighbours of ``positions`` among these points instead; j counts them.
    other_radii
        (k,), the radii of ``other``.
    batch
        (k + 1,) rows where each of k separate systems starts, from 0 to n: points of different systems are never
        neighbours. Many small systems in one call are much faster than in one call each.
    threads
        The number of threads; None for all. The answer is the same for any number.
    like
        A tensor: arrays become tensors of its library, such as torch, in ordinary memory and without a copy. Or a
        table: the answer becomes one of its library, such as pandas, with the columns i, j, S_a, S_b, S_c, d, D_x, ….

    Returns
    -------
    array, or tuple of arrays
        One for each letter; a tuple also turns into a table: ``to_pandas()``, ``to_polars()``, ``to_arrow()``. Rows are
        sorted by i; the rows of one i have an order that depends on the input alone.

    Notes
    -----
    Exact by the rule above, computed in float64, for any cell: tilted, thinner than the cut-off (a pair then has
    several images), with any mixture of periodic axes. Cell lists after Hockney & Eastwood, "Computer Simulation Using
    Particles", 1981; radii are searched by classes of sizes. O(n + m) for points spread evenly, and the memory of the
    answer beside about 100 bytes a point.

    Examples
    --------
    >>> import choque
    >>> choque.neighbors([[0.1, 0, 0], [0.9, 0, 0]], 0.3, cell=[1, 1, 1], quantities="ijS")[2].tolist()
    [[-1, 0, 0], [1, 0, 0]]
    """
    letters = check_quantities(quantities)
    near, dimension = check_group(positions, radii, "positions", "radii")
    reach = check_reach(cutoff, radii)
    is_full = check.boolean(full, "full")
    far, part = near, FULL if is_full else HALF
    if other is None:
        if other_radii is not None:
            raise InvalidInput("other_radii was given without other; give the points that have these radii as other=.")
    else:
        far, part = _check_other(other, other_radii, near, dimension), ALL
        if not is_full or batch is not None:
            given = "full=False" if not is_full else "batch="
            raise InvalidInput(f"other= and {given} were given; two sets have one list, so leave {given} out.")
    starts = check_batch(batch, len(near.position))
    cells = check_cells(cell, periodic, dimension, None if batch is None else len(starts) - 1)
    task = Task(near, far, starts, cells, reach, part)
    _, lists = search(task, letters.replace("P", "ij"), resolve_count(threads, len(near.position)))
    return answer(lists, letters, dimension, like)


class Task(NamedTuple):
    """A checked search: neighbours of ``near`` among ``far``, system by system."""

    near: Group
    far: Group
    starts: I64
    cells: Cells
    cutoff: float
    part: int


def search(task: Task, wanted: str, thread_count: int) -> tuple[I64, NearLists]:
    """Return offsets (n + 1,) and the arrays whose letters are ``wanted``."""
    near, starts = task.near, task.starts
    sizes = np.diff(starts)
    is_small = sizes <= (MAX_SMALL if near is task.far else -1)
    passes: list[Pass] = []
    for system in np.flatnonzero(~is_small & (sizes > 0)).tolist():
        own = near if len(sizes) == 1 else near.take(slice(starts[system], starts[system + 1]))
        far = own if near is task.far else task.far
        passes += size_passes(own, far, task.cells.take(system), task.cutoff, task.part, thread_count)
    rows = np.flatnonzero(is_small)
    reach = 2 * float(near.radius.max()) if near.radius.size else task.cutoff
    small = prepare_small(near, starts, rows, task.cells, reach) if len(rows) else None
    visit = None if small is None else partial(visit_small, small, task.cutoff, task.part)
    return gather(passes, visit, len(near.position), wanted, thread_count)


def gather(
    passes: list[Pass], visit: Callable[..., None] | None, count: int, wanted: str, thread_count: int
) -> tuple[I64, NearLists]:
    """Count the neighbours of ``count`` points by all passes, then write them; return offsets and arrays.

    ``visit`` handles small systems.
    """
    counts = np.zeros(count, np.int64)
    if visit is not None:
        visit(counts, None, thread_count)
    for one in passes:
        count_pass(one, counts, thread_count)
    offsets = offsets_of(counts)
    lists, cursor = empty_lists(int(offsets[-1]), wanted), offsets[:-1].copy()
    if visit is not None:
        visit(cursor, lists, thread_count)
    for one in passes:
        fill_pass(one, cursor, lists, thread_count)
    return offsets, lists


def size_passes(near: Group, far: Group, cell: Cells, cutoff: float, part: int, thread_count: int) -> list[Pass]:
    """Return one pass for a cut-off; for radii one for each two classes of sizes, so that small points look nearby."""
    if not len(far.position):
        return []
    if not near.radius.size:
        return [prepare(near, far, cell, cutoff, part, thread_count)]
    largest = float(max(near.radius.max(), far.radius.max()))
    if largest == 0:
        return []
    near_classes = _size_classes(near, largest)
    far_classes = near_classes if near is far else _size_classes(far, largest)
    passes = []
    for own in near_classes:
        for others in far_classes:
            reach = float(own.radius.max() + others.radius.max())
            kept = part if own is others or part == HALF else ALL
            if reach > 0:
                passes.append(prepare(own, others, cell, reach, kept, thread_count))
    return passes


def _size_classes(group: Group, largest: float) -> list[Group]:
    with np.errstate(divide="ignore", over="ignore"):
        classes = np.minimum(np.log2(largest / group.radius) / 2, MAX_SIZE_CLASSES - 1).astype(np.int64)
    return [group.take(np.flatnonzero(classes == each)) for each in np.unique(classes)]


def answer(lists: NearLists, letters: str, dimension: int, like: Any = None) -> Any:
    """Return the arrays of these letters, as ``like`` asks for."""
    found: dict[str, NDArray[Any]] = {"i": lists.i, "j": lists.j, "d": lists.distance}
    found |= {"S": lists.shift[:, :dimension], "D": lists.vector[:, :dimension]}
    if "P" in letters:
        found["P"] = np.stack((lists.i, lists.j), axis=1)
    return as_answer(like, **{letter: found[letter] for letter in letters})


def check_quantities(quantities: Any, letters: str = LETTERS) -> str:
    """Return the letters of the quantities, each known and named once."""
    given = check.text(quantities, "quantities")
    if not given or set(given) - set(letters) or len(set(given)) < len(given):
        raise InvalidInput(
            f"quantities is {quantities!r}; it must be some of the letters {letters}, each at most once."
        )
    return given


def check_group(positions: ArrayLike, radii: ArrayLike | None, name: str, radii_name: str) -> tuple[Group, int]:
    """Return points as (n, 3) float64, 2D ones in the plane z = 0, and their dimension."""
    if not isinstance(positions, np.ndarray | list) and is_table(positions):
        positions = point_coordinates(positions, name)
    given = check.finite(check.coordinates(positions, name), name)
    count, dimension = given.shape
    position = np.zeros((count, 3))
    position[:, :dimension] = given
    radius = np.empty(0)
    if radii is not None:
        radius = check.table(radii, radii_name, (count,), 0, MAX_LENGTH)
    return Group(position, np.arange(count, dtype=np.int32), radius), dimension


def check_reach(cutoff: float | None, radii: ArrayLike | None) -> float:
    """Return the cut-off, or 0 if there are radii instead."""
    if (cutoff is None) == (radii is None):
        both = "neither cutoff nor radii" if cutoff is None else "cutoff and radii"
        raise InvalidInput(f"{both} were given; give one of them: one distance for all pairs, or a radius a point.")
    if cutoff is None:
        return 0.0
    return check.number(cutoff, "cutoff", MIN_LENGTH, MAX_LENGTH, otherwise="choose another unit of length")


def check_batch(batch: ArrayLike | None, count: int) -> I64:
    """Return where each system starts, (k + 1,); one system if ``batch`` is None."""
    if batch is None:
        return np.array([0, count], np.int64)
    starts = check.integers(batch, "batch", 0, count).astype(np.int64)
    if starts.ndim != 1 or not len(starts) or starts[0] != 0 or starts[-1] != count or (np.diff(starts) < 0).any():
        raise InvalidInput(
            f"batch has the shape {starts.shape} and is {np.array2string(starts, threshold=8)}; it must be the rows "
            f"where each system starts, in order, from 0 to {count}, the number of points."
        )
    return starts


def _check_other(other: ArrayLike, other_radii: ArrayLike | None, near: Group, dimension: int) -> Group:
    far, other_dimension = check_group(other, other_radii, "other", "other_radii")
    if other_dimension != dimension:
        raise InvalidInput(f"positions are {dimension}D and other is {other_dimension}D; give both in one dimension.")
    if (other_radii is None) != (near.radius.size == 0) and len(near.position) and len(far.position):
        raise InvalidInput("radii and other_radii belong together; give both, or a cut-off and neither of them.")
    return far


MAX_SMALL = 128  # maximum number of points of a small system


class Systems(NamedTuple):
    """Small systems."""

    first: I64
    last: I64  # (k,) int64: the points of each
    vectors: F64
    margin: F64
    # (k, 3, 3), (k, 3), (k, 3): their cells, and the maximum difference of fractional coordinates of neighbours
    periodic: Bools
    group: Group  # the points of all systems
    fraction: F64
    whole: F64  # (n, 3) float64: wrapped fractional coordinates, and the whole cells that were added to get there


def prepare_small(group: Group, starts: I64, rows: I64, cells: Cells, reach: float) -> Systems:
    """Wrap the points of those systems that are listed in ``rows``."""
    first, last = starts[rows], starts[rows + 1]
    own = Cells(cells.vectors[rows], cells.inverse[rows], cells.heights[rows], cells.periodic[rows])
    fraction, whole = np.zeros_like(group.position), np.zeros_like(group.position)
    wrap_points(first, last, group.position, own, fraction, whole)
    check_cells_away(whole, group.position)
    margin = margins(reach, own, float(np.abs(group.position).max(initial=0)))
    check_image_count(2 * margin + 1, int((last - first).max(initial=0)), reach)
    return Systems(first, last, own.vectors, margin, own.periodic, group, fraction, whole)


def visit_small(
    systems: Systems, cutoff: float, part: int, cursor: I64, lists: NearLists | None, thread_count: int
) -> None:
    """Add the number of neighbours of every point to ``cursor`` (n,), and write them from there on to ``lists``."""
    is_filling = lists is not None
    target = empty_lists(0, "") if lists is None else lists
    threads.over_shares(_visit, len(systems.first), thread_count, systems, cutoff, part, cursor, target, is_filling)


@forceinline
def _moves(systems: Any, system: Integer, i: Integer, j: Integer, axis: Integer) -> Any:
    """Return the first and last image of a point along an axis that can be near another point."""
    if not systems.periodic[system, axis]:
        return np.int64(0), np.int64(0)
    between = systems.fraction[i, axis] - systems.fraction[j, axis]
    margin = systems.margin[system, axis]
    return np.int64(math.ceil(between - margin)), np.int64(math.floor(between + margin))


@kernel
def _visit(
    first: int, last: int, systems: Systems, cutoff: float, part: int, cursor: Any, lists: NearLists, is_filling: bool
) -> None:
    """Count the neighbours of the points of some systems, or write them."""
    position, radius, whole = systems.group.position, systems.group.radius, systems.whole
    has_radius = radius.size > 0
    for system in range(first, last):
        vectors = systems.vectors[system]
        for i in range(systems.first[system], systems.last[system]):
            row = cursor[i]
            own = (position[i, 0], position[i, 1], position[i, 2])
            for j in range(i if part == HALF else systems.first[system], systems.last[system]):
                other = (position[j, 0], position[j, 1], position[j, 2])
                limit = radius[i] + radius[j] if has_radius else cutoff
                from_a, to_a = _moves(systems, system, i, j, 0)
                from_b, to_b = _moves(systems, system, i, j, 1)
                from_c, to_c = _moves(systems, system, i, j, 2)
                for a in range(from_a, to_a + 1):
                    for b in range(from_b, to_b + 1):
                        for c in range(from_c, to_c + 1):
                            cells = (
                                a + np.int64(whole[j, 0] - whole[i, 0]),
                                b + np.int64(whole[j, 1] - whole[i, 1]),
                                c + np.int64(whole[j, 2] - whole[i, 2]),
                            )
                            step = step_between(own, other, cells, vectors)
                            square = step[0] * step[0] + step[1] * step[1] + step[2] * step[2]
                            if square < limit * limit and is_kept(i, j, cells, part):
                                if is_filling:
                                    write(lists, row, i, j, cells, step, square)
                                row += 1
            cursor[i] = row
