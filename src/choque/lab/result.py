"""The result of a run: tables, ratios, fits and crossovers, by the names of factors and levels."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque.errors import InvalidInput
from choque.lab.claims import Claim
from choque.lab.fit import Fit, choose, fit_all, fit_power, relative
from choque.lab.records import Records, Row
from choque.lab.statistics import Estimate, crossover, grouped_median, paired_ratio, summary
from choque.lab.study import Metric, Study
from choque.lab.verdict import RANKED, RIGHT

Floats = NDArray[np.float64]


class Result:
    """The samples of a run and the tables made from them.

    Ratios, fits, curves and rankings have right answers only: the time of a wrong one means nothing.
    """

    def __init__(
        self, study: Study, folder: Path, record: dict[str, Any], samples: Records, turns: Records | None = None
    ) -> None:
        self.study = study
        self.folder = folder
        self.record = record
        """Machine, versions, levels, plan and seed."""
        self.samples = Records(self._with_metrics(row) for row in samples)
        """One row for each repetition; a cell that was cut off or failed has one row without times."""
        self.turns = turns or Records()
        """One row for each turn of each head-to-head comparison; see `choque.lab.head_to_head`."""
        self.claims: list[Claim] = []
        """Each with its verdict, once the run is finished."""
        self.measured = 0
        """How many cells, head-to-head ones included, the call that returned this result measured."""

    def __repr__(self) -> str:
        return (
            f"<Result of {self.study.name!r}: {len(self.cells)} cells, {len(self.samples)} samples, in {self.folder}>"
        )

    @property
    def is_quick(self) -> bool:
        """Whether the run was a quick one."""
        return bool(self.record.get("quick"))

    @property
    def took(self) -> str:
        """Seconds of each part of the run, in words; empty for runs of earlier versions, which did not record them."""
        seconds = dict(self.record.get("seconds", {}))
        waited = seconds.pop("waiting", 0.0)
        if not seconds:
            return ""
        parts = ", ".join(f"{part} {_span(value)}" for part, value in seconds.items() if round(value))
        others = f"; {_span(waited)} of it spent waiting for the cells of another run" if waited >= 1.0 else ""
        return f"{_span(sum(seconds.values()))}{': ' if parts else ''}{parts}{others}"

    @cached_property
    def right(self) -> Records:
        """The samples of right answers."""
        return self.samples.where(lambda row: row["verdict"] in RIGHT and row.get("repetition") is not None)

    @property
    def stages(self) -> list[str]:
        """The stages that were timed, in the order of the pipeline."""
        return list(self.record.get("stages", ()))

    @cached_property
    def cells(self) -> Records:
        """One row for each cell: its levels, verdict, counters, median stages, and the metric with its interval."""
        return Records(self._cell(rows) for _, rows in self.samples.groups("cell"))

    @cached_property
    def ranking(self) -> Records:
        """One row for each compared level in each setting: the metric, and its ratio to that of the best right one."""
        study = self.study
        setting = [each.name for each in study.factors if each.name not in (study.compares, *study.instance)]
        rows: list[Row] = []
        for key, group in self.samples.groups(*setting):
            entries = [self._entry(level, some) for (level,), some in group.groups(study.compares)]
            best = min(
                (each["median"] for each in entries if each["verdict"] in RIGHT and "median" in each), default=None
            )
            for each in entries:
                ranked = best is not None and "median" in each and each["verdict"] in RANKED
                rows.append(
                    {
                        **dict(zip(setting, key, strict=True)),
                        **each,
                        **({"ratio": each["median"] / best} if ranked else {}),
                    }
                )
        return Records(rows)

    def ratio(self, above: Any, below: Any, *, metric: str | None = None, **where: Any) -> Estimate:
        """Return the ratio of ``above`` to ``below``, paired on the same instances; see `paired_ratio`."""
        name = self.metric_named(metric).name
        keys = [each.name for each in self.study.factors if each.name != self.study.compares]
        one, other = (
            {key: rows.numbers(name) for key, rows in self._of(level, where).groups(*keys) if len(rows.numbers(name))}
            for level in (above, below)
        )
        if not one or not other:
            lacking = self._lacking(above if not one else below, name)
            raise InvalidInput(f"{lacking}, so there is no ratio of {above!r} to {below!r}.")
        return paired_ratio(one, other)

    def curve(self, level: Any, *, metric: str | None = None, **where: Any) -> tuple[Floats, list[Estimate]]:
        """Return the metric of one level as work grows: places, and at each the median with its interval."""
        places, samples = self._points(level, self.metric_named(metric).name, where)
        return places, [grouped_median(groups) for groups in samples]

    def fit(self, level: Any, *, metric: str | None = None, **where: Any) -> Fit:
        """Return the best family of curves for the samples of one level, with errors in proportion to values."""
        return choose(self.fits(level, metric=metric, **where))

    def fits(self, level: Any, *, metric: str | None = None, **where: Any) -> dict[str, Fit]:
        """Return the fit of every family that the number of places allows."""
        x, y = self._flat(level, metric, where)
        return fit_all(x, y, relative(y))

    def power(self, level: Any, *, metric: str | None = None, **where: Any) -> Fit:
        """Return the power law through the samples of one level."""
        return fit_power(*self._flat(level, metric, where))

    def crossover(self, first: Any, second: Any, *, metric: str | None = None, **where: Any) -> Estimate | None:
        """Return the size from which ``first`` takes more than ``second``; None if it never does, or always."""
        name = self.metric_named(metric).name
        one, other = (dict(zip(*self._points(level, name, where), strict=True)) for level in (first, second))
        shared = sorted(set(one) & set(other))
        if len(shared) < 2:
            raise InvalidInput(f"{first!r} and {second!r} share {len(shared)} places there; a crossover needs two.")
        return crossover(shared, *([np.concatenate(each[place]) for place in shared] for each in (one, other)))

    def metric_named(self, name: str | None) -> Metric:
        """Return the metric of a name, or any numeric column as one; None for what the study ranks by."""
        if name is None:
            return self.study.metric
        found = next((metric for metric in self.study.metrics if metric.name == name), None)
        return found or Metric(name, "", name)

    def _of(self, level: Any, where: dict[str, Any]) -> Records:
        known = self.samples.levels(self.study.compares)
        if level not in known:
            what, has = self.study.compares, ", ".join(sorted(map(str, known)))
            raise InvalidInput(f"The {what} {str(level)!r} was not measured in this run, which has {has}.")
        return self.right.where(**{self.study.compares: level}, **where)

    def _points(self, level: Any, metric: str, where: dict[str, Any]) -> tuple[Floats, list[list[Floats]]]:
        if self.study.grows is None:
            raise InvalidInput(
                f"The study {self.study.name!r} has no factor along which work grows, so there are no curves."
            )
        found: dict[float, list[Floats]] = {}
        for (place,), rows in self._of(level, where).groups(self.study.grows):
            groups = [each.numbers(metric) for _, each in rows.groups(*self.study.instance)]
            found[float(place)] = [each for each in groups if len(each)]
        places = sorted(place for place, groups in found.items() if groups)
        return np.array(places), [found[place] for place in places]

    def _flat(self, level: Any, metric: str | None, where: dict[str, Any]) -> tuple[Floats, Floats]:
        name = self.metric_named(metric).name
        places, samples = self._points(level, name, where)
        values = [np.concatenate(groups) for groups in samples]
        if not values:
            raise InvalidInput(f"{self._lacking(level, name)}, so there is no curve to fit.")
        return np.repeat(places, [len(each) for each in values]), np.concatenate(values)

    def _lacking(self, level: Any, metric: str) -> str:
        """Return why there are no values of a metric: no right answer, or no such column in any of the samples."""
        if self.right and metric not in self.right.columns:
            return f"No sample has a column {metric!r} (they have {', '.join(self.right.columns)})"
        return f"{level!r} has no right answer there"

    def _with_metrics(self, row: Row) -> Row:
        values = {metric.name: metric.value(row) for metric in self.study.metrics} if "repetition" in row else {}
        return {**row, **{name: value for name, value in values.items() if value is not None}}

    def _cell(self, rows: Records) -> Row:
        first = {name: value for name, value in rows[0].items() if name not in ("repetition", "total", *self.stages)}
        for metric in self.study.metrics:
            first.pop(metric.name, None)
        stages = {
            name: float(np.median(rows.numbers(name))) for name in (*self.stages, "total") if len(rows.numbers(name))
        }
        return {**first, "repetitions": len(rows.numbers("repetition")), **stages, **self._summary(rows)}

    def _entry(self, level: Any, rows: Records) -> dict[str, Any]:
        verdicts: Sequence[Any] = rows.levels("verdict")
        worst = next((each for each in ("wrong", "failed", "cut off") if each in verdicts), verdicts[0])
        note = next((row["note"] for row in rows if row["verdict"] == worst), "")
        groups = [each.numbers(self.study.metric.name) for _, each in rows.groups(*self.study.instance)]
        groups = [each for each in groups if len(each)]
        entry = {self.study.compares: level, "verdict": worst, "note": note}
        if not groups:
            return entry
        middle = grouped_median(groups)
        return {**entry, "median": middle.value, "lower": middle.lower, "upper": middle.upper}

    def _summary(self, rows: Records) -> Row:
        values = rows.numbers(self.study.metric.name)
        if not len(values):
            return {}
        found = summary(values)
        return {
            "median": found.median.value,
            "lower": found.median.lower,
            "upper": found.median.upper,
            "mean": found.mean,
            "deviation": found.deviation,
            "minimum": found.minimum,
            "maximum": found.maximum,
            "outliers": found.outliers,
        }


def _span(seconds: float) -> str:
    """Return a waiting time in words, to the second, or to the minute above an hour."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
