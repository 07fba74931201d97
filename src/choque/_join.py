"""Joins of two sets of boxes: which rows of one overlap which rows of the other, and by how much."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from choque._core import check
from choque._core.answers import as_answer
from choque._core.emission import Keeper, KernelKeeper
from choque._core.kernel import kernel
from choque._core.pair_keys import PairFilter, key_first, key_second
from choque._core.tables import box_corners
from choque._core.types import Keys
from choque.bounds import Boxes
from choque.boxes.likeness import AlikeSearch, check_over
from choque.broad.join import Task, join_boxes
from choque.errors import InvalidInput


def join(
    a_lower: ArrayLike,
    a_upper: ArrayLike,
    b_lower: ArrayLike | None = None,
    b_upper: ArrayLike | None = None,
    *,
    columns: Sequence[str] | None = None,
    iou: float | None = None,
    over: str = "union",
    method: str = "auto",
    closed: bool = True,
    threads: int | None = None,
    groups: tuple[ArrayLike, ArrayLike] | None = None,
    masks: tuple[ArrayLike, ArrayLike] | None = None,
    like: Any = None,
    **options: Any,
) -> Any:
    """Return every pair of a box of a and a box of b that overlap.

    Parameters
    ----------
    a_lower, a_upper, b_lower, b_upper
        (n, d) and (k, d) corners of axis-aligned boxes, d = 2 or 3, as in `choque.pairs`. Or give two things, each a
        set of boxes: tables, (n, 4) or (n, 6) arrays, lower corner first, `choque.bounds.Boxes`.
    iou
        Keep only pairs whose intersection over union is at least this, from 0 to 1, and return it too.
    over
        ``"union"``, or ``"smaller"`` to divide the intersection by the smaller of both boxes: 1 for a box inside
        another.
    method
        One of `choque.broad.names()`. ``"auto"`` takes ``grid``, ``bvh`` or ``brute``, which index the smaller set and
        look up the boxes of the larger one; other methods get both sets as one.
    columns, closed, threads
        As in `choque.pairs`.
    groups, masks
        Bit fields of both sets, ``(of a, of b)``, each a number for all boxes or one for each: boxes meet only when
        each is in a group that the other's mask admits, see `choque.broad.PairFilter`.
    like
        A tensor: the answer becomes tensors of its library, such as torch, in ordinary memory and without a copy. Or
        a table: the answer becomes one of its library, such as pandas, with the columns a, b and overlap.
    options
        Options of the method.

    Returns
    -------
    (m, 2) int32
        Rows of a and of b, sorted: the same array on every run. With ``iou`` a tuple of ``pairs`` and ``values`` (m,),
        which also turns into a table: ``to_pandas()``, ``to_polars()``, ``to_arrow()``.

    Notes
    -----
    Exact for both topologies: bounds are only compared. Overlaps are computed in the float type of the boxes, in the
    order of torchvision's ``box_iou``. Pairs below ``iou`` are dropped while pairs are found, so that memory follows
    the answer. Before the search boxes are shrunk as far as the threshold allows
    (`choque.boxes.likeness`), so that crowded boxes cost less the higher it is.

    Examples
    --------
    >>> import choque
    >>> choque.join([[0, 0], [5, 5]], [[2, 2], [6, 6]], [[1, 1], [9, 9]], [[3, 3], [10, 10]]).tolist()
    [[0, 0]]
    """
    if (b_lower is None) != (b_upper is None):
        raise InvalidInput("Three things were given; give two sets of boxes, or the lower and upper corners of both.")
    if columns is not None and b_lower is not None:
        raise InvalidInput("columns and four corners were given; columns are those of two tables. Leave them out.")
    if b_lower is None or b_upper is None:
        (a_lower, a_upper), (b_lower, b_upper) = box_corners(a_lower, columns, "a"), box_corners(a_upper, columns, "b")
    a, b = _check_side(a_lower, a_upper, "a"), _check_side(b_lower, b_upper, "b")
    if a.dimension != b.dimension:
        raise InvalidInput(f"The boxes of a are {a.dimension}D and those of b {b.dimension}D; they must agree.")
    is_closed = check.boolean(closed, "closed")
    is_over_smaller = check_over(over)
    allowed = _check_filters(groups, masks, len(a), len(b))
    if iou is None:
        return as_answer(like, pairs=join_boxes(Task(a, b, is_closed, threads, allowed), method, options))
    search = AlikeSearch.make(a, b, iou, is_over_smaller)
    task = Task(*search.near, is_closed or search.threshold > 0, threads, search.keeper_after(allowed))
    found = join_boxes(task, method, options)
    return as_answer(like, pairs=found, values=search.overlaps(found, threads))


def _check_side(lower: ArrayLike, upper: ArrayLike, name: str) -> Boxes:
    try:
        return Boxes(lower, upper)
    except InvalidInput as problem:
        raise InvalidInput(f"Boxes {name}: {problem}") from None


def _check_filters(
    groups: tuple[ArrayLike, ArrayLike] | None, masks: tuple[ArrayLike, ArrayLike] | None, *counts: int
) -> Keeper | None:
    if groups is None and masks is None:
        return None
    for name, given in (("groups", groups), ("masks", masks)):
        if given is not None and (not isinstance(given, tuple | list) or len(given) != 2):
            raise InvalidInput(f"{name} is {given!r}; it must be a tuple of two: (of a, of b).")
    sides = [
        PairFilter.make(count, None if groups is None else groups[side], None if masks is None else masks[side], None)
        or PairFilter.open_to_all(count)
        for side, count in enumerate(counts)
    ]
    return KernelKeeper(_keep_admitted, *((side.groups, side.masks) for side in sides))


@kernel
def _keep_admitted(keys: Keys, a: tuple[Any, Any], b: tuple[Any, Any]) -> int:
    """Keep the pairs that groups and masks admit, in order; return how many there are."""
    kept = 0
    for k in range(keys.size):
        key = keys[k]
        i, j = key_first(key), key_second(key)
        keys[kept] = key
        kept += (a[0][i] & b[1][j]) != 0 and (b[0][j] & a[1][i]) != 0
    return kept
