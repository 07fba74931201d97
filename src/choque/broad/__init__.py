"""Candidate pairs: one contract, a registry of methods by name, and one file for each method."""

from choque._core.counters import Counters
from choque._core.emission import Sink
from choque._core.filter import PairFilter
from choque.broad._contract import BroadPhase
from choque.broad._registry import create, find, names, options_of, register
from choque.broad._structure import Structure

__all__ = [
    "BroadPhase",
    "Counters",
    "PairFilter",
    "Sink",
    "Structure",
    "create",
    "find",
    "names",
    "options_of",
    "register",
]
