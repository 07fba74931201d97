"""The trie layout of the EVM thesis: extreme vertices as linked nodes, one level for each coordinate.

After Pérez-Águila (2006). A node is a row (coordinate, first child, next sibling) of one array; row 0 is the root, and
0 also means "none". A child of the root is a plane of vertices, its children are lines, theirs the ends of brinks. The
algorithms are those of sorted keys, written over links: every section is a new trie. The answers are the same.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from choque._core import check
from choque._core.kernel import kernel
from choque.errors import InvalidInput
from choque.volumes import ExtremeVertices
from choque.volumes.boolean import END, OPERATIONS
from choque.volumes.keys import BITS, LINE_MASK, VertexKeys

Nodes: TypeAlias = NDArray[np.int64]
"""(n, 3) nodes: coordinate, first child, next sibling."""

_XOR = OPERATIONS["xor"]


class Trie:
    """The extreme vertices of a solid as a trie, in the order of the keys that it was made from."""

    def __init__(self, nodes: Nodes) -> None:
        self.nodes = nodes

    @classmethod
    def from_keys(cls, keys: VertexKeys) -> Trie:
        """Link sorted three-dimensional keys. O(n)."""
        return cls(_link(keys))

    @classmethod
    def from_model(cls, model: ExtremeVertices) -> Trie:
        """Link the vertices of a solid, relative to its offset."""
        return link(model, model)[0]

    def keys(self) -> VertexKeys:
        """Return the vertices as sorted keys."""
        return _list_keys(self.nodes)

    @property
    def byte_count(self) -> int:
        """Size of the nodes [bytes]."""
        return self.nodes.nbytes

    def combine(self, other: Trie, operation: str) -> Trie:
        """Return the regularised boolean ``operation`` of two solids."""
        check.choice(operation, "boolean operation", OPERATIONS)
        return Trie(_combine_solids(self.nodes, other.nodes, OPERATIONS[operation]))

    def collides(self, other: Trie) -> bool:
        """Return whether the interiors of two solids meet, by the sweep of Ottogalli (2014) over links."""
        return bool(_solids_collide(self.nodes, other.nodes))


def link(one: ExtremeVertices, two: ExtremeVertices) -> tuple[Trie, Trie, tuple[int, ...]]:
    """Return two solids as tries relative to a common offset, and that offset."""
    if one.dimension != 3:
        raise InvalidInput(f"The object has {one.dimension} dimensions; the trie layout is for solids.")
    left, right, offset = one.together(two)
    return Trie.from_keys(left), Trie.from_keys(right), offset


def combine(one: ExtremeVertices, two: ExtremeVertices, operation: str) -> ExtremeVertices:
    """Return a regularised boolean of two solids, computed over tries."""
    left, right, offset = link(one, two)
    return ExtremeVertices(left.combine(right, operation).keys(), one.order, offset)


def collides(one: ExtremeVertices, two: ExtremeVertices) -> bool:
    """Return whether the interiors of two solids meet, computed over tries."""
    left, right, _ = link(one, two)
    return left.collides(right)


@kernel
def _empty(capacity: int) -> Nodes:
    nodes = np.empty((capacity + 1, 3), np.int64)
    _clear(nodes)
    return nodes


@kernel
def _clear(nodes: Nodes) -> None:
    nodes[0, 0], nodes[0, 1], nodes[0, 2] = 1, 0, 0


@kernel
def _grown(nodes: Nodes, extra: int) -> Nodes:
    """Return ``nodes``, or a copy in a larger array where fewer than ``extra`` are free."""
    count = nodes[0, 0]
    if count + extra <= nodes.shape[0]:
        return nodes
    larger = np.empty((2 * (count + extra), 3), np.int64)
    for row in range(count):
        for column in range(3):
            larger[row, column] = nodes[row, column]
    return larger


@kernel
def _append(nodes: Nodes, coordinate: int, parent: int, tail: int) -> int:
    """Append a node after the sibling ``tail``, or as the first child of ``parent`` if that is 0; return its row."""
    place = int(nodes[0, 0])
    nodes[0, 0] = place + 1
    nodes[place, 0], nodes[place, 1], nodes[place, 2] = coordinate, 0, 0
    if tail > 0:
        nodes[tail, 2] = place
    else:
        nodes[parent, 1] = place
    return place


@kernel
def _take_back(nodes: Nodes, place: int, parent: int, tail: int) -> None:
    """Remove the last node, which has no children."""
    nodes[0, 0] = place
    if tail > 0:
        nodes[tail, 2] = 0
    else:
        nodes[parent, 1] = 0


@kernel
def _link(keys: VertexKeys) -> Nodes:
    nodes = _empty(3 * len(keys))
    plane, line, end = 0, 0, 0
    for key in keys:
        if plane == 0 or nodes[plane, 0] != key >> 2 * BITS:
            plane = _append(nodes, key >> 2 * BITS, 0, plane)
            line, end = 0, 0
        if line == 0 or nodes[line, 0] != key >> BITS & LINE_MASK:
            line = _append(nodes, key >> BITS & LINE_MASK, plane, line)
            end = 0
        end = _append(nodes, key & LINE_MASK, line, end)
    return nodes[: nodes[0, 0]].copy()


@kernel
def _list_keys(nodes: Nodes) -> VertexKeys:
    keys = np.empty(len(nodes), np.int64)
    count = 0
    plane = nodes[0, 1]
    while plane:
        line = nodes[plane, 1]
        while line:
            end = nodes[line, 1]
            while end:
                keys[count] = nodes[plane, 0] << 2 * BITS | nodes[line, 0] << BITS | nodes[end, 0]
                count += 1
                end = nodes[end, 2]
            line = nodes[line, 2]
        plane = nodes[plane, 2]
    return keys[:count].copy()


@kernel
def _combine_lists(one: Nodes, first: int, two: Nodes, second: int, truth: int, target: Nodes, parent: int) -> None:
    """Combine two lists of ends by a truth table into new children of ``parent``; with that of XOR: mergeXor."""
    tail, inside, in_one, in_two = 0, 0, 0, 0
    while first or second:
        here = one[first, 0] if first else END
        there = two[second, 0] if second else END
        end = here if here < there else there
        if here == end:
            first = one[first, 2]
            in_one ^= 1
        if there == end:
            second = two[second, 2]
            in_two ^= 1
        now = truth >> (2 * in_one + in_two) & 1
        if now != inside:
            tail = _append(target, end, parent, tail)
            inside = now


@kernel
def _xor_regions(one: Nodes, first: int, two: Nodes, second: int, target: Nodes) -> None:
    """Write a trie of lines: what is in exactly one of two lists of lines (mergeXor)."""
    _clear(target)
    tail = 0
    while first or second:
        here = one[first, 0] if first else END
        there = two[second, 0] if second else END
        line = here if here < there else there
        place = _append(target, line, 0, tail)
        own = one[first, 1] if here == line else 0
        others = two[second, 1] if there == line else 0
        _combine_lists(one, own, two, others, _XOR, target, place)
        if target[0, 0] == place + 1:
            _take_back(target, place, 0, tail)
        else:
            tail = place
        first = one[first, 2] if here == line else first
        second = two[second, 2] if there == line else second


@kernel
def _xor_line(one: Nodes, two: Nodes, line: int, target: Nodes) -> None:
    """Write a list of ends: those of the list ``one`` XOR the children of ``line`` in ``two``."""
    _clear(target)
    _combine_lists(one, one[0, 1], two, two[line, 1], _XOR, target, 0)


@kernel
def _lists_collide(one: Nodes, first: int, two: Nodes, second: int) -> bool:
    while first and second:
        stop, other_stop = one[one[first, 2], 0], two[two[second, 2], 0]
        if stop <= two[second, 0]:
            first = one[one[first, 2], 2]
        elif other_stop <= one[first, 0]:
            second = two[two[second, 2], 2]
        else:
            return True
    return False


@kernel
def _regions_collide(one: Nodes, two: Nodes, lines: NDArray[np.int64]) -> bool:
    """Return whether two tries of lines overlap; ``lines`` are four buffers."""
    here, next_here, there, next_there = lines[0], lines[1], lines[2], lines[3]
    _clear(here)
    _clear(there)
    first, second = one[0, 1], two[0, 1]
    while first and second:
        line = min(one[first, 0], two[second, 0])
        from_one, from_two = one[first, 0] == line, two[second, 0] == line
        if from_one:
            _xor_line(here, one, first, next_here)
            here, next_here = next_here, here
            first = one[first, 2]
        if from_two:
            _xor_line(there, two, second, next_there)
            there, next_there = next_there, there
            second = two[second, 2]
        if _lists_collide(here, here[0, 1], there, there[0, 1]):
            return True
    return False


@kernel
def _solids_collide(one: Nodes, two: Nodes) -> bool:
    # A section has no more nodes than its object, and a line no more than its section.
    here, next_here = _empty(len(one)), _empty(len(one))
    there, next_there = _empty(len(two)), _empty(len(two))
    lines = np.empty((4, max(len(one), len(two)) + 1, 3), np.int64)
    first, second = one[0, 1], two[0, 1]
    while first and second:
        plane = min(one[first, 0], two[second, 0])
        from_one, from_two = one[first, 0] == plane, two[second, 0] == plane
        if from_one:
            _xor_regions(here, here[0, 1], one, one[first, 1], next_here)
            here, next_here = next_here, here
            first = one[first, 2]
        if from_two:
            _xor_regions(there, there[0, 1], two, two[second, 1], next_there)
            there, next_there = next_there, there
            second = two[second, 2]
        if here[0, 1] and there[0, 1] and _regions_collide(here, there, lines):
            return True
    return False


@kernel
def _combine_regions(one: Nodes, two: Nodes, truth: int, lines: NDArray[np.int64], target: Nodes) -> Nodes:
    """Write a trie of lines: the boolean of two of them; ``lines`` are six buffers."""
    here, next_here, there, next_there = lines[0], lines[1], lines[2], lines[3]
    now, before = lines[4], lines[5]
    _clear(here)
    _clear(there)
    _clear(before)
    _clear(target)
    tail = 0
    first, second = one[0, 1], two[0, 1]
    while first or second:
        line = min(one[first, 0] if first else END, two[second, 0] if second else END)
        if first and one[first, 0] == line:
            _xor_line(here, one, first, next_here)
            here, next_here = next_here, here
            first = one[first, 2]
        if second and two[second, 0] == line:
            _xor_line(there, two, second, next_there)
            there, next_there = next_there, there
            second = two[second, 2]
        _clear(now)
        _combine_lists(here, here[0, 1], there, there[0, 1], truth, now, 0)
        target = _grown(target, before[0, 0] + now[0, 0])
        place = _append(target, line, 0, tail)
        _combine_lists(before, before[0, 1], now, now[0, 1], _XOR, target, place)
        if target[0, 0] == place + 1:
            _take_back(target, place, 0, tail)
        else:
            tail = place
        now, before = before, now
    return target


@kernel
def _combine_solids(one: Nodes, two: Nodes, truth: int) -> Nodes:
    here, next_here = _empty(len(one)), _empty(len(one))
    there, next_there = _empty(len(two)), _empty(len(two))
    lines = np.empty((6, len(one) + len(two) + 1, 3), np.int64)
    now, before, change, result = _empty(16), _empty(16), _empty(16), _empty(16)
    tail = 0
    first, second = one[0, 1], two[0, 1]
    while first or second:
        plane = min(one[first, 0] if first else END, two[second, 0] if second else END)
        if first and one[first, 0] == plane:
            _xor_regions(here, here[0, 1], one, one[first, 1], next_here)
            here, next_here = next_here, here
            first = one[first, 2]
        if second and two[second, 0] == plane:
            _xor_regions(there, there[0, 1], two, two[second, 1], next_there)
            there, next_there = next_there, there
            second = two[second, 2]
        now = _combine_regions(here, there, truth, lines, now)
        _clear(change)
        change = _grown(change, before[0, 0] + now[0, 0])
        _xor_regions(before, before[0, 1], now, now[0, 1], change)
        now, before = before, now
        line = change[0, 1]
        if line == 0:
            continue
        result = _grown(result, change[0, 0])
        tail = _append(result, plane, 0, tail)
        line_tail = 0
        while line:
            line_tail = _append(result, change[line, 0], tail, line_tail)
            _combine_lists(change, change[line, 1], change, 0, _XOR, result, line_tail)
            line = change[line, 2]
    return result[: result[0, 0]].copy()
