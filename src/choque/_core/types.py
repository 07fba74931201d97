"""Names for the types that all packages share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Integer: TypeAlias = Any
"""A whole number in a kernel: an int, or a NumPy integer, which the type checker would keep apart."""

Floats: TypeAlias = NDArray[np.floating[Any]]  # an array of float32 or float64
F32: TypeAlias = NDArray[np.float32]  # arrays of one type of number
F64: TypeAlias = NDArray[np.float64]
I8: TypeAlias = NDArray[np.int8]
I32: TypeAlias = NDArray[np.int32]
I64: TypeAlias = NDArray[np.int64]
U8: TypeAlias = NDArray[np.uint8]
U32: TypeAlias = NDArray[np.uint32]
Bools: TypeAlias = NDArray[np.bool_]
Rows: TypeAlias = NDArray[np.int64]  # row numbers into a set of bodies
Pairs: TypeAlias = NDArray[np.int32]  # (m, 2) pairs, smaller number first, sorted by the first, then by the second

Keys: TypeAlias = NDArray[np.uint64]
"""Pairs packed into one integer, smaller number in the high half: sorting keys sorts pairs."""

Progress: TypeAlias = Callable[[int, int, str], None]
"""Reports progress: the number of steps done, their total, and a description."""
