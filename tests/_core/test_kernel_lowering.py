"""Kernels that are translated in few instructions give what Numba's own give, to the last bit."""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba.core import types
from numba.core.caching import NullCache

from choque._core.kernel import helper, kernel
from choque._core.kernel_lowering import KernelLower

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="nothing is compiled")

NUMBERS = st.one_of(st.floats(width=64), st.sampled_from([0.0, -0.0, math.nan, math.inf, 1e-310, 1e308]))


class Rows(NamedTuple):
    """Arrays of several types under one name."""

    values: Any
    marks: Any
    counts: Any


def items(arrays, at, small):  # indices from the end, unsigned ones, constants, three axes
    array, cube = arrays
    total = array[at, 1] + array[-1, -2] + array[at - 3, small] + cube[small, at, -1]
    array[at, -1] = total
    array[0, 0] += cube[0, 1, 2]
    return total


def arithmetic(a, b):
    less, more = min(a, b), max(a, b)
    total = (a + b) * (a - b) + less / b - more * 3 + abs(a) + math.sqrt(abs(b))
    return total, a < b, a <= b, a > b, a >= b, a == b, a != b, -a, a**2, not a < b


def integers(a, b):
    return a + b, a - b, a * b, a // b, a % b, a / b, a & b, a | b, a ^ b, a << 2, a >> 1, a < b, a == b


def ranges(first, last, step):
    total = 0
    for i in range(last):
        total += i
    for i in range(first, last):
        total = total * 3 + i
    for i in range(last, first, -2):
        total -= 5 * i
    for i in range(first, last, step):
        total += 7 * i
    for i in range(first, last):
        if i == 2:
            continue
        if i > 5:
            break
        for j in range(i, i + 2):
            total += i * j
    return total


def perhaps_unassigned(values, limit):
    count = 0
    for i in range(values.shape[0]):
        if values[i] > limit:
            last = i
            place = (i, count)
            count += 1
    if count > 0:
        return last + place[0] - place[1]
    return -1


def structures(rows, scale):
    values, marks = rows[:2]
    for i in range(len(values)):
        if marks[i] and rows.counts[i] > 1:
            rows.values[i] *= scale[1]
        marks[i] = values[i] > scale[0]
        rows.counts[i] = values[i] * 2
    one, other = (values[0], marks[0]) if scale[0] > 0 else (values[1], marks[1])
    return one, other, values.size, rows.counts.shape[0]


def views(array, column):
    part = array[1:3]
    row = array[2]
    part[0, 1] += row[0]
    column[1] = column[-1] + part.shape[0] + row.sum()
    return part[0, 0] + array[:, 1][0] + column[0]


def makes(count):
    made = np.empty(count)
    for i in range(made.size):
        made[i] = made.size - i
    return made


def raises(values, limit):
    total = 0.0
    for i in range(values.size):
        if values[i] > limit:
            raise ValueError("above the limit")
        total += values[i]
    return total


def part_of(function: Callable[..., Any], count: int) -> Callable[..., Any]:
    """Return a kernel that calls a function as a part."""
    inner = helper(function)
    if count == 1:
        return kernel(lambda a: inner(a))
    if count == 2:
        return kernel(lambda a, b: inner(a, b))
    return kernel(lambda a, b, c: inner(a, b, c))


def compare(function: Callable[..., Any], *arguments: Any) -> None:
    """Compare results and written arrays with Numba's own."""
    expected, given_arrays = None, None
    for compiled in compiled_in_all_ways(function, len(arguments)):
        copies = [copied(each) for each in arguments]
        result = compiled(*copies)
        if given_arrays is None:
            expected, given_arrays = result, copies
        np.testing.assert_equal(bits(result), bits(expected))
        np.testing.assert_equal(bits(copies), bits(given_arrays))


_compiled: dict[Any, list[Callable[..., Any]]] = {}


def compiled_in_all_ways(function: Callable[..., Any], count: int) -> list[Callable[..., Any]]:
    if function not in _compiled:
        _compiled[function] = [numba.njit(error_model="numpy")(function), kernel(function)]
        if function is not makes and count <= 3:
            _compiled[function].append(part_of(function, count))
    return _compiled[function]


def copied(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.copy(order="K")
    if isinstance(value, tuple):
        items = [copied(each) for each in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return value


def bits(value: Any) -> Any:
    """Return numbers as integers, so that a negative zero and the sign of a NaN count."""
    if isinstance(value, (list, tuple)):
        return [bits(each) for each in value]
    array = np.asarray(value)
    return array.view(f"u{array.itemsize}").tolist() if array.dtype.kind == "f" else array.tolist()


@given(st.integers(0, 4), st.integers(0, 2), st.integers(0, 2**32 - 1))
def test_items(at: int, small: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    for kind in (np.float64, np.float32, np.int32):
        array, cube = (random.random(shape) * 100 for shape in ((5, 3), (3, 5, 4)))
        compare(items, (array.astype(kind), cube.astype(kind)), at, np.uint64(small))
    compare(items, (np.asfortranarray(array), cube.repeat(2, axis=2)[:, :, ::2]), at, np.uint64(small))


@given(NUMBERS, NUMBERS)
def test_arithmetic(a: float, b: float) -> None:
    compare(arithmetic, a, b)
    with np.errstate(over="ignore"):
        compare(arithmetic, np.float32(a), np.float32(b))


@given(st.integers(-(2**62), 2**62), st.integers(-(2**31), 2**31 - 1).filter(bool))
def test_integers(a: int, b: int) -> None:
    compare(integers, a, b)
    compare(integers, np.int32(b), np.int32(a % 1000 + 1))
    compare(integers, np.uint32(a % 2**32), np.uint32(b % 2**32 or 1))


@given(st.integers(-12, 12), st.integers(-12, 12), st.integers(-3, 3).filter(bool))
def test_ranges(first: int, last: int, step: int) -> None:
    compare(ranges, first, last, step)
    compare(ranges, np.int32(first), np.int32(last), np.int32(step))


@given(st.lists(st.floats(-2, 2), max_size=6), st.floats(-1, 1))
def test_a_variable_that_a_loop_may_not_have_assigned(values: list[float], limit: float) -> None:
    compare(perhaps_unassigned, np.array(values, np.float64), limit)


@given(st.integers(0, 2**32 - 1), st.floats(-1, 1))
def test_structures_of_arrays(seed: int, limit: float) -> None:
    random = np.random.default_rng(seed)
    rows = Rows(random.normal(size=5), random.random(5) > 0.5, random.integers(0, 4, 5, np.uint8))
    compare(structures, rows, (limit, 2.0))


def test_views_of_arrays() -> None:
    array = np.arange(12.0).reshape(4, 3)
    compare(views, array, np.arange(3.0))
    compare(views, array, array.copy()[:, 1])


def test_arrays_that_a_kernel_makes_are_counted() -> None:
    compare(makes, 5)
    kept = [kernel(makes)(1_000) for _ in range(50)]
    assert all(each[0] == 1_000 and each[-1] == 1 for each in kept)


def test_what_a_part_raises_reaches_python() -> None:
    compare(raises, np.array([1.0, 2.0]), 3.0)
    for compiled in compiled_in_all_ways(raises, 2):
        with pytest.raises(ValueError, match="above the limit"):
            compiled(np.array([1.0, 4.0]), 3.0)


def test_indices_are_checked_if_numba_is_asked_to(tmp_path: Path) -> None:
    script = """
import numpy as np
from choque._core.kernel import kernel
@kernel
def read(values, place):
    return values[place]
try:
    read(np.zeros(3), 5)
except IndexError as problem:
    print(problem)
"""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_BOUNDSCHECK": "1"}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, env=environment)
    assert "out of bounds" in done.stdout, done.stderr


def test_only_kernels_that_make_arrays_count_references(monkeypatch: pytest.MonkeyPatch) -> None:
    translated = []
    init = KernelLower.init

    def note(self: Any) -> None:
        translated.append(self.func_ir.func_id.func_name)
        init(self)

    monkeypatch.setattr(KernelLower, "init", note)
    for function, *arguments in (
        (perhaps_unassigned, types.float64[::1], types.float64),
        (ranges, types.int64, types.int64, types.int64),
        (views, types.float64[:, ::1], types.float64[::1]),
        (makes, types.int64),
    ):
        compiled: Any = kernel(function)
        compiled._cache = NullCache()
        compiled.compile(tuple(arguments))
    assert translated == ["perhaps_unassigned", "ranges"]
