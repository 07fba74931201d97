"""The one call for contacts of shapes that somebody has as arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from choque._core import check
from choque._core.types import Pairs
from choque.broad import create
from choque.errors import InvalidInput
from choque.narrow.manifold import Contacts
from choque.narrow.phase import NarrowPhase
from choque.narrow.shapes import Shapes


def contacts(
    shapes: Shapes,
    pairs: ArrayLike | None = None,
    *,
    narrow: str = "exact",
    broad: str = "auto",
    threads: int | None = None,
) -> Contacts:
    """Where shapes touch.

    Parameters
    ----------
    shapes
        Solids in their poses; all numbers are looked at before anything is computed.
    pairs
        (m, 2) rows of the shapes to look at, in any order; one that is named twice counts once. None for all pairs
        whose boxes overlap.
    narrow
        The contact rules, ``"exact"`` or another name; see `NarrowPhase`.
    broad
        The broad phase that finds the pairs, one of `choque.broad.names()`.
    threads
        How many threads to use; None for all. The answer is the same for any number.

    Returns
    -------
    Contacts
        Sorted by their pairs, the smaller row first, normals from it to the other.

    Notes
    -----
    For many frames make one `NarrowPhase` and keep it: this function checks all of its input each time.

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
        chosen = create(broad, shapes.boxes(threads=threads), threads=threads).pairs()
    else:
        chosen = _ordered(pairs, len(shapes))
    return phase.find(shapes, chosen)


def _ordered(pairs: ArrayLike, count: int) -> Pairs:
    """The pairs with the smaller row first, sorted, each once."""
    given = np.sort(check.pairs(pairs, "pairs", count), axis=1)
    same = np.flatnonzero(given[:, 0] == given[:, 1])
    if len(same):
        raise InvalidInput(f"A pair is ({given[same[0], 0]}, {given[same[0], 1]}); a shape has no contact with itself.")
    return np.unique(given, axis=0)
