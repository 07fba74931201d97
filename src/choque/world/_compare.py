"""Two choices of methods on the same bodies, side by side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from choque._core.pair_sets import difference
from choque._core.types import Pairs
from choque.world._detection import Detected


@dataclass(frozen=True, eq=False)
class Comparison:
    """What two choices of methods made of the same bodies in one frame.

    Attributes
    ----------
    frame
        The frame whose bodies both were given.
    methods
        The names of both broad phases.
    seconds
        What each took for bounds, broad phase and narrow phase together.
    pairs, contacts
        How many candidates and contacts each found.
    only_first, only_second
        (k, 2) int32 rows of bodies: the candidates of one that the other does not have.
    contacts_differ
        Whether they found different contacts: that is never right.
    """

    frame: int
    methods: tuple[str, str]
    seconds: tuple[float, float]
    pairs: tuple[int, int]
    contacts: tuple[int, int]
    only_first: Pairs
    only_second: Pairs
    contacts_differ: bool

    @classmethod
    def of(cls, frame: int, methods: tuple[str, str], first: Detected, second: Detected) -> Comparison:
        """Compare what both found."""
        change = difference(first.pairs, second.pairs)
        return cls(
            frame=frame,
            methods=methods,
            seconds=(sum(first.seconds), sum(second.seconds)),
            pairs=(len(first.pairs), len(second.pairs)),
            contacts=(len(first.contacts), len(second.contacts)),
            only_first=change.ended,
            only_second=change.began,
            contacts_differ=not np.array_equal(first.contacts.pairs, second.contacts.pairs),
        )

    @property
    def pairs_differ(self) -> bool:
        """Whether their candidates differ: right for tighter bounds, wrong for equal ones."""
        return bool(len(self.only_first) or len(self.only_second))

    def __str__(self) -> str:
        first, second = self.methods
        lines = f"{first} took {self.seconds[0] * 1e3:.3f} ms, {second} {self.seconds[1] * 1e3:.3f} ms; "
        if not self.pairs_differ:
            lines += f"the same {self.pairs[0]:,} pairs."
        else:
            lines += (
                f"{self.pairs[0]:,} and {self.pairs[1]:,} pairs, of which {len(self.only_first):,} and "
                f"{len(self.only_second):,} are found by one alone."
            )
        return f"{lines} CONTACTS DIFFER." if self.contacts_differ else lines
