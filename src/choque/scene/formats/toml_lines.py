"""On which line a key of a TOML document stands, which the parser of the standard library does not tell."""

from __future__ import annotations

import re

Place = tuple[str, ...]
"""The way to a key: names of tables, the numbers of their entries where they are lists, and the key itself."""

_HEADER = re.compile(r"\s*\[(\[?)\s*([A-Za-z_][\w.\- \"']*?)\s*\]\]?\s*(#.*)?")
_KEY = re.compile(r"\s*([\w.\-\"' ]+?)\s*=")
_FENCES = ('"""', "'''")


class TomlLines:
    """Looks through the text of a document once; what is written inside another value has the line of that value."""

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
        """The line of a key; failing that, of the table or value that it is in; None where it cannot be told."""
        for length in range(len(place), 0, -1):
            if place[:length] in self._lines:
                return self._lines[place[:length]]
        return None


def _parts(dotted: str) -> Place:
    return tuple(part.strip(" \"'") for part in dotted.split("."))
