"""Names to methods: the built-in ones, those that higher rooms bring, and those of other packages, by entry point."""

from __future__ import annotations

import importlib
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from choque.bounds import Bounds
from choque.broad._contract import BroadPhase, check_kind
from choque.errors import ChoqueError, InvalidInput, UnknownName

GROUP = "choque.broad"
"""The entry-point group through which any package, this one's higher rooms included, brings a method."""

_BUILT_IN = {
    "all": "choque.broad._all:AllPairs",
    "auto": "choque.broad._auto:Auto",
    "brute": "choque.broad._brute:Brute",
    "brute-obb": "choque.broad._brute_obb:BruteObb",
    "bvh": "choque.broad._bvh:Bvh",
    "grid": "choque.broad._grid:Grid",
    "sap-direct": "choque.broad._sap_direct:SapDirect",
    "sap-incremental": "choque.broad._sap_incremental:SapIncremental",
    "sap-kdop": "choque.broad._sap_kdop:SapKdop",
    "sap-obb": "choque.broad._sap_obb:SapObb",
}
_registered: dict[str, type[BroadPhase]] = {}


def register(method: type[BroadPhase]) -> type[BroadPhase]:
    """Make ``method`` known in this process under its ``name``; usable as a class decorator."""
    if method.name in _BUILT_IN or _registered.get(method.name, method) is not method:
        raise InvalidInput(f"The method name {method.name!r} is taken; choose another.")
    _registered[method.name] = method
    return method


def names() -> list[str]:
    """Every method that `create` knows, in alphabetical order."""
    return sorted({*_BUILT_IN, *_registered, *_brought()})


def find(name: str) -> type[BroadPhase]:
    """The class of the method ``name``."""
    if not isinstance(name, str):
        raise InvalidInput(f"The method is {name!r}; it must be a name, one of: {', '.join(names())}.")
    if name in _BUILT_IN:
        module, _, attribute = _BUILT_IN[name].partition(":")
        return _checked(name, getattr(importlib.import_module(module), attribute))
    if name in _registered:
        return _registered[name]
    point = _brought().get(name)
    if point is None:
        raise UnknownName("broad-phase method", name, names())
    try:
        return _checked(name, point.load())
    except (ImportError, AttributeError) as problem:
        raise ChoqueError(
            f"The method {name!r} is announced as {point.value!r} but cannot be imported: {problem}."
        ) from problem


def create(name: str, bounds: Bounds, **options: Any) -> BroadPhase:
    """A broad phase of the method ``name`` over ``bounds``.

    ``options`` are those of every method (``closed``, ``threads``, ``groups``, ``masks``, ``static``) and its own.

    Examples
    --------
    >>> import choque
    >>> boxes = choque.bounds.Boxes([[0, 0], [1, 1], [5, 5]], [[2, 2], [3, 3], [6, 6]])
    >>> choque.broad.create("brute", boxes).pairs().tolist()
    [[0, 1]]
    """
    method = find(name)
    check_kind(bounds)
    try:
        return method(bounds, **options)
    except TypeError as problem:
        unknown = _unexpected_option(problem)
        if unknown is None:
            raise
        raise UnknownName(f"option of {name!r}", unknown, options_of(method)) from None


def options_of(method: str | type[BroadPhase]) -> list[str]:
    """The names of the options that ``method`` takes, a name or a class: its own before those of every method."""
    import inspect

    own: list[str] = []
    for kind in (find(method) if isinstance(method, str) else method).__mro__:
        if "__init__" in vars(kind) and issubclass(kind, BroadPhase):
            parameters = inspect.signature(kind).parameters.values()
            own += [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.name not in own]
    return own


def _unexpected_option(problem: TypeError) -> str | None:
    marker = "unexpected keyword argument "
    text = str(problem)
    return text.partition(marker)[2].strip("'\"").partition("'")[0] if marker in text else None


def _checked(name: str, method: object) -> type[BroadPhase]:
    if isinstance(method, type) and issubclass(method, BroadPhase):
        return method
    raise ChoqueError(
        f"The method {name!r} is registered as {method!r}; it must be a subclass of choque.broad.BroadPhase."
    )


@cache
def _brought() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}
