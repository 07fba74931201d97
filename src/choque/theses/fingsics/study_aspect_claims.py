"""What the Fingsics thesis says of elongated bodies: that oriented boxes after a sweep pay."""

from __future__ import annotations

from dataclasses import dataclass

from choque.lab.claims import Finding, found, not_testable
from choque.lab.result import Result
from choque.lab.statistics import Estimate
from choque.theses.fingsics.study_cells import FILTERED, SAP, finished, is_lone, mean
from choque.theses.fingsics.study_design import ASPECT_COUNT, RATIOS, STUDY, SWEEPS, capsules
from choque.theses.fingsics.study_printed import NORMALISED_TIME, THESIS


@STUDY.claim(
    "37-percent",
    source=f"{THESIS}, figure 5.7",
    printed="SAP+OBB is up to 37 % more efficient: 63 % of SAP's time at 16:1.",
)
def thirty_seven_percent(result: Result) -> Finding:
    """The whole step at 16:1, with the ratio on which it depends."""
    return _at_sixteen(result, "live")


@STUDY.claim(
    "37-percent-legacy", source=f"{THESIS}, figure 5.7", printed="The same with the original's rules, defects included."
)
def thirty_seven_percent_legacy(result: Result) -> Finding:
    """Its sweep and its exact tests, without its maps of texts."""
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
    """Counted; the original's scene gives 15.2 when it is run again."""
    scene = capsules(16)
    words, values = [], []
    for mode in ("live", "legacy"):
        one, other = (mean(result, "tests", scene=scene, mode=mode, method=method) for method in SWEEPS)
        if one and other:
            values.append(one / other)
            words.append(f"{one / other:.1f} times by {'exact' if mode == 'live' else 'legacy'} rules")
    if not values:
        return not_testable("needs both sweeps at 16:1")
    return found(
        all(13 < value < 19 for value in values),
        ", ".join(words),
        f"n {ASPECT_COUNT:,}, 599 steps; the original's scene gives 15.2",
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
    """What the two sweeps on one scene tell; None where one is missing."""
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
