"""What the Fingsics thesis says of time by the number of bodies: which broad phase, and what a test costs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from choque.lab.claims import Finding, found, not_testable
from choque.lab.result import Result
from choque.lab.statistics import Estimate
from choque.lab.table import duration
from choque.theses.fingsics.study_cells import FILTERED, SAP, finished, is_lone, largest_shared, live, mean, median
from choque.theses.fingsics.study_design import ASPECT_COUNT, MIXED, RATIOS, SIZES, STUDY, capsules
from choque.theses.fingsics.study_printed import EXACT_COSTS, NAMES, THESIS

ALIKE = 0.05
"""Times that differ by less than this share are called equal."""
NOTICEABLE = 1.1
"""A loss of less than a tenth is not noticed."""


@STUDY.claim(
    "broad-order",
    source=f"{THESIS}, figure 5.4",
    printed="Broad-phase time: OBB brute > AABB brute >> SAP+OBB, slightly > SAP.",
)
def broad_order(result: Result) -> Finding:
    """Bounds and broad phase at the largest n that the four finished."""
    return _order(result, "broad phase", ("brute-obb", "brute", FILTERED, SAP))


@STUDY.claim(
    "narrow-order", source=f"{THESIS}, figure 5.4", printed="Narrow-phase time: NONE > SAP = AABB > OBB > SAP+OBB."
)
def narrow_order(result: Result) -> Finding:
    """At the largest n that all finished; brute-obb tests boxes first here, so that OBB and SAP+OBB leave the same."""
    return _order(result, "narrow phase", ("all", SAP, "brute-obb", FILTERED))


@STUDY.claim(
    "total-order",
    source=f"{THESIS}, figure 5.5",
    printed="Total: NONE worst, then OBB, then AABB; SAP and SAP+OBB best.",
)
def total_order(result: Result) -> Finding:
    """At the largest n that all finished."""
    return _order(result, "step", ("all", "brute-obb", "brute", FILTERED, SAP))


def _order(result: Result, metric: str, methods: Sequence[str]) -> Finding:
    """Whether each method takes longer than the next, give or take `ALIKE`; the intervals of their ratios decide."""
    n = largest_shared(result, methods)
    if n is None:
        return not_testable(f"needs {', '.join(methods)} at one size")
    times = [median(result, metric, method, n) for method in methods]
    words = ", ".join(f"{NAMES[method]} {duration(time)}" for method, time in zip(methods, times, strict=True))
    ratios = [result.ratio(one, other, metric=metric, **live(n)) for one, other in pairwise(methods)]
    against = [ratio.upper < 1 - ALIKE for ratio in ratios if not is_lone(ratio)]
    if not any(against) and any(ratio.lower < 1 - ALIKE for ratio in ratios):
        return not_testable(f"this run does not tell: {words}, a step at n {n:,}")
    return found(not any(against), words, f"a step at n {n:,}")


@STUDY.claim("broad-phase-essential", source=f"{THESIS}, conclusions", printed="A broad phase is essential.")
def essential(result: Result) -> Finding:
    """Without one, against SAP."""
    return _beats(result, "all", SAP, at_least=1.0)


@STUDY.claim("obb-brute", source=f"{THESIS}, conclusions", printed="OBB brute force does not repay itself.")
def oriented_brute_force(result: Result) -> Finding:
    """Against brute force with boxes, which here come before oriented ones: few of those are left to test."""
    return _beats(result, "brute-obb", "brute", at_least=1.0)


@STUDY.claim("never-loses", source=f"{THESIS}, conclusions", printed="SAP+OBB never loses noticeably against SAP.")
def never_loses(result: Result) -> Finding:
    """The worst of all mixed boxes and capsule boxes."""
    worst: tuple[Estimate, str] | None = None
    for scene, n in [*((MIXED, n) for n in SIZES), *((capsules(ratio), ASPECT_COUNT) for ratio in RATIOS)]:
        where: dict[str, Any] = {"scene": scene, "n": n, "mode": "live"}
        if all(len(finished(result, method=method, **where)) for method in (FILTERED, SAP)):
            ratio = result.ratio(FILTERED, SAP, **where)
            if not is_lone(ratio) and (worst is None or ratio.lower > worst[0].lower):
                worst = ratio, f"SAP+OBB over SAP where it is worst: {scene}, n {n:,}"
    if worst is None:
        return not_testable("needs both sweeps on one scene, measured more than once")
    return found(worst[0].lower <= NOTICEABLE, *worst, unit="x")


def _beats(result: Result, slow: str, fast: str, at_least: float) -> Finding:
    n = largest_shared(result, (slow, fast))
    if n is None:
        return not_testable(f"needs {slow} and {fast} at one size")
    ratio = result.ratio(slow, fast, **live(n))
    note = f"{NAMES[slow]} takes this many times as long as {NAMES[fast]} at n {n:,}"
    if is_lone(ratio) or ratio.lower <= at_least <= ratio.upper:
        return not_testable(f"this run does not tell: {note}, {ratio}")
    return found(ratio.lower > at_least, ratio, note, unit="x")


@STUDY.claim(
    "exact-costs",
    source=f"{THESIS}, table 5.4",
    printed="ns an exact test: sphere-tile 25, sphere-sphere 101, sphere-capsule 291, capsule-capsule 546, "
    "capsule-tile 1733.",
)
def exact_costs(result: Result) -> Finding:
    """The order of the five, where tests are many: without a broad phase, else the largest box of the default."""
    n = largest_shared(result, ("all",))
    where = live(n or 0, method="all")
    costs = {kinds: mean(result, f"ns {kinds}", **where) for kinds in EXACT_COSTS} if n else {}
    if not costs or None in costs.values():
        return not_testable("needs a finished run without a broad phase")
    values = [cost or 0.0 for cost in costs.values()]
    words = ", ".join(f"{kinds} {cost:.0f}" for kinds, cost in zip(costs, values, strict=True))
    note = f"of all pairs at n {n:,}, most of them far apart; the claim is the order"
    return found(values == sorted(values), words, note)
