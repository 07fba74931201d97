"""The interface of a peer: another library that finds overlapping boxes, timed as fairly as possible."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from importlib.util import find_spec
from types import ModuleType
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from choque._core.pair_keys import pack_pairs, unpack_pairs
from choque._core.threads import available_count
from choque._core.types import Floats, Pairs
from choque.errors import InvalidInput, require


class Peer(ABC):
    """Another library that finds the overlapping pairs of boxes.

    The three stages are those of a broad phase: `create`, `update` and `pairs`. The answer of `pairs` is
    what the library itself returns, so that its time does not include our array format; `read`
    turns it into sorted pairs and is timed apart. Answers hold every pair of overlapping closed boxes
    unless ``question`` says otherwise.

    Parameters
    ----------
    threads
        Number of threads, if the library lets one choose; None for all.
    """

    name: ClassVar[str]
    """The peer's name in tables and on the command line: library, then structure."""
    module: ClassVar[str]
    """The module that is imported."""
    distribution: ClassVar[str]
    """What pip installs, for the record of versions."""
    dimensions: ClassVar[tuple[int, ...]] = (2, 3)
    """The dimensions of boxes that it takes."""
    uses_threads: ClassVar[bool] = False
    """True if it uses ``threads``; otherwise it runs on one."""
    keeps_structure: ClassVar[bool] = False
    """True if `update` keeps and repairs its structure; otherwise it makes a new one."""
    question: ClassVar[Literal["boxes", "spheres"]] = "boxes"
    """What it computes: overlapping boxes, or neighbours of points, another problem of which only times compare."""
    exactness: ClassVar[str]
    """How the library's own answer relates to the exact one, in a sentence."""
    kind: ClassVar[Literal["method", "peer"]] = "peer"
    superset: ClassVar[bool] = False
    """True if `read` may return more than the exact pairs; no peer does at present."""

    def __init__(self, threads: int | None = None) -> None:
        self.threads = (threads or available_count()) if self.uses_threads else 1

    @classmethod
    def is_installed(cls) -> bool:
        """Return whether the library can be found, without importing it."""
        return find_spec(cls.module) is not None

    @classmethod
    def library(cls, submodule: str = "") -> ModuleType:
        """Import the library, or one of its submodules, or say how to get it."""
        return require(cls.module + submodule, extra="peers", purpose=f"to compare with {cls.name}")

    @abstractmethod
    def create(self, lower: Floats, upper: Floats) -> Any:
        """Make the library's structure over the boxes ``lower``, ``upper``, each (n, 2) or (n, 3)."""

    def update(self, state: Any, lower: Floats, upper: Floats) -> Any:  # noqa: ARG002
        """Follow boxes that have all moved; build the structure again unless the library can update it."""
        return self.create(lower, upper)

    @abstractmethod
    def pairs(self, state: Any) -> Any:
        """Find the pairs, in the library's own form."""

    @abstractmethod
    def read(self, state: Any, answer: Any) -> Pairs:
        """Turn the ``answer`` of `pairs` into sorted (m, 2) pairs, each once."""

    def counters(self, state: Any) -> Mapping[str, int]:  # noqa: ARG002
        """Return what the library counted, by name; empty unless overridden."""
        return {}


def canonical(first: NDArray[Any], second: NDArray[Any]) -> Pairs:
    """Sort pairs of rows given in any order into (m, 2) int32, each once, and no row with itself."""
    found = np.sort(np.stack((first, second), axis=1), axis=1)
    return unpack_pairs(np.unique(pack_pairs(found[found[:, 0] != found[:, 1]])))


def canonical_hits(counts: NDArray[Any], hits: NDArray[Any]) -> Pairs:
    """Sort the pairs that queries found: query i hit the next ``counts[i]`` rows of ``hits``."""
    return canonical(np.repeat(np.arange(len(counts)), counts.astype(np.int64)), hits)


def overlapping(lower: Floats, upper: Floats, first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which of the pairs of rows ``first``, ``second`` overlap as closed boxes."""
    apart = np.zeros(len(first), np.bool_)
    for axis in range(lower.shape[1]):
        low, high = np.ascontiguousarray(lower[:, axis]), np.ascontiguousarray(upper[:, axis])
        apart |= (low[first] > high[second]) | (low[second] > high[first])
    return ~apart


def in_three_dimensions(corners: Floats, number: type = np.float64, third: float = 0.0) -> NDArray[Any]:
    """Return the corners as a C-contiguous (n, 3) array; in 2D the third coordinate is ``third``."""
    if corners.shape[1] == 3:
        return np.ascontiguousarray(corners, number)
    padded: NDArray[Any] = np.full((len(corners), 3), third, number)
    padded[:, : corners.shape[1]] = corners
    return padded


def check_dimension(peer: type[Peer], dimension: int) -> None:
    """Refuse boxes of a dimension that the peer cannot take."""
    if dimension not in peer.dimensions:
        allowed = " and ".join(f"{each}D" for each in peer.dimensions)
        raise InvalidInput(f"The peer {peer.name!r} was given {dimension}D boxes; it takes {allowed} only.")
