"""Blocks of a tree that are yet to be looked at: a stack of numbers, block b of level l as l << 56 | b."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import inline
from choque._core.lanes import lowest_bit
from choque._core.types import Integer

Stack = NDArray[np.int64]


@inline
def entry_of(level: Integer, block: Integer) -> Integer:
    """Return the number of a block."""
    return (level << 56) | block


@inline
def level_of(entry: Integer) -> Integer:
    """Its level; the boxes themselves are in the blocks of level 0."""
    return entry >> 56


@inline
def block_of(entry: Integer) -> Integer:
    """Its place in its level."""
    return entry & 0xFFFFFFFFFFFFFF


@inline
def push_bits(stack: Stack, depth: Integer, level: Integer, block: Integer, bits: Integer) -> Integer:
    """Put the children of a block whose ``bits`` are set on the stack; return its new depth."""
    while bits != 0:
        stack[depth] = entry_of(level - 1, block * 16 + lowest_bit(bits))
        depth += 1
        bits &= bits - 1
    return depth


@inline
def push_marked(
    stack: Stack, depth: Integer, level: Integer, block: Integer, start: Integer, mask: NDArray[np.uint8]
) -> Integer:
    """Put the children of a block from ``start`` on that ``mask`` marks on the stack; its new depth."""
    for k in range(start, 16):
        stack[depth] = entry_of(level - 1, block * 16 + k)
        depth += np.int64(mask[k])
    return depth
