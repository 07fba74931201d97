"""Generic kernels made concrete before any launch, so that a module is compiled once and not at each new type."""
# mypy: ignore-errors

from __future__ import annotations

from typing import Any

import warp as wp


def overload(numbers: tuple[Any, ...], *kernels: Any) -> None:
    """Let each of the ``kernels`` exist with every one of ``numbers`` in the place of ``Any``."""
    for kernel in kernels:
        for number in numbers:
            wp.overload(kernel, [_concrete(argument.type, number) for argument in kernel.adj.args])


def _concrete(kind: Any, number: Any) -> Any:
    if isinstance(kind, wp.array):
        return wp.array(dtype=number, ndim=kind.ndim) if kind.dtype is Any else kind
    return number if kind is Any else kind
