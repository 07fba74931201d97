"""One exception tree; every message says what was given, what is allowed and what to do."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
from collections.abc import Callable, Iterable, Sequence
from types import ModuleType


class ChoqueError(Exception):
    """The root of every error that Choque raises on purpose."""


class InvalidInput(ChoqueError, ValueError):
    """An argument, or a value in data, that is not allowed; the message names the first one."""


class UnknownName(InvalidInput):
    """A method, scene, study or format that is not registered; the message suggests the nearest one.

    ``listed_by`` is the command that lists them, for names that may be too many for a sentence: ``"choque methods"``.
    """

    def __init__(self, kind: str, given: object, allowed: Iterable[str], listed_by: str = "") -> None:
        names = sorted(set(allowed))
        super().__init__(f"There is no {kind} called {given!r}. {suggestion(str(given), names, listed_by)}")
        self._arguments = (kind, given, tuple(names), listed_by)

    def __reduce__(self) -> tuple[type[UnknownName], tuple[object, ...]]:
        return type(self), self._arguments


MAX_LISTED = 12
"""Names that an error lists; of more it lists `NEAREST`, if a command lists them."""

NEAREST = 5


def suggestion(given: str, names: Sequence[str], listed_by: str, written: Callable[[str], str] = str) -> str:
    """Return what may have been meant by ``given`` and what is allowed; ``written`` is how a name must be given."""
    near = difflib.get_close_matches(given, names, n=1)
    hint = f"Did you mean {written(near[0])!r}? " if near else ""
    if len(names) <= MAX_LISTED or not listed_by:
        return f"{hint}Known: {', '.join(map(written, names))}."
    few = difflib.get_close_matches(given, names, n=NEAREST, cutoff=0.0)
    return f"{hint}The nearest of {len(names)} are {', '.join(map(written, few))}; '{listed_by}' lists all."


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

    ``extra`` is the extra of this package that brings it, such as ``"lab"``, or None; ``purpose`` says what needs it,
    in words that follow "needed": ``"to draw pictures"``.
    """
    try:
        return importlib.import_module(module)
    except ImportError as problem:
        raise _missing(module, extra, purpose, f"could not be imported ({problem})") from problem


def check_installed(*modules: str, extra: str, purpose: str) -> None:
    """Raise what `require` raises unless all ``modules`` can be found; nothing is imported.

    Calls and verbs that need an optional library only at their end begin with this, so that no result is computed that
    could then not be written or drawn.
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
