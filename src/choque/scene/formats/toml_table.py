"""Tables of a TOML document, checked key by key; errors name the line, which the standard parser does not keep."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from choque._core.types import F64, I64, Bools
from choque.errors import InvalidInput, UnreadableFile

Place = tuple[str, ...]  # the path to a key: names of tables, numbers of list entries, and the key itself
_HEADER = re.compile(r"\s*\[(\[?)\s*([A-Za-z_][\w.\- \"']*?)\s*\]\]?\s*(#.*)?")
_KEY = re.compile(r"\s*([\w.\-\"' ]+?)\s*=")
VECTOR = "three numbers in brackets"
_FENCES = ('"""', "'''")


class TomlTable:
    """One parsed table, its ``place``, which is the path to it in the document, and the ``lines`` of all keys."""

    def __init__(self, entries: dict[str, Any], path: Path, lines: TomlLines, place: tuple[str, ...] = ()) -> None:
        self._entries = entries
        self._path = path
        self._lines = lines
        self._place = place

    def __contains__(self, key: str) -> bool:
        return key in self._entries

    def require_known(self, what: str, known: Sequence[str]) -> None:
        """Refuse the first key that ``what``, such as "a camera", does not have."""
        for key in self._entries:
            if key not in known:
                near = difflib.get_close_matches(key, known, n=1)
                hint = f" Did you mean {near[0]!r}?" if near else ""
                raise self.refusal(key, f"{what} has no key {key!r:.80}.{hint} Known: {', '.join(known)}.")

    def refusal(self, key: str, sentence: str) -> UnreadableFile:
        """Return an error about a key."""
        line = self._lines.line(*self._place, *([key] if key else []))
        return UnreadableFile(f"{self._path}{'' if line is None else f', line {line}'}: {sentence}")

    def unfit(self, key: str, allowed: str) -> UnreadableFile:
        """Word an error about the value of a key."""
        return self.refusal(key, f"{key} is {self._entries.get(key)!r:.80}; it must be {allowed}.")

    @contextmanager
    def placing(self, key: str) -> Iterator[None]:
        """Name the place where something refuses in words of its own."""
        try:
            yield
        except UnreadableFile:
            raise
        except InvalidInput as problem:
            raise self.refusal(key, str(problem)) from problem

    def text(self, key: str, default: str = "") -> str:
        """A word."""
        value = self._entries.get(key, default)
        if not isinstance(value, str):
            raise self.unfit(key, "a text in quotes")
        return value

    def whole(self, key: str, default: int | None = None) -> int:
        """A whole number; without a default it must be there."""
        value = self._entries.get(key, default)
        if type(value) is not int:  # true and false are none
            raise self.unfit(key, "a whole number") if key in self else self.refusal("", f"{key} is missing.")
        return value

    def number(self, key: str, default: float) -> float:
        """A number."""
        value = self._entries.get(key, default)
        if not _is_number(value):
            raise self.unfit(key, "a number")
        return float(value)

    def vector(self, key: str) -> F64 | None:
        """Three numbers, (3,); None where they are not there."""
        value: Any = self._entries.get(key)
        if value is not None and not _is_vector(value):
            raise self.unfit(key, VECTOR)
        return None if value is None else np.array(value, dtype=np.float64)

    def vectors(self, key: str, count: int | None) -> F64:
        """Three numbers for all bodies, (3,), or for each of ``count``, (count, 3); for any number if it is None."""
        rows = np.array(self._each(key, count, _is_vector, VECTOR), dtype=np.float64)
        return rows if rows.size else rows.reshape(0, 3)

    def colors(self, key: str, count: int) -> F64:
        """Three whole numbers from 0 to 255 for all bodies, (3,), or for each of ``count``, (count, 3)."""
        rows = self.vectors(key, count)
        if not ((rows >= 0) & (rows <= 255) & (rows == np.floor(rows))).all():
            raise self.unfit(key, "three whole numbers from 0 to 255 in brackets, or a list of such rows")
        return rows

    def locks(self, key: str, count: int) -> Bools:
        """Six truth values for all bodies, (6,), or for each of ``count``, (count, 6)."""
        return np.array(self._each(key, count, _is_lock, "six of true and false in brackets"), dtype=bool)

    def values(self, key: str, count: int) -> F64:
        """A number for all bodies, (), or one for each, (count,)."""
        return np.array(self._each(key, count, _is_number, "a number"), dtype=np.float64)

    def ids(self, key: str, count: int) -> I64:
        """A whole number of at least 0 for each of ``count`` bodies, (count,)."""
        value: Any = self._entries.get(key)
        fits = isinstance(value, list) and len(value) == count and all(type(each) is int for each in value)
        if not fits or not all(0 <= each < 2**31 for each in value):
            raise self.unfit(key, f"a list of {count} whole numbers, each the number of a body from 0 on")
        return np.array(value, dtype=np.int64)

    def flags(self, key: str, count: int) -> Bools:
        """A truth value for all bodies, (), or one for each, (count,)."""
        return np.array(self._each(key, count, _is_flag, "true or false"), dtype=bool)

    def table(self, key: str) -> TomlTable:
        """A table of its own, empty where it is not there."""
        value = self._entries.get(key, {})
        if not isinstance(value, dict):
            raise self.unfit(key, "a table")
        return TomlTable(value, self._path, self._lines, (*self._place, key))

    def tables(self, key: str) -> list[TomlTable]:
        """A list of tables, empty where it is not there."""
        value = self._entries.get(key, [])
        if not (isinstance(value, list) and all(isinstance(each, dict) for each in value)):
            raise self.unfit(key, f"a list of tables, each under [[{key}]]")
        places = ((*self._place, key, str(number)) for number in range(len(value)))
        return [TomlTable(each, self._path, self._lines, place) for each, place in zip(value, places, strict=True)]

    def plain(self) -> dict[str, Any]:
        """Return the value unchecked, for others to check."""
        return dict(self._entries)

    def _each(self, key: str, count: int | None, fits: Callable[[Any], bool], one: str) -> Any:
        value = self._entries.get(key)
        if fits(value) or (isinstance(value, list) and count in (None, len(value)) and all(map(fits, value))):
            return value
        some = "several" if count is None else count
        raise self.unfit(key, f"{one}, or a list of {some}, one for each body")


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_lock(value: object) -> bool:
    return isinstance(value, list) and len(value) == 6 and all(map(_is_flag, value))


def _is_vector(value: object) -> bool:
    return isinstance(value, list) and len(value) == 3 and all(map(_is_number, value))


def _is_number(value: object) -> bool:
    """Tell whether ``value`` is a number that a float can hold; nan and inf are for the rules of bodies."""
    return isinstance(value, float) or (type(value) is int and abs(value) < 2**63)


class TomlLines:
    """The lines of all keys of a document; a key inside a value has the line of the value."""

    def __init__(self, text: str) -> None:
        self._lines: dict[Place, int] = {}
        table: Place = ()
        entries: dict[Place, int] = {}
        fence = ""
        for number, line in enumerate(text.split("\n"), start=1):
            if fence:
                fence = "" if fence in line else fence
                continue
            if header := _HEADER.fullmatch(line):
                table = _parts(header[2])
                if header[1]:
                    entries[table] = entries.get(table, -1) + 1
                    table = (*table, str(entries[table]))
                self._lines.setdefault(table, number)
            elif key := _KEY.match(line):
                self._lines.setdefault((*table, *_parts(key[1])), number)
            fence = next((each for each in _FENCES if line.count(each) % 2), "")

    def line(self, *place: str) -> int | None:
        """Return the line of a key, or of the table or value that it is in; None if it is unknown."""
        for length in range(len(place), 0, -1):
            if place[:length] in self._lines:
                return self._lines[place[:length]]
        return None


def _parts(dotted: str) -> Place:
    return tuple(part.strip(" \"'") for part in dotted.split("."))
