"""Which method is fastest where: as a figure, as a table for a selector, and the quality of both.

A cell lies at a point of a few coordinates (how many bodies, how dense, how unlike in size, how fast); the table keeps
the times of every method at the points that were measured, and answers for any other point by those around it
(`choque.broad.cost_table`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from choque.broad.cost_table import CostTable
from choque.errors import InvalidInput
from choque.lab.design import words_of
from choque.lab.head_to_head import HeadToHead, head_to_heads
from choque.lab.result import Result
from choque.lab.style import empty_figure, new_figure
from choque.lab.verdict import RIGHT

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Place:
    """One measured setting: where it lies, and what each method took there."""

    setting: Mapping[str, Any]
    """The factors, the compared one left out."""
    coordinates: Mapping[str, float]
    seconds: Mapping[str, float]
    """Median of each method to choose from whose answers are right."""

    @property
    def best(self) -> str:
        """The fastest method."""
        return min(self.seconds, key=self.seconds.__getitem__)

    def regret(self, method: str) -> float | None:
        """Return how much longer than the best a method takes, as a share; None if it was not measured."""
        return self.seconds[method] / self.seconds[self.best] - 1 if method in self.seconds else None


@dataclass(frozen=True)
class Score:
    """The quality of a selector on unseen places: how often it missed the best by more than the study allows."""

    chooser: str
    places: int
    misses: int
    mean: float
    """Mean excess time of the choice over the best, as a fraction."""
    worst: float
    """The largest excess."""
    where: str
    """The setting of the largest excess."""


class PerformanceMap:
    """Measured places, and the method that they predict to be fastest anywhere else."""

    def __init__(
        self, names: Sequence[str], places: Sequence[Place], weights: Mapping[str, float] | None = None
    ) -> None:
        self.names = tuple(names)
        self.places = list(places)
        methods = dict.fromkeys(name for place in self.places for name in place.seconds)
        measured = [(place.coordinates, place.seconds) for place in self.places]
        self._table = CostTable(self.names, methods, measured, weights)

    def choose(self, coordinates: Mapping[str, float]) -> str:
        """Return the method with the least predicted time."""
        if not self.places:
            raise InvalidInput("The performance map is empty; make one from a finished run.")
        return self._table.choose(coordinates).method

    def to_json(self) -> str:
        """Return the table for a selector: coordinates, the best method, and the times of all."""
        rows = [{**asdict(place), "best": place.best} for place in self.places]
        return json.dumps({"coordinates": self.names, "places": rows}, indent=1)


def performance_map(result: Result) -> PerformanceMap:
    """Make the map of a finished run."""
    names = tuple(result.study.regions)
    if not names:
        raise InvalidInput(f"The study {result.study.name!r} names no regions, so there is no map of it.")
    return PerformanceMap(names, _places(result, names), result.study.region_weights())


def held_out(result: Result) -> list[Score]:
    """Score the selector head to head, and the table itself on places that it has not seen."""
    found = []
    if compared := head_to_heads(result):
        regrets = [(each.ratio.value - 1, words_of(each.setting)) for each in compared]
        found.append(_score(f"{result.study.selector}, as installed", regrets, result.study.within))
    if unseen := list(_unseen(result)):
        found.append(_score("a table of the other cells", unseen, result.study.within))
    return found


def _unseen(result: Result) -> Iterator[tuple[float, str]]:
    """Yield regret and setting of held-out places: the last of several instances, or each place of one in turn."""
    study = result.study
    places = performance_map(result).places
    instances = [tuple(place.setting[name] for name in study.instance) for place in places]
    for index, place in enumerate(places):
        if len(set(instances)) > 1:
            if instances[index] != instances[-1]:
                continue
            seen = [other for other, instance in zip(places, instances, strict=True) if instance != instances[index]]
        else:
            seen = [other for other in places if other is not place]
        if seen:
            chosen = PerformanceMap(study.regions, seen, study.region_weights()).choose(place.coordinates)
            if (regret := place.regret(chosen)) is not None:
                yield regret, words_of(place.setting)


def draw_map(result: Result, *, rows: str) -> Figure:
    """Draw the fastest method by size and by the levels of ``rows``, with its lead over the second."""
    study = result.study
    ranking = result.ranking.where(lambda row: row.get("ratio") is not None and row[study.compares] != study.selector)
    sizes = sorted(ranking.levels(str(study.grows)))
    levels = ranking.levels(rows)
    if not levels:
        return empty_figure()
    figure = new_figure(2.2 + 1.35 * len(sizes), 0.8 + 0.52 * len(levels))
    axis = figure.subplots()
    methods = sorted(
        {min(some, key=_ratio)[study.compares] for _, some in ranking.groups(str(study.grows), rows)}, key=str
    )
    for (size, level), some in ranking.groups(str(study.grows), rows):
        first, *others = sorted(some, key=_ratio)
        x, y = sizes.index(size), levels.index(level)
        tone = 0.93 - 0.4 * methods.index(first[study.compares]) / max(len(methods) - 1, 1)
        axis.add_patch(_tile(x, y, str(tone)))
        axis.text(x, y - 0.1, str(first[study.compares]), ha="center", va="center", weight="bold", fontsize=9)
        lead = f"{_ratio(others[0]):.2f}x before {others[0][study.compares]}" if others else "alone"
        axis.text(x, y + 0.24, lead, ha="center", va="center", fontsize=6.5, color="#222222")
    axis.set(xlim=(-0.5, len(sizes) - 0.5), ylim=(len(levels) - 0.5, -0.5), xlabel=study.grows)
    axis.set_xticks(range(len(sizes)), [f"{size:,}" for size in sizes])
    axis.set_yticks(range(len(levels)), [str(level) for level in levels])
    axis.grid(False)
    axis.tick_params(length=0)
    for spine in axis.spines.values():
        spine.set_visible(False)
    return figure


def _tile(x: float, y: float, tone: str) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((x - 0.48, y - 0.46), 0.96, 0.92, facecolor=tone, edgecolor="white")


def _places(result: Result, names: Sequence[str]) -> list[Place]:
    study = result.study
    setting = [each.name for each in study.factors if each.name != study.compares]
    compared = {tuple(each.setting.values()): each for each in head_to_heads(result)}
    places = []
    for key, rows in result.cells.groups(*setting):
        usable = rows.where(lambda row: row["verdict"] in RIGHT and row.get("median") is not None)
        usable = usable.where(lambda row: row[study.compares] != study.selector)
        if len(usable) < 2 or any(usable[0].get(name) is None for name in names):
            continue
        seconds = {str(row[study.compares]): float(row["median"]) for row in usable}  # type: ignore[arg-type]
        if key in compared:
            seconds |= _by_turns(compared[key], seconds)
        coordinates = {name: float(usable[0][name]) for name in names}  # type: ignore[arg-type]
        places.append(Place(dict(zip(setting, key, strict=True)), coordinates, seconds))
    return places


def _by_turns(duel: HeadToHead, seconds: Mapping[str, float]) -> dict[str, float]:
    """Return the times measured in turns, scaled to those of separate processes."""
    shared = [name for name in duel.seconds if name in seconds]
    scale = min(seconds[name] for name in shared) / min(duel.seconds[name] for name in shared)
    return {name: scale * duel.seconds[name] for name in shared}


def _score(chooser: str, regrets: Sequence[tuple[float, str]], within: float) -> Score:
    worst, where = max(regrets)
    shares = [regret for regret, _ in regrets]
    misses = sum(share > within for share in shares)
    return Score(chooser, len(shares), misses, sum(shares) / len(shares), max(worst, 0.0), where)


def _ratio(row: Mapping[str, Any]) -> float:
    return float(row["ratio"])
