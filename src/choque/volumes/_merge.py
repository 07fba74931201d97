"""XOR of two sorted lists as one merge: the step that all sections, planes and symmetric differences are made of."""

from __future__ import annotations

import numpy as np

from choque._core.kernel import kernel
from choque.volumes._keys import VertexKeys


@kernel
def merge_xor(
    left: VertexKeys,
    left_count: int,
    right: VertexKeys,
    first: int,
    last: int,
    mask: int,
    result: VertexKeys,
) -> int:
    """Write what is in just one of ``left[:left_count]`` and ``right[first:last] & mask``; the count.

    Both are sorted and free of repetition, and so is the result. O(n + m), without a branch on the data; ``result``
    must hold n + m keys and may not be an input.
    """
    row, other, count = 0, first, 0
    while row < left_count and other < last:
        one = left[row]
        two = right[other] & mask
        result[count] = one if one < two else two
        count += one != two
        row += one <= two
        other += two <= one
    while row < left_count:
        result[count] = left[row]
        count += 1
        row += 1
    while other < last:
        result[count] = right[other] & mask
        count += 1
        other += 1
    return count


@kernel
def group_end(keys: VertexKeys, first: int, last: int, bits: int, value: int) -> int:
    """Where the keys from ``first`` on that are ``value`` above their lower ``bits``, a line or a plane, end."""
    while first < last and keys[first] >> bits == value:
        first += 1
    return first


def xor_keys(left: VertexKeys, right: VertexKeys) -> VertexKeys:
    """The symmetric difference of two sorted lists of keys: the regularised XOR of the two solids.

    EVM(P ⊗ Q) = EVM(P) ⊗ EVM(Q) (Aguilera, Orthogonal Polyhedra: Study and Application, 1998). Linear.
    """
    result = np.empty(len(left) + len(right), np.int64)
    count = merge_xor(left, len(left), right, 0, len(right), -1, result)
    return result[:count].copy() if count < len(result) // 2 else result[:count]
