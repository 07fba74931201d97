"""The decorator for parts of kernels that are called millions of times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

import numba

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def part(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Compile ``function`` for use inside kernels: it borrows the arrays it is given and allocates none.

    A kernel counts references to every array that it hands on, by atomic instructions. In a query of a few hundred
    nanoseconds that is half the time. Whoever calls a part holds the arrays anyway.
    """
    options: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy", "_nrt": False}
    return cast("Callable[Parameters, Result]", numba.njit(**options)(function))
