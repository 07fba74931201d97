"""Head-to-head comparisons: a selector and the best levels of a setting take turns in one process.

Each cell of a study has its own process, and on a busy machine the same work can take a third longer in one process
than in the next. Trials that take turns within one process are slowed alike, so that differences of a few percent can
be measured. Where a study has a selector, a level that chooses among the others, it is compared in every setting with
the levels that were best there. A selector that does exactly the work of the level that it chose is not compared with
that one, which would measure noise; if it chose a level that no other comes near, there is nothing to measure.
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
"""Maximum ratio of a level's median to the best for it to be compared; generous, as processes differ."""
MAX_OPPONENTS = 4
"""Maximum number of levels that the selector is compared with."""
CHOSEN = "chosen"
"""The fact of a selector that only chooses: the chosen level."""


@dataclass(frozen=True)
class HeadToHead:
    """The selector against the best of its opponents in one setting."""

    setting: Mapping[str, Any]
    """The factors without the compared one."""
    best: str
    ratio: Estimate
    """Time of the selector over that of the best, the median of the turns."""
    seconds: Mapping[str, float]
    """Seconds of each level."""
    chosen: str | None = None
    """The level whose work the selector did, if it only chooses; it shares its seconds."""
    was_measured: bool = True
    """False where the chosen level was so far ahead that no comparison was needed."""


def head_to_head_cells(result: Result, design: Design) -> list[Cell]:
    """Return the head-to-head cells of a run whose other cells are finished."""
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
    """Return the rows of one comparison: one for each turn of each level."""
    rows: list[Row] = []
    for level, readings in answer.get("turns", {}).items():
        for turn, reading in enumerate(readings):
            row: Row = {"cell": cell.key, **cell.parameters, study.compares: level, "turn": turn, **reading}
            rows.append({**row, study.metric.name: study.metric.value(row)})
    return rows


def head_to_heads(result: Result) -> list[HeadToHead]:
    """Return every head-to-head comparison, including those that needed no measurement."""
    study = result.study
    names = _setting(study)
    turns = dict(result.turns.groups(*names))
    compared: list[HeadToHead] = []
    for key, rows in result.cells.groups(*names):
        setting = dict(zip(names, key, strict=True))
        own, near = _first_ones(study, rows)
        chosen = None if own is None or own.get(CHOSEN) is None else str(own[CHOSEN])
        if key in turns:
            compared.append(_judged(study, setting, turns[key], chosen))
        elif chosen is not None and [row[study.compares] for row in near] == [chosen]:
            seconds = dict.fromkeys((str(study.selector), chosen), _median(near[0]))
            compared.append(HeadToHead(setting, chosen, Estimate(1.0, 1.0, 1.0), seconds, chosen, was_measured=False))
    return compared


def judge_selector(result: Result) -> Finding:
    """Judge the claim that the selector is always as near to the best as its study requires."""
    study = result.study
    compared = head_to_heads(result)
    if not compared:
        return not_testable(f"needs {study.selector}, and another to choose, on the same cells")
    worst = max(compared, key=lambda each: each.ratio.value)
    misses = sum(each.ratio.value > 1 + study.within for each in compared)
    mean = float(np.mean([each.ratio.value - 1 for each in compared]))
    where = words_of(worst.setting)
    words = f"{len(compared) - misses} of {len(compared)} cells"
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
    """Return the row of the selector in one setting, if its answer was right, and those of the others near the best."""
    ranked = sorted(rows.where(lambda row: row["verdict"] in RIGHT and "median" in row), key=_median)
    own = next((row for row in ranked if row[study.compares] == study.selector), None)
    others = [row for row in ranked if row[study.compares] != study.selector]
    return own, [row for row in others if _median(row) <= REACH * _median(others[0])][:MAX_OPPONENTS]


def _setting(study: Study) -> list[str]:
    return [factor.name for factor in study.factors if factor.name != study.compares]


def _median(row: Row) -> float:
    value = row["median"]
    assert isinstance(value, float)
    return value
