"""The directions of the k-DOPs, as whole numbers.

Diagonals are not normalised: a slab along (1, 1, 0) bounds x + y. Integer coordinates therefore stay exact,
and a slab costs additions only. Faces come first, so that the leading slabs of every k-DOP are its
axis-aligned box; then edges, then corners, so that the slabs of an 18-DOP are the leading ones of a 26-DOP.

| k | dimension | directions |
| --- | --- | --- |
| 4 | 2 | the 2 axes: the box |
| 8 | 2 | axes and the 2 diagonals |
| 6 | 3 | the 3 axes: the box |
| 14 | 3 | axes and the 4 corners |
| 18 | 3 | axes and the 6 edges |
| 26 | 3 | axes, edges and corners |
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from choque.errors import InvalidInput

_FACES_2D = ((1, 0), (0, 1))
_CORNERS_2D = ((1, 1), (1, -1))
_FACES = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
_EDGES = ((1, 1, 0), (1, -1, 0), (1, 0, 1), (1, 0, -1), (0, 1, 1), (0, 1, -1))
_CORNERS = ((1, 1, 1), (1, 1, -1), (1, -1, 1), (1, -1, -1))

_TABLES: dict[int, tuple[tuple[int, ...], ...]] = {
    4: _FACES_2D,
    8: _FACES_2D + _CORNERS_2D,
    6: _FACES,
    14: _FACES + _CORNERS,
    18: _FACES + _EDGES,
    26: _FACES + _EDGES + _CORNERS,
}

DEFAULT_K = {2: 8, 3: 18}
"""The k that `KDops` takes in each dimension when none is asked for."""


def directions(k: int) -> NDArray[np.int64]:
    """The k/2 directions of a k-DOP, (k/2, d): k is 4 or 8 in the plane and 6, 14, 18 or 26 in space.

    >>> directions(8).tolist()
    [[1, 0], [0, 1], [1, 1], [1, -1]]
    """
    if isinstance(k, bool) or k not in _TABLES:
        raise InvalidInput(f"k is {k!r}; it must be 4 or 8 in 2D, or 6, 14, 18 or 26 in 3D.")
    return np.array(_TABLES[k], dtype=np.int64)


def dimension_of(k: int) -> int:
    """The dimension that the directions of a k-DOP live in."""
    return len(directions(k)[0])


def slot_table(k: int) -> NDArray[np.int64]:
    """Where each direction (x, y, z) of {−1, 0, 1}³ is found among the slabs, (27,).

    Its place is 13 + 9 x + 3 y + z. The entry is slab + 1, negative when the slab runs the other way, and 0
    when there is none.
    """
    table = np.zeros(27, dtype=np.int64)
    for slab, direction in enumerate(_TABLES[k], start=1):
        x, y, z = (*direction, 0)[:3]
        table[13 + 9 * x + 3 * y + z] = slab
        table[13 - 9 * x - 3 * y - z] = -slab
    return table
