"""Functions that make scenes, by name: what generators of boxes and generators of bodies have in common."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from choque.errors import InvalidInput, UnknownName

Function = TypeVar("Function", bound=Callable[..., Any])


class Generators(Generic[Function]):
    """Functions of a request and of keyword-only parameters, all with defaults, each under a name.

    Parameters
    ----------
    what
        What one of them is called in sentences, such as "scene".
    home
        The package whose modules register those that come along, imported when somebody first asks.
    """

    def __init__(self, what: str, home: str) -> None:
        self.what = what
        self.functions: dict[str, Function] = {}
        self._home = home

    def register(self, name: str, function: Function) -> None:
        """Make ``function`` known under ``name``, refused if another one is."""
        if self.functions.get(name, function) is not function:
            raise InvalidInput(f"There is a {self.what} called {name!r} already; choose another name.")
        self.functions[name] = function

    def names(self) -> list[str]:
        """List all names, sorted."""
        importlib.import_module(self._home)
        return sorted(self.functions)

    def find(self, name: str) -> Function:
        """The function called ``name``."""
        known = self.names()
        if not isinstance(name, str) or name not in self.functions:
            raise UnknownName(self.what, str(name), known)
        return self.functions[name]

    def parameters(self, name: str) -> dict[str, object]:
        """List the parameters of ``name`` with their defaults."""
        signature = inspect.signature(self.find(name))
        return {key: entry.default for key, entry in signature.parameters.items() if entry.kind is entry.KEYWORD_ONLY}

    def completed(self, name: str, given: Mapping[str, object]) -> dict[str, object]:
        """The parameters of ``name`` as ``given``, and by default where they are not; refused if it has no such one."""
        allowed = self.parameters(name)
        for key in given:
            if key not in allowed:
                listed = ", ".join(f"{known}={default!r}" for known, default in allowed.items()) or "none"
                raise InvalidInput(f"The {self.what} {name!r} has no parameter {key!r}. Its parameters: {listed}.")
        return {**allowed, **given}

    def summary(self, name: str) -> str:
        """Say in a sentence what ``name`` makes: the first of its docstring."""
        return " ".join((inspect.getdoc(self.find(name)) or "").partition("\n\n")[0].split()).replace("`", "")
