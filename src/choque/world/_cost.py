"""The cost model of collision detection, measured: what each part took, and whether a filter pays."""

from __future__ import annotations

from dataclasses import dataclass

from choque._core.counters import Counters

WITHOUT_STRUCTURE = ("brute",)
"""Methods that do nothing but test bounds: their T is b B + o O."""


@dataclass(frozen=True)
class Cost:
    """The cost model of collision detection, T = C + b B + o O, measured.

    C is what the broad phase takes before any test of tighter bounds, b and B the number and unit cost of those
    tests, o and O the number and unit cost of exact tests. A method without structure has no C: its tests of bounds
    are all that it does. Costs of several steps add up.
    """

    structure_seconds: float = 0.0
    """C: the broad phase without its tests of bounds."""
    bounding_tests: int = 0
    """b: tests of bounds that the model counts: those of tighter bounds, or all where a method does nothing else."""
    bounding_seconds: float = 0.0
    """b B: the time of these."""
    exact_tests: int = 0
    """o: tests of the narrow phase, which are the candidates."""
    exact_seconds: float = 0.0
    """o O: the time of these."""
    unfiltered: int = 0
    """o₁: the candidates before a filter of tighter bounds; 0 where there is none."""

    @property
    def seconds(self) -> float:
        """T: what it all took."""
        return self.structure_seconds + self.bounding_seconds + self.exact_seconds

    def letters(self) -> dict[str, float]:
        """The model by its letters: C, b, B, o and O, in seconds and counts; unit costs of no test are 0."""
        return {
            "C": self.structure_seconds,
            "b": self.bounding_tests,
            "B": self.bounding_seconds / self.bounding_tests if self.bounding_tests else 0.0,
            "o": self.exact_tests,
            "O": self.exact_seconds / self.exact_tests if self.exact_tests else 0.0,
        }

    @property
    def has_filter(self) -> bool:
        """Whether candidates were filtered by tighter bounds, and there was something to measure."""
        return self.unfiltered > 0 and self.bounding_seconds > 0

    @property
    def ratio(self) -> float:
        """O / B: how many tests of bounds one exact test costs; NaN where nothing tells."""
        unit = self.letters()
        return unit["O"] / unit["B"] if self.has_filter and self.exact_tests else float("nan")

    @property
    def threshold(self) -> float:
        """o₁ / (o₁ − o₂): what O / B must exceed for the filter to pay; infinite if it rejects nothing."""
        if not self.has_filter:
            return float("nan")
        rejected = self.unfiltered - self.exact_tests
        return self.unfiltered / rejected if rejected else float("inf")

    @property
    def filter_pays(self) -> bool | None:
        """Whether the filter saved more than it cost, O / B > o₁ / (o₁ − o₂); None where it cannot be told."""
        if not self.has_filter or not self.exact_tests:
            return None
        return self.ratio > self.threshold

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.structure_seconds + other.structure_seconds,
            self.bounding_tests + other.bounding_tests,
            self.bounding_seconds + other.bounding_seconds,
            self.exact_tests + other.exact_tests,
            self.exact_seconds + other.exact_seconds,
            self.unfiltered + other.unfiltered,
        )

    def __str__(self) -> str:
        unit = self.letters()
        model = (
            f"T = C + bB + oO = {self.seconds * 1e3:.3f} ms: C = {unit['C'] * 1e3:.3f} ms, "
            f"b = {self.bounding_tests:,} at B = {unit['B'] * 1e9:.1f} ns, "
            f"o = {self.exact_tests:,} at O = {unit['O'] * 1e9:.1f} ns."
        )
        if self.filter_pays is None:
            return f"{model} There is no filter of tighter bounds to judge."
        verdict = "the filter pays" if self.filter_pays else "the filter does not pay"
        sign = ">" if self.filter_pays else "<="
        return f"{model} O/B = {self.ratio:.2f} {sign} {self.threshold:.2f} = o1/(o1 - o2): {verdict}."


class CostMeter:
    """Reads the counters of a broad phase after each step and adds up what steps cost."""

    def __init__(self, method: str) -> None:
        self.total = Cost()
        self._has_structure = method not in WITHOUT_STRUCTURE
        self._counters: Counters | None = None
        self._before = (0, 0, 0.0)

    def read(self, counters: Counters | None, broad_seconds: float, exact_tests: int, exact_seconds: float) -> Cost:
        """The cost of one step, which is added to the total; None where there were no bodies to find pairs of."""
        if counters is None:
            return Cost()
        before = self._before if counters is self._counters else (0, 0, 0.0)
        now = (counters.tests, counters.filtered, counters.filter_seconds)
        self._counters, self._before = counters, now
        tests, filtered, filter_seconds = now[0] - before[0], now[1] - before[1], now[2] - before[2]
        if filtered:
            cost = Cost(broad_seconds - filter_seconds, filtered, filter_seconds, exact_tests, exact_seconds, filtered)
        elif self._has_structure or not tests:
            cost = Cost(broad_seconds, 0, 0.0, exact_tests, exact_seconds)
        else:
            cost = Cost(0.0, tests, broad_seconds, exact_tests, exact_seconds)
        self.total += cost
        return cost
