"""Methods by name: built in, registered in this process, or announced by an installed package."""

from __future__ import annotations

from typing import Any

from choque._core.registry import Registry
from choque.bounds import Bounds
from choque.broad.broad_phase import BroadPhase
from choque.broad.index import Index
from choque.errors import UnknownName

SHARED_OPTIONS = ("closed", "threads", "groups", "masks", "static")
"""The options of every method, which `BroadPhase` takes."""

methods: Registry[type[Index]] = Registry(
    "broad-phase method",
    {
        "all": "choque.broad._all:AllPairs",
        "auto": "choque.broad._auto:Auto",
        "brute": "choque.broad._brute:Brute",
        "brute-obb": "choque.broad._brute_obb:BruteObb",
        "bvh": "choque.broad._bvh:Bvh",
        "grid": "choque.broad._grid:Grid",
        "sap-direct": "choque.broad.sap_direct:SapDirect",
        "sap-incremental": "choque.broad.sap_incremental:SapIncremental",
        "sap-kdop": "choque.broad._sap_kdop:SapKdop",
        "sap-obb": "choque.broad._sap_obb:SapObb",
    },
    group="choque.broad",
    fits=lambda thing: isinstance(thing, type) and issubclass(thing, Index),
    wanted="a subclass of choque.broad.Index",
)


def register(method: type[Index]) -> type[Index]:
    """Make ``method`` known in this process under its ``name``, and return it; usable as a class decorator."""
    return methods.register(method.name, method)


def names() -> list[str]:
    """List the names of all methods, in alphabetical order."""
    return methods.names()


def find(name: str) -> type[Index]:
    """Return the class of the method ``name``."""
    return methods.find(name)


def create(method: str | type[Index], bounds: Bounds, **options: Any) -> BroadPhase:
    """Return a broad phase over ``bounds`` by a method, given by its name or its class.

    ``options`` are those of every method (``closed``, ``threads``, ``groups``, ``masks``, ``static``) and its own.

    Examples
    --------
    >>> import choque
    >>> boxes = choque.bounds.Boxes([[0, 0], [1, 1], [5, 5]], [[2, 2], [3, 3], [6, 6]])
    >>> choque.broad.create("brute", boxes).pairs().tolist()
    [[0, 1]]
    """
    kind = method if isinstance(method, type) else find(method)
    shared = {name: options.pop(name) for name in SHARED_OPTIONS if name in options}
    try:
        index = kind(**options)
    except TypeError as problem:
        unknown = _unexpected_option(problem)
        if unknown is None:
            raise
        raise UnknownName(f"option of {kind.name!r}", unknown, [*kind.options(), *SHARED_OPTIONS]) from None
    return BroadPhase(bounds, index, **shared)


def _unexpected_option(problem: TypeError) -> str | None:
    marker = "unexpected keyword argument "
    text = str(problem)
    return text.partition(marker)[2].strip("'\"").partition("'")[0] if marker in text else None
