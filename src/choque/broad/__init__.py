"""Candidate pairs: a set of bodies, methods by name, and one file for each method."""

from __future__ import annotations

from typing import TYPE_CHECKING

from choque._core.lazy import exporting

if TYPE_CHECKING:
    from choque._core.counters import Counters
    from choque._core.emission import Sink
    from choque._core.pair_keys import PairFilter
    from choque.broad.broad_phase import BroadPhase, create
    from choque.broad.index import Index, find, names, register
    from choque.broad.structure import Structure

__all__ = ["BroadPhase", "Counters", "Index", "PairFilter", "Sink", "Structure", "create", "find", "names", "register"]

_HOMES = {
    "choque._core.counters": "Counters",
    "choque._core.emission": "Sink",
    "choque._core.pair_keys": "PairFilter",
    ".broad_phase": "BroadPhase create",
    ".index": "Index find names register",
    ".structure": "Structure",
}
__getattr__, __dir__ = exporting(__name__, __all__, _HOMES)
