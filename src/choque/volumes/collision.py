"""Two objects on one lattice: collision, overlap, and the push that separates them.

`search` is the one algorithm behind every ``collides`` of the package: boxes first, then cached sections, probed in a
few slabs, then bundles of sections for large solids, then all slabs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from choque._core import check
from choque._core.kernel import helper
from choque._core.types import F64, I64
from choque.volumes._bundles import MET, UNDECIDED, bundles_overlap
from choque.volumes._model import ExtremeVertices
from choque.volumes._overlap import FOUND_SIZE, NO_PROBES, PROBES, Shift, find_overlap, row_at
from choque.volumes._sections import SectionArrays
from choque.volumes.keys import AXES

if TYPE_CHECKING:
    from choque.volumes._volume import Volume

BUNDLE_FROM = 1 << 16  # number of ends of runs of both solids from which bundles are used
_ROTATED = ("xyz", "yzx", "zxy")  # the orders whose first axis is x, y, z


@dataclass(frozen=True)
class Overlap:
    """The first overlap that a search finds in two volumes: a point and a box that both share."""

    one: Volume
    two: Volume
    point: F64  #: A point in both [world].
    lower: F64  #: Lower corner of a box that both share [world]; where they only touch, the box has no thickness.
    upper: F64  #: Upper corner of the box [world].
    brinks: int  #: Number of pairs of runs that were compared until it was found.

    def region(self) -> Volume:
        """Return the intersection of the two."""
        return self.one & self.two

    def separation(self) -> F64:
        """Return the shortest push of the second along one axis that separates them [world]."""
        return self.one.separation(self.two)


class SharedBox(NamedTuple):
    """A box that both objects share [lattice points of the first]."""

    lower: tuple[int, ...]
    upper: tuple[int, ...]


class Search(NamedTuple):
    """Result of a search: an overlap or None, and the number of brinks and sections that were compared."""

    overlap: SharedBox | None
    brinks: int
    sections: int


def search(
    one: ExtremeVertices, two: ExtremeVertices, shift: Shift, *, closed: bool = False, axis: str | None = None
) -> Search:
    """Find an overlap of ``one`` with ``two`` moved by ``shift``, and stop at the first.

    Interiors must meet, unless ``closed``: then touching faces, edges or corners are enough. The boxes around both are
    compared first. The first axis is the one along which they share least, unless sections along another are cached
    already and it shares at most twice as much; ``axis`` forces it.
    """
    slack = 1 if closed is True else 0 if closed is False else int(check.boolean(closed, "closed"))
    if not len(one) or not len(two):
        return Search(None, 0, 0)
    lowest, highest = one.extent
    low, high = two.extent
    moved = tuple(shift[a] + two.offset[a] - one.offset[a] for a in (0, 1, 2))
    shared = [min(highest[a], high[a] + moved[a]) - max(lowest[a], low[a] + moved[a]) for a in (0, 1, 2)]
    if min(shared) <= -slack:
        return Search(None, 0, 0)
    order = _ROTATED["xyz".index(axis)] if axis else _best_order(one, two, shared)
    first = AXES.index(order[0])
    found = np.zeros(FOUND_SIZE, np.int64)
    turned = moved[first], moved[(first + 1) % 3], moved[(first + 2) % 3]
    hit = _overlaps(one, two, order, turned, slack, found)
    *corners, brinks, sections = found.tolist()
    if not hit:
        return Search(None, brinks, sections)
    lower = tuple(corners[order.index(letter)] + one.offset[at] for at, letter in enumerate(AXES))
    upper = tuple(corners[3 + order.index(letter)] + one.offset[at] for at, letter in enumerate(AXES))
    return Search(SharedBox(lower, upper), brinks, sections)


def _overlaps(one: ExtremeVertices, two: ExtremeVertices, order: str, shift: Shift, slack: int, found: I64) -> bool:
    """Compare a few slabs; then, for large solids whose interiors must meet, bundles; then all slabs."""
    sections, others = one.sections(order).arrays, two.sections(order).arrays
    is_large = slack == 0 and len(sections[2]) + len(others[2]) >= BUNDLE_FROM
    if find_overlap(sections, others, shift, slack, PROBES, is_large, found):
        return True
    if not is_large:
        return False
    answer = bundles_overlap(one.bundles(order).arrays, two.bundles(order).arrays, sections, others, shift, found)
    if answer != UNDECIDED:
        return bool(answer == MET)
    return bool(find_overlap(sections, others, shift, slack, NO_PROBES, False, found))


def _best_order(one: ExtremeVertices, two: ExtremeVertices, shared: list[int]) -> str:
    least = min(shared)
    for length, order in sorted(zip(shared, _ROTATED, strict=True)):
        if length <= 2 * least and one.has_sections(order) and two.has_sections(order):
            return order
    return _ROTATED[shared.index(least)]


def pushes(one: ExtremeVertices, two: ExtremeVertices, shift: Shift) -> dict[str, int]:
    """Return the least number of cells to push ``two`` along -x, +x, … +z until no interiors meet; 0 if none do."""
    found = {}
    for axis in range(3):
        order = _ROTATED[(axis + 1) % 3]
        step_0, step_1, step_2 = (shift[at] + two.offset[at] - one.offset[at] for at in map(AXES.index, order))
        sections, others = one.sections(order).arrays, two.sections(order).arrays
        size = sum(model.extent[1][axis] - model.extent[0][axis] for model in (one, two))
        for sign in (-1, 1):
            cells = push_distance(sections, others, (step_0, step_1, step_2), sign > 0, size + 1)
            found["-+"[sign > 0] + AXES[axis]] = int(cells)
    return found


@helper
def push_distance(one: SectionArrays, two: SectionArrays, shift: Shift, forward: bool, limit: int) -> int:
    """Return the least number of cells, up to ``limit``, to push the second along the last axis to end all overlap.

    Every round finds the longest push that a pair of overlapping runs needs, and makes it; a shorter one is not
    enough, because that pair overlaps until then. The rounds end when nothing overlaps.
    """
    slabs, other_slabs = one[0], two[0]
    shift_0, shift_1, shift_2 = shift
    total = 0
    last, other_last = slabs.shape[0] - 1, other_slabs.shape[0] - 1
    while total < limit:
        step = 0
        moved = shift_2 + total if forward else shift_2 - total
        start = row_at(other_slabs, 0, other_last, slabs[0, 0] - shift_0)
        for slab in range(last):
            while start < other_last and other_slabs[start + 1, 0] + shift_0 <= slabs[slab, 0]:
                start += 1
            other = start
            while other < other_last and other_slabs[other, 0] + shift_0 < slabs[slab + 1, 0]:
                step = max(step, _section_push(slab, one, other, two, shift_1, moved, forward))
                other += 1
        if step == 0:
            return total
        total += step
    return limit


@helper
def _section_push(
    slab: int, one: SectionArrays, other_slab: int, two: SectionArrays, shift_1: int, shift_2: int, forward: bool
) -> int:
    """Return the longest push that a pair of overlapping runs of two sections needs."""
    slabs, strips, ends = one
    other_slabs, other_strips, other_ends = two
    step = 0
    start, other_last = other_slabs[other_slab, 1], other_slabs[other_slab + 1, 1] - 1
    for strip in range(slabs[slab, 1], slabs[slab + 1, 1] - 1):
        while start < other_last and other_strips[start + 1, 0] + shift_1 <= strips[strip, 0]:
            start += 1
        other = start
        while other < other_last and other_strips[other, 0] + shift_1 < strips[strip + 1, 0]:
            row, row_last = strips[strip, 1], strips[strip + 1, 1]
            column, column_last = other_strips[other, 1], other_strips[other + 1, 1]
            while row < row_last and column < column_last:
                if ends[row + 1] <= other_ends[column] + shift_2:
                    row += 2
                elif other_ends[column + 1] + shift_2 <= ends[row]:
                    column += 2
                else:
                    if forward:
                        step = max(step, ends[row + 1] - other_ends[column] - shift_2)
                    else:
                        step = max(step, other_ends[column + 1] + shift_2 - ends[row])
                    if ends[row + 1] < other_ends[column + 1] + shift_2:
                        row += 2
                    else:
                        column += 2
            other += 1
    return step
