"""Things by name: methods, responses, generators, formats, studies, devices and other extensible parts.

A registry learns names in three ways, and imports what a name stands for when it is first used:

- a table of built-in names, ``{"grid": "choque.broad._grid:Grid"}``;
- `Registry.register`, a call or a decorator, for this process;
- an entry-point group, through which any installed package, Choque's own guests included, announces things. In
  ``pyproject.toml``: ``[project.entry-points."choque.broad"]``, ``my-method = "my_package.my_module:MyMethod"``.

A built-in name cannot be taken; a name registered in this process hides an announced one.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar, cast, overload

from choque.errors import ChoqueError, InvalidInput, MissingExtra, UnknownName

T = TypeVar("T")
Given = TypeVar("Given")


class Registry(Generic[T]):
    """Things of one kind by name.

    Examples
    --------
    >>> shapes = Registry("shape", {"square": "math:sqrt"})
    >>> _ = shapes.register("line", abs)
    >>> shapes.names()
    ['line', 'square']
    >>> shapes.find("line")(-2)
    2
    """

    def __init__(
        self,
        kind: str,  # what one of them is called in sentences: "broad-phase method"
        built_in: Mapping[str, str] | None = None,  # names to "module:attribute"
        *,
        group: str | None = None,  # the entry-point group, such as "choque.broad"
        fits: Callable[[Any], bool] | None = None,  # whether a thing is what the registry holds; by default all are
        wanted: str = "",  # what `fits` demands, as it reads after "it must be": "a subclass of choque.broad.Index"
        listed_by: str = "",  # the command that lists the names
    ) -> None:
        self.kind = kind
        self.group = group
        self._built_in = dict(built_in or {})
        self._fits = fits
        self._wanted = wanted
        self._listed_by = listed_by
        self._found: dict[str, T] = {}  # built in or announced, and imported
        self._registered: dict[str, T] = {}
        self._announced: dict[str, EntryPoint] | None = None

    @overload
    def register(self, name: str) -> Callable[[Given], Given]: ...

    @overload
    def register(self, name: str, thing: Given) -> Given: ...

    def register(self, name: str, thing: Any = None) -> Any:
        """Make ``thing`` known under ``name`` in this process, and return it; without it, return a decorator."""
        if thing is None:
            return lambda decorated: self.register(name, decorated)
        if not isinstance(name, str) or not name:
            raise InvalidInput(f"The name of a {self.kind} is {name!r}; it must be a string that is not empty.")
        if name in self._built_in or self._registered.get(name, thing) is not thing:
            raise InvalidInput(f"There is a {self.kind} called {name!r} already; choose another name.")
        self._registered[name] = self._checked(name, thing)
        return thing

    def names(self) -> list[str]:
        """List every name, in alphabetical order; nothing is imported."""
        return sorted(self)

    def find(self, name: str) -> T:
        """Return the thing called ``name``; `UnknownName` suggests the nearest one."""
        if not isinstance(name, str) or name not in self:
            raise UnknownName(self.kind, name, self, self._listed_by)
        if name in self._registered:
            return self._registered[name]
        if name not in self._found:
            self._found[name] = self._checked(name, self._imported(name))
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names: built in, registered, announced, in the order in which they came."""
        return iter({**self._built_in, **self._registered, **self._entry_points()})

    def __contains__(self, name: object) -> bool:
        return name in self._built_in or name in self._registered or name in self._entry_points()

    def _imported(self, name: str) -> Any:
        if name in self._built_in:
            module, _, attribute = self._built_in[name].partition(":")
            return getattr(importlib.import_module(module), attribute)
        point = self._entry_points()[name]
        try:
            return point.load()
        except MissingExtra:
            raise
        except (ImportError, AttributeError) as problem:
            raise ChoqueError(
                f"The {self.kind} {name!r} is announced as {point.value!r} but cannot be imported: {problem}. "
                "Reinstall or remove the package that brings it."
            ) from problem

    def _entry_points(self) -> dict[str, EntryPoint]:
        if self.group is None:
            return {}
        if self._announced is None:
            self._announced = {point.name: point for point in entry_points(group=self.group)}
        return self._announced

    def _checked(self, name: str, thing: Any) -> T:
        if self._fits is not None and not self._fits(thing):
            raise InvalidInput(f"The {self.kind} {name!r} is {thing!r}; it must be {self._wanted}.")
        return cast("T", thing)
