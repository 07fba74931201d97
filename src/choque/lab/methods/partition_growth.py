"""Trees that part space and list a body in every leaf it touches, grown one level at a time.

A method says how the nodes of a level are cut; everything else is alike: which cuts are worth it, who goes
where, when to stop. Growing by levels needs no recursion, and Python only runs once a level.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from choque._core import threads
from choque._core.kernel import kernel
from choque.errors import InvalidInput
from choque.lab.methods.buckets import UNBOUNDED, Buckets, closed_regions

LISTINGS_PER_BODY = 4
"""A guarded tree lists a body this many times on average, at most."""

LISTINGS_PER_BODY_ASKED = 64
LISTINGS_FREE = 1 << 24
"""A tree of a depth that was asked for is refused when it has more listings than both of these allow."""

MAX_PAIRS_LEFT = 0.85
"""A cut is worth it when it leaves at most this share of the pairs to be tested …"""

MAX_LISTINGS_LEFT = 1.125
"""… or when hardly any body is on both sides, so that crowds far from the middle can still be reached."""


@dataclass(frozen=True)
class Limits:
    """The conditions on which a tree stops growing."""

    depth: int
    """The most levels; the root is level 1."""
    leaf_size: int
    """Nodes of no more bodies are leaves."""
    guarded: bool
    """Only cuts that are worth it, within a budget of listings that each node shares out to its children."""
    attempts: int = 1
    """How many cuts in a row, one on each level, must fail before a guarded node is a leaf."""
    shrinks: bool = False
    """A cut with everything on one side still helps, because the next one will be elsewhere."""


@dataclass(frozen=True)
class Level:
    """Some nodes of one level."""

    starts: NDArray[np.int64]
    members: NDArray[np.int32]
    """The bodies of node k are ``members[starts[k] : starts[k + 1]]``, (l,) int32 rows, ascending."""
    regions: NDArray[np.float64]
    """(k, 6) float64: the half-open boxes of the nodes, infinite where unbounded."""
    budgets: NDArray[np.float64]
    """(k,) float64: how many listings may be added below each node."""
    failures: NDArray[np.int64]
    """(k,) int64: how many cuts in a row were not worth it."""

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def counts(self) -> NDArray[np.int64]:
        """The number of bodies of each node."""
        return np.diff(self.starts)

    @property
    def nbytes(self) -> int:
        """The bytes of all arrays."""
        return sum(array.nbytes for array in vars(self).values())

    def take(self, chosen: NDArray[np.bool_]) -> Level:
        """Return the chosen nodes alone."""
        if chosen.all():
            return self
        listed = np.repeat(chosen, self.counts)
        return Level(
            starts_of(self.counts[chosen]),
            self.members[listed],
            self.regions[chosen],
            self.budgets[chosen],
            self.failures[chosen],
        )


@dataclass(frozen=True)
class Cut:
    """The cuts of the nodes of a level."""

    sides: NDArray[np.uint8]
    """(l,) uint8: bit c of a listing is set when the body belongs to child c."""
    counts: NDArray[np.int64]
    """(k, children) int64: how many bodies each child gets."""
    regions: NDArray[np.float64]
    """(k, children, 6) float64: the half-open boxes of the children; they share no point and fill the node's."""
    working_bytes: int = 0
    """How many bytes finding the cut took beside these arrays."""

    @property
    def nbytes(self) -> int:
        """The bytes of all arrays."""
        return self.sides.nbytes + self.counts.nbytes + self.regions.nbytes


Cutter = Callable[[Level, int], Cut]
"""Cuts all nodes of a level, given its number (1 for the root)."""


def grow(
    body_count: int, cut: Cutter, limits: Limits, thread_count: int, note_bytes: Callable[[int], None]
) -> tuple[Buckets, int]:
    """Grow a tree over bodies 0 … ``body_count`` − 1.

    Returns
    -------
    The leaves that hold a body as buckets with regions, and the number of levels.

    Notes
    -----
    A guarded tree has at most four listings a body; its bodies are handled once a level. A tree of given depth
    has at most ``body_count`` · 2^(depth − 1) listings (with two children a node); too many raise an error.
    """
    level = _root(body_count)
    leaves: list[Level] = []
    number = 1
    while True:
        is_leaf = (level.counts <= limits.leaf_size) | (number >= limits.depth)
        leaves.append(level.take(is_leaf))
        level = level.take(~is_leaf)
        if not len(level):
            break
        done = cut(level, number)
        is_worth = _worth(level, done, limits) if limits.guarded else np.ones(len(level), np.bool_)
        failures = level.failures + 1
        is_final = ~is_worth & (failures >= limits.attempts)
        leaves.append(level.take(is_final))
        waiting = level.take(~is_worth & ~is_final)
        _check_listings(int(done.counts[is_worth].sum()) + sum(len(leaf.members) for leaf in leaves), body_count)
        children = _children(level, done, is_worth, thread_count)
        held = level.nbytes + done.nbytes + sum(leaf.nbytes for leaf in leaves)
        note_bytes(held + max(done.working_bytes, children.nbytes))
        level = _joined(children, waiting, failures[~is_worth & ~is_final])
        number += 1
    return _as_buckets(leaves), number


def automatic_depth(body_count: int, leaf_size: int, children: int, spare: int) -> int:
    """Enough levels for leaves of ``leaf_size``, twice over where bodies are spread unevenly, and ``spare`` ones."""
    even = math.log2(max(1.0, body_count / max(1, leaf_size))) / math.log2(children)
    return 1 + 2 * math.ceil(even) + spare


def starts_of(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the starts of consecutive ranges of these lengths, and the end of the last."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))


def _root(body_count: int) -> Level:
    counts = np.full(min(1, body_count), body_count, np.int64)
    return Level(
        starts_of(counts),
        np.arange(body_count, dtype=np.int32),
        np.tile([-np.inf] * 3 + [np.inf] * 3, (len(counts), 1)),
        ((LISTINGS_PER_BODY - 1) * counts).astype(np.float64),
        np.zeros(len(counts), np.int64),
    )


def _worth(level: Level, done: Cut, limits: Limits) -> NDArray[np.bool_]:
    count = level.counts.astype(np.float64)
    listed = done.counts.sum(axis=1)
    pairs_left = (done.counts.astype(np.float64) ** 2).sum(axis=1)
    parts = limits.shrinks | (done.counts.max(axis=1) < count)
    is_worth = (pairs_left <= MAX_PAIRS_LEFT * count**2) | ((listed <= MAX_LISTINGS_LEFT * count) & parts)
    worth: NDArray[np.bool_] = is_worth & (listed - count <= level.budgets)
    return worth


def _children(level: Level, done: Cut, chosen: NDArray[np.bool_], thread_count: int) -> Level:
    """Return the children of the chosen nodes that hold a body."""
    counts = done.counts[chosen]
    places = starts_of(counts.ravel())[:-1].reshape(counts.shape)
    members = np.empty(int(counts.sum()), np.int32)
    nodes = np.flatnonzero(chosen)
    threads.over_ranges(
        _deal, len(nodes), thread_count, nodes, level.starts, level.members, done.sides, places, members
    )
    listed = counts.sum(axis=1)
    spare = level.budgets[chosen] - (listed - level.counts[chosen])
    budgets = spare[:, None] * (counts / listed[:, None])
    held = counts.ravel() > 0
    return Level(
        starts_of(counts.ravel()[held]),
        members,
        done.regions[chosen].reshape(-1, 6)[held],
        budgets.ravel()[held],
        np.zeros(int(held.sum()), np.int64),
    )


def _check_listings(listings: int, body_count: int) -> None:
    if listings > max(LISTINGS_PER_BODY_ASKED * body_count, LISTINGS_FREE):
        raise InvalidInput(
            f"A tree of the depth asked for lists the bodies {listings} times, because many of them lie on its planes; "
            "ask for fewer levels, or leave depth to None."
        )


def _joined(children: Level, waiting: Level, failures: NDArray[np.int64]) -> Level:
    if not len(waiting):
        return children
    return Level(
        starts_of(np.concatenate((children.counts, waiting.counts))),
        np.concatenate((children.members, waiting.members)),
        np.concatenate((children.regions, waiting.regions)),
        np.concatenate((children.budgets, waiting.budgets)),
        np.concatenate((children.failures, failures)),
    )


def _as_buckets(leaves: list[Level]) -> Buckets:
    return Buckets(
        starts_of(np.concatenate([leaf.counts for leaf in leaves])),
        np.concatenate([leaf.members for leaf in leaves]),
        closed_regions(np.concatenate([leaf.regions for leaf in leaves])),
        np.empty(0, np.int32),
    )


def without_regions(buckets: Buckets) -> Buckets:
    """Return the same buckets without regions, for planes that are not aligned with the axes."""
    return Buckets(buckets.starts, buckets.members, UNBOUNDED, buckets.giants)


@kernel
def _deal(
    first: int,
    last: int,
    nodes: NDArray[np.int64],
    starts: NDArray[np.int64],
    members: NDArray[np.int32],
    sides: NDArray[np.uint8],
    places: NDArray[np.int64],
    dealt: NDArray[np.int32],
) -> None:
    """Write the bodies of each node to the places of its children, in order."""
    for k in range(first, last):
        node = nodes[k]
        for listing in range(starts[node], starts[node + 1]):
            side = sides[listing]
            for child in range(places.shape[1]):
                if side & np.uint8(1 << child):
                    dealt[places[k, child]] = members[listing]
                    places[k, child] += 1
