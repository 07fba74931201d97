"""Kernels compiled ahead for a card that need not be there: the proof that they would compile on one."""

from __future__ import annotations

import importlib
from pathlib import Path

from choque.errors import ChoqueError, InvalidInput
from choque.gpu.devices import load_warp

MODULES = ("_kernels_bodies", "_kernels_bounds", "_kernels_sort", "_kernels_sweep")

LEAST_ARCHITECTURE = 75
"""The oldest compute capability that the present compiler of CUDA knows: 7.5."""


def compile_ahead(folder: str | Path, architecture: int = LEAST_ARCHITECTURE) -> list[Path]:
    """Compile every kernel for a CUDA ``architecture``, such as 75 for 7.5, into ``folder``; the files written.

    No card and no driver are needed. A kernel that would not compile is a `ChoqueError` with the compiler's words.
    """
    warp = load_warp()
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InvalidInput(f"The folder {target} cannot be made: {problem.strerror}.") from problem
    written: list[Path] = []
    for name in MODULES:
        module = importlib.import_module(f"choque.gpu.{name}")
        try:
            written += map(Path, warp.compile_aot_module(module, arch=architecture, module_dir=target, use_ptx=True))
        except Exception as problem:  # whatever the compiler raises, its words are what matters
            raise ChoqueError(f"The kernels of {name} do not compile for CUDA {architecture}: {problem}") from problem
    return written
