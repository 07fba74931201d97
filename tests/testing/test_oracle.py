"""The oracle against the definition, pair by pair, in plain Python."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from choque.testing import oracle

NUMBERS = st.sampled_from((-np.inf, -2.0, -1.0, 0.0, 5e-324, 1.0, 2.0, np.inf))


@st.composite
def corners(draw: st.DrawFn, dimension: int) -> tuple[Any, Any]:
    count = draw(st.integers(0, 9))
    size = 2 * count * dimension
    drawn = np.array(draw(st.lists(NUMBERS, min_size=size, max_size=size)), np.float64)
    lower, upper = np.sort(drawn.reshape(2, count, dimension), axis=0)
    return lower, upper


def overlap(low: Any, high: Any, other_low: Any, other_high: Any, closed: bool) -> bool:
    for a, b, c, d in zip(low, high, other_low, other_high, strict=True):
        if not ((a <= d and c <= b) if closed else (a < d and c < b)):
            return False
    return True


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("block", [1, 3, 256])
@given(st.data())
def test_pairs_are_those_of_the_definition(closed: bool, block: int, data: st.DataObject) -> None:
    lower, upper = data.draw(corners(data.draw(st.sampled_from((2, 3)))))
    rows = range(len(lower))
    wanted = [[i, j] for i, j in combinations(rows, 2) if overlap(lower[i], upper[i], lower[j], upper[j], closed)]
    found = oracle.overlapping_pairs(lower, upper, closed=closed, block=block)
    assert found.tolist() == wanted
    assert found.dtype == np.int32


@pytest.mark.parametrize("closed", [True, False])
@given(st.data())
def test_queries_are_those_of_the_definition(closed: bool, data: st.DataObject) -> None:
    (lower, upper), (low, high) = data.draw(corners(2)), data.draw(corners(2))
    wanted = [
        [k, i]
        for k, i in product(range(len(low)), range(len(lower)))
        if overlap(low[k], high[k], lower[i], upper[i], closed)
    ]
    assert oracle.overlapping_queries(lower, upper, low, high, closed=closed, block=4).tolist() == wanted


def test_filters_admit_only_mutual_groups_and_never_two_static_bodies() -> None:
    lower, upper = np.zeros((4, 2)), np.ones((4, 2))
    groups, masks = [1, 2, 1, 1], [2, 1, 3, 0]
    # 1 and 0 admit each other, and so do 1 and 2; 2 admits 0 in vain; 3 admits no one.
    assert oracle.overlapping_pairs(lower, upper, groups=groups, masks=masks).tolist() == [[0, 1], [1, 2]]
    resting = [True, True, False, False]
    assert [0, 1] not in oracle.overlapping_pairs(lower, upper, static=resting).tolist()
    assert len(oracle.overlapping_pairs(lower, upper, static=resting)) == 5
    assert len(oracle.overlapping_pairs(lower, upper, static=True)) == 0
