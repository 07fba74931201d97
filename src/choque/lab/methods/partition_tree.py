"""What the bsp, the octree and the kd-tree have in common as broad-phase methods."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from choque._core import check
from choque._core.emission import Sink
from choque.broad.index import Index
from choque.broad.structure import Structure
from choque.lab.methods.buckets import Buckets
from choque.lab.methods.partition_growth import Cut, Level, Limits, automatic_depth, grow

MAX_DEPTH = 32
LEAF_SIZE = 32
"""Bodies in a leaf when the depth is automatic: as few as still cost less to test than to part further."""


class PartitionTree(Index):
    """A tree that parts space, is built from scratch at every update, and lists a body in each leaf that it touches.

    Parameters
    ----------
    depth
        The most levels, the root being level 1; None to choose from the bodies and guard the memory.
    leaf_size
        Nodes of no more bodies are not parted; None for 32, or for 1 where ``depth`` is given.
    test
        True: the pairs whose boxes overlap. False: all pairs that share a leaf, untested; they contain the others.
    """

    boxed: ClassVar[bool] = True
    """True if every leaf is a box, so that a pair can be reported in one leaf only."""

    shrinks: ClassVar[bool] = False
    """True if a cut with all bodies on one side still helps, because the next one will be elsewhere."""

    spare_levels: ClassVar[int] = 8
    """Levels of an automatic depth beyond those that bodies spread evenly need."""

    def __init__(self, *, depth: int | None = None, leaf_size: int | None = None, test: bool = True) -> None:
        automatic = "None to choose from the bodies"
        if depth is not None:
            depth = check.whole_number(depth, "depth", 1, MAX_DEPTH, otherwise=automatic)
        if leaf_size is not None:
            leaf_size = check.whole_number(leaf_size, "leaf_size", 1, otherwise=automatic)
        self._depth, self._leaf_size, self._test = depth, leaf_size, check.boolean(test, "test")
        self.repeats_pairs = not (test and self.boxed)

    @property
    def leaf_count(self) -> int:
        """How many leaves hold a body."""
        return len(self._buckets)

    @property
    def level_count(self) -> int:
        """How many levels the tree has; the root alone is one."""
        return self._level_count

    def structure(self) -> Structure:
        """Return the leaves that hold a body."""
        return self._buckets.structure(self.name, "leaves", self.records, self.table.dimension)

    @abstractmethod
    def _cut(self, level: Level, number: int) -> Cut:
        """Cut all nodes of a level, given its number; the root is level 1."""

    @property
    def _child_count(self) -> int:
        return 2

    @property
    def _attempts(self) -> int:
        """How many cuts that part too little make a leaf."""
        return 1

    def _limits(self) -> Limits:
        if self._depth is not None:
            return Limits(self._depth, self._leaf_size or 1, guarded=False)
        leaf_size = self._leaf_size or LEAF_SIZE
        depth = automatic_depth(len(self), leaf_size, self._child_count, self.spare_levels)
        return Limits(depth, leaf_size, True, self._attempts, self.shrinks)

    def build(self) -> None:
        """Grow the tree."""
        self._buckets, self._level_count = self._grown()

    def _grown(self) -> tuple[Buckets, int]:
        def note_bytes(held: int) -> None:
            self.counters.note_bytes(self.records.nbytes + held)

        return grow(len(self), self._cut, self._limits(), self.thread_count(), note_bytes)

    def emit(self, sink: Sink) -> None:
        """Write the pairs that share a leaf."""
        self.counters.duplicates += self._buckets.emit(
            sink, self.records, tested=self._test, once=not self.repeats_pairs, pair_filter=self.table.pair_filter
        )

    @property
    def byte_count(self) -> int:
        """The bytes of the records and of the leaves."""
        return super().byte_count + self._buckets.nbytes
