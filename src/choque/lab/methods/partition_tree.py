"""What the bsp, the octree and the kd-tree have in common as broad phases."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

from choque._core.emission import Sink
from choque.bounds import Bounds
from choque.broad._contract import BroadPhase
from choque.broad._structure import Structure, leaves_of
from choque.errors import InvalidInput
from choque.lab.methods.buckets import Buckets
from choque.lab.methods.partition_growth import Cut, Level, Limits, automatic_depth, grow

DEPTH_MOST = 32
LEAF_SIZE = 32
"""Bodies in a leaf when the depth is automatic: as few as still cost less to test than to part further."""


class PartitionTree(BroadPhase):
    """A tree that parts space, is built anew from every frame, and lists a body in each leaf that it touches.

    Parameters
    ----------
    bounds
        The bodies.
    depth
        The most levels, the root being level 1; None to choose from the bodies and guard the memory.
    leaf_size
        Nodes of no more bodies are not parted; None for 32, or for 1 where ``depth`` is given.
    test
        True: the pairs whose boxes overlap. False: all pairs that share a leaf, untested; they contain the others.
    options
        Those of every method.
    """

    boxed: ClassVar[bool] = True
    """True if every leaf is a box, so that a pair can be reported in one leaf only."""

    shrinks: ClassVar[bool] = False
    """True if a cut with all bodies on one side still helps, because the next one will be elsewhere."""

    spare_levels: ClassVar[int] = 8
    """Levels of an automatic depth beyond those that bodies spread evenly need."""

    def __init__(
        self,
        bounds: Bounds,
        *,
        depth: int | None = None,
        leaf_size: int | None = None,
        test: bool = True,
        **options: Any,
    ) -> None:
        _check_whole("depth", depth, DEPTH_MOST)
        _check_whole("leaf_size", leaf_size, None)
        if not isinstance(test, bool):
            raise InvalidInput(f"test is {test!r}; it must be True or False.")
        self._depth, self._leaf_size, self._test = depth, leaf_size, test
        self.repeats_pairs = not (test and self.boxed)
        super().__init__(bounds, **options)

    @property
    def leaf_count(self) -> int:
        """How many leaves hold a body."""
        return len(self._buckets)

    @property
    def level_count(self) -> int:
        """How many levels the tree has; the root alone is one."""
        return self._level_count

    def structure(self) -> Structure:
        """The leaves that hold a body."""
        ids = self._identities.ids
        return leaves_of(self.name, "leaves", self._buckets, self._records, ids, self._dimension)

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

    def _build(self) -> None:
        self._buckets, self._level_count = self._grown()

    def _grown(self) -> tuple[Buckets, int]:
        def note_bytes(held: int) -> None:
            self.counters.note_bytes(self._records.nbytes + held)

        return grow(len(self), self._cut, self._limits(), self._thread_count(), note_bytes)

    def _emit(self, sink: Sink) -> None:
        self.counters.duplicates += self._buckets.emit(
            sink, self._records, tested=self._test, once=not self.repeats_pairs, pair_filter=self._filter
        )

    def _note_bytes(self, extra: int = 0) -> None:
        super()._note_bytes(extra + self._buckets.nbytes)


def _check_whole(name: str, value: int | None, most: int | None) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int) or value < 1 or (most is not None and value > most):
        allowed = "a whole number of at least 1" if most is None else f"a whole number from 1 to {most}"
        raise InvalidInput(f"{name} is {value!r}; it must be {allowed}, or None to choose from the bodies.")
