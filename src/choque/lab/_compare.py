"""Two runs side by side: what is counted must not grow, and what was right must stay right."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from choque.errors import InvalidInput, UnknownName
from choque.lab.design import words_of
from choque.lab.result import Result
from choque.lab.verdict import RIGHT

COUNTERS = (
    "tests",
    "bounding_tests",
    "swaps",
    "exchanges",
    "events",
    "duplicates",
    "false_positives",
    "peak_bytes",
    "bytes",
    "recorded_bytes",
)
"""What two runs are compared on: figures without a clock in them, of which less is better."""


@dataclass(frozen=True)
class Change:
    """One figure of one cell in both runs."""

    cell: str
    figure: str
    before: Any
    after: Any
    ratio: float | None
    is_regression: bool


@dataclass
class Comparison:
    """What differs between two runs of a study."""

    threshold: float
    cells: int
    """How many cells both runs have."""
    missing: int
    """How many cells of the first the second lacks."""
    changes: list[Change] = field(default_factory=list)
    time_ratio: float | None = None
    """Median over cells of the second's time over the first's: to look at, never to fail on."""

    @property
    def regressions(self) -> list[Change]:
        """What became worse by more than the threshold."""
        return [change for change in self.changes if change.is_regression]


def compare(
    before: str | os.PathLike[str], after: str | os.PathLike[str], *, threshold: float = 0.05,
    counters: Sequence[str] = COUNTERS,
) -> Comparison:  # fmt: skip
    """Compare the folder of a later run with that of an earlier one.

    A regression is one of the ``counters`` that grew by more than ``threshold``, as a share, or a right answer that is
    not right any more. Times are not compared cell by cell: machines are noisy, counters are not.
    """
    from choque.lab._run import read

    if not threshold >= 0:
        raise InvalidInput(f"threshold is {threshold}; it must be a share of at least 0, such as 0.05.")
    one, other = read(before), read(after)
    if one.study.name != other.study.name:
        raise InvalidInput(
            f"{before} holds the study {one.study.name!r} and {after} holds {other.study.name!r}; "
            "compare two runs of one study."
        )
    return _compare(one, other, threshold, counters)


def _compare(one: Result, other: Result, threshold: float, counters: Sequence[str]) -> Comparison:
    factors = [factor.name for factor in one.study.factors]
    old, new = ({tuple(row.get(name) for name in factors): row for row in result.cells} for result in (one, other))
    shared = [key for key in old if key in new]
    if not shared:
        raise InvalidInput(
            f"{one.folder} and {other.folder} have no cell in common, so nothing can be compared; "
            "run the study with the same levels."
        )
    known = {*one.samples.columns, *other.samples.columns}
    for counter in counters:
        if counter not in COUNTERS and counter not in known:
            raise UnknownName("counter", counter, known - set(factors))
    found = Comparison(threshold, len(shared), len(old) - len(shared))
    times = []
    for key in shared:
        before, after = old[key], new[key]
        name = words_of(dict(zip(factors, key, strict=True)))
        if before["verdict"] != after["verdict"]:
            worse = before["verdict"] in RIGHT and after["verdict"] not in RIGHT
            found.changes.append(Change(name, "verdict", before["verdict"], after["verdict"], None, worse))
        for counter in counters:
            was, now = before.get(counter), after.get(counter)
            if isinstance(was, int | float) and isinstance(now, int | float) and was != now:
                ratio = now / was if was else float("inf")
                found.changes.append(Change(name, counter, was, now, ratio, ratio > 1 + threshold))
        if before.get("median") and after.get("median"):
            times.append(float(after["median"]) / float(before["median"]))  # type: ignore[arg-type]
    found.time_ratio = sorted(times)[len(times) // 2] if times else None
    return found
