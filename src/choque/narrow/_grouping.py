"""Pairs sorted by the kinds of their bodies, and contacts put back into the order of the pairs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import kernel
from choque._core.types import Floats, Pairs
from choque.narrow.shapes import KIND_COUNT


@kernel
def group_pairs(
    kind: NDArray[np.int8],
    pairs: Pairs,
    code: NDArray[np.uint8],
    slot: NDArray[np.int32],
    rows: Pairs,
    starts: NDArray[np.int64],
) -> int:
    """Deal ``pairs`` into groups of equal kinds by counting: O(m), stable.

    Writes ``starts`` (k² + 1,), where the group of each ``code`` first·k + second begins, ``rows``, the bodies in the
    order of the groups with that of the smaller kind first, and ``slot``, where each pair went. Gives −1, or the place
    of the first pair that is out of range, out of order or of an unknown kind; then nothing else is of use.
    """
    count, body_count = pairs.shape[0], kind.size
    starts[:] = 0
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
def count_hits(hit: NDArray[np.uint8], starts: NDArray[np.int64], contacts: NDArray[np.int64]) -> int:
    """Count the hits of each group into ``contacts`` (k²,), and all of them."""
    total = 0
    for group in range(contacts.size):
        own = 0
        for place in range(starts[group], starts[group + 1]):
            own += int(hit[place])
        contacts[group] = own
        total += own
    return total


@kernel
def gather_hits(
    pairs: Pairs,
    slot: NDArray[np.int32],
    rows: Pairs,
    hit: NDArray[np.uint8],
    point: Floats,
    normal: Floats,
    depth: Floats,
    found_pairs: Pairs,
    found_point: Floats,
    found_normal: Floats,
    found_depth: Floats,
) -> None:
    """Write the hits in the order of the pairs, normals from the smaller row to the larger."""
    count = 0
    for place in range(pairs.shape[0]):
        source = slot[place]
        if hit[source] == 0:
            continue
        sign = 1.0 if rows[source, 0] == pairs[place, 0] else -1.0
        found_pairs[count, 0], found_pairs[count, 1] = pairs[place, 0], pairs[place, 1]
        for axis in range(3):
            found_point[count, axis] = point[source, axis]
            found_normal[count, axis] = sign * normal[source, axis] + 0.0  # no negative zeros
        found_depth[count] = depth[source]
        count += 1
