"""Kernels that are compiled before a wheel is installed, for a family of processors.

Numba keeps a compiled kernel under the name of one processor. What it keeps is machine code, and code for x86-64-v3
runs on every processor with AVX2. A wheel with kernels has a folder ``choque/_kernels``, in which a kernel that is not
in the user's cache is looked up under the family. What does not fit is not found, and compiled as without the folder:
another Numba, another Python, changed sources, a processor that lacks a feature. `make wheel` builds such a wheel.
"""

from __future__ import annotations

import platform
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite.binding
import numba

FOLDER = Path(__file__).parents[1] / "_kernels"  # where a wheel has its kernels; a pure wheel and a clone have none


class Family(NamedTuple):
    """A family of processors, as Numba is told to compile for it."""

    name: str  # what LLVM calls it: the value of NUMBA_CPU_NAME
    features: str  # the value of NUMBA_CPU_FEATURES
    # features that a processor of the family must have, beyond what its architecture always has
    needed: tuple[str, ...]


_BASELINE = ("64bit", "cmov", "cx16", "cx8", "fxsr", "mmx", "sse", "sse2")
_V3 = (
    *("avx", "avx2", "bmi", "bmi2", "crc32", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sahf"),
    *("sse3", "sse4.1", "sse4.2", "ssse3", "xsave"),
)

FAMILIES = {
    "x86_64": Family("x86-64-v3", ",".join(f"+{each}" for each in sorted(_BASELINE + _V3)), _V3),
    "aarch64": Family("generic", "+neon", ("neon",)),
}
"""The family of each machine that wheels are built for."""
FAMILIES["AMD64"], FAMILIES["arm64"] = FAMILIES["x86_64"], FAMILIES["aarch64"]


@cache
def present_family() -> Family | None:
    """Return the family whose kernels this process may load; None if there are none, or if Numba is given a target."""
    family = FAMILIES.get(platform.machine())
    if family is None or not FOLDER.is_dir():
        return None
    settings: Any = numba.config
    if settings.CPU_NAME is not None or settings.CPU_FEATURES is not None:
        return None  # the user, or `make wheel`, compiles for another processor
    present = llvmlite.binding.get_host_cpu_features()
    return family if all(present.get(each, False) for each in family.needed) else None


def key_in_family(key: Any, family: Family) -> Any:
    """Return the key of Numba under which a kernel for the family was kept; ``key`` is that of this processor."""
    signature, (triple, _, _), hashes = key
    return signature, (triple, family.name, family.features), hashes
