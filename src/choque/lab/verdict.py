"""Whether an answer is right: compared with an oracle pair by pair; roundings are distinguished from errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from choque._core.types import Floats, Pairs

Judgement = Literal["exact", "rounding", "superset", "unchecked", "wrong", "other question", "cut off", "failed"]
JUDGEMENTS: tuple[Judgement, ...] = get_args(Judgement)
RIGHT: frozenset[Judgement] = frozenset({"exact", "rounding", "unchecked"})
"""The judgements of a right answer, or of one that a study has no oracle for; others are compared with the fastest."""
RANKED: frozenset[Judgement] = RIGHT | {"other question"}
"""The judgements whose times may be compared; times of wrong answers are not compared."""

ROUNDINGS = 4
"""Boxes this many units in the last place of the largest coordinate from touching differ by a rounding."""


@dataclass(frozen=True)
class Verdict:
    """The judgement and, unless it is ``exact``, a few words on it."""

    judgement: Judgement
    note: str = ""


def judge(answer: Pairs, expected: Pairs, lower: Floats, upper: Floats, *, superset: bool, rounding: bool) -> Verdict:
    """Compare sorted pairs with the ``expected`` ones for the boxes ``lower``, ``upper``.

    Parameters
    ----------
    superset
        More pairs than expected are allowed.
    rounding
        Pairs that differ only because of a rounding are allowed: their boxes touch to within `ROUNDINGS`.
    """
    if np.array_equal(answer, expected):
        return Verdict("exact")
    from choque._core.pair_sets import difference  # loads Numba, which the laboratory itself does not need

    change = difference(expected, answer)
    missing, surplus = change.ended, change.began
    words = f"{len(missing)} missing, {len(surplus)} too many"
    if superset and not len(missing):
        return Verdict("superset", words)
    if rounding and _touches(np.concatenate((missing, surplus)), lower, upper):
        return Verdict("rounding", f"{words}, all within a rounding")
    return Verdict("wrong", words)


def _touches(pairs: Pairs, lower: Floats, upper: Floats) -> bool:
    """Tell whether the boxes of each pair touch, give or take a few roundings."""
    first, second = pairs[:, 0], pairs[:, 1]
    gap = np.maximum(lower[first] - upper[second], lower[second] - upper[first]).max(axis=1)
    largest = np.maximum(np.abs(lower).max(), np.abs(upper).max())
    return bool((np.abs(gap) <= ROUNDINGS * np.spacing(largest)).all())
