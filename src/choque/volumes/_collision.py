"""Two volumes on one lattice: do they collide, where, how near are they, and how to part them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque.errors import InvalidInput, UnknownName
from choque.volumes._box_tree import nearest_pair
from choque.volumes._bundles import MET, UNDECIDED, bundles_overlap
from choque.volumes._keys import AXES
from choque.volumes._model import ExtremeVertices
from choque.volumes._overlap import FOUND_SIZE, NO_PROBES, PROBES, Shift, find_overlap
from choque.volumes._push import push_distance

BUNDLE_FROM = 1 << 16
"""Ends of runs of both solids from which their bundles are kept too."""

CONTACTS = {"open": 0, "closed": 1}
"""``open``: interiors must meet. ``closed``: touching faces, edges or corners are enough."""

_ROTATED = ("xyz", "yzx", "zxy")
"""The order whose first axis is x, y, z."""


class Overlap(NamedTuple):
    """A box that both objects share [lattice points of the first]."""

    lower: tuple[int, ...]
    upper: tuple[int, ...]


class Search(NamedTuple):
    """The answer of a search: an overlap or None, and how many brinks and sections were visited."""

    overlap: Overlap | None
    brinks: int
    sections: int


def search(
    one: ExtremeVertices, two: ExtremeVertices, shift: Shift, contact: str = "open", axis: str | None = None
) -> Search:
    """Look for an overlap of ``one`` with ``two`` moved by ``shift``, and stop at the first.

    The boxes around both are compared first. The first axis of the sweep is the one along which they share least,
    unless sections along another are kept already and it shares at most twice as much; ``axis`` forces it.
    """
    slack = CONTACTS.get(contact, -1)
    if slack < 0:
        raise UnknownName("contact", str(contact), CONTACTS)
    if not len(one) or not len(two):
        return Search(None, 0, 0)
    lowest, highest = one.extent
    low, high = two.extent
    moved = (
        shift[0] + two.offset[0] - one.offset[0],
        shift[1] + two.offset[1] - one.offset[1],
        shift[2] + two.offset[2] - one.offset[2],
    )
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
    return Search(Overlap(lower, upper), brinks, sections)


def _overlaps(
    one: ExtremeVertices, two: ExtremeVertices, order: str, shift: Shift, slack: int, found: NDArray[np.int64]
) -> bool:
    """A few slabs first; then, of large solids whose interiors are asked about, bundles; then all slabs."""
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
    best = _ROTATED[shared.index(least)]
    for length, order in sorted(zip(shared, _ROTATED, strict=True)):
        if length <= 2 * least and one.keeps_sections(order) and two.keeps_sections(order):
            return order
    return best


def distance(
    one: ExtremeVertices, two: ExtremeVertices, shift: Shift, spacing: tuple[float, float, float]
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """The least Euclidean distance [world], 0 when they touch, and the nearest points [lattice] on each."""
    best, pair, offset = _nearest(one, two, shift, np.array(spacing), np.zeros(3), moving=False)
    here, there = one.box_tree().boxes[pair[0]], two.box_tree().boxes[pair[1]]
    there = there + np.tile(offset, 2)
    low = np.maximum(here[:3], there[:3])
    high = np.minimum(here[3:], there[3:])
    # Where the boxes share a range the middle of it is on both; elsewhere the two facing sides are.
    on_one = np.where(low <= high, (low + high) / 2, np.where(here[3:] < there[:3], here[3:], here[:3]))
    on_two = np.where(low <= high, (low + high) / 2, np.where(here[3:] < there[:3], there[:3], there[3:]))
    return float(np.sqrt(best)), on_one + one.offset, on_two + one.offset


def travel(
    one: ExtremeVertices,
    two: ExtremeVertices,
    shift: Shift,
    spacing: tuple[float, float, float],
    direction: tuple[float, float, float],
) -> float:
    """How far ``two`` can move along ``direction`` before the interiors meet [world]; inf when they never do."""
    length = math.hypot(*direction)
    if length == 0.0:
        raise InvalidInput("The direction is (0, 0, 0); give a direction with a length, such as (0, 0, 1).")
    velocity = np.array(direction) / length / spacing
    return _nearest(one, two, shift, np.array(spacing), velocity, moving=True)[0]


def pushes(one: ExtremeVertices, two: ExtremeVertices, shift: Shift) -> dict[str, int]:
    """The least number of cells to push ``two`` along -x, +x, … +z until no interiors meet; all 0 when none do."""
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


def _nearest(
    one: ExtremeVertices,
    two: ExtremeVertices,
    shift: Shift,
    spacing: NDArray[np.float64],
    velocity: NDArray[np.float64],
    *,
    moving: bool,
) -> tuple[float, NDArray[np.int64], NDArray[np.float64]]:
    offset = np.array(shift, np.float64) + two.offset - np.array(one.offset, np.float64)
    here, there = one.box_tree(), two.box_tree()
    pair = np.zeros(2, np.int64)
    best = nearest_pair(here.boxes, here.starts, there.boxes, there.starts, offset, spacing, velocity, moving, pair)
    return best, pair, offset
