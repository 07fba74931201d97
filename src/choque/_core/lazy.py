"""Packages that import what they export when it is first used."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping


def exporting(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """Return the ``__getattr__`` of a package; ``homes`` maps each name to its module, or to itself for a submodule."""

    def find(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = importlib.import_module(homes[name])
        value = module if homes[name] == f"{package}.{name}" else getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    return find
