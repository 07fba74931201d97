"""Packages that import what they export when it is first used."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress


def exporting(
    package: str, names: Sequence[str], homes: Mapping[str, str], first: tuple[str, str] | None = None
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and ``__dir__`` of a package that exports ``names``.

    ``homes`` maps a module, relative to the package if it begins with a dot, to the names that it defines, separated
    by spaces. Every other name is a module of the package itself. ``first`` is a name, and the beginning of the files
    of a kernel of the package that is always needed with it: `compile_early`.
    """
    home_of = {name: module for module, defined in homes.items() for name in defined.split()}

    def find(name: str) -> object:
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if first and name == first[0]:
            compile_early(package.rpartition(".")[2], first[1])
        module = importlib.import_module(home_of.get(name, f".{name}"), package)
        value = getattr(module, name) if name in home_of else module
        setattr(sys.modules[package], name, value)
        return value

    return find, lambda: sorted(names)


def compile_early(package: str, kernel: str) -> None:
    """Start the processes that compile, before Numba is imported, unless one of the kernels was compiled before.

    It looks where Numba keeps kernels by default; `choque._core.kernel.compile_ahead` knows in all cases.
    """
    home, given = os.path.dirname(os.path.dirname(__file__)), os.environ.get("NUMBA_CACHE_DIR", "")
    kernels = os.path.join(home, package, "__pycache__")
    is_set = "numba" in sys.modules or "NUMBA_DISABLE_JIT" in os.environ or os.path.exists(".numba_config.yaml")
    if is_set or os.path.exists(os.path.join(home, "_kernels")) or not (given or os.access(kernels, os.W_OK)):
        return
    with suppress(Exception):  # no process may be started here
        begin, folders = f"{package}_", sorted(os.listdir(given)) if os.path.isdir(given) else []
        kept = [os.path.join(given, each) for each in folders if each.startswith(begin)] if given else [kernels]
        if not any(each.startswith(kernel) for folder in kept for each in os.listdir(folder)):
            importlib.import_module("choque._core.compile_beside").compilers.start()
