"""Finals: a selector and the best of a setting take turns in one process, so that a few percent can be told.

Each cell of a study has a process of its own, and on a busy machine the same work takes a third longer in one process
than in the next. Whoever takes turns within a process is slowed alike. So where a study has a selector, a level that
chooses among the others, it meets in every setting those that were best there, turn by turn. A selector that does the
work of the one that it chose does not meet that one, as this would measure nothing but noise; where it chose the one
that no other comes near, nobody is left to meet, and nothing to measure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque.lab.claims import Finding, found, not_testable
from choque.lab.design import Cell, Design, Parameters, words_of
from choque.lab.records import Records, Row
from choque.lab.result import Result
from choque.lab.statistics import Estimate, median_interval, turn_medians
from choque.lab.study import Study
from choque.lab.verdict import RIGHT
from choque.lab.worker import Answer

REACH = 2.5
"""A level takes part whose median was at most so many times that of the best; processes differ, so rather too many."""
MOST = 4
"""How many meet the selector."""
CHOSEN = "chosen"
"""The fact by which a selector that only chooses tells the level that it chose."""


@dataclass(frozen=True)
class HeadToHead:
    """What was seen of one: the selector against the best of those that it met."""

    setting: Mapping[str, Any]
    """The factors, the compared one left out."""
    best: str
    ratio: Estimate
    """How many times as long as the best the selector took: the middle over the turns."""
    seconds: Mapping[str, float]
    """Of each that took part."""
    chosen: str | None = None
    """The level whose work the selector did, if it only chooses; it shares its seconds."""
    held: bool = True
    """False where the chosen one was so far ahead that nobody had to be met."""


def head_to_head_cells(result: Result, design: Design) -> list[Cell]:
    """The cells of the finals of a run whose other cells are finished."""
    study = result.study
    found: list[Cell] = []
    for _, rows in result.cells.groups(*_setting(study)):
        own, near = _first_ones(study, rows)
        opponents = [str(row[study.compares]) for row in near if own and row[study.compares] != own.get(CHOSEN)]
        if own is not None and opponents:
            parameters: Parameters = {factor.name: own[factor.name] for factor in study.factors}
            found.append(Cell(parameters, design.key({**parameters, "opponents": ", ".join(opponents)}), opponents))
    return found


def turn_rows(study: Study, cell: Cell, answer: Answer) -> list[Row]:
    """The rows of one final: one for each turn of each that took part."""
    rows: list[Row] = []
    for level, readings in answer.get("turns", {}).items():
        for turn, reading in enumerate(readings):
            row: Row = {"cell": cell.key, **cell.parameters, study.compares: level, "turn": turn, **reading}
            rows.append({**row, study.metric.name: study.metric.value(row)})
    return rows


def head_to_heads(result: Result) -> list[HeadToHead]:
    """Judge every final, also those in which there was nobody to meet."""
    study = result.study
    names = _setting(study)
    turns = dict(result.turns.groups(*names))
    finals: list[HeadToHead] = []
    for key, rows in result.cells.groups(*names):
        setting = dict(zip(names, key, strict=True))
        own, near = _first_ones(study, rows)
        chosen = None if own is None or own.get(CHOSEN) is None else str(own[CHOSEN])
        if key in turns:
            finals.append(_judged(study, setting, turns[key], chosen))
        elif chosen is not None and [row[study.compares] for row in near] == [chosen]:
            seconds = dict.fromkeys((str(study.selector), chosen), _median(near[0]))
            finals.append(HeadToHead(setting, chosen, Estimate(1.0, 1.0, 1.0), seconds, chosen, held=False))
    return finals


def judge_selector(result: Result) -> Finding:
    """Judge the claim that the selector is always within what its study asks of the best."""
    study = result.study
    finals = head_to_heads(result)
    if not finals:
        return not_testable(f"needs {study.selector}, and another to choose, on the same cells")
    worst = max(finals, key=lambda final: final.ratio.value)
    misses = sum(final.ratio.value > 1 + study.within for final in finals)
    mean = float(np.mean([final.ratio.value - 1 for final in finals]))
    where = words_of(worst.setting)
    words = f"{len(finals) - misses} of {len(finals)} cells"
    note = f"{mean:+.1%} in the mean; at worst {worst.ratio.value - 1:+.0%} against {worst.best}: {where}"
    return found(not misses, words, note)


def _judged(study: Study, setting: Mapping[str, Any], rows: Records, chosen: str | None) -> HeadToHead:
    times: dict[str, NDArray[np.float64]] = {
        str(level): some.sorted("turn").numbers(study.metric.name) for (level,), some in rows.groups(study.compares)
    }
    if chosen is not None:
        times[chosen] = times[str(study.selector)]
    seconds = dict(zip(times, turn_medians(np.column_stack(list(times.values()))).tolist(), strict=True))
    best = min((name for name in seconds if name != study.selector), key=seconds.__getitem__)
    return HeadToHead(setting, best, median_interval(times[str(study.selector)] / times[best]), seconds, chosen)


def _first_ones(study: Study, rows: Records) -> tuple[Row | None, list[Row]]:
    """The row of the selector in one setting, if its answer was right, and those of the others near the best."""
    ranked = sorted(rows.where(lambda row: row["verdict"] in RIGHT and "median" in row), key=_median)
    own = next((row for row in ranked if row[study.compares] == study.selector), None)
    others = [row for row in ranked if row[study.compares] != study.selector]
    return own, [row for row in others if _median(row) <= REACH * _median(others[0])][:MOST]


def _setting(study: Study) -> list[str]:
    return [factor.name for factor in study.factors if factor.name != study.compares]


def _median(row: Row) -> float:
    value = row["median"]
    assert isinstance(value, float)
    return value
