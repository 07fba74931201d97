"""Sets of pairs as sorted arrays, against Python's own sets."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from choque._core.pair_sets import Change, apply_change, difference, no_pairs

PAIRS = st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)))


def as_array(pairs: set[tuple[int, int]]) -> Any:
    return np.array(sorted(pairs), np.int32).reshape(-1, 2)


@given(PAIRS, PAIRS)
def test_difference_is_what_came_and_what_went(before: set[tuple[int, int]], after: set[tuple[int, int]]) -> None:
    change = difference(as_array(before), as_array(after))
    assert np.array_equal(change.began, as_array(after - before))
    assert np.array_equal(change.ended, as_array(before - after))


@given(PAIRS, PAIRS)
def test_a_difference_applied_leads_from_one_set_to_the_other(
    before: set[tuple[int, int]], after: set[tuple[int, int]]
) -> None:
    start = as_array(before)
    start.flags.writeable = False
    reached = apply_change(start, difference(start, as_array(after)))
    assert np.array_equal(reached, as_array(after))
    assert reached.dtype == np.int32


def test_no_change_leaves_the_set() -> None:
    pairs = as_array({(0, 1), (2, 3)})
    assert np.array_equal(apply_change(pairs, Change(no_pairs(), no_pairs())), pairs)
