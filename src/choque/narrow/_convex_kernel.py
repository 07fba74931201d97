"""The decorator for parts of kernels that are called millions of times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

import numba

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy", "_nrt": False}
"""How parts are compiled: like kernels, but without counting references."""


def part(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Compile ``function`` for use inside kernels: it borrows the arrays it is given and allocates none.

    A kernel counts references to every array that it hands on, by atomic instructions. In a query of a few hundred
    nanoseconds that is half the time. Whoever calls a part holds the arrays anyway.
    """
    return cast("Callable[Parameters, Result]", numba.njit(**OPTIONS)(function))


def woven(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """A `part` that always becomes one piece with its caller, for the loops of EPA.

    The compiler calls large parts, and a call lays out nine numbers for each array that it hands on: in the loops of
    EPA that was a fifth of the time. Each use costs compile time.
    """
    return cast("Callable[Parameters, Result]", numba.njit(**OPTIONS, forceinline=True)(function))
