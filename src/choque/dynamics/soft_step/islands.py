"""Islands and sleep: bodies that touch each other sleep together when all of them have been still for half a second."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from operator import is_
from sys import getrefcount
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import helper, kernel
from choque._core.memory import aligned_copy
from choque._core.parts import join, root_of
from choque._core.types import F64, I32, U8, Bools, Floats, Integer, Rows
from choque.dynamics.soft_step.four import MOVED, SCALE, TURNED, V, W

SLEEP_AFTER = 0.5  # how long all bodies of an island must be still before it sleeps [s]
STILL = 0.05  # a body is still whose fastest point is slower than this [m/s]
FREE_STILL = 1e-4  # the share of `STILL` for a body that touches nothing: slow motion through the air is no rest
BLOCK = 256  # bodies whose numbers are compared at once


class Rest(NamedTuple):
    """How still each body is, in the order of the world's bodies."""

    awake: U8  # (n,): 0 for sleepers and for static bodies at rest
    still: F64  # (n,): for how long a body has been still [s]
    island: I32  # (n,): the number of the island of a sleeper, −1 for all others
    position: Floats  # (n, 3): where sleepers and static bodies are; one that was moved wakes what is near it
    acceleration: Floats  # (n, 3): the accelerations of sleepers; one that was given another wakes

    def copy(self) -> Rest:
        """Return copies of all columns."""
        return Rest._make(aligned_copy(column) for column in self)


@kernel
def find_changed(rest: Rest, columns: tuple[Any, ...], static: Bools, is_waking: U8) -> Any:
    """Mark the islands of sleepers that were given a velocity, or another position or acceleration.

    Return how many bodies are awake; a static body is while it has a velocity of its own. One that was moved is marked.
    """
    awake, _, island, rest_position, rest_acceleration = rest
    position, _, velocity, spin, acceleration = columns
    count = 0
    for body in range(awake.size):
        if awake[body] and not static[body]:
            count += 1
            continue
        moves = was_moved = False
        for axis in range(3):
            moves |= velocity[body, axis] != 0 or spin[body, axis] != 0
            was_moved |= position[body, axis] != rest_position[body, axis]
            if island[body] >= 0:
                moves |= acceleration[body, axis] != rest_acceleration[body, axis]
        if (moves or was_moved) and island[body] >= 0:
            is_waking[island[body]] = 1
        elif was_moved:
            is_waking[body] = 1
        count += moves or was_moved
    return count


class Watch:
    """The columns of bodies that sleep, and whether they have changed.

    Columns to which only the world refers cannot have been written to. Others are compared, as are all without the GIL,
    where references are not counted exactly.
    """

    COLUMNS = "velocity", "angular_velocity", "position", "acceleration"

    def __init__(self, rest: Rest, bodies: Any) -> None:
        self._rest = rest
        self._columns = tuple(getattr(bodies, name) for name in self.COLUMNS)
        self._words = _words_at_rest(rest, *self._columns)
        self._fewest = [_FEWEST[word.base is column] for column, word in zip(self._columns, self._words, strict=False)]
        self._was_alone = False  # whether only the world referred to the columns when they were last compared

    def is_of(self, rest: Rest, bodies: Any) -> bool:
        """Tell whether these are the columns of ``bodies``, which sleep as ``rest`` says."""
        return rest is self._rest and all(map(is_, self._columns, map(bodies.__getattribute__, self.COLUMNS)))

    def sees_no_change(self, were_lent: bool) -> bool:
        """Tell whether surely nothing has changed; ``were_lent`` tells whether a user was given the columns since."""
        is_alone = _COUNTS_REFERENCES and _references(self._columns, self._words) == self._fewest
        if is_alone and self._was_alone and not were_lent:
            return True
        is_same = bool(self._words) and is_unchanged(*self._words)
        self._was_alone = is_alone and is_same
        return is_same


def _references(columns: Sequence[Floats], words: Sequence[NDArray[Any]]) -> list[int]:
    """Return how many references there are to each column and to the array whose memory it views, as words do."""
    return [getrefcount(column) + getrefcount(word.base) for column, word in zip(columns, words, strict=False)]


def _fewest_references(has_memory: bool) -> int:
    """Return what `_references` counts for a column to which only a table of bodies and a `Watch` refer."""
    table = [np.zeros((1, 3)) if has_memory else np.zeros((2, 3))[1:]]
    columns, words = tuple(table), tuple(column.view(np.uint64).reshape(-1) for column in table)
    return _references(columns, words)[0]


_COUNTS_REFERENCES = getattr(sys, "_is_gil_enabled", lambda: True)()
_FEWEST = {has_memory: _fewest_references(has_memory) for has_memory in (False, True)}  # a view has none of its own


def _words_at_rest(rest: Rest, *columns: Floats) -> tuple[NDArray[Any], ...]:
    """Return the arguments of `is_unchanged`: views of columns as words (3n,), and the accelerations at rest in blocks.

    ``columns`` are velocities, angular velocities, positions and accelerations; nothing is returned if they cannot be
    viewed so. Accelerations are mostly the same: the few different blocks stay in the processor's cache, and half as
    much memory is read.
    """
    compared = (*columns, rest.position)
    if not all(each.flags.c_contiguous and each.dtype == rest.acceleration.dtype for each in compared):
        return ()
    kind = f"u{rest.acceleration.itemsize}"
    filled = np.zeros((-(-len(rest.acceleration) // BLOCK) * BLOCK, 3), rest.acceleration.dtype)
    filled[: len(rest.acceleration)] = rest.acceleration
    blocks, which = np.unique(filled.view(kind).reshape(-1, 3 * BLOCK), axis=0, return_inverse=True)
    return (*(each.view(kind).reshape(-1) for each in compared), aligned_copy(blocks), which.ravel())


@kernel
def is_unchanged(
    speeds: Any, spins: Any, places: Any, pulls: Any, before: Any, blocks: NDArray[Any], which: Rows
) -> bool:
    """Tell whether surely no body has a velocity and all are where they were, with the accelerations that they had.

    Bits are compared, as fast as memory is read: a number that became −0 is a change.
    """
    width = blocks.shape[1]
    changes = np.uint64(0)
    for block in range(which.size):
        part = slice(block * width, min((block + 1) * width, speeds.size))
        speed, turning, place, former = speeds[part], spins[part], places[part], before[part]
        given, known = pulls[part], blocks[which[block]]
        for at in range(speed.size):
            changes |= speed[at] | turning[at] | (place[at] ^ former[at]) | (given[at] ^ known[at])
    return bool(changes == 0)


@kernel
def wake_islands(rest: Rest, is_waking: U8) -> None:
    """Wake all bodies of the islands that are marked."""
    awake, still, island = rest[:3]
    for body in range(awake.size):
        if island[body] >= 0 and is_waking[island[body]]:
            awake[body], still[body], island[body] = 1, 0.0, -1


@helper
def join_touching(order: Rows, moving: Integer, contacts: tuple[I32, I32], asleep: I32, work: tuple[Any, Any]) -> None:
    """Join bodies that touch, and those of one sleeping island: union-find with path halving, in the solver's order.

    ``contacts`` are both bodies of each contact; ``asleep`` the island of each sleeper. ``work`` are two arrays (n,) of
    rows of the solver; the first becomes the parent of each moving body.
    """
    ones, others = contacts
    parent, first_of = work
    for row in range(order.size):
        first_of[row] = -1
    for row in range(moving):
        parent[row] = row
        island = asleep[order[row]]
        if island >= 0:
            if first_of[island] < 0:
                first_of[island] = row
            parent[row] = first_of[island]
    for contact in range(ones.size):
        if ones[contact] < moving and others[contact] < moving:
            join(parent, ones[contact], others[contact])
    for row in range(moving):
        parent[row] = root_of(parent, row)


@kernel
def settle(
    order: Rows,
    moving: Integer,
    contacts: tuple[I32, I32],
    bodies: tuple[F64, F64, F64],
    before: Rest,
    after: Rest,
    columns: tuple[Any, ...],
    limits: tuple[float, float, Any],
) -> int:
    """Join bodies that touch to islands, and let those sleep that have been still; return how many bodies are awake.

    ``contacts`` are both bodies of each contact, ``bodies`` the columns speed, frame and size; ``limits`` the length of
    the step, the greatest speed of a still body, and working memory.
    """
    dt, slow, work = limits
    speed, frame, size = bodies
    position, _, velocity, spin, acceleration = columns
    parent, first_of, longest = work
    join_touching(order, moving, contacts, before.island, (parent, first_of))
    is_near = first_of  # whether anything is near a body; free again since islands are joined
    for row in range(moving):
        longest[row], is_near[row] = np.inf, 0
    for contact in range(contacts[0].size):
        a, b = contacts[0][contact], contacts[1][contact]
        is_near[a] = is_near[b] = 1
        if a >= moving or b >= moving:  # a static body with a velocity of its own keeps what it touches awake
            own, other = (a, b) if a < moving else (b, a)
            if before.awake[order[other]]:
                longest[own] = 0.0
    for row in range(moving):
        body = order[row]
        reach = max(size[row, 0], max(size[row, 1], size[row, 2]))
        way = turned = 0.0
        for axis in range(3):
            way += speed[row, (MOVED if is_near[row] else V) + axis] ** 2
            x = 0.0
            for other in range(3):
                x += frame[row, 3 * other + axis] * speed[row, (TURNED if is_near[row] else W) + other]
            turned += x * x
        fastest = math.sqrt(way) * speed[row, SCALE] + math.sqrt(turned) * reach
        fastest *= 1.0 if is_near[row] else dt  # sub-steps do not move a body without contacts
        most = slow * dt if is_near[row] else FREE_STILL * slow * dt
        after.still[body] = before.still[body] + dt if fastest < most and longest[row] > 0 else 0.0
        longest[parent[row]] = min(longest[parent[row]], after.still[body])
    count = 0
    for row in range(order.size):
        body = order[row]
        after.island[body] = -1
        after.awake[body] = before.awake[body]
        for axis in range(3):
            after.position[body, axis] = position[body, axis]
        if row >= moving:
            after.still[body] = 0.0
            continue
        sleeps = longest[parent[row]] >= SLEEP_AFTER
        after.awake[body] = not sleeps
        count += not sleeps
        if sleeps:
            after.island[body] = order[parent[row]]
            for axis in range(3):
                velocity[body, axis] = spin[body, axis] = 0
                after.acceleration[body, axis] = acceleration[body, axis]
    return count
