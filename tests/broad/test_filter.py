"""Groups, masks and static flags: which pairs they allow, and which arguments are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from choque._core.pair_keys import pack_pairs, unpack_pairs
from choque.broad import PairFilter
from choque.errors import InvalidInput

BITS = st.one_of(st.integers(0, 7), st.sampled_from((2**31, 2**32 - 1)))


@given(st.lists(st.tuples(BITS, BITS, st.booleans()), min_size=1, max_size=9))
def test_allowed_pairs_are_those_of_the_definition(bodies: list[tuple[int, int, bool]]) -> None:
    groups, masks, static = (list(column) for column in zip(*bodies, strict=True))
    rows = range(len(bodies))
    pairs = [(i, j) for i in rows for j in rows if i < j]
    wanted = [
        (i, j) for i, j in pairs if groups[i] & masks[j] and groups[j] & masks[i] and not (static[i] and static[j])
    ]
    keys = pack_pairs(np.array(pairs, np.int32).reshape(-1, 2))
    kept = PairFilter(np.array(groups, np.uint32), np.array(masks, np.uint32), np.array(static)).keep_allowed(keys)
    assert unpack_pairs(keys[:kept]).tolist() == [list(pair) for pair in wanted]
    made = PairFilter.make(len(bodies), groups, masks, static)
    assert made is not None
    assert made.keep_allowed(pack_pairs(np.array(pairs, np.int32).reshape(-1, 2))) == kept


def test_nothing_given_is_no_filter() -> None:
    assert PairFilter.make(3, None, None, None) is None


def test_what_is_not_given_is_open() -> None:
    made = PairFilter.make(2, None, None, [True, False])
    assert made is not None
    assert made.groups.tolist() == [1, 1]
    assert made.masks.tolist() == [2**32 - 1] * 2
    everyone = PairFilter.open_to_all(2)
    assert np.array_equal(everyone.groups, made.groups)
    assert np.array_equal(everyone.masks, made.masks)
    assert not everyone.static.any()


def test_take_and_join_keep_rows_together() -> None:
    made = PairFilter.make(3, [1, 2, 4], 7, [True, False, True])
    assert made is not None
    joined = made.take(np.array([2, 0])).join(made.take(np.array([1])))
    assert joined.groups.tolist() == [4, 1, 2]
    assert joined.masks.tolist() == [7, 7, 7]
    assert joined.static.tolist() == [True, True, False]


@pytest.mark.parametrize("name", ["groups", "masks", "static"])
def test_the_arrays_given_are_copied_and_writable(name: str) -> None:
    given_array: Any = np.zeros(3, np.bool_ if name == "static" else np.uint32)
    given_array.flags.writeable = False
    made = PairFilter.make(3, **{"groups": None, "masks": None, "static": None, name: given_array})
    held = getattr(made, name)
    assert not np.shares_memory(held, given_array)
    assert held.flags.writeable  # Numba would compile the kernel once more for a read-only array


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("groups", [1.0, 2.0], "float64"),
        ("groups", [1, 2, 3], r"\(3,\)"),
        ("groups", [[1, 2]], r"\(1, 2\)"),
        ("groups", [1, -1], r"groups\[1\] is -1; it must be a whole number from 0"),
        ("masks", 2**32, "masks is 4294967296; it must"),
        ("masks", "all", "<U3"),
        ("masks", [True, False], "bool"),
        ("static", [0, 1], "int64"),
        ("static", [True], r"\(1,\)"),
        ("static", [[True], [True, False]], "static"),
    ],
)
def test_a_bad_filter_is_named(name: str, value: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said) as caught:
        PairFilter.make(2, **{"groups": None, "masks": None, "static": None, name: value})
    assert str(caught.value).startswith(name)
