"""One exception tree; every message says what was given, what is allowed and what to do."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
from collections.abc import Iterable
from types import ModuleType


class ChoqueError(Exception):
    """The root of every error that Choque raises on purpose."""


class InvalidInput(ChoqueError, ValueError):
    """An argument or a datum that the contract does not allow; the message names the first offender."""


class UnknownName(InvalidInput):
    """A method, scene, study or format that is not registered; the message suggests the nearest one."""

    def __init__(self, kind: str, given: object, allowed: Iterable[str]) -> None:
        names = sorted(allowed)
        near = difflib.get_close_matches(str(given), names, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        super().__init__(f"There is no {kind} called {given!r}.{hint} Known: {', '.join(names)}.")
        self._arguments = (kind, given, tuple(names))

    def __reduce__(self) -> tuple[type[UnknownName], tuple[str, object, tuple[str, ...]]]:
        return type(self), self._arguments


class UnreadableFile(InvalidInput):
    """A file that is missing, truncated, damaged or of another format than it claims."""


class RecordingFailed(ChoqueError, OSError):
    """A recording could not be continued; what was written before stays readable."""


class BusyObject(ChoqueError, RuntimeError):
    """An object for one thread at a time that a second thread entered."""


class MissingExtra(ChoqueError, ImportError):
    """An optional library that a feature needs and that is not installed."""


def require(module: str, *, extra: str | None = None, purpose: str) -> ModuleType:
    """Import the optional ``module``, or say in one sentence how to get it.

    ``extra`` is that of this package which brings it, such as ``"lab"``, None if none does; ``purpose`` what needs it,
    as it reads after "needed": ``"to draw pictures"``.
    """
    try:
        return importlib.import_module(module)
    except ImportError as problem:
        raise _missing(module, extra, purpose, f"could not be imported ({problem})") from problem


def check_installed(*modules: str, extra: str, purpose: str) -> None:
    """Raise what `require` raises unless all ``modules`` can be found; nothing is imported.

    Every call and verb that uses an optional library after other work begins with this, so that nothing is computed
    whose result cannot be kept or drawn.
    """
    for module in modules:
        if importlib.util.find_spec(module) is None:
            raise _missing(module, extra, purpose, "is not installed")


def _missing(module: str, extra: str | None, purpose: str, state: str) -> MissingExtra:
    library = module.partition(".")[0]
    wanted = library if extra is None else f"'choque[{extra}]'"
    return MissingExtra(
        f"The library {library!r} is needed {purpose} and {state}. Install it with: pip install {wanted}."
    )
