"""Candidate pairs: a set of bodies, methods by name, and one file for each method."""

from __future__ import annotations

from typing import TYPE_CHECKING

from choque._core.lazy import exporting

if TYPE_CHECKING:
    from choque._core.counters import Counters
    from choque._core.emission import Sink
    from choque._core.filter import PairFilter
    from choque.broad.broad_phase import BroadPhase, create
    from choque.broad.index import Index, find, names, register
    from choque.broad.structure import Structure

__all__ = [
    "BroadPhase",
    "Counters",
    "Index",
    "PairFilter",
    "Sink",
    "Structure",
    "create",
    "find",
    "names",
    "register",
]

_MEMBERS = {
    "BroadPhase": "choque.broad.broad_phase",
    "Counters": "choque._core.counters",
    "Index": "choque.broad.index",
    "PairFilter": "choque._core.filter",
    "Sink": "choque._core.emission",
    "Structure": "choque.broad.structure",
    "create": "choque.broad.broad_phase",
    "find": "choque.broad.index",
    "names": "choque.broad.index",
    "register": "choque.broad.index",
}

__getattr__ = exporting("choque.broad", _MEMBERS)


def __dir__() -> list[str]:
    return sorted(__all__)
