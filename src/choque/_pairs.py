"""The one call that most people need: every overlapping pair of boxes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast, overload

from numpy.typing import ArrayLike

from choque._core import check
from choque._core.overlap import Columns
from choque._core.records import Corners, pack_records
from choque._core.row_pairs import BOXES_PER_BODY, list_alike
from choque._core.threads import resolve_count
from choque._core.types import Floats, Pairs
from choque.bounds import Boxes
from choque.broad.brute import MAX_LISTED, list_few
from choque.broad.index import find
from choque.errors import InvalidInput

if TYPE_CHECKING:
    from choque.broad.auto import Auto, Choice


@overload
def pairs(
    lower: ArrayLike,
    upper: ArrayLike | None = None,
    *,
    columns: Sequence[str] | None = None,
    iou: None = None,
    over: str = "union",
    method: str = "auto",
    closed: bool = True,
    threads: int | None = None,
    displacement: ArrayLike | None = None,
    device: str | None = None,
    like: None = None,
    **options: Any,
) -> Pairs: ...


@overload
def pairs(
    lower: ArrayLike,
    upper: ArrayLike | None = None,
    *,
    columns: Sequence[str] | None = None,
    iou: float | None = None,
    over: str = "union",
    method: str = "auto",
    closed: bool = True,
    threads: int | None = None,
    displacement: ArrayLike | None = None,
    device: str | None = None,
    like: Any = None,
    **options: Any,
) -> Any: ...


def pairs(
    lower: ArrayLike,
    upper: ArrayLike | None = None,
    *,
    columns: Sequence[str] | None = None,
    iou: float | None = None,
    over: str = "union",
    method: str = "auto",
    closed: bool = True,
    threads: int | None = None,
    displacement: ArrayLike | None = None,
    device: str | None = None,
    like: Any = None,
    **options: Any,
) -> Any:
    """Return every pair of boxes that overlap.

    Parameters
    ----------
    lower, upper
        (n, 2) or (n, 3) corners of axis-aligned boxes, ``lower <= upper``; float32 and float64 are used as they are,
        lists and integers become float64. Infinite extents are legal, NaN is not. Without ``upper``, ``lower`` holds
        whole boxes: a table (pandas, Polars, GeoPandas, pyarrow, DuckDB, a dict), an array (n, 4) or (n, 6), lower
        corner first, or `choque.bounds.Boxes`. Tensors are read where they are.
    columns
        The 4 or 6 columns of a table that hold boxes, lower corner first; None for usual names: x_lower, …; x1, …;
        xmin, ….
    iou, over
        Keep only pairs whose intersection over union, or over the smaller box, is at least ``iou``, and return it too;
        see `choque.join`.
    method
        One of `choque.broad.names()`; ``"auto"`` picks one for you, and `explain` says which and why.
    closed
        True: boxes that touch overlap. False: they do not.
    threads
        How many threads to use; None for all. The answer is the same for any number.
    displacement
        (n, d) or (d,): each box is swept along this vector, and pairs are those whose swept boxes overlap. They contain
        every pair that meets on the way, however fast the boxes are.
    device
        ``"cuda"`` or ``"cuda:N"`` to use a card, with the methods ``"auto"`` and ``"sap-kdop"``. Where there is none
        the CPU serves, at full speed, and a `choque.gpu.DeviceNote` says so; the answer is the same.
    like
        A tensor or a table: the answer becomes tensors or a table of its library, see `choque.join`.
    options
        ``groups``, ``masks`` and ``static`` (see `choque.broad.PairFilter`), and the options of the method.

    Returns
    -------
    (m, 2) int32
        Rows of the two boxes, the smaller first, sorted: the same array on every run. With ``iou`` a tuple of ``pairs``
        and ``values`` (m,), which also turns into a table.

    Examples
    --------
    >>> import choque
    >>> choque.pairs([[0, 0], [1, 1], [5, 5]], [[2, 2], [3, 3], [6, 6]]).tolist()
    [[0, 1]]
    """
    if columns is not None and upper is not None:
        raise InvalidInput("columns and upper were given; columns are those of one table. Leave one of them out.")
    if upper is None:
        from choque._core.tables import box_corners

        lower, upper = box_corners(lower, columns, "boxes")
    if iou is not None:
        for name, given in (("displacement", displacement), ("device", device)):
            if given is not None:
                raise InvalidInput(f"iou and {name} were given; overlaps are those of boxes at rest, found on the CPU.")
        from choque._core.answers import as_answer
        from choque.boxes.likeness import pairs_alike

        alike, values = pairs_alike(Boxes(lower, upper), iou, over, method, closed, threads, options)
        return as_answer(like, pairs=alike, values=values)
    found = None
    if method == "auto" and displacement is None and device is None and not options:
        lower, upper = check.widest(check.coordinates(lower, "lower"), check.coordinates(upper, "upper"))
        found = _at_once(lower, upper, closed, threads)
    if found is None:
        boxes = Boxes(lower, upper) if displacement is None else Boxes(lower, upper).swept(displacement)
        if device is not None:
            from choque.broad.devices import on_device

            method, options = on_device(device, method, options)
        index, shared = find(method).with_options({"closed": closed, "threads": threads, **options})
        found = index.over_bounds(boxes, **shared).pairs()
    if like is None:
        return found
    from choque._core.answers import as_answer

    return as_answer(like, pairs=found)


def _at_once(lower: Floats, upper: Floats, closed: bool, threads: int | None) -> Pairs | None:
    """Return the pairs of few boxes, or of boxes of like sizes that do not crowd; None for all others.

    A grid suits such boxes, so that no method need be chosen; closed boxes in 3D are not even copied into records.
    Boxes with NaN or ``lower > upper`` are among the others, and are refused when `Boxes` checks them.
    """
    check.shape(upper, "upper", lower.shape, "lower")
    count = len(lower)
    thread_count = resolve_count(threads, count // BOXES_PER_BODY)
    if count > MAX_LISTED and check.boolean(closed, "closed") and lower.shape[1] == 3:
        return list_alike(Corners.of(lower, upper), thread_count)
    records = pack_records(Boxes(lower, upper), check.boolean(closed, "closed"), thread_count)
    if count <= MAX_LISTED:
        return list_few(Columns.of(records))[0]
    return list_alike(Corners.of_records(records), thread_count)


def explain(
    lower: ArrayLike,
    upper: ArrayLike | None = None,
    b_lower: ArrayLike | None = None,
    b_upper: ArrayLike | None = None,
    *,
    closed: bool = True,
    threads: int | None = None,
) -> Choice:
    """Return which method ``"auto"`` takes for these boxes, and why; for `choque.join` if a second set is given.

    One set may be given as one thing, as to `choque.pairs`.

    Examples
    --------
    >>> import choque
    >>> print(choque.explain([[0, 0], [1, 1]], [[2, 2], [3, 3]]))
    brute: 2 boxes are few enough to test all pairs
    """
    from choque._core.tables import box_corners
    from choque.broad.auto import Choice

    if (b_lower is None) != (b_upper is None):
        raise InvalidInput("One corner of the boxes of b was given; give b_lower and b_upper, or neither of them.")
    boxes = Boxes(*box_corners(lower, None, "boxes")) if upper is None else Boxes(lower, upper)
    if b_lower is not None and b_upper is not None:
        from choque.broad.join import Task, choose

        return choose(Task(boxes, Boxes(b_lower, b_upper), closed, threads, None))
    index, shared = find("auto").with_options({"closed": closed, "threads": threads})
    auto = cast("Auto", index.over_bounds(boxes, **shared)).choice
    if auto.method == "grid" or len(boxes) <= MAX_LISTED or _at_once(boxes.lower, boxes.upper, closed, threads) is None:
        return auto
    return Choice("grid", len(boxes), boxes.dimension, "boxes of like sizes that do not crowd take a grid at once")
