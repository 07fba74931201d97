"""What the Fingsics thesis says of times: of a frame, by the number of bodies, by broad phase, and of single tests."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from choque.lab.claims import Finding, found, not_testable
from choque.lab.result import Result
from choque.lab.statistics import Estimate
from choque.lab.table import duration
from choque.theses.fingsics.study_cells import (
    FILTERED,
    IN_TIME,
    SAP,
    finished,
    is_lone,
    largest_shared,
    live,
    mean,
    median,
)
from choque.theses.fingsics.study_design import (
    ASPECT_COUNT,
    DEFAULT,
    ENGINE_COUNT,
    FEW_BODIES,
    MIXED,
    OFFLINE_COUNT,
    RATIOS,
    SIZES,
    STUDY,
    capsules,
)
from choque.theses.fingsics.study_printed import EXACT_COSTS, NAMES, THESIS

CHOQUE = "Choque, step 4"


@STUDY.claim(
    "frame-budget",
    source=f"{THESIS}, figure 5.9",
    printed="10,000 bodies: 115 ms, 90 of them detection, mostly broad phase; response almost nil.",
)
def frame_budget(result: Result) -> Finding:
    """The split; the milliseconds are those of another machine and another program."""
    shares = stage_shares(result, SAP, 10_000)
    if shares is None:
        return not_testable("needs SAP at n 10,000")
    detection = shares["bounds"] + shares["broad"] + shares["narrow"]
    total = median(result, "step", SAP, 10_000)
    holds = detection > 0.75 and shares["bounds"] + shares["broad"] > detection / 2 and shares["response"] < 0.05
    words = f"{duration(total)}, detection {detection:.0%}, response {shares['response']:.1%}"
    best = median(result, "step", DEFAULT, 10_000) if largest_shared(result, (DEFAULT,), 10_000) == 10_000 else None
    return found(holds, words, f"by SAP, nothing drawn; {DEFAULT} takes {duration(best)}" if best else "by SAP")


def stage_shares(result: Result, method: str, n: int) -> dict[str, float] | None:
    """The share of each stage in a step."""
    cells = finished(result, **live(n, method=method))
    if not len(cells):
        return None
    parts = {name: float(cells.numbers(name).mean()) for name in ("bounds", "broad", "narrow", "response", "integrate")}
    return {name: part / sum(parts.values()) for name, part in parts.items()}


@STUDY.claim("capacity-live", source=f"{THESIS}, figure 5.10", printed="1,000 bodies live at 60 frames a second.")
def capacity_live(result: Result) -> Finding:
    """The largest N whose step takes no longer than a frame."""
    return _capacity(result, "live", 1_000)


@STUDY.claim(
    "capacity-replay", source=f"{THESIS}, figure 5.10", printed="10,000 bodies in replay at 60 frames a second."
)
def capacity_replay(result: Result) -> Finding:
    """The largest N whose frame is read in that time."""
    return _capacity(result, "replay", 10_000)


def _capacity(result: Result, mode: str, printed: int) -> Finding:
    places, times = capacity_curve(result, mode)
    in_time = [n for n, time in zip(places, times, strict=True) if time <= IN_TIME]
    late = [n for n in places if n not in in_time]
    if max(in_time, default=0) < printed < min(late, default=math.inf):
        return not_testable(f"needs {DEFAULT} in mode {mode} with {printed:,} bodies")
    if not in_time:
        return found(False, f"fewer than {min(places):,}", f"{DEFAULT}, nothing drawn")
    words = f"largest N measured {max(in_time):,}"
    if places[-1] > max(in_time):
        index = places.index(max(in_time))
        x, y = np.log(places[index : index + 2]), np.log(times[index : index + 2])
        between = float(np.exp(np.interp(np.log(IN_TIME), y, x)))
        words += f", about {between:,.0f} between that and {places[index + 1]:,}"
    else:
        words += f", in {duration(times[-1])}: more were not tried"
    return found(max(in_time) >= printed, words, f"{DEFAULT}, nothing drawn, mean step no longer than 1/60 s")


def capacity_curve(result: Result, mode: str) -> tuple[list[int], list[float]]:
    """Numbers of bodies, and seconds a step of the default method or a frame of its replay."""
    cells = finished(result, scene=MIXED, mode=mode, method=DEFAULT)
    places = sorted(cells.levels("n"))
    return places, [float(cells.where(n=n).numbers("median").mean()) for n in places]


@STUDY.claim("offline", source=f"{THESIS}, section 5.5", printed="100,000 bodies x 600 frames in less than two hours.")
def offline(result: Result) -> Finding:
    """Simulated and recorded; there, to a video."""
    return _offline(result, 7200.0)


@STUDY.claim("offline-4-minutes", source=CHOQUE, printed="100,000 bodies x 600 frames, recorded, in under 4 minutes.")
def offline_in_minutes(result: Result) -> Finding:
    """The same run."""
    return _offline(result, 240.0)


def _offline(result: Result, limit: float) -> Finding:
    cells = finished(result, scene=MIXED, mode="recorded", n=OFFLINE_COUNT)
    if not len(cells):
        return not_testable("not in a quick run")
    seconds, size = (float(cells.numbers(name).mean()) for name in ("total", "recorded_bytes"))
    return found(seconds < limit, duration(seconds), f"recorded, {size / 1e9:.2f} GB, no video")


@STUDY.claim(
    "bullet-faster",
    source=f"{THESIS}, section 5.6",
    printed="3,162 bodies: Bullet 10-12 ms a frame, Fingsics 18-20 ms.",
)
def bullet_is_faster(result: Result) -> Finding:
    """The engine of the thesis by SAP, here against Bullet."""
    return _engines(result, SAP, lambda ratio: ratio.upper < 1)


@STUDY.claim("twice-bullet", source=CHOQUE, printed="3,162 bodies: at least twice as fast a step as Bullet.")
def twice_as_fast(result: Result) -> Finding:
    """The default method."""
    return _engines(result, DEFAULT, lambda ratio: ratio.lower >= 2)


def _engines(result: Result, method: str, holds: Callable[[Estimate], bool]) -> Finding:
    if "bullet" not in result.samples.levels("method"):
        return not_testable("pybullet is not installed; it comes with the extra 'peers'")
    ratio = result.ratio("bullet", method, **live(ENGINE_COUNT))
    own, other = (median(result, "step", name, ENGINE_COUNT) for name in (method, "bullet"))
    note = f"Bullet's step over that of {method}: {duration(other)} and {duration(own)}, one thread, no friction"
    return found(holds(ratio), ratio, note, unit="x")


@STUDY.claim("ten-milliseconds", source=CHOQUE, printed="10,000 bodies: under 10 ms a step on one thread.")
def ten_milliseconds(result: Result) -> Finding:
    """The default method."""
    return _under(result, 10_000, 10e-3)


@STUDY.claim("ten-bodies", source=CHOQUE, printed="A step of 10 bodies takes under 200 µs.")
def ten_bodies(result: Result) -> Finding:
    """The default method; the scene has six walls besides."""
    return _under(result, FEW_BODIES, 200e-6)


def _under(result: Result, n: int, limit: float) -> Finding:
    if not len(finished(result, **live(n, method=DEFAULT))):
        return not_testable(f"needs {DEFAULT} at n {n:,}")
    places, middle = result.curve(DEFAULT, scene=MIXED, mode="live", n=n)
    time = middle[list(places).index(n)]
    scale, unit = (1e3, " ms") if limit >= 1e-3 else (1e6, " µs")
    scaled = Estimate(time.value * scale, time.lower * scale, time.upper * scale)
    note = f"{DEFAULT}, {result.record.get('threads', 1)} thread"
    if time.lower < limit <= time.upper:
        return not_testable(f"this run does not tell: {scaled}{unit}, {note}")
    return found(time.value < limit, scaled, note, unit=unit)


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
    """Compare at the largest n that all finished; brute-obb tests boxes first here: OBB and SAP+OBB leave the same."""
    return _order(result, "narrow phase", ("all", SAP, "brute-obb", FILTERED))


@STUDY.claim(
    "total-order",
    source=f"{THESIS}, figure 5.5",
    printed="Total: NONE worst, then OBB, then AABB; SAP and SAP+OBB best.",
)
def total_order(result: Result) -> Finding:
    """Compare at the largest n that all finished."""
    return _order(result, "step", ("all", "brute-obb", "brute", FILTERED, SAP))


def _order(result: Result, metric: str, methods: Sequence[str]) -> Finding:
    """Judge by intervals of ratios whether each method takes longer than the next, give or take `ALIKE`."""
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
    """Compare no broad phase with SAP."""
    return _beats(result, "all", SAP, at_least=1.0)


@STUDY.claim("obb-brute", source=f"{THESIS}, conclusions", printed="OBB brute force does not repay itself.")
def oriented_brute_force(result: Result) -> Finding:
    """Compare with brute force with boxes, which here come before oriented ones: few of those are left to test."""
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
