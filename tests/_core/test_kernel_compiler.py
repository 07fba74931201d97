"""Parts of kernels are compiled into them, give the same numbers, and can be called from Python, too."""

from __future__ import annotations

import operator
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba.core import types

from choque._core.kernel import forceinline, helper, kernel
from choque._core.kernel_compiler import Types

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="nothing is compiled")


@forceinline
def square(x: float) -> float:
    return x * x


@helper
def fill(values: Any, scale: float) -> float:
    for i in range(values.size):
        values[i] = scale * square(values[i]) - 1.0
    return values[0] / scale


@kernel
def twice(values: Any, scale: float) -> float:
    return fill(values, scale) + fill(values, scale)


def test_a_kernel_computes_what_python_does() -> None:
    values, plain = np.array([0.3, 2.0, -1.5]), [0.3, 2.0, -1.5]
    first = [3.0 * (each * each) - 1.0 for each in plain]
    second = [3.0 * (each * each) - 1.0 for each in first]
    assert twice(values, 3.0) == first[0] / 3.0 + second[0] / 3.0
    assert values.tolist() == second


def test_python_can_call_parts() -> None:
    values = np.array([2.0])
    assert fill(values, 2.0) == 3.5
    assert square(1.5) == 2.25


def test_division_by_zero_follows_numpy_in_parts() -> None:
    assert twice(np.array([3.0]), 0.0) == -np.inf


def test_operators_remember_the_signatures_that_numba_gives() -> None:
    twice(np.ones(2), 1.0)
    own = twice.targetctx.typing_context  # type: ignore[attr-defined]
    for name in (operator.add, operator.mul, operator.truediv, operator.lt):
        for args in [(types.float32, types.float64), (types.int64, types.int32), (types.boolean, types.float32)]:
            expected = own.resolve_function_type(name, args, {})
            for _ in range(2):
                assert Types.of(own).resolve_function_type(name, args, {}) == expected


def test_a_numba_that_was_never_tried_compiles_by_its_own_pipeline(tmp_path: Path) -> None:
    script = """
import numba
numba.version_info = numba.version_info._replace(short=(9, 9))
import choque
from choque._core import kernel
from numba.core.compiler import Compiler
assert kernel.KERNEL_PIPELINE is kernel.PART_PIPELINE is Compiler
print(choque.pairs([[0, 0], [0.5, 0.5], [3, 3]], [[1, 1], [2, 2], [4, 4]]).tolist())
"""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, env=environment)
    assert done.stdout == "[[0, 1]]\n", done.stderr
