"""The design of an experiment: factors and their levels, the cells they make, their keys and their order."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from choque._core import check
from choque.errors import InvalidInput, UnknownName

Level: TypeAlias = str | int | float | bool | None
Parameters: TypeAlias = Mapping[str, Level]
Levels: TypeAlias = Sequence[Level]

UNMEASURED_PACKAGES = ("lab", "studio", "cli", "testing")
"""Packages that show or check what others compute: a change in them does not make finished cells stale."""


@dataclass(frozen=True)
class Factor:
    """A quantity that varies between cells, and its levels."""

    name: str
    levels: Levels | Callable[[], Levels]
    """A list, or a function that gives it when a run starts (what is registered, what is installed)."""
    quick: Levels | Callable[[], Levels] | None = None
    """The levels of a quick run; None for all."""
    further: Callable[[], Iterable[Level]] | None = None
    """Further levels that may be requested by name."""
    takes_peers: bool = False
    """Whether ``--peers`` adds the installed libraries to the levels."""

    def chosen(self, quick: bool) -> list[Level]:
        """Return the levels of a run, quick or full."""
        levels = self.quick if quick and self.quick is not None else self.levels
        return [_plain(level) for level in (levels() if callable(levels) else levels)]

    def accept(self, wanted: Iterable[Level] | Level) -> list[Level]:
        """Check requested levels: text must be known, numbers must be of the kind of the declared ones.

        Where all declared numbers are above 0, or at least 0, so must others be; where all are whole, 1e3 is one as
        well. A level by itself stands for a list of one.
        """
        given = [wanted] if isinstance(wanted, str) or not isinstance(wanted, Iterable) else wanted
        known = [*self.chosen(False), *(self.further() if self.further else ())]
        words = [level for level in known if isinstance(level, str)]
        is_whole = all(isinstance(level, int) for level in known)
        plain = [_plain(level) for level in given]
        accepted = list(dict.fromkeys(_whole(level) if is_whole else level for level in plain))
        for level in accepted:
            if isinstance(level, str) and words and level not in words:
                raise UnknownName(self.name, level, words)
            if isinstance(level, str) != bool(words):
                kind = "a name" if words else "a number"
                raise InvalidInput(f"The factor {self.name!r} was given {level!r}; it takes {kind}.")
            if not words:
                self._require_number(level, [each for each in known if isinstance(each, int | float)])
        if not accepted:
            raise InvalidInput(f"The factor {self.name!r} was given no level; give at least one.")
        return accepted

    def _require_number(self, level: Level, known: Sequence[float]) -> None:
        """Raise if a number is not of the kind of the ``known`` ones."""
        if not check.is_number(level) or not math.isfinite(level):
            raise InvalidInput(f"The factor {self.name!r} was given {level!r}; it takes finite numbers.")
        smallest = min(known, default=-math.inf)
        if level <= 0 < smallest or level < 0 <= smallest:
            bound = "above 0" if smallest > 0 else "of at least 0"
            raise InvalidInput(
                f"The factor {self.name!r} was given {level!r}; it takes numbers {bound}, such as {known[0]:,}."
            )


@dataclass(frozen=True)
class Cell:
    """One combination of levels."""

    parameters: Parameters
    key: str
    """A hash of what is measured and of the code that measures it; the name of the finished cell's file."""
    opponents: Sequence[str] = ()
    """Levels that it takes turns with in its process; empty for most cells."""

    def __str__(self) -> str:
        words = words_of(self.parameters)
        return f"{words}, in turns with {', '.join(self.opponents)}" if self.opponents else words


@dataclass(frozen=True)
class Design:
    """The cells of a run: the full factorial of the levels, less exclusions, and further cells listed one by one."""

    levels: Mapping[str, Levels]
    listed: Sequence[Parameters] = ()
    exclude: Callable[[Parameters], bool] | None = None
    salt: str = ""
    """Goes into every key: the study, its version and the code's."""
    seed: int = 0
    """Decides the order of the cells, and which settings a fraction takes."""
    fraction: float = 1.0
    """The share of the settings that is measured; see `balanced`."""
    compares: str = ""
    """The factor whose levels are measured at every setting that is taken, so that they can be compared there."""
    instance: Sequence[str] = ()
    """Factors that only distinguish instances, such as seeds."""

    def cells(self) -> list[Cell]:
        """Return the cells, each once, in the order of the factors, which is that of tables."""
        cells = self.whole()
        if self.fraction == 1:
            return cells
        factors = [name for name in self.levels if name != self.compares]
        lasting = [name for name in factors if name not in self.instance]
        settings: dict[tuple[Level, ...], list[Cell]] = {}
        for cell in cells:
            settings.setdefault(tuple(cell.parameters[name] for name in factors), []).append(cell)
        # A setting without its instances counts as one more factor: where there are enough, each is taken.
        rows = [(*setting, tuple(cells[0].parameters[name] for name in lasting)) for setting, cells in settings.items()]
        taken = set(balanced(rows, max(1, round(self.fraction * len(rows))), self.seed))
        keys = {cell.key for place, cells in enumerate(settings.values()) if place in taken for cell in cells}
        return [cell for cell in cells if cell.key in keys]

    def whole(self) -> list[Cell]:
        """Return the cells of the whole design, in the order of the factors."""
        names = list(self.levels)
        factorial = [dict(zip(names, levels, strict=True)) for levels in product(*self.levels.values())]
        for parameters in self.listed:
            for name in parameters:
                if name not in names:
                    raise UnknownName("factor", name, names)
        cells = {}
        for parameters in [*factorial, *({name: each.get(name) for name in names} for each in self.listed)]:
            if self.exclude is None or not self.exclude(parameters):
                cell = Cell(parameters, self.key(parameters))
                cells[cell.key] = cell
        if not cells:
            raise InvalidInput("The design has no cells; give more levels or exclude fewer.")
        return list(cells.values())

    def order(self) -> list[Cell]:
        """Return the cells in a random order given by the seed, so that drift affects all levels alike."""
        cells = self.cells()
        return [cells[place] for place in np.random.default_rng(self.seed).permutation(len(cells))]

    def key(self, parameters: Parameters) -> str:
        """Return the key of a cell: the same for the same parameters and code, in any order of the factors."""
        text = json.dumps([self.salt, sorted(parameters.items())], separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:20]


def balanced(rows: Sequence[Sequence[Hashable]], count: int, seed: int = 0) -> list[int]:
    """Return the places of ``count`` rows in which each value of each column has its share, as nearly as can be.

    Rows are taken one by one: always one whose values are furthest behind their share of the rows taken so far, by the
    sum over columns; the seed decides between equals. The first rows taken are the same for every count.
    """
    codes = np.array([_numbered(column) for column in zip(*rows, strict=True)]).T
    totals = [np.bincount(column) for column in codes.T]
    taken = [np.zeros(len(total)) for total in totals]
    left = list(np.random.default_rng(seed).permutation(len(rows)))
    found: list[int] = []
    while len(found) < count:
        share = (len(found) + 1) / len(rows)
        behind = sum(
            (share * total - have)[codes[left, place]]
            for place, (total, have) in enumerate(zip(totals, taken, strict=True))
        )
        chosen = left.pop(int(np.argmax(np.round(behind, 9))))
        for have, code in zip(taken, codes[chosen], strict=True):
            have[code] += 1
        found.append(int(chosen))
    return found


def _numbered(column: Iterable[Hashable]) -> list[int]:
    """Return a number for each value of a column, the same for the same value."""
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(value, len(numbers)) for value in column]


def _plain(level: Any) -> Level:
    """Return a number of NumPy as one of Python: levels are written as JSON."""
    return level.item() if isinstance(level, np.generic) else level  # type: ignore[no-any-return]


def _whole(level: Level) -> Level:
    return int(level) if isinstance(level, float) and level.is_integer() else level


@cache
def code_version() -> str:
    """Return a hash of the sources of every package whose speed or answers a study may measure."""
    root = Path(__file__).parent.parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        if is_measured(path.relative_to(root)):
            digest.update(path.relative_to(root).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def is_measured(path: Path) -> bool:
    """Return whether cells depend on a source file: all but those that only show, check or judge."""
    package, *folders = path.parts
    if package == "theses":
        return not path.name.startswith(("study", "claims"))
    return package not in UNMEASURED_PACKAGES or folders[:1] == ["methods"]


def words_of(parameters: Mapping[str, Any]) -> str:
    """Return levels in words, numbers after the names of their factors; levels of None are left out."""
    return ", ".join(_shown(name, level) for name, level in parameters.items() if level is not None)


def _shown(name: str, level: Level) -> str:
    if isinstance(level, str):
        return level
    return f"{name.replace('_', ' ')} {level:,}" if isinstance(level, int | float) else f"{name} {level}"
