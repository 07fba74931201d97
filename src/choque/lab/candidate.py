"""Candidates of a comparison: a method of Choque, `choque.pairs`, or another library, behind one contract."""
# ruff: noqa: D102 (the contract documents the stages)

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal, Protocol

from choque._core.threads import available_count
from choque._core.types import Floats, Pairs
from choque.bounds import Boxes
from choque.broad import create, find
from choque.broad import names as method_names
from choque.errors import UnknownName

if TYPE_CHECKING:
    from choque.broad import BroadPhase

THESES = "choque.theses."

OF_GENERAL_USE = ("interest",)
"""Methods that a thesis proposes for any scene; its other methods exist to reproduce it."""

FACADE = "choque.pairs"
"""The name of the candidate that calls `choque.pairs`."""


def compared_methods() -> list[str]:
    """List the methods that are compared unless others are named.

    Every registered one but ``all``, which tests nothing and keeps every pair, and those that reproduce a thesis, which
    the study of that thesis compares.
    """

    def is_compared(name: str) -> bool:
        return name in OF_GENERAL_USE or not find(name).__module__.startswith(THESES)

    return [name for name in method_names() if name != "all" and is_compared(name)]


State = tuple[Floats, Floats]
"""The boxes, which is all that `choque.pairs` needs."""


class Candidate(Protocol):
    """Anything that finds pairs in three stages; every `choque.lab.peers.Peer` is one.

    `pairs` is called once after each `create` or `update`, so a structure may keep its answer.
    """

    @property
    def name(self) -> str:
        """Its name in tables."""

    @property
    def kind(self) -> Literal["method", "peer"]:
        """Whether it is part of Choque or another library."""

    @property
    def threads(self) -> int:
        """The number of threads it may use."""

    @property
    def question(self) -> Literal["boxes", "spheres"]:
        """What it computes: pairs of boxes, or another problem of the same size."""

    @property
    def superset(self) -> bool:
        """Whether its pairs may hold more than the exact ones."""

    def create(self, lower: Floats, upper: Floats) -> Any:
        """Make the structure over the first frame."""

    def update(self, state: Any, lower: Floats, upper: Floats) -> Any:
        """Follow the boxes of the next frame."""

    def pairs(self, state: Any) -> Any:
        """Find the pairs, in the candidate's own form."""

    def read(self, state: Any, answer: Any) -> Pairs:
        """Turn the answer into sorted (m, 2) pairs; not part of the measured time."""

    def counters(self, state: Any) -> Mapping[str, int]:
        """Return what was counted since the state was created."""


class _Ours:
    kind: Literal["method", "peer"] = "method"
    question: Literal["boxes", "spheres"] = "boxes"

    def __init__(self, name: str, threads: int | None = None) -> None:
        self.name = name
        self.threads = threads or available_count()
        self.superset = name == "all"

    def read(self, state: Any, answer: Pairs) -> Pairs:  # noqa: ARG002
        return answer


class Method(_Ours):
    """A method of the registry, by name, at its default options."""

    def create(self, lower: Floats, upper: Floats) -> BroadPhase:
        return create(self.name, Boxes(lower, upper), threads=self.threads)

    def update(self, state: BroadPhase, lower: Floats, upper: Floats) -> BroadPhase:
        state.update(Boxes(lower, upper))
        return state

    def pairs(self, state: BroadPhase) -> Pairs:
        return state.pairs()

    def counters(self, state: BroadPhase) -> Mapping[str, int]:
        return asdict(state.counters)


class Facade(_Ours):
    """``choque.pairs(lower, upper)``: no structure is built beforehand, so all time is in `pairs`."""

    def __init__(self, threads: int | None = None) -> None:
        from choque import pairs

        super().__init__(FACADE, threads)
        self._pairs = pairs

    def create(self, lower: Floats, upper: Floats) -> State:
        return lower, upper

    def update(self, state: State, lower: Floats, upper: Floats) -> State:  # noqa: ARG002
        return lower, upper

    def pairs(self, state: State) -> Pairs:
        return self._pairs(*state, threads=self.threads)

    def counters(self, state: State) -> Mapping[str, int]:  # noqa: ARG002
        return {}


def find_candidate(name: str, threads: int | None = None) -> Candidate:
    """Return the candidate ``name``: a method, `choque.pairs`, or a peer."""
    from choque.lab import peers

    if name == FACADE:
        return Facade(threads)
    if name in method_names():
        return Method(name, threads)
    if name in peers.names():
        return peers.get(name, threads)
    raise UnknownName("method", name, [FACADE, *method_names(), *peers.names()])
