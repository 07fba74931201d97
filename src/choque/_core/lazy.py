"""Packages that import what they export when it is first used."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence


def exporting(
    package: str, names: Sequence[str], homes: Mapping[str, str]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and ``__dir__`` of a package that exports ``names``.

    ``homes`` maps a module, relative to the package if it begins with a dot, to the names that it defines, separated
    by spaces. Every other name is a module of the package itself.
    """
    home_of = {name: module for module, defined in homes.items() for name in defined.split()}

    def find(name: str) -> object:
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = importlib.import_module(home_of.get(name, f".{name}"), package)
        value = getattr(module, name) if name in home_of else module
        setattr(sys.modules[package], name, value)
        return value

    return find, lambda: sorted(names)
