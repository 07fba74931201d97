"""Counts of the Fingsics thesis: tests by proportions of capsules, collisions, and the tests of each broad phase."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from choque.lab.claims import Finding, found, not_testable
from choque.lab.result import Result
from choque.lab.statistics import Estimate
from choque.lab.verdict import RIGHT
from choque.theses.fingsics.study_cells import FILTERED, SAP, finished, is_lone, mean
from choque.theses.fingsics.study_design import ASPECT_COUNT, BY_RULES_COUNT, MIXED, RATIOS, STUDY, SWEEPS, capsules
from choque.theses.fingsics.study_printed import (
    CHECKS,
    COLLISIONS,
    NAMES,
    NORMALISED_TIME,
    RECOVERED,
    TEST_SUMS,
    THESIS,
)


@STUDY.claim(
    "37-percent",
    source=f"{THESIS}, figure 5.7",
    printed="SAP+OBB is up to 37 % more efficient: 63 % of SAP's time at 16:1.",
)
def thirty_seven_percent(result: Result) -> Finding:
    """The whole step at 16:1, with the ratio on which it depends."""
    return _at_sixteen(result, "live")


@STUDY.claim(
    "37-percent-legacy", source=f"{THESIS}, figure 5.7", printed="The same with the engine's rules, defects included."
)
def thirty_seven_percent_legacy(result: Result) -> Finding:
    """Compare its sweep with its exact tests, without its maps of texts."""
    return _at_sixteen(result, "legacy")


def _at_sixteen(result: Result, mode: str) -> Finding:
    scene = capsules(16)
    ratio = result.ratio(FILTERED, SAP, scene=scene, mode=mode)
    note = f"SAP+OBB over SAP at 16:1; {filter_model(result, scene, mode)}"
    if is_lone(ratio):
        return not_testable(f"one reading of each does not tell: {ratio.value:.2f}, {note}")
    return found(ratio.lower <= NORMALISED_TIME, ratio, note)


@STUDY.claim(
    "improves-with-aspect",
    source=f"{THESIS}, figure 5.7",
    printed="SAP+OBB equals SAP at 1:1, is better at every other ratio, and more so the longer capsules are.",
)
def improves(result: Result) -> Finding:
    """The normalised times in order."""
    ratios = aspect_times(result)
    if len(ratios) < 3:
        return not_testable("needs both sweeps at three aspects")
    values = [estimate.value for estimate in ratios.values()]
    words = ", ".join(f"{ratio}:1 {value:.2f}" for ratio, value in zip(ratios, values, strict=True))
    if any(is_lone(estimate) for estimate in ratios.values()):
        return not_testable(f"one reading of each does not tell: {words}")
    holds = abs(values[0] - 1) < 0.1 and max(values[1:]) < 1 and values[-1] < values[1]
    return found(holds, words, "SAP+OBB over SAP, a whole step")


@STUDY.claim("seventeenfold", source=f"{THESIS}, section 5.4", printed="At 16:1 SAP makes 17 times the exact tests.")
def seventeenfold(result: Result) -> Finding:
    """Counted; the engine's scene gives 15.2 when it is run again."""
    scene = capsules(16)
    words, values = [], []
    for mode in ("live", "legacy"):
        one, other = (mean(result, "tests", scene=scene, mode=mode, method=method) for method in SWEEPS)
        if one and other:
            values.append(one / other)
            rules = "exact rules" if mode == "live" else "the engine's rules"
            words.append(f"{one / other:.1f} times by {rules}")
    if not values:
        return not_testable("needs both sweeps at 16:1")
    return found(
        all(13 < value < 19 for value in values),
        ", ".join(words),
        f"n {ASPECT_COUNT:,}, 599 steps; the engine's scene gives 15.2",
    )


@STUDY.claim(
    "inequality",
    source=f"{THESIS}, equation 5.6",
    printed="O/B = 21.84 exceeds o1/(o1 - o2) = 1.48 at 4:1: the filter pays.",
)
def inequality(result: Result) -> Finding:
    """Both sides, measured."""
    model = filter_model(result, capsules(4))
    if model is None:
        return not_testable("needs both sweeps at 4:1")
    return found(model.pays, f"O/B = {model.ratio:.2f}, o1/(o1 - o2) = {model.threshold:.2f}", str(model))


@dataclass(frozen=True)
class FilterModel:
    """The cost model of one scene: unit costs in nanoseconds, and exact tests without and with the filter."""

    exact: float
    """O, where all candidates are tested: a few tests a step would be charged for the call around them."""
    bounding: float
    """B."""
    unfiltered: float
    filtered: float

    @property
    def ratio(self) -> float:
        """O/B."""
        return self.exact / self.bounding

    @property
    def threshold(self) -> float:
        """o₁/(o₁ − o₂), which O/B must exceed."""
        rejected = self.unfiltered - self.filtered
        return self.unfiltered / rejected if rejected else float("inf")

    @property
    def pays(self) -> bool:
        """Whether the filter saves more than it costs."""
        return self.ratio > self.threshold

    def __str__(self) -> str:
        sign, verdict = (">", "the filter pays") if self.pays else ("<=", "the filter does not pay")
        return (
            f"O = {self.exact:.0f} ns, B = {self.bounding:.0f} ns, O/B = {self.ratio:.2f} {sign} {self.threshold:.2f}: "
            f"{verdict}; O/B was 21.84 there"
        )


def filter_model(result: Result, scene: str, mode: str = "live") -> FilterModel | None:
    """Return what the two sweeps on one scene say; None where one is missing."""
    where = {"scene": scene, "mode": mode}
    wanted = ((SAP, "exact_ns"), (FILTERED, "bounding_ns"), (SAP, "tests"), (FILTERED, "tests"))
    values = [mean(result, column, method=method, **where) for method, column in wanted]
    known = [value for value in values if value]
    return FilterModel(*known) if len(known) == len(wanted) else None


def aspect_times(result: Result, mode: str = "live") -> dict[int, Estimate]:
    """SAP+OBB over SAP by aspect, where both were finished."""
    ratios = {}
    for ratio in RATIOS:
        where = {"scene": capsules(ratio), "mode": mode}
        if all(len(finished(result, method=method, **where)) for method in SWEEPS):
            ratios[ratio] = result.ratio(FILTERED, SAP, **where)
    return ratios


@STUDY.claim(
    "same-collisions", source=f"{THESIS}, section 4", printed="Whatever the broad phase, the collisions are the same."
)
def same_collisions(result: Result) -> Finding:
    """Contacts of every step, and the state at the end, of all cells by exact rules that were finished."""
    cells = result.cells.where(lambda row: row["mode"] in ("live", "recorded") and "contacts" in row)
    wrong = cells.where(lambda row: row["verdict"] not in RIGHT)
    if not len(cells):
        return not_testable("no run was finished")
    words = f"{len(cells) - len(wrong)} of {len(cells)} runs with the contacts and the end of all-pairs tests"
    return found(not len(wrong), words, "by exact rules")


@STUDY.claim("oracle", source=RECOVERED, printed="Tests and collisions of 299 steps of each test scene, row by row.")
def oracle(result: Result) -> Finding:
    """The engine's own test scenes, by its own rules."""
    cells = result.cells.where(lambda row: row["scene"] in TEST_SUMS)
    if not len(cells):
        return not_testable("the engine's scenes are not here; set CHOQUE_FINGSICS to their folder")
    wrong = [f"{row['scene']}: {row['note']}" for row in cells if row["verdict"] != "exact"]
    sums = ", ".join(f"{row['scene']} {row['tests']:,.0f}/{row['contacts']:,.0f}" for row in cells.sorted("n"))
    return found(
        not wrong, f"{len(cells) - len(wrong)} of {len(cells)} scenes equal in every row", "; ".join(wrong) or sums
    )


@STUDY.claim("figure-5.3", source=f"{THESIS}, figure 5.3", printed="Exact tests left, and collisions, of 599 steps.")
def printed_totals(result: Result) -> Finding:
    """The totals of the engine's mixed boxes by its own rules, within 1 %."""
    return _totals(result, [name for name in CHECKS if name.startswith("prod")])


@STUDY.claim(
    "aspect-checks",
    source=f"{THESIS}, section 5.4",
    printed="Exact tests: 66,828 and 66,828 at 1:1; 419,274 and 135,933 at 4:1.",
)
def aspect_totals(result: Result) -> Finding:
    """The totals of the engine's capsule boxes by its own rules, within 1 %."""
    return _totals(result, [name for name in CHECKS if name.startswith("capsule")])


def _totals(result: Result, scenes: Sequence[str]) -> Finding:
    off: dict[str, float] = {}
    for scene in scenes:
        for method, printed in CHECKS[scene].items():
            for row in result.cells.where(scene=scene, method=method).where(lambda row: "contacts" in row):
                off[f"{scene} {NAMES[method]}"] = abs(float(row["tests"] or 0) / printed - 1)
                if scene in COLLISIONS:
                    off[f"{scene} {NAMES[method]} collisions"] = abs(
                        float(row["contacts"] or 0) / COLLISIONS[scene] - 1
                    )
    if not off:
        return not_testable("the engine's scenes are not here; set CHOQUE_FINGSICS to their folder")
    worst = max(off, key=off.__getitem__)
    words = f"{sum(value == 0 for value in off.values())} of {len(off)} totals equal"
    note = f"furthest off by {off[worst]:.2%}: {worst}" if off[worst] else ""
    return found(off[worst] <= 0.01, words, note)


@STUDY.claim(
    "checks-left",
    source=f"{THESIS}, figure 5.3",
    printed="Exact tests: NONE > AABB = SAP > OBB > SAP+OBB > collisions.",
)
def checks_left(result: Result) -> Finding:
    """Count on a generated scene by the engine's rules, where oriented boxes are not preceded by boxes."""
    where = {"scene": MIXED, "mode": "legacy", "n": BY_RULES_COUNT}
    counts = [mean(result, "tests", method=method, **where) for method in ("all", "brute", SAP, "brute-obb", FILTERED)]
    contacts = mean(result, "contacts", method=FILTERED, **where)
    if None in counts or contacts is None:
        return not_testable(f"needs the five methods by the engine's rules at n {BY_RULES_COUNT}")
    none, boxes, sweep, oriented, both = (count or 0.0 for count in counts)
    holds = none > boxes and abs(boxes / sweep - 1) < 1e-3 and sweep > oriented > both > contacts
    words = " > ".join(f"{count:,.0f}" for count in (none, boxes, oriented, both, contacts))
    return found(holds, words, f"NONE, AABB, OBB, SAP+OBB, collisions at n {BY_RULES_COUNT}; SAP {sweep:,.0f}")
