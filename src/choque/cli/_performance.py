"""One method on the frames of a moving scene: its stages timed, its answers held against the oracle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from time import perf_counter

from choque import broad
from choque._types import Pairs
from choque.bounds import Boxes
from choque.lab.verdict import RIGHT, Verdict, judge

SHARE = 500
"""How many boxes ``all`` is checked on: it keeps every pair, 200 million of them for 20,000 boxes."""


@dataclass(frozen=True)
class Performance:
    """What was seen of a method; seconds, medians over the frames after the first."""

    method: str
    verdict: Verdict
    pair_count: int = 0
    """Of the last frame."""
    create: float = 0.0
    update: float = 0.0
    search: float = 0.0
    tests: int = 0
    """Of a frame, on average."""
    peak_bytes: int = 0

    @property
    def is_right(self) -> bool:
        """Whether it answered as it promises."""
        return self.verdict.judgement in {*RIGHT, "superset"}


def perform(name: str, frames: Sequence[Boxes], expected: Mapping[int, Pairs]) -> Performance:
    """Run the method ``name`` over all ``frames`` and check those that are ``expected``; a failure is a verdict."""
    try:
        return _perform_all(frames, expected) if name == "all" else _perform(name, frames, expected)
    except Exception as problem:
        note = " ".join(f"{type(problem).__name__}: {problem}".split())
        return Performance(name, Verdict("failed", note))


def _perform(name: str, frames: Sequence[Boxes], expected: Mapping[int, Pairs], *, keep: bool = True) -> Performance:
    begin = perf_counter()
    method = broad.create(name, frames[0])
    create = perf_counter() - begin
    updates, searches = [], []
    verdict = Verdict("exact")
    pair_count = 0
    for index, boxes in enumerate(frames):
        begin = perf_counter()
        if index:
            method.update(boxes)
        updated = perf_counter()
        found = method.pairs() if keep else None
        pair_count = method.count() if found is None else len(found)
        updates.append(updated - begin)
        searches.append(perf_counter() - updated)
        if found is not None and index in expected and verdict.judgement == "exact":
            verdict = judge(found, expected[index], boxes.lower, boxes.upper, superset=False, rounding=False)
    return Performance(
        method=name,
        verdict=verdict,
        pair_count=pair_count,
        create=create,
        update=median(updates[1:]),
        search=median(searches[1:]),
        tests=method.counters.tests // len(frames),
        peak_bytes=method.counters.peak_bytes,
    )


def _perform_all(frames: Sequence[Boxes], expected: Mapping[int, Pairs]) -> Performance:
    """``all`` counts its pairs without keeping them; what they contain is checked on a share of the boxes."""
    performance = _perform("all", frames, {}, keep=False)
    verdict = Verdict(
        "superset", f"its pairs are counted, not kept; what they contain was checked on {SHARE:,} of the boxes"
    )
    if performance.pair_count != len(frames[0]) * (len(frames[0]) - 1) // 2:
        verdict = Verdict("wrong", f"{performance.pair_count:,} is not the number of all pairs")
    for index, pairs in expected.items():
        lower, upper = frames[index].lower[:SHARE], frames[index].upper[:SHARE]
        found = broad.create("all", Boxes(lower, upper)).pairs()
        judged = judge(found, pairs[(pairs < SHARE).all(axis=1)], lower, upper, superset=True, rounding=False)
        if judged.judgement != "superset":
            verdict = judged
    return replace(performance, verdict=verdict)
