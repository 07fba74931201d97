"""Which method is fastest where: as a picture, as a table that a selector can consult, and how well both do.

A cell lies at a point of a few coordinates (how many bodies, how dense, how unlike in size, how fast); the table keeps
the times of every method at the points that were measured, and answers for any other point by those around it
(`choque.broad._cost_table`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from choque.broad._cost_table import CostTable
from choque.errors import InvalidInput
from choque.lab.records import Records
from choque.lab.result import Result
from choque.lab.style import empty_figure, new_figure
from choque.lab.verdict import RIGHT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SELECTOR = "auto"
WITHIN = 0.15
"""A choice within this share of the best is a good one."""


@dataclass(frozen=True)
class Place:
    """One measured setting: where it lies, and what each method took there."""

    setting: Mapping[str, Any]
    """The factors, the compared one left out."""
    coordinates: Mapping[str, float]
    seconds: Mapping[str, float]
    """Median of each method whose answers are right; the selector is among them if it took part."""

    @property
    def candidates(self) -> dict[str, float]:
        """The methods to choose from."""
        return {name: value for name, value in self.seconds.items() if name != SELECTOR}

    @property
    def best(self) -> str:
        """The fastest method."""
        return min(self.candidates, key=self.candidates.__getitem__)

    def regret(self, method: str) -> float | None:
        """How much longer than the best a method takes, as a share; None if it was not measured."""
        return self.seconds[method] / self.candidates[self.best] - 1 if method in self.seconds else None


@dataclass(frozen=True)
class Score:
    """How often a way of choosing was not within `WITHIN` of the best, on places it had not seen."""

    chooser: str
    places: int
    misses: int
    worst: float
    """The largest regret."""
    where: str
    """The setting of the worst."""


class PerformanceMap:
    """Measured places, and the choice that they speak for anywhere else."""

    def __init__(
        self, names: Sequence[str], places: Sequence[Place], weights: Mapping[str, float] | None = None
    ) -> None:
        self.names = tuple(names)
        self.places = list(places)
        methods = dict.fromkeys(name for place in self.places for name in place.candidates)
        measured = [(place.coordinates, place.candidates) for place in self.places]
        self._table = CostTable(self.names, methods, measured, weights)

    def choose(self, coordinates: Mapping[str, float]) -> str:
        """The method from which the measured places let one expect the least time."""
        if not self.places:
            raise InvalidInput("The performance map is empty; make one from a finished run.")
        return self._table.choose(coordinates).method

    def to_json(self) -> str:
        """The table for a selector: coordinates, the best method, and the times of all."""
        rows = [{**asdict(place), "best": place.best} for place in self.places]
        return json.dumps({"coordinates": self.names, "places": rows}, indent=1)


def performance_map(result: Result) -> PerformanceMap:
    """Make the map of a finished run."""
    names = tuple(result.study.regions)
    if not names:
        raise InvalidInput(f"The study {result.study.name!r} names no regions, so there is no map of it.")
    return PerformanceMap(names, _places(result, names), result.study.region_weights())


def held_out(result: Result) -> list[Score]:
    """Score the selector, and the table itself, on places that the table has not seen.

    With several instances the last one is held out; with one, each place in turn.
    """
    study = result.study
    places = performance_map(result).places
    instances = list(dict.fromkeys(tuple(place.setting[name] for name in study.instance) for place in places))
    regrets: dict[str, list[tuple[float, str]]] = {f"{SELECTOR}, as it is": [], "this table": []}
    for index, place in enumerate(places):
        own = tuple(place.setting[name] for name in study.instance)
        if len(instances) > 1 and own != instances[-1]:
            continue
        seen = [
            other
            for position, other in enumerate(places)
            if (
                tuple(other.setting[name] for name in study.instance) != own
                if len(instances) > 1
                else position != index
            )
        ]
        words = ", ".join(str(value) for value in place.setting.values())
        choices = {f"{SELECTOR}, as it is": SELECTOR}
        if seen:
            choices["this table"] = PerformanceMap(study.regions, seen, study.region_weights()).choose(
                place.coordinates
            )
        for chooser, method in choices.items():
            regret = place.regret(method)
            if regret is not None:
                regrets[chooser].append((regret, words))
    return [_score(chooser, found) for chooser, found in regrets.items() if found]


def draw_map(result: Result, *, rows: str) -> Figure:
    """The fastest method by size and by the levels of ``rows``, with its lead over the second."""
    study = result.study
    ranking = result.ranking.where(lambda row: row.get("ratio") is not None and row[study.compares] != SELECTOR)
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
    places = []
    for key, rows in result.cells.groups(*setting):
        usable = rows.where(lambda row: row["verdict"] in RIGHT and row.get("median") is not None)
        if len(usable.where(lambda row: row[study.compares] != SELECTOR)) < 2:
            continue
        example = usable[0]
        if any(example.get(name) is None for name in names):
            continue
        seconds = {str(row[study.compares]): float(row["median"]) for row in usable}  # type: ignore[arg-type]
        coordinates = {name: float(example[name]) for name in names}  # type: ignore[arg-type]
        places.append(Place(dict(zip(setting, key, strict=True)), coordinates, seconds))
    return places


def _score(chooser: str, regrets: Sequence[tuple[float, str]]) -> Score:
    worst, where = max(regrets)
    return Score(chooser, len(regrets), sum(regret > WITHIN for regret, _ in regrets), max(worst, 0.0), where)


def _ratio(row: Mapping[str, Any]) -> float:
    return float(row["ratio"])


def score_rows(scores: Sequence[Score]) -> Records:
    """The scores as a table."""
    return Records(asdict(score) for score in scores)
