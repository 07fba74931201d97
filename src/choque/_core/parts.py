"""Parts of a whole, joined pair by pair: union-find with halved paths (Tarjan and van Leeuwen, 1984).

``parents`` (n,) starts as 0 … n − 1. Parents are never larger than their children, so the root of a part is its least
row, and labels do not depend on the order in which parts are joined.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from choque._core.kernel import helper, kernel
from choque._core.types import Integer, Rows


@helper
def root_of(parents: Rows, row: Integer) -> Any:
    """Return the least row of the part that a row belongs to."""
    while parents[row] != row:
        parents[row] = parents[parents[row]]
        row = parents[row]
    return row


@helper
def join(parents: Rows, one: Integer, other: Integer) -> None:
    """Join the parts of two rows."""
    a, b = root_of(parents, one), root_of(parents, other)
    parents[max(a, b)] = min(a, b)


@helper
def settle(parents: Rows) -> None:
    """Make the root of each row its parent."""
    for row in range(parents.size):
        parents[row] = parents[parents[row]]


@kernel
def parts_of(faces: Any, count: int) -> Rows:
    """Return for each of ``count`` vertices the least vertex that it is connected with by ``faces`` (m, 3)."""
    parents = np.empty(count, np.int64)
    for row in range(count):
        parents[row] = row
    for face in range(faces.shape[0]):
        join(parents, np.int64(faces[face, 0]), np.int64(faces[face, 1]))
        join(parents, np.int64(faces[face, 0]), np.int64(faces[face, 2]))
    settle(parents)
    return parents
