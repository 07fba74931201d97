"""Neighbour lists: all pairs of points closer than a cut-off, in free space and in periodic cells.

The package can be called: ``choque.neighbors(positions, 5.0, cell=cell, quantities="ijSd")``.
"""

from __future__ import annotations

import inspect
import sys
from types import ModuleType

from choque.neighbors._ase import neighbor_list
from choque.neighbors._find import find
from choque.neighbors._kept import Neighbors

__all__ = ["Neighbors", "neighbor_list"]


class _CallableModule(ModuleType):
    __call__ = staticmethod(find)
    __signature__ = inspect.signature(find)  # otherwise inspect takes the first argument for self


sys.modules[__name__].__class__ = _CallableModule
