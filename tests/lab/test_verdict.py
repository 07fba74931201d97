"""Whether an answer is right: exact methods, peers that round, and supersets."""

from __future__ import annotations

import numpy as np
import pytest

from choque._core.types import Pairs
from choque.lab.verdict import judge

LOWER = np.array([[0, 0, 0], [1, 0, 0], [1 + 1e-7, 0, 0], [5, 0, 0]], np.float32)
UPPER = LOWER + np.float32(1)


def pairs(*rows: tuple[int, int]) -> Pairs:
    return np.array(rows, np.int32).reshape(-1, 2)


@pytest.mark.parametrize(
    ("answer", "judgement"),
    [
        (pairs((0, 1), (1, 2)), "exact"),
        (pairs((0, 1), (0, 2), (1, 2)), "rounding"),
        (pairs((1, 2)), "rounding"),
        (pairs((0, 1)), "wrong"),
        (pairs((0, 1), (1, 2), (1, 3)), "wrong"),
        (pairs(), "wrong"),
    ],
)
def test_a_peer_is_allowed_roundings_and_nothing_else(answer: Pairs, judgement: str) -> None:
    verdict = judge(answer, pairs((0, 1), (1, 2)), LOWER, UPPER, superset=False, rounding=True)
    assert verdict.judgement == judgement


def test_a_method_is_allowed_no_rounding() -> None:
    expected = pairs((0, 1), (1, 2))
    verdict = judge(pairs((0, 1), (0, 2), (1, 2)), expected, LOWER, UPPER, superset=False, rounding=False)
    assert verdict.judgement == "wrong"
    assert verdict.note == "0 missing, 1 too many"


def test_a_superset_may_have_more_but_not_less() -> None:
    expected = pairs((0, 1), (1, 2))
    more, other = pairs((0, 1), (0, 3), (1, 2)), pairs((0, 1), (0, 3))
    assert judge(more, expected, LOWER, UPPER, superset=True, rounding=False).judgement == "superset"
    assert judge(other, expected, LOWER, UPPER, superset=True, rounding=False).judgement == "wrong"
